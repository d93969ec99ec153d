"""The settings in the list of files that servers come from.

Above it: ServerFiles. Below it: McpConfHelper.
"""

import os
from collections.abc import Iterator

from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.files import FileEntrySnapshot, ServerFileSnapshot


def settings_snapshot(config: McpConfHelper) -> ServerFileSnapshot:
    path = str(config.path)
    entries = tuple(_entries(config))
    return ServerFileSnapshot(path=path, kind="settings", exists=os.path.exists(path), entries=entries, problems=config.file_problems)


def _entries(config: McpConfHelper) -> Iterator[FileEntrySnapshot]:
    servers = config.own_settings.mcp_servers
    broken = {problem.entry: problem.line for problem in config.file_problems if problem.entry}
    for name, server in servers.items():
        if name not in broken:
            yield FileEntrySnapshot(name, name, "off" if server.disable else "used")
    for name, line in broken.items():  # one that ran before goes on
        yield FileEntrySnapshot(name, name if name in servers else "", "broken", line)
