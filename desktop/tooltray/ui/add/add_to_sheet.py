"""The sheet that adds a server to an AI client by a link: the client opens it and asks the user itself."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row

WIDTH = 520


class AddToPanel(SheetFrame):
    """A sheet with the links of AI clients. `open_requested` and `copy_requested` carry a link."""

    open_requested = Signal(str)
    copy_requested = Signal(str)

    def __init__(self, theme: Theme, server: str) -> None:
        super().__init__(theme, tr("Add {name} to an AI client", name=server), WIDTH)
        text = tr("The client opens the link, asks you, and starts {name} itself. No secret is in the link.", name=server)
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        self._place = column()
        self.body.addLayout(self._place)
        self._place.addWidget(Label(theme, tr("One moment…"), "caption", "muted"))
        self.buttons.addStretch(1)
        close = Button(theme, tr("Close"))
        close.clicked.connect(self.close_requested)
        self.buttons.addWidget(close)

    def show_links(self, links: Mapping[str, str]) -> None:
        """Shows a link for each client that supports links."""
        clear(self._place)
        box = Surface(self._theme, "surface.raised", "border", "m")
        lines = column(box, margins=(14, 0, 14, 0))
        for index, (client, link) in enumerate(links.items()):
            if index:
                lines.addWidget(divider())
            line = row(margins=(0, 8, 0, 8), spacing=8)
            line.addWidget(Label(self._theme, client, "strong"), 1)
            for words, name, signal in (
                (tr("Copy"), tr("Copy the link for {name}", name=client), self.copy_requested),
                (tr("Open"), tr("Open the link for {name}", name=client), self.open_requested),
            ):
                button = Button(self._theme, words, small=True)
                button.setAccessibleName(name)
                button.clicked.connect(partial(signal.emit, link))
                line.addWidget(button)
            lines.addLayout(line)
        self._place.addWidget(box)

    def show_refusal(self, problem: Problem) -> None:
        """Shows why there are no links."""
        clear(self._place)
        self.show_problem(problem)
