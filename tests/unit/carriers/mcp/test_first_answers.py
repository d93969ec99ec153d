"""The answers with which sessions begin: which are kept, and what the file in the home has at any time."""

import asyncio
import logging
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from tests.fakes.full_disk import full_disk

from tooltray.carriers.mcp import first_answers
from tooltray.carriers.mcp.client_session import FirstAnswered
from tooltray.carriers.mcp.first_answers import FirstAnswers
from tooltray.carriers.mcp.first_answers_file import Asked, decode, program_file, signature
from tooltray.catalogue.views.modes import ModesChanged, SessionView
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.events import ConfigChanged, EventBus, PromptListChanged, ResourceListChanged, ToolListChanged
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.session_state import SessionState

FACTS = b"\0\0/work"
INTRODUCTION = b'{"clientInfo":{"name":"t","version":"1"}}'
LONG_AGO = time.time() - 3600
SEES_ALL = SessionView(
    profile="",
    included=None,
    own=frozenset(),
    lacks_any=False,
    shows_views=False,
    reads_results=False,
    leaves_structure_out=False,
    room=0,
)


class World:
    """A hub's parts, as far as they decide about first answers; the clock of `call_later` is the test's."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / ".tooltray")
        self.home.catalogue.mkdir(mode=0o700, parents=True)
        self.home.root.chmod(0o700)
        self.settle(self.home.settings, b"{}")
        os.utime(self.home.catalogue, (LONG_AGO, LONG_AGO))
        self.bus, self._tasks = EventBus(), TaskKeeper()
        self._spawned: list[asyncio.Task[Any]] = []
        self.views: dict[str, SessionView] = {}  # of sessions that are not like a new one, by what makes them different
        self.view = SEES_ALL
        self.copies: list[Any] = []
        self.is_deferred = False
        self.config = SimpleNamespace(content=b"{}", file_servers={}, own_settings=SimpleNamespace(hot_reload=True))
        self.answers = self.made()

    def made(self) -> FirstAnswers:
        return FirstAnswers(
            home=self.home,
            config=self.config,  # type: ignore[arg-type]
            modes=SimpleNamespace(view=self._view),  # type: ignore[arg-type]
            servers=self,  # type: ignore[arg-type]
            bus=self.bus,
            spawn=self._spawn,
        )

    def _spawn(self, work: Any, *, name: str) -> Any:
        self._spawned.append(self._tasks.spawn(work, name=name))
        return self._spawned[-1]

    def _view(self, state: SessionState) -> SessionView:
        return self.views["activated"] if state.activated else self.view

    def __iter__(self) -> Any:
        return iter(self.copies)

    def find(self, name: str) -> Any:
        return next(iter(self.copies), None)

    def deferred(self) -> list[int]:
        return [1] * self.is_deferred

    def settle(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        os.utime(path, (LONG_AGO, LONG_AGO))

    def session(self, **of: Any) -> Any:
        introduction = of.pop("introduction", INTRODUCTION)
        return SimpleNamespace(state=SessionState("s1", client="t", version="1", **of), introduction=Raw(introduction))

    def answer(self, method: str = "tools/list", result: bytes = b'{"tools":[]}', *, facts: bytes = FACTS, **of: Any) -> None:
        params, era = of.pop("params", b"{}"), of.pop("era", Era.LEGACY)
        session = of.pop("session", None) or self.session(**of)
        self.bus.publish(FirstAnswered(session, facts, era, method, Raw(params), Raw(result)))

    async def restarted(self, *, is_killed: bool = False) -> None:
        """The hub has ended, and the next one has read what it left."""
        if not is_killed:
            await self.answers.close()
        self.bus = EventBus()
        self.answers = self.made()
        await self.started()

    async def started(self) -> None:
        self.answers.start()
        await self.idle()

    async def idle(self) -> None:
        """Waits for what is on its way to the disk."""
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        while self._spawned:
            await self._spawned.pop()

    @property
    def kept(self) -> dict[bytes, dict[Asked, bytes]]:
        """What the file has."""
        try:
            program, _, kinds = decode(self.home.first_answers.read_bytes())
        except FileNotFoundError:
            return {}
        assert program == signature(program_file())
        return {facts: kind.answers for facts, kind in kinds.items()}

    @property
    def methods(self) -> list[str]:
        return [asked.method for answers in self.kept.values() for asked in answers]


@pytest.fixture
def world(home: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(first_answers, "WRITE_AFTER_S", 0)
    monkeypatch.setattr(first_answers, "changed_at", lambda path: os.stat(path).st_mtime if os.path.exists(path) else 0.0)  # no ctime
    return World(home)


async def test_the_answers_of_each_kind_of_session_are_in_the_file_and_only_this_user_reads_it(world: World) -> None:
    await world.started()
    world.answer("initialize", b'{"a":1}', params=INTRODUCTION)
    world.answer()
    world.answer(facts=b"other")
    await world.idle()

    handshake, listing = Asked(INTRODUCTION, "initialize", INTRODUCTION), Asked(INTRODUCTION, "tools/list", b"{}")
    assert world.kept == {FACTS: {handshake: b'{"a":1}', listing: b'{"tools":[]}'}, b"other": {listing: b'{"tools":[]}'}}
    assert world.home.first_answers.stat().st_mode & 0o777 == 0o600
    assert world.home.first_answers.read_bytes().count(b'{"tools":[]}') == 1
    await world.answers.close()


@pytest.mark.parametrize(
    ("event", "left"),
    [
        (ConfigChanged({}, (), True), []),
        (ModesChanged(), []),
        (ToolListChanged("s"), ["prompts/list", "resources/list"]),
        (PromptListChanged("s"), ["initialize", "resources/list", "tools/list"]),
        (ResourceListChanged("s"), ["initialize", "prompts/list", "tools/list"]),
    ],
)
async def test_what_changes_what_sessions_see_takes_the_file_away_at_once(world: World, event: Any, left: list[str]) -> None:
    await world.started()
    world.answer("initialize", params=INTRODUCTION)
    for method in ("tools/list", "prompts/list", "resources/list"):
        world.answer(method)
    await world.idle()
    assert len(world.methods) == 4

    world.bus.publish(event)
    assert not world.home.first_answers.exists()
    world.bus.publish(event)
    await world.idle()
    assert sorted(world.methods) == left
    await world.answers.close()


async def test_a_change_while_the_file_is_written_takes_it_away_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    write, loop = first_answers.write_atomically, asyncio.get_running_loop()

    def write_late(path: Path, content: bytes) -> None:
        monkeypatch.setattr(first_answers, "write_atomically", write)
        asyncio.run_coroutine_threadsafe(publish(), loop).result()
        write(path, content)

    async def publish() -> None:
        world.bus.publish(ToolListChanged("s"))

    monkeypatch.setattr(first_answers, "write_atomically", write_late)
    await world.started()
    world.answer()
    world.answer("prompts/list")
    await world.idle()

    assert world.methods == ["prompts/list"]
    await world.answers.close()


async def test_the_next_hub_keeps_what_the_last_one_left_and_adds_to_it(world: World) -> None:
    await world.started()
    world.answer(facts=b"first")
    world.answer("initialize", params=INTRODUCTION)
    await world.restarted()
    world.answer()
    await world.restarted()

    assert sorted(world.kept) == [FACTS, b"first"]
    assert sorted(world.methods) == ["initialize", "tools/list", "tools/list"]
    await world.answers.close()


async def test_answers_that_come_while_the_last_ones_are_read_are_added_and_a_change_meanwhile_drops_all(world: World) -> None:
    await world.started()
    for facts in (FACTS, b"first"):
        world.answer("initialize", params=INTRODUCTION, facts=facts)
    await world.answers.close()
    for is_changed, left in ((False, ["initialize", "initialize", "tools/list"]), (True, ["tools/list"])):
        world.bus = EventBus()
        world.answers = world.made()
        world.answers.start()
        if is_changed:
            world.bus.publish(ConfigChanged({}, (), True))
        world.answer()
        await asyncio.sleep(0)
        await world.answers.close()
        assert sorted(world.methods) == left


async def test_clients_in_one_folder_share_its_project_and_another_project_of_the_folder_takes_its_place(world: World) -> None:
    one, other = ({"folder": SessionProject(path, "", "folder")} for path in ("/one", "/other"))
    await world.started()
    world.answer("initialize", params=INTRODUCTION)  # the project is not known yet
    world.answer(projects=one)
    world.answer("initialize", params=b"{}", introduction=b"{}")
    world.answer("prompts/list", projects=one)
    await world.restarted()
    assert sorted(world.methods) == ["initialize", "initialize", "prompts/list", "tools/list"]

    world.answer("resources/list", projects=other)
    await world.answers.close()
    assert world.methods == ["resources/list"]


SPOILED = {
    "the settings were changed": lambda world: world.settle(world.home.settings, b"{ }"),
    "a list of a server was saved": lambda world: (world.home.catalogue / "x").touch(),
    "it is damaged": lambda world: world.home.first_answers.write_bytes(b"x\n"),
    "another user may have written it": lambda world: world.home.first_answers.chmod(0o622),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
async def test_the_next_hub_ignores_what_it_would_not_answer(world: World, spoil: Any) -> None:
    await world.started()
    world.answer()
    await world.answers.close()
    spoil(world)
    world.bus = EventBus()
    world.answers = world.made()
    await world.started()
    world.config.content = world.home.settings.read_bytes()
    os.utime(world.home.catalogue, (LONG_AGO, LONG_AGO))
    world.answer("prompts/list")
    await world.answers.close()

    assert world.methods == ["prompts/list"]


async def test_a_hub_of_another_version_ignores_them_and_an_old_one_does_not_write_for_it(
    world: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = home / "__init__.py"
    program.write_text("1")
    monkeypatch.setattr(first_answers, "program_file", lambda: program)
    await world.restarted(is_killed=True)
    written_by = signature(program)
    program.write_text("22")
    world.answer()
    await world.answers.close()
    assert decode(world.home.first_answers.read_bytes())[0] == written_by

    await world.restarted(is_killed=True)
    world.answer("prompts/list")
    await world.answers.close()
    assert b"tools/list" not in world.home.first_answers.read_bytes()


def view_of(**of: Any) -> dict[str, Any]:
    return {"view": replace(SEES_ALL, **of)}


OF_PROJECT = {"folder": SessionProject("/work", "", "folder")}
ROOTS = b'{"capabilities":{"roots":{}}}'


@pytest.mark.parametrize(
    ("of_world", "answer", "is_kept"),
    [
        ({}, {"activated": {"lazy"}}, False),
        ({"views": {"activated": SEES_ALL}}, {"activated": {"lazy"}}, True),
        ({}, {"result": b"x" * (first_answers.MAX_RESULT_BYTES + 1)}, False),
        ({}, {"introduction": b"", "params": b'{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}'}, True),
        ({}, {"introduction": b"", "params": b'{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"u","version":"1"}}}'}, False),
        (view_of(own=frozenset({"s"})), {"projects": OF_PROJECT}, True),
        (view_of(own=frozenset({"s"})), {"projects": OF_PROJECT | {"roots": SessionProject("/r", "", "roots")}}, False),
        (view_of(lacks_any=True), {"introduction": ROOTS}, False),
        ({}, {"introduction": ROOTS}, True),
        ({"is_deferred": True}, {"method": "resources/list"}, False),
        ({"is_deferred": True}, {}, True),
        ({}, {"server": "s", "method": "prompts/list"}, False),
        ({}, {"server": "s"}, True),
        ({"copies": [SimpleNamespace(client=1, client_for=lambda era, session=None: 2)]}, {"server": "s"}, False),
        ({"copies": [SimpleNamespace(client=1, client_for=lambda era, session=None: 2)]}, {}, False),
        ({"copies": [SimpleNamespace(client=1, client_for=lambda era, session=None: None)]}, {}, True),
    ],
)
async def test_only_answers_that_the_next_hub_would_repeat_are_kept(
    world: World, of_world: dict[str, Any], answer: dict[str, Any], is_kept: bool
) -> None:
    world.views = {"activated": replace(SEES_ALL, is_search=True)}
    for name, value in of_world.items():
        setattr(world, name, value)
    await world.started()
    world.answer(**answer)
    await world.answers.close()

    assert bool(world.kept) is is_kept


LIMITED = MCPServerConfig(command="x", result_limit=500)
LAZY = MCPServerConfig(command="x", lazy_load=True)


@pytest.mark.parametrize(
    ("project", "config", "own", "is_watched", "is_kept"),
    [
        ("/work", MCPServerConfig(command="x"), {"f"}, True, True),
        ("/work", MCPServerConfig(command="x"), {"f"}, False, False),
        ("/other", MCPServerConfig(command="x"), set(), False, True),
        ("/other", LIMITED, set(), True, False),
        ("/other", LAZY, set(), True, False),
        ("", MCPServerConfig(command="x"), set(), True, False),
    ],
)
async def test_servers_of_projects_files_count_for_their_own_sessions(
    world: World, project: str, config: MCPServerConfig, own: set[str], is_watched: bool, is_kept: bool
) -> None:
    world.config.file_servers = {"f": SimpleNamespace(project=project, entry=SimpleNamespace(config=config))}
    world.config.own_settings.hot_reload = is_watched
    world.view = replace(SEES_ALL, own=frozenset(own))
    await world.started()
    world.answer(projects=OF_PROJECT)
    await world.answers.close()

    assert bool(world.kept) is is_kept


async def test_a_projects_file_that_changes_takes_the_answers_for_its_folder(world: World, home: Path) -> None:
    file, projects = home / ".mcp.json", {"folder": SessionProject(str(home), "", "folder")}
    world.settle(file, b"{}")
    await world.started()
    world.answer(projects=projects)
    world.answer(facts=b"other")
    await world.idle()
    assert sorted(world.kept) == [FACTS, b"other"]

    world.settle(file, b"{ }")
    world.answer("prompts/list", projects=projects)
    await world.idle()
    assert sorted(world.kept) == [b"other"]  # what was listed before the change may be wrong
    world.answer("prompts/list", projects=projects)
    await world.answers.close()
    assert sorted(world.methods) == ["prompts/list", "tools/list"]


@pytest.mark.parametrize("age_s", [0, -1])
async def test_nothing_is_written_while_the_next_change_of_an_input_might_not_show(world: World, age_s: float) -> None:
    await world.started()
    os.utime(world.home.settings, (time.time() - age_s,) * 2)
    world.answer()
    await world.answers.close()
    assert not world.home.first_answers.exists()


async def test_a_clock_that_jumped_back_keeps_nothing_from_being_written(world: World) -> None:
    await world.started()
    os.utime(world.home.settings, (time.time() + 10_000,) * 2)
    world.answer()
    await world.answers.close()
    assert world.methods == ["tools/list"]


async def test_what_could_not_be_written_yet_is_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ages = iter([time.time()])
    monkeypatch.setattr(first_answers, "changed_at", lambda path: next(ages, 0.0))
    await world.started()
    world.answer()
    await world.idle()
    await world.idle()

    assert world.methods == ["tools/list"]
    await world.answers.close()


async def test_a_change_of_the_settings_that_the_hub_has_not_seen_is_waited_for(world: World) -> None:
    await world.started()
    world.settle(world.home.settings, b"{ }")
    world.answer()
    await world.answers.close()
    assert not world.home.first_answers.exists()


async def test_without_settings_answers_are_kept_too(world: World) -> None:
    world.home.settings.unlink()
    world.config.content = None
    await world.started()
    world.answer()
    await world.answers.close()
    assert world.methods == ["tools/list"]


async def test_a_full_disk_leaves_no_file_and_is_only_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await world.started()
    world.answer(result=b"x" * 20_000)
    with full_disk():
        await world.idle()

    assert os.listdir(world.home.root) == ["catalogue", "settings.json"] or not world.home.first_answers.exists()
    assert "cannot be kept" in caplog.text
    await world.answers.close()
    assert world.methods == ["tools/list"]


async def test_a_file_that_cannot_be_removed_troubles_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise OSError(30, "Read-only file system")

    await world.started()
    world.answer()
    await world.idle()
    monkeypatch.setattr(Path, "unlink", refuse)
    world.bus.publish(ConfigChanged({}, (), True))
    await world.answers.close()


async def test_the_oldest_answers_go_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_answers, "MOST_KINDS", 2)
    monkeypatch.setattr(first_answers, "MOST_ANSWERS", 2)
    await world.started()
    for number in range(3):
        world.answer(params=b'{"n":%d}' % number)
    await world.answers.close()
    assert [asked.params for asked in world.kept[FACTS]] == [b'{"n":1}', b'{"n":2}']

    await world.restarted()
    for facts in (b"1", b"2"):
        world.answer(facts=facts)
    await world.answers.close()
    assert sorted(world.kept) == [b"1", b"2"]

    monkeypatch.setattr(first_answers, "MAX_BYTES", 100)
    await world.restarted()
    world.answer(facts=b"3", result=b"x" * 50)
    await world.answers.close()
    assert sorted(world.kept) == [b"3"]


async def test_after_the_end_nothing_changes_the_file_and_a_hub_without_a_start_keeps_nothing(world: World) -> None:
    world.answer()
    await world.answers.close()
    assert not world.home.first_answers.exists()

    await world.started()
    world.answer()
    await world.answers.close()
    world.bus.publish(ToolListChanged("s"))  # as servers that end cause it
    assert world.methods == ["tools/list"]
