"""import_sources.py: servers in files of clients, in a file that is named, and in a text."""

import json
from pathlib import Path
from typing import Any

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.clients.client_kinds import ClientKind, read_client_kinds
from tooltray.sources.clients.found_entries import MAX_ENTRIES, FoundEntry
from tooltray.sources.clients.import_sources import MAX_TEXT, Found, of_clients, of_file, of_text
from tooltray.sources.foreign_entries.entry_reading import read_server

KINDS = {kind.id: kind for kind in read_client_kinds()}
NPX = {"command": "npx", "args": ["-y", "x"]}


def shapes(found: list[Found]) -> list[tuple[str, str]]:
    return [(each.server.name, each.server.shape) for each in found]


def entry(client: ClientKind, path: Path, written: Any, **fields: Any) -> FoundEntry:
    return FoundEntry(client, path, "", ("servers", "s"), "s", written, **fields)


def test_tooltray_itself_and_what_leads_to_it_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    entries = [entry(KINDS["cursor"], path, NPX, kind=kind) for kind in ("server", "bridge", "loop")]
    (found,) = of_clients(entries)
    assert (found.source.client, found.source.path, found.server.shape, found.entry) == ("cursor", str(path), "cursor", entries[0])


def test_a_file_s_description_of_values_that_it_asks_for_is_read_with_an_entry_that_asks(tmp_path: Path) -> None:
    path, asks = tmp_path / "mcp.json", {**NPX, "env": {"K": "${input:key}"}}
    path.write_text(json.dumps({"inputs": [{"id": "key", "password": True}, "odd", {"no": "id"}], "servers": {"s": asks}}))
    one, two, plain = of_clients(
        [entry(KINDS["vscode"], path, asks), entry(KINDS["vscode"], path, asks), entry(KINDS["vscode"], path, NPX)]
    )
    assert one.server.inputs == two.server.inputs == {"key": {"id": "key", "password": True}}
    assert plain.server.inputs == {}


def test_a_file_that_is_gone_meanwhile_gives_no_descriptions(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").mkdir()
    (found,) = of_clients([entry(KINDS["vscode"], tmp_path / "mcp.json", {"command": "${input:key}"})])
    assert found.server.inputs == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps({"mcpServers": {"a": NPX, "b": NPX}}), [("a", "plain"), ("b", "plain")]),
        ('// of an editor\n{"servers": {"a": {"type": "http", "url": "http://a.example",},}}', [("a", "vscode")]),
        (json.dumps({"mcp": {"a": {"type": "local", "command": ["x"]}}}), [("a", "opencode")]),
        (json.dumps({"mcp": {"servers": {"a": NPX}}}), [("a", "vscode")]),
        (json.dumps({"context_servers": {"a": NPX, "ext": {"settings": {}}}}), [("a", "zed")]),
        ('model = "x"\n[mcp_servers.a]\ncommand = "x"', [("a", "codex")]),
        ("extensions:\n  a:\n    type: stdio\n    cmd: x\n  dev:\n    type: builtin\n", [("a", "goose")]),
        ("mcpServers:\n  - name: a\n    command: x\n", [("a", "plain")]),
        (json.dumps({"a": NPX}), [("a", "plain")]),
        ('"a": {"command": "x"}', [("a", "plain")]),
        (json.dumps({"name": "a", **NPX}), [("a", "")]),
        ("npx -y @scope/a", [("a", "")]),
        ("https://mcp.wiki.example/mcp", [("wiki", "")]),
        ("claude mcp add a -- npx x", [("a", "")]),
    ],
)
def test_a_text_of_any_client_or_readme_is_understood(text: str, expected: list[tuple[str, str]]) -> None:
    found = of_text(text)
    assert shapes(found) == expected
    assert all(each.server.is_example and each.entry is None for each in found)


def test_options_of_a_clients_command_that_are_not_taken_over_are_named() -> None:
    (found,) = of_text("gemini mcp add -s user --timeout 5000 a npx x")
    read = read_server(found.server, home="/home/me", read_file=lambda path: "")
    assert (read.entry["command"], read.remarks) == ("npx", ("this is not carried over: --timeout",))


def test_a_text_s_description_of_values_that_are_asked_for_goes_with_its_servers() -> None:
    text = json.dumps({"mcp": {"inputs": [{"id": "k"}], "servers": {"a": {"command": "x", "env": {"K": "${input:k}"}}}}})
    assert of_text(text)[0].server.inputs == {"k": {"id": "k"}}


def test_a_text_with_only_tooltray_has_nothing_to_import() -> None:
    assert of_text(json.dumps({"mcpServers": {"t": {"command": "tooltray-bridge"}}})) == []
    assert of_text("tooltray-bridge") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to read"),
        ("{", "cannot be read"),
        ('{"mcpServers": {}}', "no server"),
        ("x" * (MAX_TEXT + 1), "too long"),
        ("[" * 5000, "cannot be read"),
        ("a: " + "b" * 1024 * 1024 * 2, "too long"),
    ],
)
def test_a_text_without_servers_is_refused(text: str, said: str) -> None:
    with pytest.raises(TooltrayError) as refused:
        of_text(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        (".gemini/settings.json", "gemini"),
        (".cursor/mcp.json", "cursor"),
        (".claude.json", "claude"),
        ("some/mcp.json", "plain"),
    ],
)
def test_whose_file_it_is_shows_at_the_end_of_its_path(tmp_path: Path, name: str, shape: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    content = {"mcpServers": {"a": NPX}, "projects": {"/p": {"mcpServers": {"b": NPX}}}}
    path.write_text(json.dumps(content), encoding="utf-16")
    found = of_file(str(path), kinds=tuple(KINDS.values()))
    assert found[0].server.shape == shape
    assert (found[0].source.path, found[0].server.folder, found[0].server.is_example) == (str(path), str(path.parent), False)
    assert [each.source.project for each in found] == (["", "/p"] if shape == "claude" else [""])


def test_a_text_or_file_with_more_servers_than_usual_is_refused(tmp_path: Path) -> None:
    text = json.dumps({"mcpServers": {str(number): {"command": "x"} for number in range(MAX_ENTRIES + 1)}})
    (tmp_path / "mcp.json").write_text(text)
    with pytest.raises(TooltrayError, match="too long to be imported: it has more than 1000 servers"):
        of_text(text)
    with pytest.raises(TooltrayError, match=r"mcp\.json cannot be read: it has more than 1000 servers"):
        of_file(str(tmp_path / "mcp.json"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none", "no such file"), (tmp_path, "it is a folder")):
        with pytest.raises(TooltrayError) as refused:
            of_file(str(path))
        assert str(path) in str(refused.value)
        assert said in str(refused.value)
