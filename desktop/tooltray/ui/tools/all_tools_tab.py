"""The tab All tools of Servers: what all servers offer. A choice in its filter line: tools, prompts or resources."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QStackedWidget, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Destination, OpenTool, ToolsOf, TryTool
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.tools.offer_preview import PROMPT, RESOURCE
from tooltray.ui.tools.offered_list import OfferedList
from tooltray.ui.tools.tools_tab import ToolsTab
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.surface import column, fill, row
from tooltray.ui.zoom import px

TOOLS, PROMPTS, RESOURCES = "tools", "prompts", "resources"  # the lists
MARGINS = (24, 12, 24, 12)


class FilterLine(QWidget):
    """A line of choices and filters; the filters go below where both do not fit."""

    def __init__(self, choices: Sequence[QWidget], filters: QWidget) -> None:
        super().__init__()
        self._parts = (QWidget(), filters)
        fill(row(self._parts[0]), *choices)
        self._layout = row(self, margins=MARGINS)
        for part in self._parts:
            self._layout.addWidget(part, 0, Qt.AlignmentFlag.AlignLeft)
        self._layout.addStretch(1)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        needed = sum(part.sizeHint().width() for part in self._parts if not part.isHidden()) + px(MARGINS[0] + MARGINS[2] + 8)
        fits = needed <= self.width()
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom)


class AllToolsTab(Page):
    """The tab with the tools, prompts and resources of all servers.

    Attributes:
        tools, prompts, resources: its lists; one is shown.
        search: finds in the shown list.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self.search = SearchField(context.theme, tr("Search tools"))
        self.search.textChanged.connect(self._on_search)
        self.header_actions = (self.search,)
        self.tools, self.prompts, self.resources = ToolsTab(context), OfferedList(context, PROMPT), OfferedList(context, RESOURCE)
        self._lists: dict[str, ToolsTab | OfferedList] = {TOOLS: self.tools, PROMPTS: self.prompts, RESOURCES: self.resources}
        kinds = [(TOOLS, tr("Tools")), (PROMPTS, tr("Prompts")), (RESOURCES, tr("Resources"))]
        self._kind = Choice(context.theme, kinds, name=tr("Tools, prompts and resources"))
        self._kind.chosen_changed.connect(self._on_kind)
        self._stack = QStackedWidget()
        for each in self._lists.values():
            self._stack.addWidget(each)
        fill(column(self), FilterLine([self._kind, *self.tools.choices], self.tools.filters), (self._stack, 1))
        self.look_requested.connect(self._refresh)
        self.enable(False)

    def enable(self, is_usable: bool) -> None:
        self.tools.set_usable(is_usable)
        self.prompts.setEnabled(is_usable)
        self.resources.setEnabled(is_usable)

    def open_destination(self, destination: Destination) -> None:
        self.show_list(TOOLS)
        match destination:
            case OpenTool():
                self.tools.show_tool(destination.name)
            case TryTool():
                self.tools.try_tool(destination.name, destination.arguments)
            case ToolsOf():
                self.search.clear()
                self.tools.show_server(destination.server)

    def show_list(self, kind: str) -> None:
        """Shows the tools, the prompts, or the resources."""
        self._kind.choose(kind)
        self._on_kind()

    def _on_kind(self) -> None:
        kind = self._kind.chosen
        self._stack.setCurrentWidget(self._lists[kind])
        for control in (self.tools.filters, *self.tools.choices):
            control.setVisible(kind == TOOLS)
        self.search.set_placeholder({PROMPTS: tr("Search prompts"), RESOURCES: tr("Search resources")}.get(kind, tr("Search tools")))
        self._on_search()
        self.look_again()

    def _on_search(self) -> None:
        self._lists[self._kind.chosen].search(self.search.text())

    def _refresh(self) -> None:
        """Reads the shown list; that of tools does so itself."""
        if isinstance(shown := self._stack.currentWidget(), OfferedList):
            shown.refresh()
