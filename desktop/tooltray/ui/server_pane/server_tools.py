"""The tools of an opened server: how many, what they cost, and a switch for each."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.server_view import ServerView
from tooltray.ui.server_pane.tool_table import ToolTable
from tooltray.ui.server_words import tool_count
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import column


class ServerTools(ServerView):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        self._name, self._wishes = name, context.wishes
        self._server: ServerSnapshot | None = None
        self._cost: ServerCost | None = None
        area, content = PageScroll(tr("Tools of {name}", name=name), margin=MARGIN), QWidget()
        body = column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=6)
        self._count = Label(context.theme, "", "caption_strong", "muted")
        body.addWidget(self._count)
        self._tools = ToolTable(context.theme, name)
        self._tools.tool_switched.connect(self._on_switched)
        self._tools.tool_chosen.connect(context.wishes.tool_requested)
        body.addWidget(self._tools)
        body.addStretch(1)
        area.setWidget(content)
        column(self).addWidget(area)
        context.wishes.tools_requested.emit(name)

    @property
    def tools(self) -> ToolTable:
        return self._tools

    def set_server(self, server: ServerSnapshot) -> None:
        self._server = server
        self._draw()

    def set_cost(self, cost: ServerCost | None) -> None:
        self._cost = cost
        self._draw()

    def set_tools(self, tools: Sequence[ToolSnapshot]) -> None:
        self._tools.set_tools(tools)

    def _draw(self) -> None:
        if self._server is not None:
            self._count.setText(cost_words(self._server, self._cost))

    def _on_switched(self, tool: str, on: bool) -> None:
        self._wishes.tool_switch_requested.emit(self._name, tool, on)


def cost_words(server: ServerSnapshot, cost: ServerCost | None) -> str:
    """Returns how many tools a server has, and what they cost where that is known."""
    count = tool_count(server, cost)
    words = f"{count} · {tokens(cost.shown_tokens, cost.tokens)}" if cost is not None and cost.tokens else count
    if cost is not None and cost.skill_tokens:
        words += " · " + tr("{tokens} more for its skills", tokens=f"{cost.skill_tokens:,}")
    return words
