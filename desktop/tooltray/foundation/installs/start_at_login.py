"""Whether Tooltray starts when the user logs in. Read from the system each time, so that a change made elsewhere is seen.

It belongs to the user, not to a home: the user's default Tooltray starts, whichever home a hub has.
"""

import importlib
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Protocol, cast

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import desktop_command

BACKGROUND = "--background"
"""The option with which the desktop shows nothing but its tray icon."""
MODE = 0o644  # launchd refuses files that others may write

ENTRY_NAME = "tooltray.desktop"
_RESERVED = frozenset(" \t\n\"'\\><~|&;$*?#()`")  # an argument with one of these has to be quoted
_ESCAPED = frozenset('"`$\\')  # inside quotes
# the last three lines: panels that come later than we do have a place for the icon by then; as KeePassXC does it
_ENTRY = """\
[Desktop Entry]
Type=Application
Name=Tooltray
Comment=One home for your MCP servers
Exec={exec}
TryExec={program}
Icon=tooltray
Terminal=false
X-GNOME-Autostart-enabled=true
X-GNOME-Autostart-Delay=2
X-KDE-autostart-after=panel
X-LXQt-Need-Tray=true
"""

LABEL = "dev.tooltray.Tooltray"
LAUNCHCTL = "/bin/launchctl"
ANSWER_TIMEOUT_S = 5.0  # it answers within milliseconds; a window waits for it

RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
VALUE_NAME = "Tooltray"


class DesktopEntry:
    """Start at login on Linux: a desktop entry in the user's folder `autostart`, by the rules of freedesktop.org.

    The Desktop Application Autostart Specification 0.5 defines when an entry counts, the Desktop Entry Specification 1.5 how a command is
    quoted. Desktops' own settings switch an entry off by `Hidden` or `X-GNOME-Autostart-enabled`.
    """

    def is_on(self) -> bool:
        """Returns whether the entry exists, is not switched off, and its program exists."""
        fields = self._fields()
        is_switched_off = fields.get("Hidden") == "true" or fields.get("X-GNOME-Autostart-enabled") == "false"
        return bool(fields.get("Exec")) and not is_switched_off and _exists(fields.get("TryExec", ""))

    def turn_on(self, command: Sequence[str]) -> None:
        """Writes the entry, also over one that was switched off elsewhere."""
        self._path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(self._path(), _ENTRY.format(exec=command_line(command), program=_string(command[0])).encode(), MODE)

    def turn_off(self) -> None:
        self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        chosen = os.environ.get("XDG_CONFIG_HOME", "")
        folder = Path(chosen) if os.path.isabs(chosen) else Path.home() / ".config"
        return folder / "autostart" / ENTRY_NAME

    def _fields(self) -> dict[str, str]:
        """Reads the keys of the group `Desktop Entry`."""
        try:
            lines = self._path().read_text(errors="replace").splitlines()
        except OSError:
            return {}
        fields, is_inside = dict[str, str](), False
        for line in map(str.strip, lines):
            if line.startswith("["):
                is_inside = line == "[Desktop Entry]"
            elif is_inside and "=" in line and not line.startswith("#"):
                key, _, value = line.partition("=")
                fields[key.strip()] = value.strip()
        return fields


def command_line(command: Sequence[str]) -> str:
    """Returns a command as the value of `Exec`: each argument quoted if necessary, `%` doubled, then escaped as any string."""
    return _string(" ".join(map(_quoted, command)))


def _quoted(argument: str) -> str:
    argument = argument.replace("%", "%%")
    if argument and not _RESERVED & set(argument):
        return argument
    return '"' + "".join(f"\\{each}" if each in _ESCAPED else each for each in argument) + '"'


