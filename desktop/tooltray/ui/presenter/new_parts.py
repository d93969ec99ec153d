"""The verbs that change the files of AI clients and import from them, as the window uses them.

Above it: pages and their commands. Below it: snapshots. Protocols, so that pages can be tried without the rooms that do the work.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tooltray.snapshots.ai_clients import ClientChange, ClientEdit, ImportedServer, ImportPlan
from tooltray.snapshots.forms import FieldValue

Values = Mapping[str, FieldValue]


class ClientFilesPart(Protocol):
    async def preview_connect(self, clients: Sequence[str]) -> list[ClientEdit]: ...
    async def preview_disconnect(self, clients: Sequence[str]) -> list[ClientEdit]: ...
    async def apply_client_edits(self, edits: Mapping[str, str]) -> list[ClientChange]: ...
    async def undo_client_change(self, id: str) -> ClientChange: ...
    async def get_client_changes(self) -> list[ClientChange]: ...
    async def preview_client_import(self, clients: Sequence[str] = (), text: str = "", file: str = "") -> ImportPlan: ...
    async def import_servers(
        self,
        choices: Sequence[str],
        names: Mapping[str, str] = {},
        values: Mapping[str, Values] = {},
        tidy: bool = False,
        clients: Sequence[str] = (),
        text: str = "",
        file: str = "",
    ) -> list[ImportedServer]: ...
    async def cancel_import(self) -> None: ...
