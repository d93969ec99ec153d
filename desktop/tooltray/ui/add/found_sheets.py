"""The sheets that add a server that was found: in the registry, among the well-known ones, or in an installed package."""

from collections.abc import Callable

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.discovery import RegistryOption, RegistryServer, StarterServer
from tooltray.foundation.snapshots.entries import FormField, NewServer
from tooltray.foundation.snapshots.servers import AccessChoice, AccessSnapshot, InMemoryServer
from tooltray.ui.add.bundle_sheet import ReadingBundleSheet
from tooltray.ui.add.review_sheet import OfferSheet, Values, read_new_access
from tooltray.ui.add.server_review import free_name
from tooltray.ui.i18n import shipped, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.surface import fill, row

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
        self._options: OptionList | None = None
        self._needs = Label(theme, "", "caption", "muted", wrap=True)
        usable = [option for option in server.options if option.problem is None] or list(server.options)
        self._option = usable[0] if usable else None
        if len(server.options) > 1 and self._option is not None:
            options = [(option.id, option_title(option)) for option in server.options]
            self._options = OptionList(theme, options, name=tr("How to have it"), chosen=[self._option.id], may_be_empty=False)
            self._options.changed.connect(self._on_option)
            fill(self.head, Label(theme, tr("How to have it"), "strong"), self._options)
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

    def _on_option(self) -> None:
        chosen = self._options.chosen if self._options is not None else []
        self._option = next((option for option in self.server.options if option.id in chosen), self._option)
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
