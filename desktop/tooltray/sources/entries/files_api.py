"""The API about files with servers: their entries, which of these need a person's consent, and reloading the files."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.confirmation import confirm_widening, note_narrowing
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.foundation.snapshots.setup import ReloadChange, ServerFileSnapshot

if TYPE_CHECKING:
    from tooltray.sources.entries.proposals import Proposals
    from tooltray.sources.project_files.project_servers import ProjectServers
    from tooltray.sources.project_files.server_files import ServerFiles
    from tooltray.sources.project_files.trust_decisions import InMemoryTrust

YES_TO_SERVERS = Phrase("Allowing a project's servers")
DIGEST_LENGTH = 16  # of a digest in the audit trail


class FilesApi:
    def __init__(
        self, *, files: "ServerFiles", project_servers: "ProjectServers", proposals: "Proposals", inmemory_trust: "InMemoryTrust"
    ) -> None:
        self._files, self._project_servers, self._proposals, self._inmemory_trust = files, project_servers, proposals, inmemory_trust

    async def get_server_files(self) -> list[ServerFileSnapshot]:
        """Returns the settings and all other files with servers, as last read."""
        return self._files.snapshots()

    async def get_trust_requests(self, project: str = "") -> list[TrustRequest]:
        """Returns the requests for a person's consent: entries of projects' own files, proposals of programs, and servers inside Tooltray.

        Args:
            project: a folder, whose file's entries are returned even if it is not in use; empty: all projects in use, and the other kinds.

        Raises:
            TooltrayError: this folder cannot be a project, or its file cannot be read; the error has the reason.
        """
        requests = await self._project_servers.trust_requests(project)
        return requests if project else [*requests, *await self._inmemory_trust.requests(), *await self._proposals.requests()]

    async def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        """Consents to entries of a project's own file, to proposals of programs, or to servers inside Tooltray; those in use start.

        Args:
            project: the folder; empty: proposals of programs, and servers of the settings that would run inside Tooltray.
            entries: the digest of the content that the person saw, by the entry's name in the file.

        Returns:
            The names of the servers here.

        Raises:
            Conflict: one of them has changed; none was trusted.
            TooltrayError: the entry does not exist, or the consent cannot be saved.
        """
        commands = commands_of(await known_requests(self.get_trust_requests(project)), entries)
        await confirm_widening(YES_TO_SERVERS, commands, project=project, **about_entries(entries))
        if project:
            return await self._project_servers.trust(project, entries)
        return await trust_others(entries, self._inmemory_trust, self._proposals)

    async def distrust_entries(self, project: str, entry: str = "") -> None:
        """Revokes a consent and stops the servers that run by it; declines a program's proposal.

        Args:
            project: the folder; empty: a program's proposal, or a server inside Tooltray.
            entry: its name in the file; empty: all entries of this project.

        Raises:
            NotFound: the consent does not exist.
        """
        if project:
            await self._project_servers.distrust(project, entry)
        else:
            await distrust_other(entry, self._inmemory_trust, self._proposals)
        await note_narrowing(YES_TO_SERVERS, project=project, entry=entry)

    async def restore_trust(self, project: str, entry: str) -> list[str]:
        """Undoes the last `distrust_entries` of one entry of a project's file, and restores the choices for its server.

        Returns:
            The server's name here.

        Raises:
            Conflict: its content has changed.
            NotFound: it is not the consent that was revoked last.
            TooltrayError: the consent cannot be saved.
        """
        await confirm_widening(YES_TO_SERVERS, project=project, entry=entry)
        return await self._project_servers.restore(project, entry)

    async def get_trusted_entries(self) -> list[TrustedEntry]:
        """Returns the entries that a person consented to, also of projects that are not in use."""
        return self._project_servers.trusted()

    async def preview_reload(self) -> list[ReloadChange]:
        """Returns the changes that `reload` would make."""
        return await self._files.preview_reload()

    async def reload(self) -> list[ReloadChange]:
        """Reads the settings and all files with servers again, applies the changes and returns them.

        A changed file is also reloaded automatically, unless `hotReload` is off.
        """
        return await self._files.reload()


async def known_requests(asked: Awaitable[list[TrustRequest]]) -> list[TrustRequest]:
    """Returns the waiting requests, to show in a confirmation; empty if they cannot be read, which the following step reports."""
    try:
        return await asked
    except TooltrayError:
        return []


def about_entries(entries: Mapping[str, str]) -> dict[str, object]:
    """Returns the facts that a consent to entries covers: each name, and the digest of the programs and files that the entry starts."""
    return {"entries": list(entries), "digests": [f"{name} {digest[:DIGEST_LENGTH]}" for name, digest in entries.items()]}


def commands_of(requests: Sequence[TrustRequest], entries: Mapping[str, str]) -> dict[str, object]:
    """Returns the commands of entries, to show in a confirmation."""
    return {"commands": [f"{each.entry}: {each.target}" for each in requests if each.entry in entries]}


async def trust_others(entries: Mapping[str, str], inmemory_trust: "InMemoryTrust", proposals: "Proposals") -> list[str]:
    """Consents to entries outside projects' files; if a proposal and a server have the same name, the proposal is accepted."""
    inside = {name: digest for name, digest in entries.items() if inmemory_trust.waits(name) and not proposals.waits(name)}
    proposed = {name: digest for name, digest in entries.items() if name not in inside}
    return [*(await inmemory_trust.trust(inside) if inside else []), *(await proposals.trust(proposed) if proposed else [])]


async def distrust_other(entry: str, inmemory_trust: "InMemoryTrust", proposals: "Proposals") -> None:
    """Declines or revokes one entry outside projects' files; if a proposal and a server have the same name, the proposal is declined."""
    if inmemory_trust.knows(entry) and not proposals.waits(entry):
        await inmemory_trust.distrust(entry)
    else:
        await proposals.withdraw(entry)
