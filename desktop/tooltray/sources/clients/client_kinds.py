"""The AI clients that Tooltray knows: the place and form of each client's servers, the signs that it is installed, and where all that is on
this computer, and whether the client runs.

The table is `resources/ai-clients.json`, with a line for each client. Patterns begin with `~`, `${XDG_CONFIG}`, `${APP_SUPPORT}`,
`${APPDATA}` or `${LOCALAPPDATA}`, and may have `*` in a later part. No program is started, and no folder walked through: a pattern is
resolved part by part.
"""

import fnmatch
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from tooltray.config.foreign_configs.documents import Format
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import resource

Shape: TypeAlias = Literal[
    "claude",
    "claude-desktop",
    "cline",
    "codex",
    "continue",
    "copilot-cli",
    "crush",
    "cursor",
    "droid",
    "extension",
    "gemini",
    "goose",
    "jan",
    "kiro",
    "opencode",
    "plain",
    "roo",
    "vscode",
    "warp",
    "windsurf",
    "zed",
]
"""How an entry is written. "plain": `command`, `args`, `env`, or `url` and `headers`, and no other members are known. "extension": the
manifest of a bundle that its client has unpacked, which no other program changes.
"""
KeyPath: TypeAlias = tuple[str, ...]
SYSTEMS: Mapping[str, str] = {"darwin": "macos", "win32": "windows"}
"""Names of `sys.platform` for systems that are not like Linux."""


class ClientFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns of files, for all systems or for a single one."""

    all: tuple[str, ...] = ()
    linux: tuple[str, ...] = ()
    macos: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()

    def of(self, platform: str) -> tuple[str, ...]:
        """Returns the patterns for a system; a new file is made at the first one.

        Args:
            platform: as `sys.platform` names it.
        """
        own: tuple[str, ...] = getattr(self, SYSTEMS.get(platform, "linux"))
        return (*self.all, *own)


class HomeVariable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An environment variable that moves a client's files.

    Attributes:
        replaces: the beginning of patterns that the variable's value replaces.
    """

    name: str
    replaces: str


class Signs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The signs of an installed client, besides its files.

    Attributes:
        programs: names on PATH and in the usual folders of programs.
        paths: patterns of files and folders.
    """

    programs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class ClientCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The client's own commands for its servers, as words.

    `{name}` is replaced by the server's name, `{json}` by its entry as JSON, `{named_json}` by the entry with its name in it; the word
    `{words}` by the words of the server's command line.

    Attributes:
        remove: empty without such a command.
    """

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class ClientKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One AI client.

    Attributes:
        id: its name in commands, such as "claude-code".
        format: of its files; for a project's file its ending decides, if it is `.json`, `.toml` or `.yaml` (`format_of`).
        places: keys from the document to its servers; a new entry is written to the first place. Empty keys mean the document itself.
        shape: how an entry is written.
        is_list: the servers are a list whose items have a `name`.
        files: its files with servers; a new file is made at a system's first pattern without `*`.
        also_reads: files of an older version of the client: entries are read and removed, but never added there.
        creates: whether a new file may be made; False if the place of its file is uncertain, so that only an existing file is changed.
        home_variable: an environment variable that moves its files.
        project_files: below the folder of a project; `*` as in `files`.
        project_places: as `places`, in files of projects; empty if they are the same.
        processes: names of its programs while they run; empty: the programs of `signs`.
        command: the client's own commands.
        way: how an entry is added: "file"; "command": by `command`, if its program is found, else the file; "link": a link to click.
        skills: folders in which it reads skills, a folder each; a new skill is written into the first one. Empty: none, or not known.
        link: for the way "link"; `{base64}` is replaced by `{"mcpServers": {...}}` in Base64.
        client_info: the name that it gives in `initialize`: its limits are in resources/client-profiles.json.
        note: the key of a note to the user after a change, see `note_of`.
        why_not: the key of the reason why only the user can connect it, see `why_not_of`; empty if Tooltray can.
    """

    id: str
    name: str
    format: Format
    places: tuple[KeyPath, ...]
    shape: Shape
    is_list: bool = False
    files: ClientFiles = ClientFiles()
    also_reads: ClientFiles = ClientFiles()
    creates: bool = True
    home_variable: HomeVariable | None = None
    project_files: tuple[str, ...] = ()
    project_places: tuple[KeyPath, ...] = ()
    signs: Signs = Signs()
    processes: tuple[str, ...] = ()
    command: ClientCommand = ClientCommand()
    way: Literal["file", "command", "link"] = "file"
    skills: ClientFiles = ClientFiles()
    link: str = ""
    client_info: str = ""
    note: Literal["", "restart", "next-session", "refresh", "watched", "trust", "trusted-folder"] = ""
    why_not: Literal["", "jetbrains", "extensions", "unknown"] = ""

    def places_in(self, *, is_project: bool) -> tuple[KeyPath, ...]:
        return (self.project_places if is_project else ()) or self.places

    def format_of(self, path: Path) -> Format:
        """Returns the format of one of its files."""
        return _FORMATS.get(path.suffix.lower(), self.format)


_FORMATS: Mapping[str, Format] = {".json": "json", ".jsonc": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}


class _Table(msgspec.Struct, frozen=True):
    clients: tuple[ClientKind, ...]


def read_client_kinds() -> tuple[ClientKind, ...]:
    """Returns the clients of the table, in its order."""
    return msgspec.json.decode(resource("ai-clients.json").read_bytes(), type=_Table).clients


def note_of(kind: ClientKind) -> str:
    """Returns a note about what the user should know or do after the client's file has changed; may be empty."""
    match kind.note:
        case "restart":
            return Phrase("Restart {client}: it reads its file when it starts", client=kind.name)
        case "next-session":
            return Phrase("{client} sees the change in its next session", client=kind.name)
        case "refresh":
            return Phrase("Refresh the servers in {client}, or restart it", client=kind.name)
        case "watched":
            return Phrase("{client} sees the change at once, or when it starts again", client=kind.name)
        case "trust":
            return Phrase("{client} asks once whether it may start Tooltray", client=kind.name)
        case "trusted-folder":
            return Phrase("{client} starts servers only in trusted folders", client=kind.name)
        case _:
            return ""


