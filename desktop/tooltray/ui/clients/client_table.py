"""The list of AI clients: what sessions, kinds of clients and the scan of this computer know of each, in one row; and its table: a painted
row for each, with its profile as a choice and a button that connects it."""

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TypeVar

import msgspec
from PySide6.QtCore import QModelIndex, QRectF, Qt
from PySide6.QtGui import QActionGroup, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QStyleOptionViewItem

from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, SessionSnapshot
from tooltray.ui import icons
from tooltray.ui.clients import client_words as said
from tooltray.ui.clients.client_words import client_name, client_title, has_own_choices, what_a_profile_is
from tooltray.ui.i18n import tr
from tooltray.ui.state_language import Look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import new_menu
from tooltray.ui.widgets.cell_delegate import PAGE_INSET, CellDelegate
from tooltray.ui.widgets.row_model import Column, Index, Kind
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

T = TypeVar("T")
NAME, STATE, CONTEXT, PROFILE, BUTTON = range(5)  # the columns
WIDTHS = {STATE: 150, CONTEXT: 210, PROFILE: 170, BUTTON: 124}
NARROW = {STATE: 150, CONTEXT: 160, PROFILE: 122, BUTTON: 108}
ROOM_FOR_WIDE, ROOM_FOR_CONTEXT, ROOM_FOR_PROFILE = 840, 670, 480  # px; below them tokens, and profile and button, are in the details only
ROOM_FOR_NAME = 200  # px; a profile gets what is left of the rest, up to its wide column
TILE, ARROW, GAP = 24, 14, 10
NEW = "\0new"
"""What is chosen for a profile of the client's own, whose tools are still to be chosen."""
NO_LOOK, NO_BAR = Look("state-off", "neutral", ""), (0.0, "", "")
Group = tuple[str, ...]
"""What decides the tokens in a client's context: how tools are listed, the profile; of a session its project and loaded servers, too."""
ANYONE: Group = ("", "")
"""A client that nothing is known of."""


class ClientRow(msgspec.Struct, frozen=True):
    """An AI client.

    Attributes:
        key: identifies the row.
        kind: its settings; None: its name in sessions is not known, so nothing can be chosen for it.
        found: what the scan found; None: not a client that Tooltray knows on this computer.
        sessions: the open ones.
        tokens: of the definitions in its context; None: not known, or it does not use Tooltray.
        mode: how tools are listed to it: "everything", "lazy" or "search"; empty with `tokens` not known.
        whole: the tokens of all tools of all servers.
        most: the largest number of tokens of all rows; so that their bars compare them.
    """

    key: str
    name: str
    kind: ClientModeSnapshot | None = None
    found: AiClient | None = None
    sessions: tuple[SessionSnapshot, ...] = ()
    tokens: int | None = None
    mode: str = ""
    whole: int = 0
    most: int = 1

    @property
    def is_here(self) -> bool:
        """Whether it is installed, was connected, or has settings of its own."""
        is_known = self.kind is not None and (self.kind.is_seen or has_own_choices(self.kind))
        return bool(self.sessions) or is_known or (self.found is not None and self.found.is_installed)

    @property
    def uses_tooltray(self) -> bool:
        """Whether it is connected now, or will be when it runs."""
        is_set_up = self.found is not None and self.found.connection in ("connected", "outdated")
        return is_set_up or bool(self.sessions) or (self.kind is not None and (self.kind.is_seen or has_own_choices(self.kind)))

    @property
    def share(self) -> float:
        """The part of all tools' tokens that is in its context."""
        return (self.tokens or 0) / self.whole if self.whole else 0.0

    @property
    def groups(self) -> dict[Group, tuple[str, str]]:
        """The groups of its sessions, or the one that it would start in, with a client and a session of each."""
        if self.sessions:
            return {_group_of(session): ("", session.id) for session in self.sessions}
        return {(self.kind.shown_mode, self.kind.profile): (self.kind.client, "")} if self.kind is not None else {ANYONE: ("", "")}


class OtherClients(msgspec.Struct, frozen=True):
    """The row before the clients that are not installed.

    Attributes:
        is_open: they are listed below it.
    """

    count: int
    is_open: bool
    key: str = "\0others"


Row = ClientRow | OtherClients


def _group_of(session: SessionSnapshot) -> Group:
    project = session.project.path if session.project is not None else ""
    return (session.mode, session.profile, session.client, session.server, project, *session.activated)


def client_rows(
    kinds: Iterable[ClientModeSnapshot], sessions: Iterable[SessionSnapshot], scan: ClientScan | None
) -> tuple[list[ClientRow], list[ClientRow]]:
    """Returns a row for each client that is here, the connected ones first; and for each that is not installed."""
    own = [kind for kind in kinds if kind.client]
    clients = list(scan.clients) if scan is not None else []
    of_kind, others = _by_kind([session for session in sessions if session.is_connected], [kind.client for kind in own])
    rows = []
    for kind in own:
        title = client_title(kind)
        found = next((each for each in clients if each.name.casefold() == title.casefold() or each.id == kind.client), None)
        if found is not None:
            clients.remove(found)
        key = found.id if found is not None else f"kind {kind.client}"
        rows.append(ClientRow(key, found.name if found is not None else title, kind, found, tuple(of_kind.get(kind.client, ()))))
    rows += [ClientRow(each.id, each.name, found=each) for each in clients]
    rows += [ClientRow(f"session {name}", name, sessions=tuple(each)) for name, each in others.items()]
    rows.sort(key=lambda row: (_rank(row), row.name.casefold()))
    return [row for row in rows if row.is_here], [row for row in rows if not row.is_here and row.found is not None]


