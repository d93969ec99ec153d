"""`tooltray doctor`."""

import errno
import os
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, HangUp, hub_snapshot, problem, whole
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.commands.doctor_command import SETTLE_TIMEOUT_S
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.installation import this_installation
from tooltray.foundation.installs.installations import Installations


def diagnosis(server: str, **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "server": server,
        "is_ok": True,
        "transport": "stdio",
        "state": "running",
        "detail": "",
        "target": "npx -y pkg",
        "command": ["npx", "-y", "pkg"],
        "resolved_command": "/usr/bin/npx",
        "searched": ["/usr/bin", "/bin"],
        "path": "/usr/bin:/bin",
        "cwd": "/home/person",
        "exit_code": None,
        "stderr": [],
        "noise_lines": 0,
        "tool_count": 3,
        "problem": None,
        "remedies": [],
        "proxy": "",
        "reached": "",
        "saved_processes": 0,
    }
    return values | changes


def remedy(kind: str, title: str, value: str = "", *, is_automatic: bool = False) -> dict[str, Any]:
    return {"kind": kind, "title": title, "value": value, "is_automatic": is_automatic}


NOT_FOUND = diagnosis(
    "git",
    is_ok=False,
    state="error",
    resolved_command="",
    tool_count=0,
    problem=problem("Command 'npx' not found", "Node.js is not on PATH", "Install Node.js"),
    remedies=[
        remedy("add_to_path", "Look in /opt/node/bin too", "/opt/node/bin", is_automatic=True),
        remedy("install_runtime", "Install Node.js", "https://nodejs.org"),
        remedy("store_secret", "Store the secret git/KEY", "tooltray secrets set git/KEY"),
        remedy("advice", "Set the command's full path"),
        remedy("start", "Try again", is_automatic=True),
    ],
)
CRASHED = diagnosis(
    "db",
    is_ok=False,
    state="error",
    exit_code=3,
    stderr=["\x1b[31mTraceback", "boom"],
    noise_lines=2,
    problem=problem("It ended", "", "Look at its log"),
    remedies=[remedy("advice", "Look at its log")],
)


def well(home: Home, *diagnoses: dict[str, Any], **answers: Any) -> FakeControlHub:
    return FakeControlHub(
        home,
        {"get_snapshot": hub_snapshot(), "get_secret_names": ["a"], "check_secrets": "keyring", "diagnose": list(diagnoses)}
        | {"get_unused_secrets": [], "get_environment": {"variables": [], "changes": []}}
        | answers,
    )


def test_one_server_is_described_with_all_facts(tooltray: Tooltray, hub_home: Home) -> None:
    refused = [{"kind": "host", "name": "b.org:443", "at": 1.0, "is_write": False}]
    confined = {"files": "own", "network": "hosts", "hosts": ["a.org"], "refused": refused}
    with FakeControlHub(hub_home, {"diagnose": [diagnosis("files")], "get_confinement": confined}) as hub:
        result = tooltray("doctor", "files")
    assert result.code == 0
    assert result.out.splitlines() == [
        "ok: files: running, 3 tools",
        "  command:       npx -y pkg",
        "  found at:      /usr/bin/npx",
        "  PATH:          /usr/bin:/bin",
        "  folder:        /home/person",
        "  sandbox:       sandboxed, only these hosts: a.org",
        "                   may not access b.org:443",
    ]
    assert hub.calls[0] == ("diagnose", {"server": "files", "wait_s": SETTLE_TIMEOUT_S})


def test_a_command_that_is_not_found_says_where_was_looked_and_what_to_do(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"diagnose": [NOT_FOUND]}):
        result = tooltray("doctor", "git")
    assert result.code == 1
    assert result.out.splitlines() == [
        "PROBLEM: git: Command 'npx' not found",
        "  command:       npx -y pkg",
        "  not found in:  /usr/bin",
        "                 /bin",
        "  PATH:          /usr/bin:/bin",
        "  folder:        /home/person",
        "  details:       Node.js is not on PATH",
        "  how to fix it: Install Node.js: https://nodejs.org",
        "                 Store the secret git/KEY: tooltray secrets set git/KEY",
        "                 Set the command's full path",
        "                 Look in /opt/node/bin too: tooltray doctor git --fix 1",
        "                 Try again: tooltray doctor git --fix 2",
    ]


