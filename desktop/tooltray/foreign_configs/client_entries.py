"""Finds the entries of Tooltray in the configs of AI clients, and removes them.

Above it: `tooltray uninstall`. Below it: json_edit; resources/ai-clients.json lists where each client keeps its servers. A config that
cannot be parsed is left alone; of one that is changed a copy is kept beside it. A concurrent save of the client wins (edited_files).
"""

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from tooltray.errors import TooltrayError
from tooltray.files.atomic_file import write_atomically
from tooltray.files.edited_files import EditedFiles, FileChanged, digest_of_bytes
from tooltray.files.json_edit import without_member
from tooltray.files.json_places import CannotRead, read

BRIDGE_SIGNS = ("tooltray_bridge", "tooltray-bridge")  # in the command line of every entry that starts the bridge
MAX_FILE_BYTES = 32 * 1024 * 1024  # Claude Code keeps its whole history in its file
KEPT_AS = ".before-tooltray-left"
_SYSTEMS = {"darwin": "macos", "win32": "windows"}


class ClientEntry(msgspec.Struct, frozen=True):
    """One entry of Tooltray in the config of one AI client.

    Attributes:
        path: keys from the document to the entry; empty if the file is not JSON, or could not be read.
    """

    client: str
    file: Path
    path: tuple[str, ...] = ()

    @property
    def can_be_removed(self) -> bool:
        return bool(self.path)


def find_entries(
    clients: Mapping[str, Any],
    *,
    environ: Mapping[str, str],
    platform: str = sys.platform,
    signs: Collection[str] = BRIDGE_SIGNS,
) -> list[ClientEntry]:
    """Searches the configs of all known AI clients.

    Args:
        clients: the content of resources/ai-clients.json.
        environ: where HOME, XDG_CONFIG_HOME, APPDATA and LOCALAPPDATA are looked up.
        platform: as `sys.platform` names it.
        signs: texts one of which is in every entry of Tooltray.
    """
    found: list[ClientEntry] = []
    for client in clients["clients"]:
        files = client.get("files", {})
        for pattern in (*files.get("all", ()), *files.get(_SYSTEMS.get(platform, "linux"), ())):
            for file in _files(pattern, environ):
                found.extend(_entries_in(client["name"], file, client, signs))
    return found


def remove_entry(entry: ClientEntry, files: EditedFiles | None = None) -> Path:
    """Removes an entry from its file; returns the path of the copy with the original content.

    Raises:
        TooltrayError: the file cannot be read any more, or cannot be written.
    """
    title, edited = f"The entry in {entry.file} could not be removed", files or EditedFiles()
    try:
        return edited.retry_until_kept(lambda: _without(entry, edited))
    except FileChanged:
        raise TooltrayError(title, "another program writes it again and again", "Close the AI client and try again.") from None
    except OSError as error:
        raise TooltrayError(title, error.strerror or str(error), "Remove it by hand.") from None
    except ValueError as error:
        raise TooltrayError(title, str(error), "Remove it by hand.") from None


def _without(entry: ClientEntry, files: EditedFiles) -> Path:
    before = entry.file.read_bytes()
    try:
        text = before.decode()
        after = without_member(text, entry.path)
        _check_nothing_else_changed(text, after, entry.path)
    except ValueError:
        if files.may_be_half_written(entry.file):
            raise FileChanged from None
        raise
    kept = entry.file.with_name(entry.file.name + KEPT_AS)
    if not kept.exists():  # with two entries in one file, the copy from before the first removal is kept
        write_atomically(kept, before, entry.file.stat().st_mode & 0o777)
    files.replace(entry.file, after.encode(), based_on=digest_of_bytes(before))
    return kept


def _check_nothing_else_changed(before: str, after: str, path: tuple[str, ...]) -> None:
    expected = read(before).content
    holder: Any = expected
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    if read(after).content != expected:
        raise CannotRead("taking it out would change more than it")


def _files(pattern: str, environ: Mapping[str, str]) -> Iterator[Path]:
    """The existing files that match a pattern of ai-clients.json."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    places = {
        "~": home,
        "${XDG_CONFIG}": environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
        "${APP_SUPPORT}": os.path.join(home, "Library", "Application Support"),
        "${APPDATA}": environ.get("APPDATA", ""),
        "${LOCALAPPDATA}": environ.get("LOCALAPPDATA", ""),
    }
    start, _, rest = pattern.partition("/")
    root = places[start]
    if os.path.isabs(root):
        yield from sorted(path for path in Path(root).glob(rest) if path.is_file())


def _entries_in(name: str, file: Path, client: Mapping[str, Any], signs: Collection[str]) -> list[ClientEntry]:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            return []
        text = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return []
    if not any(sign in text for sign in signs):
        return []
    if client["format"] == "json":
        try:
            return [
                ClientEntry(name, file, path)
                for path in _paths(read(text).content, [place[0] for place in client["places"] if place], signs)
            ]
        except CannotRead:
            pass
    return [ClientEntry(name, file)]


def _paths(document: object, keys: list[str], signs: Collection[str]) -> Iterator[tuple[str, ...]]:
    """The paths of Tooltray's entries. Claude Code also has a list of servers for each project."""
    if not isinstance(document, dict):
        return
    for key in keys:
        servers = document.get(key)
        for server, entry in servers.items() if isinstance(servers, dict) else ():
            if any(sign in json.dumps(entry) for sign in signs):
                yield (key, server)
    projects = document.get("projects")
    for project, settings in projects.items() if isinstance(projects, dict) else ():
        for path in _paths(
            {key: value for key, value in settings.items() if key in keys} if isinstance(settings, dict) else None, keys, signs
        ):
            yield ("projects", project, *path)
