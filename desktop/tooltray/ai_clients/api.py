"""The API about AI clients on this computer: which are here, and which servers stand in their files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooltray.snapshots.ai_clients import ClientScan

if TYPE_CHECKING:
    from tooltray.ai_clients.client_scans import ClientScans


class AiClientsApi:
    def __init__(self, *, client_scans: "ClientScans") -> None:
        self._scans = client_scans

    async def scan_ai_clients(self, projects: Sequence[str] = ()) -> ClientScan:
        """Looks at the files of all AI clients, and starts nothing: which are installed, which use Tooltray, which servers they have.

        Args:
            projects: absolute folders whose own files are read, too, besides those of the projects that are known here.
        """
        return await self._scans.scan(projects)
