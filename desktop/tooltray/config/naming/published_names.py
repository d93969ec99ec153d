"""The names under which AI clients see tools and prompts, and their file. `name_space` decides each of them.

A name is a promise: an AI client's allow-list or a user's prompt may hold it. So it is decided once, when a tool is first published, stored
on disk, and never given to another tool while its server exists, also not after the tool itself is gone. The names of a removed server are
free as soon as the removal cannot be undone any more. Prompts have a name space of their own under the same rule; for skills the first part
of their URIs is given in this way, see catalogue/resource_uris.

A tool whose name had to be shortened also has a whole one, which clients that accept longer names see; both lead to it, and the promise
holds for both.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from tooltray.config.naming.name_space import NameSpace, Naming
from tooltray.config.naming.tool_settings import Tool, tool_of
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.regular_file import read_regular

logger = logging.getLogger(__name__)

Kind = Literal["tools", "prompts", "skills"]

FILE_VERSION = 1
RETURNS_WITHIN_S = 60.0  # for a removed server: the window offers Undo for 8 s, and an editor has an undo, too
_MEMBERS: Mapping[Kind, str] = {"tools": "names", "prompts": "prompts", "skills": "skills"}  # of the file; at first it had only tools
_WHOLE: Mapping[Kind, str] = {"tools": "whole", "prompts": "wholePrompts", "skills": "wholeSkills"}  # the same
_STAND_INS: Mapping[Kind, str] = {"tools": "tool", "prompts": "prompt", "skills": "skill"}


class PublishedNames:
    """All names ever given, each with the tool or prompt that has it.

    Every method may be called from any thread; `publish` and `reset` write a file, so an event loop calls them in a worker thread.
    """

    def __init__(self, path: Path, *, naming: Naming = "conflict", now: Callable[[], float] = time.time) -> None:
        """Reads the file. A missing one is empty; a copy of a malformed one is set aside, and its valid parts are used.

        Args:
            path: `names.json`.
            naming: "conflict" adds the server's name only if names would be alike; "always" everywhere. May be changed later; given names
                stay.
            now: unix time.
        """
        self._now = now
        self.naming: Naming = naming
        self._path = path
        self._lock = threading.Lock()
        self._spaces: dict[Kind, NameSpace] = {kind: NameSpace(stand_in) for kind, stand_in in _STAND_INS.items()}
        self._retired: dict[str, float] = {}  # servers that were removed a moment ago: unix time of that
        self._is_saved = True
        self._is_failing = False
        self._load()

    def publish(self, tools: Iterable[Tool], *, kind: Kind = "tools") -> dict[Tool, str]:
        """Returns the names of these tools; tools without a name get one, which is on disk before this returns.

        The outcome does not depend on the order of `tools`. If the file cannot be written the names hold in memory, and the next call
        tries again.
        """
        wanted = dict.fromkeys(tools)
        with self._lock:
            self._free_overdue(among=wanted)
            space = self._spaces[kind]
            newcomers = [tool for tool in wanted if tool not in space.names]
            if newcomers:
                space.give(newcomers, self.naming)
                self._is_saved = False
            if space.give_whole(wanted, self.naming):
                self._is_saved = False
            if not self._is_saved:
                self._save()
            return {tool: space.names[tool] for tool in wanted}

    def whole(self, tool: Tool, room: int, *, kind: Kind = "tools") -> str | None:
        """Returns the whole name of a tool whose name had to be shortened; None if it has none, or one longer than `room` characters."""
        name = self._spaces[kind].whole.get(tool)
        return name if name and len(name) <= room else None

    def known(self, tool: Tool, *, kind: Kind = "tools") -> str | None:
        """Returns the name of a tool; None if it has none yet."""
        return self._spaces[kind].names.get(tool)

    def target(self, name: str, *, kind: Kind = "tools") -> Tool | None:
        """Returns the tool or prompt to which a name was given, whether it is listed now or not."""
        return self._spaces[kind].targets.get(name)

    def holder(self, original: str, *, kind: Kind) -> Tool | None:
        """Returns the tool that its server calls `original` and that was published without a server's name before it, if any."""
        space = self._spaces[kind]
        found = space.targets.get(space.plain(("", original)))
        return found if found and found[1] == original else None

    def retire(self, servers: Iterable[str]) -> None:
        """Records that these servers were removed but may return: their names are free unless they return within RETURNS_WITHIN_S."""
        with self._lock:
            for server in servers:
                self._retired.setdefault(server, self._now())
            self._save()

    def keep(self, servers: Iterable[str]) -> None:
        """Records that retired servers among these are back, with the names that their tools had."""
        with self._lock:
            if back := self._retired.keys() & set(servers):
                self._retired = {server: at for server, at in self._retired.items() if server not in back}
                self._save()

    def rename(self, before: str, after: str) -> None:
        """Gives the names of a server's tools and prompts to its new name, in memory; `save` writes them. Names that the old one was put
        before are free, so those tools get others.
        """
        with self._lock:
            for kind, space in self._spaces.items():
                self._spaces[kind] = space.renamed(before, after)

    def save(self) -> None:
        """Writes the names as they are now."""
        with self._lock:
            self._save()

    def free(self, server: str) -> None:
        """Frees the names of the tools and prompts of a server that was removed for good."""
        with self._lock:
            self._free({server})
            self._save()

    def is_retired(self, server: str) -> bool:
        """Returns whether a server was removed and its names are not free yet."""
        return server in self._retired

    def _free(self, servers: Collection[str]) -> None:
        """Replaces whole name spaces, so that a lookup in another thread always finds the names of all other servers."""
        self._retired = {server: at for server, at in self._retired.items() if server not in servers}
        for kind, space in self._spaces.items():
            self._spaces[kind] = space.without(lambda tool: tool_of(tool)[0] in servers)

    def _free_overdue(self, *, among: Iterable[Tool]) -> None:
        now = self._now()  # a clock that was set back frees them at once, which is better than never
        overdue = {server for server, at in self._retired.items() if not now - RETURNS_WITHIN_S < at <= now}
        if overdue and (gone := overdue - {tool_of(tool)[0] for tool in among}):
            self._free(gone)
            self._is_saved = False

    def reset(self, *, kind: Kind = "tools") -> None:
        """Deletes all names of a kind, in memory and on disk."""
        with self._lock:
            self._spaces[kind].clear()
            self._save()

    def _save(self) -> None:
        members = {_MEMBERS[kind]: _by_server(space.names) for kind, space in self._spaces.items() if space.names or kind == "tools"}
        members |= {_WHOLE[kind]: _by_server(space.whole) for kind, space in self._spaces.items() if space.whole}
        # not msgspec: names come from servers, and only `json` can write halves of surrogate pairs
        retired = {"removed": self._retired} if self._retired else {}
        data = json.dumps({"version": FILE_VERSION, **members, **retired}).encode() + b"\n"
        try:
            write_atomically(self._path, data)
        except (OSError, TooltrayError) as error:
            if not self._is_failing:  # logged once, not with every list of tools
                logger.warning("tool names cannot be saved in %s, and may change at the next start: %s", self._path, error)
            self._is_saved, self._is_failing = False, True
        else:
            self._is_saved, self._is_failing = True, False

    def _load(self) -> None:
        try:
            content = read_regular(self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            self._set_aside(str(error))
            return
        try:
            document = _checked(json.loads(content))
        except (ValueError, RecursionError):
            self._set_aside("no file of tool names")
            return
        refused = sum(
            not space.take_over(*entry) for kind, space in self._spaces.items() for entry in _entries(document.get(_MEMBERS[kind], {}))
        )
        refused += sum(
            not space.take_over_whole(*entry) for kind, space in self._spaces.items() for entry in _entries(document.get(_WHOLE[kind], {}))
        )
        retired = document.get("removed")
        if isinstance(retired, dict):
            self._retired = {server: float(at) for server, at in retired.items() if isinstance(at, int | float)}
        if refused:
            self._set_aside(f"{refused} of its entries cannot be used")
            self._save()

    def _set_aside(self, reason: str) -> None:
        """Moves the file away, keeping it."""
        aside = self._path.with_name(f"{self._path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
        try:
            self._path.replace(aside)
        except OSError as error:
            logger.warning("%s cannot be used (%s) and cannot be set aside: %s", self._path, reason, error)
        else:
            logger.warning("%s cannot be used as it is (%s); it is set aside as %s", self._path, reason, aside.name)


def _checked(document: object) -> dict[str, object]:
    if isinstance(document, dict) and document.get("version") == FILE_VERSION and isinstance(document.get("names"), dict):
        return document
    raise ValueError("no file of tool names")


def _by_server(names: Mapping[Tool, str]) -> dict[str, dict[str, str]]:
    servers: dict[str, dict[str, str]] = {}
    for (server, original), name in sorted(names.items()):
        servers.setdefault(server, {})[original] = name
    return servers


def _entries(servers: object) -> Iterator[tuple[str, str, object]]:
    """Yields (server, original, name), sorted; one unusable entry if a server's names are not an object."""
    for server, names in sorted((servers if isinstance(servers, dict) else {"": None}).items()):
        yield from ((server, original, name) for original, name in sorted((names if isinstance(names, dict) else {"": None}).items()))
