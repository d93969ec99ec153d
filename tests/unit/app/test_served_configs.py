"""served_configs.py"""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fakes.served_hub import FILE, entry

from tooltray.app.served_configs import RequiredServers, ServedCallLog, check_served, in_surroundings
from tooltray.config.settings.file_server import Endpoint, FileReading, FileServer, Kind
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import EventBus, ToolCallResult
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.setup import FileProblem
from tooltray.foundation.snapshots.tools import MCPToolResponse
from tooltray.servers.upstream.managed_server import ServerStateChanged

NO_COMMAND = FileProblem(Problem("it has neither a command nor a URL"), line=7, entry="broken")
ODD_FILTER = FileProblem(Problem("this filters nothing"), line=3, entry="fetch")
BAD_ADDRESS = FileProblem(Problem("mcpProxy.addr must be like ':9090'"), line=2)
ENDPOINT = Endpoint("", 9090)


def reading(*problems: FileProblem, path: str = FILE, endpoint: Endpoint | None = ENDPOINT, **options: Any) -> FileReading:
    return FileReading(path, "tbxark", "1", entries=(entry("fetch"),), problems=problems, endpoint=endpoint, **options)


@pytest.mark.parametrize(
    "harmless",
    [
        reading(),
        reading(NO_COMMAND, ODD_FILTER, BAD_ADDRESS, endpoint=None),
        reading(must_be_valid=True),
        reading(ODD_FILTER, BAD_ADDRESS, must_be_valid=True),
    ],
)
def test_a_file_with_mistakes_is_served_as_far_as_it_can_be(harmless: FileReading) -> None:
    check_served([harmless])


def test_a_file_that_cannot_be_understood_keeps_the_hub_from_starting() -> None:
    broken = FileReading(FILE, "tbxark", "1", is_understood=False, problems=(FileProblem(Problem("a comma is missing"), line=9),))
    with pytest.raises(TooltrayError, match="line 9: a comma is missing") as raised:
        check_served([reading(), broken])
    assert FILE in str(raised.value)


def test_a_reason_that_names_its_line_is_told_once_and_without_words_about_what_runs() -> None:
    why = Problem("config.json cannot be read", "line 9, column 2: a comma is missing", "Correct it; until then what ran goes on")
    broken = FileReading(FILE, "tbxark", "1", is_understood=False, problems=(FileProblem(why, line=9),))
    with pytest.raises(TooltrayError) as raised:
        check_served([broken])
    assert str(raised.value) == f"{FILE} is not served: line 9, column 2: a comma is missing. Correct it, and start again"


def test_a_server_that_cannot_be_used_is_named_where_a_file_is_served_whole_or_not_at_all() -> None:
    why = Problem("The server 'x' of config.json is not used", "line 7: it has neither a command nor a URL", "Correct it")
    with pytest.raises(TooltrayError) as raised:
        check_served([reading(FileProblem(why, line=7, entry="x"), must_be_valid=True)])
    assert raised.value.problem.message == "The server 'x' of config.json is not used: line 7: it has neither a command nor a URL"


@pytest.mark.parametrize(
    ("invalid", "words"),
    [
        (reading(ODD_FILTER, NO_COMMAND, must_be_valid=True), "line 7: it has neither a command nor a URL"),
        (reading(BAD_ADDRESS, endpoint=None, must_be_valid=True), "line 2: mcpProxy.addr must be like ':9090'"),
    ],
)
def test_a_file_that_wants_to_be_served_whole_or_not_at_all_is_not(invalid: FileReading, words: str) -> None:
    with pytest.raises(TooltrayError) as raised:
        check_served([invalid])
    assert raised.value.problem.message == words
    assert "panicIfInvalid" in raised.value.problem.hint


def test_two_files_with_an_endpoint_are_one_too_many() -> None:
    check_served([reading(), FileReading("/b.json", "tbxark", "1")])
    with pytest.raises(TooltrayError, match=f"{FILE} and /b.json each define an endpoint"):
        check_served([reading(), reading(path="/b.json")])


class Servers:
    """In the place of ServerManager."""

    def __init__(self, bus: EventBus, config: McpConfHelper) -> None:
        self._bus, self.config = bus, config

    def now(self, name: str, state: ServerState, problem: Problem | None = None) -> None:
        server: Any = SimpleNamespace(name=name, state=state, problem=problem)
        self._bus.publish(ServerStateChanged(server))


