"""One AI client's session in full, beside the table: what it sees and why, on which project it works, and what it has activated."""

from PySide6.QtCore import Signal

from tooltray.snapshots.clients import SessionSnapshot
from tooltray.ui.clients.client_words import client_name, mode_name, project_name, project_source, reason, session_look
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.details_pane import DetailsPane
from tooltray.ui.widgets.label import CodeLabel, Label


class SessionDetails(DetailsPane):
    """`folder_requested` carries a session's id, `client_requested` the name of its kind of client."""

    folder_requested = Signal(str)
    client_requested = Signal(str)

    def __init__(self, theme: Theme, session: SessionSnapshot) -> None:
        super().__init__(theme, client_name(session))
        self._session = session
        self._badge = StateBadge(theme, session_look(session))
        self.body.addWidget(self._badge)
        self._mode = Label(theme, "", "strong", wrap=True)
        self._reason = Label(theme, "", "body", "secondary", wrap=True)
        self._alone = Label(theme, "", "body", "secondary", wrap=True)
        self._change = Button(theme, tr("Change what it sees"), small=True)
        self._change.clicked.connect(self._on_change)
        self.add_section(tr("What it sees"), self._mode, self._reason, self._alone, self._change)
        self._project = Label(theme, "", "strong", wrap=True)
        self._path = CodeLabel(theme, "", "secondary")
        self._source = Label(theme, "", "body", "secondary", wrap=True)
        self._folder = Button(theme, tr("Choose folder"), icon="folder", small=True)
        self._folder.clicked.connect(self._on_folder)
        self.add_section(tr("Project"), self._project, self._path, self._source, self._folder)
        self._profile = Label(theme, "", wrap=True)
        self.add_section(tr("Profile"), self._profile)
        self._activated = Label(theme, "", wrap=True)
        self.add_section(tr("Loaded servers"), self._activated)
        self.body.addStretch(1)
        self._draw()

    @property
    def session(self) -> SessionSnapshot:
        return self._session

    def set_session(self, session: SessionSnapshot) -> None:
        """Shows a newer snapshot."""
        if session != self._session:
            self._session = session
            self._draw()

    def _draw(self) -> None:
        session, project = self._session, self._session.project
        self._badge.set_look(session_look(session))
        self._mode.setText(mode_name(session.mode))
        _say(self._reason, reason(session))
        _say(self._alone, tr("It has the server {name} alone.", name=session.server) if session.server else "")
        self._project.setText(project_name(project))
        self._path.setVisible(project is not None)
        self._path.set_text(project.path if project is not None else "")
        self._source.setText(
            project_source(project) if project is not None else tr("Servers that need a project do not start for this client.")
        )
        self._profile.setText(session.profile or tr("None: it gets everything"))
        self._activated.setText(", ".join(session.activated) or tr("None"))
        self._folder.setEnabled(session.is_connected)
        self._change.setEnabled(bool(session.client))

    def _on_folder(self) -> None:
        self.folder_requested.emit(self._session.id)

    def _on_change(self) -> None:
        self.client_requested.emit(self._session.client)


def _say(label: Label, text: str) -> None:
    label.setText(text)
    label.setVisible(bool(text))
