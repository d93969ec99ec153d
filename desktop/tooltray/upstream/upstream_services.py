"""What all servers of a hub share: time, tasks, limits, and the person at this machine.

Above it: ServerManager and what it makes, ServerLists. The composition makes one for each hub.
"""

import time
from collections.abc import Callable

import msgspec

from tooltray.events import EventBus
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.tasks import Spawn
from tooltray.upstream.mcp_client import AskPerson
from tooltray.upstream.patience import Patience
from tooltray.upstream.start_gate import StartGate


class UpstreamServices(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """
    Attributes:
        mask: takes secrets out of a text: a server may repeat them in its errors.
        ask_person: shows a server's question where no AI client can be asked; None: nobody is there.
        patience: how long servers are waited for.
        gate: how many may be starting at once.
        clock: by which servers are idle; seconds that never go back.
    """

    bus: EventBus
    deadlines: DeadlineWheel
    spawn: Spawn
    mask: Callable[[str], str] = str
    ask_person: AskPerson | None = None
    patience: Patience = msgspec.field(default_factory=Patience)
    gate: StartGate = msgspec.field(default_factory=StartGate)
    clock: Callable[[], float] = time.monotonic
