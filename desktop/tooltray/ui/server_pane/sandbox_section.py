"""The sandbox of a server: what was refused, which files and hosts it may reach, and Watch. Folded where a choice has no sandbox."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.confinement_words import in_short, refused_in_short
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.access_section import AccessSection
from tooltray.ui.server_pane.choice_section import ChoiceSection
from tooltray.ui.server_pane.refused_section import RefusedSection
from tooltray.ui.server_pane.watch_section import WatchSection
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import column


class SandboxSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._is_needed: bool | None = None  # by the server's settings; None: not known yet
        self._words = Label(self._theme, "", "caption", "muted", wrap=True)
        self._fold = Button(self._theme, "", "ghost", small=True)
        self.body.addLayout(heading(self._theme, tr("Sandbox"), self._words, self._fold))
        self._folded = QWidget()
        self._fold.clicked.connect(lambda: self._unfold(self._folded.isHidden()))
        self._parts = column(self._folded, spacing=16)
        self._sections: list[AccessSection] = []  # built when they are first shown
        self.body.addWidget(self._folded)
        self._server: ServerSnapshot | None = None
        self._unfold(False)

    def set_server(self, server: ServerSnapshot) -> None:
        self._server = server
        self.setVisible(server.confinement is not None)
        parts = (in_short(server.confinement) or tr("Not sandboxed: can do anything you can"), refused_in_short(server.confinement))
        self._words.setText(" · ".join(filter(None, parts)))
        is_needed = server.confinement is not None and server.access is not None and server.access.choice in ("careful", None)
        if is_needed != self._is_needed:
            self._is_needed = is_needed
            self._unfold(is_needed)
        for section in self._sections:
            section.set_server(server)

    def _unfold(self, is_open: bool) -> None:
        if is_open and not self._sections:
            self._sections = [make(self.context, self._name) for make in (RefusedSection, ChoiceSection, WatchSection)]
            for section in self._sections:
                self._parts.addWidget(section)
                if self._server is not None:
                    section.set_server(self._server)
        self._folded.setVisible(is_open)
        self._fold.set_face(tr("Hide") if is_open else tr("Show"), "chevron-down" if is_open else "chevron-right")
        self._fold.setAccessibleName(tr("Hide the sandbox") if is_open else tr("Show the sandbox"))
