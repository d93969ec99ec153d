"""One line of the log for each call of a server whose config asks for that.

Above it: the engine. Below it: McpConfHelper, events. Names, times and sizes alone: what a call carries is in no log.
"""

import logging

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus, ToolCallResult

logger = logging.getLogger(__name__)


class ServedCallLog:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, bus: EventBus) -> None:
        self._config = config
        bus.subscribe(ToolCallResult, self._on_call)

    def _on_call(self, event: ToolCallResult) -> None:
        call = event.response
        server = self._config.file_server(call.server)
        if server and server.entry.logs_calls:
            milliseconds = call.duration_s * 1000
            logger.info("%s called %s of '%s': %s after %.0f ms", call.client, call.tool, call.server, call.outcome, milliseconds)
