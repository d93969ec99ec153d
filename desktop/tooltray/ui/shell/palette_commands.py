"""The palette's own actions, where no page has the button for them. Everything else goes through the requests and links that pages use."""

import time
from collections.abc import Mapping
from datetime import datetime

from PySide6.QtCore import QObject

from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action, as_notice
from tooltray.ui.kit.page_context import PageContext

HOUR_S = 3600.0


class PaletteCommands(Commands):
    """The palette's own commands. `failed` of its base carries a problem to be shown above the pages."""

    def __init__(self, context: PageContext, parent: QObject | None) -> None:
        super().__init__(hub=context.hub, tasks=context.tasks, parent=parent)
        self._context = context

    @action(as_notice)
    async def pause(self, for_s: float | None) -> None:
        """Refuses the calls of AI clients; `for_s`: seconds; None: until the user resumes."""
        await self._hub.hub.set_mcp_enabled(False, for_s)

    @action(as_notice)
    async def resume(self) -> None:
        await self._hub.hub.set_mcp_enabled(True)

    @action(as_notice)
    async def allow_for_an_hour(self, tool: ToolSnapshot) -> None:
        """Allows a tool's calls without asking for an hour."""
        grant = await self._hub.approvals.add_grant(tool.server, "tool", tool.original_name, "", HOUR_S)
        end = moment(grant.expires_at or time.time() + HOUR_S, datetime.now())
        toast = self._context.offer_undo(tr("{tool} runs without asking until {time}", tool=tool.original_name, time=end))
        toast.action_requested.connect(lambda: self._take_back(grant.id))

    @action(as_notice)
    async def _take_back(self, grant: str) -> None:
        await self._hub.approvals.remove_grant(grant)
        self._context.say(tr("Revoked"))

    @action(as_notice)
    async def change(self, settings: Mapping[str, object]) -> None:
        """Changes settings; a member that is None is removed."""
        await self._hub.settings.change_settings(dict(settings), "")

    @action(as_notice)
    async def copy_diagnostics(self) -> None:
        """Copies the information for a bug report to the clipboard, without secrets."""
        self._context.copy(await self._hub.program.get_diagnostics(), tr("The diagnostics are copied"))
