"""Servers from AI clients, a file or a text: the candidates for an import, and the import of the chosen ones.

The code that reads files is imported with the first use, since most starts of a hub do not need it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Conflict, NotFound, Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import ImportedServer, ImportPlan
from tooltray.sources.clients.client_scans import ClientScans
from tooltray.sources.clients.imports import Imports, Values

if TYPE_CHECKING:
    from tooltray.sources.clients.client_look import ClientLook
    from tooltray.sources.clients.import_offers import Offer
    from tooltray.sources.clients.import_sources import Found


class ClientImports:
    """The import of servers; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        secrets: SecretStore,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        own_url: Callable[[], str | None],
        user_folder: Path,
        client_scans: ClientScans,
        imports: Imports,
    ) -> None:
        """
        Args:
            environ: returns the environment that servers get.
            own_url: where the hub listens, `http://host:port`; None: nowhere.
            user_folder: the user's home.
        """
        self._config, self._secrets, self._environ, self._own_url = config, secrets, environ, own_url
        self._home, self._scans, self._imports = user_folder, client_scans, imports

    async def preview(self, clients: Sequence[str], text: str, file: str) -> ImportPlan:
        """Returns the candidates for an import; see `AiClientsApi.preview_client_import`."""
        offers, problems = await self._offers(clients, text, file)
        return ImportPlan(tuple(offer.candidate for offer in offers), problems)

    async def run(
        self, choices: Sequence[str], *, names: Mapping[str, str], values: Values, tidy: bool, clients: Sequence[str], text: str, file: str
    ) -> list[ImportedServer]:
        """Imports the chosen servers; see `AiClientsApi.import_servers`."""
        offers, _ = await self._offers(clients, text, file)
        known = {offer.candidate.id: offer for offer in offers}
        if missing := [id for id in choices if id not in known]:
            message = Phrase("{number} of the chosen servers are other ones by now, or are gone; nothing was imported", number=len(missing))
            raise Conflict(Phrase("What was to be imported has changed"), message, Phrase("Look again, and decide anew."))
        return await self._imports.run([known[id] for id in dict.fromkeys(choices)], names=names, values=values, tidy=tidy)

    def cancel(self) -> None:
        self._imports.cancel()

    async def _offers(self, clients: Sequence[str], text: str, file: str) -> "tuple[list[Offer], tuple[Problem, ...]]":
        from tooltray.sources.clients.import_plan import ImportPlanner

        if text or file:
            found, problems = await asyncio.to_thread(self._given, text, file), tuple[Problem, ...]()
        else:
            found, problems = await self._of_clients(clients)
        planner = ImportPlanner(config=self._config, secrets=self._secrets, environ=self._environ, user_folder=self._home)
        return await planner.offers(found), problems

    def _given(self, text: str, file: str) -> "list[Found]":
        from tooltray.sources.clients.client_kinds import read_client_kinds
        from tooltray.sources.clients.import_sources import of_file, of_text

        if text and file:
            raise TooltrayError(Phrase("Give a text or a file, not both"))
        own_url, kinds = self._own_url(), read_client_kinds()
        return of_text(text, own_url=own_url, kinds=kinds) if text else of_file(file, own_url=own_url, kinds=kinds)

    async def _of_clients(self, clients: Sequence[str]) -> "tuple[list[Found], tuple[Problem, ...]]":
        look = await self._scans.look()
        return await asyncio.to_thread(_of_clients, look, clients)


def _of_clients(look: "ClientLook", clients: Sequence[str]) -> "tuple[list[Found], tuple[Problem, ...]]":
    """Returns the servers in the files of some clients, or of all; blocks on the disk.

    Raises:
        NotFound: no client has such a name.
    """
    from tooltray.sources.clients.client_kinds import read_client_kinds
    from tooltray.sources.clients.import_sources import of_clients

    kinds = {kind.id: kind for kind in read_client_kinds()}
    if unknown := [client for client in clients if client not in kinds]:
        hint = Phrase("See those that are known with: tooltray clients scan --all")
        raise NotFound(Phrase("There is no AI client called '{name}'", name=unknown[0]), "", hint)
    files = [file for id in dict.fromkeys(clients or kinds) for file in look.files(kinds[id])]
    problems = {str(file.place.path): file.problem for file in files if file.problem and file.document is None}
    return of_clients(look.entries()), tuple(problems.values())
