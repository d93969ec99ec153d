"""watches.py, api.py: servers that are watched, with a restart that is no real one."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.heard import Record

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import what_runs
from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.confinement import watches
from tooltray.servers.confinement.api import ConfinementApi
from tooltray.servers.confinement.confinements import Confinements, Support
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.launch_line import Policy
from tooltray.servers.confinement.profiles import StateFolder, Subject
from tooltray.servers.confinement.watches import LONGEST_S, Watches, granted_by, require_watching

pytestmark = pytest.mark.posix
SUPPORT = Support(system="linux", abi=7, has_seccomp=True)


def test_paths_are_granted_with_all_below_them_by_where_their_links_lead(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    (tmp_path / "written").mkdir()
    real.mkdir()
    link.symlink_to(real)
    own = Policy(read=(str(link),), write=(str(tmp_path / "written"),))
    granted = granted_by({"own": own, "read": Policy(read=(str(link), str(tmp_path / "written")))}, "/bin/sh")
    assert granted("own", f"{real}/a/b", False)
    assert not granted("own", f"{real}/a/b", True)
    assert granted("own", f"{tmp_path}/written/x", True)
    assert not granted("read", f"{tmp_path}/written/x", True)
    assert granted("read", "/usr/lib/x", False)
    assert granted("read", "/proc/self/status", False)
    assert granted("read", "/dev/null", True)
    assert not granted("own", f"{real}er", False)
    assert not granted("own", "/", False)


class Servers:
    """Counts restarts; `fails` says why there is none."""

    def __init__(self, folder: Path) -> None:
        self.tasks = TaskKeeper()
        self.restarted: list[str] = []
        self.states: list[str] = []
        self.fails, self.cannot, self.is_up = "", "", True
        self.heard: Record[str] = Record()
        self.is_trying, self.may_try = threading.Event(), threading.Event()
        self.may_try.set()
        self.watches = Watches(
            folder=folder / "watches",
            spawn=self.tasks.spawn,
            restart=self.restart,
            runs=lambda name: self.is_up,
            require=self.require,
            shortest_s=0.0,
        )
        state = StateFolder(folder / "state")
        (folder / "state").mkdir(parents=True)
        state.prepare()
        guarded = GuardedFolders(str(folder / "home"), str(folder / "own"))
        self.subject = Subject(
            program="/bin/sh",
            args=("-c", "true"),
            env={},
            cwd=str(state.work),
            state=state,
            guarded=guarded,
            bundles=str(folder / "b"),
            project="",
            proxy_port=0,
        )

    async def restart(self, name: str) -> None:
        self.restarted.append(name)
        self.states.append((await self.watches.get(name)).state)
        self.heard.add(name)
        if self.fails:
            raise TooltrayError(Phrase("{why}", why=self.fails))

    def require(self) -> None:
        self.is_trying.set()
        self.may_try.wait(20)
        if self.cannot:
            raise TooltrayError(Phrase("{why}", why=self.cannot))

    def does(self, *facts: tuple[str, str], program: str = "program") -> None:
        """What the tracer would write of a server."""
        watch = self.watches.begin("s", program)
        assert watch
        command = watch.command(self.subject)
        assert command[-3:] == ["/bin/sh", "-c", "true"]
        with watch.report.open("a") as file:
            file.writelines(json.dumps({"kind": kind, "name": name}) + "\n" for kind, name in facts)


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[Servers]:
    made = Servers(tmp_path)
    yield made
    await made.tasks.close()


async def test_a_server_is_watched_and_runs_as_before_afterwards(servers: Servers, tmp_path: Path) -> None:
    watches = servers.watches
    assert (await watches.get("s")).state == "off"
    assert watches.begin("s", "program") is None
    started = await watches.start("s", 60.0, "program")
    assert (started.state, started.facts, started.proposal) == ("watching", 0, None)
    assert 0 < started.left_s <= 60.0
    servers.does(("read", "/usr/lib/a"), ("connect", "192.0.2.1:443"))
    now = await watches.get("s")
    assert now.facts == 2
    assert now.proposal
    assert now.proposal.hosts == ("192.0.2.1",)
    assert [each.name for each in now.seen] == ["192.0.2.1:443"]
    watch = watches.begin("s", "program")
    stopped = await watches.stop("s")
    assert watch
    assert watch.timer
    assert watch.timer.cancelling()
    assert (stopped.state, stopped.left_s, stopped.proposal) == ("done", 0.0, now.proposal)
    assert servers.restarted == ["s", "s"]
    assert servers.states == ["watching", "watching"], "it is done when nothing more can be seen of it"
    assert watches.begin("s", "program") is None
    assert (tmp_path / "watches").stat().st_mode & 0o777 == 0o700


async def test_the_time_ends_by_itself_and_a_new_watch_forgets_the_old(servers: Servers) -> None:
    await servers.watches.start("s", 60.0, "program")
    servers.does(("full", ""))
    await servers.watches.stop("s")
    assert (await servers.watches.get("s")).is_full
    await servers.watches.start("s", 0.001, "program")
    await servers.heard.until(lambda: len(servers.heard.all) == 4)
    ended = await servers.watches.get("s")
    assert (ended.state, ended.facts, ended.proposal) == ("done", 0, None)


async def test_a_server_that_was_stopped_meanwhile_stays_stopped(servers: Servers) -> None:
    await servers.watches.start("s", 60.0, "program")
    servers.is_up = False
    watch = servers.watches.begin("s", "program")
    assert watch
    watch.timer = None
    await servers.watches.stop("s")
    await servers.watches.forget("s")
    assert servers.restarted == ["s"]


async def test_another_program_of_that_name_is_not_watched(servers: Servers) -> None:
    await servers.watches.start("s", 60.0, "program")
    watch = servers.watches.begin("s", "program")
    assert servers.watches.begin("s", "another") is None
    assert watch
    assert watch.timer
    assert watch.timer.cancelling()
    assert servers.watches.begin("s", "program") is None, "it is over"
    assert (await servers.watches.get("s")).state == "done"
    await servers.tasks.close()
    assert servers.restarted == ["s"]


async def test_one_that_becomes_another_program_before_it_is_watched_is_not_watched_at_all(servers: Servers) -> None:
    servers.may_try.clear()
    starting = servers.tasks.spawn(servers.watches.start("s", 60.0, "program"), name="start")
    await asyncio.to_thread(servers.is_trying.wait, 20)
    assert servers.watches.begin("s", "another") is None
    servers.may_try.set()
    assert (await starting).state == "off"
    assert servers.restarted == []


async def test_of_a_server_that_is_removed_nothing_is_left(servers: Servers, tmp_path: Path) -> None:
    await servers.watches.start("s", 60.0, "program")
    servers.does(("read", "/a"))
    watch = servers.watches.begin("s", "program")
    assert watch
    assert watch.timer
    await servers.watches.forget("s")
    await servers.watches.forget("s")
    assert watch.timer.cancelling()
    assert (await servers.watches.get("s")).state == "off"
    assert list((tmp_path / "watches").iterdir()) == []


async def test_one_that_does_not_start_has_been_watched_all_the_same(servers: Servers) -> None:
    servers.fails = "it died"
    assert (await servers.watches.start("s", 60.0, "program")).problem == "it died"
    servers.does(("read", "/a"))
    servers.fails = ""
    stopped = await servers.watches.stop("s")
    assert (stopped.problem, stopped.facts) == ("", 1)


async def test_who_goes_before_it_has_begun_leaves_no_watch_without_an_end(servers: Servers) -> None:
    servers.may_try.clear()
    starting = servers.tasks.spawn(servers.watches.start("s", 60.0, "program"), name="start")
    await asyncio.to_thread(servers.is_trying.wait, 20)
    assert servers.watches.is_watched("s")
    starting.cancel()
    servers.may_try.set()
    await asyncio.wait({starting})
    assert not servers.watches.is_watched("s")
    assert servers.restarted == []


async def test_what_cannot_be_watched_is_refused(servers: Servers) -> None:
    watches = servers.watches
    with pytest.raises(NotFound, match="not being watched"):
        await watches.stop("s")
    with pytest.raises(TooltrayError, match="one hour"):
        await watches.start("s", LONGEST_S + 1, "program")
    servers.cannot = "no ptrace here"
    with pytest.raises(TooltrayError, match="no ptrace here"):
        await watches.start("s", 60.0, "program")
    assert (await watches.get("s")).state == "off"
    servers.cannot = ""
    await watches.start("s", 60.0, "program")
    with pytest.raises(Conflict, match="already"):
        await watches.start("s", 60.0, "program")
    await watches.start("t", 60.0, "program")
    with pytest.raises(Conflict, match="2 servers are being watched"):
        await watches.start("u", 60.0, "program")


@pytest.mark.skipif(sys.platform != "linux", reason="it is tried for real")
def test_this_computer_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    require_watching()
    failing = [sys.executable, "-c", "import sys; sys.exit('ptrace_scope is 3')"]
    for command, why in ((failing, "ptrace_scope is 3"), (["/nonexistent"], "No such file")):
        monkeypatch.setattr(watches, "watch_command", lambda command=command: command)
        with pytest.raises(TooltrayError, match=why):
            require_watching()
    monkeypatch.setattr(watches.sys, "platform", "darwin")
    with pytest.raises(TooltrayError, match="needs Linux"):
        require_watching()


def guarded() -> GuardedFolders:
    return GuardedFolders("/nobody", "/nobody/.tooltray")


class Verbs:
    def __init__(self, folder: Path) -> None:
        self.servers = Servers(folder)
        self.config = McpConfHelper(folder / "settings.json", EventBus())
        self.api = self.make(self.servers.watches)

    def does(self, *facts: tuple[str, str]) -> None:
        """What the tracer would write of the server."""
        self.servers.does(*facts, program=what_runs(self.config.settings.mcp_servers["s"]))

    def make(self, watches: Watches | None) -> ConfinementApi:
        return ConfinementApi(config=self.config, confinements=Confinements(support=SUPPORT), guarded=guarded, watches=watches)


@pytest.fixture
async def verbs(tmp_path: Path) -> AsyncIterator[Verbs]:
    made = Verbs(tmp_path)
    await made.config.load()
    await made.config.set_server("s", {"command": "p"})
    yield made
    await made.servers.tasks.close()


async def test_what_was_shown_is_applied_and_ends_the_watching(verbs: Verbs) -> None:
    with pytest.raises(NotFound, match="Nothing is proposed"):
        await verbs.api.apply_proposal("s")
    with asked_by(UNATTENDED):
        await verbs.api.watch_server("s")
    verbs.does(("connect", "192.0.2.1:443"))
    assert (await verbs.api.get_watch("s")).state == "watching"
    verbs.does(("connect", "198.51.100.1:443"))  # nobody has seen it in a proposal
    with asked_by(UNATTENDED):  # it is narrower than before
        confined = await verbs.api.apply_proposal("s")
    assert (confined.files, confined.network, confined.hosts) == ("read", "hosts", ("192.0.2.1",))
    assert (await verbs.api.get_watch("s")).state == "done"


async def test_a_confined_server_runs_unconfined_and_gets_more_only_by_a_persons_yes(verbs: Verbs) -> None:
    await verbs.api.set_confinement("s", "read", "none")
    with asked_by(UNATTENDED), pytest.raises(Denied, match="Running a server without its sandbox"):
        await verbs.api.watch_server("s", 60.0)
    with asked_by(PERSON):
        await verbs.api.watch_server("s", 60.0)
    verbs.does(("connect", "192.0.2.1:443"))
    assert (await verbs.api.stop_watching("s")).state == "done"
    with asked_by(UNATTENDED), pytest.raises(Denied, match="Letting a server do more"):
        await verbs.api.apply_proposal("s")
    with asked_by(PERSON):
        await verbs.api.apply_proposal("s")


async def test_without_a_hub_nothing_is_watched(verbs: Verbs) -> None:
    with pytest.raises(TooltrayError, match="Tooltray is not running"):
        await verbs.make(None).get_watch("s")
