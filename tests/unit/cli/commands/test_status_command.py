"""`tooltray status`."""

import time
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot, problem, server_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray import __version__
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home


def test_no_hub_is_an_answer_with_a_code_of_its_own(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("status")
    assert (result.code, result.err) == (3, "")
    assert "not running" in result.out
    assert not hub_home.root.exists()


def test_no_hub_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("status", "--json").json == {"running": False, "home": str(hub_home.root)}


def test_a_running_hub_is_described(tooltray: Tooltray, hub_home: Home) -> None:
    broken = server_snapshot(
        "git", state="error", tool_count=0, problem=problem("It will not start", "exit code 1\nsecond line", "Install it")
    )
    snapshot = hub_snapshot(
        server_snapshot("files"),
        broken,
        server_snapshot("hub", origin="hub"),
        started_at=time.time() - 7300,
        notices=[problem("The settings were set aside")],
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
    assert lines[-2:] == ["serena: waits for a project. No AI client is connected", "Tools load when used: serena, files"]


LISTING = {"client": "", "title": "", "mode": "", "shown_mode": "search", "reason": "", "summary": "AI clients search the tools."}


def test_what_ai_clients_get_is_said_with_how_to_change_it(tooltray: Tooltray, hub_home: Home) -> None:
    modes = [{**LISTING, "client": "claude-code", "summary": "AI clients get all tools."}, LISTING]
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(server_snapshot("files")), "get_client_modes": modes}):
        line = tooltray("status").out.splitlines()[-1]
    assert line == "AI clients search the tools. Change it with: tooltray clients mode '*' MODE"


def test_nothing_is_said_of_what_ai_clients_get_while_no_tools_are_known(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(), "get_client_modes": [{**LISTING, "summary": ""}]}):
        assert "tooltray clients mode" not in tooltray("status").out


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
        "2 servers of /p/my shop/.mcp.json can run only after your approval: files, web. Look with: tooltray trust '/p/my shop'"
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


def change(kind: str, name: str, detail: str = "", file: str = "/s/settings.json") -> dict[str, Any]:
    return {"kind": kind, "name": name, "file": file, "detail": detail}


CHANGES = [change("add", "a\x1b[1m", "stdio"), change("setting", "publish.naming", "changed"), change("unheard-of", "z")]


def test_without_a_hub_it_says_that_the_files_are_read_anyway(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("reload")
    assert (result.code, result.err, "not running" in result.out) == (0, "", True)
    assert tooltray("reload", "--dry-run", "--json").json == {"running": False, "dry_run": True, "changes": []}
    assert not hub_home.root.exists()


def test_what_was_done_is_listed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reload": CHANGES}):
        result = tooltray("reload")
        lines = [line.split() for line in result.out.splitlines()]
        assert (result.code, lines[1:]) == (
            0,
            [
                ["a", "added", "stdio", "/s/settings.json"],
                ["publish.naming", "set", "changed", "/s/settings.json"],
                ["z", "unheard-of", "/s/settings.json"],
            ],
        )
        assert tooltray("reload", "--json").json == {"running": True, "dry_run": False, "changes": CHANGES}


def test_a_dry_run_says_what_would_be_done(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"preview_reload": CHANGES}):
        assert "would be added" in tooltray("reload", "--dry-run").out
        assert tooltray("reload", "--dry-run", "--json").json["dry_run"] is True


def test_nothing_is_an_answer_too(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reload": []}):
        assert tooltray("reload").out == "No changes.\n"


def test_what_waits_for_a_yes_is_told_how_to_get_one(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reload": [change("wait", name, file="/p/my shop/.mcp.json") for name in "ab"]}):
        result = tooltray("reload")
    assert result.code == 0
    assert result.err == "Review and allow what waits: tooltray trust '/p/my shop'\n"


def test_a_file_that_is_not_understood_is_an_error_for_scripts(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reload": [change("keep", "", "line 3, column 1")]}):
        result = tooltray("reload")
        assert (result.code, "stays as it is" in result.out, "line 3" in result.out) == (1, True, True)
        assert tooltray("reload", "--json").code == 1


def test_nothing_to_stop_is_what_was_wanted(tooltray: Tooltray) -> None:
    result = tooltray("stop")
    assert result.code == 0
    assert "not running" in result.out
    assert tooltray("stop", "--json").json == {"stopped": False, "reason": "not running"}


def test_a_running_hub_is_stopped(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home) as hub:
        result = tooltray("stop")
    assert (result.code, result.out) == (0, f"Tooltray has stopped (pid {hub.pid}).\n")
    assert hub.methods() == ["hub/info", "hub/stop"]


def test_a_stopped_hub_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home) as hub:
        assert tooltray("stop", "--json").json == {"stopped": True, "pid": hub.pid}


def test_a_hub_that_refuses_is_told(tooltray: Tooltray, hub_home: Home) -> None:
    def refuse() -> None:
        raise TooltrayError("It will not", "because", "Ask again")

    with FakeControlHub(hub_home, {"hub/stop": refuse}):
        result = tooltray("stop")
    assert (result.code, result.out, result.err) == (1, "", "tooltray: It will not: because. Ask again\n")


def test_a_newer_version_and_a_withdrawn_one_have_a_line_each(tooltray: Tooltray, hub_home: Home) -> None:
    release = {"withdrawn": "It\x07 loses settings", "version": "1.3.0", "changes": ["Tabs"], "update": "Run: pip install it"}
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(release=release)}):
        lines = tooltray("status").out.splitlines()
    assert lines[-1] == "Tooltray 1.3.0 is available. Run: pip install it"
    assert lines[-2].startswith("Tooltray ")
    assert lines[-2].endswith("was withdrawn: It loses settings")


@pytest.mark.parametrize(("version", "is_older"), [("0.0.1", True), (__version__, False), ("9.9.9", False)])
def test_an_older_hub_of_another_installation_is_said_to_be_older(tooltray: Tooltray, hub_home: Home, version: str, is_older: bool) -> None:
    info = {"pid": 1, "version": version, "kind": "serve", "execution_id": "e1"}
    with FakeControlHub(hub_home, {"hub/info": info, "get_snapshot": hub_snapshot()}):
        assert ("tooltray serve --replace" in tooltray("status").out) is is_older


def test_a_question_that_the_user_has_not_answered_is_not_put_here(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(release={"address": "https://releases.example/releases.json"})}):
        assert "version" not in tooltray("status").out
