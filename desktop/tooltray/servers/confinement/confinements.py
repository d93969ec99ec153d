"""The means of confinement that this computer has, with words for the missing ones, and the confinement of each server: for cards, and for
the verbs.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Literal

import msgspec

from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, ConfinementSupport, Files, Net, RefusedThing
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.servers.launch.command_lookup import program_name

System = Literal["linux", "darwin", "windows", "other"]

SANDBOX_EXEC = "/usr/bin/sandbox-exec"
HOSTS_ABI = 4  # from which Landlock has rules for TCP
SIGNALS_ABI = 6  # from which it blocks signals to other processes
PROBE_WITHIN_S = 5.0  # a slower bubblewrap is not used, since each start would wait for it
SEARCHED = "/usr/bin:/usr/local/bin:/bin"  # and not PATH, in which the user's own folders come first
BUBBLEWRAP_OPTIONS = ("--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--unshare-ipc", "--proc", "/proc", "--die-with-parent")
IGNORING_TERM = "--ignore-signal=TERM"  # of GNU's env: at a SIGTERM, bubblewrap would end the server at once
ACTIONS = "/proc/sys/kernel/seccomp/actions_avail"  # lists the answers that a filter may give
PROCESSORS = ("x86_64", "aarch64")  # those whose system calls the launcher's filter knows

NO_WINDOWS = Phrase("Not sandboxed: Windows is not supported yet.")
NOT_HERE = Phrase("Not sandboxed: this system is not supported.")
NO_LANDLOCK = Phrase("This computer's Linux has no Landlock, so it can read all your files, and change them.")
NO_SIGNALS = Phrase("This computer's Linux cannot keep it from sending signals to other programs.")
NO_HOSTS = Phrase("This computer's Linux cannot keep it to some hosts, so it has no network at all.")
NO_BUBBLEWRAP = Phrase(
    "Without bubblewrap it sees which other programs run, and can change permissions and dates of your files that it can neither read nor "
    "write. Install the package bubblewrap."
)
BUBBLEWRAP_FAILS = Phrase(
    "bubblewrap is installed but does not work here, most often because the system forbids user namespaces. So the server sees which other "
    "programs run, and can change permissions and dates of your files that it can neither read nor write."
)
MAC_SEES = Phrase("On macOS it sees which other programs run.")


class Support(msgspec.Struct, frozen=True):
    """The system's means of confinement.

    Attributes:
        abi: of Landlock; 0: the kernel has none.
        has_seccomp: the kernel takes filters for system calls, and the launcher knows this processor.
        bwrap: the path of bubblewrap, if it works here.
        bwrap_fails: bubblewrap is installed and does not work, as on Ubuntu from 24.04 on, where AppArmor denies most programs namespaces.
        env: the path of an `env` that starts a program with signals ignored; empty: neither `env` nor bubblewrap works.
        sandbox_exec: of macOS, its path.
    """

    system: System = "other"
    abi: int = 0
    has_seccomp: bool = False
    bwrap: str = ""
    env: str = ""
    bwrap_fails: bool = False
    sandbox_exec: str = ""


def probe() -> Support:
    """Detects the system's means of confinement. Takes some ms, since it starts bubblewrap: call it once, in a thread."""
    if sys.platform == "win32":
        return Support("windows")
    if sys.platform == "darwin":
        return Support("darwin", sandbox_exec=SANDBOX_EXEC if os.access(SANDBOX_EXEC, os.X_OK) else "")
    if sys.platform != "linux":
        return Support()
    from tooltray_confine.landlock import newest_abi

    bwrap, env, fails = find_bubblewrap()
    return Support("linux", newest_abi(), platform.machine() in PROCESSORS and _has_filters(), bwrap, env, fails)


def find_bubblewrap(path: str = SEARCHED) -> tuple[str, str, bool]:
    """Returns the paths of bubblewrap and of the `env` that starts it, empty if they do not work, as in many containers; and whether
    bubblewrap is installed although it does not work.

    Args:
        path: the folders to search, as in PATH.
    """
    bwrap, env = shutil.which("bwrap", path=path) or "", shutil.which("env", path=path) or ""
    trial = (*BUBBLEWRAP_OPTIONS, "--unshare-net", shutil.which("true", path=SEARCHED) or "true")
    if not bwrap:
        return "", "", False
    if env and _succeeds(env, IGNORING_TERM, bwrap, *trial):
        return bwrap, env, False
    return (bwrap, "", False) if _succeeds(bwrap, *trial) else ("", "", True)


def can_confine(support: Support) -> bool:
    """Reports whether this computer supports any sandbox; if not, the card shows "not confined"."""
    return support.has_seccomp or bool(support.sandbox_exec)


def can_have_hosts(support: Support) -> bool:
    """Reports whether "only these hosts" is possible."""
    return bool(support.sandbox_exec) or (support.has_seccomp and support.abi >= HOSTS_ABI)


