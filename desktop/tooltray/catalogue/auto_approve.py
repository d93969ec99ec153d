"""The one place that reads `autoApprove`: whether it lets a tool run without asking, by the tool's name and hints. Pure. What else may
allow a call is in consent/approvals.

A tool reads or writes; a tool that is not known to read counts as writing. The server's hints come first, but a name is believed over a
hint that makes a tool look harmless, and a name counts by whole words: `forget_all` does not contain "get", and in `get_and_delete` the
"delete" wins.

The table RULES defines what an entry of `autoApprove` means. A new kind of rule is one line in RULES; every other entry is a tool's name.
"""

import json
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

Category = Literal["read", "write"]
Choice = Literal["always", "ask", "default"]
"""The user's choice for one tool: it runs without asking, it asks, or the general rules decide."""

NAME_PREFIX = "tool:"
"""`tool:NAME` in `autoApprove` always means the tool NAME; needed for tools whose name is also a rule."""
EXCEPTION = "ask:"
"""`ask:NAME` in `autoApprove`: the tool NAME asks, even if another entry covers it."""
WILDCARD = "*"

_READ_VERBS = "count describe fetch find get grep inspect list lookup query read search show tree view"
_WRITE_VERBS = """
    abort add append approve archive assign ban call cancel chmod chown clean clear click close copy create deactivate del delete deploy
    destroy disable discard dismiss drop edit emit enable erase eval exec execute fill grant import insert install invite invoke kill
    launch mark merge migrate mkdir modify move mv overwrite patch pay persist post publish purge push put reject remove rename replace
    reply reset restart restore resume revert revoke rewrite rm rmdir rollback run save send set shutdown spawn start stop submit
    subscribe terminate toggle transfer trash trigger truncate unassign uninstall unlink unset unsubscribe update upgrade upload upsert
    wipe write
"""
READ_VERBS, WRITE_VERBS = frozenset(_READ_VERBS.split()), frozenset(_WRITE_VERBS.split())
"""Words that are mostly nouns in names (`get_commit`, `search_store`) are not write verbs: without a read verb a tool counts as writing."""

_DESTROYING_VERBS = """
    abort ban cancel clean clear deactivate del delete destroy disable discard dismiss drop erase eval exec execute kill overwrite purge
    remove replace reset restore revert revoke rewrite rm rmdir rollback run shutdown stop terminate trash truncate uninstall unlink unset
    wipe
"""
_REPEATING_VERBS = (
    "add append call create emit insert invite invoke launch pay post publish push reply send spawn start submit toggle trigger"
)
_OUTWARD_WORDS = """
    browse browser crawl deploy download email fetch http https internet mail navigate notify online pay post publish push scrape send
    share sms tweet upload url web webhook
"""
DESTROYING_VERBS = frozenset(_DESTROYING_VERBS.split())
"""Verbs of tools that delete or overwrite something; a tool that can run any command may destroy data."""
REPEATING_VERBS = frozenset(_REPEATING_VERBS.split())
"""Verbs of tools whose second call repeats the effect."""
OUTWARD_WORDS = frozenset(_OUTWARD_WORDS.split())
"""Words of tools that reach beyond the server's own data."""

_CAMEL_WORD = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SAME_CASE_RUN = lazy_pattern(r"[A-Z]+|[a-z]+")
SERVERS_REMEMBERED = 256  # more than any user has
NAMES_REMEMBERED = 16384  # three times the 5,000 tools of the largest server that is planned for


class _Verbs(NamedTuple):
    """The kinds of words that a tool's name contains."""

    reads: bool
    writes: bool
    destroys: bool
    repeats: bool
    reaches_out: bool


class Tool(msgspec.Struct, frozen=True):
    """The facts about a tool that a rule may use.

    Attributes:
        name: the server's own name for the tool.
        hints: `annotations` of its definition; empty if there are no usable ones.
    """

    name: str
    category: Category
    hints: Mapping[str, object]

    @property
    def verbs(self) -> _Verbs:
        return _verbs_in(self.name)

    @property
    def destroys(self) -> bool:
        """Whether the name or the server's hint says that the tool destroys. A value that is not a boolean, but meant as a warning, counts
        as this hint.
        """
        return self.verbs.destroys or bool(self.hints.get("destructiveHint"))

    def is_said(self, hint: str, value: bool) -> bool:
        """Reports whether the server sends exactly this value of a hint. A tool that destroys gets no benefit from a hint."""
        return self.hints.get(hint) is value and not self.destroys


Rule = Callable[[Tool, str], bool]
"""Reports whether a rule covers a tool; the text is the part of the entry after the rule's colon."""

