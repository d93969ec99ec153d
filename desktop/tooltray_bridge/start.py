"""Starts a hub, if that is allowed (`why_not`), and only one for any number of bridges. Speed matters less here than in hot, because a hub
needs a good part of a second to be ready.

The hub inherits nothing from the AI client that happened to start it: no variables with API keys, no folder, session or pipes. It reads the
user's login shell itself.
"""

import json
import os
import stat
import subprocess
import sys
from contextlib import suppress
from time import monotonic

if sys.platform == "win32":
    from tooltray_bridge import start_windows as platform
else:
    from tooltray_bridge import start_posix as platform

START_WITHIN_S = 30.0  # the first start of a Qt program on a slow disk takes several
AGAIN_AFTER_S = 0.5  # when a hub exited because of another one, which is not ready yet or was just ending
OTHER_HUB_CODES = (0, 3)  # a desktop has raised another's window; another hub holds the lock
LAST_WORDS_BYTES = 1 << 16
MESSAGE_CHARACTERS = 300  # of a hub's last line: a sentence, not a page
START_LOCK, HOMES_JSON, DESKTOP_JSON, REMOVED = (
    "run/start.lock",
    "homes.json",
    "run/desktop.json",
    "removed",
)  # in a home; as in tooltray/foundation/home/home.py
SUPERSEDED = "superseded.txt"  # as in tooltray/foundation/installs/old_versions.py
CURRENT = "current"  # the link beside the versions' folders; as in tooltray/foundation/programs.py
HOW_TO_GO_ON = "Remove its entry from this AI client, or start Tooltray again"
SERVE = ["serve", "--started-by-bridge"]
BACKGROUND = "--background"  # the start of an AI client is not a reason to open a window


def why_not(home: str, user_home: str) -> str:
    """Returns why a bridge may not start a hub in this home; empty if it may.

    Args:
        home: the home of the hub.
        user_home: the user's default home; it lists the others in which a hub may be started.
    """
    if not _is_same(home, user_home):
        listed = _listed_homes(user_home)
        if not any(_is_same(home, each) for each in listed):
            how = platform.quoted(["tooltray", "serve", "--home", home])
            return (
                f"Tooltray is not running in {home}, and a bridge starts it only in {user_home} and in the homes listed in "
                f"{user_home}/{HOMES_JSON}. Start it yourself: {how}"
            )
    for folder in (home, os.path.join(home, "run")):
        if not platform.is_private(folder):
            how = platform.how_to_make_private(folder)
            return f"Other users can write to {folder}, so Tooltray is not started there. Make it private: {how}"
    return ""


def _is_same(folder: str, other: str) -> bool:
    try:
        return os.path.normpath(folder) == os.path.normpath(other) or os.path.samefile(folder, other)
    except OSError:
        return False


def _listed_homes(user_home: str) -> list[str]:
    if not platform.is_private(user_home):
        return []
    listed = _read_json(os.path.join(user_home, HOMES_JSON))
    return [each for each in listed if isinstance(each, str) and os.path.isabs(each)] if isinstance(listed, list) else []


