"""Reads the settings' JSON part by part: a part that cannot be read falls back as a whole, and is reported with its line in the file.

A mistake must never let a call run without asking, show a client more or let a process do more than the writer meant: a part that restricts
something falls back to its strictest value, not to its default. Nothing here changes the document.
"""

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

import msgspec

from tooltray.config.settings.document import NOT_CHANGED, Document, version_of
from tooltray.config.settings.given_entries import check_name, place_of, printable_name
from tooltray.config.settings.json_kinds import Path, ValidationError
from tooltray.config.settings.json_model import CORRECT_IT, joined, of_place, printable, to_camel
from tooltray.config.settings.settings import (
    ANY_CLIENT,
    ANY_SERVER,
    MOST_DAYS,
    MOST_MEGABYTES,
    ActivitySettings,
    ApprovalSettings,
    ClientSettings,
    DiscoverySettings,
    FileServerSettings,
    Settings,
)
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.json_places import CannotRead, Lines, Value, read
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import FileProblem

MAX_VALUES = 100_000  # in the file; finding lines among more takes over a second, so problems have none
ALIKE = 0.8  # of 1: one or two letters of a word; "timeout" is not taken for "callTimeout"

UNREADABLE_PROFILE = "(cannot be read)"
"""The profile of a client whose settings cannot be read. No such profile exists, so the client sees no tools."""


class _Part(NamedTuple):
    """A part of the settings that is used, or falls back, as a whole.

    Attributes:
        meanwhile: describes the effect until the part is corrected; empty: the effect is not worth mentioning.
        value: the value in its place; None: the default, or for a named member that it does not exist.
        title: returns the title of the problem, for a named member.
    """

    meanwhile: str = ""
    value: object = None
    title: Callable[[str], str] | None = None


_EACH = "*"
_CLIENT = ClientSettings(auto_approve=(), call_rules=(), flow_guard=True, profile=UNREADABLE_PROFILE)
_FILE_SERVER = FileServerSettings(auto_approve=(), call_rules=(), disable=True)
_PARTS: Mapping[Path, _Part] = {
    ("activity",): _Part(
        Phrase("the journal keeps no details of calls, and deletes nothing"),
        ActivitySettings(line=False, contents_days=MOST_DAYS, days=MOST_DAYS, megabytes=MOST_MEGABYTES),
    ),
    ("approvals",): _Part(Phrase("the flow guard is on"), ApprovalSettings(flow_guard=True)),
    ("discovery",): _Part(Phrase("no registry is used"), DiscoverySettings(registry=False)),
    ("fileServers",): _Part(Phrase("servers of other files do not start"), {ANY_SERVER: _FILE_SERVER}),
    ("fileServers", _EACH): _Part(
        Phrase("it does not start"),
        _FILE_SERVER,
        lambda name: Phrase("What was chosen for the server '{server}' cannot be used", server=name),
    ),
    ("mcpEnabled",): _Part(Phrase("all servers are paused"), False),
    ("mcpServers", _EACH): _Part(title=lambda name: Phrase("The entry of server '{server}' cannot be used", server=name)),
    ("newServers",): _Part(Phrase("new servers are careful"), "careful"),
    ("profiles",): _Part(Phrase("AI clients that have a profile see nothing")),
    ("profiles", _EACH): _Part(
        Phrase("AI clients that have it see nothing"), title=lambda name: Phrase("The profile '{profile}' cannot be used", profile=name)
    ),
    ("publish", "clients"): _Part(Phrase("AI clients see nothing"), {ANY_CLIENT: _CLIENT}),
    ("publish", "clients", _EACH): _Part(
        Phrase("it sees nothing"), _CLIENT, lambda name: Phrase("The settings of AI client '{client}' cannot be used", client=name)
    ),
    ("publish", "clients", _EACH, "mode"): _Part(Phrase("the mode for all AI clients counts for it")),
    ("publish", "clients", _EACH, "resultLimit"): _Part(Phrase("its results have only the limits of their servers")),
    ("publish", "clients", _EACH, "csvTables"): _Part(Phrase("it gets CSV as its servers and tools have it")),
    ("publish", "http"): _Part(Phrase("AI clients cannot connect over HTTP")),
}

