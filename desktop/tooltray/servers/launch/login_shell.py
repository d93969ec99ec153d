"""The environment that the user's own terminal would have, for servers and for `${VAR}` in the settings.

A hub that a bridge or an AI client starts has its starter's environment: without the PATH that nvm, Homebrew or a profile sets, and
possibly with the keys of an AI client. A hub that the user starts (at a terminal, as a service, in a container) has variables that exist
nowhere else; those count as well (`OwnUse`). In either case the user's shell is started once as a login shell, from a fresh environment,
and prints its variables. The tested shells (bash, dash, zsh, fish, tcsh) need this:

- `-` in front of argument 0 makes each of them a login shell; tcsh does not accept `-l` beside other flags.
- `-i`: many profiles return early, or are not read at all, unless the shell is interactive. If the shell then prints nothing (an rc file
  may replace it with another program), it is started once more without `-i`.
- A session of its own: an interactive shell without a terminal complains about job control, and must not touch the hub's.
- A login bash does not read `~/.bashrc`, to which installers write and which every terminal reads; most profiles read it in turn. If the
  user's profile does not, `~/.bashrc` is read as well.

The usual folders of programs follow the resulting PATH (default_folders).
"""

import asyncio
import logging
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from tooltray.config.secrets.vaults import PASSPHRASE_VARIABLE
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.launch.child_environment import merged_paths, with_default_folders
from tooltray.servers.launch.command_lookup import DEFAULT_PATH
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily
from tooltray.servers.launch.remembered_variables import VARIABLES

if sys.platform == "win32":  # pragma: no cover - one branch per platform
    from tooltray.foundation.home import user_windows as user
else:
    from tooltray.foundation.home import user_posix as user

logger = logging.getLogger(__name__)

FRESH_S = 5.0  # servers that start one after another share one reading; a user who corrects a profile takes longer
TIMEOUT_S = 5.0  # nvm takes 1-3 s on a slow machine; a server's first start must not wait much longer
MAX_OUTPUT_BYTES = 4 * 1024 * 1024  # an environment has at most 2 MB on Linux; the rest is for banners
READ_BYTES = 64 * 1024
START_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DUMB_TERMINAL = "dumb"  # so that prompts and colours are left out
IS_RESOLVING = "TOOLTRAY_READS_ENVIRONMENT"  # set, so that an rc file can leave out slow parts

