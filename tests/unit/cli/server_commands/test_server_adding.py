"""server_adding.py: what is written into a project's own file, and the yes to a server inside Tooltray."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray.app import stored_parts
from tooltray.cli.server_commands.server_adding import project_entry
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.servers.confinement.confinements import Support


@pytest.mark.parametrize(
    ("entry", "written"),
    [
        ({"command": "npx", "args": ["a"]}, {"command": "npx", "args": ["a"]}),
        ({"command": "{folder}/bin/run"}, {"command": "./bin/run"}),
        ({"command": "/usr/bin/run"}, {"command": "/usr/bin/run"}),
        ({"command": "run", "cwd": "{folder}"}, {"command": "run"}),
        ({"command": "run", "cwd": "{folder}/web"}, {"command": "run", "cwd": "web"}),
        ({"command": "run", "cwd": "/srv"}, {"command": "run", "cwd": "/srv"}),
        ({"url": "https://a.example/mcp"}, {"url": "https://a.example/mcp"}),
    ],
)
def test_what_is_in_the_project_is_named_from_its_folder(tmp_path: Path, entry: dict[str, Any], written: dict[str, Any]) -> None:
    folder = str(tmp_path.resolve())
    entry = {name: value.replace("{folder}", folder) if isinstance(value, str) else value for name, value in entry.items()}
    assert project_entry(entry, folder, is_approval_chosen=False) == written


def test_what_goes_through_unasked_is_written_where_a_person_chose_it(tmp_path: Path) -> None:
    entry = {"command": "run", "autoApprove": ["read"]}
    assert project_entry(entry, str(tmp_path), is_approval_chosen=True) == entry
    assert project_entry(entry, str(tmp_path), is_approval_chosen=False) == {"command": "run"}


REQUEST: dict[str, Any] = {
    "project": "",
    "file": "/h/settings.json",
    "entry": "mine",
    "digest": "d1",
    "is_change": False,
    "transport": "inmemory",
    "target": "notes --fast",
}
ENTRY = {"type": "inmemory", "command": "notes", "args": ["--fast", "a b"]}
ADDING = ("servers", "add", "mine", "--on-demand", "--inmemory", "notes", "--", "--fast", "a b")


def test_a_new_server_is_what_the_settings_want(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_parts, "probe", lambda: Support("linux", 7, True))
    hub_home.root.mkdir(parents=True)
    hub_home.settings.write_text('{"newServers": "careful"}')
    done = tooltray("servers", "add", "one", "--on-demand", "--", "run")
    assert done.out.splitlines()[1:] == [
        "Read-only tools run without asking; writes ask first (autoApprove: read).",
        "It is sandboxed, as your settings want it for new servers.",
    ]
    entry = json.loads(hub_home.settings.read_text())["mcpServers"]["one"]
    assert (entry["autoApprove"], entry["confinement"]) == (["read"], {"files": "own"})


def hub(home: Home) -> FakeControlHub:
    other = {**REQUEST, "entry": "other"}
    return FakeControlHub(
        home,
        {"get_mcp_servers": {}, "add_mcp_server": "mine", "get_trust_requests": [REQUEST, other], "trust_entries": ["mine"]},
    )


def test_a_server_inside_is_added_after_the_sentence_and_a_yes(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        done = person(*ADDING, typed="y\n")
    assert done.code == 0, done.err
    assert "mine: notes --fast 'a b'\nWarning: it runs inside Tooltray and can read every secret." in done.out
    calls = [(method, params) for method, params in fake.calls if method in ("add_mcp_server", "trust_entries")]
    assert [method for method, _ in calls] == ["add_mcp_server", "trust_entries"]
    assert calls[0][1]["config"] == ENTRY
    assert calls[1][1] == {"project": "", "entries": {"mine": "d1"}}


def test_without_a_yes_nothing_is_added(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        done = person(*ADDING, typed="\n")
    assert (done.code, "you declined" in done.err) == (1, True)
    assert [method for method, _ in fake.calls if method in ("add_mcp_server", "trust_entries")] == []


def test_nobody_at_a_terminal_can_say_it(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        done = tooltray(*ADDING, stdin="y\n")
    assert (done.code, "needs a person at a terminal" in done.err) == (1, True)
    assert fake.calls == []


def test_without_a_hub_the_yes_is_kept_for_the_next(person: Tooltray, hub_home: Home) -> None:
    done = person(*ADDING, typed="y\n")
    assert done.code == 0, done.err
    assert "mine" in (hub_home.root / "inmemory-trust.json").read_text()
    assert person("trust").out == "Nothing is waiting for approval.\n"
    assert person("trust", "decline", "mine").code == 0
    assert "it runs inside Tooltray and can read every secret" in person("trust", typed="n\n").out
    listed = person("servers", "list", "--json")
    assert [each["waiting"] for each in listed.json if each["name"] == "mine"] == [True]


@pytest.mark.parametrize("has_it", [True, False])
def test_a_command_that_only_this_terminal_finds_is_written_with_its_path(
    person: Tooltray, hub_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_it: bool
) -> None:
    program = tmp_path / "only-here"
    if has_it:
        program.touch(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    starts: list[str] = []

    def start(**_: Any) -> None:
        starts.append("start")
        if len(starts) == 1:
            raise TooltrayError("command 'only-here' not found", "looked in /usr/bin", "Install it")

    answers = {"get_mcp_servers": {}, "add_mcp_server": "s", "update_mcp_server": None, "start_server": start, "get_tools": [{}]}
    with FakeControlHub(hub_home, answers | {"get_snapshot": hub_snapshot(), "get_server_log": []}) as fake:
        done = person("servers", "add", "s", "--", "only-here", "x")
    changed = [params["config"] for method, params in fake.calls if method == "update_mcp_server"]
    assert [(entry["command"], entry["args"]) for entry in changed] == ([(str(program), ["x"])] if has_it else [])
    assert done.code == (0 if has_it else 1), done.err
    assert (f"so its full path is saved: {program}" in done.err) is has_it


COMMAND = {"command": "npx", "args": ["-y", "a"], "env": {"A": "1", "B": "2"}, "autoApprove": ["read"], "label": "work"}
REMOTE = {"url": "https://a.example/mcp", "headers": {"X-A": "1"}}


def setting_hub(home: Home, entry: dict[str, Any], **answers: Any) -> FakeControlHub:
    found = {"name": "s", "entry": entry, "counts": entry}
    return FakeControlHub(home, {"get_server_entry": found, "update_mcp_server": None, **answers})


@pytest.mark.parametrize(
    ("entry", "words", "changes"),
    [
        (COMMAND, ("--env", "A=3", "--unset", "B"), {"env": {"A": "3"}}),
        (COMMAND, ("--arg=-y", "--arg", "b"), {"args": ["-y", "b"]}),
        (COMMAND, ("--timeout", "30", "--start-timeout", "300"), {"callTimeout": 30, "startTimeout": 300}),
        (COMMAND, ("--cwd", "~/x"), {"cwd": "~/x"}),
        (REMOTE, ("--url", "https://b.example/mcp"), {"url": "https://b.example/mcp"}),
        (REMOTE, ("--header", "X-B: 2"), {"headers": {"X-A": "1", "X-B": "2"}}),
        ({"command": "a"}, ("--timeout", "5"), {"callTimeout": 5}),
        ({"baseUrl": "https://a.example/mcp"}, ("--url", "https://b.example/"), {"baseUrl": "https://b.example/"}),
        ({"baseUrl": "https://a.example/mcp", "customHeaders": {"A": "1"}}, ("--header", "B: 2"), {"customHeaders": {"A": "1", "B": "2"}}),
    ],
)
def test_what_is_given_is_changed_and_the_rest_stays(
    tooltray: Tooltray, hub_home: Home, entry: dict[str, Any], words: tuple[str, ...], changes: dict[str, Any]
) -> None:
    with setting_hub(hub_home, entry) as fake:
        done = tooltray("servers", "set", "s", *words)
    assert (done.code, done.out) == (0, "Changed s.\n"), done.err
    assert fake.params_of("update_mcp_server")["config"] == entry | changes


def test_a_relative_folder_is_meant_from_here(tooltray: Tooltray, hub_home: Home) -> None:
    with setting_hub(hub_home, COMMAND) as fake:
        tooltray("servers", "set", "s", "--cwd", ".")
    assert fake.params_of("update_mcp_server")["config"]["cwd"] == str(Path.cwd())


@pytest.mark.parametrize(("entry", "option", "field"), [(COMMAND, "--secret", "env"), (REMOTE, "--header-secret", "headers")])
def test_a_secret_is_stored_and_named_in_the_entry(
    tooltray: Tooltray, hub_home: Home, entry: dict[str, Any], option: str, field: str
) -> None:
    with setting_hub(hub_home, entry) as fake:
        done = tooltray("servers", "set", "s", option, "MY-KEY" if field == "headers" else "MY_KEY", stdin="dummy\n")
    key = "MY-KEY" if field == "headers" else "MY_KEY"
    assert done.code == 0, done.err
    assert fake.params_of("update_mcp_server")["secrets"] == {f"s/{key}": "dummy"}
    assert fake.params_of("update_mcp_server")["config"][field] == {**entry[field], key: f"${{secret:s/{key}}}"}


def test_a_key_that_is_typed_among_the_variables_is_stored_as_a_secret(tooltray: Tooltray, hub_home: Home) -> None:
    with setting_hub(hub_home, COMMAND) as fake:
        assert tooltray("servers", "set", "s", "--env", "A_TOKEN=dummy-value").code == 0
    changed = fake.params_of("update_mcp_server")
    assert changed["config"]["env"]["A_TOKEN"] == "${secret:s/A_TOKEN}"
    assert changed["secrets"] == {"s/A_TOKEN": "dummy-value"}


@pytest.mark.parametrize(
    ("entry", "words", "error"),
    [
        (COMMAND, ("--url", "https://a.example/"), "s is a local command"),
        (REMOTE, ("--env", "A=1"), "s is a remote server"),
        (COMMAND, ("--unset", "NONE"), "s has no variable or header NONE"),
    ],
)
def test_what_does_not_fit_the_server_changes_nothing(
    tooltray: Tooltray, hub_home: Home, entry: dict[str, Any], words: tuple[str, ...], error: str
) -> None:
    with setting_hub(hub_home, entry) as fake:
        done = tooltray("servers", "set", "s", *words)
    assert done.code == 1
    assert error in done.err
    assert "update_mcp_server" not in [method for method, _ in fake.calls]


@pytest.mark.parametrize("words", [(), ("--url", "https://a.example/", "--env", "A=1")])
def test_nothing_to_change_or_both_kinds_is_a_wrong_command_line(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    assert tooltray("servers", "set", "s", *words).code == 2


def test_an_argument_that_looks_like_a_key_is_warned_of(tooltray: Tooltray, hub_home: Home) -> None:
    with setting_hub(hub_home, COMMAND):
        assert "--password ***: *** looks" in tooltray("servers", "set", "s", "--arg=--password", "--arg", "hunter2").err
        assert tooltray("servers", "set", "s", "--arg=--password", "--arg", "hunter2", "--json").err == ""
