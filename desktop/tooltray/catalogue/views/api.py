"""The API about the tools that AI clients see: sessions, modes, profiles, the costs of definitions, and the search among them."""

from collections.abc import Callable

from tooltray.catalogue import auto_approve
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.meta_tools import FOUND_BY_DEFAULT, MOST_DESCRIBED, MOST_FOUND, MOST_NEEDS, Search
from tooltray.catalogue.views.modes import Modes
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.tool_costs import ToolCosting
from tooltray.catalogue.views.tool_lookup import ToolLookup, whole_definition
from tooltray.config.settings import view_settings
from tooltray.config.settings.call_rule import CallRule
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.config.settings.widening import client_rules_widen, override_widens, profile_widens, words_mislead
from tooltray.foundation.confirm_widening import OTHER_WORDS, YES_TO_CALLS, check_unchanged, confirm_widening
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.foundation.snapshots.tools import FoundTool, FoundTools, ToolCosts
from tooltray.foundation.verbs import JsonMapping, JsonObject, always, verb
from tooltray.protocol.envelope import load
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.session_state import SessionState, SessionStates

LONGEST_UNKNOWN = 100  # characters of an unknown id or name
EVERY_OTHER = ""  # replaces a client's name: all clients without settings of their own
TITLE_OF_OTHERS = "Every other AI client"

RuleWords = Callable[[CallRule], str]
"""Describes the calls that a rule on arguments allows."""


