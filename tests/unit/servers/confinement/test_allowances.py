"""allowances.py: what was refused to a server is allowed to it, by a person."""

from pathlib import Path

import pytest

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.confirmation import PERSON, UNATTENDED, asked_by
from tooltray.foundation.errors import Denied, NotFound, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.confinement import RefusedThing
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.confinement.allowances import Allowances
from tooltray.servers.confinement.api import ConfinementApi
from tooltray.servers.confinement.confinements import Confinements
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.policy import Policy
from tooltray.servers.confinement.refusals import Refusals
from tooltray.servers.confinement.support import Support

HOSTS = {"files": "own", "network": "hosts", "hosts": ["a.org"], "read": ["/r"]}


def nobody() -> GuardedFolders:
    return GuardedFolders("/nobody", "/nobody/.tooltray")


class Desk:
    def __init__(self, folder: Path) -> None:
        bus, self.line = EventBus(), ""
        self.config = McpConfHelper(folder / "settings.json", bus)
        self.refusals = Refusals(bus=bus, spawn=TaskKeeper().spawn)
        confinements = Confinements(support=Support(abi=7), refused=self.refusals.of)
        home = Home(folder / "home" / ".tooltray")
        allowances = Allowances(refusals=self.refusals, home=home, user_folder=folder / "home", moving_line=lambda _: self.line)
        self.api = ConfinementApi(config=self.config, confinements=confinements, guarded=nobody, allowances=allowances)

    async def begin(self, confinement: object, *refused: RefusedThing) -> None:
        await self.config.load()
        await self.config.set_server("s", {"command": "p", "confinement": confinement})
        self.refusals.begin("s", Policy())
        for thing in refused:
            self.refusals._add("s", thing)

    @property
    def written(self) -> object:
        return self.config.entries["s"]["confinement"]


def path(name: str, *, is_write: bool = False) -> RefusedThing:
    return RefusedThing("path", name, 1.0, is_write=is_write)


HOST = RefusedThing("host", "b.org:8443", 1.0)


@pytest.mark.parametrize(
    ("thing", "now"),
    [
        (HOST, {"hosts": ["a.org", "b.org:8443"]}),
        (RefusedThing("host", "b.org:443", 1.0), {"hosts": ["a.org", "b.org"]}),
        (path("/x"), {"read": ["/r", "/x"]}),
        (path("/r", is_write=True), {"read": [], "write": ["/r"]}),
    ],
)
async def test_what_was_refused_is_allowed_to_this_server_and_shown_no_longer(
    tmp_path: Path, thing: RefusedThing, now: dict[str, object]
) -> None:
    desk = Desk(tmp_path)
    await desk.begin(HOSTS, thing)
    with asked_by(PERSON):
        shown = await desk.api.allow_refused("s", thing.kind, thing.name)  # type: ignore[arg-type]
    assert desk.written == {name: value for name, value in {**HOSTS, **now}.items() if value}
    assert shown.refused == ()


@pytest.mark.parametrize(
    ("confinement", "thing", "error", "why"),
    [
        (HOSTS, path("/y"), NotFound, "was not refused"),
        ({"files": "own", "network": "none"}, HOST, TooltrayError, "not kept to some hosts any more"),
        ({"files": "read"}, path("/w", is_write=True), TooltrayError, "it may only read"),
        ({"files": "open", "network": "none"}, path("/x"), TooltrayError, "not kept from '/x' by Tooltray"),
    ],
)
async def test_what_is_not_as_it_was_is_not_allowed(
    tmp_path: Path, confinement: object, thing: RefusedThing, error: type[TooltrayError], why: str
) -> None:
    desk = Desk(tmp_path)
    await desk.begin(confinement, HOST, path("/x"), path("/w", is_write=True))
    with asked_by(PERSON), pytest.raises(error, match=why):
        await desk.api.allow_refused("s", thing.kind, thing.name)  # type: ignore[arg-type]


async def test_what_nobody_gets_is_allowed_to_no_server(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    own = [str(tmp_path / "home"), str(tmp_path / "home" / ".tooltray" / "secrets.enc")]
    await desk.begin(HOSTS, *map(path, own))
    for name in own:
        with asked_by(PERSON), pytest.raises(Denied, match="cannot be allowed"):
            await desk.api.allow_refused("s", "path", name)
    desk.line = "tooltray servers set s --env FILE=/own"
    with asked_by(PERSON), pytest.raises(Denied) as refused:
        await desk.api.allow_refused("s", "path", own[0])
    assert refused.value.problem.hint == f"Keep its file where it may write: {desk.line}"


async def test_a_program_allows_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin(HOSTS, HOST)
    with asked_by(UNATTENDED), pytest.raises(Denied, match="Allowing what was refused to a server"):
        await desk.api.allow_refused("s", "host", HOST.name)
    assert desk.written == HOSTS


async def test_without_a_hub_nothing_was_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.begin(HOSTS)
    api = ConfinementApi(config=desk.config, confinements=Confinements(support=Support(abi=7)), guarded=nobody)
    with asked_by(PERSON), pytest.raises(NotFound, match="was not refused"):
        await api.allow_refused("s", "host", "b.org:443")
    with pytest.raises(NotFound, match="no server 'gone'"):
        await api.allow_refused("gone", "host", "b.org:443")
