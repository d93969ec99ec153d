"""`tooltray servers ...`, with a running hub and on the settings alone."""

import json
import os
import sys
import webbrowser
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, HangUp, hub_snapshot, problem, server_snapshot, whole
from tests.fakes.terminal import Terminal
from tests.unit.cli.conftest import Tooltray

from tooltray.carriers.control.control_client import ControlClient
from tooltray.cli.run import run
from tooltray.cli.server_commands.servers_command import new_lines, progress_shown
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.servers.upstream.stops import StoppedServers


def settings_of(home: Home) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(home.settings.read_bytes())
    return settings


def choose_file_backend(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.settings.parent.mkdir(parents=True, exist_ok=True)
    home.settings.write_text('{"secrets": {"backend": "file"}}')
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")


def refuse(**params: Any) -> None:
    raise TooltrayError("It will not", "because", "Do this")


# listing


def test_no_servers_yet_says_what_to_do_next(tooltray: Tooltray) -> None:
    result = tooltray("servers", "list")
    assert result.code == 0
    assert "tooltray servers add NAME -- COMMAND ARGS..." in result.out


def test_servers_of_other_files_are_listed_with_their_file(tooltray: Tooltray, hub_home: Home) -> None:
    servers = [server_snapshot("git"), server_snapshot("db") | {"file": "/p/shop/.mcp.json"}]
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(*servers)}):
        lines = tooltray("servers", "list").out.splitlines()
    assert [line.split()[-1] for line in lines] == ["PROBLEM", "-", "/p/shop/.mcp.json"]
    assert lines[0].split()[-2] == "FROM"


def test_a_running_hub_lists_states_and_problems_with_server_text_made_harmless(tooltray: Tooltray, hub_home: Home) -> None:
    servers = [
        server_snapshot("檔案") | {"access": {"choice": "trusted", "offered": ["trusted"], "runs": "reads"}},
        server_snapshot("git", state="on_demand", is_default=False, tool_count=0, is_listed=False)
        | {"access": {"choice": None, "offered": ["trusted"], "runs": "nothing"}},
        server_snapshot("old", state="stopped", is_disabled=True, tool_count=1),
        server_snapshot(
            "bad", state="error", tool_count=0, is_listed=False, problem=problem("Not found", "\x1b[31mred\nline", "Install it")
        ),
        server_snapshot("new", state="installing", tool_count=0, detail="downloading"),
        server_snapshot("lsp", state="waiting", tool_count=3, is_deferred=True, is_lazy=True, detail="No AI client is connected"),
    ]
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(*servers)}):
        result = tooltray("servers", "list")
    assert result.out.splitlines() == [
        "NAME  STATE                TRANSPORT  TOOLS     STARTS          ACCESS   PROBLEM",
        "檔案  running              stdio      2         default         trusted",
        "git   sleeping             stdio      ?         when used       custom",
        "old   stopped              stdio      1         disabled        -",
        "bad   error                stdio      ?         default         -        Not found. red line. Install it",
        "new   installing           stdio      0         default         -        downloading",
        "lsp   waits for a project  stdio      3 (lazy)  with a project  -        No AI client is connected",
    ]
    assert result.err == ""


def test_a_server_that_waits_for_approval_is_not_said_to_wait_for_a_project(tooltray: Tooltray, hub_home: Home) -> None:
    servers = [server_snapshot("new", state="waiting") | {"waiting": True}, server_snapshot("git") | {"waiting": True}]
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(*servers)}):
        lines = tooltray("servers", "list").out.splitlines()
    assert "waits for approval" in lines[1]
    assert "running" in lines[2]


def test_a_running_hub_lists_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(server_snapshot("files"))}):
        assert tooltray("servers", "list", "--json").json == whole("get_snapshot", hub_snapshot(server_snapshot("files")))["servers"]


def test_without_a_hub_the_settings_are_listed_and_that_is_said(tooltray: Tooltray) -> None:
    tooltray("servers", "add", "one", "--", "run", "it")
    tooltray("servers", "add", "two", "--on-demand", "--", "run")
    result = tooltray("servers", "list")
    assert result.out.splitlines()[1:] == [
        "one   stopped   stdio      ?      default    trusted",
        "two   sleeping  stdio      ?      when used  trusted",
    ]
    assert result.err == "Tooltray is not running; this is from the settings.\n"


@pytest.mark.parametrize("words", [("add", "s", "--replace", "--on-demand", "--", "other"), ("remove", "s")])
def test_without_a_hub_too_a_stopped_server_is_listed_as_one_until_it_is_added_anew(
    tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]
) -> None:
    tooltray("servers", "add", "s", "--on-demand", "--", "command")
    stopped = StoppedServers(hub_home.stopped)
    stopped.add("s", at=1.0)
    stopped.save()
    assert "stopped" in tooltray("servers", "list").out
    assert tooltray("servers", *words).code == 0
    assert StoppedServers(hub_home.stopped).of_settings() == []
    tooltray("servers", "add", "s", "--on-demand", "--", "command")
    assert "stopped" not in tooltray("servers", "list").out


def test_without_a_hub_too_a_server_is_lazy_or_waits_for_a_project(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "lsp", "--deferred", "--template", "-p {project_path}", "--", "run", "it")
    document = json.loads(hub_home.settings.read_bytes())
    hub_home.settings.write_text(json.dumps({**document, "publish": {"lazyLoad": True}}))
    assert tooltray("servers", "list").out.splitlines()[1] == "lsp   waits for a project  stdio      ? (lazy)  with a project  trusted"
    (server,) = tooltray("servers", "list", "--json").json
    assert (server["is_lazy"], server["is_deferred"], server["startup_template"]) == (True, True, ["-p", "{project_path}"])
    assert server["target"] == "run -p '{project_path}'"


def test_a_problem_that_is_tried_again_says_when(tooltray: Tooltray, hub_home: Home) -> None:
    far = server_snapshot("far", state="error", tool_count=0, transport="http", problem=problem("Gone", "", ""), detail="Retrying in 60 s")
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(far)}):
        assert tooltray("servers", "list").out.splitlines()[1].endswith("Gone. Retrying in 60 s")


# adding what is reached by a URL


