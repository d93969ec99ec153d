"""The names under which AI clients see tools and prompts: the one place that makes one, and the file that keeps it.

Above it: ToolManager and PromptManager. Below it: name_space and config.atomic_file. Knows (server, original name) pairs and nothing else.

A name is a promise: an AI client's allow-list or a person's prompt may hold it. So it is decided once, when a tool is first published, kept
on disk, and never given to another tool, also not after its own is gone; only `reset` forgets. Prompts have a name space of their own under
the same rule.
"""

import json
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from tooltray.config.atomic_file import write_atomically
from tooltray.errors import TooltrayError
from tooltray.tools.name_space import NameSpace, Naming, Tool

logger = logging.getLogger(__name__)

Kind = Literal["tools", "prompts"]

FILE_VERSION = 1
_MEMBERS: Mapping[Kind, str] = {"tools": "names", "prompts": "prompts"}  # of the file; the first version knew tools alone
_STAND_INS: Mapping[Kind, str] = {"tools": "tool", "prompts": "prompt"}


class PublishedNames:
    """All names ever given, and what they were given to.

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
        self._spaces: dict[Kind, NameSpace] = {kind: NameSpace(stand_in) for kind, stand_in in _STAND_INS.items()}
        self._is_saved = True
        self._is_failing = False
        self._load()

    def publish(self, tools: Iterable[Tool], *, kind: Kind = "tools") -> dict[Tool, str]:
        """The names of these tools; those that have none yet are given one, which is on disk before this returns.

        The outcome does not depend on the order of `tools`. If the file cannot be written the names hold in memory, and the next call
        tries again.
        """
        wanted, space = dict.fromkeys(tools), self._spaces[kind]
        with self._lock:
            newcomers = [tool for tool in wanted if tool not in space.names]
            if newcomers:
                space.give(newcomers, self.naming)
                self._is_saved = False
            if not self._is_saved:
                self._save()
            return {tool: space.names[tool] for tool in wanted}

    def target(self, name: str, *, kind: Kind = "tools") -> Tool | None:
        """What a name was given to, whether it is listed now or not."""
        return self._spaces[kind].targets.get(name)

    def reset(self, *, kind: Kind = "tools") -> None:
        """Forgets all names of a kind, in memory and on disk."""
        with self._lock:
            self._spaces[kind].clear()
            self._save()

    def _save(self) -> None:
        members = {_MEMBERS[kind]: _by_server(space) for kind, space in self._spaces.items() if space.names or kind == "tools"}
        # not msgspec: names come from servers, and `json` alone can write halves of surrogate pairs
        data = json.dumps({"version": FILE_VERSION, **members}).encode() + b"\n"
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
            document = _checked(json.loads(content))
        except (ValueError, RecursionError):
            self._set_aside("no file of tool names")
            return
        refused = sum(
            not space.take_over(*entry) for kind, space in self._spaces.items() for entry in _entries(document.get(_MEMBERS[kind], {}))
        )
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


def _checked(document: Any) -> dict[str, Any]:
    is_ours = isinstance(document, dict) and document.get("version") == FILE_VERSION and isinstance(document.get("names"), dict)
    if not is_ours:
        raise ValueError("no file of tool names")
    members: dict[str, Any] = document
    return members


def _by_server(space: NameSpace) -> dict[str, dict[str, str]]:
    servers: dict[str, dict[str, str]] = {}
    for (server, original), name in sorted(space.names.items()):
        servers.setdefault(server, {})[original] = name
    return servers


def _entries(servers: Any) -> Iterator[tuple[str, str, Any]]:
    """(server, original, name), sorted; where a server's names are no object, one entry that cannot be used."""
    for server, names in sorted((servers if isinstance(servers, dict) else {"": None}).items()):
        yield from ((server, original, name) for original, name in sorted((names if isinstance(names, dict) else {"": None}).items()))
