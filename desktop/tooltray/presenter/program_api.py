"""The API about this installation of Tooltray: version and kind, start at login, licences, and diagnostics for a bug report."""

from typing import TYPE_CHECKING

from tooltray.home.home import Home
from tooltray.installs import start_at_login
from tooltray.installs.installation import KINDS, this_installation
from tooltray.installs.upkeep import how_to_update, licence_text
from tooltray.snapshots.program import ProgramSnapshot
from tooltray.tasks import finish_in_thread

if TYPE_CHECKING:
    from tooltray.presenter.diagnostics import Diagnostics


class ProgramApi:
    def __init__(self, *, diagnostics: "Diagnostics", home: Home) -> None:
        self._diagnostics, self._home = diagnostics, home

    async def get_program(self) -> ProgramSnapshot:
        """Which installation this is, how it is updated, and whether it starts at login."""
        return await finish_in_thread(_program, self._home)

    async def set_start_at_login(self, enabled: bool) -> ProgramSnapshot:
        """Has the system start Tooltray in the tray when the person logs in, or no more. It is the person's own, whatever home this is.

        Raises:
            TooltrayError: the system refuses.
        """
        await finish_in_thread(start_at_login.switch, on=enabled)
        return await self.get_program()

    async def get_licences(self) -> str:
        """The licences of Tooltray and of what is shipped with it."""
        return await finish_in_thread(licence_text)

    async def get_diagnostics(self) -> str:
        """What a bug report needs, as text without secrets; a person reads it before it is sent anywhere."""
        return await self._diagnostics.text()


def _program(home: Home) -> ProgramSnapshot:
    own = this_installation()
    kind_name = KINDS.get(own.kind, own.kind)
    places = {"home": str(home.root), "settings": str(home.settings), "logs": str(home.logs)}
    return ProgramSnapshot(own.version, own.kind, kind_name, how_to_update(own), start_at_login.is_on(), **places)
