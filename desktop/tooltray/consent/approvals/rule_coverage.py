"""Whether a rule on arguments covers a call: the one place that evaluates such rules.

Above it: CallRules, rule_maker, RuleGrants. Below it: call_rule, rule_values, rule_paths. Pure, but for the paths of `inside`, which are
resolved on the disk. What cannot be understood in exactly one way is not covered, and then a person is asked.
"""

import json
import os
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import TypeGuard

import msgspec

from tooltray.catalogue.approval import NAME_PREFIX, fits
from tooltray.catalogue.definition import read_once_named
from tooltray.config.settings.argument_path import ArgumentPath, read_path
from tooltray.config.settings.call_rule import ANY, NONE, CallRule, Condition, NumberBounds, Value, read_rule
from tooltray.config.settings.rule_values import host_of, is_below, is_plain_word, read_pattern
from tooltray.consent.approvals.rule_paths import Place, is_inside

REMEMBERED = 1024  # rules
READ_BELOW_BYTES = 262_144  # larger arguments ask: reading them would keep others waiting
PATTERN = "names:"
OPTION_SIGNS = ("-", "+", "@", "/") if os.name == "nt" else ("-", "+", "@")
"""How words begin that many programs take for options, or for files with options in them."""
PARTS_OF_OPTIONS = ("=", "::")
"""In words that set a variable, or that name a program to transfer with (`ext::` of git)."""


class _Node(msgspec.Struct):
    """One place in the arguments, and what a rule says of it.

    Attributes:
        is_free: anything may be there.
        members: of an object, by name.
        each: of a list, every element.
    """

    condition: Condition | None = None
    is_free: bool = False
    members: dict[str, "_Node"] = {}
    each: "_Node | None" = None

    @property
    def is_needed(self) -> bool:
        """Whether a call without it is not covered."""
        if self.condition is not None:
            return not self.condition.optional
        return any(node.is_needed for node in self.members.values()) or (self.each is not None and self.each.is_needed)


class _Call(msgspec.Struct):
    arguments: Mapping[str, object]
    takes_others: bool
    place: Place


def is_for(rule: CallRule, tool: str) -> bool:
    """Whether a rule speaks of a tool, by the server's own name for it."""
    if rule.tool.startswith(PATTERN):
        return fits(tool, rule.tool.removeprefix(PATTERN))
    return tool == rule.tool.removeprefix(NAME_PREFIX)


def needs_disk(rule: CallRule) -> bool:
    """Whether `covers` looks at the disk, so that it belongs into a thread."""
    return any(condition.inside for condition in rule.arguments.values())


