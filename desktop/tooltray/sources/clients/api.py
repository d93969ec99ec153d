"""The API about AI clients on this computer: which are installed, which servers their files have, connecting them, importing those servers,
and undoing these changes.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.confirm_widening import confirm_widening
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ClientChange, ClientEdit, ClientScan, ImportedServer, ImportPlan
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.foundation.verbs import JsonMapping, verb
from tooltray.sources.clients.imports import put_back

if TYPE_CHECKING:
    from tooltray.sources.clients.client_edits import ClientEdits, ClientScans
    from tooltray.sources.clients.imports import ClientImports

CHANGING = Phrase("Changing an AI client's file")


MAX_IMPORT_BYTES = 16 * 1024 * 1024  # a client's whole file may be given as a text


def _reads_a_file(part: "AiClientsApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token to read a file that the caller names."""
    return bool(arguments.get("file"))


def _reads_a_folder(part: "AiClientsApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token to read the skill in a folder that the caller names."""
    return bool(arguments.get("folder"))


class AiClientsApi:
    def __init__(self, *, client_scans: "ClientScans", client_edits: "ClientEdits", client_imports: "ClientImports") -> None:
        self._scans, self._edits, self._imports = client_scans, client_edits, client_imports

    async def scan_ai_clients(self, projects: Sequence[str] = ()) -> ClientScan:
        """Reads the files of all AI clients, without starting anything: which are installed, which use Tooltray, which servers they have.

        Args:
            projects: absolute folders whose own files are read, too, besides the files of the projects that are known here.
        """
        return await self._scans.scan(projects)

    async def preview_connect(self, clients: Sequence[str] = ()) -> list[ClientEdit]:
        """Returns the changes in AI clients' files that connecting them would make; a connected client has an edit without a difference.

        Args:
            clients: ids of `scan_ai_clients`; empty: all that are installed.

        Raises:
            NotFound: one of the ids belongs to no AI client.
        """
        return await self._edits.preview("connect", clients)

    async def preview_disconnect(self, clients: Sequence[str] = ()) -> list[ClientEdit]:
        """Returns the changes in AI clients' files, including files of known projects, that removing Tooltray would make.

        Args:
            clients: ids of `scan_ai_clients`; empty: all.

        Raises:
            NotFound: one of the ids belongs to no AI client.
        """
        return await self._edits.preview("disconnect", clients)

    async def get_own_skill(self) -> str:
        """Returns the SKILL.md that shows agents with a shell how to find and call tools by commands."""
        return await self._edits.skill_text()

    @verb(trusted=_reads_a_folder)
    async def preview_own_skill(self, clients: Sequence[str] = (), folder: str = "") -> list[ClientEdit]:
        """Returns the changes that writing Tooltray's own skill into the skills folders of AI clients would make.

        Args:
            clients: ids of `scan_ai_clients`; empty: all that are installed and whose folder of skills is known.
            folder: absolute path of an existing folder of skills, instead of clients.

        Raises:
            NotFound: one of the ids belongs to no AI client.
        """
        return await self._edits.preview_skill(clients, folder)

    async def apply_client_edits(self, edits: Mapping[str, str]) -> list[ClientChange]:
        """Makes edits that were previewed. Each file is written independently; an error is in the `problem` of the file's change.

        Args:
            edits: the revision of each edit by its id; a file that has changed since is not written. An empty revision accepts any,
                but not a skill that Tooltray has not written.

        Raises:
            Denied: a client would be connected, and the user has not confirmed that.
        """
        if connecting := [each for each in edits if not each.startswith("disconnect:")]:
            await confirm_widening(CHANGING, edits=connecting)
        return await self._edits.apply(edits)

    async def undo_client_change(self, id: str) -> ClientChange:
        """Undoes a change: byte for byte if no other program has written the file since, else by reversing only this change.

        Args:
            id: of a change in `get_client_changes`.

        Raises:
            NotFound: the change does not exist, or it is older than 30 days.
            Conflict: it was undone already, or its place in the file has other content now.
            Denied: the undo would add something to the file, and the user has not confirmed that.
            TooltrayError: the file cannot be read or written.
        """
        if await self._edits.undoing_writes(id):
            await confirm_widening(CHANGING, change=id)
        return await self._edits.undo(id)

    async def get_client_changes(self) -> list[ClientChange]:
        """Returns the changes of AI clients' files that Tooltray has made in the last 30 days, the newest first."""
        return await self._edits.changes()

    @verb(trusted=_reads_a_file, max_body_bytes=MAX_IMPORT_BYTES)
    async def preview_client_import(self, clients: Sequence[str] = (), text: str = "", file: str = "") -> ImportPlan:
        """Returns the servers that can be imported, compared with the servers here; a server of several clients is listed once.

        Args:
            clients: ids, as in `scan_ai_clients`; empty: all. Unused if a text or a file is given.
            text: instead of the clients' files: the content of a client's file, a block or a command from a README, a URL.
            file: absolute path, instead of a text.

        Raises:
            NotFound: the client does not exist.
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
        """Adds servers, stores their secrets, and waits until each has listed its tools, or cannot for now; `ImportProgressed` shows how
        far that is. A server that fails does not stop the others. They start when they are used, and calls that only read run without
        asking. Servers that a program gives as a text wait for the user's approval, one by one.

        Args:
            choices: ids of candidates, as `preview_client_import` gave them for the same clients, text or file.
            names: under which they are added, by their ids; others get the proposed ones.
            values: the answers to the candidates' fields, by the candidates' ids and the fields' keys.
            tidy: removes servers that have listed their tools from the clients' own files, which `undo_client_change` undoes; files of
                projects stay unchanged.
            clients, text, file: as in `preview_client_import`.

        Raises:
            Conflict: an import runs already, or one of the chosen servers has changed; nothing was imported.
            Denied: the user has not confirmed it.
        """
        if not text or tidy:
            await confirm_widening(Phrase("Importing servers"), choices=list(choices))
        return await self._imports.run(choices, names=names, values=values, tidy=tidy, clients=clients, text=text, file=file)

    async def cancel_import(self) -> None:
        """Cancels the running import: no further server is added or waited for, and no client's file is changed."""
        self._imports.cancel()

    async def put_back_moved_servers(self) -> list[ClientChange]:
        """Restores in the clients' files the entries that imports have removed in the last 30 days, keys in plain text included, unless
        that was undone already. The servers here and their secrets stay.

        Raises:
            Denied: the user has not confirmed it.
        """
        await confirm_widening(Phrase("Putting servers back"))
        return await put_back(self._edits)
