"""Maps names of tools and of their arguments to names that a provider accepts, and back. Published names of tools are short and plain
already, and stay unchanged; names of arguments may be anything.
"""

import hashlib
import itertools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.verbs import JsonObject

HASH_DIGITS = 8  # at the end of a changed name, so that two different names never become equal

_CHANGED_RUN = lazy_pattern(r"[^A-Za-z0-9_]+", re.ASCII)
_ALLOWED_START = lazy_pattern(r"[A-Za-z_]", re.ASCII)


class NameRule(msgspec.Struct, frozen=True):
    """The names that a provider accepts.

    Attributes:
        pattern: matches a whole name; it must allow letters, digits and `_` after a letter.
        longest: in characters.
        stand_in: the prefix of names whose own beginning is not allowed.
    """

    pattern: re.Pattern[str]
    longest: int
    stand_in: str

    def fits(self, name: str) -> bool:
        return len(name) <= self.longest and self.pattern.fullmatch(name) is not None

    def proposals(self, name: str) -> Iterator[str]:
        """Yields replacements for a name that the provider refuses, best first: the characters that can be kept, and a hash of the
        whole.
        """
        kept = self._kept(name)[: self.longest - HASH_DIGITS - 1].rstrip("_")
        yield from (f"{kept}_{_digest(name, salt)}" for salt in itertools.count())

    def _kept(self, name: str) -> str:
        letters = "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))
        kept = _CHANGED_RUN.sub("_", letters).strip("_")
        return kept if kept and _ALLOWED_START.match(kept) else f"{self.stand_in}_{kept}"


PLAIN = lazy_pattern(r"[A-Za-z0-9_-]+", re.ASCII)
ANY_NAME = NameRule(lazy_pattern(r".*", re.DOTALL), 2**31, "name")
"""For providers that accept every name."""


class NameMap:
    """A two-way map between our names and the provider's: unique, and independent of the order of the names."""

    def __init__(self, names: Iterable[str], rule: NameRule) -> None:
        names = dict.fromkeys(names)
        self._ours = {name: name for name in names if rule.fits(name)}  # by the provider's name
        for name in sorted(name for name in names if not rule.fits(name)):
            self._ours[next(each for each in rule.proposals(name) if each not in self._ours)] = name
        self._theirs = {ours: theirs for theirs, ours in self._ours.items()}

    @property
    def changes(self) -> dict[str, str]:
        """The names that differ: ours -> the provider's."""
        return {ours: theirs for ours, theirs in self._theirs.items() if ours != theirs}

    def theirs(self, name: str) -> str:
        """Returns the provider's name for ours; a name that is not in the map stays unchanged."""
        return self._theirs.get(name, name)

    def ours(self, name: str) -> str | None:
        """Returns our name for the provider's; None if it is not in the map."""
        return self._ours.get(name)

    def arguments(self, arguments: Mapping[str, object]) -> JsonObject:
        """Returns a model's arguments under our names; an unknown argument keeps its name, so that the server can report it."""
        return {self._ours.get(name, name): value for name, value in arguments.items()}


def _digest(name: str, salt: int) -> str:
    text = f"{name}\n{salt}" if salt else name
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


Tool = tuple[str, str]
"""A server's name and the server's own name for the tool."""

PREFIX = "mcp"
MAX_LENGTH = 64  # characters of function names for OpenAI and Anthropic: a session may use either

_OTHER_CHARACTERS = lazy_pattern(r"[^A-Za-z0-9_-]+", re.ASCII)
_READABLE = lazy_pattern(r"[A-Za-z0-9]", re.ASCII)


def copilot_names(tools: Iterable[Tool]) -> dict[Tool, str]:
    """Returns a unique name for each tool; the result does not depend on the order of the tools.

    A name is made of server and tool. It ends with a hash of both if two names would be equal, if it is too long, or if one of its parts
    has no characters that can be kept.
    """
    plain = {tool: _plain(tool) for tool in tools}
    wanted = Counter(plain.values())
    names = {tool: name for tool, name in plain.items() if wanted[name] == 1 and _is_enough(tool) and len(name) <= MAX_LENGTH}
    taken = set(names.values())
    for tool in sorted(plain.keys() - names.keys()):
        names[tool] = next(name for name in _hashed(tool, plain[tool]) if name not in taken)
        taken.add(names[tool])
    return names


def copilot_description(tool: Tool, definition: Mapping[str, object]) -> str:
    """Returns the server's description, else its title, else a generated sentence: a session needs one to show to the model."""
    annotations = definition.get("annotations")
    titles = (definition.get("title"), annotations.get("title") if isinstance(annotations, dict) else None)
    given = (text for text in (definition.get("description"), *titles) if isinstance(text, str) and text.strip())
    server, name = tool
    return next(given, f"The tool {name} of the MCP server {server}.")


def copilot_parameters(schema: object) -> JsonObject:
    """Returns the server's whole schema. `properties` is added where it is missing: the APIs of models require it."""
    return {"type": "object", "properties": {}, **(schema if isinstance(schema, dict) else {})}


def _plain(tool: Tool) -> str:
    return "_".join((PREFIX, *(_OTHER_CHARACTERS.sub("_", part) for part in tool)))


def _is_enough(tool: Tool) -> bool:
    """Reports whether at least one character of both parts can be kept."""
    return all(_READABLE.search(part) for part in tool)


def _hashed(tool: Tool, plain: str) -> Iterator[str]:
    """Yields names with a hash, best first; the next one is for a collision."""
    for salt in itertools.count():  # pragma: no branch - never ends
        digest = hashlib.sha256(json.dumps([*tool, salt]).encode()).hexdigest()[:HASH_DIGITS]
        yield f"{plain[: MAX_LENGTH - HASH_DIGITS - 1].rstrip('_-')}_{digest}"
