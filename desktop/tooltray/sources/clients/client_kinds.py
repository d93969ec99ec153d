"""The AI clients that Tooltray knows: the place and form of each client's servers, and the signs that it is installed.

The table is `resources/ai-clients.json`, with a line for each client. Patterns begin with `~`, `${XDG_CONFIG}`, `${APP_SUPPORT}`,
`${APPDATA}` or `${LOCALAPPDATA}`, and may have `*` in a later part (client_places).
"""

from collections.abc import Mapping
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
            return Phrase("{client} sees it in its next session", client=kind.name)
        case "refresh":
            return Phrase("Refresh the servers in {client}, or restart it", client=kind.name)
        case "watched":
            return Phrase("{client} sees it at once, or when it starts again", client=kind.name)
        case "trust":
            return Phrase("{client} asks once whether it may start Tooltray", client=kind.name)
        case "trusted-folder":
            return Phrase("{client} starts servers in trusted folders alone", client=kind.name)
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
