"""The sheet that adds a server to an AI client by a link: the client opens it and asks the user itself."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, clear, column, divider, fill, row

WIDTH = 520


class AddToSheet(SheetView):
    """A sheet with the links of AI clients."""

    def __init__(self, context: PageContext, server: str) -> None:
        super().__init__(context, tr("Add {name} to an AI client", name=server), WIDTH)
        theme, self._server = context.theme, server
        text = tr("The client opens the link, asks you, and starts {name} itself. No secret is in the link.", name=server)
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        self._place = column()
        self.body.addLayout(self._place)
        self._place.addWidget(Label(theme, tr("One moment…"), "caption", "muted"))
        self.add_button(tr("Close"), self.leave)
        self.reading(self._read)()

    async def _read(self) -> None:
        links = await self.hub.servers.get_client_links(self._server)
        if not links:
            raise TooltrayError(tr("No AI client takes a link for it"), "", tr("Connect the client on the page Clients."))
        self._show_links(links)

    def _show_links(self, links: Mapping[str, str]) -> None:
        """Shows a link for each client that supports links."""
        clear(self._place)
        box = Surface(self._theme, "surface.raised", "border", "m")
        lines = column(box, margins=(14, 0, 14, 0))
        for index, (client, link) in enumerate(links.items()):
            if index:
                lines.addWidget(divider())
            line = fill(row(margins=(0, 8, 0, 8), spacing=8), (Label(self._theme, client, "strong"), 1))
            for words, name, use in (
                (tr("Copy"), tr("Copy the link for {name}", name=client), self._copy),
                (tr("Open"), tr("Open the link for {name}", name=client), self._open),
            ):
                button = Button(self._theme, words, small=True, on_click=partial(use, link))
                button.setAccessibleName(name)
                line.addWidget(button)
            lines.addLayout(line)
        self._place.addWidget(box)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why there are no links."""
        clear(self._place)
        super().show_problem(problem)

    def _open(self, link: str) -> None:
        if not QDesktopServices.openUrl(QUrl(link)):
            self.context.copy(link, tr("Nothing opens this link here. It is copied."))

    def _copy(self, link: str) -> None:
        self.context.copy(link, tr("The link is copied"))
