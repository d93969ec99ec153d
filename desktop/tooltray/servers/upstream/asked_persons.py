"""A server's question to the person of an AI client, as the journal keeps it: who was asked, for how long, and whether there was an answer.
Never the question, and never the answer.

Above it: McpClient. Below it: the calls for which it is asked, whose clocks stop meanwhile.
"""

import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator

import msgspec

from tooltray.protocol.envelope import Envelope
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.records.journal.happenings import QUESTION, Happened

ACTIONS = ("accept", "decline", "cancel")


class _Answer(msgspec.Struct):
    action: str = ""


@contextlib.contextmanager
def at_person(exchanges: Iterable[Exchange]) -> Iterator[None]:
    """While the block lasts, these wait for a person."""
    with contextlib.ExitStack() as stack:
        for exchange in exchanges:
            stack.enter_context(exchange.course.at_person())
        yield


async def noted(asking: Awaitable[Envelope], server: str, session: Session, note: Callable[[Happened], None]) -> Envelope:
    """The answer of a client's person, of which the journal hears when it is there, or when nobody waits for it any more."""
    asked_at, clock, outcome = time.time(), time.perf_counter(), "cancelled"
    try:
        reply = await asking
        outcome = _outcome(reply)
        return reply
    finally:
        state = session.state
        note(
            Happened(
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
    """The action of an answer; "error" where the client has none that could be understood."""
    try:
        action = "" if reply.error else msgspec.json.decode(reply.result, type=_Answer).action
    except (ValueError, RecursionError):
        action = ""
    return action if action in ACTIONS else "error"
