"""Servers from other files than the settings: which files are in use, what of them may run, and what a change of one changes.

Above it: McpPresenter. Below it: McpConfHelper, which lays these servers beside those of the settings; the readers of files; what a person
has said yes to.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.snapshots import ReloadChange, ServerFileSnapshot, TrustedEntry, TrustRequest


class ServerFiles:
    """Belongs to the engine's loop."""

    def snapshots(self) -> list[ServerFileSnapshot]:
        """See FileVerbs.get_server_files."""
        raise NotImplementedError

    async def trust_requests(self, project: str) -> list[TrustRequest]:
        """See FileVerbs.get_trust_requests."""
        raise NotImplementedError

    async def trust(self, project: str, entries: Mapping[str, str]) -> list[str]:
        """See FileVerbs.trust_entries."""
        raise NotImplementedError

    async def distrust(self, project: str, entry: str) -> None:
        """See FileVerbs.distrust_entries."""
        raise NotImplementedError

    def trusted(self) -> list[TrustedEntry]:
        """See FileVerbs.get_trusted_entries."""
        raise NotImplementedError

    async def preview_reload(self) -> list[ReloadChange]:
        """See FileVerbs.preview_reload."""
        raise NotImplementedError

    async def reload(self) -> list[ReloadChange]:
        """See FileVerbs.reload."""
        raise NotImplementedError

    async def add(self, project: str, name: str, entry: Mapping[str, Any]) -> str:
        """Writes a new entry into a project's own file, which is trusted thereby; returns the server's name here."""
        raise NotImplementedError

    async def change(self, server: str, entry: Mapping[str, Any], revision: str) -> None:
        """Replaces the entry of a server of a project's own file, in that file."""
        raise NotImplementedError

    async def remove(self, server: str, revision: str) -> None:
        """Removes a server's entry from the project's own file."""
        raise NotImplementedError
