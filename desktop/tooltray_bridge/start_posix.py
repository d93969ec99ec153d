"""Starts a hub on Linux and macOS: its environment, the display of a desktop, the lock, and detached children."""

import fcntl
import os
import pwd
import shlex
import signal
import socket
import subprocess
import time
from typing import IO

from tooltray_bridge import paths_posix as paths

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
X11_SOCKETS = "/tmp/.X11-unix"
RUNTIME_FOLDERS = "/run/user"
DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY")
LOOK_EVERY_S = 0.02  # no call on both systems waits for the end of a child and of the parent; a start takes half a second
FILES_BELOW = 1 << 16  # numbers of files that a bridge may have open: ten, and what its client has left open for it

quoted = shlex.join


def how_to_make_private(folder: str) -> str:
    """Returns the command that makes a folder private."""
    return f"chmod 700 {shlex.quote(folder)}"


def is_private(folder: str) -> bool:
    """Reports whether only this user can create files in a folder; True for a folder that does not exist yet."""
    try:
        return paths.is_private(os.fsencode(folder))
    except FileNotFoundError:
        return True
    except OSError:
        return False


def fresh_environment(user_folder: str) -> dict[str, str]:
    """Returns the environment of a new hub: the user's names and shell, and the places of the user's session sockets.

    Args:
        user_folder: the user's own.
    """
    environment = {"HOME": user_folder, "PATH": DEFAULT_PATH, "LANG": os.environ.get("LANG") or "C.UTF-8"}
    try:
        user = pwd.getpwuid(os.getuid())
        environment |= {"USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": user.pw_shell or "/bin/sh"}
    except KeyError:  # a container that runs under a user id without an account
        pass
    runtime = _runtime_folder()
    if runtime:
        environment["XDG_RUNTIME_DIR"] = runtime
        if os.path.exists(bus := os.path.join(runtime, "bus")):
            environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={bus}"
    return environment


def _runtime_folder() -> str:
    folder = f"{RUNTIME_FOLDERS}/{os.getuid()}"
    return folder if os.path.isdir(folder) and is_private(folder) else ""


def desktop_variables(noted: object) -> dict[str, str] | None:
    """Returns further variables with which a desktop app appears on the last one's display; None: that display is not available.

    Args:
        noted: the content of `run/desktop.json`, if it could be read.
    """
    if not isinstance(noted, dict):
        return None
    variables = {name: noted[name] for name in DISPLAY_VARIABLES if isinstance(noted.get(name), str)}
    host, _, number = variables.get("DISPLAY", "").partition(":")
    number = number.partition(".")[0]
    if host not in ("", "unix") or not number.isdigit() or not _is_listening(f"{X11_SOCKETS}/X{number}"):
        variables.pop("DISPLAY", None)
    if not _is_listening(os.path.join(_runtime_folder(), variables.get("WAYLAND_DISPLAY", ""))):
        variables.pop("WAYLAND_DISPLAY", None)
    return variables if "DISPLAY" in variables or "WAYLAND_DISPLAY" in variables else None


def _is_listening(path: str) -> bool:
    if not os.path.isabs(path):
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.setblocking(False)
            probe.connect(path)
        except OSError:
            return False
        return True


def try_lock(path: str) -> int | None:
    """Takes the lock on a file; None: another process has it.

    Raises:
        OSError: the file cannot be opened.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return lock


def spawn(command: list[str], *, folder: str, environment: dict[str, str], is_heard: bool) -> "subprocess.Popen[bytes]":
    """Starts a hub in a session of its own, by a process between it and the bridge. Returns that process, which ends as the hub does.

    Some AI clients end all their descendants when they exit. Once `let_go` has ended the process between, the hub is none.

    Args:
        is_heard: whether its stderr is read.

    Raises:
        OSError: it cannot be started.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if is_heard else subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_stand_between,
    )
    if child.stderr:
        os.set_blocking(child.stderr.fileno(), False)
    return child


def _stand_between() -> None:
    """Forks: the new process returns and becomes the hub; this one waits for its end, at most for as long as the bridge lives."""
    bridge = os.getppid()
    hub = os.fork()
    if hub == 0:  # pragma: no cover - what becomes another program is not measured
        os.setsid()
        return
    os.closerange(0, FILES_BELOW)  # among them the start's lock, and the one whose end tells the bridge that the start has begun
    ended = status = 0
    while not ended and os.getppid() == bridge:
        time.sleep(LOOK_EVERY_S)
        ended, status = os.waitpid(hub, os.WNOHANG)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:  # pragma: no cover - nor is what ends by a signal
        os.kill(os.getpid(), -code)
    os._exit(code)


def read_available(stream: IO[bytes]) -> bytes:
    """Returns what a child has written meanwhile; does not wait for more."""
    return stream.read() or b""


def let_go(child: "subprocess.Popen[bytes] | None") -> None:
    """Ends the process between this one and a hub, which keeps running."""
    if child is not None:
        child.kill()
        child.wait()
