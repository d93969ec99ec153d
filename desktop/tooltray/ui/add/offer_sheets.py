"""The sheets that add a server that was found: in the registry, among the well-known ones, in an installed package, or as a
bundle, with who made it and what exactly it is."""

from collections.abc import Callable, Sequence
from pathlib import PurePath

from msgspec.structs import replace
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.discovery import BundleOffer, RegistryOption, RegistryServer, StarterServer
from tooltray.foundation.snapshots.entries import FormField, NewServer
from tooltray.foundation.snapshots.servers import AccessChoice, AccessSnapshot, InMemoryServer
from tooltray.ui.add.review_sheet import WIDTH, OfferSheet, Values, read_new_access
from tooltray.ui.add.server_review import free_name
from tooltray.ui.figures import first_names
from tooltray.ui.i18n import say, shipped, tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import column, fill, row
from tooltray.ui.zoom import px

ShowAdded = Callable[[str], object]
KINDS = {"npm": "npm", "pypi": "PyPI", "nuget": "NuGet", "oci": "Docker", "mcpb": "MCPB"}
"""How packages are called everywhere; only what is elsewhere has a word of ours."""
ARGUMENTS = "args"  # the key of the one field of a server that runs inside Tooltray


def kind_word(kind: str) -> str:
    return tr("Remote") if kind == "remote" else KINDS.get(kind, kind)


def option_title(option: RegistryOption) -> str:
    """Returns one way to install a server, in one line."""
    return f"{kind_word(option.kind)} · {option.label}"


class RegistrySheet(OfferSheet):
    """A sheet that adds a server of the registry, by the package or address that the user chooses. A bundle is read and shown before it is
    installed.

    Args:
        show_added: shows that it is added, by its name here.
    """

    _option: RegistryOption | None = None

    def __init__(self, context: PageContext, server: RegistryServer, show_added: ShowAdded) -> None:
        super().__init__(context, server.title or server.name, tr("Add server"))
        theme, self.server, self._show_added = context.theme, server, show_added
        line = fill(row(spacing=8), (CodeLabel(theme, server.name, "secondary"), 1), Chip(theme, server.version))
        if server.is_deprecated:
            line.addWidget(Chip(theme, tr("Not maintained any more"), "warning"))
        fill(self.head, line, Label(theme, server.description, "body", wrap=True))
        self.add_links((tr("Source code"), server.repository), (tr("Website"), server.website))
        self._needs = Label(theme, "", "caption", "muted", wrap=True)
        usable = [option for option in server.options if option.problem is None] or list(server.options)
        self._option = usable[0] if usable else None
        if len(server.options) > 1 and self._option is not None:
            options = [(option.id, option_title(option)) for option in server.options]
            choice = OptionList(theme, options, name=tr("How to have it"), chosen=[self._option.id], may_be_empty=False)
            choice.changed.connect(lambda: self._choose(choice.chosen[0]))
            fill(self.head, Label(theme, tr("How to have it"), "strong"), choice)
        self.head.addWidget(self._needs)
        self._show_option()

    async def preview(self, values: Values) -> NewServer:
        return await self.hub.discovery.preview_registry_server(self.server.name, self.server.version, self._option_id, dict(values))

    async def add_offer(self, values: Values, name: str, access: AccessChoice | None) -> None:
        server, discovery = self.server, self.hub.discovery
        add = discovery.add_registry_server(server.name, server.version, self._option_id, dict(values), name, access)
        self._show_added(await add)

    @property
    def _option_id(self) -> str:
        return self._option.id if self._option is not None else ""

    def _choose(self, id: str) -> None:
        self._option = next(option for option in self.server.options if option.id == id)
        self._show_option()

    def _show_option(self) -> None:
        option = self._option
        if option is None:
            text = tr("The registry names neither a package nor an address for it.")
            self.block(Problem(tr("There is nothing to add"), text, ""))
            return
        words = tr("It is started by {program}.", program=option.needs) if option.needs else ""
        if len(self.server.options) == 1:
            words = " · ".join(part for part in (option_title(option), words) if part)
        self._needs.setText(words)
        self._needs.setVisible(bool(words))
        self.block(*filter(None, [option.problem]))
        self.set_fields(option.fields if option.problem is None else ())
        if self._is_bundle:
            self._what.hide()

    @property
    def _is_bundle(self) -> bool:
        return self._option is not None and self._option.kind == "mcpb" and self._option.problem is None

    @property
    def can_go(self) -> bool:
        return self._is_bundle or super().can_go

    @property
    def word(self) -> str:
        return tr("Look at the bundle…") if self._is_bundle else super().word

    def _on_go(self) -> None:
        if self._is_bundle and self._option is not None:
            self.close_requested.emit()
            self.context.sheets.show(ReadingBundleSheet(self.context, self._option.label))
        else:
            super()._on_go()