RULES: Mapping[str, Rule] = {
    "all": lambda tool, _: True,
    "read": lambda tool, _: tool.category == "read",
    "write": lambda tool, _: tool.category == "write",
    "hint:idempotent": lambda tool, _: tool.is_said("idempotentHint", True) and not tool.verbs.repeats,
    "hint:closed-world": lambda tool, _: tool.is_said("openWorldHint", False) and not tool.verbs.reaches_out,
    "hint:non-destructive": lambda tool, _: tool.category == "write" and tool.is_said("destructiveHint", False),
    NAME_PREFIX: lambda tool, name: tool.name == name,
    "names:": lambda tool, pattern: fits(tool.name, pattern),
    EXCEPTION: lambda tool, name: False,
}
"""What each entry of `autoApprove` covers. A key that ends in a colon is a prefix: the rule gets the rest of the entry."""

_BEGINNINGS = frozenset(key.partition(":")[0] + ":" for key in RULES if ":" in key)
"""Prefixes of entries that are rules and never names."""
_is_called = RULES[NAME_PREFIX]


class Decision(msgspec.Struct, frozen=True):
    """The decision about one call.

    Attributes:
        category: "read" or "write".
        message: why the call is refused; empty if it is approved.
        is_excepted: this tool asks, whatever else is allowed.
        rule: the first entry of `autoApprove` that approves the call; empty if no entry does.
        flow: why the flow guard makes this call ask, whatever else is allowed; empty if it does not.
    """

    is_approved: bool
    category: Category
    message: str = ""
    is_excepted: bool = False
    rule: str = ""
    flow: str = ""

    @property
    def is_plain_read(self) -> bool:
        """Whether an approval of "everything that reads" includes the tool."""
        return self.category == "read" and not self.is_excepted


def category(name: str, annotations: object) -> Category:
    """Returns whether a tool reads or writes, as far as its name and its server's hints show.

    Args:
        name: the server's own name for the tool.
        annotations: `annotations` of its definition as Python values, of whatever type the server sent; None if there are none.
    """
    return tool_of(name, annotations).category


def tool_of(name: str, annotations: object) -> Tool:
    """Returns the facts about a tool that rules may use; the arguments are the same as for `category`."""
    hints = annotations if isinstance(annotations, dict) else {}
    verbs = _verbs_in(name)
    # `destructiveHint: "yes"` is not a boolean, but is meant as a warning and counts as one
    writes = verbs.writes or bool(hints.get("destructiveHint")) or hints.get("readOnlyHint") is False
    reads = not writes and (verbs.reads or hints.get("readOnlyHint") is True)
    return Tool(name, "read" if reads else "write", hints)


def decide(server: str, original_name: str, annotations: object, auto_approve: Collection[str]) -> Decision:
    """Decides whether a call runs without asking; a refusal explains why and how to allow the call.

    Args:
        server: the server's name, for the message.
        original_name: the server's own name for the tool.
        annotations: as in `category`.
        auto_approve: the server's `autoApprove`: rules of RULES, and names of tools.
    """
    tool = tool_of(original_name, annotations)
    rules = _rules(tuple(auto_approve))
    if original_name in rules.exceptions:
        return _exception(server, original_name, tool.category)
    if entry := rules.names.get(original_name):
        return _approved(tool.category, entry)
    covering = next((entry for entry, rule, rest in rules.others if rule(tool, rest)), None)
    return _refusal(server, original_name, tool.category) if covering is None else _approved(tool.category, covering)


class _Rules(NamedTuple):
    """The meaning of a server's `autoApprove`: the tools that ask, the named tools with their entries, and all other rules."""

    exceptions: frozenset[str]
    names: Mapping[str, str]
    others: tuple[tuple[str, Rule, str], ...]


@lru_cache(SERVERS_REMEMBERED)
def _rules(auto_approve: tuple[str, ...]) -> _Rules:
    """Reads `autoApprove` once for all tools of a server: it may name thousands."""
    meant = [(entry, *read) for entry in auto_approve if (read := _read(entry))]
    asks = RULES[EXCEPTION]
    return _Rules(
        frozenset(rest for _, rule, rest in meant if rule is asks),
        {rest: entry for entry, rule, rest in meant if rule is _is_called},
        tuple((entry, rule, rest) for entry, rule, rest in meant if rule not in (asks, _is_called)),
    )


def is_excepted(original_name: str, auto_approve: Collection[str]) -> bool:
    """Reports whether a tool asks, whatever else the rules allow."""
    return EXCEPTION + original_name in auto_approve


def choice(original_name: str, auto_approve: Collection[str]) -> Choice:
    """Returns the user's choice for one tool by its name, regardless of its category and hints."""
    if is_excepted(original_name, auto_approve):
        return "ask"
    return "always" if {entry_for(original_name), NAME_PREFIX + original_name} & {*auto_approve} else "default"


def is_about_one(entry: str) -> bool:
    """Reports whether an entry of `autoApprove` names one tool."""
    read = _read(entry)
    return read is not None and read[0] in (_is_called, RULES[EXCEPTION])


