"""The user's identity on Linux and macOS: their folder and shell, the hub's sockets, and whether a folder is private.

Standard library only. user_windows.py has the same functions.
"""

import os
import pwd
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.home import socket_place

FOLDER_VARIABLE = "HOME"
HOW_TO_MAKE_PRIVATE = "chmod 700 '{folder}'"
HOW_TO_MAKE_WRITABLE = "chmod u+w '{folder}'"
SOCKET_PATH_BYTES = 100  # sun_path holds 104 bytes on macOS and 108 on Linux, the final zero included


def home_folder() -> str:
    """Returns the home folder from the user database, for a process that was started without HOME.

    Raises:
        KeyError: this user is in no user database (a container that runs under a bare user id).
    """
    return pwd.getpwuid(os.getuid()).pw_dir


def login_shell() -> str:
    """Returns the shell from the user database; an empty field there means `/bin/sh`.

    Raises:
        KeyError: this user is in no user database.
    """
    return pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"


def without_login_shell(own: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the user's environment if no login shell can report it: this process's own.

    Args:
        own: this process's environment.
    """
    return own


def socket_path(root: Path) -> Path:
    """Returns `run/hub.sock` in the home, or the path that socket_place finds if that cannot be used."""
    return socket_place.find_socket(root) if _is_outside(root) else root / "run" / socket_place.NAME


def control_path(root: Path) -> Path:
    """Returns `control.sock` beside the hub's socket: 3 bytes longer, for which both systems have room."""
    return socket_path(root).with_name(socket_place.CONTROL_NAME)


def make_socket_folder(root: Path) -> None:
    """Makes the sockets' folder if that is outside the home. The home's own folders exist.

    Raises:
        OSError: it cannot be made.
    """
    inside = root / "run" / socket_place.NAME
    if _is_too_long(inside):
        socket_place.make_folder(root, is_recorded=False)
    elif not inside.exists() and not socket_place.takes_sockets(inside.parent):
        socket_place.make_folder(root, is_recorded=True)


def tell_old_versions(root: Path) -> None:
    """Makes a socket outside the home findable for older bridges. Only for the holder of the home's lock."""
    if _is_outside(root):
        socket_place.tell_old_versions(root)


def remove_sockets(root: Path) -> None:
    """Removes both sockets, and their folder if that is outside the home. Only for the holder of the home's lock."""
    if _is_outside(root):
        socket_place.remove_folder(root)
        return
    for path in (socket_path(root), control_path(root)):
        with suppress(OSError):
            path.unlink()


def _is_outside(root: Path) -> bool:
    return _is_too_long(root / "run" / socket_place.NAME) or socket_place.is_recorded(root)


def _is_too_long(path: Path) -> bool:
    return len(os.fsencode(path)) > SOCKET_PATH_BYTES


def reason_not_private(folder: Path) -> str:
    """Returns why others could plant files in this folder; empty if they cannot.

    A symbolic link to it must be ours (or root's) too: the owner of the link decides where it leads.

    Raises:
        OSError: the folder cannot be examined.
    """
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if status.st_uid != os.getuid() or folder.lstat().st_uid not in (0, os.getuid()):
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users may write into it"
    return ""
