"""QtMcpPresenter's verbs about approvals and grants. Mixed into it."""

from tooltray.snapshots.approvals import ApprovalSnapshot, GrantSnapshot, ToolChange
from tooltray.snapshots.tools import ToolSnapshot
from tooltray.ui.presenter.link import EngineLink


class ApprovalVerbs:
    _link: EngineLink

    async def get_approvals(self) -> list[ApprovalSnapshot]:
        return await self._link.run(lambda engine: engine.get_approvals())

    async def answer_approval(self, id: str, answer: str) -> None:
        await self._link.run(lambda engine: engine.answer_approval(id, answer))

    async def get_grants(self) -> list[GrantSnapshot]:
        return await self._link.run(lambda engine: engine.get_grants())

    async def preview_grant(self, server: str, kind: str = "tool", tool: str = "", client: str = "") -> list[ToolSnapshot]:
        return await self._link.run(lambda engine: engine.preview_grant(server, kind, tool, client))

    async def add_grant(
        self, server: str, kind: str = "tool", tool: str = "", client: str = "", expires_in_s: float | None = None
    ) -> GrantSnapshot:
        return await self._link.run(lambda engine: engine.add_grant(server, kind, tool, client, expires_in_s))

    async def remove_grant(self, id: str) -> None:
        await self._link.run(lambda engine: engine.remove_grant(id))

    async def set_server_auto_approve(self, server: str, rules: list[str]) -> None:
        await self._link.run(lambda engine: engine.set_server_auto_approve(server, rules))

    async def get_tool_changes(self) -> list[ToolChange]:
        return await self._link.run(lambda engine: engine.get_tool_changes())

    async def accept_tool_change(self, server: str, tool: str) -> None:
        await self._link.run(lambda engine: engine.accept_tool_change(server, tool))
