"""FakePresenter's verbs about projects' folders and deferred servers. Mixed into it."""

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory


class ProjectVerbs(HubInMemory):
    async def get_allowed_folders(self) -> list[str]:
        self._note("get_allowed_folders")
        return list(self.allowed_folders)

    async def allow_folder(self, path: str) -> str:
        self._note("allow_folder", path)
        return path

    async def disallow_folder(self, path: str) -> None:
        self._note("disallow_folder", path)

    async def start_for_project(self, server: str, path: str) -> None:
        self._note("start_for_project", server, path)

    async def start_without_project(self, server: str) -> None:
        self._note("start_without_project", server)

    async def set_session_project(self, session: str, path: str) -> None:
        self._note("set_session_project", session, path)

    async def reset_deferred_state(self) -> None:
        self._note("reset_deferred_state")

    async def set_deferred(self, server: str, deferred: bool, template: list[str] | None = None) -> None:
        self._note("set_deferred", server, deferred, template)
