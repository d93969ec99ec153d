"""What is changed in AI clients' files: connecting, disconnecting, importing from them, and undoing that, each after a preview."""

from collections.abc import Callable, Coroutine, Sequence

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientChange, ClientEdit
from tooltray.ui.clients import computer_words as said
from tooltray.ui.clients.edits_sheet import EditsSheet
from tooltray.ui.clients.import_sheet import ImportSheet
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.view import View

Preview = Callable[[list[str]], Coroutine[object, object, Sequence[ClientEdit]]]


class ClientFiles(View):
    """Changes AI clients' files as the user wants it.

    Args:
        page: shows failures.
        read: reads what the page shows of changes.
    """

    def __init__(self, page: View, read: Work) -> None:
        self.context, self._page, self._read = page.context, page, read

    @property
    def is_there(self) -> bool:
        return self._page.is_there

    def show_problem(self, problem: Problem | None) -> None:
        self._page.show_problem(problem)

    @property
    def names(self) -> dict[str, str]:
        """The names of clients by their ids."""
        scan = self.context.scans.scan
        return {client.id: client.name for client in scan.clients} if scan is not None else {}

    def connect_or_disconnect(self, client: AiClient) -> None:
        """Opens the sheet with what the client's button would change."""
        views = self.hub.ai_clients
        self.run(self._preview(views.preview_disconnect if said.wants_disconnect(client) else views.preview_connect, [client.id]))

    def connect(self, clients: Sequence[str]) -> None:
        """Opens the sheet with what connecting these clients would change."""
        self.run(self._preview(self.hub.ai_clients.preview_connect, clients))

    def import_from(self, clients: Sequence[str]) -> None:
        """Opens the sheet that imports servers from these clients, or from all."""
        panel = ImportSheet(self.context, self.names, self._on_imported)
        if (sheet := self.context.sheets.show(panel)) is not None:
            sheet.hold()
            panel.plan(clients)

    def undo(self, id: str) -> None:
        """Undoes a change."""
        self.run(self._undone(id), then=self._read)

    async def _preview(self, preview: Preview, clients: Sequence[str]) -> None:
        """Opens the sheet with what would be changed; an open sheet of any kind stays."""
        edits = await preview(list(clients))
        if self.context.sheets.sheet is not None:
            return
        if not edits:
            self.context.say(tr("Nothing has to change."))
            return
        self.context.sheets.show(EditsSheet(self.context, edits, self.names, applied=self._on_applied, undo=self.undo))

    async def _undone(self, id: str) -> None:
        """Undoes a change; a failure leaves the file unchanged."""
        change = await self.hub.ai_clients.undo_client_change(id)
        if change.problem is not None:
            raise TooltrayError(change.problem.title, change.problem.message, change.problem.hint)
        if isinstance(panel := self.context.sheets.panel, EditsSheet):
            panel.close_requested.emit()
        self.context.say(said.change_word(change, self.names.get(change.client, change.client)))
        self.context.scans.look()

    def _on_applied(self, changes: Sequence[ClientChange]) -> None:
        """Shows what was made: in its sheet, or one change without anything to know in a toast with Undo."""
        panel = self.context.sheets.panel
        if len(changes) == 1 and changes[0].problem is None and not said.change_note(changes[0]):
            if isinstance(panel, EditsSheet):
                panel.close_requested.emit()
            name = self.names.get(changes[0].client, changes[0].client)
            toast = self.context.offer_undo(said.change_word(changes[0], name))
            toast.action_requested.connect(lambda: self.undo(changes[0].id))
        elif isinstance(panel, EditsSheet):
            panel.show_changes(changes)
        self._on_imported()

    def _on_imported(self) -> None:
        self.context.scans.look()
        self.run(self._read())