def why_not_of(kind: ClientKind) -> str:
    """Returns why Tooltray cannot connect the client; empty if it can."""
    match kind.why_not:
        case "jetbrains":
            return Phrase("it keeps its servers in the IDE: paste the entry in Settings, Tools, AI Assistant, MCP")
        case "extensions":
            return Phrase("these are extensions that Claude Desktop has unpacked; connect Claude Desktop itself")
        case "unknown":
            return Phrase("how it writes its servers is not certain: paste the entry in its settings")
        case _:
            return ""


MAX_MATCHES = 100  # of one pattern: more than any user has profiles or extensions
PROC = "/proc"
WORK_TREE_MARKS = (".git", ".hg", ".jj", ".svn")
_INTERPRETERS = ("node", "bun", "deno", "python", "python3")


class ClientPlace(msgspec.Struct, frozen=True):
    """One file of a client.

    Attributes:
        exists: the path exists, perhaps as a folder.
        can_be_made: the client would read a new file there.
    """

    path: Path
    exists: bool
    can_be_made: bool = False


class ClientPlaces:
    """The places of clients' files on this computer; installed and running clients are detected once."""

    def __init__(self, environ: Mapping[str, str], platform: str = sys.platform, proc: str = PROC) -> None:
        """
        Args:
            environ: has the user's folder, PATH and the variables that move clients' files.
            platform: as `sys.platform` names it.
            proc: where Linux shows processes.
        """
        self.environ, self._platform, self._proc = environ, platform, proc
        home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        self._roots = {
            "~": home,
            "${XDG_CONFIG}": environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
            "${APP_SUPPORT}": os.path.join(home, "Library", "Application Support"),
            "${APPDATA}": environ.get("APPDATA", ""),
            "${LOCALAPPDATA}": environ.get("LOCALAPPDATA", ""),
        }

    def files(self, kind: ClientKind) -> list[ClientPlace]:
        """Returns a client's existing files, those in a folder that its variable names first; if none, the one that can be made."""
        there = self._existing(kind, kind.files)
        made = self._to_make(kind)
        if made and not os.path.lexists(made) and (not there or self.moved_home(kind)):
            there.insert(0, ClientPlace(made, exists=False, can_be_made=True))
        return [*there, *self._existing(kind, kind.also_reads)]

    def project_files(self, kind: ClientKind, folder: Path) -> list[ClientPlace]:
        """Returns a client's existing files in a project."""
        found = (path for pattern in kind.project_files for path in _matches(folder, pattern))
        return [ClientPlace(path, exists=True) for path in _once(found)]

    def skills_folder(self, kind: ClientKind) -> Path | None:
        """Returns the folder for a client's skills, existing or not; None if it is not known, also because a variable moves its files."""
        pattern = next(iter(kind.skills.of(self._platform)), None)
        return next(iter(self._written(pattern)), None) if pattern and not self.moved_home(kind) else None

    def is_installed(self, kind: ClientKind) -> bool:
        """Returns whether a client's program, a folder or one of its files exists."""
        return (
            any(program in self._programs for program in kind.signs.programs)
            or any(path for pattern in kind.signs.paths for path in self._expanded(pattern))
            or any(place.exists for place in self.files(kind))
        )

    def is_running(self, kind: ClientKind) -> bool | None:
        """Returns whether a process of this user has the name of one of a client's programs; None: this system has no list of processes."""
        names = kind.processes or kind.signs.programs
        if self._running is None or not names:
            return None
        return any(name in self._running for name in names)

    @property
    def home(self) -> Path:
        """The user's folder."""
        return Path(self._roots["~"])

    def moved_home(self, kind: ClientKind) -> Path | None:
        """Returns the folder that the client's variable names; None if everything is in its usual place."""
        folder = self.environ.get(kind.home_variable.name, "") if kind.home_variable else ""
        return Path(folder) if os.path.isabs(folder) and "\0" not in folder else None

    def _existing(self, kind: ClientKind, files: ClientFiles) -> list[ClientPlace]:
        patterns = files.of(self._platform)
        moved = (path for pattern in patterns for path in self._moved(kind, pattern) if os.path.lexists(path))
        usual = (path for pattern in patterns for path in self._expanded(pattern))
        return [ClientPlace(path, exists=True) for path in _once((*moved, *usual))]

    def _to_make(self, kind: ClientKind) -> Path | None:
        pattern = next((each for each in kind.files.of(self._platform) if "*" not in each), None)
        if pattern is None or not kind.creates:
            return None
        return next(iter((*self._moved(kind, pattern), *self._written(pattern))), None)

    def _moved(self, kind: ClientKind, pattern: str) -> list[Path]:
        """Returns a pattern in the folder that the client's variable names."""
        folder, variable = self.moved_home(kind), kind.home_variable
        if not folder or not variable or not pattern.startswith(f"{variable.replaces}/"):
            return []
        return [folder / pattern.removeprefix(f"{variable.replaces}/")]

    def _root(self, pattern: str) -> tuple[str, str]:
        """Returns the folder that a pattern begins with, and the rest of the pattern."""
        start, _, rest = pattern.partition("/")
        return (self._roots[start] if start else "/"), rest

    def _written(self, pattern: str) -> list[Path]:
        """Returns a pattern as a path, existing or not; an empty list if this system has no such folder."""
        root, rest = self._root(pattern)
        return [Path(root, rest)] if os.path.isabs(root) else []

    def _expanded(self, pattern: str) -> Iterator[Path]:
        root, rest = self._root(pattern)
        if os.path.isabs(root):
            yield from _matches(Path(root), rest)

    @cached_property
    def _programs(self) -> set[str]:
        """The names of all programs on PATH, without their endings on Windows."""
        found: set[str] = set()
        for folder in dict.fromkeys(self.environ.get("PATH", "").split(os.pathsep)):
            if os.path.isabs(folder):
                found |= {os.path.splitext(name)[0].lower() if self._platform == "win32" else name for name in _names_in(folder)}
        return found

    @cached_property
    def _running(self) -> set[str] | None:
        return set(_process_names(self._proc)) if self._platform == "linux" else None


