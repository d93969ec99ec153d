"""followed_files.py: which servers of a project's file, or of a config, run."""

import os
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.file_server import PROJECT_FOLDER, FileEntry, FileReading
from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.errors import Denied, Problem
from tooltray.foundation.snapshots.setup import FileProblem
from tooltray.sources.project_files.followed_files import (
    MOST_ENTRIES,
    ProjectFile,
    ServedFile,
    ServedNames,
    check_stays_inside,
)
from tooltray.sources.project_files.trust import Trust, TrustStore

FOLDER = "/projects/shop"
PATH = os.path.join("/projects/shop", ".mcp.json")
ONE = {"command": "program", "args": ["one"]}
TWO = {"command": "program", "args": ["two"]}


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(TrustStore(tmp_path / "trust.json"), is_taken=lambda name: name == "taken", reserved=())


@pytest.fixture
def file(trust: Trust) -> ProjectFile:
    return ProjectFile(FOLDER, trust)


def entry(name: str, written: dict[str, Any], line: int = 0) -> FileEntry:
    return FileEntry(name, read_entry(name, written), written, line=line)


def reading(*broken: str, is_understood: bool = True, **entries: dict[str, Any]) -> FileReading:
    made = tuple(entry(name, written, line) for line, (name, written) in enumerate(entries.items(), start=2))
    return FileReading(
        PATH, "mcp.json", "digest", is_understood, made, tuple(FileProblem(Problem("odd", name), 9, name) for name in broken)
    )


def states(file: ProjectFile) -> dict[str, str]:
    return {each.name: each.state for each in file.snapshot().entries}


async def trusted(file: ProjectFile, trust: Trust, **entries: dict[str, Any]) -> None:
    """A person says yes to these contents."""
    await trust.allow(FOLDER, {name: entry(name, written).digest for name, written in entries.items()})
    file.settle()


def test_before_it_is_read_a_file_has_nothing(file: ProjectFile) -> None:
    file.settle()
    file.keep_names()
    assert (file.entries, file.problems, file.servers(), list(file.waiting())) == ((), (), {}, [])
    assert (file.snapshot().exists, file.snapshot().path, file.snapshot().project) == (False, PATH, FOLDER)


async def test_an_entry_waits_until_a_person_has_said_yes_to_its_content(file: ProjectFile, trust: Trust) -> None:
    file.adopt(reading(a=ONE, b=TWO))
    assert ([each.name for each in file.waiting()], file.servers()) == (["a", "b"], {})
    await trusted(file, trust, a=ONE, b=ONE)
    assert (states(file), [each.name for each in file.waiting()]) == ({"a": "used", "b": "waits"}, ["b"])
    assert (list(file.servers()), file.running("b")) == (["a"], None)


async def test_a_changed_entry_waits_and_runs_as_it_was(file: ProjectFile, trust: Trust) -> None:
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    file.adopt(reading(a=TWO))
    assert (states(file), file.running("a")) == ({"a": "changed"}, entry("a", ONE, 2))
    await trusted(file, trust, a=TWO)
    assert (states(file), file.running("a")) == ({"a": "used"}, entry("a", TWO, 2))


async def test_what_a_yes_was_taken_back_from_ends(file: ProjectFile, trust: Trust) -> None:
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    await trust.revoke(FOLDER, "a")
    file.settle()
    assert (states(file), file.servers()) == ({"a": "waits"}, {})


@pytest.mark.parametrize("after", [reading(), reading(a={**ONE, "disable": True}), reading(a={**TWO, "disable": True})])
async def test_what_is_removed_or_switched_off_ends_at_once(file: ProjectFile, trust: Trust, after: FileReading) -> None:
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    file.adopt(after)
    assert (file.servers(), list(file.waiting())) == ({}, [])
    assert set(states(file).values()) <= {"off"}


async def test_what_runs_goes_on_while_the_file_or_its_entry_cannot_be_used(file: ProjectFile, trust: Trust) -> None:
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    file.adopt(reading("", is_understood=False))
    assert (list(file.servers()), states(file), len(file.problems)) == (["a"], {"a": "used"}, 1)
    file.adopt(reading("a", "", b=TWO))
    assert (list(file.servers()), states(file)) == (["a"], {"b": "waits", "a": "broken"})
    assert [(each.name, each.server, each.line) for each in file.snapshot().entries] == [("b", "", 2), ("a", "a", 9)]


def test_an_entry_with_two_problems_is_shown_once(file: ProjectFile) -> None:
    file.adopt(reading("a", "a", "b", b=ONE))
    assert [(each.name, each.state) for each in file.snapshot().entries] == [("b", "waits"), ("a", "broken")]


async def test_servers_stand_in_the_order_of_the_file(file: ProjectFile, trust: Trust) -> None:
    await trusted(file, trust, b=TWO)
    file.adopt(reading(a=ONE, b=TWO))
    await trusted(file, trust, a=ONE)
    assert list(file.servers()) == ["a", "b"]


