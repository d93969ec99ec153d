"""Whether a path of a call lies in a folder of a rule, wherever links lead.

Above it: rule_coverage. Below it: the file system, which is asked where links lead, and only of paths that are written as if they lay in
one of the folders: no path of a call makes it look elsewhere. Between this look and the server's own somebody may put a link in the place
of a folder; no check in front of a server can prevent that.
"""

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from tooltray.config.settings.rule_values import PROJECT

LONGEST_PATH = 4096  # characters; PATH_MAX of Linux
_FORMS: tuple[Literal["NFC", "NFD", "NFKC"], ...] = ("NFC", "NFD", "NFKC")  # in which a server may write a path anew
_READ_OTHERWISE = re.compile(r"""[\x00-\x1f\x7f-\x9f~$%*?\[\]{}()<>|&;"'`!\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]""")
"""Signs that a shell, a URL, a pattern or a reader's eye takes for something else than a letter of a name."""
_FROM_ROOT = re.compile(r"/(?!/)[^\\]*\Z")
_DRIVE = re.compile(r"[A-Za-z]:[\\/](?![\\/])")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)


class Place(NamedTuple):
    """Where a session is.

    Attributes:
        project: the folder on which it works; empty: none is known.
        home: the person's own folder.
    """

    project: str
    home: str


def is_inside(path: str, folders: Iterable[str], place: Place) -> bool:
    """Whether a path is one of the folders or lies in it, written in the one plain way: whole, without `..`, and without signs that a
    server may read in another way.

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
    """Whether a path is written in the one plain way."""
    return len(path) <= LONGEST_PATH and all(_is_plain(form, is_windows) for form in _forms(path))


def _forms(path: str) -> set[str]:
    """In which a server may write it anew."""
    return {path} if path.isascii() else {path, *(unicodedata.normalize(form, path) for form in _FORMS)}


def folder_of(folder: str, place: Place) -> str:
    """A rule's folder as a whole path; empty: it speaks of the project, and none is known."""
    if folder.startswith(PROJECT):
        return os.path.normpath(place.project + folder[len(PROJECT) :]) if place.project else ""
    return os.path.normpath(place.home + folder[1:] if folder.startswith("~") else folder)


def _real(folders: Iterable[str], place: Place) -> Iterator[tuple[str, str]]:
    """Each folder as it is written, and where it leads."""
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
    """Whether a link in a path that was resolved still leads on, to itself in the end: `realpath` of a server may then give any place."""
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError as error:
        return error.errno == errno.ELOOP


def lies_below(path: str, folder: str) -> bool:
    """Whether a normal path is a folder or lies in it. Letter by letter: what differs in case alone may be another folder."""
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
