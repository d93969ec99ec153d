"""Tools and skills that a person allowed or had seen, and that are others since: listed, marked, and accepted.

Above it: ApprovalsApi and ToolsApi. Below it: GrantBook and ToolGrants for tools, SkillBook for skills.
"""

from msgspec.structs import replace

from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.skill_book import SKILL, SkillBook
from tooltray.consent.approvals.tool_grants import ToolGrants
from tooltray.foundation.snapshots.approvals import ToolChange
from tooltray.foundation.snapshots.tools import ToolSnapshot


class DefinitionChanges:
    """Has no state of its own."""

    def __init__(self, *, grants: GrantBook, tool_grants: ToolGrants, skill_book: SkillBook) -> None:
        self._grants, self._tool_grants, self._skills = grants, tool_grants, skill_book

    def all(self) -> list[ToolChange]:
        """See ApprovalsApi.get_tool_changes."""
        return [*self._grants.changes(), *self._skills.changes()]

    async def now(self, server: str, name: str, kind: str) -> list[str]:
        """What would be accepted: its name and the beginning of its mark; empty: there is none."""
        if kind == SKILL:
            return self._skills.definitions(server, name)
        return await self._tool_grants.definitions(server, "tool", name)

    async def accept(self, server: str, name: str, kind: str, seen: str) -> None:
        """See ApprovalsApi.accept_tool_change."""
        await (self._skills if kind == SKILL else self._grants).accept(server, name, seen)

    def with_held(self, tools: list[ToolSnapshot]) -> list[ToolSnapshot]:
        """The same, those marked that were allowed and are other tools since."""
        held = {server: self._grants.held_tools(server) for server in {tool.server for tool in tools}}
        return [replace(each, is_held=True) if each.original_name in held[each.server] else each for each in tools]
