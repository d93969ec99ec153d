"""Command lines as the user types or pastes them: in hints, questions and on cards. Nothing made here is ever run by Tooltray.

Names of files and servers can be chosen by others, so a pasted line must not start anything but what it shows. On Windows it may be pasted
into PowerShell or cmd.exe, whose quotations differ: lines made here are right for PowerShell ("about_Quoting_Rules") and start nothing else
in cmd.exe.
"""

import shlex
import sys
from collections.abc import Iterable

from tooltray.foundation.lazy_patterns import lazy_pattern

_WINDOWS_PATH = lazy_pattern(r"[\w.%:]\\\w|\\\\\w")  # a shell of Unix would drop these backslashes; no user escapes a letter
_PLAIN = lazy_pattern(r"[A-Za-z0-9_./:\\+-]+")  # means itself to both
_FILLED_IN = lazy_pattern("[`$\u201c\u201d\u201e]")  # within "" of PowerShell: an escape, a variable or command, other quotation marks
_NOT_IN_SINGLE_QUOTES = lazy_pattern(
    "[&|<>^\"'\u2018\u2019\u201a\u201b]"
)  # of PowerShell, and what cmd.exe, which knows none, takes for its own


def quoted(word: str) -> str:
    """Quotes one word of a command line for this system's shell."""
    return _quoted_for_windows(word) if sys.platform == "win32" else shlex.quote(word)


def joined(words: Iterable[str]) -> str:
    """Joins words to a command line for this system's shell."""
    return " ".join(map(quoted, words))


def split(line: str) -> list[str]:
    """Splits a command line as a shell would. The backslashes of Windows paths stay, quoted or not.

    Raises:
        ValueError: a quotation mark is not closed.
    """
    words = shlex.shlex(line, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if _WINDOWS_PATH.search(line):
        words.escape = ""
    return list(words)


def _quoted_for_windows(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    if _FILLED_IN.search(word) and not _NOT_IN_SINGLE_QUOTES.search(word):
        return f"'{word}'"
    inside = _FILLED_IN.sub(r"`\g<0>", word).replace('"', '""')
    at_end = inside[len(inside.rstrip("\\")) :]  # backslashes there would be taken for the closing quotation mark's escape
    return f'"{inside}{at_end}"'