SAFEGUARDS: Mapping[Path, Sequence[str]] = {
    (): ("activity", "approvals", "mcpEnabled", "newServers", "publish", "results", "secretCommands"),
    ("activity",): ("contents", "contentsDays", "contentsUntil", "days", "line", "megabytes"),
    ("approvals",): ("flowGuard", "sameForSeconds"),
    ("publish",): ("clients", "feedback", "http", "lazyLoad", "mode", "naming"),
    ("publish", "clients", _EACH): ("autoApprove", "callRules", "flowGuard", "mode", "profile", "reads", "resultLimit"),
    ("results",): ("megabytes",),
    ("mcpServers", _EACH): (
        *("autoApprove", "callRules", "callsPerMinute", "confinement", "disable", "disabledTools", "isolation", "maxCalls", "projects"),
        *("resultLimit", "toolFilter"),
    ),
}
"""Fields that restrict something, by their parts: an unknown field is kept and ignored, so a misspelt one lifts a restriction."""


class Slip(msgspec.Struct, frozen=True):
    """A part of the settings that cannot be used.

    Attributes:
        path: of the wrong part; the path of a missing field does not exist in the file.
        entry: the server that is not used because of the slip; empty: none.
        part: of the settings, which fell back as a whole; empty: nothing did.
    """

    problem: Problem
    path: Path
    entry: str = ""
    part: Path = ()


