"""What the user allows without a call: tools that run without asking and why, grants with their previews, and changed definitions.

Calls are not decided here, but in ApprovalRules and GrantBook. The journal has arguments only if the user switched that on; past calls
without arguments cannot be judged.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

from msgspec.structs import asdict, replace

from tooltray.catalogue import auto_approve, tool_words
from tooltray.catalogue.auto_approve import Choice, Decision
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route, rules_of
from tooltray.config.naming import tool_settings
from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, what_runs
from tooltray.consent.approvals import rule_words, suspicion
from tooltray.consent.approvals.access import AccessSettings, access_of
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grants import GrantEnd, check_end, words_of
from tooltray.consent.approvals.pending_approvals import PendingApprovals, PendingCall
from tooltray.consent.approvals.question_snapshots import LONGEST_NAME, Masked
from tooltray.consent.approvals.rule_coverage import Place, covers, is_for
from tooltray.consent.approvals.rule_words import cautions, folder_words, words
from tooltray.consent.approvals.standing_grants import CallRules, folder_problems, folders_of, link_target, reads
from tooltray.consent.skills.skill_catalogue import SKILL, SkillBook
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.files.json_text import revision_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityFilter
from tooltray.foundation.snapshots.approvals import GrantSnapshot, JudgedCall, RulePreview, ServerPermissions, ToolChange, ToolPermission
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.foundation.snapshots.tools import CoveredTool, ToolSnapshot
from tooltray.foundation.tasks import in_slices
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.records.journal.journal_reader import JournalReader
from tooltray.servers.confinement.confinements import Confinements, as_written
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

CHOSEN_FREE, CHOSEN_ASK = Phrase("You chose that it runs without asking"), Phrase("You chose that it asks first")
REASONS: Mapping[str, Phrase] = {
    "all": Phrase("Everything of this server runs without asking"),
    "read": Phrase("It only reads"),
    "write": Phrase("What changes things runs without asking here"),
    "hint:idempotent": Phrase("The server declares that repeated calls change nothing more"),
    "hint:closed-world": Phrase("The server declares that it reaches nothing outside"),
    "hint:non-destructive": Phrase("The server declares that it destroys nothing"),
}
"""Reasons by the rule that allows a tool."""
ASKS_READING = Phrase("It reads, and reads ask first here")
ASKS_WRITING = Phrase("It may change things")


class Permissions:
    """The tools that run without asking, and the choices of the user. Has no state of its own."""

    def __init__(
        self, *, config: McpConfHelper, servers: ServerManager, tools: ToolManager, grants: GrantBook, confinements: Confinements
    ) -> None:
        self._config, self._servers, self._tools, self._grants, self._confinements = config, servers, tools, grants, confinements

    async def all(self, server: str) -> list[ServerPermissions]:
        """Implements ApprovalsApi.get_permissions."""
        return [await self._of(each) for each in tuple(self._servers) if server in ("", each.name)]

    def access(self, server: str) -> tuple[str, AccessSettings]:
        """Returns what a server runs, and the settings that decide what it may do.

        Raises:
            NotFound: no file has this server.
        """
        config = self._server(server)
        return what_runs(config), AccessSettings(tuple(config.auto_approve), config.confinement)

    def check_offered(self, server: str, choice: AccessChoice) -> None:
        """
        Raises:
            NotFound: no file has this server.
            TooltrayError: it cannot have this choice.
        """
        if choice not in access_of(self._server(server), self._confinements).offered:
            title = Phrase("'{server}' cannot be {choice}", server=server, choice=choice)
            raise TooltrayError(title, Phrase("it would need a sandbox that it cannot have here"))

    async def change_access(self, server: str, settings: AccessSettings) -> None:
        """Writes the settings in one change of the entry.

        Raises:
            TooltrayError: no file has this server, or its entry cannot be written.
        """
        written = as_written(settings.confinement, is_of_file=self._config.file_server(server) is not None)
        await self._config.change_server(server, auto_approve=settings.rules, confinement=written)

    def rules(self, server: str) -> tuple[str, ...]:
        """Returns the rules of a server that apply now.

        Raises:
            NotFound: no file has this server.
        """
        return tuple(self._server(server).auto_approve)

    def rules_with(self, server: str, tool: str, choice: str) -> tuple[str, ...]:
        """Returns the rules of a server with a choice for one of its tools.

        Raises:
            NotFound: no file has this server, or the server has no such tool.
            TooltrayError: this is not a valid choice.
        """
        rules, names = self.rules(server), self._tools.known_names(server)
        if names and tool not in names:
            raise NotFound(Phrase("'{server}' has no tool '{tool}'", server=server, tool=tool))
        return auto_approve.with_choice(tool, _choice(choice), rules)

    async def change_rules(self, server: str, rules: Sequence[str]) -> None:
        """
        Raises:
            TooltrayError: no file has this server, or its entry cannot be written.
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

    def _server(self, server: str) -> MCPServerConfig:
        if (config := self._config.settings.mcp_servers.get(server)) is None:
            raise NotFound(Phrase("Server '{name}' not found", name=server))
        return config

    async def _of(self, server: ManagedServer) -> ServerPermissions:
        rules = rules_of(server)
        covered, held = self._grants.covering(server.name), self._grants.held_tools(server.name)
        routes = self._tools.routes(server.name)

        def permission(definition: ToolDefinition) -> ToolPermission:
            name = definition.name
            hints = tool_words.hints_for_rules(server.config.tool_overrides.get(name), definition.annotations)
            decision = auto_approve.decide(server.name, name, hints, rules)
            return ToolPermission(
                name,
                decision.category,
                auto_approve.choice(name, rules),
                decision.is_approved,
                why(decision),
                covered.get(name, ()),
                tool_settings.is_enabled(name, server.config),
                name in held,
                self._call_rules(server, routes.get(name), is_excepted=decision.is_excepted),
            )

        tools = await in_slices(permission, self._tools.definitions(server.name))
        single = tuple(filter(auto_approve.is_about_one, rules))
        is_listed = self._tools.is_listed(server.name)
        call_rules = tuple(map(rule_words.words, server.config.call_rules))
        return ServerPermissions(server.name, rules, single, not server.is_builtin, is_listed, tuple(tools), call_rules)

    def _call_rules(self, server: ManagedServer, route: Route | None, *, is_excepted: bool) -> tuple[str, ...]:
        """Returns the rules on arguments that count for a tool and all AI clients, in words.

        Args:
            is_excepted: the user chose that the tool asks; then only rules that were made for it count.
        """
        if route is None:
            return ()
        of_settings = (each for each in server.config.call_rules if not is_excepted and is_for(each, route.definition.name))
        of_grants = (each for each in self._grants.rules(route, "") if each.tool or not is_excepted)
        return (*map(rule_words.words, of_settings), *map(words_of, of_grants))


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
    raise TooltrayError(
        Phrase("'{choice}' is not an approval choice for a tool", choice=text), hint=Phrase("It is 'always', 'ask' or 'default'.")
    )


