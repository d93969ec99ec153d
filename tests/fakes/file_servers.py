"""Servers whose entries stand in other files than the settings, and the states of sessions that work on a project."""

from typing import Any

from tooltray.config.settings.file_server import FileEntry, FileServer, Origin
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.sessions.session_state import SessionState

SHOP, TOOLS_FOLDER = "/projects/shop", "/projects/tools"


def file_server(
    command: str,
    /,
    *,
    project: str = SHOP,
    folder: str = "",
    origin: Origin = "project",
    variables: dict[str, str] | None = None,
    **fields: Any,
) -> FileServer:
    """One that runs a command, and whose tools may all be called."""
    written = {"command": command, "autoApprove": ["all"], **fields}
    config = MCPServerConfig.model_validate(written)
    entry = FileEntry(command, config, written, variables=variables or {})
    return FileServer(entry, f"{project or folder}/.mcp.json", origin, folder=folder or project, project=project)


def in_project(folder: str, **options: Any) -> SessionState:
    """Of a session that works in a folder."""
    return SessionState("s2", projects={"folder": project(folder)}, **options)


def project(folder: str) -> SessionProject:
    return SessionProject(folder, folder.rpartition("/")[2], "folder")
