"""The small sheets of a server: the name of its copy, the address of a sign-in, a secret that it lacks, links that add it to AI clients."""

from collections.abc import Callable, Collection, Mapping
from functools import partial

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.settings.secret_entry import SecretEntry
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import lines_box, text_line
from tooltray.ui.widgets.surface import clear, column, fill, row

NAME_WIDTH, WIDTH, ADDRESS_WIDTH = 480, 520, 560  # px
LONGEST_NAME = 64  # what settings allow


class DuplicateSheet(SheetView):
    """A sheet that duplicates a server: for another account of the same service, or for the same program with other arguments.

    Args:
        show_copy: opens the settings of the copy, by its name.
    """

    def __init__(self, context: PageContext, server: ServerSnapshot, show_copy: Callable[[str], object]) -> None:
        super().__init__(context, tr("Duplicate {name}", name=server.name), NAME_WIDTH)
        theme, self._server, self._show_copy = context.theme, server.name, show_copy
        self._taken = frozenset(each.name for each in context.servers.servers)
        self._field = text_line(theme, tr("Name of the copy"))
        self._field.setText(free_name(server.name, self._taken))
        self._field.setMaxLength(LONGEST_NAME)
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_duplicate)
        self._note = Label(theme, "", "caption", "error", wrap=True)
        text = tr(
            "It has the same settings, rules and secrets, and starts when it is used. Its settings open next, for an account of its own."
        )
        about = Label(theme, text, "caption", "muted", wrap=True)
        fill(self.body, Label(theme, tr("Name of the copy"), "label"), self._field, self._note, about)
        self.add_button(tr("Cancel"), self.leave)
        self._go = self.add_button(tr("Duplicate"), self._on_duplicate, "primary")
        QShortcut(QKeySequence("Ctrl+Return"), self, self._on_duplicate).setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.set_first_focus(self._field)
        self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._field.selectAll()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why it was not duplicated; the field keeps its content."""
        super().show_problem(problem)
        self._draw()

    def _draw(self) -> None:
        name = self._field.text().strip()
        self._note.setText(tr("There is a server of this name.") if name in self._taken else "")
        self._note.setVisible(bool(self._note.text()))
        self._go.setEnabled(bool(name) and name not in self._taken)

    def _on_duplicate(self) -> None:
        if self._go.isEnabled():
            self._go.setEnabled(False)  # once
            self.run(self._duplicate(self._field.text().strip()))

    async def _duplicate(self, name: str) -> None:
        self._show_copy(await self.hub.servers.duplicate_mcp_server(self._server, name))
        self.close_requested.emit()


def free_name(name: str, taken: Collection[str]) -> str:
    """Returns the name with the first number that no server uses."""
    stem = name[: LONGEST_NAME - 4]
    return next(found for number in range(2, len(taken) + 3) if (found := f"{stem}-{number}") not in taken)


class SignInAddressSheet(SheetView):
    """A sheet with the address of a sign-in, where no browser could be opened."""

    def __init__(self, context: PageContext, server: str, url: str) -> None:
        super().__init__(context, tr("Sign in to {name}", name=server), ADDRESS_WIDTH)
        theme, self.server = context.theme, server
        text = tr("Open this address in a browser on this computer. Tooltray waits for you to sign in there.")
        field = text_line(theme, tr("Address at which you sign in to {name}", name=server), style="mono")
        field.setText(url)
        field.setReadOnly(True)
        field.setCursorPosition(0)
        fill(self.body, Banner(theme, "warning", tr("No browser could be opened"), text), field)
        self.add_button(tr("Close"), self.leave)
        copy = partial(context.copy, url, tr("The address is copied"))
        self.set_first_focus(self.add_button(tr("Copy address"), copy, "primary", "copy"))


class SecretSheet(SheetView):
    """A sheet for a secret that a server lacks; the server starts as soon as the secret is stored."""

    def __init__(self, context: PageContext, server: str, secret: str) -> None:
        super().__init__(context, tr("A secret for {name}", name=server), WIDTH)
        self._server = server
        text = tr("Its settings name this secret, and none is stored. The server starts as soon as it is.")
        entry = SecretEntry(context, secret)
        entry.stored.connect(self._on_stored)
        fill(self.body, Label(context.theme, text, "body", "secondary", wrap=True), CodeLabel(context.theme, secret), entry)
        self.add_button(tr("Cancel"), self.leave)
        self.set_first_focus(entry)

    def _on_stored(self) -> None:
        self.close_requested.emit()
        self.context.say(tr("The secret is stored; {name} starts", name=self._server))


class AddToSheet(SheetView):
    """A sheet with links that add a server to AI clients: a client opens its link and asks the user itself."""

    def __init__(self, context: PageContext, server: str) -> None:
        super().__init__(context, tr("Add {name} to an AI client", name=server), WIDTH)
        theme, self._server = context.theme, server
        text = tr("The client opens the link, asks you, and starts {name} itself. No secret is in the link.", name=server)
        self._place = fill(column(), Label(theme, tr("One moment…"), "caption", "muted"))
        fill(self.body, Label(theme, text, "body", "secondary", wrap=True), self._place)
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
        self._place.addWidget(lines_box(self._theme, (self._line(*each) for each in links.items()), "surface.raised"))

    def _line(self, client: str, link: str) -> QHBoxLayout:
        copy = Button(self._theme, tr("Copy"), small=True, on_click=partial(self.context.copy, link, tr("The link is copied")))
        copy.setAccessibleName(tr("Copy the link for {name}", name=client))
        follow = Button(self._theme, tr("Open"), small=True, on_click=partial(self._open, link))
        follow.setAccessibleName(tr("Open the link for {name}", name=client))
        return fill(row(margins=(0, 8, 0, 8), spacing=8), (Label(self._theme, client, "strong"), 1), copy, follow)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why there are no links."""
        clear(self._place)
        super().show_problem(problem)

    def _open(self, link: str) -> None:
        if not QDesktopServices.openUrl(QUrl(link)):
            self.context.copy(link, tr("Nothing opens this link here. It is copied."))
