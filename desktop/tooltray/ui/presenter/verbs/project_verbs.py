"""QtMcpPresenter's verbs about projects. Mixed into it."""

from tooltray.ui.presenter.link import EngineLink


class ProjectVerbs:
    _link: EngineLink

    async def get_allowed_folders(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_allowed_folders())

    async def allow_folder(self, path: str) -> str:
        return await self._link.run(lambda engine: engine.allow_folder(path))

    async def disallow_folder(self, path: str) -> None:
        await self._link.run(lambda engine: engine.disallow_folder(path))

    async def start_for_project(self, server: str, path: str) -> None:
        await self._link.run(lambda engine: engine.start_for_project(server, path))

    async def start_without_project(self, server: str) -> None:
        await self._link.run(lambda engine: engine.start_without_project(server))

    async def set_session_project(self, session: str, path: str) -> None:
        await self._link.run(lambda engine: engine.set_session_project(session, path))

    async def reset_deferred_state(self) -> None:
        await self._link.run(lambda engine: engine.reset_deferred_state())

    async def set_deferred(self, server: str, deferred: bool, template: list[str] | None = None) -> None:
        await self._link.run(lambda engine: engine.set_deferred(server, deferred, template))
