"""Texts for users about files with servers: lines for the log, problems, and the changes that a reload would make.

The texts contain names of fields, never values, which may be secrets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from tooltray.config.settings.file_server import FileServer, with_file_servers
from tooltray.config.settings.json_model import JsonModel
from tooltray.config.settings.server_config import MCPServerConfig, runs_otherwise
from tooltray.config.settings.settings import Settings
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.setup import FileProblem, ReloadChange, ServerFileSnapshot
from tooltray.servers.upstream.project_folder import shown

MOST_NAMES = 8  # in one line
MOST_REPORTED = 10  # problems of one file at once; another author's file may have a thousand


class ProblemReports:
    """The problems of files, each published once. Belongs to the engine's loop."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._reported: dict[str, frozenset[FileProblem]] = {}  # by path

    def report(self, path: str, problems: Sequence[FileProblem]) -> None:
        """Publishes the problems of a file that are new."""
        before, self._reported[path] = self._reported.get(path, frozenset()), frozenset(problems)
        for problem in first_problems(path, [each for each in problems if each not in before]):
            self._bus.publish(ProblemReported(problem))


def first_problems(path: str, problems: Sequence[FileProblem]) -> Iterator[Problem]:
    """Returns the first `MOST_REPORTED` problems of a file, and one that gives the number of the others."""
    yield from (each.problem for each in problems[:MOST_REPORTED])
    if (left := len(problems) - MOST_REPORTED) > 0:
        message = Phrase("and {number} more problems", number=left)
        yield Problem(Phrase("{file} is not fully used", file=shown(path)), message, Phrase("Correct it in {file}", file=shown(path)))


def served_lines(files: Iterable[ServerFileSnapshot]) -> Iterator[str]:
    """Yields one line for each project's file whose servers all AI clients have."""
    for file in files:
        used = [entry.server for entry in file.entries if entry.server]
        if used and file.is_for_all and file.kind == "mcp.json":
            yield visible(f"Serves {file.path}: {_names(used)}")


def waiting_lines(files: Iterable[ServerFileSnapshot]) -> Iterator[str]:
    """Yields one line for each file with servers that wait for consent, with the command that shows and allows them."""
    for file in files:
        if waiting := [entry.name for entry in file.entries if entry.state in ("waits", "changed")]:
            look = f"tooltray trust {quoted(file.project)}"
            yield visible(f"{file.path} brings {_names(waiting)}. Review what they start, and allow them: {look}")


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


MOST_NAMED = 8  # fields in one line
MOST_UNUSABLE = 10  # entries of one file; another author's file may have a thousand
_OF_SERVERS = ("mcp_servers", "file_servers", "version")
"""Members of the settings that are described with the servers, or not described."""


class Known(msgspec.Struct, frozen=True):
    """One state of the settings and of the servers of other files.

    Attributes:
        own: the settings of settings.json.
        settings_file: absolute path of settings.json.
        files: the servers of other files in use, by their names in the hub.
    """

    own: Settings
    settings_file: str
    files: Mapping[str, FileServer] = msgspec.field(default_factory=dict)

    @property
    def servers(self) -> Mapping[str, MCPServerConfig]:
        return with_file_servers(self.own, self.files).mcp_servers

    def file_server(self, name: str) -> FileServer | None:
        """Returns the server of a file; None for a server of the settings, which take precedence."""
        return None if name in self.own.mcp_servers else self.files.get(name)

    def file(self, name: str) -> str:
        """Returns the path of the file with a server's entry."""
        server = self.file_server(name)
        return server.file if server else self.settings_file


def plan(before: Known, after: Known) -> list[ReloadChange]:
    """Lists the changes: removed servers, changed servers, added servers, then settings. Unchanged ones are left out."""
    old, new = before.servers, after.servers
    gone = [ReloadChange("remove", name, before.file(name)) for name in old if name not in new]
    stay = [change for name in old if name in new for change in _of_server(name, before, after)]
    come = [ReloadChange("add", name, after.file(name), config.transport) for name, config in new.items() if name not in old]
    return [*gone, *stay, *come, *_of_settings(before, after)]


