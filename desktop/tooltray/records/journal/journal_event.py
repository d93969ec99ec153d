"""The event by which other packages add to the journal; it never leaves the process.

Publishing it must be cheap for a call. So it carries references, and their content is read later, in the journal's thread.
"""

from msgspec import Raw

from tooltray.foundation.events import Event
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.sessions.exchange import CallTimings

CALL, QUESTION, APPROVAL, START, STOP, FAILURE = "call", "question", "approval", "start", "stop", "failure"


class JournalEvent(Event, frozen=True, kw_only=True):
    """An event for the journal; its fields are the fields of ActivityEntry, and these:

    Attributes:
        line: the target, if it is not read from the params.
        params: of a call, as received.
        reply: its result or error, as received; empty: the call has no reply.
        is_fault: the reply is an error of JSON-RPC, or the result of a failed call.
        timings: of a call; None for any other event.
    """

    kind: str
    at: float
    outcome: str
    duration_s: float = 0.0
    client: str = ""
    session: str = ""
    project: str = ""
    server: str = ""
    tool: str = ""
    published: str = ""
    argument_bytes: int = 0
    result_bytes: int = 0
    reason: str = ""
    line: str = ""
    params: Raw = NOTHING
    reply: Raw = NOTHING
    is_fault: bool = False
    timings: CallTimings | None = None
