"""The user's choices for the window, the command line and the notifications: language, theme, what closing means.

They are read from a document that may hold anything, at the start even before the settings are checked: an unusable value counts as not
chosen, and the settings report it.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.regular_file import open_regular

THEMES = ("light", "dark")
LARGEST_FILE = 64 * 1024 * 1024  # as for the settings themselves; this is some other file


class Preferences(msgspec.Struct, frozen=True):
    """The user's choices for the window, the command line and the notifications.

    Attributes:
        language: the name of its catalogue, "en" or "zh_TW"; empty: the system's.
        theme: "light" or "dark"; empty: the system's.
        keeps_running: closing the window hides it, where there is a tray.
        starts_hidden: the window stays hidden until the user opens it from the tray.
        notifications: whether each kind is sent, where the user has chosen; see notification_kinds.
    """

    language: str = ""
    theme: str = ""
    keeps_running: bool = True
    starts_hidden: bool = False
    notifications: Mapping[str, bool] = msgspec.field(default_factory=dict)


def preferences_of(document: object) -> Preferences:
    """Reads the choices from a document of settings."""
    members = document if isinstance(document, Mapping) else {}
    window = members.get("window")
    window = window if isinstance(window, Mapping) else {}
    language, theme, chosen = members.get("language"), window.get("theme"), members.get("notifications")
    return Preferences(
        language if isinstance(language, str) else "",
        theme if theme in THEMES else "",
        window.get("keepsRunning") is not False,
        window.get("startsHidden") is True,
        {kind: each for kind, each in chosen.items() if isinstance(each, bool)} if isinstance(chosen, Mapping) else {},
    )


def read_preferences(path: Path) -> Preferences:
    """Reads the choices from the file of the settings; a file that cannot be read has none. Blocks."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read(LARGEST_FILE)
        return preferences_of(msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf")))
    except (OSError, ValueError, RecursionError):
        return Preferences()
