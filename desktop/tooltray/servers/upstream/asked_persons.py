"""What the journal keeps of a server's question to the user of an AI client: who was asked, for how long, and whether there was an answer.
The journal never gets the question or the answer.
"""

import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator

import msgspec

from tooltray.protocol.envelope import Envelope
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.records.journal.journal_event import QUESTION, JournalEvent

ACTIONS = ("accept", "decline", "cancel")


class _Answer(msgspec.Struct):
    action: str = ""


@contextlib.contextmanager
def at_person(exchanges: Iterable[Exchange]) -> Iterator[None]:
    """Marks these exchanges as waiting for the user while the block lasts."""
    with contextlib.ExitStack() as stack:
        for exchange in exchanges:
            stack.enter_context(exchange.course.at_person())
        yield


async def noted(asking: Awaitable[Envelope], server: str, session: Session, note: Callable[[JournalEvent], None]) -> Envelope:
    """Returns the client's answer, and records the question in the journal when the answer arrives or the wait is cancelled."""
    asked_at, clock, outcome = time.time(), time.perf_counter(), "cancelled"
    try:
        reply = await asking
        outcome = _outcome(reply)
        return reply
    finally:
        state = session.state
        note(
            JournalEvent(
                kind=QUESTION,
                at=asked_at,
                outcome=outcome,
                duration_s=time.perf_counter() - clock,
                client=state.client,
                session=state.id,
                project=state.project.path if state.project else "",
                server=server,
            )
        )


def _outcome(reply: Envelope) -> str:
    """Returns the action of an answer; "error" if the client's reply has no action that can be understood."""
    try:
        action = "" if reply.error else msgspec.json.decode(reply.result, type=_Answer).action
    except (ValueError, RecursionError):
        action = ""
    return action if action in ACTIONS else "error"
