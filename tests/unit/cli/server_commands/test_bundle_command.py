"""`tooltray bundle ...` with a running hub."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.discovery import BundleOffer, BundleSnapshot
from tooltray.foundation.snapshots.entries import FormField, NewServer
from tooltray.foundation.snapshots.setup import ServerRemoval

SHA = "ab" * 32
KEY = FormField("key", "A key", is_required=True, is_secret=True)
NOTES = BundleSnapshot("notes", "notes", "Notes", "1.0.0", "Somebody", SHA, "/a.mcpb", "/b", 1_700_000_000.0)


def plain(value: object) -> Any:
    return json.loads(json.dumps(as_json(value)))  # type: ignore[arg-type]


def offer(**more: Any) -> Any:
    about: dict[str, Any] = {"source": "/a.mcpb", "sha256": SHA, "name": "notes", "title": "Notes", "version": "1.0.0", "size_bytes": 5}
    about |= {"description": "Keeps notes.", "author": "Somebody", "kind": "node", "command": ("node", "a b.js")}
    return plain(BundleOffer(**{**about, **more}))


def answers(**more: Any) -> dict[str, Any]:
    new = NewServer("notes", {}, command=("node", "/b/a b.js"))
    started = {"start_server": None, "get_snapshot": None, "get_tools": []}
    return {"read_bundle": offer(), "preview_bundle": plain(new), "install_bundle": "notes", **started, **more}


def test_show_says_what_it_is_and_what_it_would_run(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    fields = (KEY, FormField("level", "Level", default="low"))
    careful = (Problem("It runs words through a shell"),)
    found = offer(fields=fields, warnings=careful, problems=(Problem("Not here"),), tools=("add",), here="notes", here_version="0.9")
    with FakeControlHub(hub_home, {"read_bundle": found | {"signature": "unverified"}}) as hub:
        printed = tooltray("bundle", "show", "a.mcpb").out
        assert hub.params_of("read_bundle") == {"source": str(Path.cwd() / "a.mcpb")}
        assert tooltray("bundle", "show", "https://example.com/a.mcpb", "--json").json["sha256"] == SHA
        assert hub.params_of("read_bundle") == {"source": "https://example.com/a.mcpb"}
    said = ("in the place of 0.9", "Somebody", SHA, "node 'a b.js'", "nobody checked it", "key (text, required, secret)", "default low")
    for words in (*said, "Careful: It runs words through a shell", "Problem: Not here", "Tools: add"):
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
    assert (done.code, "Installed Notes 1.0.0 as notes, which does not start." in done.out, "it does not start" in done.err) == (
        1,
        True,
        True,
    )


def test_what_cannot_run_here_is_not_installed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"read_bundle": offer(problems=(Problem("This bundle is not for this system"),))}):
        done = tooltray("bundle", "install", "/a.mcpb", "--yes")
    assert (done.code, "not for this system" in done.err) == (1, True)


def test_list_shows_what_is_installed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_bundles": [plain(NOTES)]}):
        row = tooltray("bundle", "list").out.splitlines()[1].split()
    assert (row[:4], row[-1]) == (["notes", "Notes", "1.0.0", "Somebody"], SHA[:16])
    with FakeControlHub(hub_home, {"get_bundles": []}):
        assert "no bundles yet" in tooltray("bundle", "list").out


def test_remove_asks_before_it_takes_files_and_secrets_away(person: Tooltray, hub_home: Home) -> None:
    removal = plain(ServerRemoval("notes", ("notes/key",)))
    with FakeControlHub(hub_home, {"get_bundles": [plain(NOTES)], "preview_removal": removal, "remove_bundle": None}) as hub:
        assert "Nothing was changed." in person("bundle", "remove", "notes", typed="n\n").out
        assert "Removed notes." in person("bundle", "remove", "notes", typed="y\n").out
        assert hub.params_of("remove_bundle") == {"server": "notes"}


@pytest.mark.parametrize("words", [("show",), ("install", "a", "--set", "novalue")])
def test_what_is_typed_wrong_is_said(tooltray: Tooltray, words: tuple[str, ...]) -> None:
    assert tooltray("bundle", *words).code == 2
