"""What was refused to a confined server since it started, each with a button that allows it. Hidden while nothing was refused."""

from datetime import datetime
from functools import partial

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, RefusedThing
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.confinement_words import refused_details, refused_title
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.problem_words import in_a_row
from tooltray.ui.server_pane.access_section import AccessSection
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import Surface, clear, column, row


class RefusedSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._now = ConfinementSnapshot()
        self.body.addWidget(Label(self._theme, tr("Refused"), "strong"))
        self._about = Label(self._theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._about)
        self.body.addLayout(self.notes)
        box = Surface(self._theme)
        self._lines = column(box, margins=(12, 8, 10, 8), spacing=6)
        self.body.addWidget(box)
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
            allow.clicked.connect(lambda: self._on_allow(thing))
            line.addWidget(allow)
        return widget

    def _on_allow(self, thing: RefusedThing) -> None:
        toast = tr("{server} is allowed {thing} now", server=self._name, thing=thing.name)
        allowed = self.hub.confinement.allow_refused(self._name, "host" if thing.kind == "host" else "path", thing.name)
        self.run(allowed, toast=toast, undo=partial(self.confine, self._now))
