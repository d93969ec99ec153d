"""The API about AI clients on this computer: which are here, which servers stand in their files, connecting them, importing those
servers, and undoing all of it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.confirmation import confirm_widening
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ClientChange, ClientEdit, ClientScan
from tooltray.sources.clients.edit_names import is_taken_out
from tooltray.sources.clients.import_api import ImportVerbs

if TYPE_CHECKING:
    from tooltray.sources.clients.client_edits import ClientEdits
    from tooltray.sources.clients.client_imports import ClientImports
    from tooltray.sources.clients.client_scans import ClientScans

CHANGING = Phrase("A change of an AI client's file")


class AiClientsApi(ImportVerbs):
    def __init__(self, *, client_scans: "ClientScans", client_edits: "ClientEdits", client_imports: "ClientImports") -> None:
        super().__init__(client_edits=client_edits, client_imports=client_imports)
        self._scans = client_scans

    async def scan_ai_clients(self, projects: Sequence[str] = ()) -> ClientScan:
        """Looks at the files of all AI clients, and starts nothing: which are installed, which use Tooltray, which servers they have.

        Args:
            projects: absolute folders whose own files are read, too, besides those of the projects that are known here.
        """
        return await self._scans.scan(projects)

    async def preview_connect(self, clients: Sequence[str] = ()) -> list[ClientEdit]:
        """What connecting AI clients to Tooltray would change in their files; a client that is connected has an edit without a difference.

        Args:
            clients: ids of `scan_ai_clients`; empty: all that are installed.

        Raises:
            NotFound: there is no AI client of one of the ids.
        """
        return await self._edits.preview_connect(clients)

    async def preview_disconnect(self, clients: Sequence[str] = ()) -> list[ClientEdit]:
        """What taking Tooltray out of AI clients' files would change, those of known projects included.

        Args:
            clients: ids of `scan_ai_clients`; empty: all.

        Raises:
            NotFound: there is no AI client of one of the ids.
        """
        return await self._edits.preview_disconnect(clients)

    async def apply_client_edits(self, edits: Mapping[str, str]) -> list[ClientChange]:
        """Makes edits that were shown. Each file for itself: what went wrong with one is in the `problem` of its change.

        Args:
            edits: the revision of each edit by its id; a file that has changed since is left alone. An empty revision accepts any.

        Raises:
            Denied: a client would be connected, and nobody has confirmed that.
        """
        if not all(map(is_taken_out, edits)):
            await confirm_widening(CHANGING, edits=[each for each in edits if not is_taken_out(each)])
        return await self._edits.apply(edits)

    async def undo_client_change(self, id: str) -> ClientChange:
        """Undoes a change: to the byte while nobody else has written the file, else by reversing the change alone.

        Args:
            id: of a change in `get_client_changes`.

        Raises:
            NotFound: there is no such change, or it is older than 30 days.
            Conflict: it was undone already, or something else stands where it was.
            Denied: it would put something into the file, and nobody has confirmed that.
            TooltrayError: the file cannot be read or written.
        """
        if await self._edits.undoing_writes(id):
            await confirm_widening(CHANGING, change=id)
        return await self._edits.undo(id)

    async def get_client_changes(self) -> list[ClientChange]:
        """The changes of AI clients' files that Tooltray has made in the last 30 days, the newest first."""
        return await self._edits.changes()