async def required(tmp_path: Path, *needed: str, optional: str = "optional") -> tuple[Servers, list[TooltrayError]]:
    bus, failures = EventBus(), list[TooltrayError]()
    config = McpConfHelper(tmp_path / "settings.json", bus)
    servers = Servers(bus, config)
    await config.load()
    entries = [entry(name, must_run=True, disable=name == "off") for name in needed] + [entry(optional)]
    config.set_file_servers({each.name: FileServer(each, FILE, "served", "") for each in entries})
    RequiredServers(config=config, bus=bus, on_failed=failures.append)
    return servers, failures


@pytest.mark.parametrize("state", [ServerState.ERROR, ServerState.NEEDS_SIGN_IN, ServerState.RESTARTING])
async def test_a_server_that_does_not_start_ends_the_hub_and_says_which_and_why_once(tmp_path: Path, state: ServerState) -> None:
    servers, failures = await required(tmp_path, "fetch", "other")
    servers.now("fetch", ServerState.STARTING)
    servers.now("fetch", state, Problem("command 'x' not found"))
    servers.now("other", state)
    (failure,) = failures
    assert "'fetch' does not start" in failure.problem.title
    assert failure.problem.message == "command 'x' not found"


async def test_why_is_said_also_where_the_server_says_nothing(tmp_path: Path) -> None:
    servers, failures = await required(tmp_path, "fetch")
    servers.now("fetch", ServerState.RESTARTING)
    assert failures[0].problem.message == "it is restarting"


async def test_a_server_that_ran_once_may_fail_later(tmp_path: Path) -> None:
    servers, failures = await required(tmp_path, "fetch")
    servers.now("fetch", ServerState.RUNNING)
    servers.now("fetch", ServerState.ERROR)
    assert failures == []


async def test_other_servers_may_fail(tmp_path: Path) -> None:
    servers, failures = await required(tmp_path, "fetch", "off")
    for name in ("optional", "off", "unknown"):
        servers.now(name, ServerState.ERROR)
    assert failures == []


async def test_a_server_that_is_removed_is_not_needed_any_more(tmp_path: Path) -> None:
    servers, failures = await required(tmp_path, "fetch")
    servers.config.set_file_servers({})
    servers.now("fetch", ServerState.STOPPED)
    assert failures == []


async def test_calls_of_servers_that_ask_for_it_are_logged_and_no_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bus = EventBus()
    config = McpConfHelper(tmp_path / "settings.json", bus)
    await config.load()
    entries = (entry("told", logs_calls=True), entry("quiet"))
    config.set_file_servers({each.name: FileServer(each, FILE, "served", "") for each in entries})
    ServedCallLog(config=config, bus=bus)
    with caplog.at_level(logging.INFO, logger="tooltray"):
        for server in ("told", "quiet", "of the settings"):
            bus.publish(ToolCallResult(MCPToolResponse("fetch", server, "an editor", "ok", 0.25, 10, 20)))
    assert [record.getMessage() for record in caplog.records] == ["an editor called fetch of 'told': ok after 250 ms"]


ENVIRON = {"TOKEN": "t", "FOLDER": "here", "UNASKED": "u"}
ASKING = replace(
    entry("fetch"), config=MCPServerConfig(command="${RUN:-run}", args=("${TOKEN}", "${FOLDER}")), variables={"FOLDER": "of the entry"}
)


def read(path: Path, kind: Kind) -> FileReading:
    return FileReading(str(path), kind, "1", entries=(ASKING, entry("plain")))


def test_a_served_config_finds_what_it_asks_for_where_the_hub_was_started_unless_it_says_otherwise_itself() -> None:
    asking, plain = in_surroundings(read, ENVIRON)(Path(FILE), "tbxark").entries
    assert asking.variables == {"TOKEN": "t", "FOLDER": "of the entry"}
    assert plain.variables == {}
    assert "'t'" not in repr(asking)


def test_a_projects_own_file_finds_nothing_there() -> None:
    assert in_surroundings(read, ENVIRON)(Path(FILE), "mcp.json") == read(Path(FILE), "mcp.json")
