"""Which servers of a project's `.mcp.json` Claude Code may start, as its person has answered; and which extensions Claude Desktop runs.

Above it: client_scanner. Below it: documents. What cannot be read counts as no answer: then servers wait.
"""

from collections.abc import Mapping
from pathlib import Path

from tooltray.config.foreign_configs.documents import read_document
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.sources.clients.found_entries import Approvals

SETTINGS = "Claude Extensions Settings"


def approvals_of(project: Path, own_folder: Path, projects: object) -> Approvals:
    """
    Args:
        own_folder: where Claude Code has the settings for all projects, `~/.claude`.
        projects: what it keeps about each folder, `projects` in its `.claude.json`.
    """
    said = [_settings(folder / name) for folder, name in _places(project, own_folder)]
    if isinstance(projects, Mapping) and isinstance(kept := projects.get(str(project)), Mapping):
        said.append(kept)
    return Approvals(
        any(each.get("enableAllProjectMcpServers") is True for each in said),
        frozenset(name for each in said for name in _names(each, "enabledMcpjsonServers")),
        frozenset(name for each in said for name in _names(each, "disabledMcpjsonServers")),
    )


def is_extension_off(manifest: Path) -> bool:
    """Whether a person has switched an extension of Claude Desktop off.

    Args:
        manifest: `Claude Extensions/ID/manifest.json`.
    """
    folder = manifest.parent
    return _settings(folder.parent.with_name(SETTINGS) / f"{folder.name}.json").get("isEnabled") is False


def _places(project: Path, own_folder: Path) -> list[tuple[Path, str]]:
    return [(own_folder, "settings.json"), (project / ".claude", "settings.json"), (project / ".claude", "settings.local.json")]


def _settings(path: Path) -> Mapping[str, object]:
    try:
        content = read_document(path, "json").content
    except CannotOpen:
        return {}
    return content if isinstance(content, dict) else {}


def _names(settings: Mapping[str, object], key: str) -> list[str]:
    given = settings.get(key)
    return [name for name in given if isinstance(name, str)] if isinstance(given, list) else []
