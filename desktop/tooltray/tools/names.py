"""The names under which AI clients see tools: the one place that makes one, and the file that keeps it.

Above it: ToolManager. Below it: config.atomic_file. Knows (server, original name) pairs and nothing else of a tool.

A name is a promise: an AI client's allow-list or a person's prompt may hold it. So it is decided once, when a tool is first published, kept
on disk, and never given to another tool, also not after its own is gone; only `reset` forgets. What clients can bear decides its form: they
merge, cut or drop names with other characters, names that differ in `-`, `_` or case alone, and long ones.
"""

import hashlib
import itertools
import json
import logging
import re
import threading
import time
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from tooltray.config.atomic_file import write_atomically
from tooltray.errors import TooltrayError

logger = logging.getLogger(__name__)

Tool = tuple[str, str]
"""A server's name and the server's own name for the tool."""
Naming = Literal["conflict", "always"]

MAX_LENGTH = 40  # a client's own prefix goes before it; with `mcp_hub_` and the like the strictest client still takes the whole
HARD_MAX_LENGTH = 46  # 64 of the strictest client less its longest prefix of 18; used only by names that need a longer hash
HASH_DIGITS, LONG_HASH_DIGITS = 6, 12
MIN_SERVER_LENGTH = 8  # of a prefix that has to be shortened, so that it can still be recognised
FILE_VERSION = 1

_VALID = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_INVALID_RUN = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)


