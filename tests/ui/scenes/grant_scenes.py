"""Scenes of the sheet that allows tools."""

from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.theme import Theme


async def allow_tools(theme: Theme, size: tuple[int, int] | None = None, kind: int = 0) -> Shot:
    result = await desk(theme)
    result.engine.client_modes = [ClientModeSnapshot("claude-code", "Claude Code", "", "everything", "", is_seen=True)]
    result.window.open_page("permissions")
    result.permissions.allow()
    window = result.window
    await until(lambda: window.sheet is not None)
    panel = window.sheet.panel
    panel._server.choose("filesystem")
    panel._on_server_chosen("filesystem")
    panel._kind._options[kind][1].click()
    await until(panel._go.isEnabled)
    return Shot(result, size=size)


async def allow_tools_small(theme: Theme) -> Shot:
    return await allow_tools(theme, (900, 600), 1)


SCENES = (allow_tools, allow_tools_small)
