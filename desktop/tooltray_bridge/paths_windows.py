"""Finds the hub's pipe on Windows, from USERPROFILE only. The rules are at the top of tooltray's home.py. This module does without `os` and
`hashlib`, whose imports cost more than everything else here."""

import nt
import sys

assert sys.platform == "win32"

try:
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:  # Python 3.11
    from _sha256 import sha256  # type: ignore[import-not-found]

ENVIRON: dict[str, str] = nt.environ
PIPES = "\\\\.\\pipe\\"
LCMAP_INVARIANT_LOWER = 0x100  # as os.path.normcase lowers letters: LCMAP_LOWERCASE in the invariant locale


def user_folder(environ: dict[str, str]) -> str:
    """Returns the folder of the user who runs this. HOME is not used: Git's and other shells set it to places of their own.

    Raises:
        KeyError: USERPROFILE is missing or relative.
    """
    folder = environ.get("USERPROFILE", "")
    if not is_absolute(folder):
        raise KeyError("USERPROFILE")
    return folder


def is_absolute(path: str) -> bool:
    """Reports whether a path begins with a drive and its root, or with a server."""
    return path[1:3] in (":\\", ":/") or path[:2] in ("\\\\", "//")


def find_home(argument: str | None, environ: dict[str, str]) -> str:
    """Returns the folder that holds everything of Tooltray, absolute.

    Args:
        argument: the value of `--home`.

    Raises:
        KeyError: the user's folder is not known.
    """
    chosen = argument or environ.get("TOOLTRAY_HOME") or "~\\.tooltray"
    if chosen == "~" or chosen[:2] in ("~/", "~\\"):
        chosen = user_folder(environ) + chosen[1:]
    full: str = nt._getfullpathname(chosen)  # type: ignore[attr-defined]  # as os.path.abspath does
    return full


def own_home(environ: dict[str, str]) -> str:
    """Returns the user's default home.

    Raises:
        KeyError: the user's folder is not known.
    """
    return find_home(None, {name: value for name, value in environ.items() if name != "TOOLTRAY_HOME"})


def socket_path(home: str) -> str:
    """Returns the name of the pipe at which the hub of this home listens: the same for two spellings of one folder's path."""
    import _winapi

    folded = _winapi.LCMapStringEx("", LCMAP_INVARIANT_LOWER, home.replace("/", "\\").rstrip("\\"))
    return f"{PIPES}tooltray-{sha256(folded.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def to_bytes(text: str) -> bytes:
    """Returns an argument as UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def is_private(folder: str) -> bool:
    """Reports whether only this user can create files in a home: it inherits an access list that excludes other users."""
    return True
