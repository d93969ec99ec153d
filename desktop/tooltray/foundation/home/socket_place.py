"""Finds a place for the sockets of a home that cannot hold them itself. Linux and macOS; standard library only.

A socket's address has room for some 100 bytes, and some disks take no sockets at all (FAT, SMB shares, folders shared with a virtual
machine); in that case `run/socket-folder` names the folder for a bridge. The bridge finds the same place by its own copy of these rules
(tooltray_bridge/long_home.py); a contract test checks that both agree. Of these folders the first counts that exists and belongs only to
this user:

1. the one that `run/socket-folder` in the home names: made by a hub under an unpredictable name, so that no other user can take it first
2. `tooltray-<hash>` in `/run/user/<uid>`, into which no other user can write; `<hash>` is the hash of the home's path
3. `/tmp/tooltray-<uid>-<hash>`, where a hub of version 0.1 listens

For a long path a hub makes the second if `/run/user/<uid>` exists, else the first; for a disk without sockets the first. It leaves a link
to its socket in the third, where bridges of version 0.1 look; if another user has taken that name, they do not find the socket. The control
socket is in the same folder.
"""

import errno
import fcntl
import hashlib
import os
import socket
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

RUNTIME_FOLDERS = "/run/user"
SHARED_FOLDER = "/tmp"
RECORD = "run/socket-folder"
NAME, CONTROL_NAME = "hub.sock", "control.sock"  # for bridges, for commands
MAX_RECORD_BYTES = 4096  # a path has no more
NO_SOCKETS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)  # of mknod(2), which binding is to a file system
_HASH_CHARACTERS = 16


def find_socket(root: Path) -> Path:
    """Returns where a hub listens or will listen. Without any folder this is a path that no other user can make."""
    for folder in (_recorded(root), _of_session(root), _of_old_versions(root)):
        if folder and _is_ours(folder):
            return folder / NAME
    return _of_session(root) / NAME


def is_recorded(root: Path) -> bool:
    """Returns whether the home has a record of its sockets' folder, whatever its content."""
    return os.path.lexists(root / RECORD)


def takes_sockets(folder: Path) -> bool:
    """Returns whether the disk of this folder can hold a socket, by making one, since no file system reports it."""
    path = folder / f".{os.getpid()}"  # not longer than the names of the real ones
    try:
        with socket.socket(socket.AF_UNIX) as tried:
            tried.bind(os.fspath(path))
        path.unlink()
    except OSError as error:
        return error.errno not in NO_SOCKETS
    return True


def make_folder(root: Path, *, is_recorded: bool) -> None:
    """Makes the socket's folder if it does not exist; two hubs that do so at once make one. The home's own folders exist.

    Args:
        is_recorded: whether the home has to name the folder, because the home's path does not determine it.

    Raises:
        OSError: it cannot be made.
    """
    lock = os.open(root / "run", os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        recorded = _recorded(root)
        if recorded and _is_ours(recorded):
            return
        if not is_recorded and _is_ours(Path(RUNTIME_FOLDERS, str(os.getuid()))):
            _of_session(root).mkdir(mode=0o700, exist_ok=True)
        if is_recorded or not _is_ours(_of_session(root)):
            _record(root, tempfile.mkdtemp(prefix="tooltray-", dir=SHARED_FOLDER))
    finally:
        os.close(lock)


def tell_old_versions(root: Path) -> None:
    """Leaves a link to the socket where older bridges look for it. Only for the holder of the home's lock."""
    folder = _of_old_versions(root)
    with suppress(OSError):  # the name is taken, or a folder of another user
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_ours(folder):
            with suppress(FileNotFoundError):
                os.unlink(folder / NAME)
            os.symlink(find_socket(root), folder / NAME)


def remove_folder(root: Path) -> None:
    """Removes both sockets, their folder, and the record and links that lead to it. Only for the holder of the home's lock."""
    listening = find_socket(root)
    for path in (listening, listening.with_name(CONTROL_NAME), _of_old_versions(root) / NAME, root / RECORD):
        with suppress(OSError):
            path.unlink()
    for folder in (listening.parent, _of_old_versions(root)):
        with suppress(OSError):
            folder.rmdir()


def _recorded(root: Path) -> Path | None:
    try:
        record = os.open(root / RECORD, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(record)
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
        folder = os.read(record, MAX_RECORD_BYTES) if is_ours else b""
    finally:
        os.close(record)
    return Path(os.fsdecode(folder)) if folder.startswith(b"/") and b"\0" not in folder else None


def _record(root: Path, folder: str) -> None:
    """Writes the record atomically."""
    descriptor, temporary = tempfile.mkstemp(dir=root / "run", prefix=".socket-folder.")
    with open(descriptor, "wb") as file:
        file.write(os.fsencode(folder))
    os.replace(temporary, root / RECORD)


def _of_session(root: Path) -> Path:
    return Path(RUNTIME_FOLDERS, str(os.getuid()), f"tooltray-{_hash_of(root)}")


def _of_old_versions(root: Path) -> Path:
    return Path(SHARED_FOLDER, f"tooltray-{os.getuid()}-{_hash_of(root)}")


def _hash_of(root: Path) -> str:
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:_HASH_CHARACTERS]


def _is_ours(folder: Path) -> bool:
    """Returns whether this is a folder, and not a link, into which no other user can write."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
