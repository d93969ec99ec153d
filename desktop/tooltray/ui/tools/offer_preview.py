"""A preview of a prompt or a resource: its facts, its arguments, and the answer of its server."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.results.result_view import ResultView
from tooltray.ui.tools.argument_lines import ArgumentLines
from tooltray.ui.tools.offered import PROMPT, RESOURCE, TEMPLATE, Offered, expanded
from tooltray.ui.tools.offered_commands import OfferedCommands
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.server_text import one_line, seen
from tooltray.ui.widgets.surface import Surface, column, row

MOST_DESCRIPTION, MOST_KEY = 600, 400  # characters


class OfferPreview(Surface):
    """A preview of a prompt, a resource or a skill.

    Args:
        is_sheet: it lies over the window, and looks like it.
    """

    close_requested = Signal()

    def __init__(self, context: PageContext, offer: Offered, commands: OfferedCommands, *, is_sheet: bool = False) -> None:
        super().__init__(
            context.theme, "surface.raised" if is_sheet else "surface", "border" if is_sheet else None, "xl" if is_sheet else "s"
        )
        self._context, self._theme, self.offer, self._commands = context, context.theme, offer, commands
        self._asked = ""
        self.setAccessibleName(offer.title)
        self._lines = ArgumentLines(self._theme, offer.arguments)
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
        self._connect()
        self._draw()
        if not any(argument.is_required for argument in offer.arguments):
            self._get()

    def _connect(self) -> None:
        self._lines.changed.connect(self._draw)
        self._lines.entered.connect(self._get)
        self._lines.completion_requested.connect(self._on_completion)
        self._commands.got.connect(self._on_got)
        self._commands.completed.connect(self._lines.propose)
        self._commands.failed.connect(self._on_failed)
        self._context.hub.resource_updated.connect(self._on_updated)
        add_accept_keys(self, self._get)

    @property
    def key(self) -> str:
        """The prompt's name, or the address, of the request."""
        return expanded(self.offer.key, self._lines.values) if self.offer.kind == TEMPLATE else self.offer.key

    def leave(self) -> None:
        """Stops following changes, since the preview is closed."""
        self._commands.follow("")

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
            self._commands.get(self.offer, self._asked, self._lines.values)

    def _on_got(self, key: str, answer: Mapping[str, object] | Problem) -> None:
        if key != self._asked:
            return
        self._say("")
        if isinstance(answer, Problem):
            self.result.show_problem(answer)
        else:
            self.result.show_result(answer)

    def _on_failed(self, problem: Problem | None) -> None:
        """Shows that the server does not report changes."""
        if problem is not None and self._follows.isChecked():
            self._follows.set_on(False)
            self._say(" ".join(filter(None, [str(problem.title), str(problem.message)])))

    def _on_follow(self, on: bool) -> None:
        self._say(tr("Reloads when the server reports a change.") if on else "")
        self._commands.follow(self.key if on else "")

    def _on_updated(self, uri: str) -> None:
        if self._follows.isChecked() and uri == self.offer.key and self.isVisible():
            self._get()

    def _on_completion(self, argument: str, written: str) -> None:
        others = {name: value for name, value in self._lines.values.items() if name != argument}
        self._commands.complete(self.offer, argument, written, others)

    def _on_copy(self) -> None:
        words = tr("The name is copied") if self.offer.kind == PROMPT else tr("The address is copied")
        self._context.copy(self.key, words)

    def _on_change(self) -> None:
        self.close_requested.emit()
        self._context.links.part_asked.emit("permissions", "granted", "")

    def _say(self, text: str) -> None:
        self._note.setText(text)
        self._note.setVisible(bool(text))


def sheet_of(preview: OfferPreview, width: int, height: int) -> QWidget:
    """Makes a preview as large as a sheet is."""
    preview.setMaximumWidth(width)
    preview.setMinimumHeight(height)
    return preview
