"""Who the person is to Windows: their folder, where the hub's sockets go, and what makes a folder private.

Above it: home.py and login_shell.py, which use this or user_posix.py (the same functions). Standard library only.
"""

import hashlib
import os
from pathlib import Path


def home_folder() -> str:
    """The folder of the signed-in user; USERPROFILE is always set for a signed-in one.

    Raises:
        KeyError: there is no USERPROFILE (a bare service account).
    """
    return os.environ["USERPROFILE"]


def login_shell() -> str:
    """There is none: a session's variables are in every process's environment already."""
    return ""


def socket_path(root: Path) -> Path:
    """The name of the pipe. It holds a hash of the home, so that users and homes do not meet."""
    return Path("\\\\.\\pipe\\tooltray-" + hashlib.sha256(os.fsencode(root)).hexdigest()[:16])


def control_path(root: Path) -> Path:
    """A pipe of its own beside it."""
    return Path(f"{socket_path(root)}-control")


def make_socket_folder(root: Path) -> None:
    """A pipe needs none."""


def tell_old_versions(root: Path) -> None:
    """They look for the same pipe."""


def remove_sockets(root: Path) -> None:
    """A pipe goes with the process that made it."""


def reason_not_private(folder: Path) -> str:
    """Why this cannot be a private folder; empty if it can.

    Modes say nothing here: a folder below the user's own inherits an access list that shuts others out.
    """
    return "" if folder.is_dir() else "it is not a folder"