def test_a_url_is_added_with_its_headers(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("servers", "add", "far", "--url", "https://example.org/mcp", "--header", "X-Team: a: b", "--isolation", "session")
    assert (result.code, result.err) == (0, "")
    entry = {
        "type": "http",
        "url": "https://example.org/mcp",
        "headers": {"X-Team": "a: b"},
        "isolation": "session",
        "autoApprove": ["read"],
    }
    assert settings_of(hub_home)["mcpServers"]["far"] == entry
    listed = tooltray("servers", "list", "--json").json[0]
    assert (listed["transport"], listed["isolation"]) == ("http", "session")


def test_an_sse_server_is_added_as_one(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("servers", "add", "old", "--url", "https://me:pw@example.org/sse?key=k", "--sse", "--plain").code == 0
    assert settings_of(hub_home)["mcpServers"]["old"]["type"] == "sse"
    listed = tooltray("servers", "list", "--json").json[0]
    assert (listed["transport"], listed["target"]) == ("sse", "https://example.org/sse")


def test_secret_headers_are_asked_for_and_the_entry_refers_to_them(
    tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_file_backend(hub_home, monkeypatch)
    options = ["--header-secret", "X-Api-Key", "--bearer-secret", "--secret-stdin"]
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    result = tooltray("servers", "add", "far", "--url", "https://example.org/mcp", *options, stdin="the key\nthe token\n")
    assert (result.code, result.err) == (0, "")
    headers = {"X-Api-Key": "${secret:far/X-Api-Key}", "Authorization": "Bearer ${secret:far/Authorization}"}
    assert settings_of(hub_home)["mcpServers"]["far"]["headers"] == headers
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    assert tooltray("secrets", "list", "--json").json == ["far/Authorization", "far/X-Api-Key"]
    assert b"the token" not in hub_home.settings.read_bytes()


def test_a_key_typed_as_a_plain_header_is_pointed_out_and_not_repeated(tooltray: Tooltray) -> None:
    result = tooltray("servers", "add", "far", "--url", "https://example.org/mcp", "--plain", "--header", "Authorization: Bearer abc")
    assert "--header-secret Authorization" in result.err
    assert "abc" not in result.out + result.err
    quiet = tooltray("servers", "add", "near", "--url", "https://example.org/mcp", "--header", "Authorization: Bearer ${TOKEN}")
    assert quiet.err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--url", "https://a.b", "--", "x"], "not both"),
        (["--project", ".", "--on-demand", "--", "x"], "--on-demand cannot be used with --project"),
        (["--project", ".", "--deferred", "--", "x"], "--deferred cannot be used with --project"),
        (["--project", ".", "--replace", "--", "x"], "--replace cannot be used with --project"),
        (["--sse", "--", "x"], "--sse goes with --url"),
        (["--header", "A: b", "--", "x"], "--header goes with --url"),
        (["--bearer-secret", "--", "x"], "--bearer-secret goes with --url"),
        (["--url", "https://a.b", "--env", "A=b"], "--env goes with a command"),
        (["--url", "https://a.b", "--cwd", "."], "--cwd goes with a command"),
        (["--url", "example.org"], "begins with https://"),
        (["--url", "https://a b"], "begins with https://"),
        (["--url", "https://a.b", "--header", "no colon"], "'NAME: VALUE' expected"),
        (["--url", "https://a.b", "--header", "A: b\nc: d"], "'NAME: VALUE' expected"),
        (["--url", "https://a.b", "--header-secret", "A: b"], "its value is asked for"),
        (["--url", "https://a.b", "--header", "authorization: x", "--bearer-secret"], "authorization is given twice"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tooltray: Tooltray, hub_home: Home, words: list[str], said: str) -> None:
    result = tooltray("servers", "add", "x", *words)
    assert result.code == 2
    assert said in result.err
    assert not hub_home.settings.exists()


# adding without a hub


def test_a_server_is_added_to_the_settings_with_everything_that_was_given(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    options = ["--env", "A=1", "--env", "B=x=y", "--cwd", str(tmp_path), "--icon", "🗂", "--description", "my files"]
    result = tooltray("servers", "add", "files", *options, "--", "npx", "-y", "pkg", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "Added files; it starts with Tooltray.",
        "Read-only tools run without asking; writes ask first (autoApprove: read).",
    ]
    settings = settings_of(hub_home)
    assert settings["mcpServers"]["files"] == {
        "command": "npx",
        "args": ["-y", "pkg", "--json"],
        "env": {"A": "1", "B": "x=y"},
        "cwd": str(tmp_path),
        "icons": "🗂",
        "descriptions": "my files",
        "autoApprove": ["read"],
    }
    assert settings["defaultServers"] == ["files"]


@pytest.mark.parametrize(
    ("options", "rules", "said"),
    [
        ([], ["read"], "Read-only tools run without asking; writes ask first (autoApprove: read)."),
        (["--ask"], ["read"], "Read-only tools run without asking; writes ask first (autoApprove: read)."),
        (["--approve", "read", "--approve", "get_it"], ["read", "get_it"], "all others ask first (autoApprove: read, get_it)."),
        (["--approve", "all"], ["all"], "All its tools run without asking (autoApprove: all)."),
    ],
)
def test_what_goes_through_unasked_is_chosen_and_said_and_stays_when_the_server_is_replaced(
    person: Tooltray, hub_home: Home, options: list[str], rules: list[str], said: str
) -> None:
    for words in (options, ["--replace"]):
        result = person("servers", "add", "files", *words, "--", "npx")
        assert result.out.splitlines()[1].endswith(said)
        assert settings_of(hub_home)["mcpServers"]["files"]["autoApprove"] == rules


def test_a_server_of_which_nothing_goes_through_stays_so_when_it_is_replaced(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "files", "--", "npx")
    tooltray("servers", "approve", "files", "--nothing")
    assert "Every call asks first" in tooltray("servers", "add", "files", "--replace", "--", "npx").out
    assert settings_of(hub_home)["mcpServers"]["files"]["autoApprove"] == []


def test_a_rule_that_means_nothing_is_refused_before_anything_is_stored(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("servers", "add", "files", "--approve", "names:", "--", "npx")
    assert (result.code, "is not followed by the name of a tool" in result.err) == (1, True)
    assert not hub_home.settings.exists()
    assert tooltray("servers", "add", "files", "--ask", "--approve", "read", "--", "npx").code == 2


def test_a_server_on_demand_does_not_start_with_the_hub(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("servers", "add", "files", "--on-demand", "--", "npx")
    assert "it starts when it is first used" in result.out
    assert settings_of(hub_home).get("defaultServers", []) == []


def test_a_server_that_is_removed_without_a_hub_leaves_the_names_of_its_tools_to_others(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "files", "--", "files")
    PublishedNames(hub_home.names).publish([("files", "read")])
    assert tooltray("servers", "remove", "files").code == 0
    assert PublishedNames(hub_home.names).target("read") is None


def test_a_server_that_is_there_already_under_another_name_is_pointed_out(tooltray: Tooltray) -> None:
    tooltray("servers", "add", "files", "--", "files", "a")
    again = tooltray("servers", "add", "more", "--on-demand", "--", "files", "a")
    assert (again.code, again.err) == (
        0,
        "files runs the same command, so these tools are offered twice. Remove one: tooltray servers remove more\n",
    )
    assert tooltray("servers", "add", "others", "--", "files", "b").err == ""
    assert tooltray("servers", "add", "files", "--replace", "--", "files", "a").err.startswith("more runs the same command")


def test_adding_in_json_says_what_was_stored(tooltray: Tooltray) -> None:
    assert tooltray("servers", "add", "files", "--json", "--", "npx").json == {
        "server": "files",
        "default": True,
        "autoApprove": ["read"],
        "secrets": [],
        "started": False,
        "tools": None,
        "needs_sign_in": False,
    }


def test_paths_of_here_become_absolute(tooltray: Tooltray, hub_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tooltray("servers", "add", "a", "--", "./run", "x/y")
    tooltray("servers", "add", "b", "--cwd", "sub", "--", "bin/run")
    tooltray("servers", "add", "c", "--cwd", "~/x", "--", "~/run")
    servers = settings_of(hub_home)["mcpServers"]
    assert (servers["a"]["command"], servers["a"]["args"]) == (str(tmp_path / "run"), ["x/y"])
    assert (servers["b"]["command"], servers["b"]["cwd"]) == (str(tmp_path / "sub/bin/run"), str(tmp_path / "sub"))
    assert (servers["c"]["command"], servers["c"]["cwd"]) == ("~/run", "~/x")


def test_a_script_of_this_folder_is_pointed_out(tooltray: Tooltray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").touch()
    assert "server.py is in this folder" in tooltray("servers", "add", "a", "--", "python", "server.py").err
    assert tooltray("servers", "add", "b", "--cwd", ".", "--", "python", "server.py").err == ""


def test_a_name_that_is_taken_is_refused_and_nothing_is_changed(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "files", "--", "first")
    result = tooltray("servers", "add", "files", "--json", "--", "second")
    assert result.code == 1
    assert result.error["title"] == "A server called files already exists"
    assert settings_of(hub_home)["mcpServers"]["files"]["command"] == "first"


def test_replacing_changes_the_entry_and_when_it_starts(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "files", "--", "first")
    assert tooltray("servers", "add", "files", "--replace", "--on-demand", "--", "second").code == 0
    assert settings_of(hub_home)["mcpServers"]["files"]["command"] == "second"
    assert settings_of(hub_home)["defaultServers"] == []
    assert tooltray("servers", "add", "files", "--replace", "--", "third").code == 0
    assert settings_of(hub_home)["defaultServers"] == ["files"]


def test_a_name_that_cannot_be_is_refused(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("servers", "add", "hub", "--", "x").code == 1
    assert tooltray("servers", "add", "a/b", "--", "x").code == 1
    assert not hub_home.settings.exists()


# secrets of a new server


def test_a_key_that_is_typed_is_stored_as_a_secret(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(
        hub_home, {"get_mcp_servers": {}, "get_secret_names": [], "set_secret": None, "add_mcp_server": None, "get_trust_requests": []}
    ) as hub:
        options = ("--env", "API_KEY=hunter2", "--env", "MODE=fast", "--env", "TOKEN=${secret:t}", "--on-demand")
        result = tooltray("servers", "add", "git", *options, "--json", "--", "run", "--password", "hunter3")
        tooltray("servers", "add", "far", "--url", "https://a.example/", "--header", "Authorization: Bearer sk-12345678", "--on-demand")
    assert (result.code, result.json["secrets"]) == (0, ["git/password", "git/API_KEY"])
    added = [params["config"] for method, params in hub.calls if method == "add_mcp_server"]
    assert added[0]["env"] == {"API_KEY": "${secret:git/API_KEY}", "MODE": "fast", "TOKEN": "${secret:t}"}
    assert added[0]["args"] == ["--password", "${secret:git/password}"]
    assert added[1]["headers"] == {"Authorization": "Bearer ${secret:far/Authorization}"}
    stored = {name: value for method, params in hub.calls if method == "add_mcp_server" for name, value in params["secrets"].items()}
    assert stored == {"git/API_KEY": "hunter2", "git/password": "hunter3", "far/Authorization": "sk-12345678"}


def test_where_a_key_is_kept_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_mcp_servers": {}, "get_secret_names": [], "set_secret": None, "add_mcp_server": None}):
        result = tooltray("servers", "add", "git", "--env", "API_KEY=hunter2", "--on-demand", "--", "run")
    assert result.err == (
        "git/API_KEY: stored with your secrets, not in the settings (--plain writes them there). Your shell's history contains them.\n"
    )


@pytest.mark.parametrize("option", [(), ("--plain",)])
def test_an_argument_that_looks_like_a_key_is_warned_of_with_what_to_type_instead(
    tooltray: Tooltray, hub_home: Home, option: tuple[str, ...]
) -> None:
    with FakeControlHub(hub_home, {"get_mcp_servers": {}, "get_secret_names": [], "add_mcp_server": None}):
        added = tooltray("servers", "add", "git", "--on-demand", *option, "--", "run", "--api-key", "k-1234", "--mode", "fast")
        plain = tooltray("servers", "add", "time", "--on-demand", "--", "run", "--mode", "fast")
    assert added.code == 0
    assert "run --api-key *** --mode fast: *** looks like a password or key" in added.err
    assert "tooltray servers set git --secret VARIABLE --arg ..." in added.err
    assert "k-1234" not in added.err
    assert plain.err == ""


def test_where_secrets_cannot_be_kept_a_key_is_not_written_without_a_choice(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("servers", "add", "git", "--env", "API_KEY=hunter2", "--", "run")
    assert (result.code, hub_home.settings.exists()) == (1, False)
    assert "; --plain writes apparent secrets into the settings" in result.err
    assert "--plain" not in tooltray("servers", "add", "git", "--secret", "A", "--", "run", stdin="x\n").err


def test_plain_text_is_for_the_user_to_choose(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("servers", "add", "git", "--plain", "--env", "API_KEY=hunter2", "--", "run")
    assert (result.code, result.err) == (0, "")
    assert settings_of(hub_home)["mcpServers"]["git"]["env"]["API_KEY"] == "hunter2"


def test_a_secret_is_stored_under_the_servers_name_and_the_entry_refers_to_it(
    tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_file_backend(hub_home, monkeypatch)
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    result = tooltray("servers", "add", "git", "--secret", "API_KEY", "--secret", "B", "--env", "C=1", "--", "run", stdin="sk-1\r\nsk-2\n")
    assert (result.code, result.err) == (0, "")
    assert settings_of(hub_home)["mcpServers"]["git"]["env"] == {
        "C": "1",
        "API_KEY": "${secret:git/API_KEY}",
        "B": "${secret:git/B}",
    }
    assert "sk-1" not in hub_home.settings.read_text()
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    assert tooltray("secrets", "list", "--json").json == ["git/API_KEY", "git/B"]


def test_a_missing_value_stops_before_anything_is_stored(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_mcp_servers": {}}):
        result = tooltray("servers", "add", "git", "--secret", "A", "--secret", "B", "--", "run", stdin="only one\n")
    assert result.code == 1
    assert "No value for the secret git/B" in result.err
    assert not hub_home.settings.exists()


def test_secrets_of_a_server_that_could_not_be_added_are_forgotten(
    tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_file_backend(hub_home, monkeypatch)
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    assert tooltray("servers", "add", "hub", "--secret", "A", "--", "run", stdin="v\n").code == 1
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    assert tooltray("secrets", "list", "--json").json == []


def test_a_script_adds_no_server_that_runs_everything(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("servers", "add", "files", "--approve", "all", "--", "npx")
    assert (result.code, "needs a person at a terminal" in result.err) == (1, True)
    assert not hub_home.settings.exists()


# adding with a hub


def hub_that_adds(home: Home, **answers: Any) -> FakeControlHub:
    listing = {"client": "", "title": "", "mode": "", "shown_mode": "everything", "reason": "", "summary": "AI clients get all tools."}
    usual = {"get_mcp_servers": {}, "add_mcp_server": None, "start_server": None, "get_tools": [{}, {}, {}], "get_client_modes": [listing]}
    return FakeControlHub(home, usual | answers)


def test_a_running_hub_starts_the_new_server_and_its_tools_are_counted(tooltray: Tooltray, hub_home: Home) -> None:
    with hub_that_adds(hub_home) as hub:
        result = tooltray("servers", "add", "files", "--", "npx", "pkg")
    assert result.code == 0
    assert result.out.splitlines()[0] == "Added files; it is running and has 3 tools."
    assert result.out.splitlines()[2] == "AI clients get all tools. Change it with: tooltray clients mode '*' MODE"
    assert hub.params_of("add_mcp_server") == {
        "name": "files",
        "config": {"command": "npx", "args": ["pkg"]},
        "is_default": True,
        "secrets": {},
    }
    assert hub.methods()[-3:] == ["start_server", "get_tools", "get_client_modes"]


def test_a_running_hub_is_not_told_to_start_what_starts_on_demand(tooltray: Tooltray, hub_home: Home) -> None:
    with hub_that_adds(hub_home) as hub:
        assert tooltray("servers", "add", "files", "--on-demand", "--", "npx").code == 0
    assert "start_server" not in hub.methods()
    assert hub.params_of("add_mcp_server")["is_default"] is False


def test_a_server_is_added_to_a_projects_own_file_under_the_name_that_is_free(
    tooltray: Tooltray, hub_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "serve.py").write_text("")
    monkeypatch.chdir(shop)
    with hub_that_adds(hub_home, add_mcp_server="web-shop") as hub:
        result = tooltray("servers", "add", "web", "--project", ".", "--", "./serve.py", "serve.py")
        in_json = tooltray("servers", "add", "web", "--project", str(shop), "--ask", "--json", "--", "npx").json
    assert result.code == 0
    assert result.out.splitlines()[0] == f"Added web-shop to {shop}/.mcp.json; it is running and has 3 tools."
    assert result.err == ""
    first, second = (params for method, params in hub.calls if method == "add_mcp_server")
    assert first == {"name": "web", "config": {"command": "./serve.py", "args": ["serve.py"]}, "project": str(shop), "secrets": {}}
    assert second["config"] == {"command": "npx", "args": [], "autoApprove": ["read"]}
    assert hub.params_of("start_server") == {"name": "web-shop"}
    assert (in_json["server"], in_json["project"], in_json["tools"]) == ("web-shop", str(shop), 3)


def test_a_server_that_is_added_and_does_not_start_is_an_error_that_says_both(tooltray: Tooltray, hub_home: Home) -> None:
    with hub_that_adds(hub_home, start_server=refuse):
        result = tooltray("servers", "add", "files", "--", "npx")
        in_json = tooltray("servers", "add", "files", "--json", "--", "npx")
    assert result.code == 1
    assert result.out.startswith("Added files, which failed to start.\n")
    assert result.err == "tooltray: It will not: because. Do this\n"
    assert (in_json.json["started"], in_json.json["tools"], in_json.error["hint"]) == (False, None, "Do this")


def test_a_key_that_a_well_known_server_usually_needs_is_asked_for(tooltray: Tooltray, hub_home: Home) -> None:
    command = ("--", "npx", "-y", "@modelcontextprotocol/server-github")
    with hub_that_adds(hub_home):
        without = tooltray("servers", "add", "gh", *command)
        with_one = tooltray("servers", "add", "gh2", "--env", "GITHUB_PERSONAL_ACCESS_TOKEN=${HUB_TOKEN}", *command)
    note = "It usually needs GITHUB_PERSONAL_ACCESS_TOKEN. Add it: tooltray servers set gh --secret GITHUB_PERSONAL_ACCESS_TOKEN\n"
    assert (without.err, with_one.err) == (note, "")


def test_the_log_of_a_server_that_does_not_start_is_pointed_to_if_it_wrote_anything(tooltray: Tooltray, hub_home: Home) -> None:
    with hub_that_adds(hub_home, start_server=refuse, get_server_log=["boom"]) as hub:
        written = tooltray("servers", "add", "my files", "--", "npx")
        hub.answers["get_server_log"] = []
        silent = tooltray("servers", "add", "other", "--", "npx")
    assert written.err.endswith("Do this\nIts output: tooltray servers logs 'my files'\n")
    assert silent.err.endswith("Do this\n")


def test_replacing_through_a_hub_updates_the_entry(tooltray: Tooltray, hub_home: Home) -> None:
    answers = {
        "get_mcp_servers": {"files": {}},
        "update_mcp_server": None,
        "add_mcp_default_server": None,
        "remove_mcp_default_server": None,
    }
    with hub_that_adds(hub_home, **answers) as hub:
        assert tooltray("servers", "add", "files", "--", "npx").code == 1
        assert tooltray("servers", "add", "files", "--replace", "--", "npx").code == 0
        assert tooltray("servers", "add", "files", "--replace", "--on-demand", "--", "npx").code == 0
    assert "add_mcp_server" not in hub.methods()
    assert [method for method in hub.methods() if method.endswith("default_server")] == [
        "add_mcp_default_server",
        "remove_mcp_default_server",
    ]


# removing


def removal(*secrets: str, **fields: Any) -> dict[str, Any]:
    return {"server": "git", "secrets": list(secrets), "sign_in": "", "shared": [], "problem": None} | fields


def hub_that_removes(home: Home, said: dict[str, Any]) -> FakeControlHub:
    return FakeControlHub(home, {"preview_removal": said, "remove_mcp_server": said})


SHARED = [{"name": "team", "users": ["wiki"]}, {"name": "door", "users": ["a", "b"]}]


def test_without_a_hub_a_removed_servers_own_secret_goes_and_a_shared_one_stays(
    tooltray: Tooltray, person: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_file_backend(hub_home, monkeypatch)

    def typed(*words: str, stdin: str = "") -> list[str]:
        monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
        return tooltray(*words, stdin=stdin).out.splitlines()

    typed("servers", "add", "git", "--secret", "KEY", "--env", "A=${secret:team}", "--", "run", stdin="v\n")
    sharing = ("servers", "add", "wiki", "--env", "A=${secret:team}", "--", "run")
    assert "Giving a server secrets of others needs a person" in tooltray(*sharing).err
    assert person(*sharing).code == 0
    typed("secrets", "set", "team", stdin="v")
    assert typed("servers", "remove", "git") == [
        "Removed git.",
        "Its secret git/KEY was deleted, too.",
        "Secret team stays: wiki still uses it.",
    ]
    assert json.loads("".join(typed("secrets", "list", "--json"))) == ["team"]
    assert typed("servers", "remove", "wiki", "--keep-secrets") == ["Removed wiki."]
    assert typed("secrets", "remove", "--unused", "--yes") == ["Not used by any known server:", "  team", "Deleted 1 secret."]
    assert typed("secrets", "remove", "--unused") == ["No unused secrets found."]
    typed("secrets", "set", "project/KEY", stdin="v")
    hub_home.trust.write_text("{")  # nobody knows any more which projects there are
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    said = tooltray("secrets", "remove", "--unused", "--yes")
    assert said.out == "No unused secrets found.\n"
    assert said.err.count("none of it counts") == 1
    assert json.loads("".join(typed("secrets", "list", "--json"))) == ["project/KEY"]
    assert settings_of(hub_home)["mcpServers"] == {}
    assert settings_of(hub_home)["defaultServers"] == []


def test_without_a_hub_a_removal_ends_the_sign_in_and_knows_the_projects(
    tooltray: Tooltray, hub_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_file_backend(hub_home, monkeypatch)

    def typed(*words: str, stdin: str = "") -> str:
        monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
        done = tooltray(*words, stdin=stdin)
        assert done.code == 0, done.err
        return done.out

    typed("servers", "add", "far", "--url", "https://far.example/mcp", "--header", "A: ${secret:team}")
    for name in ("oauth/far", "team"):
        typed("secrets", "set", name, stdin="v")
    hub_home.sign_ins.write_text('{"far": "binding"}')
    entries = {"db": {"server": "db-shop", "digest": "", "trustedAt": 0}}
    hub_home.trust.write_text(json.dumps({"version": 1, "projects": {str(tmp_path): entries}}))
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"db": {"command": "x", "args": ["${secret:team}"]}}}')
    assert typed("servers", "remove", "far") == "Removed far.\nIts sign-in has ended.\nSecret team stays: db-shop still uses it.\n"
    assert typed("secrets", "list").splitlines()[2].split() == ["team", "yes", "db-shop"]
    assert json.loads(hub_home.sign_ins.read_text()) == {}


def test_what_could_not_be_removed_among_the_secrets_is_told(tooltray: Tooltray, hub_home: Home) -> None:
    locked = problem("The secrets are locked", "no passphrase", "Unlock them")
    with hub_that_removes(hub_home, removal("git/KEY", problem=locked)):
        assert tooltray("servers", "remove", "git").out.splitlines() == [
            "Removed git.",
            "Its secret git/KEY may still be stored",
            "Its secrets could not be deleted (The secrets are locked: no passphrase). To delete them later: "
            "tooltray secrets remove --unused",
        ]
        found = tooltray("servers", "remove", "git", "--json").json
    assert (found["secrets"], found["problem"]) == ([], {**locked, "code": ""})


def test_removing_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    with hub_that_removes(hub_home, removal("git/KEY", shared=SHARED)) as hub:
        assert tooltray("servers", "remove", "git", "--json").json == {
            "server": "git",
            "removed": True,
            "secrets": ["git/KEY"],
            "kept": SHARED,
            "problem": None,
        }
        assert hub.params_of("remove_mcp_server") == {"name": "git"}
        assert tooltray("servers", "remove", "git", "--keep-secrets", "--json").json["secrets"] == []
    assert hub.params_of("remove_mcp_server") == {"name": "git", "keep_secrets": True}


@pytest.mark.parametrize(("answer", "removes"), [("y", True), ("n", False)])
def test_at_a_terminal_a_person_is_asked_before_secrets_go(
    hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: str, removes: bool
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", lambda question: (asked.append(question), answer)[1])
    with hub_that_removes(hub_home, removal("git/KEY", sign_in="oauth/git", shared=SHARED)) as hub:
        assert run(["servers", "remove", "git"], open_desktop=lambda home, **_: 99) == 0
    assert asked == [
        "Remove git? Its secret git/KEY was deleted, too. Its sign-in ends. Secret team stays: wiki still "
        "uses it. Secret door stays: a, b still use it. [y/N] "
    ]
    assert ("remove_mcp_server" in hub.methods()) is removes
    assert capsys.readouterr().out.startswith("Removed git." if removes else "Nothing was changed.")


def test_at_a_terminal_nobody_is_asked_where_no_secret_is_at_stake(hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal())
    for said, words in ((removal(), ()), (removal("git/KEY"), ("--yes",)), (removal("git/KEY"), ("--keep-secrets",))):
        with hub_that_removes(hub_home, said) as hub:
            assert run(["servers", "remove", "git", *words], open_desktop=lambda home, **_: 99) == 0
        assert "remove_mcp_server" in hub.methods()


def test_a_server_that_is_not_there_cannot_be_removed(tooltray: Tooltray) -> None:
    result = tooltray("servers", "remove", "nothing")
    assert result.code == 1
    assert "nothing" in result.err


# starting and stopping


@pytest.mark.parametrize(
    ("command", "verb", "text"),
    [
        ("start", "start_server", "files is running and has 2 tools.\n"),
        ("restart", "restart_server", "files is running again and has 2 tools.\n"),
        ("stop", "stop_server", "files has stopped.\n"),
    ],
)
def test_a_server_is_started_and_stopped(tooltray: Tooltray, hub_home: Home, command: str, verb: str, text: str) -> None:
    answers = {verb: None, "get_tools": [{}, {}], "get_snapshot": hub_snapshot(server_snapshot("files"))}
    with FakeControlHub(hub_home, answers) as hub:
        result = tooltray("servers", command, "files")
        in_json = tooltray("servers", command, "files", "--json")
    assert (result.code, result.out) == (0, text)
    assert hub.calls[0] == (verb, {"name": "files"})
    assert in_json.json == whole("get_snapshot", hub_snapshot(server_snapshot("files")))["servers"][0]


def test_a_server_is_stopped_without_a_hub_and_none_is_started(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "s", "--", "command")
    result = tooltray("servers", "stop", "s")
    assert (result.code, result.out) == (0, "Tooltray is not running; s will not start until you start it.\n")
    assert StoppedServers(hub_home.stopped).of_settings() == ["s"]
    assert tooltray("servers", "stop", "s", "--json").json["state"] == "stopped"
    assert tooltray("status", "--json").json["running"] is False


def test_a_server_that_comes_with_tooltray_is_stopped_without_a_hub(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("servers", "stop", "hub").code == 0
    assert StoppedServers(hub_home.stopped).of_settings() == ["hub"]


def test_a_server_that_is_not_there_cannot_be_stopped_and_no_hub_is_started(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("servers", "stop", "nothing")
    assert (result.code, "nothing" in result.err) == (1, True)
    assert not hub_home.stopped.exists()
    assert tooltray("status", "--json").json["running"] is False


@pytest.mark.parametrize("command", ["start", "restart"])
def test_the_first_list_of_a_server_is_waited_for_before_its_tools_are_counted(tooltray: Tooltray, hub_home: Home, command: str) -> None:
    files = server_snapshot("files", tool_count=0)

    def list_tools(**params: Any) -> list[Any]:
        files["tool_count"] = 3
        return [{}] * 3

    answers = {f"{command}_server": None, "get_tools": list_tools, "get_snapshot": lambda: hub_snapshot(files)}
    with FakeControlHub(hub_home, answers):
        assert tooltray("servers", command, "files").out.endswith("and has 3 tools.\n")
        files["tool_count"] = 0
        assert tooltray("servers", command, "files", "--json").json["tool_count"] == 3


def test_a_server_that_has_not_listed_its_tools_is_not_said_to_have_none(tooltray: Tooltray, hub_home: Home) -> None:
    unlisted = hub_snapshot(server_snapshot("files", tool_count=0, is_listed=False))
    answers = {"start_server": None, "restart_server": None, "get_tools": [], "get_snapshot": unlisted}
    with FakeControlHub(hub_home, answers):
        assert tooltray("servers", "start", "files").out == "files is running, but has not listed its tools yet.\n"
        assert tooltray("servers", "restart", "files").out == "files is running again, but has not listed its tools yet.\n"
    with hub_that_adds(hub_home, get_tools=[], get_snapshot=unlisted):
        added = tooltray("servers", "add", "files", "--", "npx", "pkg")
        in_json = tooltray("servers", "add", "files", "--json", "--", "npx", "pkg").json
    assert added.out.splitlines()[0] == "Added files; it is running, but has not listed its tools yet."
    assert (in_json["started"], in_json["tools"]) == (True, None)


def test_a_server_that_does_not_start_says_why(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"start_server": refuse}):
        result = tooltray("servers", "start", "files")
    assert (result.code, result.err) == (1, "tooltray: It will not: because. Do this\n")


# logs


def test_the_last_lines_of_a_log_are_printed_harmless(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_server_log": ["one", "\x1b[31mtwo\x07"]}) as hub:
        result = tooltray("servers", "logs", "files", "-n", "5")
        in_json = tooltray("servers", "logs", "files", "--json")
    assert result.out == "one\ntwo\n"
    assert hub.calls[0] == ("get_server_log", {"name": "files", "lines": 5})
    assert in_json.json == ["one", "\x1b[31mtwo\x07"]


@pytest.mark.parametrize(("options", "shown"), [([], "a\nb\nc\nd\n"), (["--json"], '"a"\n"b"\n"c"\n"d"\n')])
def test_following_a_log_prints_new_lines_until_the_hub_ends(
    tooltray: Tooltray, hub_home: Home, options: list[str], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tooltray.cli.server_commands.servers_command.FOLLOW_EVERY_S", 0.0)
    answers = iter([["a", "b"], ["a", "b"], ["b", "c"], ["c", "d"]])

    def log(**params: Any) -> list[str]:
        try:
            return next(answers)
        except StopIteration:
            raise HangUp from None

    with FakeControlHub(hub_home, {"get_server_log": log}):
        result = tooltray("servers", "logs", "files", "--follow", *options)
    assert result.out == shown
    assert result.code == 1
    assert "Tooltray ended" in result.err


@pytest.mark.parametrize(
    ("seen", "lines", "new"),
    [
        ([], ["a"], ["a"]),
        (["a"], ["a"], []),
        (["a"], ["a", "a"], ["a"]),
        (["a", "b", "c"], ["b", "c", "d"], ["d"]),
        (["a", "b"], ["x", "y"], ["x", "y"]),
        (["a", "b"], [], []),
    ],
)
def test_new_lines_are_those_behind_the_longest_overlap(seen: list[str], lines: list[str], new: list[str]) -> None:
    assert new_lines(seen, lines) == new


def test_a_home_that_cannot_be_written_is_told(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.root.write_text("a file, no folder")
    result = tooltray("servers", "add", "files", "--", "x")
    assert result.code == 1
    assert str(hub_home.root) in result.err
    os.unlink(hub_home.root)


def test_a_person_who_waits_for_a_start_is_told_so(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"start_server": None, "stop_server": None, "get_tools": [], "get_snapshot": hub_snapshot(server_snapshot("files"))}
    with FakeControlHub(hub_home, answers):
        assert tooltray("servers", "start", "files").err == ""
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        assert tooltray("servers", "start", "files").err.startswith("Starting files")
        assert tooltray("servers", "stop", "files").err == ""


# stopping what nobody uses


def test_a_server_on_demand_can_be_stopped_again_when_it_is_idle(tooltray: Tooltray, hub_home: Home) -> None:
    result = tooltray("servers", "add", "lazy", "--on-demand", "--idle-stop", "300", "--", "run", "it")
    assert result.out.splitlines()[0] == "Added lazy; it starts when it is first used and stops after 300 s without a call."
    assert settings_of(hub_home)["mcpServers"]["lazy"]["idleStop"] == 300
    listed = tooltray("servers", "list")
    assert listed.out.splitlines()[1] == "lazy  sleeping  stdio      ?      when used, up to 300 s idle  trusted"
    assert tooltray("servers", "list", "--json").json[0]["idle_stop_s"] == 300


def test_what_starts_with_the_hub_is_not_stopped_and_that_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    refused = tooltray("servers", "add", "s", "--idle-stop", "300", "--", "run")
    assert refused.code == 2
    assert "--idle-stop needs --on-demand: a server that starts with Tooltray keeps running" in refused.err
    servers = [server_snapshot("up", idle_stop_s=300.0), server_snapshot("lazy", idle_stop_s=0.5, is_default=False)]
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(*servers)}):
        listed = tooltray("servers", "list")
    assert [
        each in line for each, line in zip(("default  ", "when used, up to 0.5 s idle  "), listed.out.splitlines()[1:], strict=True)
    ] == [True] * 2
    assert listed.err == "up starts with Tooltray and keeps running, so its idleStop has no effect.\n"


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan"])
def test_an_idle_time_is_a_number_of_seconds(tooltray: Tooltray, seconds: str) -> None:
    refused = tooltray("servers", "add", "s", "--on-demand", f"--idle-stop={seconds}", "--", "run")
    assert refused.code == 2
    assert "--idle-stop" in refused.err


def changed(name: str, state: str, detail: str, problem: dict[str, str] | None = None) -> bytes:
    server = server_snapshot(name, state=state, detail=detail, problem=problem)
    return (
        json.dumps({"jsonrpc": "2.0", "method": "event", "params": {"type": "ServerChanged", "data": {"server": server}}}).encode() + b"\n"
    )


def shown_of(home: Home, *news: bytes) -> None:
    with FakeControlHub(home) as hub, progress_shown(home, "s"):
        other = ControlClient.connect(home)
        assert other is not None
        other.call("hub/info")  # the connection before it has been accepted
        for each in news:
            hub.send_raw(each, at=0)
        other.close()


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)


def test_each_step_of_the_start_is_shown_once(hub_home: Home, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at_terminal(monkeypatch)
    shown_of(
        hub_home,
        changed("s", "installing", "Downloading numpy"),
        changed("s", "installing", "Downloading numpy"),
        changed("other", "installing", "Downloading that"),
        b'{"jsonrpc":"2.0","method":"event","params":{"type":"ClientListUpdated","data":{}}}\n',
        changed("s", "restarting", "Restarting in 1 s", {"title": "'s' ended", "message": "", "hint": ""}),
        changed("s", "running", ""),
    )
    assert capsys.readouterr().err.splitlines() == ["s: Downloading numpy", "s: 's' ended. Restarting in 1 s"]


def test_nothing_is_shown_where_nobody_watches(hub_home: Home, capsys: Any) -> None:
    with FakeControlHub(hub_home) as hub, progress_shown(hub_home, "s"):
        pass
    assert (hub.hellos, capsys.readouterr().err) == ([], "")


def test_without_a_hub_or_with_one_that_cannot_be_reached_there_is_nothing_to_show(
    hub_home: Home, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_terminal(monkeypatch)
    with progress_shown(hub_home, "s"):
        pass
    hub_home.prepare()
    hub_home.control_socket.write_text("no socket")
    with progress_shown(hub_home, "s"):
        pass
    assert capsys.readouterr().err == ""


def test_servers_of_packages_are_listed(tooltray: Tooltray, hub_home: Home) -> None:
    found = [
        {"name": "notes", "package": "notes-server", "version": "0.1", "summary": "Notes"},
        {
            "name": "two",
            "package": "a",
            "problem": {"title": "more than one package offers the server 'two'", "message": "a, b", "hint": ""},
        },
    ]
    with FakeControlHub(hub_home, {"get_inmemory_servers": found}):
        listed = tooltray("servers", "inmemory")
        assert tooltray("servers", "inmemory", "--json").json[0]["package"] == "notes-server"
    assert [line.split()[0] for line in listed.out.splitlines()] == ["ENTRY", "notes", "two"]
    assert "more than one package" in listed.out
    assert "No installed package has a server that can run inside Tooltray." in tooltray("servers", "inmemory").out


def test_links_for_ai_clients_are_printed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_client_links": {"Cursor": "cursor://x"}}) as fake:
        found = tooltray("servers", "links")
    assert found.out.splitlines()[0] == "Cursor: cursor://x"
    assert "The links contain no secrets: the client asks for them, or reads variables of their names." in found.out
    assert fake.calls[-1] == ("get_client_links", {"server": ""})
    tooltray("servers", "add", "files", "--", "npx", "x")
    assert "vscode:mcp/install?" in tooltray("servers", "links", "files", "--json").json["VS Code"]


def outcome(**fields: Any) -> dict[str, Any]:
    return {"server": "git", "is_ok": True, "took_s": 1.84, "tools": [{"name": "t", "tokens": 3546}], "tokens": 3546, **fields}


@pytest.mark.parametrize(
    ("fields", "words"),
    [({}, "Connected in 1.8 s, 1 tool, 3546 tokens.\n"), ({"is_estimated": True}, "Connected in 1.8 s, 1 tool, about 3546 tokens.\n")],
)
def test_a_server_that_works_says_its_tools_and_tokens(tooltray: Tooltray, hub_home: Home, fields: dict[str, Any], words: str) -> None:
    with FakeControlHub(hub_home, {"test_server": outcome(**fields)}):
        result = tooltray("servers", "test", "git")
    assert (result.code, result.out) == (0, words)


def test_one_that_does_not_says_why_and_what_it_wrote(tooltray: Tooltray, hub_home: Home) -> None:
    failed = outcome(is_ok=False, problem=problem("npm has no such package", "x", "Check its name"), output=["npm \x1b[31merror"], tools=[])
    with FakeControlHub(hub_home, {"test_server": failed}):
        result = tooltray("servers", "test", "git")
        in_json = tooltray("servers", "test", "git", "--json")
    assert result.code == 1
    assert "git does not work: npm has no such package" in result.out
    assert "npm error" in result.err.replace("\x1b[31m", "").replace("?[31m", "")
    assert "\x1b" not in result.err
    assert (in_json.code, json.loads(in_json.out)["is_ok"], in_json.err) == (1, False, "")


def test_a_copy_says_what_it_is_and_when_it_starts(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"duplicate_mcp_server": "git-2"}):
        result = tooltray("servers", "duplicate", "git", "git-2")
    assert result.code == 0
    assert "Added git-2, a copy of git." in result.out


def test_a_renamed_server_is_said_with_both_its_names(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"rename_mcp_server": None}) as hub:
        result, in_json = tooltray("servers", "rename", "git", "work"), tooltray("servers", "rename", "git", "work", "--json")
    assert (result.code, result.out) == (0, "git is work now\n")
    assert json.loads(in_json.out) == {"server": "work"}
    assert hub.calls[0] == ("rename_mcp_server", {"name": "git", "new_name": "work"})


URL = "https://sign-in.example/page?state=abc"
PAGE = {"server": "far", "url": URL, "ends_at": 0.0}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was opened in a browser, which there is."""
    opened: list[str] = []
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr(webbrowser, "open", lambda url: not opened.append(url))
    return opened


def signing_in(home: Home, *, finish: Any = None, notices: tuple[Any, ...] = (), **server: Any) -> FakeControlHub:
    far = server_snapshot("far", **{"tool_count": 3, **server})
    verbs: dict[str, Any] = dict.fromkeys(("start_server", "sign_out", "cancel_sign_in"))
    told = {"begin_sign_in": PAGE, "finish_sign_in": finish, "get_tools": [{}] * 3, "get_snapshot": hub_snapshot(far, notices=notices)}
    return FakeControlHub(home, verbs | told)


def refuse_sign_in(**params: Any) -> None:
    raise TooltrayError("the sign-in was declined", "", "Try again")


def test_the_page_opens_and_its_address_is_printed_all_the_same(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    with signing_in(hub_home) as hub:
        result = tooltray("servers", "sign-in", "far")
    assert (result.code, opened) == (0, [URL])
    assert result.out.splitlines()[1:] == [URL, "Signed in to far; it is running and has 3 tools."]
    assert ("finish_sign_in", {"name": "far", "callback_url": None}) in hub.calls


def test_a_sign_in_that_ends_with_tooltray_is_said_to(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    lost = problem("the sign-in to 'far' will be lost when Tooltray ends", "No keyring found", "Use an encrypted file")
    with signing_in(hub_home, notices=(problem("the sign-in to 'farther' will be lost when Tooltray ends"), lost)):
        result = tooltray("servers", "sign-in", "far")
    assert (result.code, result.out.splitlines()[-1]) == (0, "Signed in to far; it is running and has 3 tools.")
    assert result.err == "the sign-in to 'far' will be lost when Tooltray ends. No keyring found. Use an encrypted file\n"


def test_without_a_browser_the_address_is_enough_and_the_way_back_is_said(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    with signing_in(hub_home):
        result = tooltray("servers", "sign-in", "far", "--no-browser")
    assert (result.code, opened) == (0, [])
    assert result.out.startswith(f"Open this address in a browser:\n{URL}\n")
    assert "tooltray servers sign-in far --paste" in result.err


def raising(error: Exception) -> Any:
    def open_page(url: str) -> bool:
        raise error

    return open_page


@pytest.mark.parametrize("open_page", [lambda url: False, raising(webbrowser.Error()), raising(OSError())])
def test_a_browser_that_does_not_open_is_no_obstacle(
    tooltray: Tooltray, hub_home: Home, opened: list[str], monkeypatch: pytest.MonkeyPatch, open_page: Any
) -> None:
    monkeypatch.setattr(webbrowser, "open", open_page)
    with signing_in(hub_home):
        result = tooltray("servers", "sign-in", "far")
    assert (result.code, URL in result.out) == (0, True)
    assert "--paste" in result.err


@pytest.mark.parametrize(("platform", "is_opened"), [("linux", False), ("darwin", True)])
def test_where_there_is_no_screen_no_browser_takes_the_terminal(
    tooltray: Tooltray, hub_home: Home, opened: list[str], monkeypatch: pytest.MonkeyPatch, platform: str, is_opened: bool
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    with signing_in(hub_home):
        monkeypatch.setattr(sys, "platform", platform)
        tooltray("servers", "sign-in", "far")
    assert bool(opened) is is_opened


def test_for_programs_the_outcome_is_json_and_the_address_goes_to_standard_error(
    tooltray: Tooltray, hub_home: Home, opened: list[str]
) -> None:
    with signing_in(hub_home):
        result = tooltray("servers", "sign-in", "far", "--json")
    assert (result.json["name"], result.json["state"]) == ("far", "running")
    assert URL in result.err


def test_who_declines_is_told_and_nothing_starts(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    with signing_in(hub_home, finish=refuse_sign_in) as hub:
        result = tooltray("servers", "sign-in", "far")
    assert result.code == 1
    assert "declined" in result.err
    assert "start_server" not in hub.methods()


def test_a_server_that_is_switched_off_stays_off(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    with signing_in(hub_home, is_disabled=True, state="stopped") as hub:
        assert tooltray("servers", "sign-in", "far").out.endswith("Signed in to far.\n")
    assert "start_server" not in hub.methods()


def test_a_pasted_address_ends_a_sign_in_that_has_begun(tooltray: Tooltray, hub_home: Home, opened: list[str]) -> None:
    address = "http://127.0.0.1:1/callback?code=c&state=abc"
    with signing_in(hub_home) as hub:
        result = tooltray("servers", "sign-in", "far", "--paste", stdin=f" {address}\n")
        nothing = tooltray("servers", "sign-in", "far", "--paste")
    assert result.code == 0
    assert "begin_sign_in" not in hub.methods()
    assert ("finish_sign_in", {"name": "far", "callback_url": address}) in hub.calls
    assert (nothing.code, "Standard input is empty" in nothing.err) == (1, True)


def test_a_person_at_a_terminal_is_asked_for_the_address(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.cli.server_commands.servers_command.is_person_there", lambda: True)
    with signing_in(hub_home):
        assert "Address shown by the browser: " in tooltray("servers", "sign-in", "far", "--paste", stdin="http://a\n").err


def test_who_interrupts_gives_it_up(tooltray: Tooltray, hub_home: Home, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from tooltray.carriers.control.control_client import ControlClient

    call = ControlClient.call

    def interrupted(self: ControlClient, method: str, /, **params: Any) -> Any:
        if method == "finish_sign_in":
            raise KeyboardInterrupt
        return call(self, method, **params)

    monkeypatch.setattr(ControlClient, "call", interrupted)
    with signing_in(hub_home) as hub:
        assert tooltray("servers", "sign-in", "far").code == 130
    assert ("cancel_sign_in", {"name": "far"}) in hub.calls


def test_signing_out_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with signing_in(hub_home) as hub:
        assert tooltray("servers", "sign-out", "far").out == "Signed out of far; it has stopped.\n"
        assert tooltray("servers", "sign-out", "far", "--json").json == {"server": "far", "signed_in": False}
    assert hub.methods().count("sign_out") == 2


def test_a_list_says_what_waits_for_a_sign_in(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_snapshot": hub_snapshot(server_snapshot("far", state="needs_sign_in"))}):
        assert "needs sign-in" in tooltray("servers", "list").out


# adding


def entry_of(home: Home) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(home.settings.read_bytes())["mcpServers"]["far"]
    return entry


def test_how_to_sign_in_is_added_with_the_server(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    assert tooltray("secrets", "backend", "file").code == 0
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    words = ["--client-id", "me", "--client-secret", "--client-credentials", "--scope", "a", "--scope", "b", "--redirect-port", "8123"]
    result = tooltray("servers", "add", "far", "--url", "https://far.example/mcp", *words, stdin="dummy-secret\n")
    assert (result.code, result.err) == (0, "")
    assert entry_of(hub_home)["oauth"] == {
        "clientId": "me",
        "clientSecret": "${secret:far/CLIENT_SECRET}",
        "scopes": ["a", "b"],
        "redirectPort": 8123,
        "grant": "client_credentials",
    }
    assert b"dummy-secret" not in hub_home.settings.read_bytes()


def test_usually_nothing_has_to_be_said(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("servers", "add", "far", "--url", "https://far.example/mcp").code == 0
    assert "oauth" not in entry_of(hub_home)


def test_a_server_that_wants_a_sign_in_is_added_and_says_how(tooltray: Tooltray, hub_home: Home) -> None:
    far = server_snapshot("far", state="needs_sign_in", tool_count=0)
    answers = {"get_mcp_servers": {}, "add_mcp_server": None, "start_server": refuse_sign_in, "get_snapshot": hub_snapshot(far)}
    with FakeControlHub(hub_home, answers):
        result = tooltray("servers", "add", "far", "--url", "https://far.example/mcp")
        in_json = tooltray("servers", "add", "far", "--url", "https://far.example/mcp", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[0] == "Added far; it wants you to sign in. Do so with: tooltray servers sign-in far"
    assert (in_json.code, in_json.json["started"], in_json.json["needs_sign_in"]) == (0, False, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--client-id", "c", "--", "x"], "--client-id goes with --url"),
        (["--scope", "a", "--", "x"], "--scope goes with --url"),
        (["--redirect-port", "1", "--", "x"], "--redirect-port goes with --url"),
        (["--url", "https://a.b", "--client-secret"], "--client-secret goes with --client-id"),
        (["--url", "https://a.b", "--client-id", "c", "--client-credentials"], "--client-credentials goes with"),
    ],
)
def test_what_does_not_go_together_is_refused(tooltray: Tooltray, words: list[str], said: str) -> None:
    result = tooltray("servers", "add", "far", *words)
    assert (result.code, said in result.err) == (2, True)
