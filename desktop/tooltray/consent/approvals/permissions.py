"""Lists what runs without asking, for each server and tool, and why; and changes the user's choice for one tool.

Calls are not decided here, but in ApprovalRules and GrantBook.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

from tooltray.catalogue import approval, tool_words
from tooltray.catalogue.approval import Choice, Decision
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import rules_of
from tooltray.config.naming import tool_settings
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals import rule_words
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ServerPermissions, ToolPermission
from tooltray.foundation.tasks import in_slices
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

CHOSEN_FREE, CHOSEN_ASK = Phrase("You chose that it runs without asking"), Phrase("You chose that it asks first")
REASONS: Mapping[str, Phrase] = {
    "all": Phrase("Everything of this server runs without asking"),
    "read": Phrase("It only reads"),
    "write": Phrase("What changes things runs without asking here"),
    "hint:idempotent": Phrase("Its server says that a second call changes nothing more"),
    "hint:closed-world": Phrase("Its server says that it reaches nothing outside"),
    "hint:non-destructive": Phrase("Its server says that it destroys nothing"),
}
"""Reasons by the rule that allows a tool."""
ASKS_READING = Phrase("It reads, and reading asks first here")
ASKS_WRITING = Phrase("It changes things, or may")


class Permissions:
    """The tools that run without asking, and the choices of the user. Has no state of its own."""

    def __init__(self, *, config: McpConfHelper, servers: ServerManager, tools: ToolManager, grants: GrantBook) -> None:
        self._config, self._servers, self._tools, self._grants = config, servers, tools, grants

    async def all(self) -> list[ServerPermissions]:
        """Implements ApprovalsApi.get_permissions."""
        return [await self._of(server) for server in tuple(self._servers)]

    def rules(self, server: str) -> tuple[str, ...]:
        """Returns the rules of a server that apply now.

        Raises:
            NotFound: there is no such server in a file.
        """
        if (config := self._config.settings.mcp_servers.get(server)) is None:
            raise NotFound(Phrase("There is no server '{name}'", name=server))
        return tuple(config.auto_approve)

    def rules_with(self, server: str, tool: str, choice: str) -> tuple[str, ...]:
        """Returns the rules of a server with a choice for one of its tools.

        Raises:
            NotFound: there is no such server in a file, or it is known to have no such tool.
            TooltrayError: this is not a valid choice.
        """
        rules, names = self.rules(server), self._tools.known_names(server)
        if names and tool not in names:
            raise NotFound(Phrase("'{server}' has no tool '{tool}'", server=server, tool=tool))
        return approval.with_choice(tool, _choice(choice), rules)

    async def change_rules(self, server: str, rules: Sequence[str]) -> None:
        """
        Raises:
            TooltrayError: there is no such server in a file, or its entry cannot be written.
        """
        await self._config.change_server(server, auto_approve=tuple(rules))

    async def revoke_grants(self, server: str, tool: str) -> None:
        """Revokes the grants for one tool by its name, so that it asks from now on.

        Raises:
            TooltrayError: the change cannot be written.
        """
        for grant in self._grants.snapshots():
            if grant.kind != "reads" and (grant.server, grant.tool) == (server, tool):
                await self._grants.revoke(grant.id)

    async def _of(self, server: ManagedServer) -> ServerPermissions:
        rules = rules_of(server)
        covered, held = self._grants.covering(server.name), self._grants.held_tools(server.name)

        def permission(definition: ToolDefinition) -> ToolPermission:
            name = definition.name
            hints = tool_words.hints_for_rules(server.config.tool_overrides.get(name), definition.annotations)
            decision = approval.decide(server.name, name, hints, rules)
            return ToolPermission(
                name,
                decision.category,
                approval.choice(name, rules),
                decision.is_approved,
                why(decision),
                covered.get(name, ()),
                tool_settings.is_enabled(name, server.config),
                name in held,
            )

        tools = await in_slices(permission, self._tools.definitions(server.name))
        single = tuple(filter(approval.is_about_one, rules))
        is_listed = self._tools.is_listed(server.name)
        call_rules = tuple(map(rule_words.words, server.config.call_rules))
        return ServerPermissions(server.name, rules, single, not server.is_builtin, is_listed, tuple(tools), call_rules)


def why(decision: Decision) -> str:
    """Returns why a tool runs without asking, or asks."""
    if decision.is_excepted:
        return CHOSEN_ASK
    if not decision.is_approved:
        return ASKS_READING if decision.category == "read" else ASKS_WRITING
    if reason := REASONS.get(decision.rule):
        return reason
    beginning, _, pattern = decision.rule.partition(":")
    return Phrase("Its name is like {pattern}", pattern=pattern) if beginning == "names" else CHOSEN_FREE


def _choice(text: str) -> Choice:
    choices: Sequence[Choice] = get_args(Choice)
    for choice in choices:
        if choice == text:
            return choice
    raise TooltrayError(Phrase("'{choice}' is no choice for a tool", choice=text), hint=Phrase("It is 'always', 'ask' or 'default'."))
