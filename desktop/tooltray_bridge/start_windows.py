"""Starts a hub on Windows: its environment, the choice between desktop and `serve`, the lock, and a detached child."""

import _winapi
import ctypes
import msvcrt
import os
import subprocess
import sys
from typing import IO

assert sys.platform == "win32"

BREAKAWAY = 0x01000000  # CREATE_BREAKAWAY_FROM_JOB: an AI client's job would end the hub with the client
FLAGS = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
SESSION_VARIABLES = ("SESSIONNAME", "LOGONSERVER", "USERDOMAIN", "USERDOMAIN_ROAMINGPROFILE")  # set at the sign-in, not in the registry

quoted = subprocess.list2cmdline


def how_to_make_private(folder: str) -> str:
    """Returns the command that makes a folder private."""
    return f'icacls "{folder}" /inheritance:r /grant:r "%USERNAME%:(OI)(CI)F"'


def is_private(folder: str) -> bool:
    """Reports whether a hub may use this folder. A folder below the user's own inherits an access list that excludes other users; the hub
    itself checks the list before it uses a home."""
    return not os.path.exists(folder) or os.path.isdir(folder)


def fresh_environment(user_folder: str) -> dict[str, str]:
    """Returns the environment of a new program of this user, by the registry: without the AI client's own variables.

    Args:
        user_folder: the user's own.
    """
    environment = _environment_of_user() or dict(os.environ)
    environment |= {name: os.environ[name] for name in SESSION_VARIABLES if name in os.environ}
    return environment | {"USERPROFILE": user_folder}


def _environment_of_user() -> dict[str, str]:
    """Returns the environment that the shell makes for a program started by a click; empty if Windows makes no environment."""
    userenv, advapi, kernel = ctypes.WinDLL("userenv"), ctypes.WinDLL("advapi32"), ctypes.WinDLL("kernel32")
    token, block = ctypes.c_void_p(), ctypes.c_void_p()
    query, duplicate = 0x0008, 0x0002  # TOKEN_QUERY, TOKEN_DUPLICATE
    if not advapi.OpenProcessToken(ctypes.c_void_p(-1), query | duplicate, ctypes.byref(token)):
        return {}
    try:
        if not userenv.CreateEnvironmentBlock(ctypes.byref(block), token, False):
            return {}
        try:
            return dict(_pairs_at(block.value or 0))
        finally:
            userenv.DestroyEnvironmentBlock(block)
    finally:
        kernel.CloseHandle(token)


def _pairs_at(address: int) -> list[tuple[str, str]]:
    pairs = []
    while entry := ctypes.wstring_at(address):
        address += (len(entry.encode("utf-16-le")) // 2 + 1) * ctypes.sizeof(ctypes.c_wchar)
        name, _, value = entry[1:].partition("=")
        pairs.append((entry[0] + name, value))
    return [(name, value) for name, value in pairs if not name.startswith("=")]  # `=C:` is a drive's current folder


def desktop_variables(noted: object) -> dict[str, str] | None:
    """Returns the further variables of a desktop app: an empty dictionary; None if the last hub of this home was not a desktop app.

    Args:
        noted: the content of `run/desktop.json`, if it could be read.
    """
    return {} if isinstance(noted, dict) else None


def try_lock(path: str) -> int | None:
    """Takes the lock on a file; None: another process has it.

    Raises:
        OSError: the file cannot be opened.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOINHERIT, 0o600)
    try:
        msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
    except OSError:
        os.close(lock)
        return None
    return lock


def spawn(command: list[str], *, folder: str, environment: dict[str, str], is_heard: bool) -> "subprocess.Popen[bytes]":
    """Starts a hub outside of the jobs of the process that has started this bridge, and without a window.

    Args:
        is_heard: whether its stderr is read.

    Raises:
        OSError: it cannot be started.
    """

    def start(flags: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if is_heard else subprocess.DEVNULL,
            creationflags=flags,
        )

    try:
        return start(FLAGS | BREAKAWAY)
    except PermissionError:  # the job lets no process leave
        return start(FLAGS)


def read_available(stream: IO[bytes]) -> bytes:
    """Returns what a child has written meanwhile; does not wait for more."""
    try:
        available: int = _winapi.PeekNamedPipe(msvcrt.get_osfhandle(stream.fileno()), 0)[-2]
    except OSError:  # it has ended
        return b""
    return os.read(stream.fileno(), available) if available else b""


def let_go(child: "subprocess.Popen[bytes] | None") -> None:
    """Detaches a child, which keeps running; this process does not wait for its end."""
    if child is not None:
        child.returncode = 0  # or Popen would complain that its end was not awaited
