"""`tooltray import` of AI clients, files of other programs, and texts."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.fakes.modes import has_mode
from tests.fakes.terminal import Terminal
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.commands.import_command import MAX_BYTES
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
            "    stored as secrets: TOKEN",
            "+ off: npx off (from cursor)",
            "    not part of --all: off there",
            "    no headers",
            "= wiki: npx wiki (already added as wiki) (from cursor)",
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
            ["git: works, with 2 tools; removed from /f", "wiki: works, with 1 tool; /f is not changed"],
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
        (ImportedServer("1", "git", "added"), "git: added; waits for approval, sign-in or first use"),
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
        assert result.out == "No AI client has a server to import.\nNothing to import.\n"


@pytest.mark.parametrize("words", [("cursor", "mcp.json"), ("cursor", "--replace"), ("--replace",)])
def test_a_file_and_clients_do_not_go_together(tooltray: Tooltray, words: tuple[str, ...]) -> None:
    assert tooltray("import", *words).code == 2


def test_a_file_that_cannot_be_read_is_named(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    assert "cannot be read. It is a folder" in tooltray("import", f"{tmp_path}/").err.replace("it is", "It is").replace(": It", ". It")
    assert "No such file" in tooltray("import", f"{tmp_path}/none").err


SETUP = {"version": 1, "mcpServers": {"files": {"command": "files", "env": {"KEY": "${secret:files/KEY}"}}}, "defaultServers": ["files"]}


def settings(home: Home) -> Any:
    return json.loads(home.settings.read_bytes())


@pytest.fixture
def setup_file(tmp_path: Path) -> str:
    path = tmp_path / "setup.json"
    path.write_text(json.dumps(SETUP))
    return str(path)


def test_what_one_home_exports_another_takes_over(tooltray: Tooltray, tmp_path: Path, hub_home: Home) -> None:
    assert tooltray("servers", "add", "files", "--plain", "--env", "API_KEY=hunter2", "--", "files", "--fast").code == 0
    file = tmp_path / "out.json"
    exported = tooltray("export", str(file))
    assert (exported.code, exported.out) == (0, f"The backup is in {file}.\n")
    assert "Enter these again elsewhere: files/API_KEY" in exported.err
    assert "hunter2" not in file.read_text()
    assert has_mode(file, 0o600)
    other = str(tmp_path / "other")
    taken = tooltray("--home", other, "import", str(file), "--yes")
    assert taken.code == 0
    assert taken.out.splitlines() == [
        "  + files: files --fast (runs without asking: read)",
        "  + files: starts with Tooltray",
        "  + secret files/API_KEY: its value is not in the backup",
        "Done.",
        "Store its value with: tooltray secrets set files/API_KEY",
    ]
    assert settings(Home(Path(other)))["mcpServers"]["files"]["env"] == {"API_KEY": "${secret:files/API_KEY}"}


@pytest.mark.parametrize("words", [(), ("-",)])
def test_an_export_goes_to_standard_output_and_its_remarks_do_not(tooltray: Tooltray, words: tuple[str, ...]) -> None:
    tooltray("servers", "add", "files", "--", "files")
    result = tooltray("export", *words)
    assert result.json["mcpServers"] == {"files": {"command": "files", "args": [], "autoApprove": ["read"]}}
    assert result.err == ""


def test_a_file_that_is_there_is_replaced_only_with_force(tooltray: Tooltray, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_text("mine")
    refused = tooltray("export", str(file))
    assert (refused.code, file.read_text()) == (1, "mine")
    assert "--force" in refused.err
    assert tooltray("export", str(file), "--force", "--json").json == {"file": str(file)}
    assert json.loads(file.read_text())["mcpServers"] == {}


def test_a_running_hub_is_asked(tooltray: Tooltray, hub_home: Home, setup_file: str) -> None:
    change = {"kind": "add", "subject": "server", "name": "files", "detail": "files"}
    with FakeControlHub(hub_home, {"preview_import": [change], "import_setup": [change]}) as hub:
        assert tooltray("import", setup_file, "--yes", "--replace", "--json").json == {"changes": [change], "done": True}
    assert hub.params_of("import_setup") == {"setup": SETUP, "replace": True}


def test_nobody_there_to_say_yes_changes_nothing(tooltray: Tooltray, hub_home: Home, setup_file: str) -> None:
    result = tooltray("import", setup_file)
    hint = "Give --yes with the command, or run it in a terminal"
    assert (result.code, result.err) == (1, f"tooltray: 'Import this?' needs an answer in a terminal. {hint}\n")
    assert result.out.startswith("  + files: files (runs without asking: read)")
    assert not hub_home.settings.exists()


@pytest.mark.parametrize(("typed", "is_done"), [("y\n", True), ("Yes\n", True), ("\n", False), ("no\n", False), ("", False)])
def test_a_person_is_asked_and_enter_means_no(
    hub_home: Home, setup_file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, is_done: bool
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    code = run(("import", setup_file), open_desktop=lambda home, **_: 99)
    assert "Import this? [y/N] " in capsys.readouterr().out
    assert (code, hub_home.settings.exists()) == ((0, True) if is_done else (1, False))


def test_a_dry_run_says_what_would_change_and_changes_nothing(tooltray: Tooltray, hub_home: Home, setup_file: str) -> None:
    result = tooltray("import", setup_file, "--dry-run")
    assert (result.code, result.out.splitlines()[0]) == (0, "  + files: files (runs without asking: read)")
    assert tooltray("import", setup_file, "--dry-run", "--json").json["done"] is False
    assert not hub_home.settings.exists()


def test_what_changes_nothing_is_said_to(tooltray: Tooltray, setup_file: str) -> None:
    tooltray("import", setup_file, "--yes")
    assert tooltray("import", setup_file).out == "Nothing would change.\n"
    assert tooltray("import", setup_file, "--json").json["done"] is False


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is not JSON"),
        (b"[]", "it is not a JSON object"),
        (b"{}", "no `mcpServers`"),
        (b'{"mcpServers": 5}', "no `mcpServers`"),
        (b'{"mcpServers": {"x": {}}}', "nothing was changed"),
        (b'"' + b"x" * MAX_BYTES + b'"', "it is larger than"),
    ],
)
def test_what_is_no_setup_is_refused(tooltray: Tooltray, tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "odd.json"
    file.write_bytes(content)
    result = tooltray("import", str(file), "--yes", "--replace")
    assert (result.code, said in result.err) == (1, True), result.err


def test_files_that_cannot_be_read_or_written_are_named(tooltray: Tooltray, tmp_path: Path) -> None:
    assert f"{tmp_path}/none cannot be read: No such file" in tooltray("import", f"{tmp_path}/none").err.replace(". ", ": ")
    assert f"{tmp_path}/no/out cannot be written: No such file" in tooltray("export", f"{tmp_path}/no/out").err.replace(". ", ": ")


def test_a_reset_shows_what_it_does_and_keeps_one_s_own(person: Tooltray, tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "mine", "--", "mine")
    tooltray("servers", "add", "time", "--", "other")
    result = person("servers", "reset", "--yes")
    assert result.code == 0
    assert "  ~ time: changes command, args, autoApprove, icons, descriptions" in result.out.splitlines()
    assert "  = mine: your own server" in result.out.splitlines()
    assert settings(hub_home)["mcpServers"]["mine"]["command"] == "mine"
    assert settings(hub_home)["mcpServers"]["time"]["command"] == "uvx"


def test_plain_secrets_of_a_set_up_are_kept_as_secrets(
    tooltray: Tooltray, hub_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tooltray("secrets", "backend", "file", stdin="open sesame\n")
    monkeypatch.setenv("TOOLTRAY_PASSPHRASE", "open sesame")
    file = tmp_path / "mcp.json"
    file.write_text(
        json.dumps({"version": 1, "mcpServers": {"code": {"type": "stdio", "command": "code", "env": {"API_KEY": "hunter22"}}}})
    )
    result = tooltray("import", str(file), "--yes")
    assert result.code == 0, result.err
    assert "  ~ secret code/API_KEY: is in the file in plain text; will be stored as a secret" in result.out
    assert "Store its value" not in result.out
    assert settings(hub_home)["mcpServers"]["code"]["env"] == {"API_KEY": "${secret:code/API_KEY}"}
    assert "hunter22" not in hub_home.settings.read_text()


def test_secrets_that_only_a_hub_could_keep_are_not_taken_over_without_one(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    tooltray("secrets", "backend", "memory")
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"version": 1, "mcpServers": {"code": {"command": "code", "env": {"API_KEY": "hunter22"}}}}))
    result = tooltray("import", str(file), "--yes")
    assert (result.code, "tooltray serve" in result.err) == (1, True)
    assert "mcpServers" not in settings(hub_home)


def test_settings_that_cannot_be_read_are_said_so_without_a_hub(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.settings.write_text("{broken")
    result = tooltray("servers", "list")
    assert result.code == 0
    assert str(hub_home.settings) in result.err
