"""`tooltray serve --stdio` as an AI client starts it: one hub for one client, on its own stdin and stdout.

Five groups, as the service was asked for: start, requests and replies, errors, the log, the end.
"""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end2end.processes import Program, World, new_world, wait_until

HABITS = Path(__file__).parent / "servers" / "habits.py"


def start_service(world: World) -> Program:
    program = world.start(sys.executable, "-m", "tooltray", "serve", "--stdio", "--execution-id", "run-1")
    world.wait_for(program)
    return program


@pytest.fixture
def service(world: World) -> Program:
    return start_service(world)


@pytest.fixture(scope="module")
def strict() -> Iterator[Program]:
    """A service that nobody greets, for requests that are wrong."""
    with new_world() as world:
        yield start_service(world)


def logged(program: Program) -> list[dict]:
    return [json.loads(line) for line in program.error_lines]


def events(program: Program, event: str) -> list[dict]:
    return [record for record in logged(program) if record["event"] == event]


# start


def test_it_binds_stdin_and_stdout_and_is_a_hub_like_any_other_with_lock_and_socket(world, service):
    assert service.initialize()["serverInfo"]["name"] == "tooltray"
    assert service.process.poll() is None
    status = json.loads(world.tooltray("status", "--json").stdout)
    assert status["pid"] == world.hub_pid()
    bridge = world.start_bridge("--no-start")
    assert bridge.initialize()["serverInfo"]["name"] == "tooltray"


# requests and replies


def test_several_requests_are_answered_under_their_ids_notifications_never_and_a_tool_is_listed_and_called(service):
    service.initialize()
    service.send({"jsonrpc": "2.0", "method": "notifications/unknown"})
    for id in (1, "two", 2**53):
        service.send_request("ping", id=id)
    _, before = service.reply_and_before(2**53)
    assert [message["id"] for message in before if "id" in message] == [1, "two"]
    tools = service.request("tools/list")["result"]["tools"]
    assert {tool["name"] for tool in tools} == {"collect_feedback", "list_servers", "server_status"}
    result = service.request("tools/call", {"name": "server_status", "arguments": {"name": "hub"}})["result"]
    assert result["structuredContent"]["state"] == "running"


def test_a_file_of_requests_as_stdin_is_answered_to_the_last(world):
    requests = "".join(json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}) + "\n" for id in range(50))
    done = world.tooltray("serve", "--stdio", input=requests)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == list(range(50))
    assert done.returncode == 0


# errors


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"{nonsense", None, -32700),
        (b"[]", None, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 1, -32600),
        (b'{"id":1,"method":"ping"}', 1, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":2,"method":7}', 2, -32600),
        (b'{"jsonrpc":"2.0","id":3,"method":"ping","params":"x"}', 3, -32600),
        (b'{"jsonrpc":"2.0","id":4,"method":"no/such"}', 4, -32601),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":["no name"]}}', 5, -32602),
        (b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"no_such_tool"}}', 6, -32602),
        (b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}', 7, -32602),
    ],
)
def test_a_request_that_is_wrong_gets_the_code_that_json_rpc_has_for_it(strict, line, id, code):
    strict.write(line + b"\n")
    reply = strict.reply_to(id)
    assert (reply["jsonrpc"], reply["error"]["code"]) == ("2.0", code)
    assert strict.request("ping", id="after")["result"] == {}


# the log


def test_every_record_says_when_which_run_and_what_and_is_in_the_log_files_too(world, service):
    service.initialize()
    service.request("tools/call", {"name": "server_status", "arguments": {"name": "dummy-secret-value"}}, id=9)
    service.request("no/such", id=10)
    wait_until(lambda: events(service, "response_error"), "the error's record")
    records = logged(service)
    assert all({"timestamp", "executionId", "component", "event", "summary"} <= record.keys() for record in records)
    assert {record["executionId"] for record in records} == {"run-1"}
    assert events(service, "service_started")
    request = next(record for record in events(service, "request_received") if record.get("id") == 9)
    assert (request["method"], request["tool"], request["arguments"]) == ("tools/call", "server_status", {"name": "string(18)"})
    assert next(record for record in events(service, "response_sent") if record["id"] == 9)["durationMs"] >= 0
    assert events(service, "response_error")[0]["code"] == -32601
    assert "dummy-secret-value" not in service.error_text
    service.close_stdin()
    service.wait()
    assert [record["event"] for record in world.records()] == [record["event"] for record in logged(service)]


# the end


@pytest.mark.parametrize(("number", "code", "reason"), [(signal.SIGINT, 130, "sigint"), (signal.SIGTERM, 143, "sigterm")])
def test_a_signal_answers_open_calls_stops_servers_and_writes_the_last_record(world, number, code, reason):
    world.add_server("habits", sys.executable, str(HABITS))
    service = world.start(sys.executable, "-m", "tooltray", "serve", "--stdio")
    service.initialize()
    service.request("tools/list")
    service.send_request("tools/call", {"name": "hang", "arguments": {}}, id="open")
    pids = json.loads(service.request("tools/call", {"name": "pids", "arguments": {}})["result"]["content"][0]["text"])
    service.signal(number)
    assert service.reply_to("open")["error"]["code"] == -32000
    assert service.wait() == code
    stopped = events(service, "service_stopped")[0]
    assert (stopped["reason"], stopped["requests"] >= 3) == (reason, True)
    assert set(pids).isdisjoint(process.pid for process in world.processes())


CRASHING = """
import asyncio, sys, threading
from tooltray.app import engine
from tooltray.__main__ import main

def fail():
    raise ZeroDivisionError("seven")

serve = engine.Engine.serve

async def crashing(self):
    {crash}
    return await serve(self)

engine.Engine.serve = crashing
sys.argv = ["tooltray", "serve", "--stdio"]
sys.exit(main())
"""


@pytest.mark.parametrize("crash", ["threading.Thread(target=fail).start()", "asyncio.get_running_loop().call_soon(fail)"])
def test_an_error_that_nothing_catches_is_logged_as_json_lines_and_ends_it_in_order_with_1(world, crash):
    program = world.start(sys.executable, "-c", CRASHING.format(crash=crash))
    assert program.wait() == 1
    [error] = [record for record in events(program, "error") if record["component"] == "tooltray.foundation.runtime"]
    assert "ZeroDivisionError: seven" in error["stack"]
    assert events(program, "service_stopped")[0]["reason"] == "failure"
    assert not (world.root / "run" / "hub.json").exists()
