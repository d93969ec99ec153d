"""Which servers and tools are in a profile: two tables with a check in each line."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import CARD_INSET, PADDING, CellDelegate
from tooltray.ui.widgets.choice import paint_check
from tooltray.ui.widgets.row_model import Column, Index, Kind
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px


class Choice(msgspec.Struct, frozen=True):
    """One line: a server, or with `tool` one of its tools."""

    server: str
    tool: str = ""  # the server's own name for it
    is_on: bool = False
    is_part: bool = False  # of a server: only some of its tools are ticked
    is_known: bool = True  # in the settings, or listed by its server
    text: str = ""
    is_open: bool = False  # of a server: its tools stand below it
    is_own: bool = False  # it comes with Tooltray, and is in every profile

    @property
    def key(self) -> tuple[str, str]:
        return self.server, self.tool

    @property
    def name(self) -> str:
        return self.tool or (tr("Tooltray's own tools") if self.is_own else self.server)


class ProfileChoice(msgspec.Struct):
    """The ticked servers and tools. A server with all tools ticked has no list of tools: tools that it gets later are included, too.

    Args:
        servers: all servers, in the order of the settings.
        own: the servers that come with Tooltray: they are in every profile, and only a list of their tools leaves any out.
    """

    servers: tuple[str, ...]
    tools: dict[str, list[ToolSnapshot]] = msgspec.field(default_factory=dict)
    takes_all: bool = True  # every server, also those that come later
    chosen: set[str] = msgspec.field(default_factory=set)  # servers, where not every one is taken
    only: dict[str, set[str]] = msgspec.field(default_factory=dict)  # by server, the only tools of it
    own: frozenset[str] = frozenset()
    skills: Mapping[str, Sequence[str]] = {}  # by server, the only skills of it; they stay as they are

    def list_tools(self, tools: Iterable[ToolSnapshot]) -> None:
        """Replaces the known tools."""
        self.tools = {}
        for tool in tools:
            self.tools.setdefault(tool.server, []).append(tool)

    def has(self, server: str, tool: str = "") -> bool:
        is_in = self._keeps(server)
        if server not in self.only:
            return is_in
        return is_in and (tool in self.only[server] if tool else bool(self.only[server]))

    def is_part(self, server: str) -> bool:
        """Returns whether only some tools of a server are ticked."""
        return self.has(server) and server in self.only and not {*self.names(server)} <= self.only[server]

    def set_server(self, server: str, on: bool) -> None:
        """Ticks a server with all its tools, or clears its tick."""
        self.only.pop(server, None)
        if server in self.own:
            self.only |= {} if on else {server: set()}
        elif on:
            self.chosen.add(server)
        else:
            self.take_all(False)
            self.chosen.discard(server)

    def set_tool(self, server: str, tool: str, on: bool) -> None:
        known = {each.original_name for each in self.tools.get(server, ())}
        only = set(self.only.get(server, known)) if self.has(server) else set()
        only = only | {tool} if on else only - {tool}
        self.set_server(server, bool(only))
        if only and only != known:
            self.only[server] = only

    def take_all(self, takes_all: bool) -> None:
        """Includes every server, or only the ticked ones, which at first are all that were included."""
        if self.takes_all and not takes_all:
            others = (server for server in self.all_servers if server not in self.own)
            self.chosen = {server for server in others if server not in self.only or self.only[server]}
        self.takes_all = takes_all

    @property
    def all_servers(self) -> list[str]:
        """The existing servers, servers that only the profile names, and last the servers that come with Tooltray."""
        named = [*self.servers, *sorted((self.chosen | self.only.keys()) - set(self.servers))]
        return sorted(named, key=lambda server: server in self.own)

    def names(self, server: str) -> list[str]:
        """Returns the tools of a server, and the tools that the profile names although the server does not list them."""
        listed = [tool.original_name for tool in self.tools.get(server, ())]
        return [*listed, *sorted(self.only.get(server, set()) - set(listed))]

    def settings(self, description: str) -> dict[str, object]:
        """Returns the profile in the form of the settings."""
        tools = {server: [name for name in self.names(server) if name in only] for server, only in self.only.items() if self._keeps(server)}
        result: dict[str, object] = {"tools": tools}
        if not self.takes_all:
            result["servers"] = [server for server in self.all_servers if server in self.chosen]
        if description:
            result["description"] = description
        if self.skills:
            result["skills"] = {server: list(skills) for server, skills in self.skills.items() if self._keeps(server)}
        return result

    def _keeps(self, server: str) -> bool:
        return self.takes_all or server in self.chosen or server in self.own


def profile_choice(profile: ProfileSnapshot | None, servers: Sequence[ServerSnapshot]) -> ProfileChoice:
    """Returns the ticks of a profile; None is a new one, which has none yet."""
    own = frozenset(server.name for server in servers if server.is_builtin)
    choice = ProfileChoice(tuple(server.name for server in servers), takes_all=False, own=own)
    if profile is not None:
        choice.takes_all = profile.servers is None
        choice.chosen = set(profile.servers or ())
        choice.only = {server: set(tools) for server, tools in profile.tools.items()}
        choice.skills = profile.skills
    return choice


def choices(choice: ProfileChoice, opened: Iterable[str], words: Sequence[str], descriptions: Mapping[str, str]) -> list[Choice]:
    """Returns the lines of the table.

    Args:
        opened: the servers whose tools are shown.
        words: of a search, casefolded; servers and tools that have them all are shown, opened or not.
        descriptions: of servers.
    """
    lines: list[Choice] = []
    opened = set(opened)
    for server in choice.all_servers:
        is_own = server in choice.own
        text = tr("Every profile has them: with them, models report to you.") if is_own else descriptions.get(server, "")
        tools = _lines_of_tools(choice, server)
        found = [line for line in tools if _has(words, line.tool, line.text)] if words else []
        if found or _has(words, server, text):
            is_open = server in opened or bool(found)
            lines.append(Choice(server, "", choice.has(server), choice.is_part(server), server in choice.servers, text, is_open, is_own))
            lines += (found or tools) if is_open else []
    return lines


def _lines_of_tools(choice: ProfileChoice, server: str) -> list[Choice]:
    texts = {tool.original_name: " ".join(tool.description.split()) for tool in choice.tools.get(server, ())}
    is_listed = server in choice.tools
    return [
        Choice(server, name, choice.has(server, name), False, name in texts or not is_listed, texts.get(name, ""))
        for name in choice.names(server)
    ]


def _has(words: Sequence[str], *texts: str) -> bool:
    text = "\n".join(texts).casefold()
    return all(word in text for word in words)


def _tick(choice: Choice) -> str:
    if choice.is_part:
        return tr("Some of its tools")
    return tr("Ticked") if choice.is_on else tr("Not ticked")


ROW_HEIGHT, MARK = 34, 16
INDENT = 24  # px; tools stand below their server
LEFT, ARROW = 10, 14
CHECK_COLUMN = LEFT + ARROW + 8 + MARK + INDENT + 8


class CheckDelegate(CellDelegate):
    """The painter of the first column: an arrow before a server, and the box; other columns are painted as in every table."""

    def __init__(self, theme: Theme, table: "CheckTable", columns: list[Column]) -> None:
        super().__init__(theme, columns, table, CARD_INSET, px(ROW_HEIGHT))
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        if index.column() == 0:
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_choice(painter, QRectF(option.rect), self._table.rows[index.row()])
            painter.restore()

    def _right(self, column: int) -> int:
        return px(PADDING)

    def _paint_value(self, painter: QPainter, cell: QRectF, kind: Kind, value: object) -> None:
        if kind is not Kind.SWITCH:
            super()._paint_value(painter, cell, kind, value)

    def _paint_choice(self, painter: QPainter, cell: QRectF, choice: Choice) -> None:
        theme, middle = self._theme, cell.center().y()
        left = cell.left() + px(LEFT)
        if not choice.tool:
            arrow = "chevron-down" if choice.is_open else "chevron-right"
            icons.draw(painter, arrow, QRectF(left, middle - px(ARROW) / 2, px(ARROW), px(ARROW)), theme.color("text.muted"))
        left += px(ARROW) + px(8) + (px(INDENT) if choice.tool else 0)
        paint_check(painter, theme, left, middle, is_on=choice.is_on and not choice.is_part)
        if choice.is_part:
            painter.fillRect(QRectF(left + px(4), middle - 1, px(MARK) - px(8), px(2)), theme.color("accent"))


class CheckTable(Table):
    """A table with a check in each line, used like a tree: the arrow and the name of a server show or hide its tools, the box ticks, and
    so does the name of a tool. `switched` carries a line and whether to tick it, `row_chosen` a server to unfold or fold.
    """

    def __init__(self, theme: Theme, count: Callable[[Choice], str], height: int) -> None:
        """Args:
        count: returns how many of a server's tools are ticked, in words.
        height: px that it has where there is room for it.
        """
        columns = [
            Column(tr("In the profile"), lambda choice: choice.is_on and not choice.is_part, Kind.SWITCH, CHECK_COLUMN, _tick),
            Column(tr("Name"), lambda choice: choice.name, Kind.TEXT, 210),
            Column(tr("What it does"), lambda choice: choice.text if choice.is_known else tr("It is not there now"), Kind.QUIET),
            Column(tr("Tools"), lambda choice: "" if choice.tool else count(choice), Kind.NUMBER, 96),
        ]
        name = tr("Servers and tools of the profile")
        super().__init__(theme, columns, name, lambda choice: choice.key, in_card=True, row_height=px(ROW_HEIGHT))
        self.setItemDelegate(CheckDelegate(theme, self, columns))
        self._height = height
        self._pressed_at = 0.0  # px from the left

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), px(self._height))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        choice = self.rows[index.row()] if index.isValid() else None
        if choice is not None and not choice.tool and event.key() == (Qt.Key.Key_Left if choice.is_open else Qt.Key.Key_Right):
            self.row_chosen.emit(choice)
        elif choice is not None and choice.tool and event.key() == Qt.Key.Key_Left:
            self.selectRow(next(place for place, each in enumerate(self.rows) if each.key == (choice.server, "")))
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_at = event.position().x()
        super().mousePressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == 0 and self._pressed_at < px(LEFT) + px(ARROW) + px(4):
            self._choose(index.row())
        else:
            super()._on_clicked(index)

    def _on_activated(self, index: QModelIndex) -> None:
        """Does nothing: a double click is one click."""

    def _choose(self, place: int) -> None:
        if self.rows[place].tool:
            self._toggle(place)
        else:
            super()._choose(place)
