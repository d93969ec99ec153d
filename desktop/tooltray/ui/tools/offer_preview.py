"""A preview of a prompt or a resource: its facts, its arguments with fields, and the answer of its server."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QStringListModel, Qt, QTimer, Signal
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLineEdit, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ResourceUpdated
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Activity
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.server_text import one_line, seen
from tooltray.ui.theme import Theme
from tooltray.ui.tools.offered import PROMPT, RESOURCE, SKILL, TEMPLATE, Argument, Offered, expanded
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.sheet import leave
from tooltray.ui.widgets.surface import Surface, add_gap, column, row

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
        super().__init__(
            context.theme, "surface.raised" if is_sheet else "surface", "border" if is_sheet else None, "xl" if is_sheet else "s"
        )
        self.context, self._theme, self.offer = context, context.theme, offer
        self._asked = ""
        self.setAccessibleName(offer.title)
        self._lines = ArgumentLines(self._theme, offer.arguments, entered=self._get, complete=self._on_completion)
        self._lines.changed.connect(self._draw)
        self.result = ResultView(self._theme)
        layout = column(self, margins=(20, 14, 20, 16), spacing=8)
        layout.addLayout(self._head())
        layout.addWidget(CodeLabel(self._theme, one_line(offer.key, MOST_KEY), "muted"))
        if offer.description:
            layout.addWidget(Label(self._theme, offer.description[:MOST_DESCRIPTION], "body", "secondary", wrap=True))
        layout.addWidget(self._lines)
        self._lines.setVisible(bool(offer.arguments))
        self._address = ElidedLabel(self._theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        self._address.setVisible(offer.kind == TEMPLATE)
        layout.addWidget(self._address)
        layout.addLayout(self._actions())
        self._note = Label(self._theme, "", "caption", "muted", wrap=True)
        self._note.hide()
        layout.addWidget(self._note)
        layout.addWidget(self.result, 1)
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
        line = row(spacing=8)
        line.addWidget(ElidedLabel(self._theme, self.offer.title, "heading"), 1)
        copy = IconButton(self._theme, "copy", tr("Copy the name") if self.offer.kind == PROMPT else tr("Copy the address"), small=True)
        copy.clicked.connect(self._on_copy)
        line.addWidget(copy)
        close = IconButton(self._theme, "x", tr("Close"), small=True)
        close.clicked.connect(partial(leave, self, self.close_requested.emit))
        line.addWidget(close)
        return line

    def _actions(self) -> QHBoxLayout:
        line = row(spacing=8)
        words = tr("Preview") if self.offer.kind == PROMPT else tr("Read")
        self._go = Button(self._theme, words, "primary", small=True)
        self._go.setToolTip("Ctrl+Enter")
        self._go.clicked.connect(self._get)
        line.addWidget(self._go)
        facts = [tr("from {server}", server=self.offer.server), self.offer.mime]
        if self.offer.size is not None:
            facts.append(tr("{count} bytes", count=f"{self.offer.size:,}"))
        if self.offer.is_held:
            facts.append(tr("blocked until reviewed: it has changed"))
        line.addWidget(ElidedLabel(self._theme, " · ".join(filter(None, facts)), "caption", "muted"), 1)
        if self.offer.is_held:
            change = Button(self._theme, tr("See what is different"), "link", small=True)
            change.clicked.connect(self._on_change)
            line.addWidget(change)
        self._follows = Switch(self._theme, tr("Follow changes"))
        self._follows.clicked.connect(self._on_follow)
        words_of_it = Label(self._theme, tr("Follow changes"), "caption", "secondary")
        for widget in (words_of_it, self._follows):
            widget.setVisible(self.offer.kind == RESOURCE)
            line.addWidget(widget)
        return line

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
        answer: Mapping[str, object] | Problem
        try:
            answer = await self._answer(key, values)
        except TooltrayError as error:
            answer = error.problem
        if key != self._asked:
            return
        self._say("")
        if isinstance(answer, Problem):
            self.result.show_problem(answer)
        else:
            self.result.show_result(answer)

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


class ArgumentLines(QWidget):
    """Fields for the arguments of a prompt or the variables of a template; the server proposes values while the user types.

    Args:
        entered: called when Enter is pressed.
        complete: called with an argument and the text in it, to propose values.
    """

    changed = Signal()

    def __init__(
        self, theme: Theme, arguments: Sequence[Argument], *, entered: Callable[[], None], complete: Callable[[str, str], None]
    ) -> None:
        super().__init__()
        self._entered, self._complete = entered, complete
        self._arguments = arguments
        self._lines: dict[str, QLineEdit] = {}
        self._typed = ""
        self._pause = QTimer(self, singleShot=True, interval=ASKED_AFTER_MS)
        self._pause.timeout.connect(self._on_pause)
        layout = column(self, spacing=4)
        for argument in arguments:
            head = row(spacing=6)
            head.addWidget(Label(theme, one_line(argument.name, 80), "label"), 1)
            if argument.is_required:
                head.addWidget(Label(theme, tr("required"), "caption", "secondary"))
            layout.addLayout(head)
            layout.addWidget(self._line(theme, argument))
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
        return all(self._lines[each.name].text() for each in self._arguments if each.is_required and each.name in self._lines)

    def focus(self) -> None:
        """Moves the focus to the first line that needs a value."""
        lines = [self._lines[each.name] for each in self._arguments if each.is_required and not self._lines[each.name].text()]
        for line in (lines or list(self._lines.values()))[:1]:
            line.setFocus(Qt.FocusReason.OtherFocusReason)

    def propose(self, argument: str, written: str, values: Sequence[str]) -> None:
        """Shows possible values of an argument, unless its text has changed since the request."""
        line = self._lines.get(argument)
        if line is None or line.text() != written:
            return
        completer = line.completer()
        model = completer.model() if completer is not None else None
        if isinstance(model, QStringListModel):
            model.setStringList([seen(value).replace("\n", " ") for value in values[:MOST_PROPOSED]])
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
        line.textChanged.connect(self.changed)
        line.returnPressed.connect(self._entered)
        self._lines[argument.name] = line
        return line

    def _on_edited(self, name: str, _text: str) -> None:
        self._typed = name
        self._pause.start()

    def _on_pause(self) -> None:
        self._complete(self._typed, self._lines[self._typed].text())
