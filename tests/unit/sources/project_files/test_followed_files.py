"""followed_files.py: which servers of a project's file, or of a config, run."""

import os
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.file_server import PROJECT_FOLDER, FileEntry, FileReading, Kind
from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.files import FileProblem
from tooltray.sources.project_files.followed_files import (
    MOST_ENTRIES,
    ProjectFile,
    ServedFile,
    ServedNames,
    served_servers,
    served_snapshot,
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
    await trust.say_yes(FOLDER, {name: entry(name, written).digest for name, written in entries.items()})
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
    await trust.take_back(FOLDER, "a")
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
    copy = file.copied()
    assert (copy.snapshot(), list(copy.servers())) == (file.snapshot(), ["a"])
    copy.adopt(reading())
    assert (copy.servers(), list(file.servers()), states(file)) == ({}, ["a"], {"a": "used"})


def served(name: str) -> FileEntry:
    return FileEntry(name, read_entry(name, {"command": "run"}), {"command": "run"}, line=2)


def test_an_entry_with_a_remark_is_used_all_the_same() -> None:
    file = ServedFile("/etc/servers.json")
    names = ServedNames(is_taken=lambda name: name == "taken", reserved=("hub",))
    problems = (
        FileProblem(Problem("a remark"), 3, "one"),
        FileProblem(Problem("no use"), 4, "bad"),
        FileProblem(Problem("of the whole"), 1),
    )
    file.adopt(FileReading(file.path, "tbxark", "d", entries=(served("one"), served("fetch/token"), served("taken")), problems=problems))
    snapshot = served_snapshot(file, [file], names, "http://127.0.0.1:9090")
    assert [(each.name, each.server, each.state, each.line) for each in snapshot.entries] == [
        ("one", "one", "used", 2),
        ("fetch/token", "fetch-token", "used", 2),
        ("taken", "taken-etc", "used", 2),
        ("bad", "", "broken", 4),
    ]
    assert (snapshot.kind, snapshot.url, snapshot.exists) == ("tbxark", "http://127.0.0.1:9090", True)
    assert list(served_servers([file], names)) == ["one", "fetch-token", "taken-etc"]
    assert "taken-etc" in names


def test_a_server_may_use_all_its_tools_unless_its_entry_says_otherwise() -> None:
    file, names = ServedFile("/etc/servers.json"), ServedNames(is_taken=lambda name: False, reserved=())
    strict = FileEntry("strict", read_entry("strict", {"command": "run", "autoApprove": ["read"]}), {}, line=3)
    file.adopt(FileReading(file.path, "tbxark", "d", entries=(served("one"), strict)))
    servers = served_servers([file], names)
    assert {name: server.entry.config.auto_approve for name, server in servers.items()} == {"one": ("all",), "strict": ("read",)}


def served_reading(path: str, kind: Kind, *names: str, is_understood: bool = True) -> FileReading:
    return FileReading(path, kind, "d", is_understood=is_understood, entries=tuple(map(served, names)))


def test_a_server_that_moves_to_another_of_mcp_hubs_files_keeps_its_name() -> None:
    names = ServedNames(is_taken=lambda name: False, reserved=())
    files = [ServedFile("/a/first.json"), ServedFile("/b/second.json")]
    files[0].adopt(served_reading(files[0].path, "mcp-hub", "kept"))
    files[1].adopt(served_reading(files[1].path, "mcp-hub", "kept", "moved"))
    assert set(served_servers(files, names)) == {"kept", "moved"}
    files[0].adopt(served_reading(files[0].path, "mcp-hub", "kept", "moved"))
    files[1].adopt(served_reading(files[1].path, "mcp-hub"))
    assert {name: server.file for name, server in served_servers(files, names).items()} == {"kept": files[0].path, "moved": files[0].path}


def test_a_server_that_two_of_mcp_hubs_files_have_is_used_of_one_of_them() -> None:
    names = ServedNames(is_taken=lambda name: False, reserved=())
    files = [ServedFile("/a/first.json"), ServedFile("/b/second.json")]
    for file in files:
        file.adopt(served_reading(file.path, "mcp-hub", "kept"))
    used = served_servers(files, names)["kept"].file
    states = {file.path: served_snapshot(file, files, names, "").entries[0].state for file in files}
    assert states == {file.path: "used" if file.path == used else "off" for file in files}


def test_a_file_that_is_not_understood_is_of_the_kind_that_it_was() -> None:
    """Half a file says nothing of whose it is; what goes on of it would take another name, or give way to another file's."""
    names = ServedNames(is_taken=lambda name: False, reserved=())
    files = [ServedFile("/a/config.json"), ServedFile("/b/servers.json")]
    files[0].adopt(served_reading(files[0].path, "tbxark", "one"))
    files[1].adopt(served_reading(files[1].path, "mcp-hub", "one"))
    before = list(served_servers(files, names))
    assert before == ["one", "one-b"]
    files[0].adopt(served_reading(files[0].path, "mcp-hub", is_understood=False))
    assert list(served_servers(files, names)) == before
    snapshot = served_snapshot(files[0], files, names, "")
    assert (snapshot.kind, [each.name for each in snapshot.entries]) == ("tbxark", ["one"])
