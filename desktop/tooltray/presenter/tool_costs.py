"""What definitions of tools cost in a model's context.

Above it: McpPresenter. Below it: ToolManager and Views, which know what is shown, and the tokenizer.
"""

from tooltray.events import ToolCosts
from tooltray.presenter.tool_manager import ToolManager


class ToolCosting:
    """Belongs to the engine's loop."""

    def __init__(self, *, tools: ToolManager) -> None:
        self._tools = tools

    async def costs(self, client: str) -> ToolCosts:
        """See ViewVerbs.get_tool_costs."""
        return ToolCosts("", 0, 0, ())
