"""registry_index.py: servers are found as one types, from one file, which is replaced whole or not at all."""

import contextlib
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.mcp_registry import OFFICIAL, npm, server

from tooltray.sources.discovery import registry_index
from tooltray.sources.discovery.registry_index import DamagedIndex, Facts, IndexWriter, RegistryIndex

FACTS = Facts("https://r.example", updated_at=2.0, filled_at=1.0, newest="2026", asked="https://r.example/x", etag='"e"', modified="m")
SERVERS = [
    server("io.github.alice/git-tools", title="Git tools", packages=[npm("git-tools")]),
    server("io.github.bob/git", title="Git of Bob", remotes=[{"url": "https://bob.example"}]),
    server("com.example/wiki", title="Wiki", repository={"url": "https://github.com/example/wiki"}),
    server("io.github.carol/notes", title="Notes", description="Knows git as well"),
]


def packed(*items: dict[str, Any], status: str = "active", updated: str = "") -> list[bytes]:
    return [json.dumps({"server": each, "_meta": {OFFICIAL: {"status": status, "updatedAt": updated}}}).encode() for each in items]


def written(path: Path, items: Iterable[bytes], *, is_new: bool = True, facts: Facts = FACTS) -> RegistryIndex:
    with IndexWriter(path, is_new=is_new) as writer:
        writer.put(items)
        writer.write_facts(facts)
    return RegistryIndex(path)


def found(index: RegistryIndex, text: str, limit: int = 10) -> list[str]:
    return [hit.name.rpartition("/")[2] for hit in index.search(text, limit).hits]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registry.db"


def test_exact_names_come_first_then_beginnings_then_words(path: Path) -> None:
    index = written(path, packed(*SERVERS))
    assert found(index, "git") == ["git", "git-tools", "notes"]
    assert found(index, "gi") == ["git", "git-tools", "notes"]
    assert found(index, "Git of") == ["git"]
    assert found(index, "io.github.bob/git") == ["git"]
    assert found(index, "io.github.") == ["git-tools", "git", "notes"]
    assert found(index, "github") == []  # which is in front of half the names
    assert found(index, "wiki") == ["wiki"]
    assert found(index, "git", limit=1) == ["git"]
    assert index.search("git", 1).total == 3


def test_without_words_all_servers_are_listed(path: Path) -> None:
    index = written(path, packed(*SERVERS))
    assert index.search("", 2).total == 4
    assert found(index, " .. ", 2) == ["git-tools", "git"]


@pytest.mark.parametrize(
    "text", ['"', "a OR b", "name:git", "*", "NEAR(a b)", "git'; DROP TABLE servers", "🦆", "x" * 5000, "a " * 500, "\0"]
)
def test_whatever_is_typed_is_searched_for_as_words(path: Path, text: str) -> None:
    index = written(path, packed(*SERVERS))
    index.search(text, 10)
    assert found(index, "wiki") == ["wiki"]


def test_hits_say_how_a_server_can_be_had(path: Path) -> None:
    index = written(path, packed(*SERVERS))
    (tools,) = index.search("git-tools", 1).hits
    assert (tools.title, tools.version, tools.kinds) == ("Git tools", "1.0.0", ("npm",))
    assert index.search("wiki", 1).hits[0].repository == "https://github.com/example/wiki"


def test_of_many_matches_those_that_have_it_in_their_names_come_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_index, "MAX_RANKED", 1)
    index = written(path, packed(SERVERS[3], SERVERS[0], SERVERS[1]))
    assert found(index, "git") == ["git", "git-tools", "notes"]
    assert found(index, "tools git") == ["git-tools"]


def test_of_a_few_matches_those_that_are_about_it_come_before_those_that_mention_it(path: Path) -> None:
    mentions = server("a/one", title="Pond", description="Knows ducks")
    assert found(written(path, packed(mentions, server("b/two", title="Ducks", description="Knows all"))), "ducks") == ["two", "one"]


def test_servers_are_read_whole_by_their_names(path: Path) -> None:
    index = written(path, packed(*SERVERS))
    server = index.get_all(["io.github.alice/git-tools"]).get("io.github.alice/git-tools")
    assert server is not None
    assert server.packages[0].identifier == "git-tools"
    assert index.get_all(["a/none"]).get("a/none") is None
    assert list(index.get_all(["com.example/wiki", "a/none"])) == ["com.example/wiki"]


