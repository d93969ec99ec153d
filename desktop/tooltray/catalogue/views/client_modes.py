"""How tools are shown to each session and to each kind of AI client, as a user sees and chooses it."""

from collections.abc import Callable

from tooltray.catalogue import approval
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.modes import Modes
from tooltray.catalogue.views.profiles import Profiles
from tooltray.config.settings import view_settings
from tooltray.config.settings.call_rule import CallRule
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, SessionSnapshot
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.session_state import SessionState, SessionStates

LONGEST_SESSION = 100  # characters of an unknown id
EVERY_OTHER = ""  # replaces a client's name: all clients without settings of their own
TITLE_OF_OTHERS = "Every other AI client"

RuleWords = Callable[[CallRule], str]
"""Describes the calls that a rule on arguments allows."""


class ClientModes:
    """The view modes of sessions and clients. Belongs to the engine's loop; has no state of its own."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        states: SessionStates,
        clients: KnownClients,
        profiles: Profiles,
        modes: Modes,
        rule_words: RuleWords,
    ) -> None:
        self._config, self._states, self._clients = config, states, clients
        self._profiles, self._modes, self._rule_words = profiles, modes, rule_words

    def sessions(self) -> list[SessionSnapshot]:
        """Answers ViewsApi.get_sessions."""
        return [self._session(state) for state in self._states if not state.is_passing]

    def state_of(self, session: str) -> SessionState:
        """Returns the state of a session.

        Raises:
            TooltrayError: the session does not exist.
        """
        state = self._states.find(session)
        if state is None:
            raise NotFound(
                Phrase("there is no session '{session}'", session=plain(session, LONGEST_SESSION)),
                hint=Phrase("See which there are: tooltray sessions"),
            )
        return state

    def clients(self) -> list[ClientModeSnapshot]:
        """Answers ViewsApi.get_client_modes."""
        return [self._client(name) for name in (EVERY_OTHER, *self._clients.names())]

    async def set_mode(self, client: str, mode: str) -> None:
        """Answers ViewsApi.set_client_mode."""
        await self._config.edit(view_settings.client_mode(client, mode))

    async def set_profile(self, client: str, profile: str) -> None:
        """Answers ViewsApi.set_client_profile."""
        await self._config.edit(view_settings.client_profile(client, profile))

    async def set_auto_approve(self, client: str, rules: list[str] | None) -> None:
        """Answers ViewsApi.set_client_auto_approve."""
        if problem := approval.problem_of(client, rules or (), ()):
            raise TooltrayError(problem.title, problem.message, problem.hint)
        await self._config.edit(view_settings.client_field(client, "autoApprove", rules))

    async def set_lazy_load(self, enabled: bool | None, server: str | None) -> None:
        """Answers ViewsApi.set_lazy_load."""
        if server and self._config.file_server(server):
            await self._config.change_server(server, lazy_load=enabled)
        else:
            await self._config.edit(view_settings.lazy_load(enabled, server))

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
        )
