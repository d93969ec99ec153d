"""How a server of another file is called here: as there if that can be, else by a name that is made to fit.

Above it: Trust and ServedFiles, which keep the names. Below it: what a name may be. Pure.
"""

import os
import unicodedata
from collections.abc import Callable, Collection
from functools import lru_cache
from itertools import count

from tooltray.errors import TooltrayError
from tooltray.settings.settings import FORBIDDEN_IN_NAMES, MAX_NAME_LENGTH, check_name

NO_NAME = "server"  # of whose name nothing could stay
REMEMBERED = 4096  # names; each is asked for whenever a file's servers are told
_TO_DASHES = str.maketrans(dict.fromkeys(FORBIDDEN_IN_NAMES, "-"))


def server_name(written: str, folder: str, is_free: Callable[[str], bool], reserved: Collection[str] = ()) -> str:
    """
    Args:
        written: the name in the file.
        folder: of the file; it tells apart what has one name in two files.
        is_free: says whether no other server is called that.
        reserved: names that only servers of ours have.
    """
    first = fitting(written)
    beside = fitting(f"{_cut(first, 24)}-{os.path.basename(folder)}") if os.path.basename(folder) else first
    candidates = (name for name in (first, beside) if look(name) not in reserved and is_free(name))
    numbered = (name for number in count(2) if is_free(name := f"{_cut(beside, 8)}-{number}"))
    return next(candidates, None) or next(numbered)


@lru_cache(REMEMBERED)
def look(name: str) -> str:
    """The same for names that people take for one: a project's server is not to pass for another one."""
    return unicodedata.normalize("NFKC", name).casefold()


def fitting(written: str) -> str:
    """A name that a server may have, as near to the written one as can be."""
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