def test_odd_entries_are_left_out_one_by_one(path: Path) -> None:
    odd = [b"{", b"[]", b'{"server": {}}', b'{"name": "a/\\ud800"}', b"[" * 100_000, b" " * 2_000_000]
    with IndexWriter(path, is_new=True) as writer:
        assert writer.put([*odd, *packed(SERVERS[0])]) == 1
    assert found(RegistryIndex(path), "") == ["git-tools"]


def test_changes_replace_and_remove_servers_and_the_search_follows(path: Path) -> None:
    index = written(path, packed(*SERVERS))
    changed = packed(server("com.example/wiki", "2.0.0", title="Encyclopedia"), updated="2026-02") + packed(
        SERVERS[1], status="deleted", updated="2026-01"
    )
    with IndexWriter(path, is_new=False) as writer:
        assert writer.put(changed) == 2
        assert writer.put(packed(server("never/known"), status="deleted")) == 1
        assert writer.newest == "2026-02"
    assert found(index, "encyclo") == ["wiki"]
    assert index.search("wiki", 1).hits[0].version == "2.0.0"
    assert found(index, "git") == ["git-tools", "notes"]
    assert found(index, "bob") == []


def test_deprecated_servers_come_after_others_of_the_name(path: Path) -> None:
    index = written(path, [*packed(server("a/git"), status="deprecated"), *packed(server("b/git"))])
    assert [hit.name for hit in index.search("git", 5).hits] == ["b/git", "a/git"]


def test_facts_are_kept_beside_the_servers(path: Path) -> None:
    assert RegistryIndex(path).facts() is None
    index = written(path, packed(*SERVERS))
    assert index.facts() == Facts(**{**{name: getattr(FACTS, name) for name in Facts.__struct_fields__}, "servers": 4})
    index.write_facts(Facts("https://other.example"))
    facts = index.facts()
    assert facts is not None
    assert (facts.source, facts.servers) == ("https://other.example", 4)


def test_where_there_is_no_file_nothing_is_found(path: Path) -> None:
    index = RegistryIndex(path)
    assert (index.search("git", 5).total, index.get_all(["a/b"]).get("a/b")) == (0, None)


def test_a_writer_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    index = written(path, packed(*SERVERS))
    for is_new in (True, False):
        writer = IndexWriter(path, is_new=is_new)
        with contextlib.suppress(RuntimeError), writer:
            writer.put(packed(server("a/new")))
            raise RuntimeError
    assert index.search("", 0).total == 4
    assert [each.name for each in path.parent.iterdir()] == ["registry.db"]


def test_what_a_dead_writer_has_left_is_in_nobody_s_way(path: Path) -> None:
    path.with_name("registry.db.new").write_bytes(b"half")
    assert found(written(path, packed(SERVERS[0])), "") == ["git-tools"]


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    match how:
        case "is truncated":
            path.write_bytes(content[: len(content) // 2])
        case "empty":
            path.write_bytes(b"")
        case "text":
            path.write_bytes(b"x" * 5000)
        case "overwritten":
            path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
        case "another version":
            with sqlite3.connect(path) as database:
                database.execute("PRAGMA user_version = 99")
            database.close()
        case "no table":
            with sqlite3.connect(path) as database:
                database.execute("DROP TABLE facts")
            database.close()
        case "a folder":
            path.unlink()
            path.mkdir()


@pytest.mark.parametrize("how", ["is truncated", "empty", "text", "overwritten", "another version", "no table", "a folder"])
def test_a_damaged_file_is_known_as_such(path: Path, how: str) -> None:
    index = written(path, packed(*[server(f"a/server-{number}", description="x " * 100) for number in range(200)]))
    damage(path, how)
    with pytest.raises(DamagedIndex):
        index.facts()
    if how != "no table":
        with pytest.raises(DamagedIndex):
            index.search("server", 5)


def test_an_entry_that_is_damaged_in_itself_counts_as_damage(path: Path) -> None:
    index = written(path, packed(*SERVERS))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE servers SET entry = x'deadbeef'")
    database.close()
    with pytest.raises(DamagedIndex):
        index.get_all(["com.example/wiki"]).get("com.example/wiki")


def test_an_entry_that_was_replaced_by_nonsense_can_still_be_changed(path: Path) -> None:
    written(path, packed(*SERVERS))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE servers SET entry = ?", (registry_index.zlib.compress(b"nonsense"),))
    database.close()
    index = written(path, packed(server("com.example/wiki", "3.0.0")), is_new=False)
    assert index.search("wiki", 1).hits[0].version == "3.0.0"
