"""What reading the files again changes, in words: the difference between two states of the settings and of the servers of other files.

Above it: ServerFiles, which shows it before it does it. Below it: the models. Pure; the words have names of fields in them, never a value,
which may be a secret.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from tooltray.errors import Problem
from tooltray.phrases import Phrase
from tooltray.settings.beside_settings import with_file_servers
from tooltray.settings.file_server import FileServer
from tooltray.settings.server_config import MCPServerConfig, config_hash
from tooltray.settings.settings import Settings
from tooltray.snapshots.files import FileProblem, ReloadChange
from tooltray.upstream.project_folder import shown

MOST_NAMED = 8  # fields in one line of words
MOST_UNUSABLE = 10  # entries of one file; a file of somebody else's may have a thousand
_OF_SERVERS = ("mcp_servers", "file_servers", "version")
"""What of the settings says itself through the servers, or nothing."""


@dataclass(frozen=True)
class Known:
    """
    Attributes:
        own: what settings.json says.
        settings_file: where that is, absolute.
        files: servers of other files that are in use, by their names here.
    """

    own: Settings
    settings_file: str
    files: Mapping[str, FileServer] = field(default_factory=dict)

    @property
    def servers(self) -> Mapping[str, MCPServerConfig]:
        return with_file_servers(self.own, self.files).mcp_servers

    def file_server(self, name: str) -> FileServer | None:
        """None for those of the settings, which go before."""
        return None if name in self.own.mcp_servers else self.files.get(name)

    def file(self, name: str) -> str:
        """In which file a server's entry is."""
        server = self.file_server(name)
        return server.file if server else self.settings_file


def plan(before: Known, after: Known) -> list[ReloadChange]:
    """What there is to do: servers that go, those that change, those that come, then settings. What stays as it is is not in it."""
    old, new = before.servers, after.servers
    gone = [ReloadChange("remove", name, before.file(name)) for name in old if name not in new]
    stay = [change for name in old if name in new for change in _of_server(name, before, after)]
    come = [ReloadChange("add", name, after.file(name), config.transport) for name, config in new.items() if name not in old]
    return [*gone, *stay, *come, *_of_settings(before, after)]


def waiting(server: str, file: str, *, is_change: bool) -> ReloadChange:
    """An entry that a person has not said yes to.

    Args:
        is_change: they did to another content, which goes on.
    """
    changed, new = Phrase("it has changed, and the old one goes on until somebody says yes to it"), Phrase("nobody has said yes to it yet")
    return ReloadChange("wait", server, file, changed if is_change else new)


def kept(server: str, file: str, problem: Problem) -> ReloadChange:
    """What goes on as it is, as nothing can be said of its file.

    Args:
        server: empty: the file has none yet.
        problem: with the file.
    """
    why = Phrase("{problem}: {reason}", problem=problem.title, reason=problem.message) if problem.message else problem.title
    return ReloadChange("keep", server, file, why)


def unusable(file: str, problems: Iterable[FileProblem]) -> Iterator[ReloadChange]:
    """Entries that cannot be used: what ran of them goes on, by their names in the file."""
    broken = [problem for problem in problems if problem.entry]
    for problem in broken[:MOST_UNUSABLE]:
        yield ReloadChange("keep", problem.entry, file, problem.problem.message)
    if (more := len(broken) - MOST_UNUSABLE) > 0:
        yield ReloadChange("keep", "", file, Phrase("and {number} more problems", number=more))


def left_out(file: str, problems: Iterable[FileProblem]) -> Iterator[ReloadChange]:
    """What else of the settings cannot be used."""
    return (kept("", file, problem.problem) for problem in problems if not problem.entry)


def _of_server(name: str, before: Known, after: Known) -> Iterator[ReloadChange]:
    old, new = before.servers[name], after.servers[name]
    fields = list(_fields(old, new, ""))
    if config_hash(old) != config_hash(new) or _way(before.file_server(name)) != _way(after.file_server(name)):
        yield ReloadChange("restart", name, after.file(name), _named(fields) or Phrase("where it comes from"))
    elif fields:
        yield ReloadChange("change", name, after.file(name), _named(fields))


def _way(server: FileServer | None) -> tuple[Any, ...]:
    """What of a file decides how its server runs, besides its entry."""
    return (server.folder, server.project, dict(server.entry.variables), dict(server.entry.commands)) if server else ()


def _of_settings(before: Known, after: Known) -> Iterator[ReloadChange]:
    for path, (old, new) in _paths(before.own, after.own, "", _OF_SERVERS):
        yield ReloadChange("setting", path, after.settings_file, _as_words(old, new))


def _fields(old: MCPServerConfig, new: MCPServerConfig, prefix: str) -> Iterator[str]:
    return (path for path, _ in _paths(old, new, prefix, ()))


def _paths(old: BaseModel, new: BaseModel, prefix: str, besides: tuple[str, ...]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Where two models of one kind differ, in the spelling of the file; of what has members, each of them."""
    for name, info in type(new).model_fields.items():
        pair = getattr(old, name), getattr(new, name)
        path = prefix + (info.alias or name)
        if name in besides or pair[0] == pair[1]:
            continue
        if isinstance(pair[0], BaseModel) and isinstance(pair[1], BaseModel):
            yield from _paths(*pair, f"{path}.", ())
        elif isinstance(pair[0], Mapping) and isinstance(pair[1], Mapping):
            yield from _members(*pair, path)
        else:
            yield path, pair


def _members(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            yield f"{path}.{shown(key)}", (old.get(key), new.get(key))


def _as_words(old: Any, new: Any) -> str:
    if isinstance(new, bool):
        return Phrase("on") if new else Phrase("off")
    if new is None:
        return Phrase("taken out")
    return Phrase("added") if old is None else Phrase("changed")


def _named(fields: list[str]) -> str:
    names, more = ", ".join(fields[:MOST_NAMED]), len(fields) - MOST_NAMED
    return Phrase("{names} and {count} more", names=names, count=more) if more > 0 else names
