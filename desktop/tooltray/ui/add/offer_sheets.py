"""Opens the sheets that add bundles and servers that run inside Tooltray; and links to AI clients. An open sheet of another kind stays."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal, SignalInstance
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.discovery import BundleOffer
from tooltray.foundation.snapshots.entries import FieldValue, FormField, NewServer
from tooltray.foundation.snapshots.servers import InMemoryServer
from tooltray.ui.add.add_server import AddServerPanel
from tooltray.ui.add.add_to_sheet import AddToPanel
from tooltray.ui.add.bundle_commands import BundleCommands
from tooltray.ui.add.bundle_sheet import BundlePanel, ReadingBundlePanel
from tooltray.ui.add.bundle_urls import ENDINGS
from tooltray.ui.add.offer_sheet import OfferPanel, free_name
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action, at_sheet
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import Label

ARGUMENTS = "args"  # the key of the one field


class InMemoryPanel(OfferPanel):
    """A sheet that adds a server that runs inside Tooltray. Adding it is also the approval for that, as a sentence above the button
    explains.
    """

    def __init__(self, theme: Theme, server: InMemoryServer, taken: frozenset[str]) -> None:
        super().__init__(theme, tr("Add {name}", name=server.name), taken=taken, word=tr("Add and run inside Tooltray"))
        self._server, self._names = server, taken
        if server.summary:
            self.head.addWidget(Label(theme, server.summary, "body", wrap=True))
        self.set_fields([FormField(ARGUMENTS, tr("Arguments"), is_list=True)])

    def entry(self, values: Mapping[str, FieldValue]) -> dict[str, object]:
        """Returns the server's entry for the settings."""
        args = values.get(ARGUMENTS, ())
        return {"type": "inmemory", "command": self._server.name, "args": list(args) if isinstance(args, tuple) else []}

    def _ask(self) -> None:
        if self.form is None:
            return
        entry, server = self.entry(self.form.values), self._server
        args = entry["args"]
        words = (server.name, *(args if isinstance(args, list) else ()))
        package = " ".join(part for part in (server.package, server.version) if part)
        warning = Problem(tr("It runs inside Tooltray and can read every secret"), "", tr("Add it only if you trust who made the package."))
        origin = tr("The installed package {name}", name=package)
        self.show_preview(self._number, NewServer(free_name(server.name, self._names), entry, words, "", (), origin, (warning,)))


class OfferCommands(Commands):
    inmemory_listed = Signal(object)  # list[InMemoryServer]
    inmemory_added = Signal(str)
    links_read = Signal(object)  # links by clients' names

    @action(at_sheet)
    async def list_inmemory(self) -> None:
        """Reads which servers installed packages contain; emits none where that fails."""
        self.inmemory_listed.emit(list(await self._hub.servers.get_inmemory_servers()))

    @action(at_sheet)
    async def read_links(self, server: str) -> None:
        """Reads the links that add a server to AI clients; emits `links_read`, or `refused`."""
        links = await self._hub.servers.get_client_links(server)
        if not links:
            raise TooltrayError(tr("No AI client takes a link for it"), "", tr("Connect the client on the page AI clients."))
        self.links_read.emit(links)

    @action(at_sheet)
    async def add_inmemory(self, name: str, entry: Mapping[str, object]) -> None:
        """Adds a server that runs inside Tooltray, and trusts exactly that entry; emits `inmemory_added`, or `refused`."""
        await self._hub.servers.add_mcp_server(name, dict(entry))
        waiting = await self._hub.files.get_trust_requests("")
        if digests := {each.entry: each.digest for each in waiting if each.entry == name and not each.project}:
            await self._hub.files.trust_entries("", digests)
        self.inmemory_added.emit(name)
        self.done.emit(tr("{name} is added", name=name))


