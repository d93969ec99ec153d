"""A result of 10 MB reaches real clients as a page and a handle; they read the rest in every way, and nobody else does."""

import re
import sys
from pathlib import Path

import pytest
from tests.end2end.processes import BRIDGE, new_world, wait_until
from tests.end2end.steered import start_and_wait

HERE = Path(__file__).parent
CLIENT = HERE / "clients" / "reading_client.py"
ROWS = 270_000  # 10 MB
READ_S = 180.0


@pytest.fixture(scope="module")
def world():
    with new_world() as world:
        world.add_server("large", sys.executable, str(HERE / "servers" / "large.py"), str(ROWS))
        start_and_wait(world)
        world.ask("set_result_limit", tokens=25000, server="large")
        yield world


def reads_all(program):
    found = program.read(READ_S)
    assert found["size"] > 10_000_000
    assert all(found["checks"].values()), found["checks"]
    return found["handle"]


def test_every_way_of_reading_gives_the_very_bytes_to_the_client_alone_that_got_the_handle(world):
    bridge = (sys.executable, "-I", "-S", str(BRIDGE))
    over_bridge = world.start(sys.executable, str(CLIENT), "legacy", str(ROWS), "", *bridge)
    address = world.ask("set_http_enabled", enabled=True, port=0)["url"]
    token = world.ask("create_client_token", name="reader")
    try:
        own = reads_all(over_bridge)
        over_http = world.start(sys.executable, str(CLIENT), "auto", str(ROWS), token, f"{address.removesuffix('/mcp')}/servers/large/mcp")
        theirs = reads_all(over_http)
        for program, foreign, known in ((over_bridge, theirs, own), (over_http, own, theirs)):
            program.write(f"{foreign}\n{known}\n".encode())
            assert "no result has this handle" in program.read(READ_S)[0]
            assert program.read(READ_S)[0].startswith('{"rows": [')
        for program in (over_bridge, over_http):
            program.close_stdin()
            assert program.wait() == 0, program.error_text
    finally:
        world.ask("set_http_enabled", enabled=False)


def test_a_handle_is_good_after_a_kill_of_the_hub(world):
    bridge = world.start_bridge()
    bridge.initialize()
    result = bridge.request("tools/call", {"name": "rows", "arguments": {}}, timeout_s=READ_S)["result"]
    handle = re.search(r'"handle": "(\w+)"', result["content"][-1]["text"])[1]
    killed = world.kill_hub()

    def text():
        read = bridge.request("tools/call", {"name": "read_result", "arguments": {"handle": handle, "lines": "3-4"}}, timeout_s=READ_S)
        return read.get("result", {}).get("content", [{}])[0].get("text")

    wait_until(lambda: text() == '{"n": 1, "name": "row 1 of ü"},\n{"n": 2, "name": "row 2 of ü"},\n', "the result to be there again")
    assert world.hub_pid() != killed
    assert bridge.end() == 0
