"""Asks before Tooltray ends while AI clients are connected: who they are, and what it means for them."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet_frame import SheetFrame

WIDTH = 460
MOST_NAMES = 6  # more would fill the window, and say no more


class QuitPanel(SheetFrame):
    """`confirmed`: it ends all the same."""

    confirmed = Signal()

    def __init__(self, theme: Theme, clients: Sequence[str]) -> None:
        super().__init__(theme, tr("Quit Tooltray?"), WIDTH)
        self.body.addWidget(Label(theme, who(clients), "strong", wrap=True))
        text = tr("Their calls end now. The next call of a client starts Tooltray again.")
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        self.buttons.addStretch(1)
        self._stay = Button(theme, tr("Keep running"))
        self._stay.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._stay)
        quit = Button(theme, tr("Quit"), "danger")
        quit.clicked.connect(self.confirmed)
        self.buttons.addWidget(quit)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._stay.setFocus(Qt.FocusReason.OtherFocusReason)


def who(clients: Sequence[str]) -> str:
    """Returns who is connected, as a sentence; the same client twice is named once."""
    names = list(dict.fromkeys(clients))
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    if more > 0:
        return tr("{names} and {count} more are connected.", names=shown, count=more)
    return tr("{name} is connected.", name=shown) if len(names) == 1 else tr("{names} are connected.", names=shown)
