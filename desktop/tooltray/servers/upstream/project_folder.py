"""Decides which folders may be projects, and how a project is called. It knows no settings, no sessions and no servers; it reads the file
system, and is called in threads.

A project's path goes to servers that read and write in it, and it may have been made up by a model. So the real path counts, and the root,
a home folder, and folders of other users never are a project. Home folders are compared by their identity on the disk, not by their names:
a folder can be mounted in two places, and there are disks for which `Project` and `project` are one.
"""

import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import unquote

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

MAX_PATH_LENGTH = 4096  # PATH_MAX of Linux; a longer path cannot be opened anyway
MAX_NAME_LENGTH = 100  # of a project; it becomes a part of command lines and cards
MAX_SHOWN_LENGTH = 120  # of a path that is refused
HOME_FOLDERS = ("/home", "/Users", "/var/home", "/export/home", "C:\\Users")  # of all users, or of the administrator
NO_OWNER = -1  # if the system does not report a folder's owner
_UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of characters, separators of lines
_TURNS = lazy_pattern("[\u202a-\u202e\u2066-\u2069]")  # text that reads in another order than it is written

_FILE_URI = lazy_pattern("file:(?://(?:localhost)?)?(/(?!/).*)", re.IGNORECASE | re.DOTALL)  # a bare `#` or `?` is part of a folder's name
_IN_PATHS = str.maketrans("/\\", "--")
_NAMES_OF_FOLDERS = (".", "..")  # not names of one folder in particular


def owner_of(path: str) -> int:
    """Returns the number of the user who owns a folder; NO_OWNER if that is not known."""
    return os.stat(path).st_uid if os.name == "posix" else NO_OWNER


def own_user() -> int:
    """Returns the number of our own user."""
    if sys.platform == "win32":
        return NO_OWNER
    return os.getuid()


def real_folder(text: str, *, home: str, user: int, owner: Callable[[str], int] = owner_of, homes: Sequence[str] = HOME_FOLDERS) -> str:
    """Returns the real path of a folder that may be a project. Looks at the file system.

    Args:
        text: the path as it was given.
        home: the user's home folder.
        user: the user's own number.
        owner: returns the number of the user who owns a folder.
        homes: the folders that hold home folders.

    Raises:
        TooltrayError: it may not be a project; the error gives the reason.
    """
    if reason := _why_no_path(text):
        raise _refusal(text, reason)
    try:
        path = os.path.realpath(text, strict=True)
        if not os.path.isdir(path):
            raise _refusal(text, "it is a file, not a folder")
        if not os.access(path, os.R_OK | os.X_OK):
            raise _refusal(text, "it cannot be read")
        reason = _why_remote(path) or _why_never(path, os.path.realpath(home), user, owner) or _why_no_homes(path, homes)
    except FileNotFoundError:
        raise _refusal(text, "no such folder exists") from None
    except (OSError, ValueError) as error:
        raise _refusal(text, getattr(error, "strerror", None) or "it cannot be read") from None
    if reason:
        raise _refusal(text, reason)
    return path


def _why_no_path(text: str) -> str:
    """Returns the problem of a path, without reading the file system."""
    if not text:
        return "it is empty"
    if len(text) > MAX_PATH_LENGTH:
        return f"it has {len(text)} characters, and a path has at most {MAX_PATH_LENGTH}"
    if any(unicodedata.category(sign) in _UNSEEN for sign in text) or _TURNS.search(text):
        return "it has invisible characters"
    if text.startswith("~"):
        return "'~' is not expanded here; write the whole path"
    if "://" in text or text.lower().startswith("file:"):
        return "it is a URL; write the path itself"
    return _why_remote(text) or ("" if os.path.isabs(text) else "it does not begin at the root; write the whole path")


def _why_remote(path: str) -> str:
    """Returns what is wrong with `\\\\server\\share`: to read it reveals the user to that server. A drive letter can be mapped to one."""
    return "it is a folder of another computer" if path.startswith(("\\\\", "//")) else ""