class PublishedNames:
    """All names ever given, and the tools they were given to.

    Every method may be called from any thread; `publish` and `reset` write a file, so an event loop calls them in a worker thread.
    """

    def __init__(self, path: Path, *, naming: Naming = "conflict") -> None:
        """Reads the file; one that is missing is empty, and of one that is malformed a copy is set aside and what is valid is used.

        Args:
            path: `names.json`.
            naming: "conflict" prefixes the server only where names meet; "always" everywhere. May be changed later; names given stay.
        """
        self.naming: Naming = naming
        self._path = path
        self._lock = threading.Lock()
        self._names: dict[Tool, str] = {}
        self._targets: dict[str, Tool] = {}
        self._taken: set[str] = set()  # names as clients compare them
        self._contested: set[str] = set()  # plain names of all tools ever named: who wants one of them comes second
        self._is_saved = True
        self._is_failing = False
        self._load()

    def publish(self, tools: Iterable[Tool]) -> dict[Tool, str]:
        """The names of these tools; those that have none yet are given one, which is on disk before this returns.

        The outcome does not depend on the order of `tools`. If the file cannot be written the names hold in memory, and the next call
        tries again.
        """
        wanted = dict.fromkeys(tools)
        with self._lock:
            newcomers = [tool for tool in wanted if tool not in self._names]
            if newcomers:
                self._name(newcomers)
                self._is_saved = False
            if not self._is_saved:
                self._save()
            return {tool: self._names[tool] for tool in wanted}

    def target(self, name: str) -> Tool | None:
        """The tool that a name was given to, whether it is listed now or not."""
        return self._targets.get(name)

    def reset(self) -> None:
        """Forgets all names, in memory and on disk."""
        with self._lock:
            for known in (self._names, self._targets, self._taken, self._contested):
                known.clear()
            self._save()

    def _name(self, newcomers: list[Tool]) -> None:
        plain = {tool: _plain(tool) for tool in newcomers}
        waiting = newcomers
        if self.naming == "conflict":
            waiting = self._give_unmet(plain, avoided=self._contested)
        waiting = self._give_unmet({tool: _prefixed(tool) for tool in waiting})
        for tool in waiting:
            self._give(tool, next(name for name in _hashed(tool) if _as_compared(name) not in self._taken))
        self._contested.update(map(_as_compared, plain.values()))

    def _give_unmet(self, proposals: dict[Tool, str], *, avoided: Collection[str] = ()) -> list[Tool]:
        """Gives each proposed name that meets no other; returns the tools that go without."""
        rivals: dict[str, list[Tool]] = {}
        for tool, name in proposals.items():
            rivals.setdefault(_as_compared(name), []).append(tool)
        waiting = []
        for key, group in rivals.items():
            if len(group) > 1 or key in self._taken or key in avoided:
                waiting += group
            else:
                self._give(group[0], proposals[group[0]])
        return sorted(waiting)

    def _give(self, tool: Tool, name: str) -> None:
        self._names[tool], self._targets[name] = name, tool
        self._taken.add(_as_compared(name))

    def _save(self) -> None:
        servers: dict[str, dict[str, str]] = {}
        for (server, original), name in sorted(self._names.items()):
            servers.setdefault(server, {})[original] = name
        # not msgspec: names come from servers, and `json` alone can write halves of surrogate pairs
        data = json.dumps({"version": FILE_VERSION, "names": servers}).encode() + b"\n"
        try:
            write_atomically(self._path, data)
        except (OSError, TooltrayError) as error:
            if not self._is_failing:  # said once, not with every list of tools
                logger.warning("tool names cannot be kept in %s, and may change at the next start: %s", self._path, error)
            self._is_saved, self._is_failing = False, True
        else:
            self._is_saved, self._is_failing = True, False

    def _load(self) -> None:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            self._set_aside(str(error))
            return
        try:
            servers = _servers_in(json.loads(content))
        except (ValueError, RecursionError):
            self._set_aside("no file of tool names")
            return
        refused = [entry for entry in _entries(servers) if not self._take_over(*entry)]
        self._contested = {_as_compared(_plain(tool)) for tool in self._names}
        if refused:
            self._set_aside(f"{len(refused)} of its entries cannot be used")
            self._save()

    def _take_over(self, server: str, original: str, name: Any) -> bool:
        """Takes one entry of the file if it keeps the promises that names make."""
        if not isinstance(name, str) or not _VALID.fullmatch(name) or len(name) > HARD_MAX_LENGTH or _as_compared(name) in self._taken:
            return False
        self._give((server, original), name)
        return True

    def _set_aside(self, reason: str) -> None:
        """Moves the file away, keeping it."""
        aside = self._path.with_name(f"{self._path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
        try:
            self._path.replace(aside)
        except OSError as error:
            logger.warning("%s cannot be used (%s) and cannot be set aside: %s", self._path, reason, error)
        else:
            logger.warning("%s cannot be used as it is (%s); it is set aside as %s", self._path, reason, aside.name)


def _servers_in(document: Any) -> dict[str, Any]:
    servers = document.get("names") if isinstance(document, dict) and document.get("version") == FILE_VERSION else None
    if not isinstance(servers, dict):
        raise ValueError("no file of tool names")
    return servers


def _entries(servers: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(server, original, name), sorted; where a server's names are no object, one entry that cannot be used."""
    for server, names in sorted(servers.items()):
        yield from ((server, original, name) for original, name in sorted((names if isinstance(names, dict) else {"": None}).items()))


def _as_compared(name: str) -> str:
    """What is equal here may be one name to an AI client: some map `-` to `_`, some ignore case."""
    return name.replace("-", "_").lower()


def _plain(tool: Tool) -> str:
    """The tool's own name as far as it can be kept. Equal for equal originals, so that two servers' tools are seen to meet."""
    cleaned = _cleaned(tool[1], "tool")
    return cleaned if len(cleaned) <= MAX_LENGTH else _with_hash(cleaned, _digest(tool[1]), HASH_DIGITS)


def _prefixed(tool: Tool) -> str:
    whole = "_".join(_parts(tool))
    return whole if len(whole) <= MAX_LENGTH else next(_hashed(tool))


def _hashed(tool: Tool) -> Iterator[str]:
    """Names that no other tool should want; with each a smaller chance that one does."""
    server, original = _parts(tool)
    room = MAX_LENGTH - HASH_DIGITS - 1
    server = server[: max(MIN_SERVER_LENGTH, room - 1 - len(original))]
    digest = _digest(*tool)
    yield _with_hash(f"{server}_{original}", digest, HASH_DIGITS)
    yield _with_hash(f"{server}_{original}", digest, LONG_HASH_DIGITS)
    yield from (_with_hash(f"{server}_{original}", _digest(*tool, str(salt)), LONG_HASH_DIGITS) for salt in itertools.count())


def _with_hash(text: str, digest: str, digits: int) -> str:
    return f"{text[: MAX_LENGTH - HASH_DIGITS - 1].rstrip('_-')}_{digest[:digits]}"


def _parts(tool: Tool) -> tuple[str, str]:
    return _cleaned(tool[0], "server"), _cleaned(tool[1], "tool")


def _cleaned(text: str, stand_in: str) -> str:
    """`text` in the characters that every client takes; accents go, other scripts too, and where nothing is left a stand-in with a hash."""
    if _VALID.fullmatch(text):
        return text
    letters = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return _INVALID_RUN.sub("_", letters).strip("_-") or f"{stand_in}_{_digest(text)[:HASH_DIGITS]}"


def _digest(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
