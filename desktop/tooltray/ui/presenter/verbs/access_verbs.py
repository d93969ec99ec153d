"""QtMcpPresenter's verbs about secrets, questions to the person, and who gets in over HTTP. Mixed into it."""

from typing import Any

from tooltray.snapshots.http import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.snapshots.removals import ServerRemoval
from tooltray.ui.presenter.link import EngineLink


class AccessVerbs:
    _link: EngineLink

    async def get_secret_names(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_secret_names())

    async def set_secret(self, name: str, value: str) -> None:
        await self._link.run(lambda engine: engine.set_secret(name, value))

    async def remove_secret(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_secret(name))

    async def preview_removal(self, name: str) -> ServerRemoval:
        return await self._link.run(lambda engine: engine.preview_removal(name))

    async def get_unused_secrets(self) -> list[str]:
        return await self._link.run(lambda engine: engine.get_unused_secrets())

    async def remove_unused_secrets(self, names: list[str]) -> list[str]:
        return await self._link.run(lambda engine: engine.remove_unused_secrets(names))

    async def check_secrets(self) -> str:
        return await self._link.run(lambda engine: engine.check_secrets())

    async def unlock_secrets(self, passphrase: str) -> None:
        await self._link.run(lambda engine: engine.unlock_secrets(passphrase))

    async def set_secret_backend(self, kind: str) -> None:
        await self._link.run(lambda engine: engine.set_secret_backend(kind))

    async def answer_elicitation(self, id: str, action: str, content: dict[str, Any] | None = None) -> None:
        await self._link.run(lambda engine: engine.answer_elicitation(id, action, content))

    async def get_http_status(self) -> HttpStatus:
        return await self._link.run(lambda engine: engine.get_http_status())

    async def set_http_enabled(self, enabled: bool, port: int | None = None) -> HttpStatus:
        return await self._link.run(lambda engine: engine.set_http_enabled(enabled, port))

    async def set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> HttpStatus:
        return await self._link.run(lambda engine: engine.set_api_enabled(enabled, trusted))

    async def get_api_token(self) -> str:
        return await self._link.run(lambda engine: engine.get_api_token())

    async def rotate_api_token(self) -> str:
        return await self._link.run(lambda engine: engine.rotate_api_token())

    async def list_api_tokens(self) -> list[ApiTokenSnapshot]:
        return await self._link.run(lambda engine: engine.list_api_tokens())

    async def create_api_token(
        self, name: str, scope: Scope = "manage", expires_in_s: float | None = None, trusted: bool = False
    ) -> NewApiToken:
        return await self._link.run(lambda engine: engine.create_api_token(name, scope, expires_in_s, trusted))

    async def revoke_api_token(self, name: str) -> None:
        await self._link.run(lambda engine: engine.revoke_api_token(name))

    async def list_client_tokens(self) -> list[ClientTokenSnapshot]:
        return await self._link.run(lambda engine: engine.list_client_tokens())

    async def create_client_token(self, name: str) -> str:
        return await self._link.run(lambda engine: engine.create_client_token(name))

    async def remove_client_token(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_client_token(name))