class StarterSheet(OfferSheet):
    """A sheet that adds a well-known server.

    Args:
        show_added: shows that it is added, by its name here.
    """

    def __init__(self, context: PageContext, server: StarterServer, show_added: ShowAdded) -> None:
        super().__init__(context, server.title, tr("Add server"))
        theme, self.server, self._show_added = context.theme, server, show_added
        self.head.addWidget(Label(theme, shipped(server.good_for), "body", wrap=True))
        if server.needs:
            self.head.addWidget(Label(theme, tr("It needs {what}.", what=shipped(server.needs)), "caption", "secondary", wrap=True))
        self.set_fields(server.fields)

    async def add_offer(self, values: Values, name: str, access: AccessChoice | None) -> None:
        self._show_added(await self.hub.discovery.add_starter_server(self.server.id, dict(values), name, access))

    async def preview(self, values: Values) -> NewServer:
        return await self.hub.discovery.preview_starter_server(self.server.id, dict(values))


class InMemorySheet(OfferSheet):
    """A sheet that adds a server that runs inside Tooltray. Adding it is also the approval for that, as a sentence above the button
    explains.
    """

    def __init__(self, context: PageContext, server: InMemoryServer) -> None:
        super().__init__(context, tr("Add {name}", name=server.name), tr("Add and run inside Tooltray"))
        self._server = server
        if server.summary:
            self.head.addWidget(Label(context.theme, server.summary, "body", wrap=True))
        self.set_fields([FormField(ARGUMENTS, tr("Arguments"), is_list=True)])

    async def add_offer(self, values: Values, name: str, access: AccessChoice | None) -> None:
        """Adds the server, and trusts exactly its entry."""
        await self.hub.servers.add_mcp_server(name, self._entry(values), access=access)
        waiting = await self.hub.files.get_trust_requests("")
        if digests := {each.entry: each.digest for each in waiting if each.entry == name and not each.project}:
            await self.hub.files.trust_entries("", digests)
        self.context.say(tr("{name} is added", name=name))

    def _entry(self, values: Values) -> dict[str, object]:
        args = values.get(ARGUMENTS, ())
        return {"type": "inmemory", "command": self._server.name, "args": list(args) if isinstance(args, tuple) else []}

    async def preview(self, values: Values) -> NewServer:
        server, entry = self._server, self._entry(values)
        package = " ".join(part for part in (server.package, server.version) if part)
        warning = Problem(tr("It runs inside Tooltray and can read every secret"), "", tr("Add it only if you trust who made the package."))
        origin, arguments = tr("The installed package {name}", name=package), values.get(ARGUMENTS, ())
        words = (server.name, *(arguments if isinstance(arguments, tuple) else ()))
        setting, _ = await read_new_access(self.hub)
        access = AccessSnapshot("free" if setting == "free" else "trusted", ("trusted", "free"), "reads")
        return NewServer(free_name(server.name, self.taken), entry, words, "", (), origin, (warning,), access)


MOST_TOOLS = 12  # by name; the rest is counted
NAME_COLUMN = 84
MEGABYTE = 1_000_000  # bytes, as shops and disks count
ENDINGS = (".mcpb", ".dxt")
"""How files with bundles end."""


def is_bundle(name: str) -> bool:
    """Returns whether a file's name or an address's path has the ending of a bundle."""
    return name.lower().endswith(ENDINGS)


def bundle_of_urls(urls: Sequence[QUrl]) -> str:
    """Returns the first bundle among what was dropped: a path, or an address of the web; empty without one."""
    for url in urls:
        if url.isLocalFile() and is_bundle(url.toLocalFile()):
            return url.toLocalFile()
        if url.scheme() == "https" and is_bundle(url.path()):
            return url.toString()
    return ""


def size_text(size_bytes: int) -> str:
    if size_bytes < MEGABYTE:
        return f"{max(round(size_bytes / 1000), 1):,} kB"
    return f"{size_bytes / MEGABYTE:,.1f} MB"


def kind_text(offer: BundleOffer) -> str:
    """Returns the kind of program that runs the bundle."""
    words = {"node": tr("runs with Node.js"), "python": tr("runs with Python"), "uv": tr("runs with uv")}
    return words.get(offer.kind) or tr("brings a program of its own")


