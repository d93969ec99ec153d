"""The page of everything that servers offer: tools, prompts and resources; a tab each."""

from typing import cast

from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.tabbed_page import TabbedPage, TabEntry
from tooltray.ui.tools.offered import PROMPT, RESOURCE
from tooltray.ui.tools.offered_list import OfferedList
from tooltray.ui.tools.tools_tab import ToolsTab
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.surface import column

TOOLS, PROMPTS, RESOURCES = "tools", "prompts", "resources"  # the tabs


class OfferedTab(Page):
    """A tab with a list of prompts or resources, to be filled in and read, and its search.

    Args:
        kind: PROMPT or RESOURCE.
        hint: the placeholder of the search field.
    """

    def __init__(self, context: PageContext, kind: str, hint: str) -> None:
        super().__init__(context)
        self.list = OfferedList(context, kind)
        search = SearchField(context.theme, hint)
        search.textChanged.connect(self.list.search)
        self.header_actions = (search,)
        column(self).addWidget(self.list)
        self.look_requested.connect(self.list.refresh)
        self.enable(False)

    def enable(self, is_usable: bool) -> None:
        self.list.setEnabled(is_usable)


TABS = (
    TabEntry(TOOLS, lambda: tr("Tools"), ToolsTab),
    TabEntry(PROMPTS, lambda: tr("Prompts"), lambda context: OfferedTab(context, PROMPT, tr("Search prompts"))),
    TabEntry(RESOURCES, lambda: tr("Resources"), lambda context: OfferedTab(context, RESOURCE, tr("Search resources"))),
)


class ToolsPage(TabbedPage):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Tools"), TABS)
        self._tabs.setAccessibleName(tr("Tools, prompts and resources"))

    @property
    def tools(self) -> ToolsTab:
        return cast(ToolsTab, self.tab(TOOLS))

    @property
    def prompts(self) -> OfferedTab:
        return cast(OfferedTab, self.tab(PROMPTS))

    @property
    def resources(self) -> OfferedTab:
        return cast(OfferedTab, self.tab(RESOURCES))

    def show_part(self, part: str, text: str = "") -> None:
        """Shows a tab by its name, a tool ("tool", its name as AI clients see it), or the sheet that calls it ("try", its name and on
        further lines the arguments as JSON).
        """
        if part not in ("tool", "try"):
            super().show_part(part, text)
            return
        self.show_tab(TOOLS)
        if part == "tool":
            self.tools.show_tool(text)
        else:
            name, _, arguments = text.partition("\n")
            self.tools.try_tool(name, arguments)
