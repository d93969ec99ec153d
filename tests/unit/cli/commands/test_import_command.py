"""`tooltray import` of AI clients, files of other programs, and texts."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.fakes.terminal import Terminal
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.run import run
from tooltray.foundation.errors import Problem
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.ai_clients import ClientChange, FoundSecret, ImportCandidate, ImportedServer, ImportPlan, ImportSource
from tooltray.foundation.snapshots.entries import FormField

SOURCE = ImportSource("cursor", "/f", "git")
GIT = ImportCandidate("1", "git", "new", (SOURCE,), target="npx git", secrets=(FoundSecret("TOKEN", "form"),), proxied="a proxy")
OFF = ImportCandidate(
    "2", "off", "new", (SOURCE,), target="npx off", is_chosen=False, why_not_chosen="off there", remarks=("off there", "no headers")
)
SAME = ImportCandidate("3", "wiki", "same", (SOURCE,), target="npx wiki", here="wiki")
BROKEN = ImportCandidate("4", "bad", "broken", (ImportSource("", "", "bad"),), problem=Problem("'bad' cannot be imported"), is_chosen=False)
PLAN = ImportPlan((GIT, OFF, SAME, BROKEN), (Problem("mcp.json cannot be read"),))
CHANGE = ClientChange("c", "cursor", "remove", "/f", 1.0, ("git",))
DONE = [
    ImportedServer("1", "git", "listed", 2, (CHANGE,)),
    ImportedServer("3", "wiki", "listed", 1, problem=Problem("/f is not changed")),
]


def hub(home: Home, plan: ImportPlan = PLAN, done: Any = DONE) -> FakeControlHub:
    return FakeControlHub(home, {"preview_client_import": as_json(plan), "import_servers": [as_json(each) for each in done]})


def test_a_dry_run_says_what_there_is_and_imports_nothing(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        assert tooltray("import", "--dry-run").out.splitlines() == [
            "+ git: npx git (from cursor)",
            "    it is a proxy",
            "    goes among the secrets: TOKEN",
            "+ off: npx off (from cursor)",
            "    not among all: off there",
            "    no headers",
            "= wiki: npx wiki (is here already, as wiki) (from cursor)",
            "! 'bad' cannot be imported (the text)",
            "! mcp.json cannot be read",
        ]
        assert len(tooltray("import", "--dry-run", "--json").json["candidates"]) == 4
    assert fake.params_of("preview_client_import") == {"clients": []}


def test_all_are_imported_but_those_that_wait_for_a_yes_of_their_own(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        result = tooltray("import", "cursor", "kiro", "--yes")
        assert (result.code, result.out.splitlines()[-2:]) == (
            0,
            ["git: works, with 2 tools; taken out of /f", "wiki: works, with 1 tool; /f is not changed"],
        )
        assert "tooltray clients undo" in result.err
    assert fake.params_of("import_servers") == {"choices": ["1", "3"], "values": {}, "tidy": True, "clients": ["cursor", "kiro"]}


def test_what_is_kept_in_the_clients_is_said_to_the_hub_and_json_is_one_document(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        assert [each["name"] for each in tooltray("import", "--all", "--yes", "--keep", "--json").json["imported"]] == ["git", "wiki"]
    assert fake.params_of("import_servers")["tidy"] is False


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (ImportedServer("1", "git", "failed", problem=Problem("it does not start")), "git: it does not start"),
        (ImportedServer("1", "git", "failed"), "git: could not be imported"),
        (ImportedServer("1", "git", "added"), "git: is here, and waits for a yes, a sign-in or its first use"),
        (ImportedServer("1", "git", "cancelled"), "git: was not imported"),
    ],
)
def test_what_became_of_a_server_is_said(tooltray: Tooltray, hub_home: Home, done: ImportedServer, said: str) -> None:
    with hub(hub_home, done=[done]):
        result = tooltray("import", "--yes")
    assert (result.code, result.out.splitlines()[-1]) == (1 if done.state == "failed" else 0, said)


@pytest.mark.parametrize(
    ("typed", "choices"),
    [("y\nn\ny\ny\n", ["1", "3"]), ("n\ny\nn\nyes\n", ["2"]), ("n\nn\nn\n", None), ("y\nn\nn\nn\n", None)],
)
def test_a_person_is_asked_one_by_one(hub_home: Home, monkeypatch: pytest.MonkeyPatch, typed: str, choices: list[str] | None) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    with hub(hub_home) as fake:
        run(("import",), open_desktop=lambda home, **_: 99)
        assert [params["choices"] for verb, params in fake.calls if verb == "import_servers"] == ([choices] if choices else [])


def test_a_file_of_another_program_goes_as_a_text_and_is_asked_about_once(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"git": {"command": "npx"}}}), encoding="utf-16")
    with hub(hub_home, ImportPlan((GIT,)), DONE[:1]) as fake:
        assert tooltray("import", str(file), "--yes").code == 0
    text = json.dumps({"mcpServers": {"git": {"command": "npx"}}})
    assert fake.params_of("import_servers") == {"choices": ["1"], "values": {}, "tidy": False, "text": text}


def test_a_text_comes_through_a_pipe_and_secrets_are_asked_for_behind_it(tooltray: Tooltray, hub_home: Home) -> None:
    asks = (FormField("k", "The key", is_secret=True), FormField("p", "Place", default="eu"))
    candidate = ImportCandidate("1", "git", "new", (ImportSource("", "", "git"),), asks=asks)
    with hub(hub_home, ImportPlan((candidate,))) as fake:
        refused = tooltray("import", "-", "--yes", stdin="npx git")
        assert (refused.code, "The key" in refused.out) == (1, True)
    assert not [verb for verb, _ in fake.calls if verb == "import_servers"]


@pytest.mark.parametrize("missing", [FormField("k", "The key", is_secret=True), FormField("p", "Place", is_required=True)])
def test_one_server_that_needs_a_value_holds_up_no_other_and_is_named_at_the_end(
    tooltray: Tooltray, hub_home: Home, missing: FormField
) -> None:
    asking = ImportCandidate("9", "asking", "new", (SOURCE,), target="npx asking", asks=(missing,))
    filled = ImportCandidate("8", "filled", "new", (SOURCE,), asks=(FormField("p", "Place", is_required=True, default="eu"),))
    with hub(hub_home, ImportPlan((asking, GIT, filled)), DONE[:1]) as fake:
        result = tooltray("import", "--all", "--yes")
        in_json = tooltray("import", "--all", "--yes", "--json")
    assert fake.params_of("import_servers")["choices"] == ["1", "8"]
    assert (result.code, in_json.code) == (1, 1)
    assert result.out.splitlines()[-2].startswith("git: works")
    assert result.out.splitlines()[-1].startswith(f"asking: No value for {'the secret ' if missing.is_secret else ''}{missing.label}")
    assert [(each["name"], each["state"]) for each in in_json.json["imported"]] == [("git", "listed"), ("asking", "failed")]


def test_a_person_types_what_is_asked_for(hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asks = (FormField("k", "The key", is_secret=True), FormField("p", "Place", choices=("eu", "us"), default="eu"), FormField("q", "Q"))
    candidate = ImportCandidate("1", "git", "new", (SOURCE,), asks=asks)
    monkeypatch.setattr("sys.stdin", Terminal("us\n"))
    monkeypatch.setattr("getpass.getpass", lambda question: "dummy-key")
    with hub(hub_home, ImportPlan((candidate,)), DONE[:1]) as fake:
        run(("import", "--yes"), open_desktop=lambda home, **_: 99)
    assert fake.params_of("import_servers")["values"] == {"1": {"k": "dummy-key", "p": "us"}}
    assert "Place (eu, us) [eu]: " in capsys.readouterr().out


def test_where_nothing_is_found_that_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, ImportPlan()):
        result = tooltray("import", "--yes")
        assert result.out == "No AI client has a server that could be imported.\nThere is nothing to import.\n"


@pytest.mark.parametrize("words", [("cursor", "mcp.json"), ("cursor", "--replace"), ("--replace",)])
def test_a_file_and_clients_do_not_go_together(tooltray: Tooltray, words: tuple[str, ...]) -> None:
    assert tooltray("import", *words).code == 2


def test_a_file_that_cannot_be_read_is_named(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    assert "cannot be read. It is a folder" in tooltray("import", f"{tmp_path}/").err.replace("it is", "It is").replace(": It", ". It")
    assert "No such file" in tooltray("import", f"{tmp_path}/none").err
