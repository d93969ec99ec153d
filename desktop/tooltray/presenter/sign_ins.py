"""Signing in to servers elsewhere.

Above it: McpPresenter and ServerManager. Below it: servers/oauth, which speaks with authorization servers, and the secrets,
which keep tokens.
"""

from tooltray.errors import TooltrayError
from tooltray.events import SignInSnapshot


class SignIns:
    """Belongs to the engine's loop."""

    async def begin(self, server: str) -> SignInSnapshot:
        raise TooltrayError(f"'{server}' has no sign-in")

    async def finish(self, server: str, callback_url: str | None = None) -> None:
        raise TooltrayError(f"'{server}' has no sign-in")

    async def cancel(self, server: str) -> None:
        raise TooltrayError(f"'{server}' has no sign-in")

    async def sign_out(self, server: str) -> None:
        raise TooltrayError(f"'{server}' has no sign-in")

    def is_signed_in(self, server: str) -> bool:
        return False

    def has_page(self, server: str) -> bool:
        return False

    async def close(self) -> None:
        """Ends what waits for a browser."""
