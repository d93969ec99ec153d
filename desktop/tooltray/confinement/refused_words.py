"""Finds in what a server says which path it was kept from: the spellings of Node.js, Python, Go, Rust and the shell.

Above it: refusals. Below it: nothing; pure. A server may say what it likes: what is found here is what a person is asked about, never what
is allowed by itself.
"""

import os.path
import re

import msgspec

MAX_TEXT = 16 * 1024  # characters that are looked at; the words of a refusal stand at the beginning of a message
MAX_PATHS = 4  # of one text
MAX_PATH_LENGTH = 1000

_WORDS = r"(?:permission denied|operation not permitted|read-only file system)"
REFUSED = re.compile(rf"\b(?:EACCES|EPERM|EROFS)\b|{_WORDS}", re.IGNORECASE)
_READ_ONLY = re.compile(r"\bEROFS\b|read-only file system", re.IGNORECASE)
_CHANGES = re.compile(
    r"\b(?:mkdir(?:at|temp)?|mkdtemp|rmdir|unlink(?:at)?|rename(?:at2?)?|symlink(?:at)?|link(?:at)?|f?truncate|f?chmod(?:at)?|l?chown|utimes?"
    r"|copyfile|creat|mknod"
    r"|(?:could not|cannot|can't|unable to|failed to|error) (?:create|creating|touch|make|remove|delete|move|write|writing|save|saving))\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?<!\w)(['\"`])(/[^'\"`]+)\1")
_BEFORE = re.compile(rf"(?:^|[\s:])(/[^:]+?)[:,]? (?:\([^)]*\) ?)?{_WORDS}", re.IGNORECASE)  # Go, Rust, the shell; may have spaces in it
_AFTER = re.compile(rf"(?:EACCES|EPERM|EROFS|{_WORDS})\W+(?:[\w ]{{0,20}})(/[^\s:'\"`,;()]+)", re.IGNORECASE)
_ANY = re.compile(r"(?:^|[\s=(])(/[^\s:'\"`,;()]+)")


class RefusedPath(msgspec.Struct, frozen=True):
    """
    Attributes:
        path: absolute, without `..`.
        is_write: the words say that it was to be changed.
    """

    path: str
    is_write: bool


def refused_paths(text: str) -> list[RefusedPath] | None:
    """None: nothing is said to have been refused; empty: something was, and no path is named."""
    found: dict[str, bool] = {}
    is_refused = False
    for line in text[:MAX_TEXT].splitlines():
        if REFUSED.search(line):
            is_refused = True
            is_write = bool(_READ_ONLY.search(line) or _CHANGES.search(line))
            for path in _paths(line):
                found[path] = found.get(path, False) or is_write
    return [RefusedPath(path, is_write) for path, is_write in list(found.items())[:MAX_PATHS]] if is_refused else None


def _paths(line: str) -> list[str]:
    found = [match[2] for match in _QUOTED.finditer(line)]
    for spelling in (_BEFORE, _AFTER, _ANY):
        found = found or [match[1] for match in spelling.finditer(line)][-1:]
    return [path for path in map(_plain, found) if path]


def _plain(path: str) -> str:
    """A path that can be shown and allowed; empty: none. The root is none: it would allow everything."""
    path = os.path.normpath(path.rstrip("."))
    is_usable = path not in ("/", "//") and path.isprintable() and len(path) <= MAX_PATH_LENGTH
    return path if is_usable and not path.startswith("//") else ""
