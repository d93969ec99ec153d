"""Maps names of tools and of their arguments to names that a provider accepts, and back. Published names of tools are short and plain
already, and stay unchanged; names of arguments may be anything.
"""

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from tooltray.foundation.remote import JsonObject

HASH_DIGITS = 8  # at the end of a changed name, so that two different names never become equal

_CHANGED_RUN = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)
_ALLOWED_START = re.compile(r"[A-Za-z_]", re.ASCII)


class NameRule(msgspec.Struct, frozen=True):
    """The names that a provider accepts.

    Attributes:
        pattern: matches a whole name; it must allow letters, digits and `_` after a letter.
        longest: in characters.
        stand_in: begins a name whose own beginning cannot be kept.
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


PLAIN = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
ANY_NAME = NameRule(re.compile(r".*", re.DOTALL), 2**31, "name")
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
