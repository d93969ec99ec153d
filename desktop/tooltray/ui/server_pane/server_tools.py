"""What an opened server offers: its tools with a switch for each and what they cost, and its prompts, resources and skills."""

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, GrantsChanged
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ServerCost, ToolSnapshot
from tooltray.ui.approval.permission_words import ToolRow, applies_now, read_tools
from tooltray.ui.figures import default_tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenTool
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import keep_in_sight
from tooltray.ui.kit.view import View
from tooltray.ui.server_pane.server_view import TAB_INSET, PaneState, ServerView
from tooltray.ui.server_text import one_line
from tooltray.ui.server_words import tool_count
from tooltray.ui.theme import Theme
from tooltray.ui.tools.offer_preview import PROMPT, RESOURCE, SKILL
from tooltray.ui.tools.offered_list import OfferedList
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.cell_delegate import CHIP_EDGES, PADDING, TWO_LINES_HEIGHT
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import column, fill, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

KIND = 1  # the column
KIND_WIDTH, LEAST_KIND = 156, 64  # px: of the longest words, which is also the most; and of a column with short ones
FIRST_ROWS = 8  # more would push the other cards off the screen at once
FEW_MORE = 3  # so few are shown, too: a button takes the room of one
MORE_ROWS = 200  # shown by one press; with thousands, the page stays short enough to scroll
LONGEST_TIP = 400  # characters of a description


def _category(tool: ToolSnapshot, approval: ToolRow | None) -> tuple[str, str]:
    """Returns what applies to a tool that asks, in the words of the tab Access, and else its kind."""
    if not tool.is_approved:
        return applies_now(approval) if approval is not None and tool.is_enabled else (tr("Asks first"), "neutral")
    return (tr("Writes") if tool.category == "write" else tr("Reads")), ""


class ToolTable(QWidget):
    """A table of one server's tools. `tool_switched` carries the tool's original name and the new position of its switch."""

    tool_switched = Signal(str, bool)

    def __init__(self, theme: Theme, server: str) -> None:
        super().__init__()
        self._theme = theme
        self._tools: Sequence[ToolSnapshot] = ()
        self._approvals: Mapping[tuple[str, str], ToolRow] = {}
        self._limit = FIRST_ROWS
        self._note = Label(theme, tr("Loading the tools…"), "caption", "muted")
        self._note.setFixedHeight(px(TWO_LINES_HEIGHT))
        self.table = _RowsInPage(theme, self._columns(), tr("Tools of {name}", name=server))
        self.table.switched.connect(self._on_switched)
        self.table.hide()
        self._more = Button(theme, "", "link", small=True, on_click=self._on_more)
        self._more.hide()
        fill(column(self), self._note, self.table, self._more, 1)

    def set_tools(self, tools: Sequence[ToolSnapshot]) -> None:
        self._tools = tools
        self._draw()

    def set_approvals(self, approvals: Mapping[tuple[str, str], ToolRow]) -> None:
        """Shows what applies to calls of each tool now."""
        self._approvals = approvals
        self._fit_kind()
        self.table.viewport().update()

    def _fit_kind(self) -> None:
        """Makes the column of kinds as wide as its widest word, so that names have the rest."""
        metrics = self._theme.metrics("caption_strong")
        widest = max((metrics.horizontalAdvance(self._kind(tool)[0]) for tool in self.table.rows), default=0)
        self.table.setColumnWidth(KIND, min(px(KIND_WIDTH), max(px(LEAST_KIND), widest + px(CHIP_EDGES) + px(PADDING))))

    def _kind(self, tool: ToolSnapshot) -> tuple[str, str]:
        return _category(tool, self._approvals.get((tool.server, tool.original_name)))

    def _columns(self) -> list[Column]:
        return [
            Column(tr("Tool"), lambda tool: (tool.original_name, " ".join(tool.description.split())), Kind.TWO_LINES, 0, _tip),
            Column(tr("Kind"), self._kind, Kind.CHIP, KIND_WIDTH),
            Column(tr("On"), lambda tool: tool.is_enabled, Kind.SWITCH, 60),
        ]

    def _draw(self) -> None:
        tools = self._tools
        shown = len(tools) if len(tools) <= self._limit + FEW_MORE else self._limit
        self.table.set_rows(tools[:shown])
        self._fit_kind()
        self.table.fit_height()
        self.table.setVisible(bool(tools))
        self._note.setText(tr("This server has not listed any tool yet."))
        self._note.setVisible(not tools)
        left = len(tools) - shown
        self._more.setText(tr("Show {count} more", count=min(left, MORE_ROWS)))
        self._more.setVisible(left > 0)

    def _on_more(self) -> None:
        self._limit += MORE_ROWS
        self._draw()

    def _on_switched(self, tool: ToolSnapshot, on: bool) -> None:
        self.table.update_row(replace(tool, is_enabled=on))  # at once; a failure brings the true list, which puts it back
        self.tool_switched.emit(tool.original_name, on)


