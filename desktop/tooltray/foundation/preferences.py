"""The user's choices for the window, the command line and the notifications: language, theme, closing, and kinds of notifications.

They are read from a document with any content, at the start even before the settings are checked: an unusable choice counts as not made,
and the settings report it. A new kind of notification is a line in KINDS.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import open_regular


class NotificationKind(msgspec.Struct, frozen=True):
    """Attributes:
    name: in the settings, as `"notifications": {NAME: false}`.
    title: what has happened.
    text: what the user should know before switching it off; may be empty.
    is_on: the default, which the user's choice replaces.
    """

    name: str
    title: str
    text: str = ""
    is_on: bool = True


KINDS = (
    NotificationKind("approval", Phrase("A call waits for your approval"), Phrase("The call waits, and is declined if you do not answer.")),
    NotificationKind("confirmation", Phrase("A command asks for permission"), Phrase("The command waits for your answer.")),
    NotificationKind("question", Phrase("A server asks you something"), Phrase("The call that asks waits for your answer.")),
    NotificationKind("sign_in", Phrase("A server needs you to sign in"), Phrase("Its tools fail until you do.")),
    NotificationKind("failed", Phrase("A server has failed"), Phrase("Its tools are not available.")),
    NotificationKind("tool_changed", Phrase("A tool you allowed has changed"), Phrase("Its calls ask first until you review it.")),
    NotificationKind("trust", Phrase("A project wants to start servers"), Phrase("They start only after you allow them.")),
    NotificationKind(
        "feedback", Phrase("A model reports and waits for your answer"), Phrase("The model waits until you answer or close the window.")
    ),
    NotificationKind("update", Phrase("Server update available"), Phrase("It is installed only when you approve.")),
    NotificationKind("release", Phrase("A new version of Tooltray"), Phrase("Once for each version, if it is checked for.")),
)
"""In the order in which they are listed."""


def is_wanted(kind: str, chosen: Mapping[str, bool]) -> bool:
    """Returns whether a notification of a kind should be sent.

    Args:
        kind: the name of one of KINDS; a notification of an unknown kind is always sent.
        chosen: the user's choices, `notifications` of the settings.
    """
    by_default = next((each.is_on for each in KINDS if each.name == kind), True)
    return chosen.get(kind, by_default)


THEMES = ("light", "dark")
ACTUAL_SIZE = 100  # per cent
ZOOM_STEPS = (80, 90, ACTUAL_SIZE, 110, 125, 150, 175, 200)
"""What the window may be zoomed to, in per cent; browsers have the same steps."""
LARGEST_FILE = 64 * 1024 * 1024  # as for the settings themselves; this is some other file


class Preferences(msgspec.Struct, frozen=True):
    """The user's choices for the window, the command line and the notifications.

    Attributes:
        language: the name of its catalogue, "en" or "zh_TW"; empty: the system's.
        theme: "light" or "dark"; empty: the system's.
        keeps_running: whether closing the window only hides it, if there is a tray.
        starts_hidden: the window stays away until the user opens it from the tray.
        notifications: whether each kind is sent, for kinds that the user has chosen; see KINDS.
        zoom: the size of text and all else in the windows, in per cent; one of ZOOM_STEPS.
    """

    language: str = ""
    theme: str = ""
    keeps_running: bool = True
    starts_hidden: bool = False
    notifications: Mapping[str, bool] = msgspec.field(default_factory=dict)
    zoom: int = ACTUAL_SIZE


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
        size if isinstance(size := window.get("size"), int) and size in ZOOM_STEPS else ACTUAL_SIZE,
    )


def read_preferences(path: Path) -> Preferences:
    """Reads the choices from the file of the settings; a file that cannot be read has none. Blocks."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read(LARGEST_FILE)
        return preferences_of(msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf")))
    except (OSError, ValueError, RecursionError):
        return Preferences()
