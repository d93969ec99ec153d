"""Finds the hub's socket on Linux and macOS, from HOME only. The rules are at the top of tooltray's home.py. This module applies them to
bytes and without `os`, whose import costs more than everything else here; only rare cases (an untidy path, a missing HOME, a long path)
import more."""

import posix
import sys

ENVIRON = posix.environ
SOCKET_PATH_BYTES = 100  # a socket's address holds 104 bytes on macOS and 108 on Linux


def to_bytes(text: str) -> bytes:
    """Returns an argument, or a name from the user database, as its original bytes."""
    return text.encode(sys.getfilesystemencoding(), "surrogateescape")


def user_folder(environ: dict[bytes, bytes]) -> bytes:
    """Returns the folder of the user who runs this.

    Raises:
        KeyError: HOME is missing or relative, and the user database does not know the user either.
    """
    folder = environ.get(b"HOME", b"")
    if folder[:1] == b"/":
        return folder
    from pwd import getpwuid

    return to_bytes(getpwuid(posix.getuid()).pw_dir)


def find_home(argument: str | None, environ: dict[bytes, bytes]) -> bytes:
    """Returns the folder that holds everything of Tooltray, absolute.

    Args:
        argument: the value of `--home`.

    Raises:
        KeyError: the user's folder is not known.
    """
    chosen = to_bytes(argument or "") or environ.get(b"TOOLTRAY_HOME") or b"~/.tooltray"
    if chosen == b"~" or chosen[:2] == b"~/":
        chosen = user_folder(environ) + chosen[1:]
    slashed = chosen + b"/"
    if chosen[:1] != b"/" or b"//" in slashed or b"/./" in slashed or b"/../" in slashed:
        from posixpath import abspath

        chosen = abspath(chosen)
    return chosen


def own_home(environ: dict[bytes, bytes]) -> bytes:
    """Returns the user's default home.

    Raises:
        KeyError: the user's folder is not known.
    """
    return find_home(None, {name: value for name, value in environ.items() if name != b"TOOLTRAY_HOME"})


def socket_path(home: bytes) -> bytes:
    """Returns where the hub of this home listens."""
    path = home + b"run/hub.sock" if home[-1:] == b"/" else home + b"/run/hub.sock"
    if len(path) <= SOCKET_PATH_BYTES and not _is_there(path[: -len(b"hub.sock")] + b"socket-folder"):
        return path
    from tooltray_bridge.long_home import find_socket

    return find_socket(home)


def _is_there(path: bytes) -> bool:
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True


def is_private(folder: bytes) -> bool:
    """Reports whether only this user (and root) can create files in a folder, or replace the folder.

    Raises:
        OSError: it cannot be read, usually because it does not exist.
    """
    status, link, me = posix.stat(folder), posix.lstat(folder), posix.getuid()
    return status.st_uid == me and link.st_uid in (0, me) and not status.st_mode & 0o022