class _RowsInPage(Table):
    """A table as high as its rows; the page scrolls instead. A row is current while the keyboard is in it."""

    def __init__(self, theme: Theme, columns: Sequence[Column], name: str) -> None:
        super().__init__(theme, columns, name, lambda tool: tool.original_name, in_card=True, row_height=px(TWO_LINES_HEIGHT))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason) and not self.currentIndex().isValid():
            self.selectRow(0)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.MouseFocusReason):
            self.clearSelection()


def _tip(tool: ToolSnapshot) -> str:
    seen_as = tr("AI clients see it as {name}. Press for its details.", name=tool.name)
    return "\n".join(filter(None, (one_line(tool.description, LONGEST_TIP), seen_as)))


class ServerTools(ServerView, View):
    """The tools of a server, and a list of each other kind of what it offers; it reads nothing while it is hidden.

    Attributes:
        lists: of prompts, resources and skills.
    """

    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        self.context, self._name = context, name
        kinds = [tr("Tools"), tr("Prompts"), tr("Resources"), tr("Skills")]
        self._kinds = FilterTabs(context.theme, kinds, name=tr("What {name} offers", name=name))
        self._head = QWidget()
        fill(row(self._head, margins=(MARGIN - TAB_INSET, 0, MARGIN, 8)), self._kinds, 1)
        self._stack = QStackedWidget()
        self._kinds.chosen.connect(self._stack.setCurrentIndex)
        fill(column(self), self._head, (self._stack, 1))
        area, content = PageScroll(tr("Tools of {name}", name=name), margin=MARGIN), QWidget()
        self._count = Label(context.theme, "", "caption_strong", "muted")
        self.tools = ToolTable(context.theme, name)
        self.tools.tool_switched.connect(lambda tool, on: context.wishes.tool_switch_requested.emit(name, tool, on))
        self.tools.table.row_chosen.connect(lambda tool: context.go(OpenTool(tool.name)))
        fill(column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=6), self._count, self.tools, 1)
        area.setWidget(content)
        keep_in_sight(area, self.tools.table)
        self._stack.addWidget(area)
        self.lists = [OfferedList(context, kind, name) for kind in (PROMPT, RESOURCE, SKILL)]
        self._counts = [0] * (1 + len(self.lists))
        for place, each in enumerate(self.lists, 1):
            self._stack.addWidget(each)
            each.listed.connect(partial(self._on_listed, place))
        self._on_listed(0, 0)
        self._ask_approvals = self.reading(self._read_approvals)
        context.hub.on_any((GrantsChanged, ConfigChanged), self._look, self)
        context.wishes.tools_requested.emit(name)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for each in self.lists:
            each.refresh()
        self._look()

    def _look(self) -> None:
        if self.isVisible():
            self._ask_approvals()

    async def _read_approvals(self) -> None:
        with contextlib.suppress(TooltrayError):  # then each tool says it itself
            self.tools.set_approvals(await read_tools(self.hub, self._name))

    def show_state(self, state: PaneState) -> None:
        self._count.setText(cost_words(state.server, state.cost))
        self._on_listed(0, state.server.tool_count)
        if state.tools is not None:
            self.tools.set_tools(state.tools)

    def _on_listed(self, place: int, count: int) -> None:
        """Shows how many the server has of a kind, the kinds of which it has some, and the open one."""
        self._counts[place] = count
        shown = {0, self._kinds.current, *(place for place, count in enumerate(self._counts) if count)}
        self._kinds.set_counts(self._counts)
        self._kinds.show_only(shown)
        self._head.setVisible(len(shown) > 1)


def cost_words(server: ServerSnapshot, cost: ServerCost | None) -> str:
    """Returns how many tools a server has, and what they cost where that is known."""
    count = tool_count(server, cost)
    words = f"{count} · {default_tokens(cost.shown_tokens, cost.tokens)}" if cost is not None and cost.tokens else count
    if cost is not None and cost.skill_tokens:
        words += " · " + tr("{tokens} more for its skills", tokens=f"{cost.skill_tokens:,}")
    return words
