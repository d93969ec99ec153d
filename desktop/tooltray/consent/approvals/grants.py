"""What a person has allowed for longer than one call, kept over restarts: `grants.json` in the home.

Above it: LiveGrants, GrantBook, CallRules. Below it: atomic_file, call_rule, rule_words. Each grant names the tools that it
is for and their fingerprints; the definitions that a person has seen are kept beside, so that a changed one can be compared. No arguments
of calls are in the file.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.consent.approvals import rule_words
from tooltray.consent.kept_file import KeptFile
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase

LARGEST_BYTES = 64 * 2**20  # a thousand grants with the longest definitions
LAST_TIME_S = 1e11  # the year 5138
LONGEST_DEFINITION = 65536  # characters that are kept of what a person has seen; a longer one is known by its fingerprint alone

REMEMBERED = 1024  # rules; more than anybody makes
UNREADABLE = Phrase("nothing: its rule cannot be read")

GrantKind = Literal["tool", "reads", "rule"]


class Grant(msgspec.Struct, rename="camel", frozen=True):
    """
    Attributes:
        kind: one tool, every tool of the server that read when it was given, or the calls of some that a rule on arguments covers.
        tool: of the kinds "tool" and "rule": the server's own name; empty: of a rule for several.
        client: for this AI client alone; empty: for all.
        created_at, expires_at: unix seconds; 0: it does not expire.
        tools: what each tool was that it is for: the mark of its definition and of its server.
        rule: of the kind "rule": a CallRule as JSON.
    """

    id: str
    kind: GrantKind
    server: str
    tool: str = ""
    client: str = ""
    created_at: float = 0.0
    expires_at: float = 0.0
    tools: dict[str, str] = {}
    rule: dict[str, object] = {}

    def __post_init__(self) -> None:
        """Times that no clock shows were not written by us."""
        if not all(0 <= time_s < LAST_TIME_S for time_s in (self.created_at, self.expires_at)):
            raise ValueError("a time is out of range")


class PassingGrant(Grant, frozen=True):
    """One that ends when the screen locks. It is in no file: another hub, also one of an older version, must not take it for a lasting one.

    Attributes:
        lock: the number of that lock, see ScreenLock.
    """

    lock: int = 0


def rule_of(grant: Grant) -> CallRule | None:
    """The rule on arguments that a grant carries; None: it has none that can be read, and allows nothing then."""
    return _read_rule(json.dumps(grant.rule)) if grant.kind == "rule" else None


def words_of(grant: Grant) -> str:
    """The calls that the rule of a grant covers; empty for other kinds of grants."""
    if grant.kind != "rule":
        return ""
    rule = rule_of(grant)
    return rule_words.words(rule) if rule else UNREADABLE


@lru_cache(REMEMBERED)
def _read_rule(text: str) -> CallRule | None:
    try:
        return read_rule(json.loads(text))
    except TooltrayError:
        return None


class _File(msgspec.Struct):
    version: Literal[1] = 1
    grants: list[Grant] = []
    definitions: dict[str, str] = {}


class GrantStore:
    """Those of one home. The constructor and `write` block on the disk."""

    def __init__(self, path: Path) -> None:
        self._file = KeptFile(
            path,
            _File,
            most_bytes=LARGEST_BYTES,
            unread=Phrase("what you allowed for longer than one call cannot be read, so none of it counts"),
            remedy="Calls ask again; answer with 'always' what you allow.",
            unsaved=Phrase("what is allowed cannot be saved"),
        )
        self._passing: tuple[PassingGrant, ...] = ()
        self._texts: dict[str, str] = {}  # of definitions that these alone need

    @property
    def problem(self) -> Problem | None:
        return self._file.problem

    @property
    def grants(self) -> tuple[Grant, ...]:
        return (*self._file.content.grants, *self._passing)

    def definition(self, fingerprint: str) -> str:
        """What a person has seen under a fingerprint; empty if that is not kept."""
        return self._file.content.definitions.get(fingerprint, "") or self._texts.get(fingerprint, "")

    def write(self, grants: Iterable[Grant], definitions: Mapping[str, str]) -> None:
        """Replaces all grants; those that pass are kept in memory alone.

        Args:
            definitions: texts by fingerprint, besides those that are kept already; what no grant needs is left out.

        Raises:
            TooltrayError: the file cannot be written; what was allowed before stays as it was.
        """
        given = list(grants)
        passing = tuple(grant for grant in given if isinstance(grant, PassingGrant))
        kept = [grant for grant in given if not isinstance(grant, PassingGrant)]
        texts = self._file.content.definitions | self._texts | dict(definitions)
        self._file.write(_File(grants=kept, definitions=_needed(kept, texts)))
        self._passing, self._texts = passing, _needed(passing, texts)


def _needed(grants: Iterable[Grant], texts: Mapping[str, str]) -> dict[str, str]:
    needed = {each for grant in grants for each in grant.tools.values()}
    return {key: text for key, text in texts.items() if key in needed and len(text) <= LONGEST_DEFINITION}
