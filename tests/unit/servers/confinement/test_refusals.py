"""refusals.py: what confined servers were kept from since they started, and nothing of others."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from tooltray.foundation.errors import NotFound
from tooltray.foundation.events import EventBus, ServerRemoved, ServerStarted, ServerStopped
from tooltray.foundation.snapshots.confinement import RefusedThing
from tooltray.foundation.tasks import TaskKeeper
from tooltray.records.journal.journal_event import CALL, START, JournalEvent
from tooltray.servers.confinement.launch_line import Policy
from tooltray.servers.confinement.refusals import (
    MAX_LOOKS_PER_S,
    MAX_PATHS,
    MAX_THINGS,
    MAX_WAITING,
    Refusals,
    RefusedPath,
    SomethingRefused,
    refused_paths,
)

NODE_FRAMES = "\n    at async open (node:internal/fs/promises:639:25)\n    at /app/server.js:5:10"


@pytest.mark.parametrize(
    ("said", "path", "is_write"),
    [
        ("Error: EACCES: permission denied, open '/home/u/.ssh/id_rsa'" + NODE_FRAMES, "/home/u/.ssh/id_rsa", False),
        ("EPERM: operation not permitted, mkdir '/srv/it's'", "/srv/it's", True),
        ("Error: EROFS: read-only file system, open '/etc/x'", "/etc/x", True),
        ("PermissionError: [Errno 13] Permission denied: '/home/u/My Notes/a.txt'", "/home/u/My Notes/a.txt", False),
        ("OSError: [Errno 30] Read-only file system: '/usr/x'", "/usr/x", True),
        ("2026/11/26 open /home/u/My Docs/x: permission denied", "/home/u/My Docs/x", False),
        ('level=error msg="mkdir /var/lib/x: operation not permitted"', "/var/lib/x", True),
        ("Failed to read /etc/shadow: Permission denied (os error 13)", "/etc/shadow", False),
        ("failed to open file `/etc/app.toml`: Permission denied (os error 13)", "/etc/app.toml", False),
        ("cat: /srv/x: Permission denied", "/srv/x", False),
        ("touch: cannot touch '/srv/new': Permission denied", "/srv/new", True),
        ("bash: line 1: /srv/x: Permission denied", "/srv/x", False),
        ("permission denied while reading /opt/data/db.sqlite.", "/opt/data/db.sqlite", False),
        ("ls: cannot open directory '/srv/../home/v': Permission denied", "/home/v", False),
        ("path=/srv/a EACCES", "/srv/a", False),
        ("from=/srv/a to=/srv/b EACCES", "/srv/b", False),
        ("/srv/x: Permission denied", "/srv/x", False),
    ],
)
def test_the_path_that_was_refused_is_found(said: str, path: str, is_write: bool) -> None:
    assert [(each.path, each.is_write) for each in refused_paths(said) or ()] == [(path, is_write)]


@pytest.mark.parametrize(
    "said",
    [
        *("Permission denied (os error 13)", "EACCES: permission denied, open 'notes.txt'", "spawn EPERM", "open '/': Permission denied"),
        *("open '//x': permission denied", "open '/a\u202eb': permission denied", f"open '/{'x' * 2000}': permission denied"),
    ],
)
def test_words_without_a_path_that_can_be_shown_say_only_that_something_was_refused(said: str) -> None:
    assert refused_paths(said) == []


@pytest.mark.parametrize("said", ["", "ENOENT: no such file, open '/x'", "listening at /run/x", "x" * 20_000 + "EACCES '/x'"])
def test_other_words_say_nothing(said: str) -> None:
    assert refused_paths(said) is None


def test_both_paths_of_a_rename_are_found_and_no_more_than_some() -> None:
    assert refused_paths("EACCES: permission denied, rename '/a' -> '/b'") == [RefusedPath("/a", True), RefusedPath("/b", True)]
    assert refused_paths("EACCES, open '/a'\nEACCES, mkdir '/a'\nEACCES, open '/a'") == [RefusedPath("/a", True)]
    assert refused_paths("EACCES /a b\nEACCES, open '/a'") == [RefusedPath("/a", False, is_whole=False)]
    many = "\n".join(f"EACCES: permission denied, open '/x/{number}'" for number in range(20))
    assert len(refused_paths(many) or []) == MAX_PATHS


def test_where_a_path_may_be_cut_by_a_space_that_is_said() -> None:
    said = ["Permission denied: '/a b'", "open /a b: permission denied", "EACCES /a b"]
    assert [refused_paths(each) for each in said] == [
        [RefusedPath("/a b", False)],
        [RefusedPath("/a b", False)],
        [RefusedPath("/a", False, is_whole=False)],
    ]


def test_a_line_of_slashes_costs_nothing() -> None:
    assert refused_paths("EACCES permission denied " + "/a: " * 4000) is not None


class Desk:
    """Refusals with a clock that counts, and what was published."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.bus, self.heard, self.time = EventBus(), list[str](), 0.0
        self.step = 1.0
        self.keeper, self.spawned = TaskKeeper(), list[asyncio.Task[Any]]()
        self.refusals = Refusals(bus=self.bus, spawn=self.spawn, clock=self.clock)
        self.bus.subscribe(SomethingRefused, lambda event: self.heard.append(event.server))
        self.refusals.begin("s", policy or Policy())

    def spawn(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        self.spawned.append(self.keeper.spawn(work, name=name))
        return self.spawned[-1]

    def clock(self) -> float:
        self.time += self.step
        return self.time

    async def hear(self, *lines: str) -> list[tuple[str, str, bool]]:
        for line in lines:
            self.refusals.heard("s", line)
        return await self.things()

    async def things(self) -> list[tuple[str, str, bool]]:
        if self.spawned:
            await asyncio.wait(self.spawned)
        return [(thing.kind, thing.name, thing.is_write) for thing in self.refusals.of("s")]


def failed(text: str, server: str = "s", kind: str = CALL, is_fault: bool = True) -> JournalEvent:
    return JournalEvent(kind=kind, at=0.0, outcome="error", server=server, is_fault=is_fault, reply=Raw(text.encode()))


async def test_what_was_to_be_changed_once_was_to_be_changed() -> None:
    desk = Desk(Policy(read=("/usr",)))
    await desk.hear("EACCES, mkdir '/tmp'", "EACCES, open '/tmp'")
    assert [(thing.name, thing.is_write, thing.count) for thing in desk.refusals.of("s")] == [("/tmp", True, 2)]


async def test_the_latest_comes_first_and_the_same_is_counted() -> None:
    desk = Desk()
    for name in ("a:443", "b:443", "a:443"):
        desk.refusals.host("s", name)
    assert desk.refusals.of("s") == (RefusedThing("host", "a:443", 3.0, 2), RefusedThing("host", "b:443", 2.0))
    assert desk.heard == ["s", "s", "s"]
    for number in range(MAX_THINGS):
        desk.refusals.host("s", f"{number}:443")
    assert len(desk.refusals.of("s")) == MAX_THINGS


async def test_a_path_is_shown_as_what_it_is_and_its_folder_where_it_was_to_be_made(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "keys")
    desk = Desk()
    said = f"EACCES: permission denied, open '{tmp_path}/link'", f"EACCES: permission denied, open '{tmp_path}/new'"
    assert set(await desk.hear(*said)) == {("path", f"{tmp_path}/keys", False), ("path", str(tmp_path), True)}


async def test_what_may_be_read_was_to_be_changed_and_what_may_be_changed_was_not_refused_here(tmp_path: Path) -> None:
    desk = Desk(Policy(read=(str(tmp_path / "r"),), write=(str(tmp_path / "w"),)))
    for name in ("r", "w", "x"):
        (tmp_path / name).mkdir()
    said = [f"[Errno 13] Permission denied: '{tmp_path / name}'" for name in ("r", "w", "x")]
    assert sorted(await desk.hear(*said)) == [("path", f"{tmp_path}/r", True), ("path", f"{tmp_path}/x", False)]


@pytest.mark.parametrize(
    "said",
    ["EACCES", "EACCES: open '/nowhere/x/y'", "EACCES: mkdir '/nowhere'", "EACCES /nowhere", "open '/proc/self/root': permission denied"],
)
async def test_without_a_path_that_can_be_allowed_only_that_something_was_refused_is_known(said: str) -> None:
    assert await Desk().hear(said) == [("unknown", "", False)]


async def test_errors_of_calls_are_looked_at_and_other_results_are_not(tmp_path: Path) -> None:
    desk = Desk()
    quoted = f'{{"content":[{{"type":"text","text":"x\\nEACCES: permission denied, open \\"{tmp_path}\\""}}],"isError":true}}'
    for event in (failed(quoted, is_fault=False), failed(quoted, server="other"), failed(quoted, kind=START), failed('"no"')):
        desk.bus.publish(event)
    assert await desk.things() == []
    desk.bus.publish(failed(quoted))
    assert await desk.things() == [("path", str(tmp_path), False)]


async def test_servers_that_are_not_confined_cost_nothing_and_have_nothing() -> None:
    desk = Desk()
    desk.refusals.heard("other", "EACCES '/x'")
    desk.refusals.host("other", "a:443")
    assert desk.refusals.of("other") == ()
    assert (desk.spawned, desk.heard) == ([], [])


async def test_a_start_begins_anew_but_a_further_copy_of_what_runs_does_not() -> None:
    desk = Desk()
    desk.refusals.host("s", "a:443")
    desk.bus.publish(ServerStarted("s"))
    desk.refusals.begin("s", Policy())
    assert len(desk.refusals.of("s")) == 1
    desk.bus.publish(ServerStopped("s"))
    assert len(desk.refusals.of("s")) == 1  # why it has ended
    desk.refusals.begin("s", Policy())
    assert desk.refusals.of("s") == ()


async def test_of_a_server_that_is_gone_nothing_is_kept(tmp_path: Path) -> None:
    desk = Desk()
    desk.refusals.heard("s", f"open '{tmp_path}': permission denied")
    desk.refusals.host("s", "a:443")
    desk.bus.publish(ServerRemoved("s"))
    assert await desk.things() == []


async def test_a_flood_of_paths_waits_in_no_queue() -> None:
    desk = Desk()
    for number in range(3 * MAX_WAITING):
        desk.refusals.heard("s", f"open '/x{number}': permission denied")
    assert len(desk.spawned) == MAX_WAITING
    await desk.things()
    await desk.hear("EACCES")
    assert desk.refusals.of("s")[0].count == MAX_WAITING + 1


async def test_what_was_allowed_is_shown_no_longer() -> None:
    desk = Desk()
    desk.refusals.host("s", "a:443")
    thing = desk.refusals.get("s", "host", "a:443")
    desk.refusals.allowed("s", thing)
    desk.refusals.allowed("s", thing)
    desk.refusals.allowed("other", thing)
    assert desk.heard == ["s", "s"]
    with pytest.raises(NotFound, match="'a:443' was not refused to 's'"):
        desk.refusals.get("s", "host", "a:443")


async def test_who_says_too_much_in_a_second_is_listened_to_in_the_next() -> None:
    desk = Desk()
    desk.step = 0.0
    for _ in range(3 * MAX_LOOKS_PER_S):
        desk.refusals.heard("s", "EACCES")
    assert desk.refusals.of("s")[0].count == MAX_LOOKS_PER_S
    desk.time += 1
    desk.refusals.heard("s", "EACCES")
    assert desk.refusals.of("s")[0].count == MAX_LOOKS_PER_S + 1