def _why_never(path: str, home: str, user: int, owner: Callable[[str], int]) -> str:
    if os.path.dirname(path) == path:
        return "it is the root of the file system"
    if _is_same(path, home):
        return "it is the home folder itself"
    if any(_is_same(path, above) for above in _upwards(home)):
        return "the home folder is in it"
    shared = set(_upwards(home))  # folders that lead to both belong to no user in particular
    if any(owner(folder) not in (user, 0, NO_OWNER) for folder in _upwards(path) if folder not in shared):
        return "it belongs to another user"
    is_beside_home = is_inside(path, os.path.dirname(home)) and not is_inside(path, home)
    return "it belongs to another user" if is_beside_home and owner(path) == NO_OWNER else ""


def _why_no_homes(path: str, homes: Iterable[str]) -> str:
    """Returns an error for a folder that holds home folders, or is above one: such a folder belongs to root, but its contents do not."""
    is_above = any(_is_same(path, above) for each in homes if os.path.isabs(each) for above in _upwards(os.path.realpath(each)))
    return "the home folders of users are in it" if is_above else ""


def why_never_allowed(text: str, home: str) -> str:
    """Returns why a folder of the settings never counts, as far as its path shows; empty if it may. Looks at nothing on the disk."""
    if reason := _why_no_path(text):
        return reason
    path = os.path.normpath(text)
    if os.path.dirname(path) == path:
        return "it is the root of the file system"
    if any(is_inside(os.path.normpath(each), path) for each in (home, *HOME_FOLDERS)):
        return "it is the home folder itself, or home folders are in it"
    return ""


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them does not exist, or cannot be seen
        return one == other


def _upwards(path: str) -> Iterable[str]:
    while True:
        yield path
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def _refusal(text: str, reason: str) -> TooltrayError:
    return TooltrayError(
        Phrase("'{text}' cannot be a project", text=shown(text)), reason, Phrase("Give the absolute path of the project's folder.")
    )


def shown(text: str) -> str:
    """Returns a path as an error may show it."""
    seen = "".join("?" if unicodedata.category(sign) in (*_UNSEEN, "Cf") else sign for sign in text[: MAX_SHOWN_LENGTH + 1])
    return seen if len(seen) <= MAX_SHOWN_LENGTH else seen[: MAX_SHOWN_LENGTH - 1] + "…"


def is_inside(path: str, folder: str) -> bool:
    """Reports whether a real path is a folder, or lies in it."""
    path, folder = os.path.normcase(path), os.path.normcase(folder)  # on Windows `c:\users` is `C:\Users`
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def is_hidden_at_home(path: str, home: str) -> bool:
    """Reports whether a real path is or lies in a hidden folder directly at home, where programs keep data and start AI clients."""
    home = os.path.realpath(home)
    return is_inside(path, home) and os.path.relpath(path, home).startswith(".") and path != home


def folder_of_uri(uri: str) -> str:
    """Returns the path in a `file://` URI; empty if the URI names no path of this machine."""
    found = _FILE_URI.fullmatch(uri)
    if found is None:
        return ""
    path = unquote(found[1], errors="surrogateescape")
    return path[1:].replace("/", "\\") if re.match(r"/[A-Za-z]:", path) and os.name == "nt" else path


def project_name(said: str, path: str) -> str:
    """Returns the name of a project: the given name, else the name of its folder; on one line.

    The name becomes a part of arguments, paths and URLs, so it never is an option of a command line, and leads to no other folder.
    """
    for text in (said, os.path.basename(path)):
        seen = "".join(sign for sign in text if unicodedata.category(sign)[0] != "C" or sign in "\t\n").split()
        name = " ".join(seen).translate(_IN_PATHS)[:MAX_NAME_LENGTH].lstrip("- ").rstrip()
        if name and name not in _NAMES_OF_FOLDERS:
            return name
    return "project"
