"""handshake.py"""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.nesting import depths_at_the_limit
from tests.fakes.scripted_server import ScriptedServer, error, never, raw

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import INTERNAL_ERROR, NOTHING, Envelope, worded
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.handshake import (
    DISCOVER_TIMEOUT_S,
    EraMemory,
    EraRefused,
    Greeting,
    GreetingPlan,
    Introduction,
    OpeningFailed,
    greet,
)

SILENT_S = 0.02  # where nothing is answered
SLOW_S = 0.5  # where the second question is answered, also on a busy machine


class Meeting:
    """The hub's end of a connection to a scripted server."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self.copy = server(name="s")
        self.dispatcher = RawDispatcher(
            name="server 's'",
            deadlines=DeadlineWheel(),
            answer=lambda request: never(self.copy, None),
            take_notification=lambda message: None,
            is_server=True,
            max_line_bytes=1 << 20,
        )

    async def greet(
        self, *, wants: Era = Era.MODERN, silent_s: float = DISCOVER_TIMEOUT_S, is_known_legacy: bool = False, only: Era | None = None
    ) -> Greeting:
        return await greet(
            self.dispatcher,
            server="s",
            plan=GreetingPlan(wants, is_known_legacy, only, silent_s),
            introduction=Introduction({"name": "tooltray", "version": "1"}, {"roots": {}}, NOTHING),
        )

    @property
    def methods(self) -> list[str]:
        return [asked.method for asked in self.server.asked.all]


def members_of(greeting: Greeting) -> tuple[object, ...]:
    return greeting.era, greeting.version, greeting.capabilities, greeting.instructions


@pytest.fixture
async def meet() -> AsyncIterator[Any]:
    meetings = []

    async def _meet(server: ScriptedServer) -> Meeting:
        meeting = Meeting(server)
        meetings.append(meeting)
        await meeting.copy.open(meeting.dispatcher)
        return meeting

    yield _meet
    for meeting in meetings:
        await meeting.dispatcher.close("the test is over")
        await meeting.copy.close()


async def test_a_modern_server_is_discovered_and_not_initialized(meet: Any) -> None:
    server = ScriptedServer(eras=("modern",))
    answer = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"x": 1}}, "instructions": "be kind"}
    server.handlers["server/discover"] = lambda copy, params: answer
    meeting = await meet(server)
    assert members_of(await meeting.greet()) == (Era.MODERN, "2026-07-28", {"tools": {"x": 1}}, "be kind")
    assert meeting.methods == ["server/discover"]
    assert server.asked.all[0].params["_meta"] == {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tooltray", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    }


async def test_a_server_that_does_not_know_discover_is_initialized(meet: Any) -> None:
    server = ScriptedServer()
    meeting = await meet(server)
    greeting = await meeting.greet()
    assert (greeting.era, greeting.version, greeting.capabilities) == (Era.LEGACY, "2025-11-25", {"tools": {"listChanged": True}})
    assert meeting.methods == ["server/discover", "initialize"]
    assert server.asked.all[1].params == {
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "tooltray", "version": "1"},
    }
    assert (await server.told.wait()).method == "notifications/initialized"


async def test_of_the_versions_that_a_refusal_names_one_that_both_speak_is_tried(meet: Any) -> None:
    server = ScriptedServer(eras=("modern",))
    answers = iter(
        [
            error(-32022, "Unsupported protocol version", {"supported": ["2026-07-28", "2027-01-01"], "requested": "x"}),
            {"supportedVersions": ["2026-07-28"], "capabilities": {}},
        ]
    )
    server.handlers["server/discover"] = lambda copy, params: next(answers)
    meeting = await meet(server)
    assert (await meeting.greet()).era is Era.MODERN
    assert meeting.methods == ["server/discover", "server/discover"]


async def test_a_server_that_refuses_the_version_it_named_is_not_asked_for_ever(meet: Any) -> None:
    server = ScriptedServer()
    server.handlers["server/discover"] = lambda copy, params: error(-32022, "no", {"supported": ["2026-07-28"]})
    meeting = await meet(server)
    assert (await meeting.greet()).era is Era.LEGACY
    assert meeting.methods == ["server/discover", "server/discover", "initialize"]


@pytest.mark.parametrize("data", [{"supported": ["2027-01-01"]}, {"supported": "2026-07-28"}, {"supported": [5]}, {}, [], None])
async def test_without_a_common_modern_version_the_legacy_era_is_tried(meet: Any, data: Any) -> None:
    server = ScriptedServer()
    server.handlers["server/discover"] = lambda copy, params: error(-32022, "Unsupported protocol version", data)
    meeting = await meet(server)
    assert (await meeting.greet()).era is Era.LEGACY


async def test_a_server_with_other_modern_versions_only_is_refused_in_words(meet: Any) -> None:
    server = ScriptedServer(eras=())
    server.handlers["server/discover"] = lambda copy, params: error(-32022, "no", {"supported": ["2027-01-01"]})
    server.handlers["initialize"] = lambda copy, params: error(-32022, "I speak 2027-01-01", {"supported": ["2027-01-01"]})
    meeting = await meet(server)
    with pytest.raises(EraRefused, match=r"'s' does not speak the legacy protocol. I speak 2027-01-01"):
        await meeting.greet()
    assert meeting.methods == ["server/discover", "initialize", "server/discover"]


async def test_a_server_that_is_silent_to_discover_is_initialized_after_a_while_and_not_told_to_cancel(meet: Any) -> None:
    server = ScriptedServer()
    server.handlers["server/discover"] = never
    meeting = await meet(server)
    assert (await meeting.greet(silent_s=SILENT_S)).era is Era.LEGACY
    assert (await server.told.wait()).method == "notifications/initialized"
    assert not server.cancelled.all


async def test_a_modern_server_that_was_too_slow_for_the_probe_is_asked_again_when_it_refuses_the_legacy_era(meet: Any) -> None:
    server = ScriptedServer(eras=("modern",))
    go_on = server.hold("server/discover")

    def initialize(copy: Any, params: Any) -> Any:
        go_on.set()
        return error(-32601, "Method not found")

    server.handlers["initialize"] = initialize
    meeting = await meet(server)
    assert (await meeting.greet(silent_s=SLOW_S)).era is Era.MODERN
    assert meeting.methods == ["server/discover", "initialize", "server/discover"]


@pytest.mark.parametrize(
    "result", [b"[]", b"5", b"null", b'"ok"', b"{}", b'{"supportedVersions":"2026-07-28"}', b'{"supportedVersions":["2020-01-01"]}']
)
async def test_garbage_as_an_answer_to_discover_leads_to_the_legacy_era(meet: Any, result: bytes) -> None:
    server = ScriptedServer()
    server.handlers["server/discover"] = lambda copy, params: raw(result)
    meeting = await meet(server)
    assert (await meeting.greet()).era is Era.LEGACY


async def test_odd_members_of_a_greeting_are_left_out(meet: Any) -> None:
    server = ScriptedServer()
    answer = {"protocolVersion": "2024-11-05", "capabilities": [1], "instructions": 5}
    server.handlers["initialize"] = lambda copy, params: answer
    meeting = await meet(server)
    assert members_of(await meeting.greet()) == (Era.LEGACY, "2024-11-05", {}, None)


@pytest.mark.parametrize("result", [b"[]", b"null", b"{}", b'{"protocolVersion":5}', b'{"protocolVersion":"1999-01-01"}'])
async def test_a_legacy_version_that_we_do_not_speak_is_an_error_in_words(meet: Any, result: bytes) -> None:
    server = ScriptedServer()
    server.handlers["initialize"] = lambda copy, params: raw(result)
    meeting = await meet(server)
    with pytest.raises(TooltrayError, match=r"'s' speaks another protocol.*it answered initialize with version .*Update the server"):
        await meeting.greet()
    assert not server.told.all


@pytest.mark.parametrize("wants", list(Era))
async def test_a_server_that_dies_in_the_handshake_says_its_last_words(meet: Any, wants: Era) -> None:
    server = ScriptedServer()

    async def die(copy: Any, params: Any) -> Any:
        copy.die("no API key")

    server.handlers["server/discover"] = server.handlers["initialize"] = die
    meeting = await meet(server)
    with pytest.raises(TooltrayError, match=r"'s' could not be opened: server 's' ended with exit code 1: no API key"):
        await meeting.greet(wants=wants)


@pytest.mark.parametrize("is_over", [True, False])
async def test_what_was_worded_here_keeps_its_phrase_so_that_a_window_can_translate_it(meet: Any, is_over: bool) -> None:
    server, words = ScriptedServer(), Phrase("server '{name}' {how}", name="s", how=Phrase("closed its output"))
    meeting = await meet(server)

    async def fail(copy: Any, params: Any) -> Any:
        if is_over:
            meeting.dispatcher.connection_lost(words)
        else:
            meeting.dispatcher.calls.settle(meeting.dispatcher.calls.unanswered()[0], worded(INTERNAL_ERROR, words))
        return await never(copy, params)

    server.handlers["initialize"] = fail
    with pytest.raises(TooltrayError) as failure:
        await meeting.greet(wants=Era.LEGACY)
    problem = failure.value.problem
    assert isinstance(problem.title, Phrase)
    assert problem.title.fields["words"] is words


async def test_words_too_long_for_a_title_are_the_facts(meet: Any) -> None:
    server = ScriptedServer()
    server.handlers["initialize"] = lambda copy, params: error(-32603, "x" * 500)
    meeting = await meet(server)
    with pytest.raises(OpeningFailed) as raised:
        await meeting.greet()
    assert raised.value.problem == Problem("'s' could not be opened", "x" * 500)


async def test_a_server_that_answers_the_handshake_with_an_error_is_quoted(meet: Any) -> None:
    server = ScriptedServer()
    server.handlers["initialize"] = lambda copy, params: error(-32603, "database is locked")
    meeting = await meet(server)
    with pytest.raises(TooltrayError, match=r"'s' could not be opened: database is locked"):
        await meeting.greet()


@pytest.mark.parametrize("said", [b'"no"', b'{"code":"x"}', b'{"message":"\\ud800"}'])
async def test_an_error_that_cannot_be_read_is_still_an_error_in_words(meet: Any, said: bytes) -> None:
    server = ScriptedServer()
    failed = raw(b"")
    failed.error = raw(said).result
    server.handlers["initialize"] = lambda copy, params: failed
    meeting = await meet(server)
    with pytest.raises(TooltrayError, match=r"'s' could not be opened: an error that cannot be read"):
        await meeting.greet()


async def test_who_wants_the_legacy_era_gets_it_without_a_probe(meet: Any) -> None:
    server = ScriptedServer(eras=("legacy", "modern"))
    meeting = await meet(server)
    assert (await meeting.greet(wants=Era.LEGACY)).era is Era.LEGACY
    assert meeting.methods == ["initialize"]


@pytest.mark.parametrize("code", [-32601, -32022])
async def test_who_wants_the_legacy_era_of_a_modern_server_is_refused(meet: Any, code: int) -> None:
    server = ScriptedServer(eras=("modern",))
    server.handlers["initialize"] = lambda copy, params: error(code, "2026-07-28 only")
    meeting = await meet(server)
    with pytest.raises(EraRefused):
        await meeting.greet(wants=Era.LEGACY)
    assert meeting.methods == ["initialize"]


async def test_a_server_that_is_legacy_by_its_settings_is_never_probed(meet: Any) -> None:
    meeting = await meet(ScriptedServer(eras=("legacy", "modern")))
    assert (await meeting.greet(only=Era.LEGACY)).era is Era.LEGACY
    assert meeting.methods == ["initialize"]
    meeting = await meet(ScriptedServer(eras=("modern",)))
    with pytest.raises(EraRefused):
        await meeting.greet(only=Era.LEGACY)
    assert meeting.methods == ["initialize"]


async def test_a_server_that_is_modern_by_its_settings_is_never_initialized(meet: Any) -> None:
    meeting = await meet(ScriptedServer(eras=("legacy", "modern")))
    assert (await meeting.greet(only=Era.MODERN, is_known_legacy=True)).era is Era.MODERN
    with pytest.raises(EraRefused, match="as set in its settings"):
        await meeting.greet(wants=Era.LEGACY, only=Era.MODERN)
    assert meeting.methods == ["server/discover"]
    meeting = await meet(ScriptedServer())
    with pytest.raises(OpeningFailed, match="it does not speak the modern protocol, which its settings give"):
        await meeting.greet(only=Era.MODERN)
    assert meeting.methods == ["server/discover"]


async def test_a_server_known_to_be_legacy_is_not_probed(meet: Any) -> None:
    server = ScriptedServer(eras=("legacy", "modern"))
    meeting = await meet(server)
    assert (await meeting.greet(is_known_legacy=True)).era is Era.LEGACY
    assert meeting.methods == ["initialize"]


async def test_a_server_known_to_be_legacy_that_has_become_modern_is_found_out(meet: Any) -> None:
    server = ScriptedServer(eras=("modern",))
    meeting = await meet(server)
    assert (await meeting.greet(is_known_legacy=True)).era is Era.MODERN
    assert meeting.methods == ["initialize", "server/discover"]


@pytest.mark.parametrize("is_error", [False, True])
async def test_a_greeting_nested_as_deep_as_a_message_may_be_is_no_bug_of_ours(meet: Any, is_error: bool) -> None:
    server = ScriptedServer()
    said = set()
    for depth in depths_at_the_limit():
        nested = raw(b'{"data":' + b"[" * depth + b"]" * depth + b"}")
        reply = Envelope(error=nested.result) if is_error else nested
        server.handlers["server/discover"] = lambda copy, params, reply=reply: reply
        server.handlers["initialize"] = lambda copy, params, reply=reply: reply
        meeting = await meet(server)
        with pytest.raises(TooltrayError) as raised:
            await meeting.greet()
        said.add(raised.value.problem.title)
    assert any(title.startswith("'s' could not be opened") for title in said)


LEGACY, BOTH = frozenset({"legacy"}), frozenset({"legacy", "modern"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "eras.json"


def test_of_an_unknown_server_nothing_is_known(path: Path) -> None:
    assert EraMemory(path).eras("hash") == frozenset()


def test_what_was_saved_is_known_after_a_restart(path: Path) -> None:
    memory = EraMemory(path)
    assert memory.remember("a", LEGACY)
    assert memory.remember("b", BOTH)
    memory.save()
    again = EraMemory(path)
    assert (again.eras("a"), again.eras("b")) == (LEGACY, BOTH)


def test_only_news_has_to_be_saved(path: Path) -> None:
    memory = EraMemory(path)
    assert [memory.remember("a", eras) for eras in (LEGACY, LEGACY, BOTH, BOTH)] == [True, False, True, False]


def test_what_is_old_is_asked_again_because_servers_learn(path: Path) -> None:
    now = time.time()
    ages = {"old": 604_801, "new": 604_500, "of the future": -3600}
    path.write_text(json.dumps({name: {"eras": ["legacy"], "at": now - age} for name, age in ages.items()}))
    memory = EraMemory(path)
    assert [memory.eras(name) for name in ages] == [frozenset(), LEGACY, frozenset()]
    assert memory.remember("old", LEGACY)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"a":5}', b'{"a":{"eras":"legacy","at":1}}', b"\xff"])
def test_a_file_that_is_malformed_costs_a_probe_and_is_replaced(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    memory = EraMemory(path)
    assert memory.eras("a") == frozenset()
    memory.remember("a", LEGACY)
    memory.save()
    assert EraMemory(path).eras("a") == LEGACY


def test_a_file_that_cannot_be_read_or_written_is_no_failure(path: Path) -> None:
    path.mkdir()
    memory = EraMemory(path)
    memory.remember("a", LEGACY)
    memory.save()
    assert memory.eras("a") == LEGACY
    assert not list(path.iterdir())
