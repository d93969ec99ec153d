"""Servers of other files beside those of the settings: what the hub works with.

Above it: McpConfHelper, and the plan of what a reload would change. Below it: the settings' models. Pure.
"""

from collections.abc import Mapping

from tooltray.settings.file_server import FileServer
from tooltray.settings.settings import FileServerSettings, Settings


def with_file_servers(own: Settings, files: Mapping[str, FileServer]) -> Settings:
    """The settings with the servers of other files beside their own. Where two have one name, that of the settings counts."""
    others = {name: server for name, server in files.items() if name not in own.mcp_servers}
    if not others:
        return own
    chosen = {name: own.file_servers.get(name, FileServerSettings()) for name in others}
    configs = {name: chosen[name].applied(server.entry.config) for name, server in others.items()}
    by_default = {name: chosen[name].is_default for name in others}
    defaults = [name for name, server in others.items() if (server.is_default if by_default[name] is None else by_default[name])]
    return own.model_copy(update={"mcp_servers": {**own.mcp_servers, **configs}, "default_servers": (*own.default_servers, *defaults)})
