"""FakePresenter's verbs about approvals and grants. Mixed into it."""

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory

from tooltray.snapshots.approvals import ApprovalSnapshot, GrantSnapshot, ToolChange
from tooltray.snapshots.tools import ToolSnapshot


class ApprovalVerbs(HubInMemory):
    async def get_approvals(self) -> list[ApprovalSnapshot]:
        self._note("get_approvals")
        return list(self.approvals)

    async def answer_approval(self, id: str, answer: str) -> None:
        self._note("answer_approval", id, answer)
        self.end_approval(id)

    async def get_grants(self) -> list[GrantSnapshot]:
        self._note("get_grants")
        return list(self.grants)

    async def preview_grant(self, server: str, kind: str = "tool", tool: str = "", client: str = "") -> list[ToolSnapshot]:
        self._note("preview_grant", server, kind, tool, client)
        return [
            each
            for each in self.tools
            if each.server == server and (each.original_name == tool if kind == "tool" else each.category == "read")
        ]

    async def add_grant(
        self, server: str, kind: str = "tool", tool: str = "", client: str = "", expires_in_s: float | None = None
    ) -> GrantSnapshot:
        self._note("add_grant", server, kind, tool, client, expires_in_s)
        return GrantSnapshot("g", kind, server, tool, client)

    async def remove_grant(self, id: str) -> None:
        self._note("remove_grant", id)

    async def set_server_auto_approve(self, server: str, rules: list[str]) -> None:
        self._note("set_server_auto_approve", server, rules)

    async def get_tool_changes(self) -> list[ToolChange]:
        self._note("get_tool_changes")
        return list(self.tool_changes)

    async def accept_tool_change(self, server: str, tool: str) -> None:
        self._note("accept_tool_change", server, tool)
