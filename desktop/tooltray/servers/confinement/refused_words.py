"""Finds in what a server says which path it was kept from: the spellings of Node.js, Python, Go, Rust and the shell.

Above it: refusals. Below it: nothing; pure. A server may say what it likes: what is found here is what a person is asked about, never what
is allowed by itself.
"""

import os.path
import re

import msgspec

MAX_TEXT = 16 * 1024  # characters that are looked at; the words of a refusal stand at the beginning of a message
MAX_PATHS = 4  # of one text
MAX_LINES = 5  # with such words in them
AROUND = 300  # characters before and behind the words: what is looked at costs its square
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
_QUOTED = re.compile(r"(?<!\w)(['\"`])(/.+?)\1(?=$|[\s,;:)\]}.'\"`])")
_BEFORE = re.compile(r"(?:^|\s)(/.+)$")  # Go, Rust, the shell: up to a colon before the words; may have spaces in it
_SAID = re.compile(_WORDS, re.IGNORECASE)
_AFTER = re.compile(rf"(?:EACCES|EPERM|EROFS|{_WORDS})\W+(?:[\w ]{{0,20}})(/[^\s:'\"`,;()]+)", re.IGNORECASE)
_ANY = re.compile(r"(?:^|[\s=(])(/[^\s:'\"`,;()]+)")


class RefusedPath(msgspec.Struct, frozen=True):
    """
    Attributes:
        path: absolute, without `..`.
        is_write: the words say that it was to be changed.
        is_whole: where it ends is sure; else a space may have cut it.
    """

    path: str
    is_write: bool = False
    is_whole: bool = True


def refused_paths(text: str) -> list[RefusedPath] | None:
    """None: nothing is said to have been refused; empty: something was, and no path is named."""
    found: dict[str, RefusedPath] = {}
    lines = [line for line in text[:MAX_TEXT].splitlines() if REFUSED.search(line)]
    for line in lines[:MAX_LINES]:
        for each in _paths(_around(line)):
            known = found.get(each.path, each)
            found[each.path] = RefusedPath(each.path, known.is_write or each.is_write, known.is_whole and each.is_whole)
    return list(found.values())[:MAX_PATHS] if lines else None


def _around(line: str) -> str:
    words = REFUSED.search(line)
    assert words is not None
    return line[max(0, words.start() - AROUND) : words.end() + AROUND]


def _paths(line: str) -> list[RefusedPath]:
    found = [match[2] for match in _QUOTED.finditer(line)] or _before(line)
    is_whole = bool(found)
    for spelling in (_AFTER, _ANY):
        found = found or [match[1] for match in spelling.finditer(line)][-1:]
    for path in found:
        line = line.replace(path, "")  # what else it says tells what was wanted
    is_write = bool(_READ_ONLY.search(line) or _CHANGES.search(line))
    return [RefusedPath(path, is_write, is_whole) for path in map(_plain, found) if path]


def _before(line: str) -> list[str]:
    said = _SAID.search(line)
    part = line[: said.start()].rstrip(" :,(").rpartition(":")[2] if said else ""
    found = _BEFORE.search(part)
    return [found[1]] if found else []


def _plain(path: str) -> str:
    """A path that can be shown and allowed; empty: none. The root is none: it would allow everything."""
    path = os.path.normpath(path.rstrip("."))
    is_usable = not path.startswith("//") and path != "/" and path.isprintable() and len(path) <= MAX_PATH_LENGTH
    return path if is_usable else ""
