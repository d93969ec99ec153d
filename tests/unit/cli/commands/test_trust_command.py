"""`tooltray trust ...`, with a running hub and without; with a person at a terminal, or without one."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, whole
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import Conflict
from tooltray.foundation.home.home import Home

ONE: dict[str, Any] = {
    "project": "/p/shop",
    "file": "/p/shop/.mcp.json",
    "entry": "one\x1b[1m",
    "digest": "d1",
    "is_change": False,
    "transport": "stdio",
    "target": "npx -y some-server ${secret:K}",
    "command": "npx",
    "host": "",
    "cwd": "/p/shop",
    "secrets": ["K"],
    "variables": [],
    "env": ["PORT=1"],
    "headers": [],
    "others": [],
    "is_inside": True,
    "auto_approve": ["read"],
    "diff": [],
    "warnings": ["odd\x07"],
    "line": 3,
}
TWO: dict[str, Any] = {
    **ONE,
    "entry": "two",
    "digest": "d2",
    "is_change": True,
    "target": "https://a.example/mcp",
    "command": "",
    "host": "a.example",
    "secrets": [],
    "variables": ["A", "B", "C"],
    "variable_states": ["set", "default", "missing"],
    "env": [],
    "headers": ["X-Team: shop"],
    "others": ["timeout: 5"],
    "is_inside": False,
    "auto_approve": [],
    "diff": ["-old", "+new\x1b[2J"],
    "warnings": [],
    "line": 0,
}
TRUSTED = {"project": "/p/shop", "entry": "one", "server": "one-shop", "trusted_at": 0.0, "is_own": True}


def hub(home: Home, **answers: Any) -> FakeControlHub:
    usual = {
        "get_trust_requests": [ONE, TWO],
        "trust_entries": ["one-shop"],
        "distrust_entries": None,
        "get_trusted_entries": [TRUSTED],
    }
    return FakeControlHub(home, usual | answers)


def yes_given(fake: FakeControlHub) -> list[dict[str, str]]:
    return [params["entries"] for method, params in fake.calls if method == "trust_entries"]


def test_each_entry_is_shown_whole_before_its_own_question(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        found = person("trust", "/p/shop", typed="y\nno\n")
    assert (found.code, yes_given(fake)) == (1, [{"one\x1b[1m": "d1"}])
    first, second, last = found.out.split("\n\n")[1:]
    assert first.splitlines()[:8] == [
        "one (line 3)",
        "  It would run: npx -y some-server ${secret:K}",
        "  in the folder: /p/shop",
        "  which lies in: the project itself: anyone who changes the project changes what runs (/p/shop)",
        "  Your secrets that it would get: K",
        "  Your variables that it would get: none by name; like every program you start, it sees your environment",
        "  With the variable: PORT=1",
        "  Calls that would run without asking: read",
    ]
    assert "  Warning: odd" in first.splitlines()
    assert "Trusted as 'one-shop'. To revoke that: tooltray trust remove /p/shop 'one'" in first
    assert second.splitlines()[:7] == [
        "two: changed since you approved it",
        "  It would connect to: https://a.example/mcp",
        "  at the host: a.example",
        "  Your secrets that it would get: none",
        "  Your variables that it would get: A (set now), B (not set: its default is used), C (not set: required to start)",
        "  With the header: X-Team: shop",
        "  Other fields: timeout: 5",
    ]
    assert {"    -old", "    +new"} <= set(second.splitlines())
    assert "It does not run." in second
    assert last == "What you trust runs for AI clients that work in /p/shop. For all AI clients: tooltray serve --project /p/shop\n"
    assert "\x1b" not in found.out


def test_entries_can_be_named_and_all_that_is_asked_for_is_a_yes(person: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    with hub(hub_home) as fake:
        found = person("trust", "/p/shop", "two")
        assert (found.code, yes_given(fake)) == (0, [{"two": "d2"}])
        missing = person("trust", "/p/shop", "three")
        assert (missing.code, "'three' is not waiting for approval: waiting: one, two" in missing.err) == (1, True)
        assert person("trust", "/p/shop", typed="").code == 1
    with hub(hub_home, get_trust_requests=[]):
        assert person("trust", str(tmp_path)).out == f"No .mcp.json in {tmp_path}.\n"
        (tmp_path / ".mcp.json").write_text("{}")
        assert person("trust", str(tmp_path)).out == f"Nothing is waiting for approval in {tmp_path}.\n"
        assert "nothing is waiting for approval" in person("trust", "/p/shop", "two").err


def test_an_entry_that_has_changed_since_it_was_shown_is_not_trusted(person: Tooltray, hub_home: Home) -> None:
    def refuse(**params: Any) -> Any:
        raise Conflict("it is another one by now")

    with hub(hub_home, trust_entries=refuse):
        found = person("trust", "/p/shop")
        assert (found.code, "another one by now" in found.err) == (1, True)


def test_a_yes_needs_a_terminal_and_looking_does_not(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        refused = tooltray("trust", "/p/shop", stdin="y\n")
        assert (refused.code, "needs a person at a terminal" in refused.err, fake.calls) == (1, True, [])
        assert tooltray("trust", "/p/shop", "--json").json == whole("get_trust_requests", [ONE, TWO])
        assert tooltray("trust", "list", "--json").json == whole("get_trusted_entries", [TRUSTED])
        row = tooltray("trust", "list").out.splitlines()[1]
        assert row.split()[:2] == ["one", "one-shop"]
        assert "(written by Tooltray)" in row
        assert tooltray("trust", "remove", "/p/shop", "one").out == "one of /p/shop is no longer trusted.\n"
        assert tooltray("trust", "remove", "/p/shop").out == "Nothing of /p/shop is trusted.\n"
        assert tooltray("trust", "remove", "/p/shop", "--json").json == {"project": "/p/shop", "entry": "", "trusted": False}
    with hub(hub_home, get_trusted_entries=[]):
        assert "No project's servers are trusted. Review a project's servers: tooltray trust DIR" in tooltray("trust", "list").out


@pytest.mark.parametrize("words", [("decline",), ("remove",), ("remove", "/p", "one", "two"), ("list", "/p"), ("",)])
def test_words_that_mean_nothing_are_refused(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    assert tooltray("trust", *words).code == 2


def test_where_no_hub_runs_the_same_is_done_in_the_files(person: Tooltray, tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    real = os.path.realpath(folder)
    entries = {"one": {"command": "run", "args": ["${secret:K}"]}, "two": {"command": "run"}}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))
    found = person("trust", str(folder), typed="y\nn\n")
    assert (found.code, "Trusted as 'one'." in found.out, "It does not run." in found.out) == (1, True, True)
    assert [(each["entry"], each["project"]) for each in tooltray("trust", "list", "--json").json] == [("one", real)]
    assert [each["entry"] for each in tooltray("trust", str(folder), "--json").json] == ["two"]
    assert tooltray("trust", "remove", str(folder), "one").code == 0
    assert tooltray("trust", "list", "--json").json == []
    again = tooltray("trust", "remove", str(folder), "one")
    assert (again.code, "is not trusted" in again.err) == (1, True)
    hub_home.trust.write_text("{")
    assert "none of it counts" in tooltray("trust", "list").err


def test_what_cannot_be_used_is_said_too_since_nobody_can_be_asked_about_it(person: Tooltray, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {\n"odd": {"args": []}}}')
    said = person("trust", str(tmp_path))
    assert (said.code, "odd" in said.out, "line 2" in said.out, "Nothing is waiting for approval" in said.out) == (1, True, True, True)
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {\n"odd": {"args": []}, "good": {"command": "run"}}}')
    said = person("trust", str(tmp_path), "good", typed="y\n")
    assert (said.code, "odd" in said.out, "Trusted as 'good'." in said.out) == (0, False, True)


# what programs have proposed

PROPOSED = {**ONE, "project": "", "file": "/h/settings.json", "entry": "new", "digest": "d3", "asked_by": "ci\x1b[1m", "is_inside": False}


def test_without_a_folder_all_that_waits_is_asked_about_and_a_program_is_named(person: Tooltray, hub_home: Home) -> None:
    answers = {"get_trust_requests": [PROPOSED, {**PROPOSED, "entry": "old", "is_change": True}, TWO], "trust_entries": ["new"]}
    with hub(hub_home, **answers) as fake:
        said = person("trust", typed="y\nn\nn\n")
        assert fake.params_of("get_trust_requests") == {"project": ""}
        assert fake.params_of("trust_entries") == {"project": "", "entries": {"new": "d3"}}
    assert said.code == 1
    assert "Asked for by the program: ci\n" in said.out
    assert "To revoke that: tooltray servers remove new" in said.out
    assert "It keeps running unchanged, and the change still waits. To decline it: tooltray trust decline old" in said.out
    with hub(hub_home, get_trust_requests=[]):
        assert person("trust").out == "Nothing is waiting for approval.\n"


def test_a_no_to_a_program_needs_no_terminal(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, distrust_entries=None) as fake:
        assert "Declined" in tooltray("trust", "decline", "new").out
        assert fake.params_of("distrust_entries") == {"project": "", "entry": "new"}
        assert tooltray("trust", "decline", "new", "--json").json == {"name": "new", "declined": True}


def propose(home: Home, **servers: dict[str, Any]) -> None:
    """What an untrusted program has sent to a hub that has ended."""
    home.prepare()
    home.proposals.write_text(json.dumps({"version": 1, "servers": servers}))


def test_where_no_hub_runs_what_waits_is_listed_and_answered_in_the_files(person: Tooltray, tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "old", "--", "run")
    change = {"entry": {"command": "other"}, "isChange": True, "askedBy": "ci"}
    propose(hub_home, new={"entry": {"command": "run"}, "askedBy": "ci"}, gone={"entry": {"command": "run"}}, old=change)
    listed = tooltray("servers", "list", "--json").json
    assert [(each["name"], each["waiting"]) for each in listed] == [("old", True), ("new", True), ("gone", True)]
    assert "needs a person at a terminal" in tooltray("trust").err
    said = person("trust", typed="y\nn\ny\n")
    assert (said.code, "Trusted as 'new'" in said.out, '+  "command": "other"' in said.out) == (1, True, True)
    servers = json.loads(hub_home.settings.read_text())["mcpServers"]
    assert (servers["new"], servers["old"]) == ({"command": "run"}, {"command": "other"})
    assert tooltray("trust", "decline", "gone").code == 0
    assert (tooltray("trust", "decline", "gone").code, json.loads(hub_home.proposals.read_text())["servers"]) == (1, {})


def test_where_no_hub_runs_a_server_that_waits_is_removed_as_others_are(tooltray: Tooltray, hub_home: Home) -> None:
    propose(hub_home, new={"entry": {"command": "run"}})
    assert tooltray("servers", "remove", "new").code == 0
    assert tooltray("servers", "list", "--json").json == []


def test_where_no_hub_runs_a_projects_server_is_written_after_the_yes(
    person: Tooltray, tooltray: Tooltray, hub_home: Home, tmp_path: Path
) -> None:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    propose(hub_home, db={"entry": {"command": "run"}, "project": str(folder)})
    refused = person("trust")
    assert (refused.code, "not allowed as a project" in refused.err, (folder / ".mcp.json").exists()) == (1, True, False)
    person("projects", "allow", str(folder))
    assert "Trusted as 'db'" in person("trust").out
    assert json.loads((folder / ".mcp.json").read_text())["mcpServers"] == {"db": {"command": "run"}}
    assert [each["entry"] for each in tooltray("trust", "list", "--json").json] == ["db"]


@pytest.mark.parametrize("text", ["{", '{"servers": {"a": {"entry": 1}}}'])
def test_proposals_that_cannot_be_read_are_forgotten_and_said_so(tooltray: Tooltray, hub_home: Home, text: str) -> None:
    propose(hub_home)
    hub_home.proposals.write_text(text)
    assert "so it is forgotten" in tooltray("servers", "list").err
    propose(hub_home, a={"entry": {"command": 5}}, **{"b/c": {"entry": {"command": "run"}}})  # edited by hand: nothing that could be used
    assert tooltray("servers", "list", "--json").json == []
