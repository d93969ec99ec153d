"""import_offers.py: what was found for an import, and what is stored of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.ai_clients import FoundSecret, ImportCandidate, ImportSource
from tooltray.foundation.snapshots.entries import FormField
from tooltray.sources.clients.client_kinds import ClientKind, read_client_kinds
from tooltray.sources.clients.found_entries import MAX_ENTRIES, FoundEntry
from tooltray.sources.clients.import_offers import MAX_TEXT, Found, Offer, found_secrets, masked, of_clients, of_file, of_text
from tooltray.sources.foreign_entries.entry_reading import RawServer, ReadServer, read_server

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
        ("", "Nothing to read"),
        ("{", "cannot be read"),
        ('{"mcpServers": {}}', "No server"),
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


SOURCE = ImportSource("cursor", "/f", "s")


def offer(entry: dict[str, Any], *asks: FormField, read: tuple[str, ...] = (), client: str = "cursor") -> Offer:
    source = ImportSource(client, "/f", "s")
    return Offer(ImportCandidate("1", "s", "new", (source,)), (Found(RawServer("s", entry), source),), ReadServer(entry, asks, read))


def test_a_secret_gets_the_servers_name_and_where_the_server_is_from_is_kept() -> None:
    entry, values = offer({"command": "x", "env": {"API_KEY": "dummy-value"}}).stored_as("git", {}, ())
    assert entry == {"command": "x", "env": {"API_KEY": "${secret:git/API_KEY}"}, "origin": {"kind": "client", "client": "cursor"}}
    assert values == {"git/API_KEY": "dummy-value"}
    assert offer({"command": "x"}, client="").stored_as("s", {}, ())[0]["origin"] == {"kind": "text", "client": ""}


def test_what_was_asked_for_is_filled_in_and_a_secret_goes_among_the_secrets() -> None:
    asks = (FormField("key", "Key", is_secret=True), FormField("place", "Place", "choice", choices=("eu", "us"), default="eu"))
    made = offer({"command": "x", "args": ["${input:place}"], "env": {"key": "dummy-other", "K": "Bearer ${input:key}"}}, *asks)
    entry, values = made.stored_as("s", {"key": "${odd} dummy-key"}, ())
    assert (entry["args"], entry["env"]) == (["eu"], {"key": "${secret:s/key}", "K": "Bearer ${secret:s/key_asked}"})
    assert values == {"s/key": "dummy-other", "s/key_asked": "${odd} dummy-key"}
    assert made.stored_as("s", {"key": "dummy-key", "place": "us"}, ())[0]["args"] == ["us"]


def test_a_plain_value_that_turns_out_to_be_a_secret_goes_among_the_secrets() -> None:
    made = offer({"url": "https://a.example/?token=${input:t}"}, FormField("t", "T"))
    entry, values = made.stored_as("s", {"t": "dummy-token"}, ())
    assert (entry["url"], values) == ("https://a.example/?token=${secret:s/token}", {"s/token": "dummy-token"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "'Place' is missing"),
        ({"place": ""}, "is missing"),
        ({"place": 5}, "is missing"),
        ({"place": "mars"}, "it is not one of the choices"),
        ({"place": "eu", "plain": "${HOME}"}, "taken for a placeholder"),
    ],
)
def test_a_value_that_is_missing_or_odd_is_named(given: Any, said: str) -> None:
    asks = (FormField("place", "Place", "choice", choices=("eu", "us")), FormField("plain", "Plain"))
    with pytest.raises(TooltrayError) as refused:
        offer({"command": "x"}, *asks).stored_as("s", given, ())
    assert said in str(refused.value)


def test_what_is_broken_is_not_stored() -> None:
    candidate = ImportCandidate("1", "s", "broken", (SOURCE,), problem=Problem("it is broken"))
    with pytest.raises(TooltrayError, match="it is broken"):
        Offer(candidate, ()).stored_as("s", {}, ())


def test_content_of_a_file_and_known_secrets_are_found_everywhere() -> None:
    made = offer({"command": "x", "args": ["say-dummy-file", "dummy-known"]}, read=("dummy-file",))
    entry, values = made.stored_as("s", {}, {"dummy-known"})
    assert entry["args"] == ["${secret:s/ARGUMENT}", "${secret:s/ARGUMENT_2}"]
    assert set(values.values()) == {"say-dummy-file", "dummy-known"}


@pytest.mark.parametrize(
    "text", ["postgres://me:${PW}@host/db", "https://a.example/?key=${KEY}", "pre-${TOKEN}", "Bearer ${TOKEN}", "Basic x${TOKEN}"]
)
def test_a_secret_that_is_a_placeholder_already_stays_as_it_is(text: str) -> None:
    found = masked("s", {"command": "x", "env": {"API_KEY": text}, "url": text}, ())
    assert (found.entry["env"], found.entry["url"], found.values) == ({"API_KEY": text}, text, {})


@pytest.mark.parametrize("text", ["ghp_0123456789${X}", "${X}", "x dummy-known ${X}"])
def test_a_secret_beside_a_placeholder_in_one_text_is_refused(text: str) -> None:
    entry = {"command": "x", "env": {"ODD": text}}
    if text == "${X}":
        assert masked("s", entry, {"dummy-known"}).entry == entry
        return
    with pytest.raises(CannotUse, match="one text contains a secret and a placeholder; keep one of them"):
        masked("s", entry, {"dummy-known"})
    with pytest.raises(TooltrayError, match="one text contains a secret and a placeholder; keep one of them"):
        offer(entry).stored_as("s", {}, {"dummy-known"})


def test_it_is_shown_by_what_a_secret_was_recognised() -> None:
    assert found_secrets({"s/KEY": "dummy", "s/ODD": "ghp_0123456789"}) == (FoundSecret("KEY", "name"), FoundSecret("ODD", "form"))


def test_keys_whose_placeholders_lead_to_each_other_stay_as_they_are_written() -> None:
    env = {f"API_KEY_{number}": f"${{secret:s/API_KEY_{number + 1}}}" * 2 for number in range(60)}
    assert masked("s", {"command": "x", "env": env}, ()).entry["env"] == env
