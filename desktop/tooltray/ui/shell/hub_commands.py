"""Carries out what a person asks of the hub as a whole. Above it: the window and the tray. Below it: the Qt presenter layer."""

from tooltray.ui.pages.action import Commands, action, as_notice


class HubCommands(Commands):
    @action(as_notice)
    async def pause(self, is_paused: bool) -> None:
        """Refuses the calls of AI clients, or lets them through again."""
        await self._hub.hub.set_mcp_enabled(not is_paused)
