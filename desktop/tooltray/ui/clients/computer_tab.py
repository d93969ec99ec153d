"""The tab "On this computer" of AI clients: the installed ones, whether they use Tooltray, their servers, and what was changed in them. The
scan never blocks it."""

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientChange, ClientEdit, ClientScan
from tooltray.ui.clients import computer_words as said
from tooltray.ui.clients.computer_details import ComputerDetails
from tooltray.ui.clients.edits_sheet import EditsSheet
from tooltray.ui.clients.import_sheet import ImportSheet
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.scan_words import here, scan_text, scan_title
from tooltray.ui.origins import visible_path
from tooltray.ui.state_language import not_known
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.icon import IconTile
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.split_view import SplitView
from tooltray.ui.widgets.surface import Surface, column, row
from tooltray.ui.widgets.table import Table

HERE, ELSEWHERE, CHANGES = 0, 1, 2  # the lists
ROOM_FOR_ALL = 700  # px; below that, whether a client runs is in its details only
PRESENCE = 1  # its column
Preview = Callable[[list[str]], Coroutine[object, object, Sequence[ClientEdit]]]


class ComputerTable(Table):
    def __init__(self, theme: Theme) -> None:
        columns = [
            Column(tr("Client"), lambda client: client.name, Kind.TEXT, 0, lambda client: client.name),
            Column(tr("Installed"), said.presence, Kind.QUIET, 110),
            Column(tr("Tooltray"), said.connection_look, Kind.STATE, 140),
            Column(tr("Servers"), said.server_count, Kind.NUMBER, 84, said.servers_tip),
            Column(tr("Plain keys"), said.secrets_chip, Kind.CHIP, 96, _secrets_tip),
            Column("", said.wish_word, Kind.BUTTON, 116),
        ]
        super().__init__(theme, columns, tr("AI clients on this computer"), lambda client: client.id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setColumnHidden(PRESENCE, self.width() < ROOM_FOR_ALL)


def _secrets_tip(client: AiClient) -> str:
    if (why := said.unread(client)) and not any(server.secrets for server in said.own_servers(client)):
        return not_known(why)
    return ", ".join(secret for server in said.own_servers(client) for secret in server.secrets)


class ChangesTable(Table):
    def __init__(self, theme: Theme, name: "ComputerTab") -> None:
        now = datetime.now
        columns = [
            Column(tr("What was done"), lambda change: said.change_word(change, name.client_name(change.client))),
            Column(tr("File"), lambda change: visible_path(change.path), Kind.MONO, 250, lambda change: visible_path(change.path)),
            Column(tr("When"), lambda change: moment(change.at, now()), Kind.QUIET, 112),
            Column("", lambda change: tr("Undo") if change.undo != "none" else "", Kind.BUTTON, 84, said.undo_word),
        ]
        super().__init__(theme, columns, tr("Changes in AI clients' files"), lambda change: change.id)


class Head(Surface):
    """The head of the tab: what was found, in two sentences, and the button that imports servers."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        line = row(self, margins=(16, 12, 16, 12), spacing=14)
        line.addWidget(IconTile(theme, "plug", tone="accent"))
        words = column(spacing=2)
        self._title = Label(theme, "", "strong", wrap=True)
        self._text = Label(theme, "", "body", "secondary", wrap=True)
        words.addWidget(self._title)
        words.addWidget(self._text)
        line.addLayout(words, 1)
        self.move_here = Button(theme, tr("Import servers…"), "primary", "download")
        line.addWidget(self.move_here)
        self.setMinimumHeight(64)

    def show_scan(self, scan: ClientScan | None, *, is_scanning: bool) -> None:
        if scan is None:
            self._title.setText(tr("Looking for AI clients…") if is_scanning else tr("Not scanned yet"))
            self._text.setText(tr("Their settings are read, and no program is started."))
        else:
            self._title.setText(scan_title(scan))
            self._text.setText(scan_text(scan))
        self._text.setVisible(bool(self._text.text()))
        self.move_here.setVisible(scan is not None and bool(scan.servers))


class ComputerTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._theme = context.theme
        self._changes: Sequence[ClientChange] = ()
        layout = column(self)
        self._head = Head(self._theme)
        above = column(margins=(24, 16, 24, 0))
        above.addWidget(self._head)
        layout.addLayout(above)
        layout.addLayout(self._build_filters())
        self._fault = FaultArea(self._theme)
        self._stack = QStackedWidget()
        self._split = SplitView(self._stack)
        layout.addWidget(NoticesAbove(self._fault, self._split), 1)
        self._waiting = EmptyState(self._theme, tr("Looking for AI clients…"), tr("This takes a moment at most."), [])
        self._nothing = self._build_nothing()
        self._no_changes = EmptyState(
            self._theme,
            tr("Nothing was changed"),
            tr("Tooltray's changes to AI clients' files are listed here, with Undo."),
            [],
        )
        self.table, self.changes = ComputerTable(self._theme), ChangesTable(self._theme, self)
        for content in (self._waiting, self._nothing, self._no_changes, self.table, self.changes):
            self._stack.addWidget(content)
        self.enable(False)
        self._connect()
        self._draw()

    def _build_filters(self) -> QHBoxLayout:
        line = row(margins=(24, 14, 24, 12))
        self._tabs = FilterTabs(self._theme, [tr("Installed"), tr("Not installed"), tr("Changes")], name=tr("Which AI clients"))
        self._tabs.chosen.connect(self._on_list)
        line.addWidget(self._tabs)
        line.addStretch(1)
        self._again = Button(self._theme, tr("Rescan"), "ghost", "refresh", small=True)
        self._connect_all = Button(self._theme, tr("Connect all"), icon="plug", small=True)
        line.addWidget(self._again)
        line.addWidget(self._connect_all)
        return line

    def _build_nothing(self) -> EmptyState:
        nothing = EmptyState(
            self._theme,
            tr("No supported client found"),
            tr("Tooltray looked for the settings of every supported client."),
            [("copy", tr("Copy the entry for an AI client"), tr("Paste it into one that Tooltray does not know"))],
        )
        nothing.way_chosen.connect(self.context.links.entry_copy_requested)
        return nothing

    def _connect(self) -> None:
        scans, self._look = self.context.scans, self.reading(self._read)
        self.look_requested.connect(scans.look)
        self.look_requested.connect(self._look)
        self._again.clicked.connect(scans.look)
        self._connect_all.clicked.connect(self._on_connect_all)
        self._head.move_here.clicked.connect(lambda: self.import_from([]))
        scans.scan_changed.connect(self._on_scan)
        scans.scanning_changed.connect(self._draw)
        scans.failed.connect(self.show_problem)
        self.table.row_chosen.connect(self._open_details)
        self.table.pressed.connect(self._on_wish)
        self.changes.pressed.connect(lambda change: self._undo(change.id))
        self._split.closed.connect(self._focus_table)

    @property
    def details(self) -> ComputerDetails | None:
        """The open details beside the table."""
        details = self._split.details
        return details if isinstance(details, ComputerDetails) else None

    @property
    def tabs(self) -> FilterTabs:
        return self._tabs

    def enable(self, is_usable: bool) -> None:
        self._split.setEnabled(is_usable)
        self._again.setEnabled(is_usable)
        self._connect_all.setEnabled(is_usable)
        self._head.move_here.setEnabled(is_usable)

    def client_name(self, id: str) -> str:
        return self._names().get(id, id)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure; None removes it."""
        self._fault.show_problem(problem)

    def show_changes(self, changes: Sequence[ClientChange]) -> None:
        self._changes = sorted(changes, key=lambda change: -change.at)
        self.changes.set_rows(self._changes)
        self._draw()

    def import_from(self, clients: Sequence[str]) -> None:
        """Opens the sheet that imports servers from these clients, or from all."""
        if not self.is_usable:
            return
        panel = ImportSheet(self.context, self._names(), self._on_imported)
        if (sheet := self.context.sheets.show(panel)) is not None:
            sheet.hold()
            panel.plan(clients)

    def connect_clients(self, clients: Sequence[str]) -> None:
        """Opens the sheet with what connecting these clients would change."""
        self.run(self._preview(self.hub.ai_clients.preview_connect, clients))

    async def _read(self) -> None:
        self.show_changes(await self.hub.ai_clients.get_client_changes())

    # news

    def _names(self) -> dict[str, str]:
        scan = self.context.scans.scan
        return {client.id: client.name for client in scan.clients} if scan is not None else {}

    def _on_scan(self, scan: ClientScan) -> None:
        self._draw()
        if (details := self.details) is not None:
            newer = next((client for client in scan.clients if client.id == details.client.id), None)
            if newer is None:
                self._split.close_details()
            elif newer != details.client:
                self._show_details(newer)

    def _draw(self, *_news: object) -> None:
        scans, shown = self.context.scans, self._tabs.current
        scan = scans.scan
        self._head.show_scan(scan, is_scanning=scans.is_scanning)
        self._again.set_face(tr("Looking…") if scans.is_scanning else tr("Rescan"), "refresh")
        installed = here(scan) if scan is not None else []
        others = [client for client in scan.clients if not client.is_installed] if scan is not None else []
        self._tabs.set_counts((len(installed), len(others), len(self._changes)))
        self._connect_all.setVisible(shown == HERE and scan is not None and len(said.to_connect(scan)) > 1)
        if shown == CHANGES:
            self._stack.setCurrentWidget(self.changes if self._changes else self._no_changes)
            return
        self.table.set_rows(installed if shown == HERE else others)
        empty = self._waiting if scan is None else self._nothing
        self._stack.setCurrentWidget(self.table if self.table.rows else empty)

    def _on_applied(self, changes: Sequence[ClientChange]) -> None:
        """Shows what was made: in its sheet, or one change without anything to know in a toast with Undo."""
        panel = self.context.sheets.panel
        if len(changes) == 1 and changes[0].problem is None and not said.change_note(changes[0]):
            if isinstance(panel, EditsSheet):
                panel.close_requested.emit()
            toast = self.context.offer_undo(said.change_word(changes[0], self.client_name(changes[0].client)))
            toast.action_requested.connect(lambda: self._undo(changes[0].id))
        elif isinstance(panel, EditsSheet):
            panel.show_changes(changes)
        self._on_imported()

    def _on_imported(self) -> None:
        self.context.scans.look()
        self._look()

    # the person

    def _on_list(self, _index: int) -> None:
        self._split.close_details()
        self._draw()

    def _on_wish(self, client: AiClient) -> None:
        if client.way == "link" and client.connection == "none":
            self._open_details(client)
        elif said.wants_disconnect(client):
            self.run(self._preview(self.hub.ai_clients.preview_disconnect, [client.id]))
        else:
            self.connect_clients([client.id])

    def _on_connect_all(self) -> None:
        if (scan := self.context.scans.scan) is not None:
            self.connect_clients([client.id for client in said.to_connect(scan)])

    async def _preview(self, preview: Preview, clients: Sequence[str]) -> None:
        """Opens the sheet with what would be changed; an open sheet of any kind stays."""
        edits = await preview(list(clients))
        if self.context.sheets.sheet is not None:
            return
        if not edits:
            self.context.say(tr("Nothing has to change."))
            return
        self.context.sheets.show(EditsSheet(self.context, edits, self._names(), applied=self._on_applied, undo=self._undo))

    def _undo(self, id: str) -> None:
        self.run(self._undone(id), then=self._read)

    async def _undone(self, id: str) -> None:
        """Undoes a change; a failure leaves the file unchanged."""
        change = await self.hub.ai_clients.undo_client_change(id)
        if change.problem is not None:
            raise TooltrayError(change.problem.title, change.problem.message, change.problem.hint)
        if isinstance(panel := self.context.sheets.panel, EditsSheet):
            panel.close_requested.emit()
        self.context.say(said.change_word(change, self.client_name(change.client)))
        self.context.scans.look()

    def _open_details(self, client: AiClient) -> None:
        if (details := self.details) is None or details.client != client:
            self._show_details(client)

    def _show_details(self, client: AiClient) -> None:
        details = ComputerDetails(self.context, client, wish=self._on_wish, import_from=self.import_from)
        details.close_requested.connect(self._on_close_details)
        self._split.open_details(details)

    def _on_close_details(self) -> None:
        self._split.close_details()
        self._focus_table()

    def _focus_table(self) -> None:
        (self.changes if self._tabs.current == CHANGES else self.table).setFocus()
