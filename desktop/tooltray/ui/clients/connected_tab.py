"""The tab Connected of AI clients: the current sessions, what each sees and works on, and how tools are listed to each kind of client.
Draws frozen snapshots."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.ui.clients.client_details import ClientDetails, SessionDetails
from tooltray.ui.clients.client_words import (
    activated,
    client_in_full,
    client_name,
    client_title,
    mode_name,
    project_name,
    reason,
    session_look,
)
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.split_view import DetailsPane, SplitView
from tooltray.ui.widgets.surface import column, row
from tooltray.ui.widgets.table import Table

ROOM_FOR_ALL = 760  # px; below that, some columns are in the details only
SESSION_EXTRAS, CLIENT_EXTRAS = (4, 5), (4,)


class SessionTable(Table):
    def __init__(self, theme: Theme) -> None:
        def path(session: SessionSnapshot) -> str:
            return session.project.path if session.project is not None else ""

        columns = [
            Column(tr("Client"), client_name, Kind.TEXT, 0, client_in_full),
            Column(tr("State"), session_look, Kind.STATE, 124),
            Column(tr("Tool listing"), lambda session: mode_name(session.mode), Kind.TEXT, 160, reason),
            Column(tr("Project"), lambda session: project_name(session.project), Kind.QUIET, 150, path),
            Column(tr("Profile"), lambda session: session.profile, Kind.QUIET, 110),
            Column(tr("Loaded"), activated, Kind.QUIET, 140),
        ]
        super().__init__(theme, columns, tr("Sessions"), lambda session: session.id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        _hide(self, SESSION_EXTRAS)


class ClientTable(Table):
    def __init__(self, theme: Theme) -> None:
        self._connected: frozenset[str] = frozenset()

        def seen(client: ClientModeSnapshot) -> tuple[str, str]:
            if not client.client:
                return "", ""  # who would that be
            if any(fnmatchcase(name, client.client) for name in self._connected):  # names can be patterns
                return tr("Now"), "success"
            return tr("Earlier") if client.is_seen else tr("Not since start"), ""

        columns = [
            Column(tr("Client"), client_title, Kind.TEXT, 0, lambda client: client.client),
            Column(tr("Choice"), lambda client: mode_name(client.mode), Kind.QUIET, 170),
            Column(tr("Tool listing"), lambda client: mode_name(client.shown_mode), Kind.TEXT, 160, reason),
            Column(tr("Profile"), lambda client: client.profile, Kind.QUIET, 120),
            Column(tr("Last seen"), seen, Kind.CHIP, 116),
        ]
        super().__init__(theme, columns, tr("Kinds of clients"), lambda client: client.client)

    def set_connected(self, names: Collection[str]) -> None:
        """Marks the clients that are connected now."""
        self._connected = frozenset(names)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        _hide(self, CLIENT_EXTRAS)


def _hide(table: Table, extras: tuple[int, ...]) -> None:
    for index in extras:
        table.setColumnHidden(index, table.width() < ROOM_FOR_ALL)


SESSIONS, KINDS = 0, 1  # the tabs


class ConnectedTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        self._theme = theme
        self._profiles: tuple[str, ...] = ()
        layout = column(self)
        filters = row(margins=(24, 14, 24, 12))
        self._tabs = FilterTabs(theme, [tr("Sessions"), tr("Kinds of clients")])
        self._tabs.chosen.connect(self.show_tab)
        filters.addWidget(self._tabs)
        filters.addStretch(1)
        self._count = Label(theme, "", "caption", "secondary", tabular=True)
        filters.addWidget(self._count)
        layout.addLayout(filters)
        self._fault = FaultArea(theme)
        self._stack = QStackedWidget()
        self._split = SplitView(self._stack)
        self._split.closed.connect(self._focus_table)
        layout.addWidget(NoticesAbove(self._fault, self._split), 1)
        self._nobody = self._build_nobody()
        self._sessions, self._kinds = SessionTable(theme), ClientTable(theme)
        self._sessions.row_chosen.connect(self._open_session)
        self._kinds.row_chosen.connect(self._open_kind)
        for content in (self._nobody, self._sessions, self._kinds):
            self._stack.addWidget(content)
        self._tab = SESSIONS
        self.enable(False)
        self._look = self.reading(self._read)
        self.look_requested.connect(self._look)
        for news in (context.hub.session_list_changed, context.hub.config_changed):
            news.connect(self.look_again)

    @property
    def details(self) -> QWidget | None:
        """The open details beside the table."""
        return self._split.details

    @property
    def sessions(self) -> SessionTable:
        return self._sessions

    @property
    def kinds(self) -> ClientTable:
        return self._kinds

    def enable(self, is_usable: bool) -> None:
        self._split.setEnabled(is_usable)

    def show_tab(self, tab: int) -> None:
        """Shows sessions or kinds of clients."""
        if tab != self._tab:
            self._split.close_details()
        self._tab = tab
        self._tabs.choose(tab)
        self._draw()

    def show_sessions(self, sessions: Sequence[SessionSnapshot]) -> None:
        connected_first = sorted(sessions, key=lambda session: (not session.is_connected, session.client.casefold()))
        self._sessions.set_rows(connected_first)
        self._kinds.set_connected({session.client for session in sessions if session.is_connected})
        connected = sum(session.is_connected for session in sessions)
        self._count.setText(tr("{count} connected", count=connected) if connected else "")
        self._draw()
        if isinstance(details := self.details, SessionDetails):
            newer = next((session for session in sessions if session.id == details.session.id), None)
            if newer is None:
                self._split.close_details()
            else:
                details.set_session(newer)

    def show_clients(self, clients: Sequence[ClientModeSnapshot]) -> None:
        order = sorted(clients, key=lambda client: (bool(client.client), not client.is_seen, client_title(client).casefold()))
        self._kinds.set_rows(order)
        self._draw()
        if isinstance(details := self.details, ClientDetails):
            newer = next((client for client in clients if client.client == details.client.client), None)
            if newer is None:
                self._split.close_details()
            elif details.profiles != self._profiles:
                self._open_kind(newer)
            else:
                is_other = newer != details.client
                details.set_client(newer)
                if is_other:
                    self.run(self._read_costs(newer.client), show=self._show_failure)

    def show_profiles(self, profiles: Sequence[ProfileSnapshot]) -> None:
        """Offers these profiles for choice."""
        self._profiles = tuple(profile.name for profile in profiles)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure; None removes it."""
        self._fault.show_problem(problem)

    async def _read(self) -> None:
        views = self.hub.views
        self.show_profiles(await views.get_profiles())
        self.show_clients(await views.get_client_modes())
        self.show_sessions(await views.get_sessions())

    async def _read_costs(self, client: str) -> None:
        """Reads what the definitions of all tools cost in the context of one kind of client."""
        costs = await self.hub.views.get_tool_costs(client or None)
        if isinstance(details := self.details, ClientDetails) and details.client.client == client:
            details.show_costs(costs)

    def _show_failure(self, problem: Problem | None) -> None:
        """Shows why costs could not be read; what failed before stays after success."""
        if problem is not None:
            self.show_problem(problem)

    def _build_nobody(self) -> EmptyState:
        empty = EmptyState(
            self._theme,
            tr("No AI client is connected"),
            tr("Every connected client is listed here, with what it sees."),
            [
                (
                    "plug",
                    tr("Connect the AI clients on this computer"),
                    tr("An entry in their settings, after a preview"),
                ),
                ("copy", tr("Copy the entry for an AI client"), tr("Paste it into Claude Code, Cursor or another client")),
            ],
        )
        empty.way_chosen.connect(self._on_way_chosen)
        return empty

    def _on_way_chosen(self, index: int) -> None:
        links = self.context.links
        if index == 0:
            links.part_asked.emit("clients", "computer", "")
        else:
            links.entry_copy_requested.emit()

    def _draw(self) -> None:
        self._tabs.set_counts((len(self._sessions.rows), len(self._kinds.rows)))
        if self._tab == KINDS:
            self._stack.setCurrentWidget(self._kinds)
        else:
            self._stack.setCurrentWidget(self._sessions if self._sessions.rows else self._nobody)

    def _open_session(self, session: SessionSnapshot) -> None:
        if isinstance(details := self.details, SessionDetails) and details.session.id == session.id:
            return
        self._open(SessionDetails(self._theme, session, choose_folder=self._choose_folder, show_kind=self._show_kind))

    def _open_kind(self, client: ClientModeSnapshot) -> None:
        if isinstance(details := self.details, ClientDetails) and (details.client, details.profiles) == (client, self._profiles):
            return
        self._open(ClientDetails(self, self._read, client, self._profiles))
        self.run(self._read_costs(client.client), show=self._show_failure)

    def _choose_folder(self, session: str) -> None:
        set_project = self.hub.projects.set_session_project
        title = tr("On which project does this client work?")
        self.context.choose_folder(title, lambda folder: self.run(set_project(session, folder), then=self._read))

    def _open(self, details: DetailsPane) -> None:
        details.close_requested.connect(self._on_close_details)
        self._split.open_details(details)

    def _show_kind(self, name: str) -> None:
        """Shows the kind of client of a session, with its choices."""
        self.show_tab(KINDS)
        kinds = [client for client in self._kinds.rows if fnmatchcase(name, client.client)]  # names can be patterns
        if kinds:
            kind = next((client for client in kinds if client.client == name), kinds[0])
            self._kinds.selectRow(self._kinds.rows.index(kind))
            self._open_kind(kind)
        self._focus_table()

    def _on_close_details(self) -> None:
        self._split.close_details()
        self._focus_table()

    def _focus_table(self) -> None:
        (self._kinds if self._tab == KINDS else self._sessions).setFocus()
