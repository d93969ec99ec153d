"""`tooltray status`."""

import time

from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot, problem, server_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray.home.home import Home


def test_no_hub_is_an_answer_and_no_error(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("status")
    assert (result.code, result.err) == (0, "")
    assert "not running" in result.out
    assert not hub_home.root.exists()


def test_no_hub_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("status", "--json").json == {"running": False, "home": str(hub_home.root)}


def test_a_running_hub_is_described(tooltray: Tooltray, hub_home: Home) -> None:
    broken = server_snapshot(
        "git", state="error", tool_count=0, problem=problem("It will not start", "exit code 1\nsecond line", "Install it")
    )
    snapshot = hub_snapshot(
        server_snapshot("files"), broken, started_at=time.time() - 7300, notices=[problem("The settings were set aside")]
    )
    with FakeControlHub(hub_home, {"get_snapshot": snapshot}) as hub:
        result = tooltray("status")
    assert result.code == 0
    assert result.out.splitlines() == [
        f"Tooltray 9.9.9 is running (serve, pid {hub.pid}) in {hub_home.root}.",
        "Up for 2 hours; 1 AI client connected.",
        "2 servers, 1 running; 2 tools.",
        "git: error. It will not start: exit code 1 second line. Install it",
        "The settings were set aside",
    ]


def test_a_server_that_waits_for_a_sign_in_says_how_it_gets_it(tooltray: Tooltray, hub_home: Home) -> None:
    far = server_snapshot("my notes", state="needs_sign_in", problem=problem("'my notes' wants you to sign in"))
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(far)}):
        lines = tooltray("status").out.splitlines()
    assert lines[-1] == "my notes: it wants you to sign in. Do so with: tooltray servers sign-in 'my notes'"


def test_servers_that_wait_for_a_project_say_so_and_lazy_ones_are_named(tooltray: Tooltray, hub_home: Home) -> None:
    waiting = server_snapshot("serena", state="waiting", detail="No AI client is connected", is_lazy=True)
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(waiting, server_snapshot("files", is_lazy=True), server_snapshot("git"))}):
        lines = tooltray("status").out.splitlines()
    assert lines[-2:] == ["serena: waits for a project. No AI client is connected", "Tools are loaded on demand: serena, files"]


def test_servers_of_files_that_wait_for_a_yes_are_named_with_the_way_to_it(tooltray: Tooltray, hub_home: Home) -> None:
    states = {"db": "used", "files": "changed", "we\x1b[1mb": "waits", "off": "off"}
    entries = [{"name": name, "server": "", "state": state, "line": 3} for name, state in states.items()]
    files = [
        {"path": "/s/settings.json", "project": "", "entries": entries[:1]},
        {"path": "/p/my shop/.mcp.json", "project": "/p/my shop", "entries": entries},
    ]
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(), "get_server_files": files}):
        line = tooltray("status").out.splitlines()[-1]
    assert line == (
        "2 servers of /p/my shop/.mcp.json can run only after a yes of yours: files, web. Look with: tooltray trust '/p/my shop'"
    )


def test_a_pause_is_told(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(is_paused=True, started_at=time.time())}):
        assert "Paused: tools are listed, calls are refused." in tooltray("status").out


def test_a_running_hub_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(server_snapshot("files"))}) as hub:
        told = tooltray("status", "--json").json
    assert (told["running"], told["pid"], told["kind"], told["execution_id"]) == (True, hub.pid, "serve", "e1")
    assert told["servers"][0]["name"] == "files"


def test_a_server_of_which_not_all_is_offered_says_why(tooltray: Tooltray, hub_home: Home) -> None:
    much = server_snapshot("much", problem=problem("'much' lists too much", "more than 5,000 entries", ""))
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(much, server_snapshot("well"))}):
        out = tooltray("status").out
    assert "much: running. 'much' lists too much: more than 5,000 entries\n" in out
    assert "well" not in out
