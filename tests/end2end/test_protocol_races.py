"""Many at once, and changes at the worst moment."""

import json
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.end2end.processes import wait_until
from tests.end2end.steered import SteeredClient, add_featured, send_signal, start_and_wait

SESSIONS = 100
LISTERS, CHANGES = 4, 8
STEPS = 20


def test_a_hundred_sessions_at_once_each_get_their_own_answers_and_progress(world):
    add_featured(world, "one", "legacy")
    start_and_wait(world)
    bridges = [world.start_bridge("--server", "one") for _ in range(SESSIONS)]

    def use(number):
        bridge = bridges[number]
        bridge.initialize()
        assert bridge.request("tools/list", id=1)["result"]["tools"]
        meta = {"progressToken": "the same for all", "example.org/number": number}
        bridge.send_request("tools/call", {"name": "steps", "arguments": {"n": STEPS}, "_meta": meta}, id=2)
        _, before = bridge.reply_and_before(2)
        progress = [message["params"] for message in before if message.get("method") == "notifications/progress"]
        assert {params["progressToken"] for params in progress} == {"the same for all"}
        assert [params["progress"] for params in progress] == list(range(1, STEPS + 1))
        result = bridge.request("tools/call", {"name": "meta", "_meta": meta}, id=3)["result"]
        return json.loads(result["content"][0]["text"])["example.org/number"]

    with ThreadPoolExecutor(SESSIONS) as pool:
        assert list(pool.map(use, range(SESSIONS))) == list(range(SESSIONS))
    assert world.ask("get_snapshot")["session_count"] == SESSIONS
    for bridge in bridges:
        bridge.close_stdin()
    wait_until(lambda: world.ask("get_snapshot")["session_count"] == 0, "all sessions to end")


def test_lists_that_change_while_they_are_listed_are_always_whole(world):
    add_featured(world, "one")
    add_featured(world, "two")
    start_and_wait(world)
    watcher = SteeredClient(world, "legacy")
    pids = world.servers()["one"]["pids"]
    is_over = threading.Event()
    without = watcher.names("tools")
    with_newcomer = without | {"one-newcomer"}

    def list_often(bridge):
        bridge.initialize()
        found = []
        while not is_over.is_set():
            result = bridge.request("tools/list", id=len(found))["result"]
            found.append({tool["name"] for tool in result["tools"]})
        bridge.end()
        return found

    with ThreadPoolExecutor(LISTERS) as pool:
        listing = [pool.submit(list_often, world.start_bridge()) for _ in range(LISTERS)]
        try:
            for number, expected in [(signal.SIGUSR1, with_newcomer), (signal.SIGUSR2, without)] * CHANGES:
                for pid in pids:
                    send_signal(pid, number)
                watcher.wait_until("tools", lambda listed, expected=expected: listed == expected)
        finally:
            is_over.set()
    seen = [names for lister in listing for names in lister.result()]
    assert all(names in (without, with_newcomer) for names in seen)
    assert without in seen
    assert with_newcomer in seen
    watcher.end()
