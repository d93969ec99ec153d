"""The API about files with servers in them: what they define, which entries need a person's consent, and reading them again."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.confirmation import confirm_widening, note_narrowing
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.files import ReloadChange, ServerFileSnapshot
from tooltray.foundation.snapshots.trust import TrustedEntry, TrustRequest

if TYPE_CHECKING:
    from tooltray.sources.entries.proposals import Proposals
    from tooltray.sources.project_files.inmemory_trust import InMemoryTrust
    from tooltray.sources.project_files.project_servers import ProjectServers
    from tooltray.sources.project_files.server_files import ServerFiles

YES_TO_SERVERS = Phrase("Allowing a project's servers")
DIGEST_LENGTH = 16  # of a digest in the audit trail


class FilesApi:
    def __init__(
        self, *, files: "ServerFiles", project_servers: "ProjectServers", proposals: "Proposals", inmemory_trust: "InMemoryTrust"
    ) -> None:
        self._files, self._project_servers, self._proposals, self._inmemory_trust = files, project_servers, proposals, inmemory_trust

    async def get_server_files(self) -> list[ServerFileSnapshot]:
        """The settings and every other file that servers come from now, as it was last read."""
        return self._files.snapshots()

    async def get_trust_requests(self, project: str = "") -> list[TrustRequest]:
        """What waits for a person's yes: entries of projects' own files, what programs have proposed, and servers inside Tooltray.

        Args:
            project: a folder, of whose file they are, also if nobody works on it now; empty: of all that are in use, and the others.

        Raises:
            TooltrayError: this folder cannot be a project, or its file cannot be read; says why.
        """
        requests = await self._project_servers.trust_requests(project)
        return requests if project else [*requests, *await self._inmemory_trust.requests(), *await self._proposals.requests()]

    async def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        """A person says yes to entries of a project's own file, or of programs, or to servers inside Tooltray; what is in use starts.

        Args:
            project: the folder; empty: what programs have proposed, and servers of the settings that would run inside Tooltray.
            entries: the digest of the content that the person saw, by the entry's name in the file.

        Returns:
            The names of the servers here.

        Raises:
            Conflict: one of them is another one by now; none was trusted.
            TooltrayError: there is no such entry, or the yes cannot be kept.
        """
        commands = commands_of(await known_requests(self.get_trust_requests(project)), entries)
        await confirm_widening(YES_TO_SERVERS, commands, project=project, **about_entries(entries))
        if project:
            return await self._project_servers.trust(project, entries)
        return await trust_others(entries, self._inmemory_trust, self._proposals)

    async def distrust_entries(self, project: str, entry: str = "") -> None:
        """Takes a yes back; what runs by it is stopped. Of what a program has proposed: says no.

        Args:
            project: empty: it is a program's, or a server inside Tooltray.
            entry: its name in the file; empty: all of this project.

        Raises:
            NotFound: nobody said yes to that.
        """
        if project:
            await self._project_servers.distrust(project, entry)
        else:
            await distrust_other(entry, self._inmemory_trust, self._proposals)
        await note_narrowing(YES_TO_SERVERS, project=project, entry=entry)

    async def restore_trust(self, project: str, entry: str) -> list[str]:
        """Undoes the last `distrust_entries` of one entry of a project's file, with what was chosen for its server.

        Returns:
            The server's name here.

        Raises:
            Conflict: its content is another one by now.
            NotFound: it is not what was taken back last.
            TooltrayError: the yes cannot be kept.
        """
        await confirm_widening(YES_TO_SERVERS, project=project, entry=entry)
        return await self._project_servers.restore(project, entry)

    async def get_trusted_entries(self) -> list[TrustedEntry]:
        """To what a person said yes, also of projects that nobody works on now."""
        return self._project_servers.trusted()

    async def preview_reload(self) -> list[ReloadChange]:
        """What `reload` would do."""
        return await self._files.preview_reload()

    async def reload(self) -> list[ReloadChange]:
        """Reads the settings and all files with servers in them again, and does what has changed; returns that.

        It also happens by itself as soon as a file changes, unless `hotReload` is off.
        """
        return await self._files.reload()


async def known_requests(asked: Awaitable[list[TrustRequest]]) -> list[TrustRequest]:
    """What waits, for who is asked about it; none where that cannot be read, which is told by what comes behind."""
    try:
        return await asked
    except TooltrayError:
        return []


def about_entries(entries: Mapping[str, str]) -> dict[str, object]:
    """What a yes to entries is about: the name of each, and the digest of what it starts."""
    return {"entries": list(entries), "digests": [f"{name} {digest[:DIGEST_LENGTH]}" for name, digest in entries.items()]}


def commands_of(requests: Sequence[TrustRequest], entries: Mapping[str, str]) -> dict[str, object]:
    """What entries start, for who is asked about them."""
    return {"commands": [f"{each.entry}: {each.target}" for each in requests if each.entry in entries]}


async def trust_others(entries: Mapping[str, str], inmemory_trust: "InMemoryTrust", proposals: "Proposals") -> list[str]:
    """A yes to what is in no project's file: a proposal goes first, since it is what the name would become."""
    inside = {name: digest for name, digest in entries.items() if inmemory_trust.waits(name) and not proposals.waits(name)}
    proposed = {name: digest for name, digest in entries.items() if name not in inside}
    return [*(await inmemory_trust.trust(inside) if inside else []), *(await proposals.trust(proposed) if proposed else [])]


async def distrust_other(entry: str, inmemory_trust: "InMemoryTrust", proposals: "Proposals") -> None:
    """The same for a no."""
    if inmemory_trust.knows(entry) and not proposals.waits(entry):
        await inmemory_trust.distrust(entry)
    else:
        await proposals.withdraw(entry)
