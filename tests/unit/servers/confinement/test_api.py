"""api.py and confinements.py: how a server is confined, and how it is to be."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import file_server

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, Person, Wish, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, RefusedThing
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.confinement.api import ConfinementApi
from tooltray.servers.confinement.confinements import Confinements, Support
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.launch_line import Policy
from tooltray.servers.confinement.refusals import Refusals

ALL = Support("linux", 7, True, "/usr/bin/bwrap")
REFUSED = RefusedThing("host", "example.org:443", 1.0)
HOSTS = {"files": "own", "network": "hosts", "hosts": ["a.org"], "read": ["/r"]}


async def api_of(folder: Path, support: Support = ALL) -> tuple[ConfinementApi, McpConfHelper]:
    config = McpConfHelper(folder / "settings.json", EventBus())
    await config.load()
    await config.set_server("s", {"command": "p"})
    await config.set_server("far", {"url": "http://127.0.0.1:9/"})
    guarded = GuardedFolders(str(folder / "me"), str(folder / "me" / ".tooltray"))
    confinements = Confinements(support=support, refused=lambda server: (REFUSED,))
    return ConfinementApi(config=config, confinements=confinements, guarded=lambda: guarded), config


async def test_what_is_chosen_is_written_shortly_and_shown(tmp_path: Path) -> None:
    api, config = await api_of(tmp_path)
    assert await api.get_confinement("s") == ConfinementSnapshot(refused=(REFUSED,))
    shown = await api.set_confinement("s", "own", "none", read=["/usr/share"])
    assert shown == ConfinementSnapshot("own", "none", read=("/usr/share",), refused=(REFUSED,))
    assert config.entries["s"] == {"command": "p", "confinement": {"files": "own", "network": "none", "read": ["/usr/share"]}}
    with asked_by(PERSON):
        await api.set_confinement("s")
    assert config.entries["s"] == {"command": "p"}


async def test_what_was_named_is_kept_while_a_server_is_open_and_counts_when_it_is_confined_again(tmp_path: Path) -> None:
    api, config = await api_of(tmp_path)
    with asked_by(PERSON):
        await api.set_confinement("s", "own", "hosts", hosts=["a"], read=["/usr/share"])
        shown = await api.set_confinement("s", "open", "open", hosts=["a"], read=["/usr/share"])
    assert (shown.files, shown.network, shown.hosts, shown.read) == ("open", "open", ("a",), ("/usr/share",))
    assert config.settings.mcp_servers["s"].confinement.is_open
    with asked_by(UNATTENDED):
        shown = await api.set_confinement("s", "own", "hosts", hosts=shown.hosts, read=shown.read)
    assert (shown.network, shown.hosts) == ("hosts", ("a",))


async def test_more_needs_a_person_and_less_does_not(tmp_path: Path) -> None:
    api, config = await api_of(tmp_path)
    with asked_by(UNATTENDED):
        await api.set_confinement("s", "read", "hosts", hosts=["a"])
        with pytest.raises(Denied, match="Letting a server do more"):
            await api.set_confinement("s", "read", "hosts", hosts=["a", "b"])
        await api.set_confinement("s", "read", "none")
    assert config.entries["s"]["confinement"] == {"files": "read", "network": "none"}


class Asked(Person):
    """A person who says yes, and what was asked."""

    wish: Wish | None = None

    async def confirm(self, wish: Wish) -> None:
        self.wish = wish


async def test_who_is_asked_sees_what_more_is_and_so_does_the_record(tmp_path: Path) -> None:
    api, _ = await api_of(tmp_path)
    await api.set_confinement("s", "read", "none")
    with asked_by(asked := Asked()):
        await api.set_confinement("s", "own", "hosts", hosts=["a", "b"], write=["/w"])
    assert asked.wish
    assert asked.wish.about == {"server": "s", "files": "own", "network": "hosts", "hosts": "a, b", "write": "/w"}


class ChangesMeanwhile(Person):
    """A person who says yes when the server is another program already."""

    def __init__(self, config: McpConfHelper) -> None:
        self._config = config

    async def confirm(self, wish: Wish) -> None:
        await self._config.change_server("s", command="q")


async def test_a_yes_is_for_the_program_that_was_asked_about(tmp_path: Path) -> None:
    api, config = await api_of(tmp_path)
    await api.set_confinement("s", "read", "none")
    with asked_by(ChangesMeanwhile(config)):
        for asking in (api.set_confinement("s", "own"), api.allow_refused("s", "host", "x:443"), api.watch_server("s")):
            with pytest.raises(Conflict, match="changed meanwhile"):
                await asking
            await config.change_server("s", command="p")
    assert config.entries["s"]["confinement"] == {"files": "read", "network": "none"}


async def test_of_a_server_of_another_file_it_is_kept_beside_it_also_that_it_is_open(tmp_path: Path) -> None:
    api, config = await api_of(tmp_path)
    config.set_file_servers({"theirs": file_server("y", confinement="own")})
    assert (await api.get_confinement("theirs")).files == "own"
    with asked_by(PERSON):
        await api.set_confinement("theirs", "open")
    assert config.document["fileServers"] == {"theirs": {"confinement": {"files": "open"}}}
    assert (await api.get_confinement("theirs")).files == "open"


@pytest.mark.parametrize(
    ("server", "given", "support", "error", "why"),
    [
        ("gone", {}, ALL, NotFound, "Server 'gone' not found"),
        ("far", {}, ALL, TooltrayError, "it does not run as its own process on this computer"),
        ("s", {"read": ["x"]}, ALL, TooltrayError, "'x' is not an absolute path of a folder"),
        ("s", {"hosts": ["https://x"], "network": "hosts"}, ALL, TooltrayError, "'https://x' is not a host name"),
        ("s", {"read": ["/a"] * 201}, ALL, TooltrayError, "read: there are more than 200"),
        ("s", {"files": "own", "write": ["/"]}, ALL, TooltrayError, "'s' cannot be given /. / contains all your files"),
        ("s", {"network": "hosts"}, Support("linux", 2, True), TooltrayError, "' cannot be limited to some hosts on this computer"),
    ],
)
async def test_what_cannot_be_is_refused_and_nothing_is_written(
    tmp_path: Path, server: str, given: dict[str, Any], support: Support, error: type[TooltrayError], why: str
) -> None:
    api, config = await api_of(tmp_path, support)
    with pytest.raises(error, match=why):
        await api.set_confinement(server, **given)
    assert "confinement" not in config.entries["s"]


async def test_a_computer_that_cannot_says_so_where_something_is_confined(tmp_path: Path) -> None:
    api, _ = await api_of(tmp_path, Support())
    assert (await api.get_confinement("s")).missing == ()
    assert (await api.set_confinement("s", "own")).missing
    assert not (await api.get_confinement_support()).files


async def test_a_server_elsewhere_has_none(tmp_path: Path) -> None:
    api, config = await api_of(tmp_path)
    assert Confinements(support=ALL).of("far", config.settings.mcp_servers["far"]) is None
    assert (await api.get_confinement_support()).hosts


class Desk:
    def __init__(self, folder: Path) -> None:
        bus, self.line = EventBus(), ""
        self.config = McpConfHelper(folder / "settings.json", bus)
        self.refusals = Refusals(bus=bus, spawn=TaskKeeper().spawn)
        confinements = Confinements(support=Support(abi=7), refused=self.refusals.of)
        home = Home(folder / "home" / ".tooltray")
        self.api = ConfinementApi(
            config=self.config,
            confinements=confinements,
            guarded=lambda: GuardedFolders(str(folder / "home"), str(home.root)),
            refusals=self.refusals,
            moving_line=lambda _: self.line,
        )

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
        ({"files": "own", "network": "none"}, HOST, TooltrayError, "' is no longer limited to some hosts"),
        ({"files": "read"}, path("/w", is_write=True), TooltrayError, "it may only read"),
        ({"files": "open", "network": "none"}, path("/x"), TooltrayError, "Tooltray does not block '/x' for 's'"),
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
    api = ConfinementApi(
        config=desk.config,
        confinements=Confinements(support=Support(abi=7)),
        guarded=lambda: GuardedFolders("/nobody", "/nobody/.tooltray"),
    )
    with asked_by(PERSON), pytest.raises(NotFound, match="was not refused"):
        await api.allow_refused("s", "host", "b.org:443")
    with pytest.raises(NotFound, match="Server 'gone' not found"):
        await api.allow_refused("gone", "host", "b.org:443")
