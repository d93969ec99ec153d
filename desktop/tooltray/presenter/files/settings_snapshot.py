"""The settings in the list of files that servers come from.

Above it: ServerFiles. Below it: McpConfHelper.
"""

import os

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.snapshots import FileEntrySnapshot, ServerFileSnapshot


def settings_snapshot(config: McpConfHelper) -> ServerFileSnapshot:
    path, servers = str(config.path), config.own_settings.mcp_servers
    entries = tuple(FileEntrySnapshot(name, name, "off" if server.disable else "used") for name, server in servers.items())
    return ServerFileSnapshot(path=path, kind="settings", exists=os.path.exists(path), entries=entries, problems=config.file_problems)
