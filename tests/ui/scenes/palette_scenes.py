"""Scenes of the command palette: as it opens, with words, with nothing found."""

from tests.fakes.desk import Desk, until
from tests.ui.scenes.opened_desk import desk, many
from tests.ui.scenes.shot import Shot

from tooltray.ui.theme import Theme


async def opened(result: Desk, text: str = "") -> Desk:
    result.window.command_palette.open()
    await until(lambda: result.window.command_palette._is_ready)
    result.window.command_palette.panel.field.setText(text)
    return result


async def palette(theme: Theme) -> Shot:
    """What wants a person now, what was done last, pages and actions."""
    result = await desk(theme)
    result.window.context.local.memory.remember("palette.recent", ["restart:filesystem", "tool:filesystem/write_file"])
    return Shot(await opened(result))


async def palette_server(theme: Theme) -> Shot:
    return Shot(await opened(await desk(theme), "git"))


async def palette_tool(theme: Theme) -> Shot:
    return Shot(await opened(await desk(theme), "file"))


async def palette_nothing(theme: Theme) -> Shot:
    return Shot(await opened(await desk(theme), "qqqq"))


async def palette_small(theme: Theme) -> Shot:
    return Shot(await opened(await desk(theme, many(100)), "restart"), size=(900, 600))


SCENES = (palette, palette_server, palette_tool, palette_nothing, palette_small)
