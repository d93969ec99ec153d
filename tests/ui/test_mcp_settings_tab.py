"""The scenarios of "MCP Settings UI", each under its name: the Servers page is that tab."""

from PySide6.QtGui import QAction
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import button, words

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.service_words import service
from tooltray.ui.state_language import server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.chip import StateBadge

SERVERS = [
    server("filesystem", tool_count=2),
    server("linear", ServerState.ERROR, transport="http", target="https://mcp.linear.app/mcp", problem=Problem("it does not answer")),
    server("fetch", ServerState.STOPPED),
]
TOOLS = [tool("read_file", "filesystem", description="Reads a file."), tool("write_file", "filesystem", description="Writes a file.")]


async def test_顯示_server_列表(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS, TOOLS), theme) as desk:
        await until(lambda: len(desk.page.server_list.cards) == 4)  # and the built-in one
        for shown, tone in zip(SERVERS, ("success", "error", "neutral"), strict=True):
            card = desk.card(shown.name)
            assert card.isVisible()
            assert service(shown) in words(card)
            badge = card.findChild(StateBadge)
            assert badge is not None
            assert badge.accessibleName() == server_look(shown).word
            assert server_look(shown).tone == tone  # green, red, grey: and in words and by shape


async def test_新增_server(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS, TOOLS), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        button(desk.window, "Add server").click()
        assert desk.window.sheet is not None
        desk.window.sheet.dismiss()
        desk.page.add("npx -y @modelcontextprotocol/server-memory")
        button(desk.window.sheet.panel, "Add server").click()
        await until(lambda: any(call[0] == "add_mcp_server" for call in desk.engine.calls))
        await until(lambda: "memory" in desk.page.server_list.cards and desk.window.sheet is None)


async def test_展開_tool_列表(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS, TOOLS), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        tools = desk.open_tools("filesystem")
        await until(lambda: len(tools.table.rows) == 2)
        assert [(each.name, each.description) for each in tools.table.rows] == [(each.name, each.description) for each in TOOLS]


async def test_重啟_server(theme: Theme) -> None:
    async with Desk(FakePresenter(SERVERS, TOOLS), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        menu = ServerMenu(theme, SERVERS[0], desk.wishes, desk.window)
        restart: QAction = next(action for action in menu.actions() if action.text() == "Restart")
        restart.trigger()
        await desk.asked("restart_server", "filesystem")
        desk.engine.set_state("filesystem", ServerState.RESTARTING)
        await until(lambda: desk.card("filesystem").server.state is ServerState.RESTARTING)
        badge = desk.card("filesystem").findChild(StateBadge)
        assert badge is not None
        assert badge.accessibleName() == "Restarting"
