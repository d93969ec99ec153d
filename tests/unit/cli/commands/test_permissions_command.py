"""`tooltray permissions ...`, with a running hub and a person at a terminal, or without one."""

import getpass
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.confirm_widening import NeedsPassphrase
from tooltray.foundation.home.home import Home


def of_tool(tool: str, **more: Any) -> dict[str, Any]:
    return {"tool": tool, "category": "write", "choice": "default", "is_free": False, "why": "It may change things", **more}


TOOLS = [
    of_tool("read_it", is_free=True, why="It only reads"),
    of_tool("write\x1b[1m"),
    of_tool("granted", grants=["g1"]),
    of_tool("changed", is_held=True),
]
SERVERS = [{"server": "files", "rules": ["read"], "tools": TOOLS}, {"server": "git", "rules": [], "tools": [of_tool("push")]}]


def hub(home: Home, **answers: Any) -> FakeControlHub:
    return FakeControlHub(home, {"get_permissions": SERVERS, "get_client_modes": [], "set_tool_approval": None} | answers)


def test_tools_are_listed_with_whether_they_ask_and_why(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home):
        lines = [line.split(None, 3) for line in tooltray("permissions", "list").out.splitlines()[1:]]
        assert [line[:3] for line in lines] == [
            ["files", "read_it", "yes"],
            ["files", "write", "no"],
            ["files", "granted", "allowed"],
            ["files", "changed", "blocked"],
            ["git", "push", "no"],
        ]
        assert [lines[0][3], lines[2][3]] == ["It only reads", "See it: tooltray grants list"]
        assert len(tooltray("permissions", "list", "git").out.splitlines()) == 2
        assert [each["server"] for each in tooltray("permissions", "list", "--json").json] == ["files", "git"]
        assert "Server 'gone' not found" in tooltray("permissions", "list", "gone").err


def of_client(client: str, **more: Any) -> dict[str, Any]:
    return {"client": client, "title": client.title(), "mode": "", "shown_mode": "lazy", "reason": "", **more}


def test_rules_on_arguments_of_servers_and_of_ai_clients_stand_below_the_tools(tooltray: Tooltray, hub_home: Home) -> None:
    rule = "read_it, where path is in /p\x1b[1m; no other arguments"
    servers = [{**SERVERS[0], "call_rules": [rule]}, SERVERS[1]]
    clients = [of_client("zed", call_rules=[rule]), of_client("cursor", call_rules=[]), of_client("other")]
    with hub(hub_home, get_permissions=servers, get_client_modes=clients):
        *_, empty, title, of_files, of_zed, of_cursor = tooltray("permissions", "list").out.splitlines()
        assert (empty, title) == ("", "Rules on arguments also allow:")
        assert of_files.startswith("files: read_it, where path is in /p")
        assert of_zed.startswith("Zed, instead of the servers' rules: read_it, where")
        assert of_cursor == "Cursor: none, and the servers' rules do not apply"
        assert "\x1b" not in of_files + of_zed
        assert "Zed" not in tooltray("permissions", "list", "files").out


def test_where_no_tools_are_known_it_says_so(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, get_permissions=[]):
        assert tooltray("permissions", "list").out == "No tools listed yet.\n"


@pytest.mark.parametrize(("tool", "choice"), [("write", "ask"), ("read_it", "always")])
def test_what_lets_nothing_more_through_needs_no_terminal(tooltray: Tooltray, hub_home: Home, tool: str, choice: str) -> None:
    with hub(hub_home) as fake:
        assert tooltray("permissions", "set", "files", tool, choice).code == 0
    assert fake.params_of("set_tool_approval") == {"server": "files", "tool": tool, "approval": choice}


@pytest.mark.parametrize(
    ("choice", "said"), [("always", "push of git runs without asking.\n"), ("default", "push of git follows its server's rule.\n")]
)
def test_what_may_let_more_through_is_asked_about(person: Tooltray, hub_home: Home, choice: str, said: str) -> None:
    with hub(hub_home) as fake:
        assert person("permissions", "set", "git", "push", choice, typed="n\n").out.endswith("Nothing was allowed.\n")
        assert "set_tool_approval" not in fake.methods()
        assert person("permissions", "set", "git", "push", choice).out.endswith(said)


def test_without_a_terminal_nothing_more_is_let_through_and_what_nobody_knows_is_not_allowed(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        assert "needs a person at a terminal" in tooltray("permissions", "set", "git", "push", "always").err
        assert "Tool 'gone' of 'git' not found" in tooltray("permissions", "set", "git", "gone", "always").err
        assert "set_tool_approval" not in fake.methods()


RIGHT, FOLDER = "correct horse", "/nowhere-at-all"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a person types without echo, one after the other."""
    texts: list[str] = []
    monkeypatch.setattr(getpass, "getpass", lambda prompt: texts.pop(0))
    return texts


def locked(**params: Any) -> str:
    raise NeedsPassphrase("Allowing a folder needs the passphrase", "a person has set one for it")


def test_without_a_hub_it_is_set_asked_for_and_removed(person: Tooltray, tooltray: Tooltray, hub_home: Home, typed: list[str]) -> None:
    assert tooltray("passphrase", "check").out.startswith("No passphrase is set.")
    assert person("passphrase", "remove").out == "No passphrase is set.\n"
    typed[:] = [RIGHT, "another one"]
    assert "The two passphrases differ" in person("passphrase", "set").err
    typed[:] = [RIGHT, RIGHT]
    found = person("passphrase", "set")
    assert (found.code, found.out.splitlines()[0]) == (
        0,
        "Set. When Tooltray runs without a window, commands that allow something ask for it.",
    )
    typed[:] = [RIGHT]
    assert person("passphrase", "check").out == "The passphrase is correct.\n"
    assert tooltray("passphrase", "check", "--json").json["is_set"]
    assert "A passphrase is set: it can only be typed in" in tooltray("passphrase", "check").err
    assert "needs a person at a terminal" in tooltray("passphrase", "remove").err
    typed[:] = ["a new one", "a new one", RIGHT]
    assert person("passphrase", "set").code == 0
    typed[:] = ["a new one"]
    assert person("passphrase", "remove").out.startswith("Removed.")
    assert not hub_home.passphrase.exists()


def test_a_command_asks_for_it_and_then_does_its_work(person: Tooltray, hub_home: Home, typed: list[str]) -> None:
    answers: dict[str, Any] = {"allow_folder": locked}

    def confirm(passphrase: str) -> None:
        assert passphrase == RIGHT
        answers["allow_folder"] = FOLDER
        hub.answers |= answers

    with FakeControlHub(hub_home, {**answers, "confirm_with_passphrase": confirm}) as hub:
        typed[:] = [RIGHT]
        found = person("projects", "allow", FOLDER)
        assert (found.code, hub.methods()) == (0, ["allow_folder", "confirm_with_passphrase", "allow_folder"])
        assert "Allowing a folder needs the passphrase" in found.err
        assert RIGHT not in found.out + found.err


def test_its_help_says_what_to_do_where_it_is_lost(tooltray: Tooltray, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tooltray("passphrase", "--help")
    assert "delete passphrase.json" in " ".join(capsys.readouterr().out.split())