def waiting(server: str, file: str, *, is_change: bool) -> ReloadChange:
    """Describes an entry that waits for consent.

    Args:
        is_change: whether the user consented to an earlier content, which keeps running.
    """
    changed, new = (
        Phrase("it has changed; the old version keeps running until the new one is allowed"),
        Phrase("it is not allowed yet"),
    )
    return ReloadChange("wait", server, file, changed if is_change else new)


def kept(server: str, file: str, problem: Problem) -> ReloadChange:
    """Describes a server or file that stays unchanged because its file cannot be used.

    Args:
        server: empty for the whole file.
        problem: the problem of the file.
    """
    why = Phrase("{problem}: {reason}", problem=problem.title, reason=problem.message) if problem.message else problem.title
    return ReloadChange("keep", server, file, why)


def unusable(file: str, problems: Iterable[FileProblem]) -> Iterator[ReloadChange]:
    """Describes entries that cannot be used, by their names in the file; their running servers keep running."""
    broken = [problem for problem in problems if problem.entry]
    for problem in broken[:MOST_UNUSABLE]:
        yield ReloadChange("keep", problem.entry, file, problem.problem.message)
    if (more := len(broken) - MOST_UNUSABLE) > 0:
        yield ReloadChange("keep", "", file, Phrase("and {number} more problems", number=more))


def left_out(file: str, problems: Iterable[FileProblem]) -> Iterator[ReloadChange]:
    """Describes other parts of the settings that cannot be used."""
    return (kept("", file, problem.problem) for problem in problems if not problem.entry)


def _of_server(name: str, before: Known, after: Known) -> Iterator[ReloadChange]:
    old, new = before.servers[name], after.servers[name]
    fields = list(_fields(old, new, ""))
    if runs_otherwise(old, new) or _way(before.file_server(name)) != _way(after.file_server(name)):
        yield ReloadChange("restart", name, after.file(name), _named(fields) or Phrase("where it comes from"))
    elif fields:
        yield ReloadChange("change", name, after.file(name), _named(fields))


def _way(server: FileServer | None) -> tuple[object, ...]:
    """Returns everything besides its entry that decides how a file's server runs."""
    return (server.folder, server.project, dict(server.entry.variables)) if server else ()


def _of_settings(before: Known, after: Known) -> Iterator[ReloadChange]:
    for path, (old, new) in _paths(before.own, after.own, "", _OF_SERVERS):
        yield ReloadChange("setting", path, after.settings_file, _as_words(old, new))


def _fields(old: MCPServerConfig, new: MCPServerConfig, prefix: str) -> Iterator[str]:
    return (path for path, _ in _paths(old, new, prefix, ()))


def _paths(old: JsonModel, new: JsonModel, prefix: str, besides: tuple[str, ...]) -> Iterator[tuple[str, tuple[object, object]]]:
    """Yields the paths at which two models of one type differ, in the spelling of the file, with both values; descends into members."""
    for name, info in type(new).model_fields.items():
        pair = getattr(old, name), getattr(new, name)
        path = prefix + (info.alias)
        if name in besides or pair[0] == pair[1]:
            continue
        if isinstance(pair[0], JsonModel) and isinstance(pair[1], JsonModel):
            yield from _paths(*pair, f"{path}.", ())
        elif isinstance(pair[0], Mapping) and isinstance(pair[1], Mapping):
            yield from _members(*pair, path)
        else:
            yield path, pair


def _members(old: Mapping[str, object], new: Mapping[str, object], path: str) -> Iterator[tuple[str, tuple[object, object]]]:
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            yield f"{path}.{shown(key)}", (old.get(key), new.get(key))


def _as_words(old: object, new: object) -> str:
    if isinstance(new, bool):
        return Phrase("on") if new else Phrase("off")
    if new is None:
        return Phrase("taken out")
    return Phrase("added") if old is None else Phrase("changed")


def _named(fields: list[str]) -> str:
    names, more = ", ".join(fields[:MOST_NAMED]), len(fields) - MOST_NAMED
    return Phrase("{names} and {count} more", names=names, count=more) if more > 0 else names