class Reading(msgspec.Struct, frozen=True):
    """The usable parts of a document, and the slips in the rest."""

    settings: Settings = msgspec.field(default_factory=Settings)
    slips: tuple[Slip, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Returns the problems, without their places."""
        return tuple(slip.problem for slip in self.slips)


def read_settings(document: Document, reserved: Collection[str] = ()) -> Reading:
    """Reads the usable parts of a document.

    Args:
        document: the parsed file, of any version up to now or newer.
        reserved: names of servers that come with Tooltray.
    """
    given = {key: document[key] for key in _KEYS if document.get(key) is not None} | {"version": version_of(document)}
    slips: list[Slip] = []
    if isinstance(entries := given.get("mcpServers"), Mapping):
        given["mcpServers"] = {name: entry for name, entry in entries.items() if _is_name(name, reserved, slips)}
    while True:
        try:
            return Reading(Settings.model_validate(given), (*slips, *misspelt(document)))
        except ValidationError as error:
            given = copy.deepcopy(given)
            slips += _without_unusable(given, error)


_KEYS = [field.alias for field in Settings.model_fields.values()]


def _is_name(name: str, reserved: Collection[str], slips: list[Slip]) -> bool:
    try:
        check_name(name, reserved)
    except TooltrayError as error:
        slips.append(Slip(error.problem, ("mcpServers", name), name))
        return False
    return True


def check_counts(document: Document, *parts: Path) -> None:
    """Raises TooltrayError if one of the parts cannot be read: a change in it would not count."""
    for slip in read_settings(document).slips:
        if slip.part in parts:
            raise TooltrayError(NOT_CHANGED, slip.problem.message, CORRECT_IT)


def _without_unusable(given: Document, error: ValidationError) -> Iterator[Slip]:
    """Replaces the parts that cannot be read, and yields a slip for each."""
    reasons: dict[Path, list[tuple[Path, str]]] = {}
    for path, reason in error.places:
        reasons.setdefault(path[: len(_pattern(path))], []).append((path, reason))
    for part in [part for part in reasons if part[:-1] in reasons and part[:-1] != ("publish",)]:
        reasons[part[:-1]] += reasons.pop(part)  # a field that restricts nothing falls back together with those that do
    for part, found in reasons.items():
        kind = _PARTS.get(_pattern(part), _Part())
        if part == ("publish",) and not isinstance(given["publish"], Mapping):
            kind = _PARTS["publish", "clients"]
        _fall_back(given, part, kind.value)
        yield _slip(part, kind, found)


def _pattern(path: Path) -> Path:
    """Returns the longest pattern of a part that a place is in."""
    patterns = (pattern for pattern in _PARTS if len(pattern) <= len(path) and all(map(_fits, pattern, path)))
    return max(patterns, key=len, default=path[:1])


def _fits(expected: object, step: object) -> bool:
    return expected in (_EACH, to_camel(str(step)))


def _fall_back(given: Document, part: Path, value: object) -> None:
    *above, name = map(str, part)
    holder = given
    for key in above:
        holder = holder[key]  # type: ignore[assignment]  # an object, since a member of it was read
    was = holder.pop(name)
    if part == ("publish",):  # its members that are parts of their own still count
        inner = was if isinstance(was, Mapping) else {"clients": value}
        value = {"feedback": False, "clients": inner.get("clients"), "http": inner.get("http")}
    if value is not None:
        holder[name] = value


def _slip(part: Path, kind: _Part, found: Sequence[tuple[Path, str]]) -> Slip:
    entry = str(part[1]) if part[0] == "mcpServers" and len(part) > 1 else ""
    if kind.title:
        title = kind.title(printable_name(str(part[-1])))
    else:
        title = Phrase("{field} in the settings is not used", field=printable(".".join(map(str, part))))
    if entry:
        message = joined([of_place(path[len(part) :], reason) for path, reason in found])
    else:
        message = of_place(part[:1], joined([of_place(path[1:], reason) for path, reason in found]))
    hint = Phrase("{what}; until then {meanwhile}", what=CORRECT_IT, meanwhile=kind.meanwhile) if kind.meanwhile else CORRECT_IT
    return Slip(Problem(title, message, hint), found[0][0], entry, part)


def misspelt(document: Document) -> Iterator[Slip]:
    """Yields a slip for each field that looks like one of SAFEGUARDS; its value is ignored. Fields of other programs do not."""
    for pattern, fields in SAFEGUARDS.items():
        for path, given in _at(document, pattern):
            for key in given:
                if to_camel(key) not in fields and (near := get_close_matches(key, fields, 1, ALIKE)) and near[0] not in given:
                    name = printable(".".join(map(str, (*path, key))))
                    title = Phrase("{field} in the settings means nothing", field=name)
                    yield Slip(Problem(title, Phrase("it looks like '{known}'", known=near[0]), CORRECT_IT), (*path, key))


def _at(value: object, pattern: Path, path: Path = ()) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Yields the objects at a pattern, with their paths."""
    if not isinstance(value, Mapping):
        return
    if len(path) == len(pattern):
        yield path, value
        return
    step = pattern[len(path)]
    for key in value if step == _EACH else (step,):
        yield from _at(value.get(key), pattern, (*path, key))


class SettingsPlaces:
    """Finds the lines of slips in `settings.json`; parses the text only if there is a slip.

    Args:
        content: of the file, JSON.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content

    def located(self, slips: Iterable[Slip]) -> tuple[FileProblem, ...]:
        """Returns the problems of the slips, with their lines."""
        return tuple(_located(slip, self._line_of(slip.path)) for slip in slips)

    def repeated(self, key: str) -> str:
        """Describes a key that occurs twice in one object."""
        at = next((at for found, at in self._root.repeated() if found == key), None) if self._root else None
        return _with_line(self._line(at), Phrase("'{name}' occurs twice; the last one counts", name=printable(key)))

    @cached_property
    def _text(self) -> str:
        return self._content.decode("utf-8-sig")

    @cached_property
    def _root(self) -> Value | None:
        try:
            return read(self._text, most_values=MAX_VALUES)
        except CannotRead:
            return None

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    def _line_of(self, path: Path) -> int:
        """Returns the line of a part, or of the object that lacks it."""
        return self._line(place_of(path, self._root) if self._root and path else None)

    def _line(self, at: int | None) -> int:
        """Returns a line; 0 if it is unknown."""
        return 0 if at is None else self._lines.place(at)[0]


def _located(slip: Slip, line: int) -> FileProblem:
    problem = slip.problem
    return FileProblem(Problem(problem.title, _with_line(line, problem.message), problem.hint), line, slip.entry)


def _with_line(line: int, reason: str) -> str:
    return Phrase("line {line}: {reason}", line=line, reason=reason) if line else reason
