"""The server entries that programs have proposed: as they are stored over restarts until a person answers, and as a person sees them.

No version of Tooltray starts servers from `proposals.json` of the home: an entry there does not count as consent. The secrets of proposals
are stored among the secrets, and the file has `${secret:NAME}`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.file_server import FILE_NAME, FileEntry
from tooltray.config.settings.given_entries import check_entry, read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.kept_file import KeptFile, UnixTime
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.entries import ServerUpdatePreview
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.servers.confinement.confinements import Confinements
from tooltray.sources.entries.portable_entry import without_secrets
from tooltray.sources.entries.server_entries import entry_diff
from tooltray.sources.project_files.trust_requests import Place, trust_request, wanted_variables

LARGEST_BYTES = 8 * 2**20  # more than all waiting proposals can have


class KeptProposal(msgspec.Struct, rename="camel", frozen=True):
    """
    Attributes:
        entry: the entry for the file, without plain secrets.
        project: the folder of the project whose own file it is for; empty for the settings.
        is_change: whether it changes an existing server.
        is_default: whether the server would start with the hub.
        asked_by: name of the token of the program.
        asked_at: time in unix seconds.
        secrets: names of the secrets that were stored for it.
    """

    entry: dict[str, Any]
    project: str = ""
    is_change: bool = False
    is_default: bool = True
    asked_by: str = ""
    asked_at: UnixTime = 0.0
    secrets: tuple[str, ...] = ()


class KeptProposals(msgspec.Struct):
    version: Literal[1] = 1
    servers: dict[str, KeptProposal] = {}


def proposal_store(path: Path) -> KeptFile[KeptProposals]:
    """Reads the file of one home."""
    return KeptFile(
        path,
        KeptProposals,
        most_bytes=LARGEST_BYTES,
        unread=Phrase("what programs have proposed cannot be read, so it is forgotten"),
        remedy=Phrase("Let the programs send it once more."),
        unsaved=Phrase("what waits for your yes cannot be saved"),
    )


WAITS = Phrase("it waits for your yes")


class ProposalSnapshots:
    """The read-only views of proposals; belongs to one event loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        home: Path,
        confinements: Confinements,
        snapshot: Callable[[str], ServerSnapshot | None] = lambda name: None,
    ) -> None:
        """
        Args:
            environ: returns the environment that servers get.
            home: the user's home folder, in which servers run.
            snapshot: returns the snapshot of an existing server.
        """
        self._config, self._environ, self._home, self._confinements = config, environ, home, confinements
        self.of_existing = snapshot

    async def requests(self, waiting: Mapping[str, KeptProposal]) -> list[TrustRequest]:
        """Returns the requests for consent to some proposals, by the servers' names."""
        environ = await self._environ() if any(wanted_variables(read_entry(name, kept.entry)) for name, kept in waiting.items()) else {}
        return await asyncio.to_thread(lambda: [self._request(name, kept, environ) for name, kept in waiting.items()])

    def preview(self, name: str, kept: KeptProposal, entry: Mapping[str, Any]) -> ServerUpdatePreview:
        """Returns what another entry of a proposed new server would change."""
        diff, slips = entry_diff(name, kept.entry, entry), tuple(check_entry(entry))
        return ServerUpdatePreview(self._file(name, kept), diff, revision=self.digest(name, kept), slips=slips)

    def of_new(self, name: str, kept: KeptProposal) -> ServerSnapshot:
        """Returns the snapshot of a proposed new server."""
        config = read_entry(name, kept.entry)
        return ServerSnapshot(
            name=name,
            transport=config.transport,
            target=config.target,
            state=ServerState.WAITING,
            since=kept.asked_at,
            is_default=kept.is_default,
            is_disabled=config.disable,
            icon=config.icons,
            description=config.descriptions,
            detail=WAITS,
            auto_approve=tuple(config.auto_approve),
            isolation=config.isolation,
            idle_stop_s=config.idle_stop,
            confinement=self._confinements.of(name, config),
            origin="proposal",
            file=self._file(name, kept),
            project=kept.project,
            revision=self.digest(name, kept),
            waiting=True,
        )

    def _request(self, name: str, kept: KeptProposal, environ: Mapping[str, str]) -> TrustRequest:
        """Builds the request for consent; blocks for a few file system calls."""
        config, before = read_entry(name, kept.entry), None
        if kept.is_change:
            there = without_secrets(name, self._config.server_entry(name).entry).entry
            before = FileEntry(name, read_entry(name, there), there)
        server = self._config.file_server(name)
        folder = kept.project or (server.folder if server else "")
        request = trust_request(
            FileEntry(name, config, kept.entry),
            Place(folder or str(self._home), self._file(name, kept), is_of_project=bool(folder)),
            auto_approve=tuple(config.auto_approve),
            confinement=self._confinements.of("", config),
            is_change=kept.is_change,
            before=before,
            environ=environ,
        )
        return replace(request, project="", digest=self.digest(name, kept), asked_by=kept.asked_by or "?")

    def _file(self, name: str, kept: KeptProposal) -> str:
        """Returns the path of the file into which the entry would be written."""
        if server := self._config.file_server(name):
            return server.file
        return str(Path(kept.project, FILE_NAME)) if kept.project else str(self._config.path)

    def digest(self, name: str, kept: KeptProposal) -> str:
        """Returns the digest of all that a consent applies to: the content, the target file and the replaced entry."""
        return digest_of([kept.entry, kept.project, kept.is_default, self._config.revision(name) if kept.is_change else ""])
