"""The user's approvals for longer than one call, compared with the tools as they are now.

A grant is valid for the tools' definitions, and the server's program or address, at the time of the approval: if either has changed, the
tool asks until the user has reviewed the change.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from tooltray.catalogue.definition import definition_text
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals import diffs, suspicion
from tooltray.consent.approvals.grants import (
    LOCK,
    NEVER,
    Grant,
    GrantEnd,
    GrantKind,
    LiveGrants,
    PassingGrant,
    ScreenLocked,
    renamed,
    words_of,
)
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, GrantsChanged, ToolListChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import GrantSnapshot, ToolChange
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.sessions.session_state import SessionState, SessionStates

logger = logging.getLogger(__name__)
ID_BYTES = 4  # people type it
OTHER_SETTINGS = Phrase("the server is started or reached in another way than when this tool was allowed or shown")
UNDO_S = 30.0  # the window offers to undo for 8 s


class SessionGrant(NamedTuple):
    """A grant for one session, in SessionState.allowed.

    Attributes:
        knows_flow: the user knew that the session had read what strangers wrote, see FlowGuard.
    """

    id: str
    client: str
    server: str
    tool: str
    mark: str
    definition: str
    created_at: float
    knows_flow: bool


class _Revoked(NamedTuple):
    """A revoked grant, with the definitions that the user had seen, and when; unix seconds."""

    grant: Grant
    definitions: Mapping[str, str]
    at: float


class GrantBook:
    """The grants against the tools as they are now. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        live_grants: LiveGrants,
        states: SessionStates,
        tools: ToolManager,
        bus: EventBus,
        spawn: Spawn,
        is_of_file: Callable[[str], bool],
    ) -> None:
        """
        Args:
            is_of_file: whether a server that is not in the settings is in another file, even a file that is not in use now.
        """
        self._live, self._states, self._tools, self._bus, self._spawn = live_grants, states, tools, bus, spawn
        self._is_of_file = is_of_file
        self._revoked: dict[str, _Revoked] = {}  # revoked grants, until the undo expires
        self._lock = asyncio.Lock()  # each change starts from what the last one has written
        bus.subscribe(ConfigChanged, self._on_config_changed)
        bus.subscribe(ToolListChanged, self._on_tool_list_changed)
        bus.subscribe(ScreenLocked, self._on_screen_locked)

    # whether a call is allowed

    def allows(self, route: Route, state: SessionState, client: str) -> bool:
        """Returns whether a grant covers a tool as it is defined now."""
        tool, now = route.definition.name, route.mark
        if any(each.mark == now for each in _of_session(state, route, client)):
            return True
        is_read = route.decision.is_plain_read
        return any(grant.tools.get(tool) == now and _is_for_all(grant.kind, is_read) for grant in self._live.of(route.server, client))

    def rules(self, route: Route, client: str) -> list[Grant]:
        """Returns the rules that allow some calls of a tool, as it is defined now, by their arguments; the newest first."""
        tool, now = route.definition.name, route.mark
        return [grant for grant in self._live.of(route.server, client) if grant.kind == "rule" and grant.tools.get(tool) == now]

    def knows_flow(self, route: Route, state: SessionState) -> bool:
        """Returns whether the user allowed a tool, as it is now, in a session, knowing what the session had read."""
        now = route.mark
        return any(each.knows_flow and each.mark == now for each in _of_session(state, route, state.client))

    def seen_before(self, route: Route, state: SessionState, client: str) -> str | None:
        """Returns the definition that was allowed, if the tool has another one now."""
        tool, now = route.definition.name, route.mark
        if others := [each.definition for each in _of_session(state, route, client) if each.mark != now]:
            return others[0]
        allowed = [grant.tools[tool] for grant in self._live.of(route.server, client) if tool in grant.tools]
        return next((self._live.definition(each) for each in allowed if each != now), None)

    def has_all_reads(self, server: str, client: str) -> bool:
        """Returns whether all reads of a server were allowed, which does not include later ones."""
        return any(grant.kind == "reads" for grant in self._live.of(server, client))

    # approving

    def allow_in_session(self, route: Route, state: SessionState, client: str, *, knows_flow: bool) -> None:
        """Allows a client a tool as it is defined now for as long as the session lasts; requests over HTTP of several clients may share one
        session.
        """
        name, definition = route.definition.name, definition_text(route.definition)
        state.allowed -= set(_of_session(state, route, client))
        state.allowed.add(SessionGrant(_new_id(), client, route.server, name, route.mark, definition, self._live.now(), knows_flow))
        self._bus.publish(GrantsChanged())

    async def allow(
        self,
        server: str,
        kind: GrantKind,
        routes: Mapping[str, Route],
        *,
        client: str = "",
        end: GrantEnd = NEVER,
        is_seen: bool = False,
        rule: Mapping[str, object] | None = None,
    ) -> GrantSnapshot:
        """Allows tools as they are defined now; an earlier grant of the same kind is replaced.

        Args:
            routes: the tools, by the server's own names: one tool, or all that read.
            is_seen: the user has seen the present definition of the last tool, so other grants for this tool become valid for that
                definition.
            rule: for the kind "rule": a rule on the arguments of calls.

        Raises:
            TooltrayError: it cannot be written, or a lock of the screen would not be reported; nothing has changed.
        """
        made = Grant(
            id=_new_id(),
            kind=kind,
            server=server,
            tool=next(iter(routes)) if kind == "tool" or (kind == "rule" and len(routes) == 1) else "",
            client=client,
            created_at=self._live.now(),
            tools={name: route.mark for name, route in routes.items()},
            rule=dict(rule or {}),
        )
        grant = self._live.ending(made, end)
        async with self._lock:
            others = [each for each in self._live.all() if _scope(each) != _scope(grant)]
            if is_seen:
                name = list(routes)[-1]
                others = [_accepted(each, name, routes[name], grant.tools[name]) if each.server == server else each for each in others]
            await self._write([*others, grant], routes)
        return self._snapshot(grant)

    # the grants

    def rename(self, before: str, after: str) -> Awaitable[None]:
        """Gives the grants of a server to its new name; what they are compared with, its program and its tools, stays the same.

        Returns:
            The rest, which saves them. It raises TooltrayError if they cannot be written.
        """
        self._live.rename(before, after)
        for state in self._states:
            state.allowed = {
                each._replace(server=after) if isinstance(each, SessionGrant) and each.server == before else each for each in state.allowed
            }
        self._revoked = {id: each._replace(grant=renamed(each.grant, before, after)) for id, each in self._revoked.items()}
        return self._save_renamed(before, after)

    async def _save_renamed(self, before: str, after: str) -> None:
        async with self._lock:
            self._live.rename(before, after)  # again: a write that had begun before may have brought the old name back
            await self._write(self._live.all())

    def snapshots(self) -> list[GrantSnapshot]:
        """Returns all valid grants, the newest first."""
        found = [self._snapshot(grant) for grant in self._live.all()]
        found += [
            GrantSnapshot(each.id, "tool", each.server, each.tool, client=each.client, session=state.id, created_at=each.created_at)
            for state in self._states
            for each in _session_grants(state)
        ]
        return sorted(found, key=lambda each: each.created_at, reverse=True)

    async def revoke(self, id: str) -> None:
        """
        Raises:
            TooltrayError: the grant does not exist, or the change cannot be written.
        """
        for state in self._states:
            if found := {each for each in _session_grants(state) if each.id == id}:
                state.allowed -= found
                self._bus.publish(GrantsChanged())
                return
        async with self._lock:
            kept = [grant for grant in self._live.all() if grant.id != id]
            gone = next((grant for grant in self._live.all() if grant.id == id), None)
            if gone is None:
                raise NotFound(
                    Phrase("nothing was allowed under '{id}'", id=suspicion.visible(id)), hint=Phrase("See `tooltray grants list`.")
                )
            seen = {each: self._live.definition(each) for each in gone.tools.values()}
            await self._write(kept)
        self._drop_revoked()
        self._revoked[id] = _Revoked(gone, seen, self._live.now())

    async def restore(self, id: str) -> GrantSnapshot:
        """Restores a grant that was just revoked, with its former end; for a tool that has changed meanwhile, with the old definition.

        Raises:
            NotFound: too much time has passed, or its server is gone.
            TooltrayError: the change cannot be written.
        """
        self._drop_revoked()
        taken = self._revoked.get(id)
        if taken is None or not self._is_known(taken.grant.server):
            raise NotFound(Phrase("This cannot be undone any more"), hint=Phrase("Allow it again."))
        async with self._lock:
            others = [each for each in self._live.all() if _scope(each) != _scope(taken.grant)]
            await self._live.write([*others, taken.grant], taken.definitions)
        del self._revoked[id]
        self._bus.publish(GrantsChanged())
        return self._snapshot(taken.grant)

    def revoked(self, id: str) -> GrantSnapshot | None:
        """Returns the grant that `restore` would restore."""
        taken = self._revoked.get(id)
        return self._snapshot(taken.grant) if taken else None

    def _drop_revoked(self) -> None:
        now = self._live.now()
        self._revoked = {id: each for id, each in self._revoked.items() if 0 <= now - each.at < UNDO_S}

    def _is_known(self, server: str) -> bool:
        return server in self._tools.server_names or self._is_of_file(server)

    def changes(self) -> list[ToolChange]:
        """Returns tools that were allowed and have changed since."""
        found: dict[tuple[str, str], ToolChange] = {}
        for grant in self._live.all():
            for route in self._held(grant):
                name = route.definition.name
                before = self._live.definition(grant.tools[name])
                diff = diffs.of_definitions(before, definition_text(route.definition)) or (f" {OTHER_SETTINGS}",)
                warnings = suspicion.warnings(route.definition)
                found[grant.server, name] = ToolChange(grant.server, name, diff, warnings, revision=route.mark)
        return list(found.values())

    async def accept(self, server: str, tool: str, seen: str) -> None:
        """Accepts a tool's present definition, which the user has seen: former grants become valid for it.

        Args:
            seen: `revision` of the ToolChange; empty: the present definition.

        Raises:
            TooltrayError: it has not changed, or is not the one that was shown, or the change cannot be written.
        """
        async with self._lock:
            route = self._tools.routes(server).get(tool)
            now = route.mark if route else ""
            if seen and seen != now:
                raise changed_again(tool)
            before = self._live.all()
            after = [_accepted(grant, tool, route, now) if route and grant.server == server else grant for grant in before]
            if route is None or after == before:
                raise not_changed(tool)
            await self._write(after, {tool: route})

    def covering(self, server: str) -> dict[str, tuple[str, ...]]:
        """Returns the ids of the grants that cover tools of a server as they are now, by the tools' names; also grants of sessions."""
        found: dict[str, tuple[str, ...]] = {}
        routes = self._tools.routes(server)
        of_server = [grant for grant in self._live.all() if grant.server == server]
        lasting = ((grant.id, grant.kind, name, was) for grant in of_server for name, was in grant.tools.items())
        of_sessions = (each for state in self._states for each in _session_grants(state) if each.server == server)
        for id, kind, name, allowed in (*lasting, *((each.id, "tool", each.tool, each.mark) for each in of_sessions)):
            route = routes.get(name)
            if route and allowed == route.mark and _is_for_all(kind, route.decision.is_plain_read):
                found[name] = (*found.get(name, ()), id)
        return found

    def held_tools(self, server: str) -> frozenset[str]:
        """Returns tools of a server that were allowed and have changed since."""
        return frozenset(route.definition.name for grant in self._live.all() if grant.server == server for route in self._held(grant))

    # inside

    def _on_screen_locked(self, event: ScreenLocked) -> None:
        self._revoked = {id: each for id, each in self._revoked.items() if self._live.is_before_its_lock(each.grant)}
        if self._live.has_ended_at_lock:
            self._bus.publish(GrantsChanged())

    def _held(self, grant: Grant) -> Iterator[Route]:
        for name, route in self._tools.routes(grant.server).items():
            if name in grant.tools and grant.tools[name] != route.mark:
                yield route

    def _snapshot(self, grant: Grant) -> GrantSnapshot:
        held = tuple(sorted(route.definition.name for route in self._held(grant)))
        return GrantSnapshot(
            id=grant.id,
            kind=grant.kind,
            server=grant.server,
            tool=grant.tool,
            client=grant.client,
            created_at=grant.created_at,
            expires_at=grant.expires_at,
            until=LOCK if isinstance(grant, PassingGrant) else "",
            is_held=bool(held),
            held_tools=held,
            rule=grant.rule,
            words=words_of(grant),
        )

    async def _write(self, grants: list[Grant], seen: Mapping[str, Route] | None = None) -> None:
        definitions = {route.mark: definition_text(route.definition) for route in (seen or {}).values()}
        await self._live.write(grants, definitions)
        self._bus.publish(GrantsChanged())

    def _on_config_changed(self, event: ConfigChanged) -> None:
        """Drops the grants of a removed server: a later server with this name is a different one."""

        def is_gone(server: str) -> bool:
            return server not in event.mcp_servers and not self._is_of_file(server)

        for state in self._states:
            if found := {each for each in _session_grants(state) if is_gone(each.server)}:
                state.allowed -= found
                self._bus.publish(GrantsChanged())
        gone = {grant.id for grant in self._live.all() if is_gone(grant.server)}
        if gone:
            self._live.forget(gone)
            self._spawn(self._forget(), name="revoke the grants of removed servers")

    async def _forget(self) -> None:
        async with self._lock:
            try:
                await self._write(self._live.all())
            except TooltrayError as error:
                logger.warning("the grants of removed servers could not be revoked: %s", error)

    def _on_tool_list_changed(self, event: ToolListChanged) -> None:
        if any(grant.server == event.server for grant in self._live.all()):
            self._bus.publish(GrantsChanged())


