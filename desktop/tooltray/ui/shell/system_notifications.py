"""Notifications of the system: of the kinds that the user wants, the same not twice within a minute, and a click opens the subject."""

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject

from tooltray.foundation.preferences import is_wanted
from tooltray.ui.shell.tray import Tray

SAME_WITHIN_S = 60.0  # a server that fails again and again says so once a minute
LONGEST_TITLE, LONGEST_TEXT = 100, 240  # characters; systems cut at about as many, some in the middle of a letter
CALM = ("update",)  # kinds that want nothing now

Go = Callable[[], object]


class Notifications(QObject):
    def __init__(
        self,
        tray: Tray,
        *,
        chosen: Callable[[], Mapping[str, bool]],
        now: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        """Args:
        chosen: which kinds the user has switched on or off.
        now: seconds that never jump.
        """
        super().__init__()
        self._tray, self._chosen, self._now = tray, chosen, now
        self._sent: dict[tuple[str, str, str], float] = {}
        self._go: Go | None = None
        tray.message_clicked.connect(self._on_clicked)

    def send(self, kind: str, title: str, text: str, go: Go | None = None) -> None:
        """Shows a notification, if the user wants its kind; it must contain no secret and no argument of a call, since it is visible on a
        locked screen, too.

        Args:
            kind: the name of one of preferences.KINDS; empty: it is always shown.
            go: leads to what it is about; None: to the window.
        """
        if kind and not is_wanted(kind, self._chosen()):
            return
        now, key = self._now(), (kind, title, text)
        self._sent = {each: at for each, at in self._sent.items() if now - at < SAME_WITHIN_S}
        if key in self._sent:
            return
        self._sent[key] = now
        self._go = go
        show = self._tray.tell if kind in CALM else self._tray.notify
        show(one_line(title, LONGEST_TITLE), one_line(text, LONGEST_TEXT))

    def forget(self) -> None:
        """Drops what was sent, so that the next hub's notifications are new, even equal ones."""
        self._sent.clear()

    def _on_clicked(self) -> None:
        """Opens the last notification's subject, since the system does not report which notification was clicked."""
        go, self._go = self._go, None
        (go or self._tray.open_requested.emit)()


def one_line(text: str, longest: int) -> str:
    """Returns a server's text as plain text of bounded length, since some systems read markup."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text).replace("<", "‹").replace("&", "＆")
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
