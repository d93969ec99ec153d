"""The sheet that adds a server that runs inside Tooltray."""

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.entries import FormField, NewServer
from tooltray.foundation.snapshots.servers import AccessSnapshot, InMemoryServer
from tooltray.ui.add.new_server_preview import read_new_access
from tooltray.ui.add.offer_sheet import OfferSheet, Values
from tooltray.ui.add.pasted_preview import free_name
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.widgets.label import Label

ARGUMENTS = "args"  # the key of the one field


class InMemorySheet(OfferSheet):
    """A sheet that adds a server that runs inside Tooltray. Adding it is also the approval for that, as a sentence above the button
    explains.
    """

    def __init__(self, context: PageContext, server: InMemoryServer) -> None:
        super().__init__(context, tr("Add {name}", name=server.name), word=tr("Add and run inside Tooltray"))
        self._server = server
        if server.summary:
            self.head.addWidget(Label(context.theme, server.summary, "body", wrap=True))
        self.set_fields([FormField(ARGUMENTS, tr("Arguments"), is_list=True)])

    async def add(self, values: Values, name: str) -> None:
        """Adds the server, and trusts exactly its entry."""
        await self.hub.servers.add_mcp_server(name, self._entry(self._arguments(values)), access=self.access)
        waiting = await self.hub.files.get_trust_requests("")
        if digests := {each.entry: each.digest for each in waiting if each.entry == name and not each.project}:
            await self.hub.files.trust_entries("", digests)
        if self.is_there:
            self.close_requested.emit()
        self.context.say(tr("{name} is added", name=name))

    def _arguments(self, values: Values) -> list[str]:
        args = values.get(ARGUMENTS, ())
        return list(args) if isinstance(args, tuple) else []

    def _entry(self, arguments: list[str]) -> dict[str, object]:
        return {"type": "inmemory", "command": self._server.name, "args": arguments}

    async def preview(self, values: Values) -> NewServer:
        arguments, server = self._arguments(values), self._server
        package = " ".join(part for part in (server.package, server.version) if part)
        warning = Problem(tr("It runs inside Tooltray and can read every secret"), "", tr("Add it only if you trust who made the package."))
        origin, name = tr("The installed package {name}", name=package), free_name(server.name, self._taken)
        words, setting = (server.name, *arguments), (await read_new_access(self.hub))[0]
        access = AccessSnapshot("free" if setting == "free" else "trusted", ("trusted", "free"), "reads")
        return NewServer(name, self._entry(arguments), words, "", (), origin, (warning,), access)
