"""The servers in a file of an AI client: the parts of each entry in any client's form; whether the client has it switched off or
unapproved; and whether it is Tooltray, in any past or present form of the bridge's entry, or leads to Tooltray through another program.

A member of an unexpected type counts as absent.
"""

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from tooltray.config.foreign_configs.document_lines import Place
from tooltray.config.foreign_configs.documents import Document, read_document
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.servers.transports.transport_table import leads_back, url_leads_back
from tooltray.sources.clients.client_kinds import ClientKind, KeyPath

Entry = Mapping[str, object]

_COMMANDS = ("command", "cmd")
_ARGUMENTS = ("args", "arguments")
_URLS = ("url", "uri", "serverUrl", "httpUrl", "baseUrl")
_VARIABLES = ("env", "envs", "environment")
_HEADERS = ("headers", "http_headers", "customHeaders")
MAX_WORD = 4096  # characters of an argument that are searched for a command; command lines are shorter

_URL = re.compile(r"https?://[^\s\"'<>]+")
_OURS = ("tooltray", "tooltray-bridge", "tooltray_bridge")
_STARTERS = ("py", "env", "sh", "bash", "zsh", "dash")
_HUB_COMMANDS = ("serve", "bridge")


def words_of(entry: Entry) -> tuple[str, ...]:
    """Returns command and arguments; empty for a remote server."""
    command = _first(entry, _COMMANDS)
    if isinstance(command, Mapping):  # Zed, as it wrote entries until 2025
        return words_of({"command": command.get("path"), "args": command.get("args")})
    words = _texts(command) if isinstance(command, list) else [command] if isinstance(command, str) and command.strip() else []
    if not words:
        return ()
    return (*words, *_texts(_first(entry, _ARGUMENTS)))


def url_of(entry: Entry) -> str:
    """Returns the URL of a remote server; empty for a command."""
    url = _first(entry, _URLS)
    return url.strip() if isinstance(url, str) and not words_of(entry) else ""


def variables_of(entry: Entry) -> dict[str, str]:
    """Returns the variables of an entry's environment with their values as written."""
    return _pairs(entry, _VARIABLES)


def headers_of(entry: Entry) -> dict[str, str]:
    """Returns an entry's HTTP headers with their values as written."""
    return _pairs(entry, _HEADERS)


def is_server(entry: Entry) -> bool:
    """Returns whether an entry has a command or a URL."""
    return bool(words_of(entry) or url_of(entry))


def is_off(entry: Entry) -> bool:
    """Returns whether the entry itself switches its server off."""
    return any(entry.get(key) is True for key in ("disabled", "disable")) or any(entry.get(key) is False for key in ("enabled", "active"))


def _first(entry: Entry, keys: Iterable[str]) -> object:
    return next((entry[key] for key in keys if entry.get(key) not in (None, "")), None)


def _texts(value: object) -> list[str]:
    return [_text(each) for each in value if each is not None] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _pairs(entry: Entry, keys: Iterable[str]) -> dict[str, str]:
    given = _first(entry, keys)
    pairs = given.items() if isinstance(given, Mapping) else ()
    return {str(key): _text(value) for key, value in pairs if value is not None}


# whether it is Tooltray


def kind_of(entry: Entry, own_url: str | None) -> Literal["server", "bridge", "loop"]:
    """Returns "bridge" for an entry that starts Tooltray's bridge or has its address as URL; "loop" for an entry that starts another
    program, such as a proxy or another hub, with the bridge or the address in an argument or a variable: if it were imported, the hub would
    wait for itself.

    Args:
        own_url: the hub's address, open or not, `http://host:port`; None if it has none.
    """
    words, url = _without_shell(words_of(entry)), url_of(entry)
    is_named = bool(words) and leads_back(words[0], words[1:])
    if url_leads_back(url, own_url) or (is_named and _starts_it_itself(words)):
        return "bridge"
    named = [*words[1:], *variables_of(entry).values()]
    return "loop" if is_named or _has_command(words[1:]) or any(_names_us(each, own_url) for each in named) else "server"


def _without_shell(words: Sequence[str]) -> Sequence[str]:
    """Returns the command line without a leading `cmd /c`, which is common on Windows; folders are separated by `/`."""
    words = [word.replace("\\", "/") for word in words]
    is_shell = len(words) > 2 and _program(words[0]) == "cmd" and words[1].lower() in ("/c", "/k")
    return words[2:] if is_shell else words


