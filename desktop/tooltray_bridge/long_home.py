"""Finds the hub's socket if the home cannot contain it: the home's path is too long, or its disk takes no sockets. The rules are at the top
of tooltray/foundation/home/user_posix.py; a hub makes the folders, a bridge only looks for them."""

import os
import stat
from hashlib import sha256

RUNTIME_FOLDERS = "/run/user"
SHARED_FOLDER = "/tmp"
RECORD = b"/run/socket-folder"
MAX_RECORD_BYTES = 4096


def find_socket(home: bytes) -> bytes:
    """Returns the path at which the hub of this home listens, if it runs."""
    user, digest = os.getuid(), sha256(home).hexdigest()[:16]
    of_session = os.fsencode(f"{RUNTIME_FOLDERS}/{user}/tooltray-{digest}")
    of_old_versions = os.fsencode(f"{SHARED_FOLDER}/tooltray-{user}-{digest}")
    for folder in (_recorded(home), of_session, of_old_versions):
        if folder and _is_ours(folder):
            return folder + b"/hub.sock"
    return of_session + b"/hub.sock"


def _recorded(home: bytes) -> bytes:
    try:
        record = os.open(home.rstrip(b"/") + RECORD, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        status = os.fstat(record)
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
        folder = os.read(record, MAX_RECORD_BYTES) if is_ours else b""
    finally:
        os.close(record)
    return folder.rstrip(b"/") if folder[:1] == b"/" and b"\0" not in folder else b""


def _is_ours(folder: bytes) -> bool:
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
