"""Who calls where no AI client does: the command line and the desktop.

Above it: McpPresenter. Satisfies McpClient's Caller. There is nobody to ask, and progress is not shown.
"""

from msgspec import Raw

from tooltray.wire.envelope import METHOD_NOT_FOUND, Envelope, failure


class OwnCaller:
    """Has no state; one serves all calls."""

    capabilities = Raw(b"{}")

    def can_answer(self, method: str) -> bool:
        return False

    async def ask(self, method: str, params: Raw) -> Envelope:
        return failure(METHOD_NOT_FOUND, f"nobody can answer {method} here")

    def tell(self, method: str, params: Raw) -> None:
        """Nobody listens."""
