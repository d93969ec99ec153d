"""lifecycle_recorder.py, server_manager.py: who started and stopped what."""

from pathlib import Path

from tests.fakes.hub_parts import HubParts, entry, hub_parts, settled, started
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.confirm_widening import asked_by
from tooltray.foundation.events import EventBus, ServerStarted
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.records.journal.journal_event import START, STOP, JournalEvent
from tooltray.servers.upstream.lifecycle_recorder import CLIENT, HUB, IDLE, PERSON, Cause, LifecycleRecorder, cause, caused_by


def test_the_innermost_reason_counts_and_without_one_it_is_the_hub() -> None:
    assert cause() == Cause(HUB)
    with caused_by(PERSON, "tooltray"):
        with caused_by(CLIENT, "Cursor"):
            assert cause() == Cause("client", "Cursor")
        assert cause() == Cause("person", "tooltray")
    assert cause() == Cause(HUB)


def listening(parts: HubParts) -> list[JournalEvent]:
    found: list[JournalEvent] = []
    parts.bus.subscribe(JournalEvent, lambda event: found.append(event) if event.kind in (START, STOP) else None)
    return found


def told(found: list[JournalEvent]) -> list[tuple[str, str, str]]:
    return [(event.kind, event.reason, event.client) for event in found]


class Program:
    """Asks in a person's place, under its name."""

    name, proposes = "panel", False


async def test_a_person_a_program_and_a_call_start_and_stop_servers(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("p")}, programs={"p": ScriptedServer(tool("t"))}) as parts:
        found = listening(parts)
        await parts.servers.start("s")
        await parts.servers.restart("s")
        with asked_by(Program()):  # type: ignore[arg-type]
            await parts.servers.stop("s")
            await parts.servers.start_soon("s")
        await parts.heard.event(ServerStarted, count=3)
        await parts.servers.close()
        assert told(found) == [
            ("start", "person", "tooltray"),
            ("stop", "person", "tooltray"),
            ("start", "person", "tooltray"),
            ("stop", "person", "panel"),
            ("start", "person", "panel"),
            ("stop", "hub", ""),
        ]
        assert {(event.server, event.outcome, event.project, event.session) for event in found} == {("s", "ok", "", "")}
        assert all(event.duration_s >= 0 for event in found)


async def test_a_call_starts_what_is_on_demand_and_its_client_is_named(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("p", isolation="session")}, programs={"p": ScriptedServer(tool("t"))}) as parts:
        await started(parts)
        await parts.listed()
        found = listening(parts)
        client = parts.client(name="s1")
        client.state.client = "Cursor"
        await parts.call("t", client)
        await parts.servers.end_session(client)
        await settled()
        of_client = [event for event in found if event.session]
        assert [(event.kind, event.reason, event.client, event.session) for event in of_client] == [
            ("start", "client", "Cursor", "s1"),
            ("stop", "client", "Cursor", "s1"),
        ]


class Instance:
    """What is looked at of one."""

    name, owner = "files", None

    def __init__(self, lives: LifecycleRecorder) -> None:
        self.state, self._lives = ServerState.ON_DEMAND, lives

    def becomes(self, *states: ServerState) -> None:
        for self.state in states:
            self._lives.changed(self, "/p")  # type: ignore[arg-type]


def alone() -> tuple[Instance, list[JournalEvent]]:
    bus, found = EventBus(), list[JournalEvent]()
    bus.subscribe(JournalEvent, found.append)
    return Instance(LifecycleRecorder(bus)), found


S = ServerState


def test_what_ends_by_itself_is_started_by_the_hub() -> None:
    instance, found = alone()
    with caused_by("person", "tooltray"):
        instance.becomes(S.STARTING, S.STARTING, S.RUNNING, S.RUNNING)
        instance.becomes(S.RESTARTING, S.STARTING, S.RUNNING)
        instance.becomes(S.RESTARTING, S.STARTING, S.RESTARTING, S.INSTALLING, S.RUNNING)
    assert told(found) == [("start", "person", "tooltray"), ("start", "hub", ""), ("start", "hub", "")]
    assert {event.project for event in found} == {"/p"}


def test_a_start_that_takes_several_attempts_has_one_reason() -> None:
    instance, found = alone()
    with caused_by("person", "tooltray"):
        instance.becomes(S.STARTING, S.RESTARTING, S.STARTING, S.RUNNING)
    assert told(found) == [("start", "person", "tooltray")]


def test_what_nobody_uses_is_stopped_also_while_it_starts() -> None:
    instance, found = alone()
    instance.becomes(S.STARTING)
    with caused_by(IDLE):
        instance.becomes(S.STOPPING)
    instance.becomes(S.STOPPING, S.ON_DEMAND, S.WAITING)
    assert told(found) == [("stop", "idle", "")]


def test_a_start_that_fails_is_none() -> None:
    for failed in (S.ERROR, S.NEEDS_SIGN_IN):
        instance, found = alone()
        with caused_by("person", "tooltray"):
            instance.becomes(S.STARTING, failed, S.STOPPED)
        assert told(found) == []
        instance.becomes(S.STARTING, S.RUNNING)
        assert told(found) == [("start", "hub", "")]


def test_what_is_started_while_it_ends_has_ended_and_started() -> None:
    instance, found = alone()
    instance.becomes(S.STARTING, S.RUNNING, S.STOPPING, S.ON_DEMAND, S.STARTING, S.RUNNING)
    assert [event.kind for event in found] == ["start", "stop", "start"]