class OfferSheets(QObject):
    def __init__(self, context: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._place, self._theme = context, context.sheets, context.theme
        self.bundles = BundleCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self.commands = OfferCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self.bundles.bundle_read.connect(self._open_bundle)
        self.bundles.installed.connect(self._on_installed)
        self.commands.done.connect(context.say)
        context.wishes.link_requested.connect(self.open_add_to)

    def complete(self, panel: AddServerPanel) -> None:
        """Connects the alternatives to pasting in the sheet that adds a server."""
        ways, links = panel.other_ways, self._context.links
        ways.file_requested.connect(self.choose_bundle)
        ways.inmemory_requested.connect(self.open_inmemory)
        for wanted, page, part in ((ways.discover_requested, "servers", "discover"), (ways.import_requested, "clients", "import")):
            wanted.connect(panel.cancel_requested)
            wanted.connect(partial(links.part_asked.emit, page, part, ""))
        self.commands.inmemory_listed.connect(ways.show_inmemory)
        self.commands.list_inmemory()

    def choose_bundle(self) -> None:
        """Prompts for a bundle's file."""
        dialog = QFileDialog(self._context.window, tr("Install a bundle"), str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(tr("Bundles ({patterns})", patterns=" ".join(f"*{ending}" for ending in ENDINGS)))
        dialog.fileSelected.connect(self.open_bundle)
        dialog.open()

    def open_bundle(self, source: str) -> None:
        """Reads a bundle without starting it, and shows what it is."""
        if not self._is_free():
            return
        panel = ReadingBundlePanel(self._theme, source)
        panel.close_requested.connect(self._place.replace(panel).dismiss)
        self.bundles.refused.connect(panel.show_refusal)
        self.bundles.read(source)

    def open_add_to(self, server: str) -> None:
        """Shows links that add a server to AI clients."""
        if self._place.sheet is not None:
            return
        panel = AddToPanel(self._theme, server)
        panel.open_requested.connect(self._on_open_link)
        panel.copy_requested.connect(self._on_copy_link)
        panel.close_requested.connect(self._place.open(panel).dismiss)
        self.commands.links_read.connect(panel.show_links)
        self.commands.refused.connect(panel.show_refusal)
        self.commands.read_links(server)

    def _is_free(self) -> bool:
        """Returns whether a sheet can open without closing one that the user would lose."""
        return self._place.panel is None or isinstance(self._place.panel, AddServerPanel | ReadingBundlePanel)

    def _taken(self) -> frozenset[str]:
        return frozenset(server.name for server in self._context.servers.servers)

    def _open_bundle(self, offer: BundleOffer) -> None:
        if not isinstance(self._place.panel, ReadingBundlePanel):
            return  # nobody waits for it any more
        panel, bundles = BundlePanel(self._theme, offer, self._taken()), self.bundles

        def preview(number: int, values: Mapping[str, FieldValue]) -> None:
            bundles.preview(number, offer.source, offer.sha256, values)

        def install(values: Mapping[str, FieldValue], name: str) -> None:
            bundles.install(offer.source, offer.sha256, values, offer.here or name)

        panel.preview_requested.connect(preview)
        panel.add_requested.connect(install)
        bundles.previewed.connect(panel.show_preview)
        bundles.preview_failed.connect(panel.show_preview_problem)
        self._replace(panel, bundles, bundles.installed)

    def open_inmemory(self, server: InMemoryServer) -> None:
        """Shows a server that would run inside Tooltray, for approval."""
        panel, commands = InMemoryPanel(self._theme, server, self._taken()), self.commands

        def add(values: Mapping[str, FieldValue], name: str) -> None:
            commands.add_inmemory(name, panel.entry(values))

        panel.add_requested.connect(add)
        self._replace(panel, commands, commands.inmemory_added)

    def _replace(self, panel: OfferPanel, commands: Commands, over: SignalInstance) -> None:
        """Opens a sheet in place of the previous one; `over` closes it."""
        commands.refused.connect(panel.show_refusal)
        sheet = self._place.replace(panel)
        panel.close_requested.connect(sheet.dismiss)
        over.connect(sheet.dismiss)

    def _on_installed(self, name: str) -> None:
        self._context.say(tr("{name} is installed", name=name))
        self._context.links.server_asked.emit(name)

    def _on_open_link(self, link: str) -> None:
        if not QDesktopServices.openUrl(QUrl(link)):
            self._context.copy(link, tr("Nothing opens this link here. It is copied."))

    def _on_copy_link(self, link: str) -> None:
        self._context.copy(link, tr("The link is copied"))