class ToolGrants:
    """The grants of tools by name, or of all tools of a server that read. Has no state of its own."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, grants: GrantBook) -> None:
        self._servers, self._tools, self._grants = servers, tools, grants

    async def preview(self, server: str, kind: str, tool: str) -> list[CoveredTool]:
        """Implements ApprovalsApi.preview_grant."""
        routes = await self._routes_for(server, kind, tool)
        revision = _revision(routes)
        listed = [(each, routes.get(each.original_name)) for each in await self._tools.snapshots(server)]
        return [
            CoveredTool(**asdict(each), warnings=suspicion.warnings(route.definition), revision=revision) for each, route in listed if route
        ]

    async def allow(self, server: str, kind: str, tool: str, client: str, end: GrantEnd, seen: str) -> GrantSnapshot:
        """Implements ApprovalsApi.add_grant."""
        check_end(end)
        routes = await self._routes_for(server, kind, tool)
        if seen and seen != _revision(routes):
            raise Conflict(Phrase("the tools have changed since they were shown"), hint=Phrase("Review them again."))
        return await self._grants.allow(server, "tool" if kind == "tool" else "reads", routes, client=client, end=end)

    async def definitions(self, server: str, kind: str, tool: str) -> list[str]:
        """Returns the tools that a grant would cover, as they are defined now, each with the beginning of its fingerprint."""
        return _marked(await self._found(server, kind, tool))

    async def _found(self, server: str, kind: str, tool: str) -> dict[str, Route]:
        await self._tools.published(server)  # a server that was never listed is waited for: its tools would count as changed later
        if kind == "reads":
            return reads(self._tools, server)
        return {name: route for name, route in self._tools.routes(server).items() if name == tool}

    async def _routes_for(self, server: str, kind: str, tool: str) -> dict[str, Route]:
        """Returns the tools that a grant would cover.

        Raises:
            TooltrayError: the server, the tool or the kind is unknown, or the grant would allow nothing.
        """
        self._servers.get(server)
        if kind not in ("tool", "reads"):
            title = Phrase("'{kind}' is not a kind of grant", kind=suspicion.visible(kind))
            raise TooltrayError(title, hint=Phrase("It is 'tool' or 'reads'."))
        if routes := await self._found(server, kind, tool):
            return routes
        if kind == "reads":
            raise NotFound(Phrase("'{server}' has no tools that read", server=server), hint=Phrase("See them with `tooltray tools list`."))
        raise _not_offered(Phrase("'{server}' offers no tool '{shown}'", server=server, shown=suspicion.visible(tool)))


def _not_offered(title: Phrase) -> NotFound:
    return NotFound(title, hint=Phrase("The server's own name is wanted; see `tooltray tools list --json`."))


def _marked(routes: Mapping[str, Route]) -> list[str]:
    return [suspicion.named_with_mark(name, route.mark) for name, route in routes.items()]


def _revision(routes: Mapping[str, Route]) -> str:
    """Returns a revision that changes if one of the tools changes, or if tools are added or removed."""
    return revision_of({name: route.mark for name, route in routes.items()})


MOST_PAST = 200  # calls of a tool that are judged: those of the last days, in a fraction of a second
LONGEST_LINE = 200  # characters of a call's arguments


class _PastCall(NamedTuple):
    at: float
    tool: str
    client: str
    project: str
    arguments: bytes


class RuleGrants:
    """The grants of calls by a rule on their arguments. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        call_rules: CallRules,
        grants: GrantBook,
        pending_approvals: PendingApprovals,
        journal_reader: JournalReader,
        masked: Masked,
    ) -> None:
        """
        Args:
            masked: removes known secrets from shown texts.
        """
        self._servers, self._tools, self._rules, self._grants = servers, tools, call_rules, grants
        self._pending, self._reader, self._masked = pending_approvals, journal_reader, masked

    async def preview(self, server: str, given: object) -> RulePreview:
        """Implements ApprovalsApi.preview_rule."""
        rule = read_rule(given)
        self._servers.get(server)
        names = list(await self._routes(server, rule))
        past, unknown = await asyncio.to_thread(self._past, server, names)
        calls = [*(_of_question(each) for each in self._pending if _is_of(each, server, names)), *past]
        place = self._rules.place("")
        judged = await asyncio.to_thread(lambda: tuple(self._judged(rule, calls, place)))
        problems = await folder_problems(rule, place)
        if not names:
            problems = (Phrase("no such tool"), *problems)
        links = await asyncio.to_thread(lambda: [(each, link_target(each, place)) for each in folders_of(rule)])
        led = (Phrase("{folder} leads to {real}", folder=folder_words(each), real=suspicion.visible(real)) for each, real in links if real)
        return RulePreview(words(rule), rule.members(), (*cautions(rule, place), *led), problems, judged, unknown)

    async def allow(self, server: str, given: object, client: str, end: GrantEnd) -> GrantSnapshot:
        """Implements ApprovalsApi.add_rule."""
        check_end(end)
        rule = read_rule(given)
        self._servers.get(server)
        routes = await self._routes(server, rule)
        if not routes:
            raise _not_offered(Phrase("'{server}' has no tool that this rule names", server=server))
        if rule.server not in ("", server):
            raise TooltrayError(Phrase("This rule is for another server"), hint=Phrase("Leave out its member server."))
        if problems := await folder_problems(rule, self._rules.place("")):
            raise TooltrayError(Phrase("This rule matches no calls"), "; ".join(problems), Phrase("Make the folder, or name another one."))
        if self._masked(rule.text) != rule.text:
            raise TooltrayError(Phrase("There is a secret in this rule"), Phrase("it would be kept"), Phrase("Make one without it."))
        return await self._grants.allow(server, "rule", routes, client=client, end=end, rule=rule.members())

    async def definitions(self, server: str, rule: CallRule) -> list[str]:
        """Returns a rule's tools as they are defined now, each with the beginning of its fingerprint."""
        return _marked(await self._routes(server, rule))

    async def _routes(self, server: str, rule: CallRule) -> dict[str, Route]:
        """Returns the tools that a rule is about, by name."""
        await self._tools.published(server)  # a server that was never listed is waited for
        return {name: route for name, route in self._tools.routes(server).items() if is_for(rule, name)}

    def _past(self, server: str, names: Iterable[str]) -> tuple[list[_PastCall], int]:
        """Returns calls of the past, the newest first, and the number of calls whose arguments are missing or cut. Reads the journal."""
        if not (tools := tuple(names)):
            return [], 0
        wanted = ActivityFilter(kinds=("call",), servers=(server,), tools=tools)
        found = self._reader.latest_details(wanted, MOST_PAST)
        known = [_of_entry(each) for each in found if each.arguments and not each.is_cut]
        return known, len(found) - len(known)

    def _judged(self, rule: CallRule, calls: Iterable[_PastCall], place: Place) -> Iterator[JudgedCall]:
        for call in calls:
            is_covered = covers(rule, call.arguments, place._replace(project=call.project))
            line = self._masked(call.arguments.decode("utf-8", "replace"))
            shown = suspicion.visible(line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…")
            yield JudgedCall(call.at, suspicion.visible(call.tool), plain(call.client, LONGEST_NAME), shown, is_covered)


def _is_of(question: PendingCall, server: str, names: Iterable[str]) -> bool:
    route = question.subject.route
    return route.server == server and route.definition.name in names


def _of_question(question: PendingCall) -> _PastCall:
    call = question.subject
    return _PastCall(question.asked_at, call.route.definition.name, call.client, call.project, bytes(call.arguments))


def _of_entry(details: ActivityDetails) -> _PastCall:
    entry = details.entry
    return _PastCall(entry.at, entry.tool, entry.client, entry.project, details.arguments.encode("utf-8", "replace"))


class DefinitionChanges:
    """The changed tools and skills together. Has no state of its own."""

    def __init__(self, *, grants: GrantBook, tool_grants: ToolGrants, skill_book: SkillBook) -> None:
        self._grants, self._tool_grants, self._skills = grants, tool_grants, skill_book

    def all(self) -> list[ToolChange]:
        """Implements ApprovalsApi.get_tool_changes."""
        return [*self._grants.changes(), *self._skills.changes()]

    async def now(self, server: str, name: str, kind: str) -> list[str]:
        """Returns the change that would be accepted: its name and the beginning of its fingerprint; empty without a change."""
        if kind == SKILL:
            return self._skills.definitions(server, name)
        return await self._tool_grants.definitions(server, "tool", name)

    async def accept(self, server: str, name: str, kind: str, seen: str) -> None:
        """Implements ApprovalsApi.accept_tool_change."""
        await (self._skills if kind == SKILL else self._grants).accept(server, name, seen)

    def with_held(self, tools: list[ToolSnapshot]) -> list[ToolSnapshot]:
        """Returns the same tools; those that were allowed and have changed since are marked."""
        held = {server: self._grants.held_tools(server) for server in {tool.server for tool in tools}}
        return [replace(each, is_held=True) if each.original_name in held[each.server] else each for each in tools]
