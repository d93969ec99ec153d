"""Starts a hub, where that is allowed, and one for however many bridges want it.

Above it: cold, which looks for the hub before each `step`. Below it: paths. It has all the time in the world compared with hot: a hub
needs a good part of a second to be there.

The hub gets nothing of the AI client that happened to start it: not its variables with their API keys, not its folder, session or
pipes. It reads the person's login shell itself.
"""

import fcntl
import json
import os
import pwd
import shlex
import signal
import socket
import subprocess
import sys
from time import monotonic
from typing import ClassVar

from tooltray_bridge import paths

START_WITHIN_S = 30.0  # the first start of a Qt program on a slow disk takes several
AGAIN_AFTER_S = 0.5  # when a hub left because of another one, which is not there yet or was just ending
OTHER_HUB_CODES = (0, 3)  # a desktop has raised another's window; another hub holds the lock
LAST_WORDS_BYTES = 1 << 16
MESSAGE_CHARACTERS = 300  # of a hub's last line: a sentence, not a page
START_LOCK, DESKTOP_JSON, HOMES_JSON = "run/start.lock", "run/desktop.json", "homes.json"  # in a home; as in tooltray/home/home.py
SERVE = ["serve", "--started-by-bridge"]
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
X11_SOCKETS = "/tmp/.X11-unix"
RUNTIME_FOLDERS = "/run/user"
DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY")


def why_not(home: str, user_home: str) -> str:
    """Why a bridge starts no hub in this home; empty if it may.

    Args:
        home: where the hub would live.
        user_home: the home that a person has without asking for another one; it lists the others in which a hub may be started.
    """
    if not _is_same(home, user_home):
        listed = _listed_homes(user_home)
        if not any(_is_same(home, each) for each in listed):
            return (
                f"No Tooltray hub is running in {home}, and a bridge starts one only in {user_home} and in the homes listed in "
                f"{user_home}/{HOMES_JSON}. Start it yourself: tooltray serve --home {shlex.quote(home)}"
            )
    for folder in (home, os.path.join(home, "run")):
        if not _is_private(folder):
            return f"Other users can write to {folder}, so no hub is started there. Make it yours alone: chmod 700 {shlex.quote(folder)}"
    return ""


def _is_same(folder: str, other: str) -> bool:
    try:
        return os.path.normpath(folder) == os.path.normpath(other) or os.path.samefile(folder, other)
    except OSError:
        return False


def _is_private(folder: str) -> bool:
    try:
        return paths.is_private(os.fsencode(folder))
    except FileNotFoundError:  # it will be made
        return True
    except OSError:
        return False


def _listed_homes(user_home: str) -> list[str]:
    if not _is_private(user_home):
        return []
    listed = _read_json(os.path.join(user_home, HOMES_JSON))
    return [each for each in listed if isinstance(each, str) and os.path.isabs(each)] if isinstance(listed, list) else []


def _read_json(path: str) -> object:
    try:
        with open(path, "rb") as file:
            return json.loads(file.read())
    except (OSError, ValueError):
        return None


def fresh_environment(home: str, user_home: str) -> dict[str, str]:
    """What a hub is started with: who the user is, and where their session's sockets are."""
    environment = {"HOME": os.path.dirname(user_home), "PATH": DEFAULT_PATH, "LANG": os.environ.get("LANG") or "C.UTF-8"}
    try:
        user = pwd.getpwuid(os.getuid())
        environment |= {"USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": user.pw_shell or "/bin/sh"}
    except KeyError:  # a container that was started with a bare number
        pass
    runtime = _runtime_folder()
    if runtime:
        environment["XDG_RUNTIME_DIR"] = runtime
        if os.path.exists(bus := os.path.join(runtime, "bus")):
            environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={bus}"
    if not _is_same(home, user_home):
        environment["TOOLTRAY_HOME"] = home
    return environment


def _runtime_folder() -> str:
    folder = f"{RUNTIME_FOLDERS}/{os.getuid()}"
    return folder if os.path.isdir(folder) and _is_private(folder) else ""


