"""What all servers of a running Tooltray share: time, tasks, the limits of a start, and the user of this machine. The composition makes one
UpstreamServices for each hub.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

import msgspec

from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.dispatcher import Tap
from tooltray.servers.upstream.handshake import DISCOVER_TIMEOUT_S, EraMemory
from tooltray.servers.upstream.mcp_client import AskPerson, McpClient, OfTask  # noqa: F401 (OfTask names McpClient, for those who read types)
from tooltray.servers.upstream.start_watch import StartLimits

RESTART_AFTER_S = (1.0, 2.0, 4.0)  # three failures in a row; then the user has to act
HEALTHY_AFTER_S = 60.0  # an instance that ran this long begins to count failures at zero again
START_LIMIT_S = 300.0  # from the first attempt to reach it to its greeting; npx and uvx may have to download the server first
EXPIRY_AFTER_S = 10.0  # a session that ends sooner is a failure, or we would open one after another
SLOW_AFTER_S = 45.0  # from then on the card shows it as slow
REMOTE_RETRY_AFTER_S = (15.0, 30.0, 60.0, 120.0, 300.0)  # a remote server may come back; the last pause stays
PLACES = 8  # on two cores more at once are slower for all
HELD_FOR_S = 3.0  # a longer start does not wait for the processor, but for a download, a network, or nothing at all


class Patience(msgspec.Struct, frozen=True):
    """The limits of the wait for a server, and the pauses between attempts; all in seconds.

    Attributes:
        restart_after_s: one pause per restart in a row.
        healthy_after_s: an instance that ran this long begins to count failures at zero again.
        expiry_after_s: a remote server that ends our session is opened again at once, unless it does so sooner than this.
        start_limit_s: from the first attempt to reach it to its greeting.
        start: limits that end the wait sooner, by the server's behaviour.
        slow_after_s: a start that takes longer is called slow.
        remote_retry_after_s: the pauses after which a remote server is tried again in the background; the last one stays.
        discover_timeout_s: after which a server counts as silent to the modern greeting.
    """

    restart_after_s: tuple[float, ...] = RESTART_AFTER_S
    healthy_after_s: float = HEALTHY_AFTER_S
    expiry_after_s: float = EXPIRY_AFTER_S
    start_limit_s: float = START_LIMIT_S
    start: StartLimits = msgspec.field(default_factory=StartLimits)
    slow_after_s: float = SLOW_AFTER_S
    remote_retry_after_s: tuple[float, ...] = REMOTE_RETRY_AFTER_S
    discover_timeout_s: float = DISCOVER_TIMEOUT_S


class StartGate:
    """The limit on how many servers may be starting at once. Belongs to one event loop.

    A hundred interpreters started together starve each other and the AI client that waits. A server that hangs must not delay the others,
    so a place becomes free after a while even if its server has not answered yet.
    """

    def __init__(self, *, places: int = PLACES, held_for_s: float = HELD_FOR_S) -> None:
        self._free = asyncio.Semaphore(places)
        self._held_for_s = held_for_s

    @contextlib.asynccontextmanager
    async def passage(self) -> AsyncIterator[None]:
        """Waits for a place and keeps it while inside, but no longer than `held_for_s`."""
        await self._free.acquire()
        is_held = True

        def give_back() -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                self._free.release()

        giving_up = asyncio.get_running_loop().call_later(self._held_for_s, give_back)
        try:
            yield
        finally:
            giving_up.cancel()
            give_back()


def keep_nothing(server: str, line: str) -> None: ...


def no_tap(server: str) -> Tap | None:
    return None


class UpstreamServices(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """
    Attributes:
        eras: remembers which eras each server speaks.
        mask: removes secrets from a text: a server may repeat them in its errors.
        ask_person: shows a server's question to the user if no AI client can be asked; None: the user cannot be asked.
        of_task: returns the task that a server's question belongs to.
        is_person_there: whether `ask_person` can show questions at this moment.
        keep_output: gets a server's name and each line that it writes, secrets masked.
        tap: returns the listener for the messages of a server's new connection, by the server's name; None: no listener.
        patience: how long servers are waited for.
        declared: the extensions that the AI clients of this machine have declared.
        gate: how many may be starting at once.
        idle_clock: the clock of idle times; seconds that never go back.
    """

    bus: EventBus
    deadlines: DeadlineWheel
    spawn: Spawn
    eras: EraMemory
    mask: Callable[[str], str] = str
    ask_person: AskPerson | None = None
    of_task: OfTask = lambda client, params: None
    is_person_there: Callable[[], bool] = lambda: False
    keep_output: Callable[[str, str], None] = keep_nothing
    tap: Callable[[str], Tap | None] = no_tap
    declared: Callable[[], Declarations] = dict
    patience: Patience = msgspec.field(default_factory=Patience)
    gate: StartGate = msgspec.field(default_factory=StartGate)
    idle_clock: Callable[[], float] = time.monotonic