def _starts_it_itself(words: Sequence[str]) -> bool:
    """Returns whether a command line that names the bridge starts it itself; another hub's command line may name it as a server."""
    program = _program(words[0])
    if program in (*_OURS, *_STARTERS) or program.startswith(("python", "pypy")):
        return True
    packages = (re.split("@|==", word)[0] for word in words[1:])
    return any(package in _OURS for package in packages)


def _program(word: str) -> str:
    return word.rpartition("/")[2].lower().removesuffix(".exe").removesuffix(".cmd")


def _has_command(words: Sequence[str]) -> bool:
    """Returns whether the bridge's command is among the arguments of another program."""
    return any(_program(first) in _OURS and second in _HUB_COMMANDS for first, second in itertools.pairwise(words))


def _names_us(text: str, own_url: str | None) -> bool:
    if any(url_leads_back(found[0], own_url) for found in _URL.finditer(text)):
        return True
    return "tooltray" in text and len(text) <= MAX_WORD and _is_command(text)


def _is_command(text: str) -> bool:
    """Returns whether an argument is the path of the bridge, or a command line that starts it; Tooltray's name alone may be a folder."""
    if _program(text) in ("tooltray-bridge", "tooltray_bridge"):
        return True
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    return len(words) > 1 and leads_back(words[0], words[1:])


State: TypeAlias = Literal["on", "off", "waits"]

EXTENSION_SETTINGS = "Claude Extensions Settings"
MAX_ENTRIES = 1000  # of one file; real ones have less than a tenth
_MIXED = ("goose", "zed")  # shapes whose places also contain things other than servers


class FoundEntry(HidesFields, frozen=True):
    """One server in a file.

    Attributes:
        client: the owner of the file.
        path: of the file, absolute.
        project: the folder for which the entry is valid; empty for all folders.
        place: keys and indexes from the document to the entry.
        entry: as written, including secrets and placeholders.
        state: "off": switched off in the client; "waits": the user has not approved it in the client.
        kind: "bridge": it is Tooltray; "loop": it leads to Tooltray.
        line: its first line, from 1; 0 if unknown.
    """

    hidden: ClassVar = ("entry",)

    client: ClientKind
    path: Path
    project: str
    place: Place
    name: str
    entry: Entry
    state: State = "on"
    kind: Literal["server", "bridge", "loop"] = "server"
    line: int = 0


class Approvals(HidesFields, frozen=True):
    """The servers of a project's `.mcp.json` that Claude Code may start.

    Attributes:
        all: whether all servers that are not in `disabled` are approved.
    """

    all: bool = False
    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()

    def state_of(self, name: str) -> State:
        if name in self.disabled:
            return "off"
        return "on" if self.all or name in self.enabled else "waits"


def entries_in(
    kind: ClientKind, document: Document, *, project: str = "", approvals: Approvals | None = None, own_url: str | None = None
) -> list[FoundEntry]:
    """Finds the servers of a document; other and malformed members are left out.

    Args:
        project: the folder of a project's file; empty for the client's own file.
        approvals: Claude Code's approvals for the project's file; None: only the entries decide.
        own_url: the hub's address, open or not; entries with it are Tooltray.

    Raises:
        CannotOpen: there are more than MAX_ENTRIES.
    """
    written = list(islice(_written(kind, document.content, project), MAX_ENTRIES + 1))
    if len(written) > MAX_ENTRIES:
        raise CannotOpen(Phrase("it has more than {number} servers", number=MAX_ENTRIES))
    found: list[FoundEntry] = []
    for folder, place, name, entry in written:
        state = _state(kind, document.content, place, name, entry, approvals)
        of = kind_of(entry, own_url)
        found.append(FoundEntry(kind, document.path, folder, place, name, entry, state, of, document.line_of(place)))
    return found


def _written(kind: ClientKind, content: object, project: str) -> Iterator[tuple[str, Place, str, Entry]]:
    """Yields folder, place, name and entry of each server."""
    if kind.shape == "extension":
        yield from _extension(content)
        return
    places = kind.places_in(is_project=bool(project))
    for place in _used(places, content):
        for key, name, entry in _members(value_at(content, place), is_bare=not place or kind.shape in _MIXED, others=_inner(place, places)):
            yield project, (*place, key), name, entry
    if kind.shape == "claude" and not project:  # Claude Code also keeps a list for each folder
        for folder, settings in _mapping(_mapping(content).get("projects")).items():
            for key, name, entry in _members(_mapping(settings).get("mcpServers")):
                yield folder, ("projects", folder, "mcpServers", key), name, entry