def hub_that_fixes(home: Home, **answers: Any) -> FakeControlHub:
    usual = {"diagnose": [NOT_FOUND], "apply_remedy": "'git' looks in /opt/node/bin too", "start_server": None, "get_tools": [{}] * 3}
    return FakeControlHub(home, usual | answers)


def test_a_fix_is_carried_out_by_its_number_and_its_outcome_is_waited_for(tooltray: Tooltray, hub_home: Home) -> None:
    with hub_that_fixes(hub_home) as hub:
        result = tooltray("doctor", "git", "--fix", "1")
    assert (result.code, result.out) == (0, "'git' looks in /opt/node/bin too.\ngit is running and has 3 tools.\n")
    assert hub.params_of("apply_remedy") == {"server": "git", "kind": "add_to_path", "value": "/opt/node/bin"}
    assert hub.methods()[-2:] == ["start_server", "get_tools"]


def test_a_fix_that_does_not_help_says_what_is_wrong_now(tooltray: Tooltray, hub_home: Home) -> None:
    def still_fails(**params: Any) -> None:
        raise TooltrayError("server 'git' is not running: it ended", "exit code 1", "See its log")

    with hub_that_fixes(hub_home, start_server=still_fails):
        result = tooltray("doctor", "git", "--fix", "1")
        in_json = tooltray("doctor", "git", "--fix", "1", "--json")
    assert (result.code, result.out) == (1, "'git' looks in /opt/node/bin too.\n")
    assert result.err == "tooltray: server 'git' is not running: it ended: exit code 1. See its log\n"
    assert (in_json.code, in_json.json["done"], in_json.error["hint"]) == (1, "'git' looks in /opt/node/bin too", "See its log")


def test_a_fix_says_as_json_what_was_done(tooltray: Tooltray, hub_home: Home) -> None:
    with hub_that_fixes(hub_home, apply_remedy="done"):
        found = tooltray("doctor", "git", "--fix", "2", "--json").json
    assert found == {"done": "done", "remedy": remedy("start", "Try again", is_automatic=True)}


def test_a_fix_that_was_not_offered_is_refused(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"diagnose": [NOT_FOUND]}):
        result = tooltray("doctor", "git", "--fix", "3")
    assert (result.code, "Fix 3 not found for 'git'" in result.err) == (1, True)


