"""Finds in a server's messages which path it was kept from: the spellings of Node.js, Python, Go, Rust and the shell. A server may write
anything: a path found here is only shown to the user, never allowed automatically."""

import os.path
import re

import msgspec

MAX_TEXT = 16 * 1024  # characters that are read; the words of a refusal are at the beginning of a message
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
    """A path in a message.

    Attributes:
        path: absolute, without `..`.
        is_write: by the words, it was to be changed.
        is_whole: its end is certain; else a space may have cut it.
    """

    path: str
    is_write: bool = False
    is_whole: bool = True


def refused_paths(text: str) -> list[RefusedPath] | None:
    """Returns the paths of a message. None: the message reports no refusal; empty: it does, without a path."""
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
        line = line.replace(path, "")  # the rest of the line shows what was wanted
    is_write = bool(_READ_ONLY.search(line) or _CHANGES.search(line))
    return [RefusedPath(path, is_write, is_whole) for path in map(_plain, found) if path]


def _before(line: str) -> list[str]:
    said = _SAID.search(line)
    part = line[: said.start()].rstrip(" :,(").rpartition(":")[2] if said else ""
    found = _BEFORE.search(part)
    return [found[1]] if found else []


def _plain(path: str) -> str:
    """Returns a path that can be shown and allowed, else empty; also for the root, which would allow everything."""
    path = os.path.normpath(path.rstrip("."))
    is_usable = not path.startswith("//") and path != "/" and path.isprintable() and len(path) <= MAX_PATH_LENGTH
    return path if is_usable else ""
