"""FakePresenter's verbs about files with servers in them. Mixed into it."""

from collections.abc import Mapping

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory

from tooltray.events import ServerFilesChanged
from tooltray.snapshots.files import ReloadChange, ServerFileSnapshot
from tooltray.snapshots.trust import TrustedEntry, TrustRequest


class FileVerbs(HubInMemory):
    async def get_server_files(self) -> list[ServerFileSnapshot]:
        self._note("get_server_files")
        return list(self.files)

    async def get_trust_requests(self, project: str = "") -> list[TrustRequest]:
        self._note("get_trust_requests", project)
        return [request for request in self.trust_requests if project in ("", request.project)]

    async def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        self._note("trust_entries", project, dict(entries))
        self.trust_requests = [each for each in self.trust_requests if each.project != project or each.entry not in entries]
        self.bus.publish(ServerFilesChanged())
        return list(entries)

    async def distrust_entries(self, project: str, entry: str = "") -> None:
        self._note("distrust_entries", project, entry)
        self.trusted = [each for each in self.trusted if each.project != project or entry not in ("", each.entry)]
        self.bus.publish(ServerFilesChanged())

    async def get_trusted_entries(self) -> list[TrustedEntry]:
        self._note("get_trusted_entries")
        return list(self.trusted)

    async def preview_reload(self) -> list[ReloadChange]:
        self._note("preview_reload")
        return list(self.reload_changes)

    async def reload(self) -> list[ReloadChange]:
        self._note("reload")
        made, self.reload_changes = list(self.reload_changes), []
        self.bus.publish(ServerFilesChanged())
        return made