@pytest.mark.parametrize("words", [("--fix", "1"), ("git", "--fix", "0"), ("git", "--fix", "x")])
def test_a_fix_needs_a_server_and_a_number(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    assert tooltray("doctor", *words).code == 2


def test_the_way_to_a_server_elsewhere_is_shown(tooltray: Tooltray, hub_home: Home) -> None:
    elsewhere = diagnosis(
        "far",
        transport="http",
        target="https://far.example/mcp",
        command=[],
        resolved_command="",
        searched=[],
        path="",
        cwd="",
        proxy="http://p:1",
        reached="p answers",
    )
    with FakeControlHub(hub_home, {"diagnose": [elsewhere]}):
        lines = tooltray("doctor", "far").out.splitlines()
    assert lines[1:] == ["  URL:           https://far.example/mcp", "  proxy:         http://p:1", "  way to it:     p answers"]


def test_a_server_that_waits_for_its_first_use_is_described_in_words(tooltray: Tooltray, hub_home: Home) -> None:
    with well(hub_home, diagnosis("files", state="on_demand")):
        assert "ok: files: sleeping, 3 tools\n" in tooltray("doctor").out


def test_a_server_that_was_never_listed_is_not_said_to_have_no_tools(tooltray: Tooltray, hub_home: Home) -> None:
    with well(hub_home, diagnosis("files", tool_count=0, is_listed=False)):
        assert "ok: files: running, its tools are not listed yet\n" in tooltray("doctor").out


@pytest.mark.parametrize(
    ("state", "detail", "said"),
    [
        ("installing", "", "not yet: files: installing"),
        ("starting", "Slow: no answer for 45 s", "not yet: files: starting. Slow: no answer for 45 s"),
        ("restarting", "Its session has expired", "not yet: files: restarting. Its session has expired"),
    ],
)
def test_a_server_on_its_way_is_neither_well_nor_in_trouble(tooltray: Tooltray, hub_home: Home, state: str, detail: str, said: str) -> None:
    with well(hub_home, diagnosis("files", state=state, detail=detail, tool_count=0)):
        result = tooltray("doctor")
    assert (result.code, result.out.splitlines()[-1]) == (0, said)


def test_a_server_that_is_tried_again_is_in_trouble_and_says_when(tooltray: Tooltray, hub_home: Home) -> None:
    trying = CRASHED | {"state": "restarting", "detail": "Starts again in 2 s"}
    with FakeControlHub(hub_home, {"diagnose": [trying]}):
        result = tooltray("doctor", "db")
    assert result.code == 1
    assert result.out.splitlines()[:2] == ["PROBLEM: db: It ended", "  now:           restarting. Starts again in 2 s"]


@pytest.mark.parametrize("changes", [{}, {"transport": "http"}, {"state": "starting"}])
def test_an_older_hub_s_diagnosis_is_shown_as_far_as_it_goes(tooltray: Tooltray, hub_home: Home, changes: dict[str, Any]) -> None:
    older = {key: value for key, value in diagnosis("files", **changes).items() if key not in ("detail", "target", "saved_processes")}
    with FakeControlHub(hub_home, {"diagnose": [older]}):
        assert tooltray("doctor", "files").code == 0


@pytest.mark.parametrize(("saved", "words"), [(1, "1 process"), (2, "2 processes")])
def test_a_server_without_its_launcher_says_so_beside_where_that_is(tooltray: Tooltray, hub_home: Home, saved: int, words: str) -> None:
    with FakeControlHub(hub_home, {"diagnose": [diagnosis("files", saved_processes=saved)]}):
        lines = tooltray("doctor", "files").out.splitlines()
    assert lines[2] == f"  found at:      /usr/bin/npx (not run: the server is started directly, which saves {words})"


def test_a_server_that_crashed_shows_its_end_and_its_last_words(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"diagnose": [CRASHED]}):
        lines = tooltray("doctor", "db").out.splitlines()
    assert lines[5:] == [
        "  exit code:     3",
        "  noise:         2 lines on its standard output that no MCP client can read",
        "  last stderr:   Traceback",
        "                 boom",
        "  how to fix it: Look at its log",
    ]


def test_what_was_not_looked_for_is_not_called_missing(tooltray: Tooltray, hub_home: Home) -> None:
    locked = diagnosis(
        "git", is_ok=False, state="error", resolved_command="", searched=[], path="", problem=problem("The secrets are locked")
    )
    with FakeControlHub(hub_home, {"diagnose": [locked]}):
        lines = tooltray("doctor", "git").out.splitlines()
    assert lines == ["PROBLEM: git: The secrets are locked", "  command:       npx -y pkg", "  folder:        /home/person"]


def test_everything_is_looked_at_and_details_are_shown_where_something_is_wrong(tooltray: Tooltray, hub_home: Home) -> None:
    with well(hub_home, diagnosis("files"), NOT_FOUND) as hub:
        result = tooltray("doctor")
    lines = result.out.splitlines()
    assert result.code == 1
    assert lines[:5] == [
        f"ok: home: {hub_home.root}",
        f"ok: tooltray: version 9.9.9 is running (serve, pid {hub.pid})",
        f"ok: settings: {hub_home.settings}",
        "ok: environment: no certificates, proxies or package indexes of your own",
        "ok: secrets: keyring, 1 secret",
    ]
    assert lines[5].startswith("ok: bridge: /")
    assert lines[6:8] == ["ok: files: running, 3 tools", "PROBLEM: git: Command 'npx' not found"]
    assert lines[8].startswith("  command:")


