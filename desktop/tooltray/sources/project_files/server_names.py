"""Chooses the name in the hub for a server of another file: the name in the file if possible, else an adapted one.

Above it: Trust and ServedNames, which keep the names. Below it: the rules for names in settings. Pure.
"""

import os
import unicodedata
from collections.abc import Callable, Collection
from functools import lru_cache
from itertools import count

from tooltray.config.settings.given_entries import FORBIDDEN_IN_NAMES, MAX_NAME_LENGTH, check_name
from tooltray.foundation.errors import TooltrayError

NO_NAME = "server"  # replaces a name without a usable character
REMEMBERED = 4096  # names in the cache; each is looked up whenever a file's servers are listed
_TO_DASHES = str.maketrans(dict.fromkeys(FORBIDDEN_IN_NAMES, "-"))


def server_name(written: str, folder: str, is_free: Callable[[str], bool], reserved: Collection[str] = ()) -> str:
    """Chooses a free name.

    Args:
        written: the name in the file.
        folder: the file's folder, which is appended if the name is taken.
        is_free: returns whether no other server has a name.
        reserved: names of built-in servers.
    """
    first = fitting(written)
    beside = fitting(f"{_cut(first, 24)}-{os.path.basename(folder)}") if os.path.basename(folder) else first
    candidates = (name for name in (first, beside) if look(name) not in reserved and is_free(name))
    numbered = (name for number in count(2) if is_free(name := f"{_cut(beside, 8)}-{number}"))
    return next(candidates, None) or next(numbered)


@lru_cache(REMEMBERED)
def look(name: str) -> str:
    """Folds case and compatibility characters, so that names that look alike are equal: a project's server must not imitate another."""
    return unicodedata.normalize("NFKC", name).casefold()


def fitting(written: str) -> str:
    """Returns a valid server name as close to the written one as possible."""
    if _may_be(written):
        return written
    seen = "".join(sign if sign.isprintable() else "-" for sign in written.translate(_TO_DASHES))
    return seen[:MAX_NAME_LENGTH].strip(" -") or NO_NAME


def _cut(name: str, room: int) -> str:
    return name[: MAX_NAME_LENGTH - room].rstrip()


def _may_be(name: str) -> bool:
    try:
        check_name(name, ())
    except TooltrayError:
        return False
    return True
