"""What all parts of a hub stand on.

Above it: the engine, which makes it first, and the modules that join parts. Below it: settings, secrets, events, time. Knows no part.
"""

from pathlib import Path

import msgspec

from tooltray.activity.masking import Mask
from tooltray.events import EventBus
from tooltray.home.home import Home
from tooltray.launch.login_shell import LoginShell
from tooltray.launch.server_environment import ServerEnvironment
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.secrets.secrets import SecretStore
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.tasks import Spawn


class HubBase(msgspec.Struct, frozen=True, kw_only=True):
    """
    Attributes:
        user_folder: the person's home folder; servers run there that name no other.
        has_window: a person at a desktop can be asked.
    """

    home: Home
    config: McpConfHelper
    secrets: SecretStore
    mask: Mask
    login_shell: LoginShell
    environment: ServerEnvironment
    user_folder: Path
    has_window: bool
    bus: EventBus
    deadlines: DeadlineWheel
    spawn: Spawn
