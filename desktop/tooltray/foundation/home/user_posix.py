"""The user's identity on Linux and macOS: their folder and shell, the hub's sockets, and whether a folder is private.

Standard library only. user_windows has the same functions.

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
import os
import pwd
import socket
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

RUNTIME_FOLDERS = "/run/user"
SHARED_FOLDER = "/tmp"
RECORD = "run/socket-folder"
SOCKET_NAME, CONTROL_NAME = "hub.sock", "control.sock"  # for bridges, for commands
MAX_RECORD_BYTES = 4096  # a path has no more
NO_SOCKETS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)  # of mknod(2), which binding is to a file system
_HASH_CHARACTERS = 16
FOLDER_VARIABLE = "HOME"
HOW_TO_MAKE_PRIVATE = "chmod 700 '{folder}'"
HOW_TO_MAKE_WRITABLE = "chmod u+w '{folder}'"
SOCKET_PATH_BYTES = 100  # sun_path holds 104 bytes on macOS and 108 on Linux, the final zero included


def find_socket(root: Path) -> Path:
    """Returns where a hub listens or will listen. Without any folder this is a path that no other user can make."""
    for folder in (_recorded(root), _of_session(root), _of_old_versions(root)):
        if folder and _is_ours(folder):
            return folder / SOCKET_NAME
    return _of_session(root) / SOCKET_NAME


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


def make_outside_folder(root: Path, *, is_recorded: bool) -> None:
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
            from tempfile import mkdtemp

            _record(root, mkdtemp(prefix="tooltray-", dir=SHARED_FOLDER))
    finally:
        os.close(lock)


def link_old_place(root: Path) -> None:
    """Leaves a link to the socket where older bridges look for it. Only for the holder of the home's lock."""
    folder = _of_old_versions(root)
    with suppress(OSError):  # the name is taken, or a folder of another user
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_ours(folder):
            with suppress(FileNotFoundError):
                os.unlink(folder / SOCKET_NAME)
            os.symlink(find_socket(root), folder / SOCKET_NAME)


def remove_outside_folder(root: Path) -> None:
    """Removes both sockets, their folder, and the record and links that lead to it. Only for the holder of the home's lock."""
    listening = find_socket(root)
    for path in (listening, listening.with_name(CONTROL_NAME), _of_old_versions(root) / SOCKET_NAME, root / RECORD):
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
    from tempfile import mkstemp

    descriptor, temporary = mkstemp(dir=root / "run", prefix=".socket-folder.")
    with open(descriptor, "wb") as file:
        file.write(os.fsencode(folder))
    os.replace(temporary, root / RECORD)


def _of_session(root: Path) -> Path:
    return Path(RUNTIME_FOLDERS, str(os.getuid()), f"tooltray-{_hash_of(root)}")


def _of_old_versions(root: Path) -> Path:
    return Path(SHARED_FOLDER, f"tooltray-{os.getuid()}-{_hash_of(root)}")


def _hash_of(root: Path) -> str:
    import hashlib  # loads OpenSSL, which a command can do without

    return hashlib.sha256(os.fsencode(root)).hexdigest()[:_HASH_CHARACTERS]


def _is_ours(folder: Path) -> bool:
    """Returns whether this is a folder, and not a link, into which no other user can write."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


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
    """Returns `run/hub.sock` in the home, or the one that `find_socket` finds if that cannot be used."""
    return find_socket(root) if _is_outside(root) else root / "run" / SOCKET_NAME


def control_path(root: Path) -> Path:
    """Returns `control.sock` beside the hub's socket: 3 bytes longer, for which both systems have room."""
    return socket_path(root).with_name(CONTROL_NAME)


def make_socket_folder(root: Path) -> None:
    """Makes the sockets' folder if that is outside the home. The home's own folders exist.

    Raises:
        OSError: it cannot be made.
    """
    inside = root / "run" / SOCKET_NAME
    if _is_too_long(inside):
        make_outside_folder(root, is_recorded=False)
    elif not inside.exists() and not takes_sockets(inside.parent):
        make_outside_folder(root, is_recorded=True)


def link_for_old_versions(root: Path) -> None:
    """Makes a socket outside the home findable for older bridges. Only for the holder of the home's lock."""
    if _is_outside(root):
        link_old_place(root)


def remove_sockets(root: Path) -> None:
    """Removes both sockets, and their folder if that is outside the home. Only for the holder of the home's lock."""
    if _is_outside(root):
        remove_outside_folder(root)
        return
    for path in (socket_path(root), control_path(root)):
        with suppress(OSError):
            path.unlink()


def _is_outside(root: Path) -> bool:
    return _is_too_long(root / "run" / SOCKET_NAME) or is_recorded(root)


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