def display_variables(home: str) -> dict[str, str]:
    """The variables of the display that the desktop app has noted in `run/desktop.json`, if it is still there."""
    noted = _read_json(os.path.join(home, DESKTOP_JSON))
    if not isinstance(noted, dict):
        return {}
    variables = {name: noted[name] for name in DISPLAY_VARIABLES if isinstance(noted.get(name), str)}
    host, _, number = variables.get("DISPLAY", "").partition(":")
    number = number.partition(".")[0]
    if host not in ("", "unix") or not number.isdigit() or not _is_listening(f"{X11_SOCKETS}/X{number}"):
        variables.pop("DISPLAY", None)
    if not _is_listening(os.path.join(_runtime_folder(), variables.get("WAYLAND_DISPLAY", ""))):
        variables.pop("WAYLAND_DISPLAY", None)
    return variables if "DISPLAY" in variables or "WAYLAND_DISPLAY" in variables else {}


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


def program() -> list[str]:
    """The command `tooltray` that belongs to this bridge."""
    if getattr(sys, "frozen", False):
        return [os.path.join(os.path.dirname(sys.executable), "tooltray")]
    return [sys.executable, "-I", "-m", "tooltray"]


class HubStart:
    """One try to get a hub running.

    A bridge that finds the lock taken leaves the start to the one who has it. A command that fails is followed by the next: the desktop
    app, if its display is there, `serve`, and `serve` once more with somebody listening to what it says.
    """

    _left_behind: ClassVar[set[int]] = set()
    """Children of this process that earlier tries have let go of: a guardian may need seconds to end, and meet the next try."""

    def __init__(self, home: str, user_home: str) -> None:
        self._run = os.path.join(home, "run")
        self._home = home
        environment = fresh_environment(home, user_home)
        self._folder = environment["HOME"] if os.path.isdir(environment["HOME"]) else "/"
        serve = [*program(), *SERVE], environment
        display = display_variables(home)
        self._commands = [(program(), environment | display), serve, serve] if display else [serve, serve]
        self._give_up_at = monotonic() + START_WITHIN_S
        self._spawn_at = 0.0
        self._lock: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._last_words = b""

    def step(self) -> str:
        """Goes on; returns why no hub can be had, empty while there is hope."""
        if monotonic() >= self._give_up_at:
            return f"The Tooltray hub was not ready within {START_WITHIN_S:.0f} s. To see why, run in a terminal: {self._command_line()}"
        try:
            if self._lock is None:
                self._lock = self._take_lock()
            elif self._child is not None:
                return self._look_after(self._child)
            elif monotonic() >= self._spawn_at:
                self._child = self._spawn()
        except OSError as error:
            return f"The Tooltray hub could not be started: {error.filename or self._run}: {error.strerror}"
        return ""

    def close(self) -> None:
        """Lets go of what was started, which lives on: the bridge is not the one to wait for its end."""
        if self._child is not None:
            self._left_behind.add(self._child.pid)
            self._child.returncode = 0  # or Popen would complain that nobody waits for it
            self._forget_child()
        self._leave_no_zombies()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _leave_no_zombies(self) -> None:
        """From here on the system buries children that end. Those that ended while a start watched its own child are still to be buried."""
        if not self._left_behind:
            return
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for pid in list(self._left_behind):
            try:
                is_running = os.waitpid(pid, os.WNOHANG) == (0, 0)
            except ChildProcessError:
                is_running = False
            if not is_running:
                self._left_behind.discard(pid)

    def _take_lock(self) -> int | None:
        for folder in (self._home, self._run):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        lock = os.open(os.path.join(self._home, START_LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            if isinstance(error, BlockingIOError):  # another bridge is starting it
                return None
            raise
        return lock

    def _spawn(self) -> subprocess.Popen[bytes]:
        command, environment = self._commands[0]
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        is_heard = len(self._commands) == 1
        child = subprocess.Popen(
            command,
            cwd=self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if is_heard else subprocess.DEVNULL,
            start_new_session=True,
        )
        if child.stderr:
            os.set_blocking(child.stderr.fileno(), False)
        return child

    def _look_after(self, child: subprocess.Popen[bytes]) -> str:
        code = child.poll()
        if child.stderr:
            self._last_words = (self._last_words + (child.stderr.read() or b""))[-LAST_WORDS_BYTES:]
        if code is None:
            return ""
        self._forget_child()
        if code in OTHER_HUB_CODES:
            self._spawn_at = monotonic() + AGAIN_AFTER_S
            return ""
        if len(self._commands) > 1:
            del self._commands[0]
            return ""
        end = f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"
        lines = self._last_words.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        return f"The Tooltray hub could not be started: `{self._command_line()}` {end}: {last[:MESSAGE_CHARACTERS]}"

    def _forget_child(self) -> None:
        if self._child and self._child.stderr:
            self._child.stderr.close()
        self._child = None

    def _command_line(self) -> str:
        return shlex.join(self._commands[-1][0])
