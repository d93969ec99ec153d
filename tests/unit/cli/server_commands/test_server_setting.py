"""server_setting.py: single fields of a server are changed, the others stay."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home

COMMAND = {"command": "npx", "args": ["-y", "a"], "env": {"A": "1", "B": "2"}, "autoApprove": ["read"], "label": "work"}
REMOTE = {"url": "https://a.example/mcp", "headers": {"X-A": "1"}}


def hub(home: Home, entry: dict[str, Any], **answers: Any) -> FakeControlHub:
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
    with hub(hub_home, entry) as fake:
        done = tooltray("servers", "set", "s", *words)
    assert (done.code, done.out) == (0, "Changed s.\n"), done.err
    assert fake.params_of("update_mcp_server")["config"] == entry | changes


def test_a_relative_folder_is_meant_from_here(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, COMMAND) as fake:
        tooltray("servers", "set", "s", "--cwd", ".")
    assert fake.params_of("update_mcp_server")["config"]["cwd"] == str(Path.cwd())


@pytest.mark.parametrize(("entry", "option", "field"), [(COMMAND, "--secret", "env"), (REMOTE, "--header-secret", "headers")])
def test_a_secret_is_stored_and_named_in_the_entry(
    tooltray: Tooltray, hub_home: Home, entry: dict[str, Any], option: str, field: str
) -> None:
    with hub(hub_home, entry) as fake:
        done = tooltray("servers", "set", "s", option, "MY-KEY" if field == "headers" else "MY_KEY", stdin="dummy\n")
    key = "MY-KEY" if field == "headers" else "MY_KEY"
    assert done.code == 0, done.err
    assert fake.params_of("update_mcp_server")["secrets"] == {f"s/{key}": "dummy"}
    assert fake.params_of("update_mcp_server")["config"][field] == {**entry[field], key: f"${{secret:s/{key}}}"}


def test_a_key_that_is_typed_among_the_variables_is_stored_as_a_secret(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, COMMAND) as fake:
        assert tooltray("servers", "set", "s", "--env", "A_TOKEN=dummy-value").code == 0
    changed = fake.params_of("update_mcp_server")
    assert changed["config"]["env"]["A_TOKEN"] == "${secret:s/A_TOKEN}"
    assert changed["secrets"] == {"s/A_TOKEN": "dummy-value"}


@pytest.mark.parametrize(
    ("entry", "words", "error"),
    [
        (COMMAND, ("--url", "https://a.example/"), "s is started by a command"),
        (REMOTE, ("--env", "A=1"), "s runs elsewhere"),
        (COMMAND, ("--unset", "NONE"), "s has no variable or header NONE"),
    ],
)
def test_what_does_not_fit_the_server_changes_nothing(
    tooltray: Tooltray, hub_home: Home, entry: dict[str, Any], words: tuple[str, ...], error: str
) -> None:
    with hub(hub_home, entry) as fake:
        done = tooltray("servers", "set", "s", *words)
    assert done.code == 1
    assert error in done.err
    assert "update_mcp_server" not in [method for method, _ in fake.calls]


@pytest.mark.parametrize("words", [(), ("--url", "https://a.example/", "--env", "A=1")])
def test_nothing_to_change_or_both_kinds_is_a_wrong_command_line(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    assert tooltray("servers", "set", "s", *words).code == 2


def test_an_argument_that_looks_like_a_key_is_warned_of(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, COMMAND):
        assert "--password ***: what is *** here" in tooltray("servers", "set", "s", "--arg=--password", "--arg", "hunter2").err
        assert tooltray("servers", "set", "s", "--arg=--password", "--arg", "hunter2", "--json").err == ""
