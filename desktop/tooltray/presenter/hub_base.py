"""What all parts of a hub stand on.

Above it: the engine, which makes it first, and the modules that join parts. Below it: settings, secrets, events, time. Knows no part.
"""

from dataclasses import dataclass
from pathlib import Path

from tooltray.activity.masking import Mask
from tooltray.config.home import Home
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.secrets import SecretStore
from tooltray.events import EventBus
from tooltray.presenter.server_environment import ServerEnvironment
from tooltray.servers.environment.login_shell import LoginShell
from tooltray.tasks import Spawn
from tooltray.wire.deadlines import DeadlineWheel


@dataclass(frozen=True, kw_only=True)
class HubBase:
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
