"""QtMcpPresenter's verbs about the files that servers come from, and their trust. Mixed into it."""

from collections.abc import Mapping

from tooltray.snapshots.files import ReloadChange, ServerFileSnapshot
from tooltray.snapshots.trust import TrustedEntry, TrustRequest
from tooltray.ui.presenter.link import EngineLink


class FileVerbs:
    _link: EngineLink

    async def get_server_files(self) -> list[ServerFileSnapshot]:
        return await self._link.run(lambda engine: engine.get_server_files())

    async def get_trust_requests(self, project: str = "") -> list[TrustRequest]:
        return await self._link.run(lambda engine: engine.get_trust_requests(project))

    async def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        return await self._link.run(lambda engine: engine.trust_entries(project, entries))

    async def distrust_entries(self, project: str, entry: str = "") -> None:
        await self._link.run(lambda engine: engine.distrust_entries(project, entry))

    async def get_trusted_entries(self) -> list[TrustedEntry]:
        return await self._link.run(lambda engine: engine.get_trusted_entries())

    async def preview_reload(self) -> list[ReloadChange]:
        return await self._link.run(lambda engine: engine.preview_reload())

    async def reload(self) -> list[ReloadChange]:
        return await self._link.run(lambda engine: engine.reload())
