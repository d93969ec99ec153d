"""Decides whether a rule on arguments covers a call: the only place that evaluates such rules. An argument that can be understood in
several ways is not covered, so the user is asked.

Pure, except for folders of `inside`: their links are resolved on the disk, and only for paths that are written as if they were in one of
the folders, so that no path of a call makes Tooltray read elsewhere. Between this check and the server's access a link may replace a
folder; no check in front of a server can prevent that.
"""

import errno
import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import isfinite
from typing import Literal, NamedTuple, TypeGuard

import msgspec

from tooltray.catalogue.auto_approve import NAME_PREFIX, fits
from tooltray.catalogue.definition import read_once_named
from tooltray.config.settings.call_rule import (
    ANY,
    NONE,
    PROJECT,
    ArgumentPath,
    CallRule,
    Condition,
    NumberBounds,
    Value,
    host_of,
    is_below,
    is_plain_word,
    read_path,
    read_pattern,
    read_rule,
)
from tooltray.foundation.lazy_patterns import lazy_pattern

LONGEST_PATH = 4096  # characters; PATH_MAX of Linux
_FORMS: tuple[Literal["NFC", "NFD", "NFKC"], ...] = ("NFC", "NFD", "NFKC")  # in which a server may write a path
_READ_OTHERWISE = lazy_pattern(r"""[\x00-\x1f\x7f-\x9f~$%*?\[\]{}()<>|&;"'`!\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]""")
"""Characters that a shell, a URL, a pattern or a human reader does not take for a letter of a name."""
_FROM_ROOT = lazy_pattern(r"/(?!/)[^\\]*\Z")
_DRIVE = lazy_pattern(r"[A-Za-z]:[\\/](?![\\/])")
_DEVICES = lazy_pattern(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)


class Place(NamedTuple):
    """Where a session is.

    Attributes:
        project: the folder on which it works; empty: none is known.
        home: the user's home folder.
    """

    project: str
    home: str


def is_inside(path: str, folders: Iterable[str], place: Place) -> bool:
    """Returns whether a path is one of the folders or lies in one, and is written plainly: absolute, without `..`, and without characters
    that a server may read differently.

    Args:
        folders: as a rule names them.
    """
    if not is_plain_path(path):
        return False
    try:
        found = list(_real(folders, place))
        return all(_leads_inside(os.path.normpath(form), found) for form in _forms(path))
    except (OSError, ValueError):
        return False


def is_plain_path(path: str, *, is_windows: bool = os.name == "nt") -> bool:
    """Returns whether a path is written plainly: see `is_inside`."""
    return len(path) <= LONGEST_PATH and all(_is_plain(form, is_windows) for form in _forms(path))


def _forms(path: str) -> set[str]:
    """Returns the forms in which a server may write a path."""
    return {path} if path.isascii() else {path, *(unicodedata.normalize(form, path) for form in _FORMS)}


def folder_of(folder: str, place: Place) -> str:
    """Returns a rule's folder as a whole path; empty if the rule is about the project and no project is known."""
    if folder.startswith(PROJECT):
        return os.path.normpath(place.project + folder[len(PROJECT) :]) if place.project else ""
    return os.path.normpath(place.home + folder[1:] if folder.startswith("~") else folder)


def _real(folders: Iterable[str], place: Place) -> Iterator[tuple[str, str]]:
    """Yields each folder as it is written, and resolved."""
    for folder in folders:
        if whole := folder_of(folder, place):
            yield whole, os.path.realpath(whole)


def _leads_inside(path: str, folders: Iterable[tuple[str, str]]) -> bool:
    written_in = [real for whole, real in folders if lies_below(path, whole) or lies_below(path, real)]
    if not written_in:
        return False
    leads_to = os.path.realpath(path)
    return not _is_circle(leads_to) and any(lies_below(leads_to, real) for real in written_in)


def _is_circle(path: str) -> bool:
    """Returns whether a link in a resolved path still leads on, to itself in the end: `realpath` of a server may then give any place."""
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError as error:
        return error.errno == errno.ELOOP


def lies_below(path: str, folder: str) -> bool:
    """Returns whether a normal path is a folder or lies in it. Case matters: paths that differ only in case may be different folders."""
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else folder + os.sep)


def _is_plain(path: str, is_windows: bool) -> bool:
    if _READ_OTHERWISE.search(path) or not (_DRIVE.match(path) if is_windows else _FROM_ROOT.match(path)):
        return False
    parts = re.split(r"[/\\]", path[len("C:") :] if is_windows else path)
    return all(part in ("", ".") or _is_plain_name(part, is_windows) for part in parts)


