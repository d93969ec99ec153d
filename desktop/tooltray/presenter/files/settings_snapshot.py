"""The settings in the list of files that servers come from.

Above it: ServerFiles. Below it: McpConfHelper.
"""

import os

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.snapshots import FileEntrySnapshot, FileProblem, ServerFileSnapshot


def settings_snapshot(config: McpConfHelper) -> ServerFileSnapshot:
    path = str(config.path)
    servers = config.own_settings.mcp_servers
    entries = (FileEntrySnapshot(name, name, "off" if server.disable else "used") for name, server in servers.items())
    problems = tuple(FileProblem(problem) for problem in config.problems)
    return ServerFileSnapshot(path=path, kind="settings", exists=os.path.exists(path), entries=tuple(entries), problems=problems)