def test_all_well_is_exit_code_0(tooltray: Tooltray, hub_home: Home) -> None:
    with well(hub_home, diagnosis("files")):
        assert tooltray("doctor").code == 0


def test_a_machine_without_a_keyring_is_no_trouble_while_nothing_is_kept_in_it(tooltray: Tooltray, hub_home: Home) -> None:
    def absent() -> None:
        raise TooltrayError("There is no keyring")

    with well(hub_home, get_secret_names=[], check_secrets=absent):
        result = tooltray("doctor")
    assert result.code == 0
    assert "ok: secrets: none stored, and no place chosen for them (There is no keyring; see `tooltray secrets backend`)" in result.out


def test_secrets_that_nobody_uses_are_named_and_nothing_is_wrong_with_that(tooltray: Tooltray, hub_home: Home) -> None:
    with well(hub_home, get_unused_secrets=["git/KEY", "a b"]):
        result = tooltray("doctor")
    assert result.code == 0
    assert "ok: unused secrets: no server uses git/KEY, a b; to forget them: tooltray secrets remove --unused\n" in result.out


def test_settings_and_secrets_in_trouble_are_told(tooltray: Tooltray, hub_home: Home) -> None:
    def locked() -> None:
        raise TooltrayError("The secrets are locked", "", "Unlock them")

    notices = [problem("settings.json was set aside", "line 3", "Correct it")]
    with well(hub_home, check_secrets=locked, get_snapshot=hub_snapshot(notices=notices)):
        result = tooltray("doctor")
    assert result.code == 1
    assert "PROBLEM: settings: settings.json was set aside\n  details:       line 3\n  how to fix it: Correct it\n" in result.out
    assert "PROBLEM: secrets (keyring): The secrets are locked\n  how to fix it: Unlock them\n" in result.out


def test_a_hub_that_ends_meanwhile_leaves_what_was_found_so_far(tooltray: Tooltray, hub_home: Home) -> None:
    def hang_up(**params: Any) -> None:
        raise HangUp

    with well(hub_home, diagnose=hang_up):
        result = tooltray("doctor")
    assert result.code == 1
    assert "ok: settings:" in result.out
    assert "PROBLEM: tooltray: Tooltray ended" in result.out
    assert "ok: bridge:" in result.out


def test_json_has_every_check_and_every_diagnosis(tooltray: Tooltray, hub_home: Home) -> None:
    with well(hub_home, NOT_FOUND):
        result = tooltray("doctor", "--json")
    assert result.code == 1
    assert [check["name"] for check in result.json["checks"]] == ["home", "tooltray", "settings", "environment", "secrets", "bridge"]
    assert result.json["servers"] == whole("diagnose", [NOT_FOUND])


