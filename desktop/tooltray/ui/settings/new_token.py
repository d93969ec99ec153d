"""Another token for programs: the one of now ends, which cannot be undone, so it is asked."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet_frame import SheetFrame

WIDTH = 480


class NewTokenPanel(SheetFrame):
    confirmed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Make another token?"), WIDTH)
        text = tr("Programs that have the one of now do not get in any more, and what they have open ends. Give them the new one.")
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        self.buttons.addStretch(1)
        self._keep = Button(theme, tr("Keep it"))
        self._keep.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._keep)
        go = Button(theme, tr("Make another"), "primary")
        go.clicked.connect(self._on_go)
        self.buttons.addWidget(go)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._keep.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_go(self) -> None:
        self.confirmed.emit()
        self.close_requested.emit()
