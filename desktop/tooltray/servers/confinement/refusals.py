"""Records the hosts and paths that were refused to confined servers since they started. Proxies report hosts; paths are found in the
servers' messages.

Only confined servers are examined: for all others a line of stderr and the end of a call cost one lookup in a dict. This module cannot know
whether the system would have refused a path to any program: a server writes "permission denied" in either case.
"""

import asyncio
import os.path
import re
import time
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Literal

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.foundation.errors import NotFound
from tooltray.foundation.events import Event, EventBus, ServerRemoved, ServerStarted, ServerStopped
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import RefusedThing
from tooltray.foundation.tasks import Spawn
from tooltray.records.journal.journal_event import CALL, JournalEvent
from tooltray.servers.confinement.launch_line import Policy

MAX_TEXT = 16 * 1024  # characters that are read; the words of a refusal are at the beginning of a message
MAX_PATHS = 4  # of one text
MAX_LINES = 5  # with such words in them
AROUND = 300  # characters before and behind the words: the time grows with the square of this
MAX_PATH_LENGTH = 1000

_WORDS = r"(?:permission denied|operation not permitted|read-only file system)"
REFUSED = lazy_pattern(rf"\b(?:EACCES|EPERM|EROFS)\b|{_WORDS}", re.IGNORECASE)
_READ_ONLY = lazy_pattern(r"\bEROFS\b|read-only file system", re.IGNORECASE)
_CHANGES = lazy_pattern(
    r"\b(?:mkdir(?:at|temp)?|mkdtemp|rmdir|unlink(?:at)?|rename(?:at2?)?|symlink(?:at)?|link(?:at)?|f?truncate|f?chmod(?:at)?|l?chown|utimes?"
    r"|copyfile|creat|mknod"
    r"|(?:could not|cannot|can't|unable to|failed to|error) (?:create|creating|touch|make|remove|delete|move|write|writing|save|saving))\b",
    re.IGNORECASE,
)
_QUOTED = lazy_pattern(r"(?<!\w)(['\"`])(/.+?)\1(?=$|[\s,;:)\]}.'\"`])")
_BEFORE = lazy_pattern(r"(?:^|\s)(/.+)$")  # Go, Rust, the shell: up to a colon before the words; may have spaces in it
_SAID = lazy_pattern(_WORDS, re.IGNORECASE)
_AFTER = lazy_pattern(rf"(?:EACCES|EPERM|EROFS|{_WORDS})\W+(?:[\w ]{{0,20}})(/[^\s:'\"`,;()]+)", re.IGNORECASE)
_ANY = lazy_pattern(r"(?:^|[\s=(])(/[^\s:'\"`,;()]+)")
MAX_THINGS = 50  # of one server; a user reads ten
MAX_WAITING = 20  # paths that are looked up at the same moment; a server that still wants more reports them again
MAX_LOOKS_PER_S = 20  # messages of one server; each takes 3 ms at worst
MAX_REPLY_BYTES = 16 * 1024  # of an error that are searched, from its beginning

Kind = Literal["host", "path", "unknown"]


class RefusedPath(msgspec.Struct, frozen=True):
    """A path in a message.

    Attributes:
        path: absolute, without `..`.
        is_write: whether the message shows that the path was to be changed.
        is_whole: whether its end is certain; if not, a space may have cut it.
    """

    path: str
    is_write: bool
    is_whole: bool = True


def refused_paths(text: str) -> list[RefusedPath] | None:
    """Returns the paths of a message. None: the message reports no refusal; empty: it does, without a path."""
    found: dict[str, RefusedPath] = {}
    lines = [line for line in text[:MAX_TEXT].splitlines() if REFUSED.search(line)]
    for line in lines[:MAX_LINES]:
        for each in _paths(_around(line)):
            known = found.get(each.path, each)
            found[each.path] = RefusedPath(each.path, known.is_write or each.is_write, known.is_whole and each.is_whole)
    return list(found.values())[:MAX_PATHS] if lines else None


def _around(line: str) -> str:
    words = REFUSED.search(line)
    assert words is not None
    return line[max(0, words.start() - AROUND) : words.end() + AROUND]


def _paths(line: str) -> list[RefusedPath]:
    found = [match[2] for match in _QUOTED.finditer(line)] or _before(line)
    is_whole = bool(found)
    for spelling in (_AFTER, _ANY):
        found = found or [match[1] for match in spelling.finditer(line)][-1:]
    for path in found:
        line = line.replace(path, "")  # the rest of the line shows whether the server wanted to change it
    is_write = bool(_READ_ONLY.search(line) or _CHANGES.search(line))
    return [RefusedPath(path, is_write, is_whole) for path in map(_plain, found) if path]


def _before(line: str) -> list[str]:
    said = _SAID.search(line)
    part = line[: said.start()].rstrip(" :,(").rpartition(":")[2] if said else ""
    found = _BEFORE.search(part)
    return [found[1]] if found else []


def _plain(path: str) -> str:
    """Returns the path if it can be shown and allowed; else empty, as for the root, which would allow everything."""
    path = os.path.normpath(path.rstrip("."))
    is_usable = not path.startswith("//") and path != "/" and path.isprintable() and len(path) <= MAX_PATH_LENGTH
    return path if is_usable else ""


class SomethingRefused(Event, frozen=True):
    """The event that something was refused to a server; for other parts of the engine."""

    server: str