def find_row(rows: Sequence[ClientRow], name: str) -> ClientRow | None:
    """Returns the row of a client by its key, its id, its title, or the name that it gives itself, which may fit a pattern."""
    exact = (row for row in rows if name in (row.key, row.name) or (row.kind is not None and row.kind.client == name))
    fitting = (row for row in rows if row.kind is not None and fnmatchcase(name, row.kind.client))
    return next(exact, None) or next(fitting, None)


def _by_kind(
    sessions: Iterable[SessionSnapshot], kinds: Sequence[str]
) -> tuple[dict[str, list[SessionSnapshot]], dict[str, list[SessionSnapshot]]]:
    """Returns the sessions of each kind, and sessions of no kind by the names of their clients."""
    of_kind: dict[str, list[SessionSnapshot]] = {}
    others: dict[str, list[SessionSnapshot]] = {}
    for session in sessions:
        names = (session.kind or session.client, session.client)
        kind = next((name for name in names if name in kinds), None)
        kind = kind or next((kind for kind in kinds if fnmatchcase(session.client, kind)), None)
        if kind is not None:
            of_kind.setdefault(kind, []).append(session)
        else:
            others.setdefault(client_name(session), []).append(session)
    return of_kind, others


def _rank(row: ClientRow) -> int:
    if row.sessions:
        return 0
    order = ("broken", "outdated", "connected")
    if row.found is not None and row.found.connection in order:
        return 1 + order.index(row.found.connection)
    return 4


def profile_options(client: str, profiles: Sequence[str]) -> list[tuple[str, str]]:
    """Returns what can be chosen as the profile of a client."""
    return [("", tr("Everything")), *((name, name) for name in profiles), (NEW, tr("Choose tools for {client}…", client=client))]


class ClientTable(Table):
    """A table of AI clients.

    Args:
        choose: gets a row and the profile that the user chose for it, or NEW.

    Attributes:
        profiles: the names of those that can be chosen.
    """

    def __init__(self, theme: Theme, choose: Callable[[ClientRow, str], object]) -> None:
        columns = [
            Column(tr("Client"), lambda row: _others(row) if isinstance(row, OtherClients) else row.name, Kind.TEXT),
            Column(tr("State"), _of_client(said.state_look, NO_LOOK), Kind.STATE, WIDTHS[STATE], _of_client(said.state_tip, "")),
            Column(tr("Context (tokens)"), _of_client(_bar, NO_BAR), Kind.BAR, WIDTHS[CONTEXT], _of_client(said.context_tip, "")),
            Column(tr("Tools (profile)"), _of_client(_profile, ""), Kind.QUIET, WIDTHS[PROFILE], _of_client(_profile_tip, "")),
            Column("", _of_client(said.button_word, ""), Kind.BUTTON, WIDTHS[BUTTON]),
        ]
        super().__init__(theme, columns, tr("Clients"), lambda row: row.key)
        self._theme, self._choose_profile = theme, choose
        self.profiles: Sequence[str] = ()
        self.setItemDelegate(ClientDelegate(theme, self, columns))

    def _span_headings(self) -> None:
        super()._span_headings()
        for place, row in enumerate(self.rows):
            if isinstance(row, OtherClients):
                self.setSpan(place, 0, 1, len(self.columns))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def set_rows(self, rows: Sequence[object]) -> None:
        super().set_rows(rows)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Divides the width; the column of buttons is there only while a row has one."""
        widths = WIDTHS if self.width() >= px(ROOM_FOR_WIDE) else NARROW
        for column, width in widths.items():
            self.setColumnWidth(column, px(width))
        is_narrow = self.width() < px(ROOM_FOR_PROFILE)
        self.setColumnHidden(CONTEXT, self.width() < px(ROOM_FOR_CONTEXT))
        self.setColumnHidden(PROFILE, is_narrow)
        self.setColumnHidden(BUTTON, is_narrow or not any(isinstance(row, ClientRow) and said.button_word(row) for row in self.rows))
        rest = self.viewport().width() - px(ROOM_FOR_NAME) - sum(self.columnWidth(column) for column in (STATE, CONTEXT, BUTTON))
        self.setColumnWidth(PROFILE, max(px(widths[PROFILE]), min(px(WIDTHS[PROFILE]), rest)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, row = self.currentIndex(), self._current
        if event.key() == Qt.Key.Key_Down and event.modifiers() & Qt.KeyboardModifier.AltModifier and row is not None:
            self._open_profiles(index.row())
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and isinstance(row, OtherClients):
            if row.is_open is (event.key() == Qt.Key.Key_Left):
                self.row_chosen.emit(row)
        else:
            super().keyPressEvent(event)

    @property
    def _current(self) -> Row | None:
        index = self.currentIndex()
        return self.rows[index.row()] if index.isValid() else None

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == PROFILE and index.data(Qt.ItemDataRole.UserRole):
            self._open_profiles(index.row())
        else:
            super()._on_clicked(index)

    def _on_activated(self, index: QModelIndex) -> None:
        if index.column() != PROFILE:
            super()._on_activated(index)

    def _open_profiles(self, place: int) -> None:
        """Opens the menu of profiles below a row's cell; while no profile exists, chooses the only other entry of the menu."""
        row = self.rows[place]
        if not isinstance(row, ClientRow) or row.kind is None:
            return
        if not self.profiles and not row.kind.profile:
            self._choose_profile(row, NEW)
            return
        menu = new_menu(self, self._theme, tr("Profile of {client}", client=row.name))
        group = QActionGroup(menu)
        for value, title in profile_options(row.name, self.profiles):
            if value == NEW:
                menu.addSeparator()
            action = menu.addAction(title.replace("&", "&&"))
            action.setData(value)
            action.setCheckable(value != NEW)
            action.setChecked(value == row.kind.profile)
            group.addAction(action)
            if value == row.kind.profile:
                menu.setActiveAction(action)
        menu.triggered.connect(lambda action: self._on_profile(row, str(action.data())))
        cell = self.visualRect(self.model().index(place, PROFILE))
        menu.popup(self.viewport().mapToGlobal(cell.bottomLeft()))

    def _on_profile(self, row: ClientRow, chosen: str) -> None:
        if row.kind is not None and chosen != row.kind.profile:
            self._choose_profile(row, chosen)