def _read_json(path: str) -> object:
    """Returns the content of a JSON file; None if it cannot be read. Does not block on a pipe or a device of that name."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
            return json.loads(file.read()) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except (OSError, ValueError):
        return None


def program() -> list[str]:
    """Returns the command `tooltray` that belongs to this bridge, or to the version that has taken the place of its own."""
    if not getattr(sys, "frozen", False):
        return [sys.executable, "-I", "-m", "tooltray"]
    folder, bridge = os.path.split(sys.executable)
    versions, name = os.path.dirname(folder), "tooltray" + os.path.splitext(bridge)[1]
    current = os.path.join(versions, CURRENT)  # this bridge may belong to an older version, or to a removed one
    if os.path.islink(current):
        return [os.path.join(current, name)]
    try:
        with open(os.path.join(folder, SUPERSEDED)) as mark:
            newer = os.path.join(versions, os.path.basename(mark.read().strip()), name)
    except (OSError, ValueError):
        newer = ""
    return [newer if os.path.exists(newer) else os.path.join(folder, name)]


def removed(home: str) -> str:
    """Returns why no bridge may start a hub: the user has uninstalled Tooltray, and neither started nor installed it since; empty if not.

    Args:
        home: the home, in which an uninstall leaves a mark.
    """
    mark = os.path.join(home, REMOVED)
    own = sys.executable if getattr(sys, "frozen", False) else __file__
    try:
        if os.stat(mark).st_mtime < os.stat(own).st_ctime:
            return ""
    except OSError:
        return ""
    return f"Tooltray was removed: {mark} tells when. {HOW_TO_GO_ON}"


class HubStart:
    """One attempt to start a hub.

    A bridge that finds the lock taken leaves the start to the lock's holder. A command that fails is followed by the next: the desktop app,
    if its display is available, `serve`, and `serve` once more with its stderr read.
    """

    def __init__(self, home: str, user_home: str, *, is_restart: bool = False) -> None:
        """Prepares the commands.

        Args:
            is_restart: whether this home had a hub before. If such a home is missing, the user has removed Tooltray, and it stays removed.
        """
        self._run = os.path.join(home, "run")
        self._home, self._is_restart = home, is_restart
        user_folder = os.path.dirname(user_home)
        self._folder = user_folder if os.path.isdir(user_folder) else os.path.abspath(os.sep)
        environment = platform.fresh_environment(user_folder)
        if not _is_same(home, user_home):
            environment["TOOLTRAY_HOME"] = home
        serve = [*program(), *SERVE], environment
        shown = platform.desktop_variables(_read_json(os.path.join(home, DESKTOP_JSON)))
        self._commands = [serve, serve] if shown is None else [([*program(), BACKGROUND], environment | shown), serve, serve]
        self._give_up_at = monotonic() + START_WITHIN_S
        self._spawn_at = 0.0
        self._lock: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._last_words = b""

    def step(self) -> str:
        """Takes the next step; returns why no hub can be started, empty while the attempt continues."""
        if self._is_restart and not os.path.isdir(self._home):
            return f"Tooltray was removed: {self._home} is gone. {HOW_TO_GO_ON}"
        if reason := removed(self._home):
            return reason
        if not os.path.exists(self._commands[0][0][0]):
            return f"Tooltray was removed: {self._commands[0][0][0]} is gone. {HOW_TO_GO_ON}"
        if monotonic() >= self._give_up_at:
            return f"Tooltray was not ready within {START_WITHIN_S:.0f} s. To see why, run in a terminal: {self._command_line()}"
        try:
            if self._lock is None:
                self._lock = self._take_lock()
            elif self._child is not None:
                return self._look_after(self._child)
            elif monotonic() >= self._spawn_at:
                self._child = self._spawn()
        except OSError as error:
            return f"Tooltray could not be started: {error.filename or self._run}: {error.strerror}"
        return ""

    def close(self) -> None:
        """Detaches the started process, which keeps running; the bridge does not wait for its end."""
        platform.let_go(self._child)
        self._forget_child()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take_lock(self) -> int | None:
        if not self._is_restart:
            os.makedirs(self._home, mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(self._run, 0o700)
        return platform.try_lock(os.path.join(self._home, START_LOCK))

    def _spawn(self) -> subprocess.Popen[bytes]:
        command, environment = self._commands[0]
        is_heard = len(self._commands) == 1
        return platform.spawn(command, folder=self._folder, environment=environment, is_heard=is_heard)

    def _look_after(self, child: subprocess.Popen[bytes]) -> str:
        code = child.poll()
        if child.stderr:
            self._last_words = (self._last_words + platform.read_available(child.stderr))[-LAST_WORDS_BYTES:]
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
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        return f"Tooltray could not be started: `{self._command_line()}` {end}: {last[:MESSAGE_CHARACTERS]}"

    def _forget_child(self) -> None:
        if self._child and self._child.stderr:
            self._child.stderr.close()
        self._child = None

    def _command_line(self) -> str:
        return platform.quoted(self._commands[-1][0])
