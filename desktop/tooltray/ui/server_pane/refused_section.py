"""What was refused to a confined server since it started, each with a button that allows it. Hidden while nothing was refused."""

from datetime import datetime

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, RefusedThing
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.confinement_words import refused_details, refused_title
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.problem_words import in_a_row, sentences, title
from tooltray.ui.server_pane.confinement_commands import ConfinementCommands
from tooltray.ui.server_pane.confinement_section import ConfinementSection
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import Surface, clear, column, row


class RefusedSection(ConfinementSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        self._context, self._theme, self._name = context, context.theme, name
        self._now = ConfinementSnapshot()
        self._commands = ConfinementCommands(hub=context.hub, tasks=context.tasks, parent=None, server=name)
        self._commands.failed.connect(self._on_failed)
        self._commands.changed.connect(self._on_changed)
        body = column(self, spacing=10)
        body.addWidget(Label(self._theme, tr("Refused"), "heading"))
        self._about = Label(self._theme, "", "caption", "muted", wrap=True)
        body.addWidget(self._about)
        self._notes = column(spacing=8)
        body.addLayout(self._notes)
        box = Surface(self._theme)
        self._lines = column(box, margins=(12, 8, 10, 8), spacing=6)
        body.addWidget(box)
        self.hide()

    def set_server(self, server: ServerSnapshot) -> None:
        before, self._now = self._now.refused, server.confinement or ConfinementSnapshot()
        if self._now.refused != before:
            self._draw()
        self.setVisible(bool(self._now.refused))

    def _draw(self) -> None:
        clear(self._lines)
        words = tr("Since the server started. Allowing a host takes effect at once; allowing a file or folder restarts the server.")
        has_paths = any(each.kind == "path" for each in self._now.refused)
        self._about.setText(
            in_a_row(words, tr("The paths are from the server's own messages: look before you allow one.") if has_paths else "")
        )
        for thing in self._now.refused:
            self._lines.addWidget(self._line(thing))

    def _line(self, thing: RefusedThing) -> QWidget:
        widget, theme = QWidget(), self._theme
        line = row(widget, spacing=8)
        words = column()
        if thing.name:
            words.addWidget(CodeLabel(theme, thing.name))  # the whole of it: it is what a person allows
        else:
            words.addWidget(Label(theme, refused_title(thing), wrap=True))
        words.addWidget(Label(theme, refused_details(thing, datetime.now()), "caption", "muted", wrap=True))
        line.addLayout(words, 1)
        if thing.name:
            allow = Button(theme, tr("Allow for this server"), small=True)
            allow.setAccessibleName(tr("Allow {thing} for {server}", thing=thing.name, server=self._name))
            allow.clicked.connect(lambda: self._commands.allow(thing, self._now))
            line.addWidget(allow)
        return widget

    def _on_failed(self, problem: Problem | None) -> None:
        clear(self._notes)
        if problem is not None:
            self._notes.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))

    def _on_changed(self, text: str, take_back: Work) -> None:
        self._context.offer_undo(text, take_back)
