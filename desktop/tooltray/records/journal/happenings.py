"""What the journal is told: an event that rooms above it publish, and that never leaves the process.

Above it: whoever has something to tell (calls, approvals, upstream). Below it: the event bus. Publishing it is all that a call pays for
its place in the journal, so that it carries references; what they say is read later, in the journal's thread.
"""

from msgspec import Raw

from tooltray.foundation.events import Event
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.sessions.call_course import CallCourse

CALL, QUESTION, APPROVAL, START, STOP, FAILURE = "call", "question", "approval", "start", "stop", "failure"


class Happened(Event, frozen=True, kw_only=True):
    """Something that belongs into the journal; the fields are those of ActivityEntry, and these:

    Attributes:
        line: what it touched, where that is not read from the params.
        params: of a call, as they came.
        reply: its result or error, as it came; empty: there is none.
        is_fault: the reply is an error of JSON-RPC, or a result that says that the call failed.
        course: of a call: where its time went.
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
    course: CallCourse | None = None
