"""Everything from which the transport of a server can be made.

Above it: upstream/server_transports, which fills in an order for each start; and transports. Below it: settings and launch.
"""

from collections.abc import Awaitable, Callable, Mapping

import msgspec
from msgspec import Raw

from tooltray.launch.program_launch import Launch
from tooltray.settings.expansion import ResolvedServer
from tooltray.settings.server_config import MCPServerConfig
from tooltray.transports.authorization import Authorization
from tooltray.transports.transport import Transport


class TransportOrder(msgspec.Struct, frozen=True):
    """The parts from which a transport is made; each type of server takes what it needs.

    Attributes:
        name: the server's name.
        config: the server's settings as written, with placeholders.
        resolved: the settings with all placeholders filled in.
        environ: the environment of the person's login shell.
        own_url: the address at which the hub itself listens for AI clients, without a path; None if it does not listen.
        mask: masks secrets in a text.
        tool_schema: returns the `inputSchema` of a tool, by the server's own name for it; None if the tool was never listed.
        prepare_launch: works out the command line and environment of a server that runs as a child process.
        start_process: makes the transport for such a launch.
        authorize: returns the Authorization of a remote server; None if its settings already authorize the requests.
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
