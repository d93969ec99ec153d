"""A name space: short names that every client accepts, whole ones for clients that accept longer names, and what each was given to.

It decides the form of every name from (server, original name) pairs. Clients' limits decide the form: they merge, cut or drop names with
other characters, names that differ only in `-`, `_` or case, and long ones.
"""

import hashlib
import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Literal

from tooltray.config.naming.tool_settings import Tool, as_compared
from tooltray.foundation.lazy_patterns import lazy_pattern

Naming = Literal["conflict", "always"]

MAX_LENGTH = 40  # a client's own prefix goes before it; with `mcp_hub_` or similar the strictest client still accepts the whole
HARD_MAX_LENGTH = 46  # 64 of the strictest client less its longest prefix of 18; used only by names that need a longer hash
WHOLE_MAX_LENGTH = 128  # of a name in the protocol
HASH_DIGITS, LONG_HASH_DIGITS = 6, 12
MIN_SERVER_LENGTH = 8  # of a prefix that has to be shortened, so that it can still be recognised

_VALID = lazy_pattern(r"[A-Za-z0-9_-]+", re.ASCII)
_INVALID_RUN = lazy_pattern(r"[^A-Za-z0-9_-]+", re.ASCII)


class NameSpace:
    """A set of names that are unique among themselves.

    Attributes:
        names: by tool.
        whole: the whole name, by tool, of each tool whose name had to be shortened.
        targets: the tools, by short name and by whole name.
    """

    def __init__(self, stand_in: str) -> None:
        """
        Args:
            stand_in: begins the name of a tool whose own name has no usable characters.
        """
        self.names: dict[Tool, str] = {}
        self.whole: dict[Tool, str] = {}
        self.targets: dict[str, Tool] = {}
        self._stand_in = stand_in
        self._taken: set[str] = set()  # names as clients compare them
        self._contested: set[str] = set()  # plain names of all tools ever named: a later tool does not get one of them

    def clear(self) -> None:
        for known in (self.names, self.whole, self.targets, self._taken, self._contested):
            known.clear()

    def without(self, is_gone: Callable[[Tool], bool]) -> "NameSpace":
        """Returns another name space in which the names of some tools are free again, as if these tools had never existed."""
        return self._taken_over(lambda tool, name: None if is_gone(tool) else tool)

    def renamed(self, before: str, after: str) -> "NameSpace":
        """Returns another name space, in which a server's tools belong to its new name; names that the old one was put before are free."""

        def moved(tool: Tool, name: str) -> Tool | None:
            server, mark, rest = tool[0].partition("/")  # see tool_settings.key
            if server != before:
                return tool
            is_of_server = has_prefix(name, before) and name not in (self.plain(tool), self._cleaned(tool))
            return None if is_of_server else (f"{after}{mark}{rest}", tool[1])

        return self._taken_over(moved)

    def _taken_over(self, moved: Callable[[Tool, str], Tool | None]) -> "NameSpace":
        """Returns another name space with the same names. `moved`: which tool has a name there; None: no tool has it."""
        other = NameSpace(self._stand_in)
        for taken, names in ((other.take_over, self.names), (other.take_over_whole, self.whole)):
            for tool, name in names.items():
                if (new := moved(tool, name)) is not None:
                    taken(*new, name)
        return other

    def take_over(self, server: str, original: str, name: object) -> bool:
        """Accepts a name that was given earlier, if it is valid and free; returns whether it was."""
        if not isinstance(name, str) or not self._is_free(name, HARD_MAX_LENGTH):
            return False
        tool = (server, original)
        self._give(tool, name, self.names)
        self._contested.add(as_compared(self.plain(tool)))
        return True

    def take_over_whole(self, server: str, original: str, name: object) -> bool:
        """Accepts a whole name of a tool whose name was taken over; returns whether it was usable."""
        tool = (server, original)
        if tool not in self.names or not isinstance(name, str) or not self._is_free(name, WHOLE_MAX_LENGTH):
            return False
        self._give(tool, name, self.whole)
        self._contested.add(as_compared(self._cleaned(tool)))
        return True

    def _is_free(self, name: str, longest: int) -> bool:
        return len(name) <= longest and _VALID.fullmatch(name) is not None and as_compared(name) not in self._taken

    def give(self, newcomers: list[Tool], naming: Naming) -> None:
        """Gives names to tools that have none yet; the outcome does not depend on their order."""
        plain = {tool: self.plain(tool) for tool in newcomers}
        waiting = newcomers
        if naming == "conflict":
            waiting = self._give_unmet(plain, self.names, avoided=self._contested)
        waiting = self._give_unmet({tool: self._prefixed(tool) for tool in waiting}, self.names)
        for tool in waiting:
            self._give(tool, next(name for name in self._hashed(tool) if as_compared(name) not in self._taken), self.names)
        self._contested.update(map(as_compared, plain.values()))

    def give_whole(self, tools: Iterable[Tool], naming: Naming) -> bool:
        """Gives whole names to the tools among these whose names had to be shortened and that have none yet.

        The rule is that of short names; a tool whose whole name is too long even with its server's name before it gets none.

        Returns:
            Whether a name was given.
        """
        plain = {tool: self._cleaned(tool) for tool in tools if tool not in self.whole and self._is_shortened(tool)}
        count, waiting = len(self.whole), list(plain)
        if naming == "conflict":
            own = {tool: name for tool, name in plain.items() if MAX_LENGTH < len(name) <= WHOLE_MAX_LENGTH}
            refused = self._give_unmet(own, self.whole, avoided=self._contested)
            waiting = [*(plain.keys() - own.keys()), *refused]
        prefixed = {tool: "_".join(self._parts(tool)) for tool in waiting}
        self._give_unmet({tool: name for tool, name in prefixed.items() if len(name) <= WHOLE_MAX_LENGTH}, self.whole)
        self._contested.update(map(as_compared, plain.values()))
        return len(self.whole) > count

    def _is_shortened(self, tool: Tool) -> bool:
        server, original = self._parts(tool)
        return len(server) + 1 + len(original) > MAX_LENGTH and self.names[tool] not in (original, f"{server}_{original}")

    def _give_unmet(self, proposals: dict[Tool, str], names: dict[Tool, str], *, avoided: Collection[str] = ()) -> list[Tool]:
        """Gives each proposed name that no other tool has or wants; returns the tools that get none.

        Args:
            names: where they are recorded.
        """
        rivals: dict[str, list[Tool]] = {}
        for tool, name in proposals.items():
            rivals.setdefault(as_compared(name), []).append(tool)
        waiting = []
        for key, group in rivals.items():
            if len(group) > 1 or key in self._taken or key in avoided:
                waiting += group
            else:
                self._give(group[0], proposals[group[0]], names)
        return sorted(waiting)

    def _give(self, tool: Tool, name: str, names: dict[Tool, str]) -> None:
        names[tool], self.targets[name] = name, tool
        self._taken.add(as_compared(name))

    def plain(self, tool: Tool) -> str:
        """Returns the tool's own name with its usable characters. Equal originals give equal names, so that a conflict between
        tools of two servers is noticed.
        """
        cleaned = self._cleaned(tool)
        return cleaned if len(cleaned) <= MAX_LENGTH else _with_hash(cleaned, _digest(tool[1]), HASH_DIGITS)

    def _cleaned(self, tool: Tool) -> str:
        return _cleaned(tool[1], self._stand_in)

    def _prefixed(self, tool: Tool) -> str:
        whole = "_".join(self._parts(tool))
        return whole if len(whole) <= MAX_LENGTH else next(self._hashed(tool))

    def _hashed(self, tool: Tool) -> Iterator[str]:
        """Yields names that no other tool should want, each with a smaller chance of a conflict."""
        server, original = self._parts(tool)
        room = MAX_LENGTH - HASH_DIGITS - 1
        server = server[: max(MIN_SERVER_LENGTH, room - 1 - len(original))]
        digest = _digest(*tool)
        yield _with_hash(f"{server}_{original}", digest, HASH_DIGITS)
        yield _with_hash(f"{server}_{original}", digest, LONG_HASH_DIGITS)
        yield from (_with_hash(f"{server}_{original}", _digest(*tool, str(salt)), LONG_HASH_DIGITS) for salt in itertools.count())

    def _parts(self, tool: Tool) -> tuple[str, str]:
        server = tool[0].partition("/")[0]  # the rest distinguishes chosen names, see tool_settings
        return _cleaned(server, "server"), self._cleaned(tool)


def has_prefix(name: str, server: str) -> bool:
    """Returns whether a name begins with a server's name, as names do that would otherwise conflict with others."""
    return as_compared(name).startswith(as_compared(f"{_cleaned(server, 'server')}_"))


def _with_hash(text: str, digest: str, digits: int) -> str:
    return f"{text[: MAX_LENGTH - HASH_DIGITS - 1].rstrip('_-')}_{digest[:digits]}"


def _cleaned(text: str, stand_in: str) -> str:
    """Returns `text` in the characters that every client accepts, without accents and other scripts; if nothing is left, a stand-in with a
    hash.
    """
    if _VALID.fullmatch(text):
        return text
    letters = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return _INVALID_RUN.sub("_", letters).strip("_-") or f"{stand_in}_{_digest(text)[:HASH_DIGITS]}"


def _digest(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