def signature_text(offer: BundleOffer) -> str:
    """Returns what is known about the bundle's signer, as a sentence."""
    if offer.signature == "unverified":
        return tr("It has a signature that was not verified.")
    return tr("It is not signed: anyone could have written this name.")


class ReadingBundleSheet(SheetView):
    """A sheet that reads a bundle without starting it, and gives way to the sheet that shows it; or shows why it cannot be read."""

    def __init__(self, context: PageContext, source: str) -> None:
        super().__init__(context, tr("Install a bundle"), WIDTH)
        theme, self._source = context.theme, source
        self._words = Label(theme, tr("Reading it. Nothing of it is started."), "body", "secondary", wrap=True)
        fill(self.body, CodeLabel(theme, visible_path(source), "secondary"), self._words)
        self.add_button(tr("Close"), self.leave)
        self.reading(self._read)()

    async def _read(self) -> None:
        offer = await self.hub.bundles.read_bundle(self._source)
        if self.context.sheets.panel is self:
            self.context.sheets.replace(BundleSheet(self.context, offer))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why it cannot be read."""
        self._words.hide()
        super().show_problem(problem)


class BundleSheet(OfferSheet):
    """A sheet that installs a bundle, or updates the server that was made from an older one."""

    def __init__(self, context: PageContext, offer: BundleOffer) -> None:
        word = tr("Update {name}", name=offer.here) if offer.here else tr("Install")
        name = tr("Install {name}", name=offer.title or offer.name) if not offer.here else word
        super().__init__(context, name, word, has_name=not offer.here)
        theme, self.offer = context.theme, offer
        if offer.description:
            self.head.addWidget(Label(theme, offer.description, "body", wrap=True))
        self.head.addWidget(self._facts())
        self.add_links((tr("Website"), offer.homepage))
        for warning in offer.warnings:
            self.head.addWidget(Banner(theme, "warning", title(warning), sentences(warning)))
        self.block(*offer.problems)
        self.set_fields(() if offer.problems else offer.fields)

    async def preview(self, values: Values) -> NewServer:
        return await self.hub.bundles.preview_bundle(self.offer.source, self.offer.sha256, dict(values))

    async def add_offer(self, values: Values, name: str, access: AccessChoice | None) -> None:
        offer, context = self.offer, self.context
        installed = await self.hub.bundles.install_bundle(offer.source, offer.sha256, dict(values), offer.here or name, access)
        context.say(tr("{name} is installed", name=installed))
        context.go(OpenServer(installed))

    def show_preview(self, number: int, server: NewServer) -> None:
        """Shows the preview without warnings that the sheet already shows."""
        others = tuple(warning for warning in server.warnings if warning not in self.offer.warnings)
        super().show_preview(number, replace(server, warnings=others))

    def _facts(self) -> QWidget:
        offer, theme = self.offer, self._theme
        publisher = Label(theme, offer.author or tr("unknown"), "body", wrap=True)
        signature = Label(theme, signature_text(offer), "caption", "warning", wrap=True)
        version = f"{offer.here_version} → {offer.version}" if offer.here_version else offer.version
        facts = " · ".join(part for part in (kind_text(offer), size_text(offer.size_bytes), say(offer.licence)) if part)
        rows: list[tuple[str, Sequence[QWidget]]] = [
            (tr("Publisher"), (publisher, signature)),
            (tr("Version"), (Label(theme, version, "body"), Label(theme, facts, "caption", "secondary", wrap=True))),
            ("SHA-256", (CodeLabel(theme, offer.sha256),)),
            (tr("From"), (CodeLabel(theme, visible_path(_short(offer.source)), "secondary"),)),
        ]
        if offer.tools:
            rows.append((tr("Tools"), (Label(theme, first_names(offer.tools, MOST_TOOLS), "caption", "secondary", wrap=True),)))
        return lines_box(theme, (self._fact(*each) for each in rows), "surface.raised", 4)

    def _fact(self, name: str, values: Sequence[QWidget]) -> QHBoxLayout:
        label = Label(self._theme, name, "caption", "muted")
        label.setFixedWidth(px(NAME_COLUMN))
        return fill(row(margins=(0, 6, 0, 6), spacing=8), label, (fill(column(spacing=2), *values), 1))


def _short(source: str) -> str:
    """Returns a path's last part, or the whole address."""
    return source if "://" in source else PurePath(source).name