class ClientDelegate(CellDelegate):
    """The painter of the table: a tile before each name, and an arrow where there is a choice."""

    bar_words = 136

    def __init__(self, theme: Theme, table: ClientTable, columns: Sequence[Column]) -> None:
        super().__init__(theme, columns, table, PAGE_INSET, theme.size("row"))
        self._table = table
        self._row: Row = OtherClients(0, False)  # that is painted

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self._row = self._table.rows[index.row()]
        super().paint(painter, option, index)

    def _paint_value(self, painter: QPainter, cell: QRectF, kind: Kind, value: object) -> None:
        row, middle, rest = self._row, cell.center().y(), cell.adjusted(px(TILE) + px(GAP), 0, 0, 0)
        if kind is Kind.TEXT and isinstance(row, OtherClients):
            arrow = "chevron-down" if row.is_open else "chevron-right"
            place = QRectF(cell.left() + (px(TILE) - px(ARROW)) / 2, middle - px(ARROW) / 2, px(ARROW), px(ARROW))
            icons.draw(painter, arrow, place, self._theme.color("text.muted"))
            self._text(painter, rest, str(value), "body", "text.secondary")
        elif kind is Kind.TEXT:
            self._paint_tile(painter, QRectF(cell.left(), middle - px(TILE) / 2, px(TILE), px(TILE)), str(value)[:1].upper())
            super()._paint_value(painter, rest, kind, value)
        elif kind is Kind.QUIET and value:
            place = QRectF(cell.right() - px(ARROW), middle - px(ARROW) / 2, px(ARROW), px(ARROW))
            icons.draw(painter, "chevron-down", place, self._theme.color("text.muted"))
            has_profile = isinstance(row, ClientRow) and row.kind is not None and row.kind.profile
            color = "text.primary" if has_profile else "text.secondary"
            self._text(painter, cell.adjusted(0, 0, -px(ARROW) - px(4), 0), str(value), "body", color)
        elif value not in (NO_LOOK, NO_BAR):
            super()._paint_value(painter, cell, kind, value)

    def _paint_tile(self, painter: QPainter, box: QRectF, letter: str) -> None:
        theme = self._theme
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("border")))
        painter.setBrush(theme.color("surface.sunken"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), px(6), px(6))
        painter.setPen(theme.color("text.secondary"))
        painter.setFont(theme.font("caption_strong"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, letter)
        painter.restore()


def _of_client(value: Callable[[ClientRow], T], otherwise: T) -> Callable[[Row], T]:
    return lambda row: value(row) if isinstance(row, ClientRow) else otherwise


def _others(row: OtherClients) -> str:
    return tr("Other clients ({count})", count=row.count)


def _bar(row: ClientRow) -> tuple[float, str, str]:
    if row.tokens is None:
        return NO_BAR
    return row.tokens / row.most, "chart.p50", said.context_words(row)


def _profile(row: ClientRow) -> str:
    return "" if row.kind is None else row.kind.profile or tr("Everything")


def _profile_tip(row: ClientRow) -> str:
    if row.kind is None:
        return ""
    return f"{tr('{profile}. Alt+Down opens the choice.', profile=_profile(row))}\n{what_a_profile_is()}"