# variables of the session, not of the program that started the hub: no shell sets them, and servers need them
_SESSION = {
    *("HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
    *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION"),
    *VARIABLES,
}
_SESSION_PREFIXES = ("LC_", "XDG_")
_OF_THE_SHELL_ITSELF = {"_", "SHLVL", "PWD", "OLDPWD", IS_RESOLVING}
_OF_THE_SERVICE = {  # variables that systemd sets only for the hub
    *("NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC"),
    *("INVOCATION_ID", "JOURNAL_STREAM", "MAINPID", "MANAGERPID", "SYSTEMD_EXEC_PID"),
}
_OWN_PREFIX = "TOOLTRAY_"
_OF_THE_FROZEN_APP = {"_MEIPASS2", "_PYI_APPLICATION_HOME_DIR", "_PYI_ARCHIVE_FILE", "_PYI_PARENT_PROCESS_LEVEL", "_PYI_SPLASH_IPC"}

OwnUse = Literal["fallback", "additions", "first"]
"""When the hub's own environment is used: only if no shell can be read, also for variables that the shell lacks, or first."""


class LoginShell:
    """The login shell's environment, read and cached. Belongs to one event loop; `environ` may be called from any of its tasks.

    Attributes:
        problem: why the hub's own environment is used instead; None if the shell's is used, or no shell was read yet.

    Args:
        shell: absolute path of the shell; None: the user's own.
        timeout_s: seconds that the shell may take, all attempts together.
        own: the hub's environment.
        own_use: when `own` is used.
        bundle: the folder of a frozen build, whose own libraries must not reach children; None: not frozen.
        complete: adds variables that an environment lacks; runs in a thread.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        shell: str | None = None,
        timeout_s: float = TIMEOUT_S,
        *,
        own: Mapping[str, str] = os.environ,
        own_use: OwnUse = "fallback",
        bundle: str | None = getattr(sys, "_MEIPASS", None),
        complete: Callable[[Mapping[str, str]], Mapping[str, str]] = with_default_folders,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout_s, self._complete, self._clock = timeout_s, complete, clock
        self._own, self._own_use = without_bundle(own, bundle), own_use
        self._from_own: frozenset[str] = frozenset()
        self._shell = shell if shell is not None else _persons_shell(self._own)
        self._environ: Mapping[str, str] | None = None
        self._read_at = 0.0
        self._is_outdated = False
        self.problem: Problem | None = None
        self._lock = asyncio.Lock()

    async def environ(self) -> Mapping[str, str]:
        """Returns the environment for children and for `${VAR}`. The first call takes as long as the shell, later ones nothing.

        Without a shell, or if it prints nothing in time, this is the hub's own environment. The passphrase of the secrets is never in it.
        """
        async with self._lock:
            if self._environ is None or self._is_outdated:
                self._environ = await self._read_anew(self._environ)
                self._read_at, self._is_outdated = self._clock(), False
            return self._environ

    def is_from_own(self, name: str) -> bool:
        """Returns whether a variable of the last `environ` is the hub's own, and not the shell's."""
        return name in self._from_own

    def invalidate(self) -> None:
        """Makes the next use read the shell again, because something that its environment depends on has changed."""
        self._is_outdated = self._environ is not None

    def expire(self) -> None:
        """Makes the next use read the shell again, unless it was just read: the user may have installed a missing program."""
        self._is_outdated = self._environ is not None and self._clock() - self._read_at >= FRESH_S

    async def _read_anew(self, known: Mapping[str, str] | None) -> Mapping[str, str]:
        """Returns the shell's environment; the one known from before if the shell prints nothing this time."""
        before, self.problem = self.problem, None
        found = await self._read()
        if known is not None and self.problem and not before:
            self.problem = None
            return await finish_in_thread(self._complete, known)
        environ = found if found is self._own else _with_own(found, self._own, self._own_use)
        of_shell = {} if found is self._own else {name: found[name] for name in found.keys() - session_variables(self._own)}
        self._from_own = frozenset(name for name, value in self._own.items() if environ.get(name) == value != of_shell.get(name))
        return await finish_in_thread(self._complete, environ)

    async def _read(self) -> Mapping[str, str]:
        if not self._shell:
            return user.without_login_shell(self._own)
        try:
            async with asyncio.timeout(self._timeout_s):
                rest = await finish_in_thread(_unread, self._shell, self._own.get("HOME", ""))
                for flags, before in (("-ic", rest), ("-c", "")):
                    if found := await self._ask(flags, before):
                        return found
            reason: str = Phrase("it ended without printing its environment")
        except TimeoutError:
            reason = Phrase("it took more than {seconds} s", seconds=f"{self._timeout_s:g}")
        except OSError as error:
            reason = str(error.strerror)
        title, hint = Phrase("Your login shell could not be read"), Phrase("Servers get Tooltray's own environment instead")
        self.problem = Problem(title, Phrase("{shell}: {reason}", shell=self._shell, reason=reason), hint)
        logger.info("%s", self.problem)
        return self._own

    async def _ask(self, flags: str, before: str) -> dict[str, str]:
        """Starts the shell, reads its environment, and ends its whole process group (a child with its own session, such as an ssh-agent,
        stays)."""
        marker = secrets.token_hex(16)
        process = self._start(flags, f"{before}echo {marker}; /usr/bin/env -0; echo {marker}")
        assert process.stdout is not None
        try:
            output = await _read_between(process.stdout.fileno(), f"{marker}\n".encode())
        finally:
            ProcessFamily(process.pid).kill()  # the number is not reused before `wait`
            process.stdout.close()
            await finish_in_thread(process.wait)
        return _parse(output)

    def _start(self, flags: str, command: str) -> subprocess.Popen[bytes]:
        start = session_variables(self._own)
        return subprocess.Popen(
            [f"-{Path(self._shell).name}", flags, command],
            executable=self._shell,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=start | {"PATH": START_PATH, "TERM": DUMB_TERMINAL, IS_RESOLVING: "1"},
            **START_OPTIONS,
        )


def session_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that belong to the user's session, not to the program that set the rest (an AI client, with its API keys)."""
    return {name: value for name, value in environ.items() if name in _SESSION or name.startswith(_SESSION_PREFIXES)}


def _with_own(shell: Mapping[str, str], own: Mapping[str, str], use: OwnUse) -> Mapping[str, str]:
    """Returns the shell's environment with the hub's own added, except for variables that concern only the hub.

    The hub's PATH adds only folders that neither the shell's PATH nor every system's has (an active venv, a folder that direnv adds).
    """
    if use == "fallback":
        return shell
    hubs = _OF_THE_SHELL_ITSELF | _OF_THE_SERVICE
    added = {name: value for name, value in own.items() if name not in hubs and not name.startswith(_OWN_PREFIX)}
    both = {**shell, **added} if use == "first" else {**added, **shell}
    path = shell.get("PATH", "")
    usual = {*path.split(os.pathsep), *START_PATH.split(os.pathsep)}
    special = os.pathsep.join(folder for folder in own.get("PATH", "").split(os.pathsep) if folder not in usual)
    both["PATH"] = merged_paths([special, path] if use == "first" else [path, special])
    return both


def own_environ(*, is_foreign: bool) -> Mapping[str, str]:
    """Returns the part of this process's environment that servers get if no login shell can be read.

    Args:
        is_foreign: whether an AI client has started this process, so that the environment is the client's.
    """
    if not is_foreign:
        return os.environ
    return {**session_variables(os.environ), "PATH": os.environ.get("PATH", DEFAULT_PATH)}


def without_bundle(environ: Mapping[str, str], bundle: str | None) -> dict[str, str]:
    """Returns an environment without the variables that a frozen build set for itself, and without the passphrase of the secrets.

    Args:
        environ: a process's environment.
        bundle: the folder of the frozen build; None: not frozen.
    """
    clean = {name: value for name, value in environ.items() if name != PASSPHRASE_VARIABLE}
    if bundle is None:
        return clean
    for name in [name for name in clean if name.endswith("_ORIG") and name.removesuffix("_ORIG") in clean]:
        clean[name.removesuffix("_ORIG")] = clean.pop(name)  # PyInstaller keeps the user's LD_LIBRARY_PATH there
    for name, value in list(clean.items()):
        kept = [part for part in value.split(os.pathsep) if part != bundle and not part.startswith(bundle + os.sep)]
        if name in _OF_THE_FROZEN_APP or not kept:
            del clean[name]
        else:
            clean[name] = os.pathsep.join(kept)
    return clean


def _persons_shell(own: Mapping[str, str]) -> str:
    """Returns the shell named by SHELL, which a hub started by a bridge does not have, or by the user database; empty if neither names
    one."""
    shell = own.get("SHELL", "")
    if os.path.isabs(shell) and os.access(shell, os.X_OK):
        return shell
    try:
        return user.login_shell()
    except KeyError:
        return ""


def _unread(shell: str, home: str) -> str:
    """Returns the command that reads the file that a login shell leaves out and every terminal reads; empty if that file does not exist."""
    if Path(shell).name != "bash" or not Path(home, ".bashrc").is_file():
        return ""
    profiles = (Path(home, name) for name in (".bash_profile", ".bash_login", ".profile"))
    # bash reads only the first of them; a pipe would block the hub for ever, while bash itself has a timeout
    profile = next((file for file in profiles if file.is_file() and os.access(file, os.R_OK)), None)
    return "" if profile and b"bashrc" in profile.read_bytes() else ". ~/.bashrc; "


async def _read_between(descriptor: int, marker: bytes) -> bytes:
    """Returns the text between two markers; empty if the output ends before the second one, or is longer than any environment."""
    loop = asyncio.get_running_loop()
    output = bytearray()
    is_complete = asyncio.Event()

    def on_readable() -> None:
        chunk = os.read(descriptor, READ_BYTES)
        output.extend(chunk)
        if not chunk or len(output) > MAX_OUTPUT_BYTES or output.count(marker) > 1:
            is_complete.set()

    loop.add_reader(descriptor, on_readable)
    try:
        await is_complete.wait()
    finally:
        loop.remove_reader(descriptor)
    parts = output.split(marker, 2)
    return bytes(parts[1]) if len(parts) == 3 else b""


def _parse(dump: bytes) -> dict[str, str]:
    pairs = [os.fsdecode(line).partition("=") for line in dump.split(b"\0") if b"=" in line]
    found = {name: value for name, _, value in pairs if name not in _OF_THE_SHELL_ITSELF}
    if found.get("TERM") == DUMB_TERMINAL:
        del found["TERM"]
    return found
