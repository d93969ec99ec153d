"""When the lists of servers are requested, and how long AI clients wait for them. The module does not know what is listed."""

import asyncio
import math
from collections.abc import Iterable
from weakref import WeakKeyDictionary

import msgspec

from tooltray.catalogue.offer import OfferKind
from tooltray.servers.launch.command_lookup import is_launcher
from tooltray.servers.transports.transport_table import is_remote
from tooltray.servers.upstream.managed_server import ManagedServer

TOGETHER_S = 1.0  # most servers have listed by then; clients wait 5 s for all servers, and some request four lists one after the other
FIRST_TOOLS_S = 4.0  # an empty first list is kept for the whole session by clients that ignore list_changed; after 5 s the first give up
IN_MEMORY_S = 0.5  # runs in this process
COMMAND_S = 3.0  # an interpreter with an MCP SDK takes 0.5 to 2 s on a busy machine
LAUNCHER_S = 10.0  # npx and uvx take 1 to 4 s from their cache; a download may take minutes, and no client waits for that
REMOTE_S = 3.0  # name, TLS and greeting take less than 1 s; a server of another era needs two more rounds
AT_ONCE = 12  # listings in a row without a pause: a server that loads its parts announces each
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 5.0  # seconds; in the worst case a new tool appears so much later
CALM_AFTER_S = 10.0  # without a listing


class FirstPatience(msgspec.Struct, frozen=True):
    """How long AI clients wait for first lists; all in seconds.

    Attributes:
        together_s: for all first lists of all servers, from the first request that waits for one.
        first_tools_s: replaces `together_s` if the answer would have no tool of any server.
        in_memory_s, command_s, launcher_s, remote_s: for a server of this kind that sends nothing, from its start or its greeting.
    """

    together_s: float = TOGETHER_S
    first_tools_s: float = FIRST_TOOLS_S
    in_memory_s: float = IN_MEMORY_S
    command_s: float = COMMAND_S
    launcher_s: float = LAUNCHER_S
    remote_s: float = REMOTE_S

    def usual_s(self, server: ManagedServer) -> float:
        """Returns how long a server of this kind is usually silent before its first message, in seconds."""
        if server.is_builtin:
            return self.in_memory_s
        if is_remote(server.config.transport):
            return self.remote_s
        return self.launcher_s if is_launcher(server.config.command or "") else self.command_s


class FirstListings:
    """The deadlines of AI clients that wait for servers that were never listed. Belongs to the engine's loop.

    All lists of a hub share one: a client that lists tools and then resources waits once.
    """

    def __init__(self, patience: FirstPatience) -> None:
        self._patience = patience
        self._began: WeakKeyDictionary[ManagedServer, float] = WeakKeyDictionary()
        self._latest = -math.inf

    def until(self, server: ManagedServer, *, silent_since: float, is_enough: bool) -> float:
        """Returns the loop time at which clients stop waiting for a server.

        Args:
            silent_since: the loop time of the server's last message.
            is_enough: the answer has content even without this server.
        """
        limit_s = self._patience.together_s if is_enough else self._patience.first_tools_s
        return min(self._began_of(server) + limit_s, silent_since + self._patience.usual_s(server))

    def is_silent(self, server: ManagedServer, since: float) -> bool:
        """Reports whether a server has been silent for longer than its kind usually is. `since`: loop time."""
        return asyncio.get_running_loop().time() >= since + self._patience.usual_s(server)

    def _began_of(self, server: ManagedServer) -> float:
        """Returns when clients began to wait for a server; a server that is added while others are waited for joins them."""
        if server not in self._began:
            now = asyncio.get_running_loop().time()
            if now >= self._latest + self._patience.together_s:
                self._latest = now
            self._began[server] = self._latest
        return self._began[server]


class Relisting:
    """When one instance of a server was listed, whether that list is recent enough, and how soon the next listing may come. All times are
    the loop's.

    A few changes in a row are followed at once. The lists of a server that changes them all the time would be read, compared, saved and
    announced to all clients again and again, so such a server is listed less and less often until it is calm.
    """

    def __init__(self) -> None:
        self._count, self._last = 0, 0.0
        self._asked_at: dict[OfferKind, float] = {}
        self._known_from: dict[OfferKind, float] = {}  # when the known list, or a failed one, was requested
        self._announced: set[OfferKind] = set()  # kinds of lists that changed since they were last listed
        self._overtaken: set[OfferKind] = set()  # kinds whose last list was dropped, because another change was announced meanwhile

    # listing

    def announce(self, kinds: Iterable[OfferKind]) -> None:
        """Records that the server has announced changes of these lists."""
        self._announced.update(kinds)

    def begin(self, kind: OfferKind, now: float) -> None:
        """Records that a list is requested."""
        self._asked_at[kind] = now

    def is_overtaken(self, kind: OfferKind, *, is_due: bool) -> bool:
        """Reports whether a received list is dropped in favour of the next one. This never happens twice in a row: a server may announce
        changes all the time.

        Args:
            is_due: the list has to be requested again.
        """
        return is_due and kind not in self._overtaken

    def end(self, kind: OfferKind, *, is_overtaken: bool) -> None:
        """Records that a list was received, or that the request failed."""
        if is_overtaken:
            self._overtaken.add(kind)
        else:
            self._overtaken.discard(kind)
            self._known_from[kind] = self._asked_at[kind]

    def was_announced(self, kind: OfferKind) -> bool:
        """Reports, once, whether a list that was just requested had been announced as changed, before or during the request."""
        was_announced = kind in self._announced
        self._announced.discard(kind)
        return was_announced

    # whether the known list is recent enough

    def asked_at(self, kind: OfferKind) -> float:
        """Returns when a list was last requested."""
        return self._asked_at.get(kind, -math.inf)

    def needed_from(self, kind: OfferKind, oldest: float) -> float:
        """Returns the earliest request time at which a list counts as current: a list that is being requested now is waited for.

        Args:
            oldest: the request time that is otherwise recent enough.
        """
        asked_at = self.asked_at(kind)
        return oldest if self.is_known_from(kind, asked_at) else asked_at

    def is_known_from(self, kind: OfferKind, at: float) -> bool:
        """Reports whether the known list was requested at this time or later."""
        return self._known_from.get(kind, -math.inf) >= at

    def pause_s(self, now: float) -> float:
        """Returns how long to wait before the next listing, after one that was just made."""
        if now - self._last > CALM_AFTER_S:
            self._count = 0
        self._count += 1
        beyond = self._count - AT_ONCE
        pause_s = min(FIRST_PAUSE_S * 2 ** min(beyond - 1, 10), LONGEST_PAUSE_S) if beyond > 0 else 0.0
        self._last = now + pause_s
        return pause_s
