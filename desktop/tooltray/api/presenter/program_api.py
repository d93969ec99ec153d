"""The API for this installation of Tooltray: version and kind, start at login, licences, and diagnostics for a bug report."""

import time
from typing import TYPE_CHECKING

from tooltray.api.presenter.process_memory import memory_of, own_memory
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs import start_at_login
from tooltray.foundation.installs.installation import KINDS, how_to_update, licence_text, this_installation
from tooltray.foundation.snapshots.hub import ProgramLoad, ProgramSnapshot
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import always, verb

SHORTEST_S = 0.001  # for two requests at the same moment: clocks are no finer

if TYPE_CHECKING:
    from tooltray.api.presenter.diagnostics import Diagnostics
    from tooltray.servers.upstream.server_manager import ServerManager


class ProgramApi:
    def __init__(self, *, diagnostics: "Diagnostics", servers: "ServerManager", home: Home) -> None:
        self._diagnostics, self._servers, self._home = diagnostics, servers, home
        self._asked_at, self._cpu_s = time.monotonic(), time.process_time()

    async def get_program(self) -> ProgramSnapshot:
        """Returns the kind of this installation, how it is updated, and whether it starts at login."""
        return await finish_in_thread(_program, self._home)

    async def get_load(self) -> ProgramLoad:
        """Returns how much memory and processor time Tooltray uses, and how much memory its servers use."""
        roots = [server.pids for server in self._servers if server.pids]
        pids = [pid for each in roots for pid in each]
        own, theirs = await finish_in_thread(lambda: (own_memory(), memory_of(pids)))
        before, now = (self._asked_at, self._cpu_s), (time.monotonic(), time.process_time())
        self._asked_at, self._cpu_s = now
        share = (now[1] - before[1]) / max(now[0] - before[0], SHORTEST_S)
        return ProgramLoad(own, round(share, 3), theirs, len(roots))

    @verb(trusted=always)
    async def set_start_at_login(self, enabled: bool) -> ProgramSnapshot:
        """Switches the start of Tooltray in the tray at login on or off. The setting belongs to the user, not to this home.

        Raises:
            TooltrayError: the system refuses.
        """
        await finish_in_thread(start_at_login.switch, on=enabled)
        return await self.get_program()

    async def get_licences(self) -> str:
        """Returns the licences of Tooltray and of everything shipped with it."""
        return await finish_in_thread(licence_text)

    async def get_diagnostics(self) -> str:
        """Returns the diagnostics for a bug report, as text without secrets; the user should read the text before sending it."""
        return await self._diagnostics.text()


def _program(home: Home) -> ProgramSnapshot:
    own = this_installation()
    kind_name = KINDS.get(own.kind, own.kind)
    places = {"home": str(home.root), "settings": str(home.settings), "logs": str(home.logs)}
    return ProgramSnapshot(own.version, own.kind, kind_name, how_to_update(own), start_at_login.is_on(), **places)
