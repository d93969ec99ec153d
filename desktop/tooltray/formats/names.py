"""Names as a provider takes them, for tools and for their arguments, and the way back.

Above it: declared, the formats, and ToolFormats. Knows nothing of servers and of what a name stands for. Published names are short and
plain already and stay as they are; names that others pass through these functions, and names of arguments, may be anything.
"""

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

HASH_DIGITS = 8  # of names that had to be changed; two that look alike afterwards stay two

_CHANGED_RUN = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)
_ALLOWED_START = re.compile(r"[A-Za-z_]", re.ASCII)


@dataclass(frozen=True)
class NameRule:
    """What a provider takes as a name.

    Attributes:
        pattern: matches a whole name; letters, digits and `_` behind a letter must be allowed.
        longest: in characters.
        stand_in: begins the name of what has none that could be kept.
    """

    pattern: re.Pattern[str]
    longest: int
    stand_in: str

    def fits(self, name: str) -> bool:
        return len(name) <= self.longest and self.pattern.fullmatch(name) is not None

    def proposals(self, name: str) -> Iterator[str]:
        """Names for one that the provider does not take, best first: what is left of it with a hash of the whole."""
        kept = self._kept(name)[: self.longest - HASH_DIGITS - 1].rstrip("_")
        yield from (f"{kept}_{_digest(name, salt)}" for salt in itertools.count())

    def _kept(self, name: str) -> str:
        letters = "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))
        kept = _CHANGED_RUN.sub("_", letters).strip("_")
        return kept if kept and _ALLOWED_START.match(kept) else f"{self.stand_in}_{kept}"


PLAIN = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
ANY_NAME = NameRule(re.compile(r".*", re.DOTALL), 2**31, "name")
"""For providers that take every name."""


class NameMap:
    """Some names and what a provider knows them by: unique, the same every time, whatever the order they come in."""

    def __init__(self, names: Iterable[str], rule: NameRule) -> None:
        names = dict.fromkeys(names)
        self._ours = {name: name for name in names if rule.fits(name)}  # by the provider's name
        for name in sorted(name for name in names if not rule.fits(name)):
            self._ours[next(each for each in rule.proposals(name) if each not in self._ours)] = name
        self._theirs = {ours: theirs for theirs, ours in self._ours.items()}

    @property
    def changes(self) -> dict[str, str]:
        """The names that are not the same on both sides; ours -> the provider's."""
        return {ours: theirs for ours, theirs in self._theirs.items() if ours != theirs}

    def theirs(self, name: str) -> str:
        """The provider's name; a name that is not in the map stays what it is."""
        return self._theirs.get(name, name)

    def ours(self, name: str) -> str | None:
        """What stands behind a provider's name."""
        return self._ours.get(name)

    def arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A model's arguments under our names; what the model made up keeps its name, so that the server can say so."""
        return {self._ours.get(name, name): value for name, value in arguments.items()}


def _digest(name: str, salt: int) -> str:
    text = f"{name}\n{salt}" if salt else name
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
