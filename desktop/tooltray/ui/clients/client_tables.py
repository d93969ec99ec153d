"""The tables of the page of AI clients: sessions, and kinds of clients. Model/view, so that hundreds cost as much as the visible ones."""

from PySide6.QtGui import QResizeEvent

from tooltray.snapshots.clients import ClientModeSnapshot, SessionSnapshot
from tooltray.ui.clients.client_words import activated, client_name, client_title, mode_name, project_name, reason, session_look
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.table import Column, Kind, Table

ROOM_FOR_ALL = 760  # px; below that, some columns are in the details only
SESSION_EXTRAS, CLIENT_EXTRAS = (4, 5), (4,)


class SessionTable(Table):
    def __init__(self, theme: Theme) -> None:
        def path(session: SessionSnapshot) -> str:
            return session.project.path if session.project is not None else ""

        columns = [
            Column(tr("Client"), client_name),
            Column(tr("State"), session_look, Kind.STATE, 124),
            Column(tr("Tools are shown"), lambda session: mode_name(session.mode), Kind.TEXT, 160, reason),
            Column(tr("Project"), lambda session: project_name(session.project), Kind.QUIET, 150, path),
            Column(tr("Profile"), lambda session: session.profile or "–", Kind.QUIET, 110),
            Column(tr("Loaded"), activated, Kind.QUIET, 140),
        ]
        super().__init__(theme, columns, tr("Sessions"), lambda session: session.id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        _hide(self, SESSION_EXTRAS)


class ClientTable(Table):
    def __init__(self, theme: Theme) -> None:
        def seen(client: ClientModeSnapshot) -> tuple[str, str]:
            if not client.client:
                return "–", ""  # who would that be
            return tr("Earlier") if client.is_seen else tr("Never"), ""

        columns = [
            Column(tr("Client"), client_title, Kind.TEXT, 0, lambda client: client.client),
            Column(tr("Choice"), lambda client: mode_name(client.mode), Kind.QUIET, 170),
            Column(tr("Tools are shown"), lambda client: mode_name(client.shown_mode), Kind.TEXT, 160, reason),
            Column(tr("Profile"), lambda client: client.profile or "–", Kind.QUIET, 120),
            Column(tr("Last seen"), seen, Kind.CHIP, 96),
        ]
        super().__init__(theme, columns, tr("Kinds of clients"), lambda client: client.client)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        _hide(self, CLIENT_EXTRAS)


def _hide(table: Table, extras: tuple[int, ...]) -> None:
    for index in extras:
        table.setColumnHidden(index, table.width() < ROOM_FOR_ALL)
