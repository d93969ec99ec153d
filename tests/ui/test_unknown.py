"""What could not be read has one mark, and is never shown as none or as well."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from tests.fakes.server_snapshots import server

from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.server_words import tool_count
from tooltray.ui.servers.server_table import ServerTable
from tooltray.ui.state_language import UNKNOWN, server_look
from tooltray.ui.theme import Theme


def test_tools_that_were_not_listed_are_not_known_and_no_tools_are_none(app: QApplication) -> None:
    assert tool_count(server("a", tool_count=0, is_listed=False)) == "Tools load on first start"
    assert tool_count(server("a", tool_count=0)) == "No tools"
    assert tool_count(server("a", tool_count=3, is_listed=False)) == "3 tools"  # as of its last run


def test_the_table_marks_what_is_not_known_and_says_why(theme: Theme) -> None:
    table = ServerTable(theme, ServerWishes())
    table.set_rows([server("known", tool_count=0), server("unlisted", tool_count=0, is_listed=False)])
    model = table.model()
    titles = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount())]
    tools, costs = titles.index("Tools"), titles.index("Tokens")
    assert [model.index(row, tools).data() for row in range(2)] == ["0", UNKNOWN]
    assert model.index(1, tools).data(Qt.ItemDataRole.ToolTipRole) == "Not known: it has not listed its tools yet"
    assert model.index(0, costs).data() == UNKNOWN  # nobody has counted yet
    assert model.index(0, costs).data(Qt.ItemDataRole.ToolTipRole).startswith("Not known: ")


def test_restarting_and_stopping_have_words_of_their_own(app: QApplication) -> None:
    assert [server_look(server("a", state)).word for state in (ServerState.RESTARTING, ServerState.STOPPING)] == ["Restarting", "Stopping"]
