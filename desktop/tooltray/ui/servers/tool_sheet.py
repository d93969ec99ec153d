"""The sheet that renames a tool for AI clients: reads what the settings say of it, and saves it."""

from collections.abc import Callable

from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.verbs import JsonMapping
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.server_pane.tool_table import ToolWordsPanel

WORDS = ("name", "description", "title", "annotations", "icons")


class ToolSheet(ToolWordsPanel, View):
    """A sheet about one tool; it goes with its server.

    Args:
        list_tools: lists the tools of a server again.
    """

    def __init__(self, context: PageContext, tool: ToolSnapshot, list_tools: Callable[[str], object]) -> None:
        super().__init__(context.theme, tool)
        self.context, self._list_tools = context, list_tools
        self.save_requested.connect(self._on_save_requested)
        context.servers.server_removed.connect(self._on_server_removed)
        self.reading(self._read)()

    async def _read(self) -> None:
        self.set_entry((await self.hub.servers.get_server_entry(self.server)).counts)

    def _on_save_requested(self, override: JsonMapping, limit: tuple[int | None] | None) -> None:
        self.run(self._store(override, limit))

    async def _store(self, override: JsonMapping, limit: tuple[int | None] | None) -> None:
        """Args:
        limit: the largest result in tokens, in a tuple; None: unchanged.
        """
        server, tool = self.server, self._tool.original_name
        await self.hub.views.set_tool_override(server, tool, *[override.get(word) for word in WORDS])
        if limit is not None:
            await self.hub.views.set_result_limit(tokens=limit[0], server=server, tool=tool)
        self._list_tools(server)
        self.close_requested.emit()

    def _on_server_removed(self, name: str) -> None:
        if name == self.server:
            self.close_requested.emit()