class _Server:
    """One confined server."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.things: dict[tuple[Kind, str], RefusedThing] = {}
        self._second, self._looks = 0, 0

    def may_look(self, at: float) -> bool:
        """Reports whether another message is searched; False if the server has sent too many in this second. `at`: unix seconds."""
        if int(at) != self._second:
            self._second, self._looks = int(at), 0
        self._looks += 1
        return self._looks <= MAX_LOOKS_PER_S

    def add(self, thing: RefusedThing) -> None:
        known = self.things.pop((thing.kind, thing.name), None)
        if known:
            thing = replace(thing, count=known.count + 1, is_write=known.is_write or thing.is_write)
        elif len(self.things) >= MAX_THINGS:
            del self.things[next(iter(self.things))]
        self.things[thing.kind, thing.name] = thing


class Refusals:
    """What was refused, by server. Belongs to the engine's loop."""

    def __init__(self, *, bus: EventBus, spawn: Spawn, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: returns unix seconds.
        """
        self._bus, self._spawn, self._clock = bus, spawn, clock
        self._servers: dict[str, _Server] = {}
        self._running: set[str] = set()
        self._waiting = 0
        bus.subscribe(ServerStarted, lambda event: self._running.add(event.server_name))
        bus.subscribe(ServerStopped, lambda event: self._running.discard(event.server_name))
        bus.subscribe(ServerRemoved, lambda event: self.end(event.name))
        bus.subscribe(JournalEvent, self._on_happened)

    def begin(self, server: str, policy: Policy) -> None:
        """Begins the record of a server that is about to start with a policy. If the server runs already, with another instance, its record
        stays."""
        if server not in self._servers or server not in self._running:
            self._servers[server] = _Server(policy)
        self._servers[server].policy = policy

    def end(self, server: str) -> None:
        """Drops the record of a server that is not confined any more, or is gone."""
        self._servers.pop(server, None)

    def of(self, server: str) -> tuple[RefusedThing, ...]:
        """Returns the things that were refused to a server, the latest first."""
        known = self._servers.get(server)
        return tuple(reversed(known.things.values())) if known else ()

    def get(self, server: str, kind: str, name: str) -> RefusedThing:
        """Returns one thing that was refused.

        Raises:
            NotFound: it was not refused.
        """
        found = next((thing for thing in self.of(server) if (thing.kind, thing.name) == (kind, name)), None)
        if found is None:
            raise NotFound(Phrase("'{thing}' was not refused to '{name}'", thing=name, name=server))
        return found

    def allowed(self, server: str, thing: RefusedThing) -> None:
        """Drops a thing that has been allowed, so that it is not shown any more."""
        if (known := self._servers.get(server)) and known.things.pop((thing.kind, thing.name), None):
            self._bus.publish(SomethingRefused(server))

    def host(self, server: str, name: str) -> None:
        """Records a refused host.

        Args:
            name: the host with its port.
        """
        self._add(server, RefusedThing("host", name, self._clock()))

    def heard(self, server: str, line: str) -> None:
        """Searches a line that a server wrote for a refusal."""
        if server in self._servers and REFUSED.search(line):
            self._note(server, line)

    def _on_happened(self, event: JournalEvent) -> None:
        if event.is_fault and event.kind == CALL and event.server in self._servers:
            self._note(event.server, _text(event.reply))

    def _note(self, server: str, text: str) -> None:
        known = self._servers[server]
        paths = refused_paths(text) if known.may_look(self._clock()) else None
        if paths is None:
            return
        if not paths:
            self._add(server, RefusedThing("unknown", "", self._clock()))
        elif self._waiting < MAX_WAITING:
            self._waiting += 1
            self._spawn(self._note_paths(server, paths), name=f"report the refusals of {server}")

    async def _note_paths(self, server: str, paths: list[RefusedPath]) -> None:
        try:
            found = await asyncio.to_thread(lambda: [_as_it_is(each) for each in paths])
        finally:
            self._waiting -= 1
        for each in found:
            self._note_path(server, each)

    def _note_path(self, server: str, refused: RefusedPath | None) -> None:
        known = self._servers.get(server)
        if known is None or (refused and _is_below(refused.path, known.policy.write)):
            return  # the confinement lets it change this path, so the refusal has another cause
        if refused is None:
            self._add(server, RefusedThing("unknown", "", self._clock()))
            return
        is_write = refused.is_write or _is_below(refused.path, known.policy.read)
        self._add(server, RefusedThing("path", refused.path, self._clock(), is_write=is_write))

    def _add(self, server: str, thing: RefusedThing) -> None:
        if known := self._servers.get(server):
            known.add(thing)
            self._bus.publish(SomethingRefused(server))


def _as_it_is(refused: RefusedPath) -> RefusedPath | None:
    """Returns the path with links resolved, because a link that the server made would allow the link's target. For a missing path it
    returns the folder, which has to be allowed to create the path. None: the path is not certain. Reads the file system."""
    path = os.path.realpath(refused.path)
    if os.path.lexists(path):
        return None if path == os.path.sep else RefusedPath(path, refused.is_write)
    folder = os.path.dirname(path)
    is_known = refused.is_whole and folder != os.path.sep and os.path.isdir(folder)
    return RefusedPath(folder, True) if is_known else None


def _text(reply: Raw) -> str:
    """Returns the beginning of an error, with its lines and quotation marks as they are."""
    text = bytes(memoryview(reply)[:MAX_REPLY_BYTES]).decode("utf-8", "replace")
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\").replace("\\/", "/")


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(PurePath(path).is_relative_to(folder) for folder in folders)