def _is_plain_name(name: str, is_windows: bool) -> bool:
    if name != name.strip() or name.endswith("."):  # Windows drops these; a command line breaks at blanks
        return False
    return not (is_windows and (":" in name or _DEVICES.match(name)))


REMEMBERED = 1024  # rules
READ_BELOW_BYTES = 262_144  # larger arguments ask: reading them would keep others waiting
PATTERN = "names:"
OPTION_SIGNS = ("-", "+", "@", "/") if os.name == "nt" else ("-", "+", "@")
"""The first characters of words that many programs take for options, or for files with options in them."""
PARTS_OF_OPTIONS = ("=", "::")
"""Signs in words that set a variable, or that name a program to transfer with (`ext::` of git)."""


class _Node(msgspec.Struct):
    """One place in the arguments, and a rule's condition for it.

    Attributes:
        is_free: whether any value is allowed.
        members: of an object, by name.
        each: of a list, every element.
    """

    condition: Condition | None = None
    is_free: bool = False
    members: dict[str, "_Node"] = {}
    each: "_Node | None" = None

    @property
    def is_needed(self) -> bool:
        """Whether a call is covered only if it has this argument."""
        if self.condition is not None:
            return not self.condition.optional
        return any(node.is_needed for node in self.members.values()) or (self.each is not None and self.each.is_needed)


class _Call(msgspec.Struct):
    arguments: Mapping[str, object]
    takes_others: bool
    place: Place


def is_for(rule: CallRule, tool: str) -> bool:
    """Returns whether a rule is about a tool, by the server's own name for it."""
    if rule.tool.startswith(PATTERN):
        return fits(tool, rule.tool.removeprefix(PATTERN))
    return tool == rule.tool.removeprefix(NAME_PREFIX)


def needs_disk(rule: CallRule) -> bool:
    """Returns whether `covers` reads the disk, so that it has to run in a thread."""
    return any(condition.inside for condition in rule.arguments.values())


def read_arguments(raw: bytes) -> Mapping[str, object] | None:
    """Returns the arguments of a call; None if they can be read in several ways, or are too large."""
    if len(raw) >= READ_BELOW_BYTES:
        return None
    try:
        found = read_once_named(raw or b"{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def covers(rule: CallRule, arguments: bytes, place: Place) -> bool:
    """Returns whether a rule allows a call of its tool.

    Args:
        arguments: JSON, as it goes to the server.
        place: the place of the calling session.
    """
    found = read_arguments(arguments)
    return found is not None and covers_read(rule, found, place)


def covers_read(rule: CallRule, arguments: Mapping[str, object], place: Place) -> bool:
    """Does the same for arguments that `read_arguments` has read."""
    return _fits(arguments, _shape(rule.text), _Call(arguments, rule.others == ANY, place))


@lru_cache(REMEMBERED)
def _shape(text: str) -> _Node:
    """Returns what a rule demands of each place, from the outermost object on; used with each call."""
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
    """Returns the words of a command; None if a shell, or the server, may split it differently."""
    words = value if isinstance(value, list) else [value]
    if condition.args is not None:
        behind = _at(arguments, read_path(condition.args))
        words = [value, *behind] if isinstance(behind, list) else [None]
    elif isinstance(value, str):
        words = [word for word in value.split(" ") if word]
    plain = [word for word in words if isinstance(word, str) and is_plain_word(word)]
    return plain if len(plain) == len(words) else None


def _at(arguments: Mapping[str, object], path: ArgumentPath) -> object:
    """Returns the value at a path; an empty list if a member is missing, None if a value on the way has no members."""
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
    """Returns whether a word of a command may be more than a name or a value."""
    return word.startswith(OPTION_SIGNS) or any(part in word for part in PARTS_OF_OPTIONS)


def _is_within(value: object, bounds: NumberBounds) -> bool:
    if not is_number(value):
        return False
    return (bounds.min is None or value >= bounds.min) and (bounds.max is None or value <= bounds.max)


def is_number(value: object) -> TypeGuard[int | float]:
    """Returns whether a value is a finite number and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and (isinstance(value, int) or isfinite(value))


def _is_same(value: object, wanted: Value | None) -> bool:
    """Compares texts letter by letter; `1`, `"1"` and `true` are three different values."""
    if isinstance(wanted, str | bool):
        return type(value) is type(wanted) and bool(value == wanted)
    return is_number(value) and bool(value == wanted)
