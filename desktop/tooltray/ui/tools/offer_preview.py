"""Prompts, resources, templates and skills of servers as rows, how a template becomes an address, and a preview of one of them: its facts,
its arguments with fields, and the answer of its server. Definitions are servers' JSON, which may have any form."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast
from urllib.parse import quote

import msgspec
from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLineEdit, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ResourceUpdated
from tooltray.foundation.snapshots.tools import SkillSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.destinations import Activity
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.server_text import one_line, seen
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.sheet import leave
from tooltray.ui.widgets.surface import Surface, add_gap, column, fill, row

PROMPT, RESOURCE, TEMPLATE, SKILL = "prompt", "resource", "template", "skill"
LONGEST_NAME, LONGEST_TEXT = 200, 2_000  # characters of a server's words that are shown
MOST_ARGUMENTS = 40  # fields; a prompt with more asks nobody
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
RESERVED = ":/?#[]@!$&'()*+,;="


class Argument(msgspec.Struct, frozen=True):
    name: str
    description: str = ""
    is_required: bool = False


class Offered(msgspec.Struct, frozen=True):
    """A prompt, a resource, a template or a skill.

    Attributes:
        kind: PROMPT, RESOURCE, TEMPLATE or SKILL.
        key: its name, address or template, as AI clients see it.
        title: its name for users.
        mime: the MIME type that the server gave.
        arguments: of a prompt, and the variables of a template.
        own_key: of a skill: its address as its server has it.
        is_enabled, is_held: of a skill: whether the settings offer it, and whether it waits because it has changed.
    """

    kind: str
    server: str
    key: str
    title: str
    description: str = ""
    mime: str = ""
    size: int | None = None
    arguments: tuple[Argument, ...] = ()
    own_key: str = ""
    is_enabled: bool = True
    is_held: bool = False

    @property
    def text(self) -> str:
        """The text for searches."""
        return f"{self.key}\n{self.title}\n{self.server}\n{self.description}\n{self.mime}".casefold()


def prompt_of(server: str, definition: Mapping[str, object]) -> Offered:
    """Reads the definition of a prompt."""
    given = definition.get("arguments")
    arguments = [
        Argument(str(each["name"]), _words(each.get("description")), each.get("required") is True)
        for each in (given if isinstance(given, list) else [])[:MOST_ARGUMENTS]
        if isinstance(each, Mapping) and isinstance(each.get("name"), str)
    ]
    name = str(definition.get("name", ""))
    return Offered(PROMPT, server, name, _title(definition, name), _words(definition.get("description")), arguments=tuple(arguments))


def resource_of(server: str, definition: Mapping[str, object]) -> Offered:
    """Reads the definition of a resource."""
    uri, given = str(definition.get("uri", "")), definition.get("size")
    size = given if isinstance(given, int) and not isinstance(given, bool) else None
    return Offered(RESOURCE, server, uri, _title(definition, uri), _words(definition.get("description")), _mime(definition), size)


def template_of(server: str, definition: Mapping[str, object]) -> Offered:
    """Reads the definition of a template."""
    text = str(definition.get("uriTemplate", ""))
    arguments = tuple(Argument(name, is_required=is_required) for name, is_required in variables(text))
    words = _words(definition.get("description"))
    return Offered(TEMPLATE, server, text, _title(definition, text), words, _mime(definition), arguments=arguments)


def skill_of(skill: SkillSnapshot) -> Offered:
    """Reads a skill."""
    return Offered(
        SKILL,
        skill.server,
        skill.uri,
        one_line(skill.name, LONGEST_NAME),
        _words(skill.description),
        size=None if skill.is_dynamic else skill.size_bytes,
        own_key=skill.own_uri,
        is_enabled=skill.is_enabled,
        is_held=skill.is_held,
    )


def _title(definition: Mapping[str, object], otherwise: str) -> str:
    words = [word for key in ("title", "name") if isinstance(word := definition.get(key), str) and word]
    return one_line([*words, otherwise][0], LONGEST_NAME)


def _mime(definition: Mapping[str, object]) -> str:
    return one_line(str(definition.get("mimeType") or ""), LONGEST_NAME)


def _words(text: object) -> str:
    return seen(text[:LONGEST_TEXT]) if isinstance(text, str) else ""


def variables(template: str) -> list[tuple[str, bool]]:
    """Returns the names in a template, and whether each is required; names in a query are optional."""
    found: dict[str, bool] = {}
    for operator, names in _EXPRESSION.findall(template):
        for name in names.split(","):
            plain = name.split(":")[0].rstrip("*").strip()
            if plain and len(found) < MOST_ARGUMENTS:
                found.setdefault(plain, operator not in ("?", "&", "#", ";"))
    return list(found.items())


def expanded(template: str, values: Mapping[str, str]) -> str:
    """Returns the address of a template with these values (RFC 6570, for texts)."""

    def one(match: re.Match[str]) -> str:
        operator, names = match[1], [name.split(":")[0].rstrip("*").strip() for name in match[2].split(",")]
        given = [(name, quote(values[name], safe=RESERVED if operator in ("+", "#") else "")) for name in names if values.get(name)]
        if not given:
            return ""
        if operator in ("?", "&", ";"):
            return operator + (";" if operator == ";" else "&").join(f"{name}={value}" for name, value in given)
        parts = [value for _, value in given]
        return {"#": "#", ".": ".", "/": "/"}.get(operator, "") + {".": ".", "/": "/"}.get(operator, ",").join(parts)

    return _EXPRESSION.sub(one, template)


ASKED_AFTER_MS = 250  # a pause in typing; each question goes to the server
LONGEST_VALUE = 32_767  # characters; what a line of Qt's holds
MOST_PROPOSED = 100  # the protocol's own limit
MOST_DESCRIPTION, MOST_KEY = 600, 400  # characters


class OfferPreview(Surface, View):
    """A preview of a prompt, a resource or a skill.

    Args:
        is_sheet: it lies over the window, and looks like it.
    """

    close_requested = Signal()

    def __init__(self, context: PageContext, offer: Offered, *, is_sheet: bool = False) -> None:
        ground, border, radius = ("surface.raised", "border", "xl") if is_sheet else ("surface", None, "s")
        super().__init__(context.theme, ground, border, radius)
        self.context, self._theme, self.offer = context, context.theme, offer
        self._asked = ""
        self.setAccessibleName(offer.title)
        self._lines = ArgumentLines(self._theme, offer.arguments, changed=self._draw, entered=self._get, complete=self._on_completion)
        self._address = ElidedLabel(self._theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        self._note = Label(self._theme, "", "caption", "muted", wrap=True)
        self.result = ResultView(self._theme)
        layout = column(self, margins=(20, 14, 20, 16), spacing=8)
        fill(layout, self._head(), CodeLabel(self._theme, one_line(offer.key, MOST_KEY), "muted"))
        if offer.description:
            layout.addWidget(Label(self._theme, offer.description[:MOST_DESCRIPTION], "body", "secondary", wrap=True))
        fill(layout, self._lines, self._address, self._actions(), self._note, (self.result, 1))
        self._lines.setVisible(bool(offer.arguments))
        self._address.setVisible(offer.kind == TEMPLATE)
        self._note.hide()
        add_accept_keys(self, self._get)
        context.hub.on(ResourceUpdated, self._on_updated, self)
        self._draw()
        if not any(argument.is_required for argument in offer.arguments):
            self._get()

    @property
    def key(self) -> str:
        """The prompt's name, or the address, of the request."""
        return expanded(self.offer.key, self._lines.values) if self.offer.kind == TEMPLATE else self.offer.key

    @property
    def is_following(self) -> bool:
        """Whether the server reports changes of the resource."""
        return self._follows.isChecked()

    def focus(self) -> None:
        """Moves the focus to the first argument."""
        self._lines.focus()

    def _head(self) -> QHBoxLayout:
        words = tr("Copy the name") if self.offer.kind == PROMPT else tr("Copy the address")
        copy = IconButton(self._theme, "copy", words, small=True, on_click=self._on_copy)
        close = IconButton(self._theme, "x", tr("Close"), small=True, on_click=partial(leave, self, self.close_requested.emit))
        return fill(row(), (ElidedLabel(self._theme, self.offer.title, "heading"), 1), copy, close)

    def _actions(self) -> QHBoxLayout:
        theme, offer = self._theme, self.offer
        words = tr("Preview") if offer.kind == PROMPT else tr("Read")
        self._go = Button(theme, words, "primary", small=True, on_click=self._get)
        self._go.setToolTip("Ctrl+Enter")
        facts = [tr("from {server}", server=offer.server), offer.mime]
        if offer.size is not None:
            facts.append(tr("{count} bytes", count=f"{offer.size:,}"))
        if offer.is_held:
            facts.append(tr("blocked until reviewed: it has changed"))
        line = fill(row(), self._go, (ElidedLabel(theme, " · ".join(filter(None, facts)), "caption", "muted"), 1))
        if offer.is_held:
            line.addWidget(Button(theme, tr("See what is different"), "link", small=True, on_click=self._on_change))
        self._follows = Switch(theme, tr("Follow changes"))
        self._follows.clicked.connect(self._on_follow)
        words_of_it = Label(theme, tr("Follow changes"), "caption", "secondary")
        for widget in (words_of_it, self._follows):
            widget.setVisible(offer.kind == RESOURCE)
        return fill(line, words_of_it, self._follows)

    def _draw(self) -> None:
        self._address.set_text(seen(self.key))
        if not self._asked:
            self._say("" if self._lines.is_complete else tr("Fill in what is required to see what comes of it."))
        self._go.setEnabled(self._lines.is_complete)

    def _get(self) -> None:
        if self._lines.is_complete:
            self._asked = self.key
            self._say(tr("Reading…"))
            self.run(self._read(self._asked, self._lines.values))

    async def _read(self, key: str, values: dict[str, str]) -> None:
        """Shows a prompt with its arguments filled in, or the content of a resource, unless something else is wanted by then.

        Args:
            key: the prompt's name, or the address.
        """
        try:
            show = partial(self.result.show_result, await self._answer(key, values))
        except TooltrayError as error:
            show = partial(self.result.show_problem, error.problem)
        if key == self._asked:
            self._say("")
            show()

    async def _answer(self, key: str, values: dict[str, str]) -> Mapping[str, object]:
        if self.offer.kind == PROMPT:
            return await self.hub.prompts.get_prompt(key, values)
        if self.offer.kind == SKILL:
            skill = await self.hub.skills.get_skill(key)
            return {"contents": [{"uri": key, "mimeType": "text/plain", "text": skill["text"]}]}
        return await self.hub.resources.read_resource(key)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows that the server does not report changes."""
        if problem is not None and self.is_following:
            self._follows.set_on(False)
            self._say(" ".join(filter(None, [str(problem.title), str(problem.message)])))

    def _on_follow(self, on: bool) -> None:
        self._say(tr("Reloads when the server reports a change.") if on else "")
        resources = self.hub.resources
        self.run(resources.subscribe_resource(self.key) if on else resources.unsubscribe_resource(self.key))

    def _on_updated(self, news: ResourceUpdated) -> None:
        if self.is_following and news.uri == self.offer.key and self.isVisible():
            self._get()

    def _on_completion(self, argument: str, written: str) -> None:
        others = {name: value for name, value in self._lines.values.items() if name != argument}
        self.run(self._propose(argument, written, others))

    async def _propose(self, argument: str, written: str, others: dict[str, str]) -> None:
        """Shows possible values of an argument; none if the server proposes none."""
        ask = self.hub.prompts.complete_prompt if self.offer.kind == PROMPT else self.hub.resources.complete_resource
        try:
            values = await ask(self.offer.key, argument, written, others)
        except TooltrayError:
            values = []
        self._lines.propose(argument, written, values)

    def _on_copy(self) -> None:
        words = tr("The name is copied") if self.offer.kind == PROMPT else tr("The address is copied")
        self.context.copy(self.key, words)

    def _on_change(self) -> None:
        self.close_requested.emit()
        self.context.go(Activity("approvals"))

    def _say(self, text: str) -> None:
        self._note.setText(text)
        self._note.setVisible(bool(text))


Slot = Callable[[], None]


class ArgumentLines(QWidget):
    """Fields for the arguments of a prompt or the variables of a template; the server proposes values while the user types.

    Args:
        changed: called when a text has changed.
        entered: called when Enter is pressed.
        complete: called with an argument and the text in it, to propose values.
    """

    def __init__(
        self, theme: Theme, arguments: Sequence[Argument], *, changed: Slot, entered: Slot, complete: Callable[[str, str], None]
    ) -> None:
        super().__init__()
        self._changed, self._entered, self._complete = changed, entered, complete
        self._arguments = arguments
        self._lines: dict[str, QLineEdit] = {}
        self._typed = ""
        self._pause = timer(self, ASKED_AFTER_MS, self._on_pause)
        layout = column(self, spacing=4)
        for argument in arguments:
            head = fill(row(spacing=6), (Label(theme, one_line(argument.name, 80), "label"), 1))
            if argument.is_required:
                head.addWidget(Label(theme, tr("required"), "caption", "secondary"))
            fill(layout, head, self._line(theme, argument))
            if argument.description:
                layout.addWidget(Label(theme, argument.description, "caption", "secondary", wrap=True))
            add_gap(layout, 8)

    @property
    def values(self) -> dict[str, str]:
        """The typed values, without empty ones."""
        return {name: line.text() for name, line in self._lines.items() if line.text()}

    @property
    def is_complete(self) -> bool:
        """Whether all required values are typed."""
        return not self._missing

    @property
    def _missing(self) -> list[QLineEdit]:
        """The lines that need a value."""
        return [line for each in self._arguments if each.is_required and not (line := self._lines[each.name]).text()]

    def focus(self) -> None:
        """Moves the focus to the first line that needs a value."""
        for line in (self._missing or list(self._lines.values()))[:1]:
            line.setFocus(Qt.FocusReason.OtherFocusReason)

    def propose(self, argument: str, written: str, values: Sequence[str]) -> None:
        """Shows possible values of an argument, unless its text has changed since the request."""
        line = self._lines[argument]
        if line.text() == written:
            completer = line.completer()
            cast(QStringListModel, completer.model()).setStringList([seen(value).replace("\n", " ") for value in values[:MOST_PROPOSED]])
            if values and line.hasFocus() and values != [written]:
                completer.complete()

    def _line(self, theme: Theme, argument: Argument) -> QLineEdit:
        line = text_line(theme, argument.name)
        line.setMaxLength(LONGEST_VALUE)
        line.setAccessibleDescription(argument.description)
        completer = QCompleter(QStringListModel(line), line)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)  # the server has filtered
        if (popup := completer.popup()) is not None:
            popup.setFont(theme.font())
            popup.setAccessibleName(tr("Proposals for {name}", name=argument.name))
        line.setCompleter(completer)
        line.textEdited.connect(partial(self._on_edited, argument.name))
        line.textChanged.connect(self._changed)
        line.returnPressed.connect(self._entered)
        self._lines[argument.name] = line
        return line

    def _on_edited(self, name: str, _text: str) -> None:
        self._typed = name
        self._pause.start()

    def _on_pause(self) -> None:
        self._complete(self._typed, self._lines[self._typed].text())
