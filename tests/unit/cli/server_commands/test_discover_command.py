"""`tooltray discover ...`: what is typed reaches the hub, and what would run is shown before it is added."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, hub_snapshot, server_snapshot
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.discovery import (
    BundleOffer,
    BundleSnapshot,
    RegistryHit,
    RegistryOption,
    RegistrySearch,
    RegistryServer,
    RegistryStatus,
    RegistryUpdate,
    StarterServer,
)
from tooltray.foundation.snapshots.entries import FormField, NewServer
from tooltray.foundation.snapshots.setup import ServerRemoval

NAME = "io.github.owner/notes"
STATUS = RegistryStatus(2, 1_700_000_000.0)
FIELDS = (
    FormField("KEY", "KEY", description="Yours", is_secret=True, is_required=True),
    FormField("folders", "folders", is_list=True, is_required=True),
    FormField("MODE", "MODE", kind="choice", choices=("a", "b"), default="a"),
)
SERVER = RegistryServer(
    NAME,
    "Notes",
    "Keeps notes",
    "1.2.0",
    (
        RegistryOption("cargo-1", "cargo", "notes", problem=Problem("It cannot be used", "nobody starts it")),
        RegistryOption("npm-2", "npm", "notes@1.2.0", "npx", FIELDS),
        RegistryOption("remote-3", "remote", "https://x.example/mcp"),
    ),
    is_deprecated=True,
)
NEW = NewServer(
    "notes",
    {"command": "npx", "env": {"KEY": "${secret:notes/KEY}"}, "headers": {"X": "y"}},
    ("npx", "-y", "notes@1.2.0", "; rm -rf ~"),
    secrets=("KEY",),
    origin=f"{NAME} 1.2.0 (npm)",
    warnings=(Problem("Look", "twice"),),
)
STARTERS = [
    StarterServer("files", "Files", "Reads files.", "Files", "npx -y files '<folders>'", "Node.js", FIELDS[:2]),
    StarterServer("time", "Time", "Tells the time.", "Knowledge", "uvx time", here="clock"),
]


def plain(value: Any) -> Any:
    return as_json(value)


def hub(home: Home, **answers: Any) -> FakeControlHub:
    known = {
        "get_registry_server": plain(SERVER),
        "preview_registry_server": plain(NEW),
        "add_registry_server": "notes",
        "get_starter_servers": plain(STARTERS),
        "add_starter_server": "files",
        "start_server": None,
        "get_tools": [],
        "get_snapshot": hub_snapshot(),
    }
    return FakeControlHub(home, known | answers)


def asked(fake: FakeControlHub, verb: str) -> list[dict[str, Any]]:
    return [params for method, params in fake.calls if method == verb]


def test_search_lists_what_is_found_and_how_old_it_is(tooltray: Tooltray, hub_home: Home) -> None:
    hits = (RegistryHit(NAME, "Notes", "Keeps notes", "1.2.0", ("npm", "remote")), RegistryHit("a/b", "B", "", "1"))
    with hub(hub_home, search_registry=plain(RegistrySearch(hits, 7, STATUS))) as fake:
        result = tooltray("discover", "search", "my", "notes", "-n", "2")
        assert tooltray("discover", "search", "notes", "--json").json["total"] == 7
    rows = [" ".join(line.split()) for line in result.out.splitlines()]
    assert rows == ["NAME VERSION AS DESCRIPTION", f"{NAME} 1.2.0 npm, remote Keeps notes", "a/b 1 - B"]
    assert "5 more match" in result.err
    assert "As the registry was on 2023-11-1" in result.err
    assert asked(fake, "search_registry")[0] == {"text": "my notes", "limit": 2}


def test_the_first_search_of_all_fetches_the_list(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, search_registry=plain(RegistrySearch((), 0, RegistryStatus())), refresh_registry=plain(STATUS)) as fake:
        result = tooltray("discover", "search")
    assert "for the first time" in result.err
    assert result.out == "The registry is not downloaded yet.\n"
    assert len(asked(fake, "search_registry")) == 2


def test_a_copy_without_the_server_says_so(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, search_registry=plain(RegistrySearch((), 0, STATUS))):
        assert tooltray("discover", "search", "x").out == "No matching server in the registry.\n"


def test_what_keeps_the_list_from_coming_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    status = RegistryStatus(problem=Problem("It cannot be read", "nobody answers"))
    with hub(hub_home, search_registry=plain(RegistrySearch((), 0, status)), refresh_registry=plain(status)):
        assert "nobody answers" in tooltray("discover", "search", "x").err
        refreshed = tooltray("discover", "refresh")
        assert (refreshed.code, "nobody answers" in refreshed.err) == (1, True)


def test_refresh_says_how_many_servers_there_are(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, refresh_registry=plain(STATUS)):
        assert tooltray("discover", "refresh").out == "The registry has 2 servers.\n"


def test_show_says_all_ways_and_what_they_ask_for(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home):
        lines = tooltray("discover", "show", NAME).out.splitlines()
    assert lines[:4] == [f"{NAME} 1.2.0", "Notes", "Keeps notes", "Its publisher has deprecated it."]
    assert "--option cargo-1: cargo notes" in lines
    assert any("nobody starts it" in line for line in lines)
    assert "--option npm-2: npm notes@1.2.0, needs npx" in lines
    assert "  KEY (text, secret, required; Yours)" in [
        line.replace("KEY (", "  KEY (", 1) if line.startswith("KEY") else line for line in lines
    ]
    assert any("one of a, b; default: a" in line for line in lines)


def test_add_shows_what_runs_asks_for_secrets_and_adds_after_a_yes(
    person: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getpass", lambda question: "dummy-key")
    with hub(hub_home) as fake:
        result = person("discover", "add", NAME, "--set", "folders=/a", "--set", "folders=/b", "--name", "mine")
    assert "Runs: npx -y notes@1.2.0 '; rm -rf ~'" in result.out
    for line in ("Name: notes", f"From: {NAME} 1.2.0 (npm)", "Variables: KEY", "Headers: X", "Secrets: KEY", "Warning: Look: twice"):
        assert line in result.out
    values = {"KEY": "dummy-key", "folders": ["/a", "/b"]}
    (added,) = asked(fake, "add_registry_server")
    assert added == {"name": NAME, "version": "1.2.0", "option": "npm-2", "values": values, "server": "mine"}
    assert "Added notes; it" in result.out
    assert "dummy-key" not in result.out + result.err


def test_without_a_yes_nothing_is_added(person: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda question: "dummy-key")
    with hub(hub_home) as fake:
        result = person("discover", "add", NAME, "--set", "folders=/a", typed="n\n")
    assert result.code == 1
    assert asked(fake, "add_registry_server") == []


def test_a_script_gives_secrets_on_standard_input_and_says_yes_itself(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        result = tooltray("discover", "add", NAME, "--set", "folders=/a", "--yes", "--json", stdin="dummy-key\n")
        dry = tooltray("discover", "add", NAME, "--set", "folders=/a", "--dry-run", "--json", stdin="dummy-key\n")
        refused = tooltray("discover", "add", NAME, "--set", "folders=/a", stdin="dummy-key\n")
    assert result.json == {"server": "notes", "started": True, "tools": 0, "snapshot": {}}
    assert dry.json["name"] == "notes"
    assert "' needs an answer in a terminal" in refused.err
    assert len(asked(fake, "add_registry_server")) == 1


def test_a_secret_is_no_argument_but_a_reference_may_be_one(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        result = tooltray("discover", "add", NAME, "--set", "KEY=dummy", "--set", "folders=/a", "--yes")
        assert (result.code, "KEY is a secret" in result.err) == (1, True)
        tooltray("discover", "add", NAME, "--set", "KEY=${MY_KEY}", "--set", "folders=/a", "--yes")
    assert asked(fake, "add_registry_server")[0]["values"] == {"KEY": "${MY_KEY}", "folders": ["/a"]}


def test_a_person_is_asked_for_other_values_that_are_missing(person: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda question: "dummy-key")
    with hub(hub_home) as fake:
        person("discover", "add", NAME, typed="/typed\ny\n")
    assert asked(fake, "add_registry_server")[0]["values"] == {"KEY": "dummy-key", "folders": "/typed"}


def test_an_option_that_is_not_there_is_refused(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home):
        assert "Available: cargo-1, npm-2, remote-3" in tooltray("discover", "add", NAME, "--option", "x", "--yes").err
    bare = RegistryServer("a/b", "", "", "1", ())
    with hub(hub_home, get_registry_server=plain(bare)):
        assert "The registry describes no way to install it" in tooltray("discover", "add", "a/b", "--yes").err


def test_an_address_is_shown_in_the_place_of_a_command(tooltray: Tooltray, hub_home: Home) -> None:
    new = NewServer("notes", {"type": "http", "url": "https://x.example/mcp"}, url="https://x.example/mcp", origin="x.example")
    with hub(hub_home, preview_registry_server=plain(new)):
        assert "Address: https://x.example/mcp" in tooltray("discover", "add", NAME, "--option", "remote-3", "--dry-run").out


def fails(**_: Any) -> Any:
    raise TooltrayError("It does not start", "no such program")


def test_a_server_that_does_not_start_is_added_and_said_to_be_so(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, start_server=fails):
        result = tooltray("discover", "add", NAME, "--option", "remote-3", "--yes")
    assert (result.code, "which failed to start" in result.out, "no such program" in result.err) == (1, True, True)


def test_a_server_that_waits_for_a_sign_in_is_no_failure(tooltray: Tooltray, hub_home: Home) -> None:
    waiting = hub_snapshot(server_snapshot("notes", state="needs_sign_in"))
    with hub(hub_home, start_server=fails, get_snapshot=waiting):
        result = tooltray("discover", "add", NAME, "--option", "remote-3", "--yes")
    assert (result.code, "tooltray servers sign-in notes" in result.out) == (0, True)


def test_starters_are_listed_and_added_by_their_id(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        rows = [" ".join(line.split()) for line in tooltray("discover", "starters").out.splitlines()]
        assert rows[1:] == ["files Files - Node.js Reads files.", "time Knowledge clock - Tells the time."]
        result = tooltray("discover", "start", "files", "--set", "folders=/a", "--yes", stdin="dummy-key\n")
        assert "Runs: npx -y files '<folders>'" in result.out
        assert "KEY: (secret)" in result.out
        assert "'none' is not a well-known server" in tooltray("discover", "start", "none", "--yes").err
        assert tooltray("discover", "start", "time", stdin="").code == 1
    assert asked(fake, "add_starter_server") == [{"id": "files", "values": {"KEY": "dummy-key", "folders": ["/a"]}, "server": ""}]


def test_without_a_yes_no_well_known_server_is_added(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        assert person("discover", "start", "time", typed="n\n").code == 1
    assert asked(fake, "add_starter_server") == []


def test_a_bundle_says_itself_what_it_asks_for(tooltray: Tooltray, hub_home: Home) -> None:
    url = "https://x.example/a.mcpb"
    server = RegistryServer("a/b", "", "", "1", (RegistryOption("mcpb-1", "mcpb", url),))
    offer = BundleOffer(url, "a" * 64, "a", "A", "1", "", "", "node", (), 1, fields=FIELDS[:1])
    with hub(hub_home, get_registry_server=plain(server), read_bundle=plain(offer)) as fake:
        tooltray("discover", "add", "a/b", "--yes", stdin="dummy-key\n")
    assert asked(fake, "read_bundle") == [{"source": url}]
    assert asked(fake, "add_registry_server")[0]["values"] == {"KEY": "dummy-key"}


def test_updates_are_listed_and_made_after_a_yes(tooltray: Tooltray, person: Tooltray, hub_home: Home) -> None:
    found = [RegistryUpdate("notes", NAME, "1.0", "1.1", ("new: add",))]
    with hub(hub_home, get_registry_updates=plain(found), update_registry_server=None) as fake:
        assert "notes" in tooltray("discover", "updates").out
        assert tooltray("discover", "updates", "--json").json[0]["newest"] == "1.1"
        assert person("discover", "update", "notes", typed="n\n").code == 1
        assert "1.0 becomes 1.1. new: add" in person("discover", "update", "notes").err
    assert asked(fake, "update_registry_server") == [{"server": "notes"}]
    with hub(hub_home, get_registry_updates=[]):
        assert "up to date" in tooltray("discover", "updates").out


@pytest.mark.parametrize("words", [("add", NAME, "--set", "=x"), ("add", NAME, "--set", "x"), ("search", "-n", "0"), ("start",)])
def test_what_cannot_be_understood_is_refused(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    assert tooltray("discover", *words).code == 2


SHA = "ab" * 32
KEY = FormField("key", "A key", is_required=True, is_secret=True)
NOTES = BundleSnapshot("notes", "notes", "Notes", "1.0.0", "Somebody", SHA, "/a.mcpb", "/b", 1_700_000_000.0)


def plain_bundle(value: object) -> Any:
    return json.loads(json.dumps(as_json(value)))  # type: ignore[arg-type]


def offer(**more: Any) -> Any:
    about: dict[str, Any] = {"source": "/a.mcpb", "sha256": SHA, "name": "notes", "title": "Notes", "version": "1.0.0", "size_bytes": 5}
    about |= {"description": "Keeps notes.", "author": "Somebody", "kind": "node", "command": ("node", "a b.js")}
    return plain_bundle(BundleOffer(**{**about, **more}))


def answers(**more: Any) -> dict[str, Any]:
    new = NewServer("notes", {}, command=("node", "/b/a b.js"))
    started = {"start_server": None, "get_snapshot": hub_snapshot(), "get_tools": []}
    return {"read_bundle": offer(), "preview_bundle": plain_bundle(new), "install_bundle": "notes", **started, **more}


def test_show_says_what_it_is_and_what_it_would_run(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    fields = (KEY, FormField("level", "Level", default="low"))
    careful = (Problem("It runs words through a shell"),)
    found = offer(fields=fields, warnings=careful, problems=(Problem("Not here"),), tools=("add",), here="notes", here_version="0.9")
    with FakeControlHub(hub_home, {"read_bundle": found | {"signature": "unverified"}}) as hub:
        printed = tooltray("bundle", "show", "a.mcpb").out
        assert hub.params_of("read_bundle") == {"source": str(Path.cwd() / "a.mcpb")}
        assert tooltray("bundle", "show", "https://example.com/a.mcpb", "--json").json["sha256"] == SHA
        assert hub.params_of("read_bundle") == {"source": "https://example.com/a.mcpb"}
    said = (
        "replaces 0.9",
        "Somebody",
        SHA,
        "node 'a b.js'",
        "signed, but not verified",
        "key (text, secret, required; A key)",
        "default: low",
    )
    for words in (*said, "Warning: It runs words through a shell", "Problem: Not here", "Tools: add"):
        assert words in " ".join(printed.split())


def test_install_needs_a_yes_and_shows_the_whole_command_before(person: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, answers()) as hub:
        done = person("bundle", "install", "/a.mcpb", typed="n\n")
        assert "Nothing was changed." in done.out
        assert "node '/b/a b.js'" in done.out
        assert "install_bundle" not in [method for method, _ in hub.calls]


def test_a_secret_is_not_taken_from_the_command_line(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, answers(read_bundle=offer(fields=(KEY,)))):
        done = tooltray("bundle", "install", "/a.mcpb", "--set", "key=dummy-typed-value", "--yes")
    assert (done.code, "key is a secret" in done.err) == (1, True)
    assert "dummy-typed-value" not in done.out + done.err


def test_install_takes_settings_and_secrets_and_says_what_came_of_it(tooltray: Tooltray, hub_home: Home) -> None:
    fields = (KEY, FormField("dirs", "Folders", kind="folder", is_list=True), FormField("level", "Level"))
    with FakeControlHub(hub_home, answers(read_bundle=offer(fields=fields))) as hub:
        words = ("--set", "dirs=/a", "--set", "level=a=b", "--name", "mine", "--yes", "--secret-stdin", "--json")
        tooltray("bundle", "install", "/a.mcpb", *words, stdin="dummy-secret\n")
        given = hub.params_of("install_bundle")
    assert given["values"] == {"dirs": ["/a"], "level": "a=b", "key": "dummy-secret"}
    assert (given["sha256"], given["server"], given["source"]) == (SHA, "mine", "/a.mcpb")


def test_a_person_is_asked_for_what_is_needed_and_secrets_are_not_echoed(
    person: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = (KEY, FormField("level", "Level", description="How loud.", is_required=True), FormField("more", "More", is_secret=True))
    monkeypatch.setattr("getpass.getpass", lambda question: "dummy-typed-secret")
    with FakeControlHub(hub_home, answers(read_bundle=offer(fields=fields, here="notes", here_version="0.9"))) as hub:
        done = person("bundle", "install", "/a.mcpb", typed="high\nn\ny\n")
        given = hub.params_of("install_bundle")
    assert given["values"] == {"level": "high", "key": "dummy-typed-secret"}
    assert "Updated Notes 1.0.0 as notes" in done.out
    assert "dummy-typed-secret" not in done.out + done.err


def test_nobody_is_asked_where_nothing_is_typed(person: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, answers(read_bundle=offer(fields=(FormField("a", "A", is_required=True),)))) as hub:
        person("bundle", "install", "/a.mcpb", "--yes", typed="")
        assert hub.params_of("install_bundle")["values"] == {"a": ""}


def test_a_bundle_that_does_not_start_is_installed_and_the_command_says_so(tooltray: Tooltray, hub_home: Home) -> None:
    def fails(**params: Any) -> None:
        raise TooltrayError("it does not start")

    with FakeControlHub(hub_home, answers(start_server=fails)):
        done = tooltray("bundle", "install", "/a.mcpb", "--yes")
    assert (done.code, "Installed Notes 1.0.0 as notes, which failed to start." in done.out, "it does not start" in done.err) == (
        1,
        True,
        True,
    )


def test_what_cannot_run_here_is_not_installed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"read_bundle": offer(problems=(Problem("This bundle is not for this system"),))}):
        done = tooltray("bundle", "install", "/a.mcpb", "--yes")
    assert (done.code, "not for this system" in done.err) == (1, True)


def test_list_shows_what_is_installed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_bundles": [plain_bundle(NOTES)]}):
        row = tooltray("bundle", "list").out.splitlines()[1].split()
    assert (row[:4], row[-1]) == (["notes", "Notes", "1.0.0", "Somebody"], SHA[:16])
    with FakeControlHub(hub_home, {"get_bundles": []}):
        assert "No bundles yet" in tooltray("bundle", "list").out


def test_remove_asks_before_it_takes_files_and_secrets_away(person: Tooltray, hub_home: Home) -> None:
    removal = plain_bundle(ServerRemoval("notes", ("notes/key",)))
    with FakeControlHub(hub_home, {"get_bundles": [plain_bundle(NOTES)], "preview_removal": removal, "remove_bundle": None}) as hub:
        assert "Nothing was changed." in person("bundle", "remove", "notes", typed="n\n").out
        assert "Removed notes." in person("bundle", "remove", "notes", typed="y\n").out
        assert hub.params_of("remove_bundle") == {"server": "notes"}


@pytest.mark.parametrize("words", [("show",), ("install", "a", "--set", "novalue")])
def test_what_is_typed_wrong_is_said(tooltray: Tooltray, words: tuple[str, ...]) -> None:
    assert tooltray("bundle", *words).code == 2
