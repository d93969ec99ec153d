"""Start at login on Linux: a desktop entry in the user's folder `autostart`, by the rules of freedesktop.org.

The Desktop Application Autostart Specification 0.5 defines when an entry counts, the Desktop Entry Specification 1.5 how a command is
quoted. Desktops' own settings switch an entry off by `Hidden` or `X-GNOME-Autostart-enabled`.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from tooltray.foundation.files.atomic_file import write_atomically

NAME = "tooltray.desktop"
MODE = 0o644
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


def is_on() -> bool:
    """Returns whether the entry exists, is not switched off, and its program exists."""
    fields = _fields()
    is_switched_off = fields.get("Hidden") == "true" or fields.get("X-GNOME-Autostart-enabled") == "false"
    return bool(fields.get("Exec")) and not is_switched_off and _exists(fields.get("TryExec", ""))


def turn_on(command: Sequence[str]) -> None:
    """Writes the entry, also over one that was switched off elsewhere."""
    _path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(_path(), _ENTRY.format(exec=command_line(command), program=_string(command[0])).encode(), MODE)


def turn_off() -> None:
    _path().unlink(missing_ok=True)


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


def _path() -> Path:
    chosen = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(chosen) if os.path.isabs(chosen) else Path.home() / ".config"
    return folder / "autostart" / NAME


def _fields() -> dict[str, str]:
    """Reads the keys of the group `Desktop Entry`."""
    try:
        lines = _path().read_text(errors="replace").splitlines()
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


def _exists(program: str) -> bool:
    """Returns whether the program of `TryExec` exists; an entry without `TryExec` counts as well."""
    return not program or shutil.which(_plain(program)) is not None