@pytest.mark.parametrize(("is_for_all", "project"), [(False, FOLDER), (True, "")])
async def test_a_server_runs_in_the_project_and_knows_its_folder(trust: Trust, is_for_all: bool, project: str) -> None:
    file = ProjectFile(FOLDER, trust, is_for_all=is_for_all)
    await trusted(file, trust, taken=ONE)
    file.adopt(reading(taken=ONE))
    [(name, server)] = file.servers().items()
    assert name == file.name(file.entries[0]) != "taken"
    assert (server.folder, server.project, server.file, server.origin) == (FOLDER, project, PATH, "project")
    assert server.entry.variables == {PROJECT_FOLDER: FOLDER}
    assert (file.snapshot().is_for_all, file.snapshot().exists) == (is_for_all, True)


def test_names_are_kept_for_what_is_in_the_file_broken_or_not(file: ProjectFile, trust: Trust) -> None:
    file.adopt(reading("broken", a=ONE, b=ONE))
    trust.name(FOLDER, "broken")
    file.keep_names()
    assert set(trust.servers[FOLDER]) == {"a", "b", "broken"}
    file.adopt(reading(b=ONE))
    file.keep_names()
    assert set(trust.servers[FOLDER]) == {"b"}


def test_of_very_many_entries_the_first_are_used_and_that_is_a_problem(file: ProjectFile) -> None:
    file.adopt(reading(**{f"s{number}": ONE for number in range(MOST_ENTRIES)}))
    assert (len(file.entries), file.problems) == (MOST_ENTRIES, ())
    file.adopt(reading(**{f"s{number}": ONE for number in range(MOST_ENTRIES + 1)}))
    [problem] = file.problems
    assert (len(file.entries), problem.problem.message) == (MOST_ENTRIES, f"it has 1 more than {MOST_ENTRIES} servers")


async def test_a_copy_shows_what_another_reading_would_do_and_changes_nothing(trust: Trust) -> None:
    file = ProjectFile(FOLDER, trust, is_for_all=True)
    await trusted(file, trust, a=ONE)
    file.adopt(reading(a=ONE))
    other = copy(file)
    assert (other.snapshot(), list(other.servers())) == (file.snapshot(), ["a"])
    other.adopt(reading())
    assert (other.servers(), list(file.servers()), states(file)) == ({}, ["a"], {"a": "used"})


def served_entry(name: str) -> FileEntry:
    return FileEntry(name, read_entry(name, {"command": "run"}), {"command": "run"}, line=2)


def served_file() -> ServedFile:
    return ServedFile("/etc/servers.json", ServedNames(is_taken=lambda name: name == "taken", reserved=("hub",)))


def served_reading(*entries: FileEntry, broken: str = "", is_understood: bool = True) -> FileReading:
    problems = (FileProblem(Problem("no use"), 4, broken),) if broken else ()
    return FileReading("/etc/servers.json", "tbxark", "d", is_understood, entries, problems)


def test_an_entry_with_a_remark_is_used_all_the_same() -> None:
    file = served_file()
    problems = (
        FileProblem(Problem("a remark"), 3, "one"),
        FileProblem(Problem("no use"), 4, "bad"),
        FileProblem(Problem("of the whole"), 1),
    )
    entries = (served_entry("one"), served_entry("fetch/token"), served_entry("taken"))
    file.adopt(FileReading(file.path, "tbxark", "d", entries=entries, problems=problems))
    snapshot = file.snapshot()
    assert [(each.name, each.server, each.state, each.line) for each in snapshot.entries] == [
        ("one", "one", "used", 2),
        ("fetch/token", "fetch-token", "used", 2),
        ("taken", "taken-etc", "used", 2),
        ("bad", "", "broken", 4),
    ]
    assert (snapshot.kind, snapshot.exists) == ("tbxark", True)
    assert list(file.servers()) == ["one", "fetch-token", "taken-etc"]


def test_a_config_s_server_goes_on_while_its_entry_or_the_file_cannot_be_used() -> None:
    file = served_file()
    file.adopt(served_reading(served_entry("one"), served_entry("two")))
    for _ in range(2):
        file.adopt(served_reading(served_entry("two"), broken="one"))
        assert list(file.servers()) == ["two", "one"]
        assert [(each.server, each.state) for each in file.snapshot().entries] == [("two", "used"), ("one", "broken")]
    file.adopt(served_reading(is_understood=False))
    assert list(file.servers()) == ["two", "one"]
    file.adopt(served_reading(served_entry("two")))
    assert list(file.servers()) == ["two"]


@pytest.mark.posix
def test_a_link_within_the_project_is_followed_and_one_out_of_it_is_not(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    check_stays_inside(str(folder))
    (folder / "mcp.json").write_text("{}")
    (folder / ".mcp.json").symlink_to("mcp.json")
    check_stays_inside(str(folder))
    (folder / ".mcp.json").unlink()
    (folder / ".mcp.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(Denied, match="leads out of the project"):
        check_stays_inside(str(folder))
