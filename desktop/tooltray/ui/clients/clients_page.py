"""The page of AI clients: one list of those that are connected, installed or supported, with the profile of each; and a pane for one.
Draws frozen snapshots. The scan of this computer never blocks it."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from msgspec.structs import replace
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget

from tooltray.foundation.errors import NotFound, Problem
from tooltray.foundation.events import ClientListUpdated, ConfigChanged, SessionListChanged
from tooltray.foundation.snapshots.ai_clients import ClientChange, ClientScan
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.ui.clients import client_words
from tooltray.ui.clients.client_files import ClientFiles
from tooltray.ui.clients.client_pane import ClientPane, DefaultsSheet
from tooltray.ui.clients.client_table import ANYONE, NEW, ClientRow, ClientTable, Group, OtherClients, Row, client_rows, find_row
from tooltray.ui.clients.client_words import to_connect
from tooltray.ui.clients.profile_sheet import ProfileSheet, ProfilesSheet
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import ConnectClients, Destination, ImportServers, NewProfile, OpenClient, Profiles
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.scan_words import has_removable, here, scan_text, scan_title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.icon import IconTile
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import Header
from tooltray.ui.widgets.split_view import SplitView
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.zoom import px


class ImportBanner(Surface):
    """What was found in AI clients' settings, and the button that imports it, or removes it there if all of it is in Tooltray; hidden while
    nothing is found.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._title = Label(theme, "", "strong", wrap=True)
        self._text = Label(theme, "", "body", "secondary", wrap=True)
        self.take = Button(theme, tr("Import servers…"), "primary", "download")
        words = fill(column(spacing=2), self._title, self._text)
        fill(row(self, margins=(16, 12, 16, 12), spacing=14), IconTile(theme, "plug", tone="accent"), (words, 1), self.take)
        self.setMinimumHeight(px(64))

    def show_scan(self, scan: ClientScan | None) -> None:
        self.setVisible(scan is not None and bool(scan.servers and here(scan)))
        if scan is not None:
            self._title.setText(scan_title(scan))
            self._text.setText(scan_text(scan))
            has_new = bool(scan.new_servers)
            self.take.set_face(*((tr("Import servers…"), "download") if has_new else (tr("Remove them there…"), "trash")))
            self.take.set_variant("primary" if has_new else "secondary")
            self.take.setVisible(has_new or has_removable(scan))


