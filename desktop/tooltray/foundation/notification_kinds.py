"""The kinds of the desktop's notifications. The user switches each on or off; events of a kind that is off still show in the window.

A new kind is a line in KINDS.
"""

from collections.abc import Mapping

import msgspec

from tooltray.foundation.phrases import Phrase


class NotificationKind(msgspec.Struct, frozen=True):
    """A kind of notification.

    Attributes:
        name: in the settings, as `"notifications": {NAME: false}`.
        title: what has happened.
        text: what the user should know before they switch it off; may be empty.
        is_on: unless the user has chosen otherwise.
    """

    name: str
    title: str
    text: str = ""
    is_on: bool = True


KINDS = (
    NotificationKind(
        "approval", Phrase("A call waits for your yes"), Phrase("The call waits; without an answer it is refused in the end.")
    ),
    NotificationKind("confirmation", Phrase("A command wants to allow something"), Phrase("The command waits for your answer.")),
    NotificationKind("question", Phrase("A server asks you something")),
    NotificationKind("sign_in", Phrase("A server needs you to sign in")),
    NotificationKind("failed", Phrase("A server has failed")),
    NotificationKind(
        "tool_changed", Phrase("A tool was changed after you had allowed it"), Phrase("Until you look, its calls are asked about.")
    ),
    NotificationKind("trust", Phrase("A project brings servers that wait for your yes")),
    NotificationKind("feedback", Phrase("A model reports and waits for your answer")),
    NotificationKind("update", Phrase("A newer version of a server is there")),
)
"""In the order in which they are listed."""


def is_wanted(kind: str, chosen: Mapping[str, bool]) -> bool:
    """Returns whether a notification of a kind is to be sent.

    Args:
        kind: the name of one of KINDS; any other kind is always sent.
        chosen: by the user, `notifications` of the settings.
    """
    by_default = next((each.is_on for each in KINDS if each.name == kind), True)
    return chosen.get(kind, by_default)