def _used(places: Sequence[KeyPath], content: object) -> list[KeyPath]:
    """Returns the existing places; the document itself only if no other place exists."""
    there = [place for place in places if place and isinstance(value_at(content, place), Mapping | list)]
    return there or [place for place in places if not place]


def _inner(place: KeyPath, places: Sequence[KeyPath]) -> set[str]:
    """Returns the keys in a place that lead to another place."""
    return {other[len(place)] for other in places if len(other) > len(place) and other[: len(place)] == place}


def _members(
    holder: object, *, is_bare: bool = False, others: set[str] | frozenset[str] = frozenset()
) -> Iterator[tuple[str | int, str, Entry]]:
    """Yields key, name and entry of each member.

    Args:
        is_bare: the place may have other members, so only members with a command or a URL are servers.
        others: keys that may lead to other places: members under these are servers only if they have a command or a URL.
    """
    if isinstance(holder, list):
        for index, item in enumerate(holder):
            if isinstance(item, Mapping) and isinstance(item.get("name"), str):
                yield index, item["name"], {key: value for key, value in item.items() if key != "name"}
    for key, entry in _mapping(holder).items():
        if isinstance(entry, Mapping) and (is_server(entry) or not (is_bare or key in others)):
            yield key, key, entry


def _extension(content: object) -> Iterator[tuple[str, Place, str, Entry]]:
    manifest = _mapping(content)
    entry = value_at(content, ("server", "mcp_config"))
    if isinstance(entry, Mapping) and isinstance(name := manifest.get("name"), str):
        yield "", ("server", "mcp_config"), name, entry


def _state(kind: ClientKind, content: object, place: Place, name: str, entry: Entry, approvals: Approvals | None) -> State:
    if is_off(entry) or name in _switched_off(kind, content, place):
        return "off"
    return approvals.state_of(name) if approvals else "on"


def _switched_off(kind: ClientKind, content: object, place: Place) -> Sequence[object]:
    """Returns the names in a list of switched-off servers beside the servers."""
    match kind.shape:
        case "claude" if place[0] == "projects":
            return _list(value_at(content, (*place[:2], "disabledMcpServers")))
        case "gemini":
            return _list(value_at(content, ("mcp", "excluded")))
    return ()


def value_at(content: object, place: Sequence[str | int]) -> object:
    for key in place:
        content = _mapping(content).get(str(key))
    return content


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


# settings that Claude Code and Claude Desktop keep elsewhere


def approvals_of(project: Path, own_folder: Path, projects: object) -> Approvals:
    """Reads which servers of a project's `.mcp.json` Claude Code may start. Servers wait if its settings cannot be read.

    Args:
        own_folder: Claude Code's folder with the settings for all projects, `~/.claude`.
        projects: its data about each folder, `projects` in its `.claude.json`.
    """
    answers = [_settings(folder / name) for folder, name in _places(project, own_folder)]
    if isinstance(projects, Mapping) and isinstance(kept := projects.get(str(project)), Mapping):
        answers.append(kept)
    return Approvals(
        any(each.get("enableAllProjectMcpServers") is True for each in answers),
        frozenset(name for each in answers for name in _approved_names(each, "enabledMcpjsonServers")),
        frozenset(name for each in answers for name in _approved_names(each, "disabledMcpjsonServers")),
    )


def is_extension_off(manifest: Path) -> bool:
    """Returns whether the user has switched an extension of Claude Desktop off.

    Args:
        manifest: `Claude Extensions/ID/manifest.json`.
    """
    folder = manifest.parent
    return _settings(folder.parent.with_name(EXTENSION_SETTINGS) / f"{folder.name}.json").get("isEnabled") is False


def _places(project: Path, own_folder: Path) -> list[tuple[Path, str]]:
    return [(own_folder, "settings.json"), (project / ".claude", "settings.json"), (project / ".claude", "settings.local.json")]


def _settings(path: Path) -> Mapping[str, object]:
    try:
        content = read_document(path, "json").content
    except CannotOpen:
        return {}
    return content if isinstance(content, dict) else {}


def _approved_names(settings: Mapping[str, object], key: str) -> list[str]:
    given = settings.get(key)
    return [name for name in given if isinstance(name, str)] if isinstance(given, list) else []