def missing(files: Files, network: Net, support: Support) -> tuple[str, ...]:
    """Returns the parts of a choice that this computer cannot enforce, each as a sentence for the user; only "Not confined" if it can
    enforce no part."""
    if files == "open" and network == "open":
        return ()
    if not can_confine(support):
        return (NO_WINDOWS if support.system == "windows" else NOT_HERE,)
    if support.system == "darwin":
        return (MAC_SEES,) if files != "open" else ()
    is_wrapped = bool(support.bwrap) and files != "open"
    cases = (
        (NO_LANDLOCK, not support.abi and files != "open"),
        (NO_SIGNALS, support.abi < SIGNALS_ABI and not is_wrapped),
        (NO_HOSTS, network == "hosts" and not can_have_hosts(support)),
        (BUBBLEWRAP_FAILS if support.bwrap_fails else NO_BUBBLEWRAP, not support.bwrap and files != "open"),
    )
    return tuple(sentence for sentence, is_so in cases if is_so)


def _has_filters() -> bool:
    try:
        with open(ACTIONS) as actions:
            return {"errno", "allow"} <= set(actions.read().split())
    except OSError:
        return False


def _succeeds(*command: str) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_WITHIN_S, env={}, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


Refused = Callable[[str], tuple[RefusedThing, ...]]
CONFINEMENT = "confinement"
OWN_FILES: Files = "own"
ELSEWHERE = frozenset({"docker", "podman", "nerdctl"})
"""Programs that start containers through the socket of a service, which the sandbox would block."""


class Confinements:
    """The confinements of all servers. Belongs to the engine's loop."""

    def __init__(self, *, support: Support, refused: Refused = lambda server: ()) -> None:
        """
        Args:
            refused: returns the refusals to a server since it started, the latest first.
        """
        self.support, self._refused = support, refused
        self._left_out: dict[str, tuple[str, ...]] = {}  # by server, since it last started

    @cached_property
    def here(self) -> ConfinementSupport:
        """Returns the parts of a sandbox that this computer can enforce."""
        lacks, can = missing("own", "none", self.support), can_confine(self.support)
        return ConfinementSupport(files=can and NO_LANDLOCK not in lacks, network=can, hosts=can_have_hosts(self.support), missing=lacks)

    def applies(self, chosen: Confinement) -> bool:
        """Reports whether the sandbox has an effect on this computer. If not, the server runs unsandboxed, and its card shows it."""
        return not chosen.is_open and can_confine(self.support)

    def suits(self, config: MCPServerConfig) -> bool:
        """Reports whether this computer can limit a server to its own files: its process runs here, and not in a container."""
        return config.transport == "stdio" and self.here.files and not _starts_elsewhere(config.command or "")

    def note_left_out(self, server: str, left_out: tuple[str, ...]) -> None:
        """Records the named paths that a server did not get at its start, each as a sentence for its card."""
        self._left_out[server] = left_out

    def of(self, name: str, config: MCPServerConfig) -> ConfinementSnapshot | None:
        """Returns how a server is confined; None: it is not a process."""
        if config.transport != "stdio":
            return None
        chosen = config.confinement
        return ConfinementSnapshot(
            files=chosen.files,
            network=chosen.network,
            hosts=chosen.hosts,
            read=chosen.read,
            write=chosen.write,
            missing=() if chosen.is_open else (*missing(chosen.files, chosen.network, self.support), *self._left_out.get(name, ())),
            is_in_vain=not chosen.is_open and not can_confine(self.support),
            refused=self._refused(name),
        )


def starts_confined(entry: JsonMapping, *, platform: str = sys.platform) -> bool:
    """Reports whether a new server starts sandboxed: its entry sets no `confinement`, and its local program works in a sandbox."""
    return entry.get(CONFINEMENT) is None and platform != "win32" and works_in_sandbox(entry)


def works_in_sandbox(entry: JsonMapping) -> bool:
    """Reports whether an entry is that of a local program which no container starts."""
    command, kind = entry.get("command"), entry.get("type") or "stdio"
    return isinstance(command, str) and bool(command) and kind in ("stdio", "local") and not _starts_elsewhere(command)


def _starts_elsewhere(command: str) -> bool:
    is_installed = command == program_name(command) or os.path.isabs(command)  # `./docker` may be anything in a project's folder
    return is_installed and program_name(command) in ELSEWHERE


def as_written(chosen: Confinement, *, is_of_file: bool) -> JsonObject | None:
    """Returns a confinement for the settings; None: it is left out.

    Args:
        is_of_file: for a server of another file "open" is written out, since that file may set something else.
    """
    if chosen == Confinement() and not is_of_file:
        return None
    given = chosen.model_dump(by_alias=True)
    if not chosen.hosts and chosen.network == "open":  # hosts without a network would limit the server to them
        del given["network"]
    return {key: value for key, value in given.items() if value}
