"""What a person has chosen for the window, the command line and the notifications: language, theme, what closing means.

Above it: whoever speaks to the person: the window, the tray, commands. Below it: the standard library. It is read from a document that may
hold anything, at the start even before the settings are checked: what cannot be used counts as not chosen, and the settings say so.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.regular_file import open_regular

THEMES = ("light", "dark")
LARGEST_FILE = 64 * 1024 * 1024  # as for the settings themselves; this is some other file


class Preferences(msgspec.Struct, frozen=True):
    """
    Attributes:
        language: as its catalogue is called, "en" or "zh_TW"; empty: the system's.
        theme: "light" or "dark"; empty: the system's.
        keeps_running: closing the window hides it, where there is a tray.
        starts_hidden: the window stays away until somebody opens it from the tray.
        notifications: whether each kind is sent, where the person has said so; see notification_kinds.
    """

    language: str = ""
    theme: str = ""
    keeps_running: bool = True
    starts_hidden: bool = False
    notifications: Mapping[str, bool] = msgspec.field(default_factory=dict)


def preferences_of(document: object) -> Preferences:
    """What a document of settings says of them."""
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
    """What the file of the settings says of them; a file that cannot be read says nothing. Blocks."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read(LARGEST_FILE)
        return preferences_of(msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf")))
    except (OSError, ValueError, RecursionError):
        return Preferences()
