"""FakePresenter's verbs about secrets, questions, and who may reach the hub over HTTP. Mixed into it."""

from dataclasses import replace
from typing import Any

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory
from tests.fakes.server_snapshots import STARTED_AT

from tooltray.events import ElicitationEnded
from tooltray.snapshots.http import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.snapshots.removals import ServerRemoval


class AccessVerbs(HubInMemory):
    async def get_secret_names(self) -> list[str]:
        self._note("get_secret_names")
        return sorted(self.secrets)

    async def set_secret(self, name: str, value: str) -> None:
        self._note("set_secret", name)
        self.secrets[name] = value

    async def remove_secret(self, name: str) -> None:
        self._note("remove_secret", name)
        del self.secrets[name]

    async def preview_removal(self, name: str) -> ServerRemoval:
        self._note("preview_removal", name)
        return self._removal(name)

    async def get_unused_secrets(self) -> list[str]:
        self._note("get_unused_secrets")
        return [secret for secret in sorted(self.secrets) if secret.partition("/")[0] not in self.entries]

    async def remove_unused_secrets(self, names: list[str]) -> list[str]:
        self._note("remove_unused_secrets", names)
        removed = [secret for secret in await self.get_unused_secrets() if secret in names]
        self.secrets = {secret: value for secret, value in self.secrets.items() if secret not in removed}
        return removed

    async def check_secrets(self) -> str:
        self._note("check_secrets")
        return "keyring"

    async def unlock_secrets(self, passphrase: str) -> None:
        self._note("unlock_secrets", passphrase)

    async def set_secret_backend(self, kind: str) -> None:
        self._note("set_secret_backend", kind)

    async def answer_elicitation(self, id: str, action: str, content: dict[str, Any] | None = None) -> None:
        self._note("answer_elicitation", id, action, content)
        self.bus.publish(ElicitationEnded(id))

    async def get_http_status(self) -> HttpStatus:
        return self.http

    async def set_http_enabled(self, enabled: bool, port: int | None = None) -> HttpStatus:
        self._note("set_http_enabled", enabled, port)
        self.http = HttpStatus(enabled, enabled, f"http://127.0.0.1:{port or 7717}/mcp" if enabled else "")
        return self.http

    async def list_client_tokens(self) -> list[ClientTokenSnapshot]:
        return [ClientTokenSnapshot(name, STARTED_AT) for name in sorted(self.client_names)]

    async def create_client_token(self, name: str) -> str:
        self._note("create_client_token", name)
        self.client_names.add(name)
        return f"token of {name}"

    async def remove_client_token(self, name: str) -> None:
        self._note("remove_client_token", name)
        self.client_names.remove(name)

    async def set_api_enabled(self, enabled: bool, trusted: bool | None = None) -> HttpStatus:
        self._note("set_api_enabled", enabled, trusted)
        is_asked = self.http.is_trust_asked and trusted is None
        url = self.http.url.replace("/mcp", "/api/mcp") if enabled else ""
        self.http = replace(self.http, is_api_enabled=enabled, api_url=url, is_trust_asked=is_asked)
        return self.http

    async def list_api_tokens(self) -> list[ApiTokenSnapshot]:
        return list(self.api_tokens.values())

    async def create_api_token(
        self, name: str, scope: Scope = "manage", expires_in_s: float | None = None, trusted: bool = False
    ) -> NewApiToken:
        self._note("create_api_token", name, scope, expires_in_s, trusted)
        ends_at = None if expires_in_s is None else STARTED_AT + expires_in_s
        self.api_tokens[name] = ApiTokenSnapshot(name, scope, STARTED_AT, ends_at, is_trusted=trusted)
        return NewApiToken(f"api token of {name}", name, scope, ends_at, trusted)

    async def revoke_api_token(self, name: str) -> None:
        self._note("revoke_api_token", name)
        del self.api_tokens[name]

    async def get_api_token(self) -> str:
        self._note("get_api_token")
        return self.api_token

    async def rotate_api_token(self) -> str:
        self._note("rotate_api_token")
        self.api_token += "-new"
        return self.api_token