def test_a_home_that_cannot_be_used_is_the_first_thing_told(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.root.write_text("a file, no folder")
    result = tooltray("doctor")
    assert result.code == 1
    assert result.out.splitlines()[0].startswith("PROBLEM: home: ")
    assert "PROBLEM: tooltray: " in result.out
    assert "ok: bridge: " in result.out


@pytest.mark.parametrize(
    ("refusal", "hint"),
    [
        (errno.EROFS, "Choose another folder with --home or TOOLTRAY_HOME"),
        (errno.ENOSPC, "Free some space on that disk"),
        (errno.EACCES, "Make it writable: chmod u+w "),
    ],
)
def test_a_home_that_takes_no_files_is_reported(
    tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch, refusal: int, hint: str
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(refusal, os.strerror(refusal))

    with well(hub_home), monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        result = tooltray("doctor")
    assert "PROBLEM: home: Tooltray's folder cannot be written to" in result.out
    assert f"{hub_home.root}: {os.strerror(refusal)}" in result.out
    assert hint in result.out
    assert not [name for name in os.listdir(hub_home.root) if name.startswith("tmp")]


def test_the_path_of_ai_clients_is_mended_and_that_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    installations = Installations(hub_home)
    installations.use(this_installation())
    installations.path.unlink()
    mended = f"ok: bridge: {installations.path} ({this_installation().words})\n    it was not as it should be, and has been rewritten\n"
    with well(hub_home):
        assert mended in tooltray("doctor").out
        assert "written anew" not in tooltray("doctor").out
        installations.path.unlink()
        hub_home.bin.rmdir()
        hub_home.bin.symlink_to("/proc/self")  # takes no files
        assert "PROBLEM: bridge: The program that AI clients start cannot be written" in tooltray("doctor").out


def test_a_bridge_that_is_missing_is_told(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with well(hub_home):
        monkeypatch.setattr("sys.executable", "/nowhere/python")
        result = tooltray("doctor")
    assert result.code == 1
    assert "PROBLEM: bridge: The program that AI clients start is missing\n  details:       /nowhere/python\n" in result.out


def test_of_a_server_that_waits_for_a_project_is_said_what_for_and_for_which_it_runs(tooltray: Tooltray, hub_home: Home) -> None:
    with well(
        hub_home, diagnosis("files", state="waiting", tool_count=0, detail="No AI client is connected", projects=["one (/p/one): error"])
    ):
        out = tooltray("doctor", "files").out
    assert "ok: files: waits for a project, its tools are listed once it has run" in out
    assert "waits for a project. No AI client is connected" in out
    assert "one (/p/one): error" in out
    with well(hub_home, diagnosis("files", state="waiting", tool_count=3, remark="{nope} is handed over as it is written")):
        out = tooltray("doctor", "files").out
    assert "ok: files: waits for a project, 3 tools known from its last run" in out
    assert "  remark:        {nope} is handed over as it is written" in out
    with well(hub_home, diagnosis("files", flaws=["tool 'a': title is null, not a string (left out)", "tool 2 is left out"])):
        out = tooltray("doctor", "files").out
    assert "  flaws:         tool 'a': title is null, not a string (left out)\n                 tool 2 is left out" in out


def test_what_servers_get_of_the_persons_environment_is_shown_with_where_it_is_from(tooltray: Tooltray, hub_home: Home) -> None:
    variables = [
        {"name": "NO_PROXY", "value": "a", "origin": "the login shell", "since": "", "is_used": True},
        {"name": "PIP_CERT", "value": "/a.pem", "origin": "remembered", "since": "2026-01-31", "is_used": True},
        {"name": "SSL_CERT_FILE", "value": "/b.pem", "origin": "remembered", "since": "2026-01-31", "is_used": False},
    ]
    changes = [
        {"server": "s", "name": "https_proxy", "was": "", "now": ""},
        {"server": "s", "name": "NO_PROXY", "was": "b", "now": "a"},
    ]
    with well(hub_home, get_environment={"variables": variables, "changes": changes}):
        result = tooltray("doctor")
    assert (
        "ok: environment: NO_PROXY=a (the login shell)\n"
        "    PIP_CERT=/a.pem (remembered since 2026-01-31)\n"
        "    SSL_CERT_FILE=/b.pem (remembered since 2026-01-31, not used: its file is gone)\n"
        "    s last worked with https_proxy; now it is missing\n"
        "    s last worked with NO_PROXY=b; now it is a\n"
        "    to forget what is remembered: tooltray doctor --forget-environment\n"
    ) in result.out


def test_what_is_remembered_is_forgotten_by_a_hub_and_without_one(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"forget_environment": None}) as hub:
        assert tooltray("doctor", "--forget-environment").code == 0
        assert [call[0] for call in hub.calls] == ["forget_environment"]
    hub_home.environment.write_text("{}")
    assert tooltray("doctor", "--forget-environment", "--json").json == {"forgotten": True}
    assert not hub_home.environment.exists()
    assert tooltray("doctor", "s", "--forget-environment").code == 2