def _string(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def _plain(text: str) -> str:
    """Unescapes a string; an unknown escape stays."""
    parts = text.split("\\\\")
    return "\\".join(part.replace("\\s", " ").replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r") for part in parts)


def _exists(program: str) -> bool:
    """Returns whether the program of `TryExec` exists; an entry without `TryExec` counts as well."""
    return not program or shutil.which(_plain(program)) is not None


class LaunchAgent:
    """Start at login on macOS: a LaunchAgent of the user's. Tested with a double of launchctl; not run on a Mac.

    launchd reads the folder `LaunchAgents` at each login, see launchd.plist(5), so writing the file is enough: `launchctl bootstrap` would
    start a second Tooltray at once, and `bootout` would end the one that was started at login. The user or an administrator may have
    disabled the agent; launchctl lists disabled agents.
    """

    def is_on(self) -> bool:
        """Returns whether the agent exists and is not disabled. The setting "Login Items" in System Settings cannot be read by a documented
        call.
        """
        return self._path().is_file() and not self._is_disabled()

    def turn_on(self, command: Sequence[str]) -> None:
        """Writes the agent, and enables it if it was disabled."""
        import plistlib

        agent = {
            "Label": LABEL,
            "ProgramArguments": list(command),
            "RunAtLoad": True,
            "LimitLoadToSessionType": "Aqua",  # only in a session with a screen
            "ProcessType": "Interactive",
        }
        self._path().parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        write_atomically(self._path(), plistlib.dumps(agent), MODE)
        if self._is_disabled():
            self._launchctl("enable", f"{self._domain()}/{LABEL}")

    def turn_off(self) -> None:
        self._path().unlink(missing_ok=True)

    def _is_disabled(self) -> bool:
        """Returns whether launchctl lists the agent as `"label" => disabled`; before macOS 13 as `"label" => true`."""
        lines = self._launchctl("print-disabled", self._domain()).splitlines()
        states = [line.partition("=>")[2].strip() for line in lines if line.strip().startswith(f'"{LABEL}"')]
        return bool({"disabled", "true"} & set(states))

    def _launchctl(self, *arguments: str) -> str:
        """Returns the output of launchctl; empty if it cannot be run."""
        import subprocess

        try:
            ran = subprocess.run([LAUNCHCTL, *arguments], capture_output=True, text=True, timeout=ANSWER_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return ran.stdout

    def _domain(self) -> str:
        return f"gui/{os.getuid()}"  # type: ignore[attr-defined, unused-ignore]  # type checkers do not know it on Windows

    def _path(self) -> Path:
        return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


class Key(AbstractContextManager["Key"], Protocol):
    """An open key of the registry."""


class Registry(Protocol):
    """The functions of winreg that are used, under its names: other platforms have no such module, and type checkers know it only on
    Windows.
    """

    HKEY_CURRENT_USER: int
    KEY_SET_VALUE: int
    REG_SZ: int

    def OpenKey(self, key: int, sub_key: str, reserved: int = 0, access: int = ...) -> Key: ...  # noqa: N802
    def CreateKey(self, key: int, sub_key: str) -> Key: ...  # noqa: N802
    def QueryValueEx(self, key: Key, name: str) -> tuple[object, int]: ...  # noqa: N802
    def SetValueEx(self, key: Key, value_name: str, reserved: int, type: int, value: str) -> None: ...  # noqa: N802
    def DeleteValue(self, key: Key, value: str) -> None: ...  # noqa: N802


class RunKey:
    """Start at login on Windows: a value below the key `Run` of the user's registry.

    Task Manager and Settings do not touch that value when the user switches it off: they write a binary value below
    `StartupApproved\\Run`, whose first byte is odd then. Microsoft documents `Run`, but not that value.
    """

    def is_on(self) -> bool:
        """Returns whether the value exists, and Task Manager has not switched it off."""
        approved = self._value(APPROVED)
        is_switched_off = isinstance(approved, bytes) and bool(approved) and approved[0] % 2 == 1
        return bool(self._value(RUN)) and not is_switched_off

    def turn_on(self, command: Sequence[str]) -> None:
        """Sets the value, and removes Task Manager's note that it is switched off."""
        import subprocess

        registry = self._registry()
        with registry.CreateKey(registry.HKEY_CURRENT_USER, RUN) as key:
            registry.SetValueEx(key, VALUE_NAME, 0, registry.REG_SZ, subprocess.list2cmdline(command))
        self._delete(APPROVED)

    def turn_off(self) -> None:
        self._delete(RUN)
        self._delete(APPROVED)

    def _value(self, place: str) -> object:
        registry = self._registry()
        try:
            with registry.OpenKey(registry.HKEY_CURRENT_USER, place) as key:
                return registry.QueryValueEx(key, VALUE_NAME)[0]
        except FileNotFoundError:
            return None

    def _delete(self, place: str) -> None:
        registry = self._registry()
        with suppress(FileNotFoundError), registry.OpenKey(registry.HKEY_CURRENT_USER, place, 0, registry.KEY_SET_VALUE) as key:
            registry.DeleteValue(key, VALUE_NAME)

    def _registry(self) -> Registry:
        return cast(Registry, importlib.import_module("winreg"))


class System(Protocol):
    """The way of one system to start a program at login."""

    def is_on(self) -> bool: ...
    def turn_on(self, command: Sequence[str]) -> None: ...
    def turn_off(self) -> None: ...


system: System = RunKey() if sys.platform == "win32" else LaunchAgent() if sys.platform == "darwin" else DesktopEntry()


def is_on() -> bool:
    """Returns whether the system will start Tooltray, as far as it reports that."""
    return system.is_on()


def switch(*, on: bool) -> None:
    """Makes the system start this installation at login, or stops it from doing so.

    Raises:
        TooltrayError: the system refuses.
    """
    try:
        system.turn_on(command_at_login()) if on else system.turn_off()
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
        raise TooltrayError(Phrase("Start at login could not be changed"), message) from error


def command_at_login() -> list[str]:
    """Returns the command that starts at login."""
    return desktop_command(BACKGROUND)
