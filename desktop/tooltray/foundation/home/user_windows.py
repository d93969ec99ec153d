"""Who the person is to Windows: their folder, where the hub's pipes are, and what makes a folder private.

Above it: home.py and login_shell.py, which use this or user_posix.py (the same functions). Below it: win32/security.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.platform.win32 import environment, security

assert sys.platform == "win32"

FOLDER_VARIABLE = "USERPROFILE"  # HOME is not asked: Git's and other shells set it to places of their own
HOW_TO_MAKE_PRIVATE = 'icacls "{folder}" /inheritance:r /grant:r "%USERNAME%:(OI)(CI)F"'
HOW_TO_MAKE_WRITABLE = 'icacls "{folder}" /grant "%USERNAME%:(OI)(CI)F"'
_PIPES = "\\\\.\\pipe\\"
_HASH_CHARACTERS = 16

reason_not_private = security.reason_not_private


def home_folder() -> str:
    """The folder of a user without USERPROFILE.

    Raises:
        KeyError: always; it is set for everybody who is signed in.
    """
    raise KeyError(FOLDER_VARIABLE)


def login_shell() -> str:
    """There is none: a session's variables are in every process's environment already."""
    return ""


def without_login_shell(own: Mapping[str, str]) -> Mapping[str, str]:
    """The person's environment: this process's own, with the registry's newest values.

    Args:
        own: this process's environment.
    """
    with suppress(OSError):
        fresh = {name.upper(): value for name, value in environment.of_user().items()}
        return {**own, **fresh, FOLDER_VARIABLE: own.get(FOLDER_VARIABLE) or fresh.get(FOLDER_VARIABLE, "")}
    return own


def socket_path(root: Path) -> Path:
    """The name of the pipe: a hash of the home's path, so that users and homes do not meet; the same for two spellings of one path."""
    folded = os.path.normcase(root).rstrip("\\").encode("utf-8", "surrogatepass")
    return Path(f"{_PIPES}tooltray-{hashlib.sha256(folded).hexdigest()[:_HASH_CHARACTERS]}")


def control_path(root: Path) -> Path:
    """A pipe of its own beside it."""
    return Path(f"{socket_path(root)}-control")


def make_socket_folder(root: Path) -> None:
    """A pipe needs none."""


def tell_old_versions(root: Path) -> None:
    """There are none."""


def remove_sockets(root: Path) -> None:
    """A pipe goes with the process that made it."""
