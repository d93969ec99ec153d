"""Until when AI clients are kept waiting for servers that were never listed: one deadline for all lists of all servers together.

Above it: ServerLists, of which a hub has several (tools; prompts and resources) that share one of these: a client that lists tools and then
resources waits once. Below it: ManagedServer, of which it knows the kind. Knows nothing of what is listed.
"""

import asyncio
import math
from weakref import WeakKeyDictionary

import msgspec

from tooltray.launch.command_lookup import is_launcher
from tooltray.transports.transports import is_remote
from tooltray.upstream.managed_server import ManagedServer

TOGETHER_S = 1.0  # most servers have listed by then; clients give all their servers 5 s, and some ask for four lists one after the other
FIRST_TOOLS_S = 4.0  # an empty first list is kept for the whole session by clients that ignore list_changed; after 5 s the first give up
IN_MEMORY_S = 0.5  # runs in this process
COMMAND_S = 3.0  # an interpreter with an MCP SDK takes 0.5 to 2 s on a busy machine
LAUNCHER_S = 10.0  # npx and uvx take 1 to 4 s of what is in their cache; a download may take minutes, and nobody waits for that
REMOTE_S = 3.0  # name, TLS and greeting take less than 1 s; two rounds more where it has to be asked in another era


class FirstPatience(msgspec.Struct, frozen=True):
    """How long AI clients wait for first lists; all in seconds.

    Attributes:
        together_s: for all first lists of all servers, from the first request that waits for one.
        first_tools_s: in its place where the answer would hold no tool of any server.
        in_memory_s, command_s, launcher_s, remote_s: for a server of this kind that says nothing, from its start or its greeting.
    """

    together_s: float = TOGETHER_S
    first_tools_s: float = FIRST_TOOLS_S
    in_memory_s: float = IN_MEMORY_S
    command_s: float = COMMAND_S
    launcher_s: float = LAUNCHER_S
    remote_s: float = REMOTE_S

    def usual_s(self, server: ManagedServer) -> float:
        """How long a server of its kind usually is silent before it is heard of."""
        if server.is_builtin:
            return self.in_memory_s
        if is_remote(server.config.transport):
            return self.remote_s
        return self.launcher_s if is_launcher(server.config.command or "") else self.command_s


class FirstListings:
    """Belongs to the engine's loop."""

    def __init__(self, patience: FirstPatience) -> None:
        self._patience = patience
        self._began: WeakKeyDictionary[ManagedServer, float] = WeakKeyDictionary()
        self._latest = -math.inf

    def until(self, server: ManagedServer, *, silent_since: float, is_enough: bool) -> float:
        """The loop time after which nobody waits for a server.

        Args:
            silent_since: the loop time at which it was last heard of.
            is_enough: without it there is something to answer already.
        """
        limit_s = self._patience.together_s if is_enough else self._patience.first_tools_s
        return min(self._began_of(server) + limit_s, silent_since + self._patience.usual_s(server))

    def is_silent(self, server: ManagedServer, since: float) -> bool:
        """Whether a server has said nothing for longer than its kind usually takes. `since`: loop time."""
        return asyncio.get_running_loop().time() >= since + self._patience.usual_s(server)

    def _began_of(self, server: ManagedServer) -> float:
        """When somebody began to wait for it; one that is new while others are waited for joins them."""
        if server not in self._began:
            now = asyncio.get_running_loop().time()
            if now >= self._latest + self._patience.together_s:
                self._latest = now
            self._began[server] = self._latest
        return self._began[server]
