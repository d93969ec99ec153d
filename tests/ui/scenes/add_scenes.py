"""Scenes of adding a server: what was pasted, its keys, and a keyring that is not there."""

from PySide6.QtWidgets import QMenu
from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.foundation.errors import Problem
from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.add.server_review import AccessField
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice

PASTED = """{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": {
        "GITHUB_PERSONAL_ACCESS_TOKEN": "<your token>",
        "LOG_LEVEL": "info"
      }
    }
  }
}"""
REMOTE = """{
  "mcpServers": {
    "linear": {
      "type": "streamable-http",
      "url": "https://mcp.linear.app/mcp?workspace=7",
      "headers": {
        "Authorization": "Bearer <your token>",
        "X-Team": "tools"
      }
    }
  }
}"""


async def add(theme: Theme, text: str = PASTED, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme)
    result.window.show_up()
    await until(result.window.isActiveWindow)
    result.page.add(text)
    return Shot(result, size=size)


async def add_empty(theme: Theme) -> Shot:
    return await add(theme, "")


async def add_small(theme: Theme) -> Shot:
    return await add(theme, size=(900, 600))


async def add_command(theme: Theme) -> Shot:
    return await add(theme, "npx -y @modelcontextprotocol/server-memory --api-key sk-0123456789abcdef " + "/a/very/long/path" * 12)


async def add_unreadable(theme: Theme) -> Shot:
    return await add(theme, '{"mcpServers": {"a": {"command": "npx" "args": []}}}')


async def add_remote(theme: Theme) -> Shot:
    """Careful is the default, and the URL's preview says why it cannot be."""
    shot = await add(theme, "")
    shot.desk.engine.settings["newServers"] = "careful"
    shot.desk.window.sheet.dismiss()
    shot.desk.page.add("https://mcp.linear.app/mcp")
    await until(lambda: not len(shot.desk.tasks))
    return shot


async def add_remote_keys(theme: Theme) -> Shot:
    return await add(theme, REMOTE)


async def add_access(theme: Theme) -> Shot:
    """The menu of what the server may do."""
    result = (await add(theme)).desk
    assert result is not None
    await until(lambda: not len(result.tasks))
    field = result.window.findChild(AccessField)
    field.findChild(Choice).click()
    return Shot(result, widget=field.findChild(QMenu))


async def add_remote_small(theme: Theme) -> Shot:
    return await add(theme, REMOTE, size=(900, 600))


async def add_without_keyring(theme: Theme) -> Shot:
    result = await desk(theme)
    result.page.add(PASTED)
    panel = result.window.findChild(AddServerSheet)
    panel.show_secrets_help(Problem("No keyring found", "NoKeyringError: no D-Bus session", "Choose another place for secrets"))
    return Shot(result)


SCENES = (
    add,
    add_empty,
    add_small,
    add_command,
    add_unreadable,
    add_remote,
    add_remote_keys,
    add_remote_small,
    add_access,
    add_without_keyring,
)
