"""The frame of a sheet: a title with a close button, content that scrolls, buttons that do not."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.page_scroll import FittedScroll
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row


class SheetFrame(Surface):
    """`body` is for the content, `buttons` for what stands below it at the right."""

    close_requested = Signal()

    def __init__(self, theme: Theme, name: str, width: int) -> None:
        super().__init__(theme, "surface.raised", "border", "xl")
        self.setMaximumWidth(width)
        self.setAccessibleName(name)
        layout = column(self)
        head = row(margins=(24, 14, 16, 14))
        head.addWidget(ElidedLabel(theme, name, "heading"), 1)
        close = IconButton(theme, "x", tr("Close"), small=True)
        close.clicked.connect(self.close_requested)
        head.addWidget(close)
        layout.addLayout(head)
        layout.addWidget(divider())
        content = QWidget()
        outer = column(content, margins=(24, 16, 24, 20), spacing=12)
        self._fault = column()
        self.body = column(spacing=12)
        outer.addLayout(self._fault)
        outer.addLayout(self.body)
        outer.addStretch(1)
        scroll = FittedScroll(name, width)
        scroll.setWidget(content)
        layout.addWidget(scroll, 1)
        layout.addWidget(divider())
        self.buttons = row(margins=(24, 14, 24, 14))
        layout.addLayout(self.buttons)

    def show_fault(self, problem: Problem | None) -> None:
        """Says on top what did not work; None takes it away."""
        clear(self._fault)
        if problem is not None:
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
