"""What an opened server offers: its tools with a switch for each and what they cost, and its prompts, resources and skills."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.server_view import ServerView
from tooltray.ui.server_pane.tool_table import ToolTable
from tooltray.ui.server_words import tool_count
from tooltray.ui.tools.offered import PROMPT, RESOURCE, SKILL
from tooltray.ui.tools.offered_list import OfferedList
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import column, row

TAB_INSET = 11  # px of a tab: its word keeps to the pane's margin


class ServerTools(ServerView):
    """The tools of a server, and a list of each other kind of what it offers; it reads nothing while it is hidden.

    Attributes:
        lists: of prompts, resources and skills.
    """

    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        self._name, self._wishes = name, context.wishes
        self._server: ServerSnapshot | None = None
        self._cost: ServerCost | None = None
        outer = column(self)
        self._kinds = FilterTabs(
            context.theme, [tr("Tools"), tr("Prompts"), tr("Resources"), tr("Skills")], name=tr("What {name} offers", name=name)
        )
        self._head = QWidget()
        head = row(self._head, margins=(MARGIN - TAB_INSET, 0, MARGIN, 8))
        head.addWidget(self._kinds)
        head.addStretch(1)
        outer.addWidget(self._head)
        self._stack = QStackedWidget()
        self._kinds.chosen.connect(self._stack.setCurrentIndex)
        outer.addWidget(self._stack, 1)
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
        self._stack.addWidget(area)
        self.lists = [OfferedList(context, kind, name) for kind in (PROMPT, RESOURCE, SKILL)]
        self._counts = [0] * (1 + len(self.lists))
        for place, each in enumerate(self.lists, 1):
            self._stack.addWidget(each)
            each.listed.connect(partial(self._on_listed, place))
        self._draw_kinds()
        context.wishes.tools_requested.emit(name)

    @property
    def tools(self) -> ToolTable:
        return self._tools

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for each in self.lists:
            each.refresh()

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
            self._on_listed(0, self._server.tool_count)

    def _on_listed(self, place: int, count: int) -> None:
        self._counts[place] = count
        self._draw_kinds()

    def _draw_kinds(self) -> None:
        """Shows the kinds of which the server has some, and the open one."""
        shown = {0, self._kinds.current, *(place for place, count in enumerate(self._counts) if count)}
        self._kinds.set_counts(self._counts)
        self._kinds.show_only(shown)
        self._head.setVisible(len(shown) > 1)

    def _on_switched(self, tool: str, on: bool) -> None:
        self._wishes.tool_switch_requested.emit(self._name, tool, on)


def cost_words(server: ServerSnapshot, cost: ServerCost | None) -> str:
    """Returns how many tools a server has, and what they cost where that is known."""
    count = tool_count(server, cost)
    words = f"{count} · {tokens(cost.shown_tokens, cost.tokens)}" if cost is not None and cost.tokens else count
    if cost is not None and cost.skill_tokens:
        words += " · " + tr("{tokens} more for its skills", tokens=f"{cost.skill_tokens:,}")
    return words
