"""A request of a scripted AI client as an Exchange."""

from typing import Any

from tooltray.protocol import eras
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import Head
from tooltray.protocol.sessions.caller import Caller
from tooltray.protocol.sessions.exchange import Exchange, Held


def exchange_of(
    request: Envelope,
    caller: Caller,
    *,
    head: Head | None = None,
    held: Held | None = None,
    server: str | None = None,
    client: str = "test",
) -> Exchange:
    """
    Args:
        head: None: what the request's params have.
        held: None: the caller's own, if it has any.
    """
    head = head or eras.read_head(request.params)
    assert head is not None
    own: Any = held or getattr(caller, "held", None)
    return Exchange(request, head, caller, own, server, client)
