"""The services that all servers share: time, tasks, and the user of this machine."""

import time
from collections.abc import Callable

import msgspec

from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.dispatcher import Tap
from tooltray.servers.upstream.handshake import EraMemory
from tooltray.servers.upstream.mcp_client import AskPerson, McpClient, OfTask
from tooltray.servers.upstream.start_limits import Patience, StartGate


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
        is_wanted: whether a session waits for notifications of an instance, which therefore is not idle.
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
    is_wanted: Callable[[McpClient], bool] = lambda client: False
    gate: StartGate = msgspec.field(default_factory=StartGate)
    idle_clock: Callable[[], float] = time.monotonic