class ClientsPage(Page):
    """The page of AI clients.

    Attributes:
        files: changes their files.
        rows: the clients, first those that are here.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        self.files = ClientFiles(self, self.read)
        self._kinds: Sequence[ClientModeSnapshot] = ()
        self._sessions: Sequence[SessionSnapshot] = ()
        self._profiles: Sequence[ProfileSnapshot] = ()
        self._changes: Sequence[ClientChange] = ()
        self._tokens: dict[Group, tuple[int, int]] = {}  # in the context of such clients, and of all their servers' tools
        self._fresh: set[Group] = set()  # whose costs are read since something changed
        self._is_read = self._is_unfolded = self._is_scanned = self._connects_found = False
        self._wanted = ""  # the client whose pane a link opens, when it is known
        self.rows: list[ClientRow] = []
        self._again = Button(theme, tr("Rescan"), "ghost", "refresh", on_click=context.scans.look)
        self._connect_all = Button(theme, tr("Connect all"), icon="plug", on_click=self._on_connect_all)
        self._defaults = Button(theme, tr("Defaults…"), on_click=lambda: self._open_sheet(DefaultsSheet(self)))
        self._edit_profiles = Button(theme, tr("Profiles…"), icon="layers", on_click=self._open_profiles)
        self._header = Header(theme, tr("Clients"), self._again, self._connect_all, self._defaults, self._edit_profiles)
        self._banner, self._fault, self._stack = ImportBanner(theme), FaultArea(theme), QStackedWidget()
        self._split = SplitView(self._stack, fits=True)
        above = fill(column(margins=(24, 16, 24, 8)), self._banner)
        fill(column(self), self._header, above, (NoticesAbove(self._fault, self._split), 1))
        self.table = ClientTable(theme, self.choose_profile)
        self._waiting = EmptyState(theme, tr("Looking for AI clients…"), tr("This takes a moment at most."), [])
        copy = ("copy", tr("Copy the entry for an AI client"), tr("Paste it into one that Tooltray does not know"))
        text = tr("Tooltray looked for the settings of every supported client.")
        others = ("plug", tr("Show supported clients"), tr("None of them is installed on this computer"))
        self._nothing = EmptyState(theme, tr("No supported client found"), text, [copy, others])
        for content in (self._waiting, self._nothing, self.table):
            self._stack.addWidget(content)
        self.enable(False)
        self._connect()
        self._draw()

    def _connect(self) -> None:
        scans, hub, self._look = self.context.scans, self.hub, self.reading(self.read)
        self.look_requested.connect(self._on_look)
        hub.on_any((ConfigChanged, ClientListUpdated), self.look_again, self)
        hub.on_any((SessionListChanged,), self._on_sessions, self)
        scans.scan_changed.connect(self._on_scan)
        scans.scanning_changed.connect(self._draw)
        scans.failed.connect(self.show_problem)
        self._banner.take.clicked.connect(lambda: self.files.import_from([]))
        self._nothing.way_chosen.connect(lambda way: self._unfold() if way else self.context.links.entry_copy_requested.emit())
        self.table.row_chosen.connect(self._on_row)
        self.table.pressed.connect(self._on_button)
        self._split.closed.connect(self.table.setFocus)

    @property
    def pane(self) -> ClientPane | None:
        """The open pane beside the table."""
        details = self._split.details
        return details if isinstance(details, ClientPane) else None

    @property
    def profiles_of_some(self) -> set[str]:
        """The names of profiles that do not have all servers."""
        return {profile.name for profile in self._profiles if profile.servers is not None}

    def left_out_words(self, session: SessionSnapshot) -> str:
        """Returns which servers of a session's project its profile leaves out, in a sentence; empty if none."""
        return client_words.left_out_words(session, self._profiles, self.context.servers.servers)

    @property
    def profile_names(self) -> list[str]:
        return sorted((profile.name for profile in self._profiles), key=str.casefold)

    def enable(self, is_usable: bool) -> None:
        for widget in (self._split, self._again, self._connect_all, self._defaults, self._edit_profiles, self._banner):
            widget.setEnabled(is_usable)

    def open_destination(self, destination: Destination) -> None:
        if isinstance(destination, OpenClient):
            self._wanted = destination.name
            self._draw()
        elif isinstance(destination, ImportServers) and self.is_usable:
            self.files.import_from([])
        elif isinstance(destination, ConnectClients) and self.is_usable:
            self._connects_found = True
            self.context.scans.look()
        elif isinstance(destination, Profiles) and self.is_usable:
            self._open_profiles()
        elif isinstance(destination, NewProfile) and self.is_usable:
            self.run(self._open_new(destination.content))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure; None removes it."""
        self._fault.show_problem(problem)

    # what there is

    async def read(self) -> None:
        """Reads the clients, and what is not known yet of the tokens in their context."""
        views = self.hub.views
        self._profiles = await views.get_profiles()
        self._kinds = await views.get_client_modes()
        self._sessions = await views.get_sessions()
        self._changes = sorted(await self.hub.ai_clients.get_client_changes(), key=lambda change: -change.at)
        self._is_read = True
        self._draw()
        wanted = {group: whose for row in self.rows if row.uses_tooltray for group, whose in row.groups.items()}
        for group, (client, session) in {ANYONE: ("", ""), **wanted}.items() if wanted else ():
            if group not in self._fresh:
                with suppress(NotFound):  # the session has ended meanwhile
                    costs = await views.get_tool_costs(client or None, session or None)
                    self._tokens[group] = costs.shown_tokens, costs.tokens
                    self._fresh.add(group)
                    self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        self._is_scanned = False
        super().showEvent(event)

    def _on_look(self) -> None:
        self._fresh.clear()
        self._look()
        if not self._is_scanned:
            self._is_scanned = True
            self.context.scans.look()

    def _on_sessions(self) -> None:
        if self.is_usable and self.isVisible():
            self._look()

    def _on_scan(self, _scan: ClientScan) -> None:
        self._draw()
        if self._connects_found:
            self._connects_found = False
            self._on_connect_all()
        if self._fresh and self.is_usable and self.isVisible():
            self._look()  # a client that was found may be the first with its listing and profile

    def _draw(self, *_news: object) -> None:
        scan = self.context.scans.scan
        listed, others = client_rows(self._kinds, self._sessions, scan)
        listed = [self._with_tokens(each) if each.uses_tooltray else each for each in listed]
        most = max((max(each.tokens or 0, each.whole) for each in listed), default=0) or 1
        listed = [replace(each, most=most) for each in listed]
        self.rows = [*listed, *others]
        fold = [OtherClients(len(others), self._is_unfolded)] if others else []
        self.table.profiles = self.profile_names
        self.table.set_rows([*listed, *fold, *(others if self._is_unfolded else ())])
        connected = sum(bool(each.sessions) for each in listed)
        self._header.set_subtitle(tr("{count} connected", count=connected) if connected else "")
        self._banner.show_scan(scan)
        self._again.set_face(tr("Looking…") if self.context.scans.is_scanning else tr("Rescan"), "refresh")
        self._connect_all.setVisible(scan is not None and len(to_connect(scan)) > 1)
        is_empty = not listed and not self._is_unfolded
        self._stack.setCurrentWidget(self.table if not is_empty else self._waiting if scan is None or not self._is_read else self._nothing)
        self._draw_pane()

    def _with_tokens(self, row: ClientRow) -> ClientRow:
        """Returns a row with the cost of what its sessions list; of several, the one that lists most."""
        default = next((kind.shown_mode for kind in self._kinds if not kind.client), "")
        known = [(*self._tokens[group], group[0] or default) for group in row.groups if group in self._tokens]
        _, whole = self._tokens.get(ANYONE, (0, 0))  # of any other, servers may be left out
        shown, its_whole, mode = max(known, default=(None, 0, ""))
        return replace(row, tokens=shown, mode=mode, whole=max(whole, its_whole))

    def _draw_pane(self) -> None:
        if self._wanted and (row := find_row(self.rows, self._wanted)) is not None:
            self._wanted = ""
            self._open(row)
        elif (pane := self.pane) is not None:
            newer = next((row for row in self.rows if row.key == pane.client.key), None) or find_row(self.rows, pane.client.name)
            if newer is None:
                self._split.close_details()
            elif not pane.show_client(newer, self._changes_of(newer)):
                self._open(newer)

    def _changes_of(self, row: ClientRow) -> list[ClientChange]:
        return [change for change in self._changes if row.found is not None and change.client == row.found.id]

    # the user

    def _on_row(self, row: Row) -> None:
        if isinstance(row, OtherClients):
            self._unfold()
        elif (pane := self.pane) is None or pane.client.key != row.key:
            self._open(row)

    def _unfold(self) -> None:
        """Shows the clients that are not installed, or hides them again."""
        self._is_unfolded = not self._is_unfolded
        self._draw()
        self.table.setFocus()

    def _open(self, row: ClientRow) -> None:
        pane = ClientPane(self, row)
        pane.show_client(row, self._changes_of(row))
        pane.close_requested.connect(self._on_close_pane)
        self._split.open_details(pane)

    def _on_close_pane(self) -> None:
        self._split.close_details()
        self.table.setFocus()

    def _on_button(self, row: ClientRow) -> None:
        if row.found is not None and row.found.way == "link" and row.found.connection == "none":
            self._on_row(row)
        elif row.found is not None:
            self.files.connect_or_disconnect(row.found)

    def _on_connect_all(self) -> None:
        if (scan := self.context.scans.scan) is not None and (clients := to_connect(scan)):
            self.files.connect([client.id for client in clients])

    def choose_folder(self, session: str) -> None:
        """Prompts for the folder that a session works on."""
        set_project = self.hub.projects.set_session_project
        title = tr("On which project does this client work?")
        self.context.choose_folder(title, lambda folder: self.run(set_project(session, folder), then=self.read))

    # profiles

    def choose_profile(self, row: ClientRow, name: str) -> None:
        """Gives a client another profile; NEW opens the sheet of its own one."""
        if (kind := row.kind) is None:
            return
        if name == NEW:
            own = tr("{client}'s tools", client=row.name)
            self.open_profile(next((each for each in self._profiles if each.name == own), None), client=kind.client)
            return
        give = partial(self.hub.views.set_client_profile, kind.client)
        everything = tr("{client} gets everything", client=row.name)
        gets = tr("{client} gets the profile {name}", client=row.name, name=name) if name else everything
        self.run(give(name), then=self.read, toast=gets, undo=partial(give, kind.profile))

    def edit_profile(self, name: str) -> None:
        """Opens the sheet of a profile."""
        if (profile := next((each for each in self._profiles if each.name == name), None)) is not None:
            self.open_profile(profile)

    def open_profile(self, profile: ProfileSnapshot | None, *, client: str = "", is_copy: bool = False) -> None:
        """Opens the sheet of a profile, or of a new one, see ProfileSheet."""
        sheet = ProfileSheet(self, profile, client=client, is_copy=is_copy)
        if isinstance(self.context.sheets.panel, ProfilesSheet):
            self.context.sheets.replace(sheet)
            sheet.run(sheet.read())
        else:
            self._open_sheet(sheet)

    async def _open_new(self, content: ProfileSnapshot) -> None:
        await self.read()  # the clients that can get it
        self.open_profile(content, is_copy=True)

    def _open_profiles(self) -> None:
        self._open_sheet(ProfilesSheet(self))

    def _open_sheet(self, sheet: DefaultsSheet | ProfileSheet | ProfilesSheet) -> None:
        if self.context.sheets.show(sheet) is not None:
            sheet.run(sheet.read())
