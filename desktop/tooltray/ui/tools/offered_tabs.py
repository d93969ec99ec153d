"""The tabs Prompts and Resources: the prompts and resources of servers, to be filled in and read."""

from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.tools.offered import PROMPT, RESOURCE
from tooltray.ui.tools.offered_list import OfferedList
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.surface import column


class OfferedTab(Page):
    """A tab with a list and its search.

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


class PromptsTab(OfferedTab):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, PROMPT, tr("Search prompts"))


class ResourcesTab(OfferedTab):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, RESOURCE, tr("Search resources"))
