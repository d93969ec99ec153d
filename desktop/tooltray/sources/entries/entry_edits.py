"""Previews a server's entry before it is saved: what would change where, and whether it can be saved. Writes nothing."""

import difflib
import json
from collections.abc import Mapping

from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.given_entries import check_entry, check_runs_outside
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, runs_otherwise
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.edited_entries import ServerUpdatePreview
from tooltray.sources.entries.portable_entry import without_secrets

LINES_AROUND = 3  # unchanged lines around each change
MASK = "••••••"


def preview_edit(config: McpConfHelper, name: str, entry: Mapping[str, object]) -> ServerUpdatePreview:
    """Implements ServersApi.preview_server_update."""
    there = config.server_entry(name).entry
    slips = tuple(check_entry(entry))
    server, now = config.file_server(name), config.settings.mcp_servers.get(name)
    return ServerUpdatePreview(
        file=server.file if server else str(config.path),
        diff=entry_diff(name, there, entry),
        is_restarted=not slips and (now is None or runs_otherwise(now, MCPServerConfig.model_validate(entry))),
        revision=config.revision(name),
        problem=_why_not(server, name, entry) if server and not slips else None,
        slips=slips,
    )


def _why_not(server: FileServer, name: str, entry: Mapping[str, object]) -> Problem | None:
    if server.origin == "served":
        title, where = Phrase("'{name}' is not changed", name=name), Phrase("its entry is in {file}", file=server.file)
        return Problem(title, where, Phrase("Change it there."))
    try:
        check_runs_outside(name, MCPServerConfig.model_validate(entry))
    except TooltrayError as error:
        return error.problem
    return None


def entry_diff(name: str, before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    """Returns the lines by which two entries differ, with some around them; a changed secret is marked, and none is shown."""
    if before == after:
        return ()
    was, now = without_secrets(name, before), without_secrets(name, after)
    old = _lines(was.entry, dict.fromkeys(was.values, MASK))
    changed = Phrase("{masked} (another value)", masked=MASK)
    new = _lines(now.entry, {secret: MASK if was.values.get(secret, value) == value else changed for secret, value in now.values.items()})
    lines = list(difflib.unified_diff(old, new, lineterm="", n=LINES_AROUND))[2:]
    return tuple(" …" if line.startswith("@@") else line for line in lines[1:])


def _lines(entry: Mapping[str, object], masks: Mapping[str, str]) -> list[str]:
    text = json.dumps(entry, indent=2, ensure_ascii=False, default=str)
    for secret, mask in masks.items():
        text = text.replace(f"${{secret:{secret}}}", mask)
    return text.splitlines()