def read_arguments(raw: bytes) -> Mapping[str, object] | None:
    """The arguments of a call; None: they can be read in several ways, or are too many."""
    if len(raw) >= READ_BELOW_BYTES:
        return None
    try:
        found = read_once_named(raw or b"{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def covers(rule: CallRule, arguments: bytes, place: Place) -> bool:
    """Whether a rule lets a call of its tool go through.

    Args:
        arguments: JSON, as it goes to the server.
        place: where the session is that calls.
    """
    found = read_arguments(arguments)
    return found is not None and covers_read(rule, found, place)


def covers_read(rule: CallRule, arguments: Mapping[str, object], place: Place) -> bool:
    """The same for arguments that `read_arguments` has read."""
    return _fits(arguments, _shape(rule.text), _Call(arguments, rule.others == ANY, place))


@lru_cache(REMEMBERED)
def _shape(text: str) -> _Node:
    """What a rule says of each place, from the outermost object on; it is asked for with each call."""
    rule, root = read_rule(json.loads(text)), _Node()
    for path, condition in rule.places:
        _put(root, path, _Node(condition, is_free=condition is None))
    for path in rule.other_paths:
        _put(root, path, _Node(is_free=True))
    return root


def _put(root: _Node, path: ArgumentPath, leaf: _Node) -> None:
    *above, last = path
    node = root
    for step in above:
        if step is None:
            node.each = node.each or _Node()
            node = node.each
        else:
            node = node.members.setdefault(step, _Node())
    if last is None:
        node.each = leaf
    else:
        node.members[last] = leaf


def _fits(value: object, node: _Node, call: _Call) -> bool:
    if node.is_free:
        return True
    if node.condition is not None:
        return _meets(value, node.condition, call)
    if isinstance(value, dict) and (node.members or node.each is None):
        return _members_fit(value, node, call)
    if isinstance(value, list) and node.each is not None:
        each = node.each
        return all(_fits(item, each, call) for item in value) if value else not each.is_needed
    return False


def _members_fit(value: Mapping[str, object], node: _Node, call: _Call) -> bool:
    if any(inner.is_needed and name not in value for name, inner in node.members.items()):
        return False
    others = [name for name in value if name not in node.members]
    if others and not (call.takes_others and {_folded(name) for name in node.members}.isdisjoint(map(_folded, others))):
        return False  # a server may take `PATH` for `path`
    return all(_fits(value[name], inner, call) for name, inner in node.members.items() if name in value)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _meets(value: object, condition: Condition, call: _Call) -> bool:
    match condition.kind:
        case "inside":
            return isinstance(value, str) and is_inside(value, condition.inside or (), call.place)
        case "hosts":
            return isinstance(value, str) and _is_at(value, condition.hosts or ())
        case "command":
            words = command_words(value, condition, call.arguments)
            return words is not None and _is_command(words, condition)
        case "number":
            return condition.number is not None and _is_within(value, condition.number)
        case "equals":
            return _is_same(value, condition.equals)
    return any(_is_same(value, each) for each in condition.one_of or ())


def _is_at(value: str, hosts: tuple[str, ...]) -> bool:
    here = host_of(value)
    patterns = [found for each in hosts if (found := read_pattern(each))]
    return here is not None and any(here.port == each.port and is_below(here.name, each.name) for each in patterns)


def command_words(value: object, condition: Condition, arguments: Mapping[str, object]) -> list[str] | None:
    """The words of a command; None: a shell, or the server, may read others."""
    words = value if isinstance(value, list) else [value]
    if condition.args is not None:
        behind = _at(arguments, read_path(condition.args))
        words = [value, *behind] if isinstance(behind, list) else [None]
    elif isinstance(value, str):
        words = [word for word in value.split(" ") if word]
    plain = [word for word in words if isinstance(word, str) and is_plain_word(word)]
    return plain if len(plain) == len(words) else None


def _at(arguments: Mapping[str, object], path: ArgumentPath) -> object:
    """What stands at a path; an empty list, where nothing does."""
    found: object = arguments
    for step in path:
        if not isinstance(found, dict) or step is None:
            return None
        if step not in found:
            return []
        found = found[step]
    return found


def _is_command(words: list[str], condition: Condition) -> bool:
    first = list(condition.command or ())
    behind = words[len(first) :]
    if words[: len(first)] != first:
        return False
    if condition.more == NONE:
        return not behind
    return condition.more == ANY or not any(map(is_option, behind))


def is_option(word: str) -> bool:
    """Whether a word of a command may be more than a name or a value."""
    return word.startswith(OPTION_SIGNS) or any(part in word for part in PARTS_OF_OPTIONS)


def _is_within(value: object, bounds: NumberBounds) -> bool:
    if not is_number(value):
        return False
    return (bounds.min is None or value >= bounds.min) and (bounds.max is None or value <= bounds.max)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number, and no boolean, and none that is too large to be one."""
    return isinstance(value, int | float) and not isinstance(value, bool) and (isinstance(value, int) or isfinite(value))


def _is_same(value: object, wanted: Value | None) -> bool:
    """Texts letter by letter; `1`, `"1"` and `true` are three things."""
    if isinstance(wanted, str | bool):
        return type(value) is type(wanted) and bool(value == wanted)
    return is_number(value) and bool(value == wanted)
