"""The loaded lines of a log: some consecutive pages; the far end is dropped when more are loaded. Knows no hub; the reader of pages adds
them."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import LogLine
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.i18n import say
from tooltray.ui.state_language import look

MOST_LINES = 5000  # at hand; further ones are read when somebody scrolls there
LEVELS = {"error": Phrase("Error"), "warning": Phrase("Warning"), "info": Phrase("Info"), "debug": Phrase("Debug")}
Index = QModelIndex | QPersistentModelIndex


class LogModel(QAbstractListModel):
    """A model of log lines.

    Attributes:
        lines: oldest first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[LogLine] = []

    def set_lines(self, lines: Sequence[LogLine]) -> None:
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()

    def prepend(self, lines: Sequence[LogLine]) -> str:
        """Adds older lines; returns where the dropped newest lines began, empty if none were dropped."""
        if not lines:
            return ""
        self.beginInsertRows(QModelIndex(), 0, len(lines) - 1)
        self.lines[:0] = lines
        self.endInsertRows()
        gone = max(0, len(self.lines) - MOST_LINES)
        first = self.lines[MOST_LINES].position if gone else ""
        self._remove(MOST_LINES, gone)
        return first

    def append(self, lines: Sequence[LogLine]) -> int:
        """Adds newer lines; returns how many of the oldest ones were dropped."""
        if not lines:
            return 0
        self.beginInsertRows(QModelIndex(), len(self.lines), len(self.lines) + len(lines) - 1)
        self.lines += lines
        self.endInsertRows()
        gone = max(0, len(self.lines) - MOST_LINES)
        self._remove(0, gone)
        return gone

    def find(self, position: str) -> int:
        """Returns the row of a line; -1 if the line is not loaded."""
        return next((row for row, line in enumerate(self.lines) if line.position == position), -1)

    def _remove(self, first: int, count: int) -> None:
        if count:
            self.beginRemoveRows(QModelIndex(), first, first + count - 1)
            del self.lines[first : first + count]
            self.endRemoveRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line = self.lines[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return " ".join(filter(None, (clock(line.at), level_word(line.level), shown_text(line))))
        return None


def clock(at: float) -> str:
    """Returns the time of a line as shown; empty if unknown."""
    return f"{datetime.fromtimestamp(at):%H:%M:%S}" if at else ""


def day_and_clock(at: float) -> str:
    """Returns the full time of a line, for copied text."""
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M:%S.%f}"[:-3] if at else ""


def level_word(level: str) -> str:
    """Returns a level in the user's language; empty for a line without one."""
    return say(LEVELS.get(level, ""))


def shown_text(line: LogLine) -> str:
    """Returns the text of a line: for a mark the state in words, for a message its direction, too."""
    if line.kind == "mark":
        word = state_word(line.text)
        return f"{word}: {line.detail}" if line.detail else word
    if line.kind == "message":
        arrow = "→" if line.direction == "out" else "←"
        took = f" · {duration(line.ms)}" if line.ms is not None else ""
        return f"{arrow} {line.text}{took}"
    return line.text


def state_word(value: str) -> str:
    """Returns the word for a state, by its value; a newer hub's unknown value itself."""
    return look(ServerState(value)).word if value in {state.value for state in ServerState} else value


def duration(ms: float) -> str:
    """Returns whole milliseconds, as everywhere, so that numbers in a column can be compared."""
    return "< 1 ms" if 0 < ms < 1 else f"{ms:,.0f} ms"


def copied_text(lines: Sequence[LogLine], *, with_times: bool) -> str:
    """Returns lines as text for the clipboard or a file."""
    return "\n".join(" ".join(filter(None, (day_and_clock(line.at) if with_times else "", shown_text(line)))) for line in lines)
