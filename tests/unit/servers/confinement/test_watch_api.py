"""The verbs of Watch."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.servers.confinement.test_watches import Servers

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import what_runs
from tooltray.foundation.confirmation import PERSON, UNATTENDED, asked_by
from tooltray.foundation.errors import Denied, NotFound, TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.servers.confinement.api import ConfinementApi
from tooltray.servers.confinement.confinements import Confinements
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.support import Support
from tooltray.servers.confinement.watches import Watches

pytestmark = pytest.mark.posix
SUPPORT = Support(system="linux", abi=7, has_seccomp=True)


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
    with asked_by(UNATTENDED), pytest.raises(Denied, match="Running a server unconfined"):
        await verbs.api.watch_server("s", 60.0)
    with asked_by(PERSON):
        await verbs.api.watch_server("s", 60.0)
    verbs.does(("connect", "192.0.2.1:443"))
    await verbs.api.stop_watching("s")
    with asked_by(UNATTENDED), pytest.raises(Denied, match="Letting a server do more"):
        await verbs.api.apply_proposal("s")
    with asked_by(PERSON):
        await verbs.api.apply_proposal("s")


async def test_without_a_hub_nothing_is_watched(verbs: Verbs) -> None:
    with pytest.raises(TooltrayError, match="No hub is running"):
        await verbs.make(None).get_watch("s")
