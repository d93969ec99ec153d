"""The target of a call, in one line: a path, a host, or the first two words of a command. Never more of its arguments.

The argument with the target is recognised by its name, as servers usually call it; a call without such an argument has no known target.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING

LONGEST = 120  # characters
READ_BELOW_BYTES = 65_536  # larger arguments are a file's content; reading them would cost the journal's thread milliseconds
LONGEST_COMMAND = 2_000  # characters that are split into words
COMMANDS = ("command", "cmd", "shellcommand", "commandline")
PATHS = (
    *("path", "filepath", "file", "filename", "source", "sourcepath", "oldpath", "src", "notebookpath", "targetfile", "relativepath"),
    *("absolutepath", "directory", "directorypath", "dir", "folder", "repopath", "rootpath", "paths", "files", "filepaths"),
)
TARGETS = ("destination", "destinationpath", "newpath", "dst", "target", "to")
"""Destinations; they count only in a call that also has one of PATHS."""
ADDRESSES = ("url", "uri", "urls", "href", "link", "endpoint", "host", "hostname", "domain", "website")
_KNOWN = frozenset((*COMMANDS, *PATHS, *ADDRESSES))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHORT_OPTION = re.compile(r"-[A-Za-z]{1,2}|--[a-z-]+")  # a longer one may be a password: -pSECRET
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class _Params(msgspec.Struct):
    arguments: Raw = NOTHING


def touched(params: Raw) -> str:
    """Returns the target; empty if it is not known. It is neither masked nor cleaned for display yet. `params`: of `tools/call`, as
    JSON.
    """
    if not params or len(memoryview(params)) > READ_BELOW_BYTES:
        return ""
    try:
        given = msgspec.json.decode(arguments_of(params) or b"{}")
    except (ValueError, RecursionError):
        return ""
    return _line({plain_name(name): value for name, value in given.items()}) if isinstance(given, Mapping) else ""


def arguments_of(params: Raw) -> Raw:
    """Returns the arguments of a `tools/call`; empty if it has none, or the params are malformed."""
    try:
        return msgspec.json.decode(params or b"{}", type=_Params).arguments
    except (ValueError, RecursionError):
        return NOTHING


def plain_name(name: str) -> str:
    """Normalizes a name: `file_path`, `filePath` and `file-path` become the same."""
    return name.replace("_", "").replace("-", "").lower()


def _line(arguments: Mapping[str, object]) -> str:
    if _KNOWN.isdisjoint(arguments):
        return ""
    if command := next(_given(arguments, COMMANDS), ""):
        return _first_words(command)
    if path := next(_given(arguments, PATHS), ""):
        to = next(_given(arguments, TARGETS), "")
        return f"{_place(path)} → {_place(to)}" if to else _place(path)
    return _place(next(_given(arguments, ADDRESSES), ""))


def _given(arguments: Mapping[str, object], names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, list) and value:
            value = " ".join(map(str, value)) if name in COMMANDS else value[0]
        if isinstance(value, str) and value.strip():
            yield value.strip()


def _place(value: str) -> str:
    """Returns a path as it is; of an address only the host: a key may follow it, and a password may precede it."""
    if not _ADDRESS.match(value):
        return value.partition("?")[0] if "://" not in value else ""
    try:
        parts = urlsplit(value)
        if parts.scheme.lower() == "file":
            return unquote(parts.path)
        return parts.hostname or f"{parts.scheme}:"
    except ValueError:
        return ""


def _first_words(command: str) -> str:
    """Returns the first words of a command, without the variables set in front of it, and without options that could hold a value."""
    try:
        words = shlex.split(command[:LONGEST_COMMAND])
    except ValueError:  # a quote that is not closed
        words = command[:LONGEST_COMMAND].split()
    while words and _ASSIGNMENT.match(words[0]):
        words.pop(0)
    shown = [_place(word) for word in words[:2]]
    if len(shown) == 2 and (shown[1].startswith("-") or "=" in shown[1]) and not _SHORT_OPTION.fullmatch(shown[1]):
        shown.pop()
    return " ".join(shown)
