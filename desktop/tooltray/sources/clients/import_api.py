"""The verbs of the API about importing the servers of AI clients.

Above it: AiClientsApi, which has them. Below it: client_imports.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tooltray.foundation.confirmation import confirm_widening
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ClientChange, ImportedServer, ImportPlan
from tooltray.foundation.snapshots.forms import FieldValue
from tooltray.foundation.verbs import verb
from tooltray.sources.clients.imports import put_back

if TYPE_CHECKING:
    from tooltray.sources.clients.client_edits import ClientEdits
    from tooltray.sources.clients.client_imports import ClientImports


MAX_IMPORT_BYTES = 16 * 1024 * 1024  # a client's whole file may be given as a text


def _reads_a_file(part: "ImportVerbs", arguments: Mapping[str, Any]) -> bool:
    """Requires a trusted token to read a file that the caller names."""
    return bool(arguments.get("file"))


class ImportVerbs:
    def __init__(self, *, client_edits: "ClientEdits", client_imports: "ClientImports") -> None:
        self._edits, self._imports = client_edits, client_imports

    @verb(trusted=_reads_a_file, max_body_bytes=MAX_IMPORT_BYTES)
    async def preview_client_import(self, clients: Sequence[str] = (), text: str = "", file: str = "") -> ImportPlan:
        """What can be imported, and how it compares with what is here: each server once, in however many clients it stands.

        Args:
            clients: ids, as of `scan_ai_clients`; empty: all. Unused where a text or a file is given.
            text: in the place of the clients' files: what a client's file has in it, a block or a command from a README, a URL.
            file: absolute path, in the place of a text.

        Raises:
            NotFound: there is no such client.
            TooltrayError: the text or the file cannot be read, or has no server in it.
        """
        return await self._imports.preview(clients, text, file)

    @verb(trusted=_reads_a_file, max_body_bytes=MAX_IMPORT_BYTES)
    async def import_servers(
        self,
        choices: Sequence[str],
        names: Mapping[str, str] = {},
        values: Mapping[str, Mapping[str, FieldValue]] = {},
        tidy: bool = False,
        clients: Sequence[str] = (),
        text: str = "",
        file: str = "",
    ) -> list[ImportedServer]:
        """Adds servers, their secrets among the secrets, and waits until each has listed its tools, or is known to be held up by
        something; `ImportProgressed` says how far that is. A server that fails holds up no other one. They start when they are used, and
        calls that only read go through unasked. What a program gives as a text waits for a person's yes, server by server.

        Args:
            choices: ids of candidates, as `preview_client_import` gave them for the same clients, text or file.
            names: under which they are added, by their ids; others get the proposed ones.
            values: what was asked for, by their ids and the fields' keys.
            tidy: what has listed its tools leaves the clients' own files, which `undo_client_change` brings back; files of projects stay as
                they are.
            clients, text, file: as of `preview_client_import`.

        Raises:
            Conflict: an import runs already, or one of the chosen servers is another one by now; nothing was imported.
            Denied: nobody has confirmed it.
        """
        if not text or tidy:
            await confirm_widening(Phrase("Importing servers"), choices=list(choices))
        return await self._imports.run(choices, names=names, values=values, tidy=tidy, clients=clients, text=text, file=file)

    async def cancel_import(self) -> None:
        """Ends the import that runs, if one does: no further server is added, none is waited for, and no client's file is changed."""
        self._imports.cancel()

    async def put_back_moved_servers(self) -> list[ClientChange]:
        """Brings everything back into the clients' files that imports have taken out of them, keys in plain text included, as far as that
        was in the last 30 days and nobody has undone it. The servers here and their secrets stay.

        Raises:
            Denied: nobody has confirmed it.
        """
        await confirm_widening(Phrase("Putting servers back"))
        return await put_back(self._edits)
