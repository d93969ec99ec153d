"""A banner: one sentence about what happened, one about what to do, above the content it concerns."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, column, row

ICONS = {"error": "alert", "warning": "alert", "info": "info"}


class Banner(Surface):
    """`tone` is `error`, `warning` or `info`; at most two buttons."""

    def __init__(self, theme: Theme, tone: str, title: str, text: str, *buttons: QWidget) -> None:
        super().__init__(theme, f"{tone}.subtle", None, "m")
        self.setAccessibleName(f"{title}. {text}" if text else title)
        line = row(self, margins=(12, 10, 12, 10), spacing=10)
        line.addWidget(Icon(theme, ICONS[tone], 16, f"{tone}.text"), 0, Qt.AlignmentFlag.AlignTop)
        words = column()
        words.addWidget(Label(theme, title, "caption_strong", tone, wrap=True))
        if text:
            details = Label(theme, text, "caption", "secondary", wrap=True)
            details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)  # paths and commands are there to be copied
            words.addWidget(details)
        line.addLayout(words, 1)
        for button in buttons:
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