def with_choice(original_name: str, chosen: Choice, auto_approve: Iterable[str]) -> tuple[str, ...]:
    """Returns the rules with this choice for one tool; the rules for all other tools are unchanged."""
    own = {entry_for(original_name), NAME_PREFIX + original_name, EXCEPTION + original_name}
    entries = {"always": (entry_for(original_name),), "ask": (EXCEPTION + original_name,), "default": ()}
    return (*(entry for entry in auto_approve if entry not in own), *entries[chosen])


@lru_cache(NAMES_REMEMBERED)
def _approved(found: Category, rule: str) -> Decision:
    return Decision(True, found, rule=rule)


def _read(entry: str) -> tuple[Rule, str] | None:
    """Returns the rule of an entry and the text for the rule; None if the entry means nothing."""
    beginning, colon, rest = entry.partition(":")
    if colon and (rule := RULES.get(beginning + colon)):
        return rule, rest
    if rule := RULES.get(entry):
        return rule, ""
    is_name = entry and beginning + colon not in _BEGINNINGS
    return (_is_called, entry) if is_name else None


def fits(name: str, pattern: str) -> bool:
    """Reports whether a whole name matches a pattern, in which `*` matches any number of characters; case matters."""
    first, *others = pattern.split(WILDCARD)
    if not others:
        return name == first
    *inner, last = others
    place, end = len(first), len(name) - len(last)
    if place > end or not (name.startswith(first) and name.endswith(last)):
        return False
    for part in inner:
        place = name.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


def entry_for(original_name: str) -> str:
    """Returns the entry of `autoApprove` for one tool: its name, or `tool:NAME` if the bare name would mean a rule."""
    return original_name if _read(original_name) == (_is_called, original_name) else NAME_PREFIX + original_name


def problem_of(server: str, auto_approve: Iterable[str], tool_names: Collection[str]) -> Problem | None:
    """Returns the problem of entries that mean nothing, and so approve nothing; None if every entry has a meaning.

    Args:
        server: the server's name.
        tool_names: the names of its tools; while no tools are known, a word that may be a tool's name is accepted.
    """
    odd = [reason for entry in dict.fromkeys(auto_approve) if (reason := _why_meaningless(entry, tool_names))]
    if not odd:
        return None
    entries = "an entry that means" if len(odd) == 1 else "entries that mean"
    rules = ", ".join(f"{key}..." if key.endswith(":") else key for key in RULES)
    return Problem(
        Phrase("autoApprove of '{server}' has {entries} nothing", server=server, entries=entries),
        "; ".join(odd),
        Phrase("Correct it in settings.json. Rules are: {rules}.", rules=rules),
    )


def _why_meaningless(entry: str, tool_names: Collection[str]) -> str:
    meaning = _read(entry)
    if meaning is None:
        return f"{_quoted(entry)} is not a rule" if entry else "an entry is empty"
    if entry in RULES and entry.endswith(":"):
        return "" if "" in tool_names else f"{_quoted(entry)} is not followed by the name of a tool"
    if meaning != (_is_called, entry) or entry in tool_names:  # `tool:NAME` always means a tool, which may be listed later
        return ""
    looks_like_rule = entry.strip().lower() in RULES or WILDCARD in entry or ":" in entry
    return f"{_quoted(entry)} is neither a rule nor a tool of this server" if looks_like_rule or tool_names else ""


def _exception(server: str, original_name: str, found: Category) -> Decision:
    tool, owner = _quoted(original_name), _quoted(server)
    return Decision(False, found, f"the tool {tool} of the server {owner} asks each time, as the user chose", True)


def _refusal(server: str, original_name: str, found: Category) -> Decision:
    tool, owner = _quoted(original_name), _quoted(server)
    does = "only reads" if found == "read" else "writes, or may write"
    message = Phrase("the tool {tool} of the server {owner} {does}, so it needs the user's approval", tool=tool, owner=owner, does=does)
    return Decision(False, found, message)


def _quoted(text: str) -> str:
    """Quotes a text as settings.json has it: control characters escaped, other scripts readable, halves of surrogate pairs escaped."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


@lru_cache(NAMES_REMEMBERED)
def _verbs_in(name: str) -> _Verbs:
    words, every = _camel_words(name), words_of(name)
    return _Verbs(
        reads=not words.isdisjoint(READ_VERBS),
        writes=not every.isdisjoint(WRITE_VERBS),
        destroys=not every.isdisjoint(DESTROYING_VERBS),
        repeats=not every.isdisjoint(REPEATING_VERBS),
        reaches_out=not every.isdisjoint(OUTWARD_WORDS),
    )


def words_of(name: str) -> frozenset[str]:
    """Returns the words in a name, in lower case. `DELETEfile` contains `delete`, which a split at camelCase would miss."""
    return _camel_words(name) | {run.lower() for run in _SAME_CASE_RUN.findall(unicodedata.normalize("NFKC", name))}


def _camel_words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _CAMEL_WORD.findall(unicodedata.normalize("NFKC", name)))
