"""Who gets in over HTTP, where no hub runs: what a hub does with tokens, without anything that is open.

Above it: settings_hub, which makes this while it holds the hub's lock. Below it: HttpAccess, and the files of a home.
"""

from tooltray.access.api_token import ApiToken
from tooltray.access.api_tokens import ApiTokens
from tooltray.access.client_tokens import ClientTokens
from tooltray.access.http_access import HttpAccess
from tooltray.access.trusted_tokens import TrustedTokens
from tooltray.home.home import Home
from tooltray.secrets.secrets import SecretStore
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.http import HttpStatus


class _ClosedDoor:
    """Nothing is open where no hub runs."""

    status = HttpStatus()

    async def follow(self, *, is_retry: bool = False) -> None: ...

    async def forget_client(self, name: str) -> None: ...

    def forget_programs(self) -> None: ...


def http_access(home: Home, config: McpConfHelper, secrets: SecretStore) -> HttpAccess:
    door = _ClosedDoor()
    return HttpAccess(
        config=config,
        tokens=ClientTokens(home.clients),
        api_tokens=ApiTokens(ApiToken(home.http_token), home.api_tokens),
        trusted=TrustedTokens(secrets),
        door=lambda: door,
    )