def _leaves_a_profile(part: "ViewsApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token if a kind of AI client has a profile that would be replaced or removed."""
    known = part._config.settings.publish.clients.get(arguments["client"])
    return known is not None and known.profile not in (None, arguments.get("profile", ""))


def _shows_more(part: "ViewsApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token if an existing profile would get more servers or tools."""
    before = part._config.settings.profiles.get(arguments["name"])
    return before is not None and profile_widens(before, arguments["profile"])


class ViewsApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        states: SessionStates,
        clients: KnownClients,
        profiles: Profiles,
        modes: Modes,
        costs: ToolCosting,
        rule_words: RuleWords,
    ) -> None:
        self._config, self._states, self._clients, self._profiles = config, states, clients, profiles
        self._modes, self._costs, self._rule_words = modes, costs, rule_words

    async def get_sessions(self) -> list[SessionSnapshot]:
        """Returns the sessions of AI clients, including those that left a moment ago."""
        return [self._session(state) for state in self._states if not state.is_passing]

    async def get_client_modes(self) -> list[ClientModeSnapshot]:
        """Returns how tools are shown to each kind of AI client that is known, was seen, or has settings of its own."""
        return [self._client(name) for name in (EVERY_OTHER, *self._clients.names())]

    async def set_client_mode(self, client: str, mode: str = "") -> None:
        """Chooses how tools are shown to one kind of AI client.

        Args:
            client: the name that it gives itself; empty: every client that has no mode of its own.
            mode: "everything", "lazy", "search", "automatic", or empty: the servers' settings decide.

        Raises:
            TooltrayError: the mode does not exist, or the settings cannot be written.
        """
        await self._config.edit(view_settings.client_mode(client, mode))

    @verb(trusted=_leaves_a_profile)
    async def set_client_profile(self, client: str, profile: str = "") -> None:
        """Chooses the profile that one kind of AI client gets unless it requests another; empty: no profile.

        Raises:
            NotFound: the profile does not exist.
            TooltrayError: the settings cannot be written.
        """
        await self._config.edit(view_settings.client_profile(client, profile))

    async def set_client_auto_approve(self, client: str, rules: list[str] | None = None) -> None:
        """Chooses which calls of one kind of AI client run without asking, instead of the servers' own rules; None: the servers' rules
        count.

        Raises:
            TooltrayError: a rule means nothing, or the settings cannot be written.
        """
        before = self._client_rules(client)
        if client_rules_widen(before, rules):
            await confirm_widening(YES_TO_CALLS, client=client, rules=rules)
            check_unchanged(before, self._client_rules(client))
        if problem := auto_approve.problem_of(client, rules or (), ()):
            raise TooltrayError(problem.title, problem.message, problem.hint)
        await self._config.edit(view_settings.client_field(client, "autoApprove", rules))

    async def get_profiles(self) -> list[ProfileSnapshot]:
        return self._profiles.snapshots()

    @verb(trusted=_shows_more)
    async def set_profile(self, name: str, profile: JsonMapping) -> None:
        """Adds or replaces a profile; sessions that have it see the difference at once.

        Args:
            profile: `servers` (names; absent: all), `tools` (by server, its only tools; the server's own names), `description`.

        Raises:
            TooltrayError: the name or the profile cannot be used, or the settings cannot be written.
        """
        await self._config.edit(view_settings.profile(name, profile))

    @verb(trusted=always)
    async def remove_profile(self, name: str) -> None:
        """Removes a profile.

        Raises:
            NotFound: the profile does not exist.
            TooltrayError: the settings give the profile to a client, or the settings cannot be written.
        """
        await self._config.edit(view_settings.without_profile(name))

    async def set_lazy_load(self, enabled: bool | None = None, server: str | None = None) -> None:
        """Chooses whether a server's tools are shown only after the server is activated, or at once.

        Args:
            enabled: None: the choice for all servers counts.
            server: None: all servers without a choice of their own.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: the settings cannot be written.
        """
        if server and self._config.file_server(server):
            await self._config.change_server(server, lazy_load=enabled)
        else:
            await self._config.edit(view_settings.lazy_load(enabled, server))

    async def set_tool_override(
        self,
        server: str,
        tool: str,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
        annotations: JsonObject | None = None,
        icons: list[JsonObject] | None = None,
    ) -> None:
        """Shows a tool to AI clients under another name, or with another description, title, hints or icons; None: the tool's own.

        Hints never make a call run without asking that would ask by the server's own; stricter ones make it ask. A person confirms other
        words, since a model may mistake the tool for another one.

        Args:
            tool: the server's own name for the tool.
            annotations: the changed ones of `title`, `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`.
            icons: each with `src` (https: or data:image/), and `mimeType`, `sizes` and `theme` where they are known.

        Raises:
            NotFound: the settings have no such server.
            Denied: the change was not confirmed.
            TooltrayError: one of the values cannot be used, or the settings cannot be written.
        """
        given = {"name": name, "description": description, "title": title, "annotations": annotations, "icons": icons}
        before = self._override(server, tool)
        now = view_settings.read_override(tool, {**given, "flow": before.flow if before else None})
        is_laxer = before is not None and override_widens(before, now)
        if is_laxer or words_mislead(before, now):
            await confirm_widening(YES_TO_CALLS if is_laxer else OTHER_WORDS, given, server=server, tool=tool)
            check_unchanged(before, self._override(server, tool))
        await self._profiles.set_override(server, tool, {member: value for member, value in given.items() if value is not None})

    async def set_result_limit(
        self, tokens: int | None = None, server: str | None = None, tool: str | None = None, client: str | None = None
    ) -> None:
        """Chooses how many tokens of a result AI clients get at once; they read the rest page by page. None: no limit of this kind.

        Args:
            tokens: at least 500.
            server: for all tools of this server; with `tool`, for that tool by the server's own name, replacing the server's limit.
            client: for all results of one kind of AI client; without a server.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: neither a server nor a client is named, or both are; the number cannot be used; the settings cannot be written.
        """
        view_settings.check_limit(tokens)
        await self._profiles.set_for_results("result_limit", tokens, server, tool, client)

    async def set_csv_tables(
        self, enabled: bool | None = None, server: str | None = None, tool: str | None = None, client: str | None = None
    ) -> None:
        """Chooses whether AI clients get tables in results as CSV where that is at least a quarter smaller. Tools with an output schema
        keep their JSON.

        Args:
            enabled: False: never, whatever is chosen elsewhere; None: as chosen elsewhere, else JSON.
            server: for all tools of this server; with `tool`, for that tool by the server's own name, in place of the server's choice.
            client: for all results of one kind of AI client; without a server.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: neither a server nor a client is named, or both are; the settings cannot be written.
        """
        await self._profiles.set_for_results("csv_tables", enabled, server, tool, client)

    async def get_tool_costs(self, client: str | None = None, session: str | None = None) -> ToolCosts:
        """Returns the costs of tools' definitions in a model's context, in total and as they are shown.

        Args:
            client: at the start of a session of this kind of AI client; None: of an unknown client.
            session: as they are shown to this session now; `client` is then ignored.

        Raises:
            NotFound: the session does not exist.
        """
        return await self._costs.costs(self._state(session) if session else SessionState("", client=client or ""))

    def _override(self, server: str, tool: str) -> ToolOverride | None:
        config = self._config.settings.mcp_servers.get(server)
        return config.tool_overrides.get(tool) if config else None

    def _client_rules(self, client: str) -> tuple[str, ...] | None:
        """Returns a client's present rules; None: it has no rules of its own."""
        known = self._config.own_settings.publish.clients.get(client)
        return known.auto_approve if known else None

    def _state(self, session: str) -> SessionState:
        state = self._states.find(session)
        if state is None:
            raise NotFound(
                Phrase("session '{session}' not found", session=plain(session, LONGEST_UNKNOWN)),
                hint=Phrase("List the sessions: tooltray sessions"),
            )
        return state

    def _session(self, state: SessionState) -> SessionSnapshot:
        shown = self._modes.shown(state)
        return SessionSnapshot(
            id=state.id,
            client=state.client,
            version=state.version,
            server=state.server or "",
            profile=self._profiles.of(state),
            mode=shown.mode,
            reason=shown.reason,
            project=state.project,
            activated=tuple(sorted(state.activated)),
            is_connected=state.connections > 0,
            kind=self._clients.kind(state.client),
            connected_at=state.connected_at,
        )

    def _client(self, name: str) -> ClientModeSnapshot:
        settings = self._clients.settings(name)
        state = SessionState("", client=name)
        shown = self._modes.shown(state)
        of_all = self._config.settings.publish.mode if name == EVERY_OTHER else None
        return ClientModeSnapshot(
            client=name,
            title=self._clients.title(name) or TITLE_OF_OTHERS,
            mode=settings.mode or of_all or "",
            shown_mode=shown.mode,
            reason=shown.reason,
            summary=self._modes.summary(state),
            profile=settings.profile or "",
            is_seen=name == EVERY_OTHER or self._clients.is_seen(name),
            auto_approve=settings.auto_approve,
            result_limit=settings.result_limit,
            call_rules=None if settings.call_rules is None else tuple(map(self._rule_words, settings.call_rules)),
            flow_guard=settings.flow_guard,
            csv_tables=settings.csv_tables,
        )


class LookupApi:
    """The search for tools, as models have it in `find_tools` and `describe_tools`."""

    def __init__(self, *, lookup: ToolLookup) -> None:
        self._lookup = lookup

    @verb("read")
    async def find_tools(self, queries: list[str], limit: int = FOUND_BY_DEFAULT) -> list[FoundTools]:
        """Returns the tools that fit each query best.

        Args:
            queries: what a tool should do, each in a few words; at most 10.
            limit: how many tools for each query, from 1 to 50.

        Raises:
            TooltrayError: there are too many queries, or none, or the limit cannot be used.
        """
        if not (0 < len(queries) <= MOST_NEEDS and 0 < limit <= MOST_FOUND):
            raise TooltrayError(Phrase("Give 1 to {queries} queries and a limit of 1 to {limit}", queries=MOST_NEEDS, limit=MOST_FOUND))
        needs = await self._lookup.find(Search(queries, limit), state := SessionState(""))
        awaited = tuple(self._lookup.awaited(state))
        return [
            FoundTools(
                need.query, tuple(FoundTool(each.entry.name, each.entry.route.server, each.line, each.why) for each in need.found), awaited
            )
            for need in needs
        ]

    @verb("read")
    async def describe_tools(self, names: list[str]) -> list[JsonObject]:
        """Returns the whole definitions of tools, by the names that AI clients see, as far as they are meant for models.

        Args:
            names: at most 20.

        Raises:
            NotFound: one of these names is unknown; the error has similar names.
            TooltrayError: there are too many names, or none.
        """
        if not 0 < len(names) <= MOST_DESCRIBED:
            raise TooltrayError(Phrase("Give 1 to {most} names of tools", most=MOST_DESCRIBED))
        tools = await self._lookup.describe(names, SessionState(""))
        if unknown := next((tool for tool in tools if tool.entry is None), None):
            similar = Phrase("Similar names: {names}", names=", ".join(unknown.nearest)) if unknown.nearest else ""
            hint = Phrase("Find it by what it does: tooltray tools find")
            raise NotFound(Phrase("Tool '{name}' not found", name=plain(unknown.name, LONGEST_UNKNOWN)), similar, hint)
        return [load(whole_definition(tool.entry)) for tool in tools if tool.entry]
