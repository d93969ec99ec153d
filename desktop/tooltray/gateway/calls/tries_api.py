"""The API to try a tool by hand: a call that is watched, and can be given up.

Below it: Tries.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.foundation.snapshots.calls import MCPToolResponse
from tooltray.foundation.verbs import verb
from tooltray.gateway.calls.tries import Tries


class TriesApi:
    def __init__(self, *, tries: Tries) -> None:
        self._tries = tries

    @verb("call")
    async def try_tool(self, attempt: str, name: str, arguments: Mapping[str, Any], project: str | None = None) -> MCPToolResponse:
        """Calls a tool by hand. What fails is a response, too; while it runs, `TryProgressed` tells how far it is.

        A question of its server is an `ElicitationAsked` with the same attempt. The call is given up when its caller is gone.

        Args:
            attempt: an id that the caller has made up, by which it knows progress and questions, and can give it up.
            name: as AI clients see the tool.
            project: the folder of the project for which a server that waits for one answers; one that is allowed.

        Raises:
            Conflict: an attempt of this id runs already.
            TooltrayError: the folder may be no project.
        """
        return await self._tries.run(attempt, name, arguments, project)

    @verb("call")
    async def cancel_try(self, attempt: str) -> None:
        """Gives up a call that `try_tool` makes; its server is told. Does nothing if it has ended."""
        self._tries.cancel(attempt)