def changed_again(name: str) -> Conflict:
    """Returns the error for accepting a definition that is not the one that the user has seen."""
    title = Phrase("'{tool}' has changed again since this was shown", tool=suspicion.visible(name))
    return Conflict(title, hint=Phrase("Review it again."))


def not_changed(name: str) -> Conflict:
    """Returns the error for accepting a definition that does not wait."""
    title = Phrase("'{tool}' has not changed since it was allowed", tool=suspicion.visible(name))
    return Conflict(title, hint=Phrase("See `tooltray grants changes`."))


def _scope(grant: Grant) -> tuple[str, ...]:
    return grant.kind, grant.server, grant.tool, grant.client, json.dumps(grant.rule, sort_keys=True)


def _is_for_all(kind: str, is_read: bool) -> bool:
    """Returns whether a grant is for every call of a tool, with any arguments."""
    return kind == "tool" or (kind == "reads" and is_read)


def _accepted(grant: Grant, tool: str, route: Route, now: str) -> Grant:
    """Returns a grant with a tool as it is now; a grant for reads drops a tool that writes now."""
    if grant.tools.get(tool, now) == now:
        return grant
    others = {name: each for name, each in grant.tools.items() if name != tool}
    is_kept = grant.kind != "reads" or route.decision.is_plain_read
    return msgspec.structs.replace(grant, tools=others | ({tool: now} if is_kept else {}))


def _session_grants(state: SessionState) -> list[SessionGrant]:
    return [each for each in state.allowed if isinstance(each, SessionGrant)]


def _of_session(state: SessionState, route: Route, client: str) -> list[SessionGrant]:
    wanted = (client, route.server, route.definition.name)
    return [each for each in _session_grants(state) if (each.client, each.server, each.tool) == wanted]


def _new_id() -> str:
    return secrets.token_hex(ID_BYTES)
