"""Tokens of one kind, a line each with what it is for and a button that ends it; and a button that makes another.

Above it: the Settings page. Draws what it is given; never holds a token, which nobody can show again.
"""

from collections.abc import Sequence
from functools import partial

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.setting_rows import setting_row
from tooltray.ui.widgets.surface import clear, column, divider


class TokenLine(msgspec.Struct, frozen=True):
    """
    Attributes:
        text: what it may, and until when.
    """

    name: str
    text: str


class TokenList(QWidget):
    """`new_requested`: a person wants another; `revoke_requested` carries the name of one that is to end.

    Args:
        title: whose tokens they are.
        text: what they are for.
    """

    new_requested = Signal()
    revoke_requested = Signal(str)

    def __init__(self, theme: Theme, title: str, text: str) -> None:
        super().__init__()
        self._theme = theme
        self._lines: tuple[TokenLine, ...] = ()
        layout = column(self)
        new = Button(theme, tr("New token"), icon="plus", small=True)
        new.setAccessibleName(f"{tr('New token')}, {title}")
        new.clicked.connect(self.new_requested)
        layout.addWidget(setting_row(theme, title, text, new))
        self._rows = column()
        layout.addLayout(self._rows)

    def set_tokens(self, tokens: Sequence[TokenLine]) -> None:
        if tuple(tokens) == self._lines:
            return
        self._lines = tuple(tokens)
        clear(self._rows)
        for each in tokens:
            revoke = Button(self._theme, tr("Revoke"), small=True)
            revoke.setAccessibleName(tr("Revoke the token {name}", name=each.name))
            revoke.clicked.connect(partial(self.revoke_requested.emit, each.name))
            self._rows.addWidget(divider())
            self._rows.addWidget(setting_row(self._theme, each.name, each.text, revoke))