class WorkTrees:
    """The work trees of version control systems, whose files others share. Remembers the folders that it has seen."""

    def __init__(self) -> None:
        self._seen: dict[Path, bool] = {}

    def holds(self, path: Path) -> bool:
        """Returns whether the file, or the target of its link (as users keep their settings in a repository), is in a work tree."""
        return any(self._is_inside(folder) for folder in {path.parent, Path(os.path.realpath(path)).parent})

    def _is_inside(self, folder: Path) -> bool:
        if folder not in self._seen:
            has_mark = any(os.path.lexists(folder / mark) for mark in WORK_TREE_MARKS)
            self._seen[folder] = has_mark or (folder != folder.parent and self._is_inside(folder.parent))
        return self._seen[folder]


def _once(paths: Iterator[Path] | tuple[Path, ...]) -> list[Path]:
    return list(dict.fromkeys(paths))


def _matches(root: Path, pattern: str) -> list[Path]:
    """Returns the paths below a folder that match a pattern; each part with `*` is matched in one folder."""
    found = [str(root)]
    for part in pattern.split("/"):
        if "*" in part:
            found = [os.path.join(folder, name) for folder in found for name in sorted(fnmatch.filter(_names_in(folder), part))]
        else:
            found = [os.path.join(folder, part) for folder in found]
        found = found[:MAX_MATCHES]
    return [Path(path) for path in found if os.path.lexists(path)]


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _process_names(proc: str) -> Iterator[str]:
    """Yields the names of this user's running programs, and of interpreters' scripts."""
    for number in filter(str.isdigit, _names_in(proc)):
        try:
            if sys.platform != "win32" and os.stat(f"{proc}/{number}").st_uid != os.getuid():
                continue
            words = Path(proc, number, "cmdline").read_bytes().split(b"\0")
        except OSError:  # the process has ended
            continue
        name, script = (os.path.basename(os.fsdecode(word)) for word in (*words, b"")[:2])
        yield name
        if name in _INTERPRETERS:
            yield script.removesuffix(".js")
