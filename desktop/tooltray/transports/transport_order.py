"""What a server's transport can be made of.

Above it: ServerManager, which fills one in for each start, and transports. Below it: the settings, with and without their placeholders.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from msgspec import Raw

from tooltray.launch.program_launch import Launch
from tooltray.settings.expansion import ResolvedServer
from tooltray.settings.server_config import MCPServerConfig
from tooltray.transports.authorization import Authorization
from tooltray.transports.transport import Transport


@dataclass(frozen=True)
class TransportOrder:
    """Each type of server takes what it needs.

    Attributes:
        name: the server's.
        config: its settings as they are written.
        resolved: the same with everything filled in.
        environ: of the person's login shell.
        own_url: where the hub itself listens for AI clients, without a path; None if it does not.
        mask: takes secrets out of a text.
        tool_schema: the `inputSchema` of a tool by the server's own name for it; None if it was never listed.
        prepare_launch: works out what is run for a server that is a process of its own.
        start_process: makes the transport of such a server.
        authorize: gives what lets requests to a server elsewhere in; None where its settings do.
    """

    name: str
    config: MCPServerConfig
    resolved: ResolvedServer
    environ: Mapping[str, str]
    own_url: str | None
    mask: Callable[[str], str]
    tool_schema: Callable[[str], Raw | None]
    prepare_launch: Callable[[], Awaitable[Launch]]
    start_process: Callable[[Launch], Transport]
    authorize: Callable[[], Awaitable[Authorization | None]]
