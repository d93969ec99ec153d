"""The sheet of a bundle: who made it, what exactly it is, what would run, which values it needs, and why it may not run here."""

from collections.abc import Sequence
from itertools import islice
from pathlib import PurePath

from msgspec.structs import replace
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.discovery import BundleOffer
from tooltray.foundation.snapshots.entries import NewServer
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.ui.add.review_sheet import WIDTH, OfferSheet, Values
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, fill, row
from tooltray.ui.zoom import px

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
    match offer.kind:
        case "node":
            return tr("runs with Node.js")
        case "python":
            return tr("runs with Python")
        case "uv":
            return tr("runs with uv")
        case _:
            return tr("brings a program of its own")


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
        theme = context.theme
        self.offer = offer
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
        box = Surface(theme, "surface.raised", "border", "m")
        lines = column(box, margins=(14, 4, 14, 4))
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
            rows.append((tr("Tools"), (Label(theme, _tools(offer.tools), "caption", "secondary", wrap=True),)))
        for index, (name, values) in enumerate(rows):
            if index:
                lines.addWidget(divider())
            line = row(margins=(0, 6, 0, 6), spacing=8)
            label = Label(theme, name, "caption", "muted")
            label.setFixedWidth(px(NAME_COLUMN))
            line.addWidget(label)
            stack = column(spacing=2)
            for value in values:
                stack.addWidget(value)
            line.addLayout(stack, 1)
            lines.addLayout(line)
        return box


def _short(source: str) -> str:
    """Returns a path's last part, or the whole address."""
    return source if "://" in source else PurePath(source).name


def _tools(tools: Sequence[str]) -> str:
    shown, more = ", ".join(islice(tools, MOST_TOOLS)), len(tools) - MOST_TOOLS
    return tr("{names} and {count} more", names=shown, count=more) if more > 0 else shown
