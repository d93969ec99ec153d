"""What the journal keeps of a server's question to a client's person."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client

from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.envelope import Envelope, failure, success
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.servers.upstream.asked_persons import at_person, noted


def client() -> Client:
    made = Client(name="s1")
    made.state.client = "Cursor"
    return made


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (success({"action": "accept", "content": {"name": "secret"}}), "accept"),
        (success({"action": "decline"}), "decline"),
        (success({"action": "cancel"}), "cancel"),
        (success({"action": "perhaps"}), "error"),
        (success([1]), "error"),
        (failure(-32601, "not here"), "error"),
        (Envelope(result=Raw(b"{")), "error"),
    ],
)
async def test_how_it_was_answered_and_never_what(reply: Envelope, outcome: str) -> None:
    async def asking() -> Envelope:
        return reply

    found: list[JournalEvent] = []
    session: Any = client()
    session.state.projects["person"] = SessionProject("/p", "p", "person")
    assert await noted(asking(), "files", session, found.append) is reply
    [event] = found
    assert (event.kind, event.outcome, event.server, event.client, event.session, event.project) == (
        *("question", outcome, "files", "Cursor", "s1", "/p"),
    )
    assert "secret" not in repr(event)


async def test_one_that_nobody_waits_for_any_more_is_cancelled() -> None:
    found: list[JournalEvent] = []
    session: Any = client()
    waiting = asyncio.get_running_loop().create_task(noted(asyncio.Event().wait(), "files", session, found.append))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [(event.outcome, event.project) for event in found] == [("cancelled", "")]


def test_the_calls_that_it_is_for_wait_for_a_person() -> None:
    calls = [exchange_of(Envelope(method="tools/call"), Client()) for _ in range(2)]
    with at_person(calls):
        assert [call.course.waits_for for call in calls] == ["person", "person"]
    assert all(call.course.person_s is not None for call in calls)
