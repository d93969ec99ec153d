"""A preview of a prompt or a resource: its facts, its arguments, and the answer of its server."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ResourceUpdated
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Activity
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.tools.argument_lines import ArgumentLines
from tooltray.ui.tools.offered import PROMPT, RESOURCE, SKILL, TEMPLATE, Offered, expanded
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.server_text import one_line, seen
from tooltray.ui.widgets.surface import Surface, column, row

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
        self._lines = ArgumentLines(self._theme, offer.arguments)
        self._lines.changed.connect(self._draw)
        self._lines.entered.connect(self._get)
        self._lines.completion_requested.connect(self._on_completion)
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
        close.clicked.connect(self.close_requested)
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
