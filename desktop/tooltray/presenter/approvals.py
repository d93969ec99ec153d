"""Whether a tool call goes through, and who is asked where the settings do not say: the one broker of approvals.

Above it: ToolCalls, which asks before each call, and McpPresenter, whose verbs answer and take back. Below it: the grants on the disk, the
event bus, by which the desktop hears of a question and of its end, and the client's own person where there is no desktop.
"""

from tooltray.events import ApprovalSnapshot, GrantSnapshot, ToolChange, ToolSnapshot
from tooltray.presenter.caller import Caller
from tooltray.presenter.held_calls import HeldCalls
from tooltray.presenter.tool_manager import Route
from tooltray.wire.envelope import CONNECTION_CLOSED, Envelope, failure
from tooltray.wire.eras import Head


class Approvals:
    """Belongs to the engine's loop."""

    async def refusal(
        self, route: Route, request: Envelope, head: Head, caller: Caller, held: HeldCalls, *, client: str
    ) -> Envelope | None:
        """What answers a call in the place of its server; None: it goes through.

        Args:
            held: the session's calls that wait for an answer of its person.
            client: who calls, for the question.
        """
        if not route.decision.is_approved:
            return failure(CONNECTION_CLOSED, f"{route.decision.message}. {route.decision.hint}.")
        return None

    def waiting(self) -> list[ApprovalSnapshot]:
        """See ApprovalVerbs.get_approvals."""
        return []

    async def answer(self, id: str, answer: str) -> None:
        """See ApprovalVerbs.answer_approval."""

    def grants(self) -> list[GrantSnapshot]:
        """See ApprovalVerbs.get_grants."""
        return []

    async def preview(self, server: str, kind: str, tool: str, client: str) -> list[ToolSnapshot]:
        """See ApprovalVerbs.preview_grant."""
        return []

    async def grant(self, server: str, kind: str, tool: str, client: str, expires_in_s: float | None) -> GrantSnapshot:
        """See ApprovalVerbs.add_grant."""
        return GrantSnapshot("", kind, server, tool, client)

    async def take_back(self, id: str) -> None:
        """See ApprovalVerbs.remove_grant."""

    def changes(self) -> list[ToolChange]:
        """See ApprovalVerbs.get_tool_changes."""
        return []

    async def accept(self, server: str, tool: str) -> None:
        """See ApprovalVerbs.accept_tool_change."""
