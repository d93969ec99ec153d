"""Earlier approvals that allow a call: recent approvals, grants, and rules on arguments, of settings and of grants.

A recent approval is one within `approvals.sameForSeconds` of the same call: the same client, project, server and its address, tool
definition and arguments. Other arguments are allowed only if the user chose "like", which is a grant for some seconds. Neither applies to a
tool that destroys or sends, or whose second call repeats the effect; a similar call that writes is allowed only if its server declares that
nothing is destroyed.
"""

import asyncio
import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from pathlib import Path

from msgspec import Raw

from tooltray.catalogue.auto_approve import is_excepted, tool_of
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.modes import Modes
from tooltray.config.settings.call_rule import PROJECT, CallRule
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings import Settings
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.asked_call import ONCE, READS, SESSION, AskedCall, is_rule, rule_answered
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grants import ENDS, LIKE, GrantEnd, ScreenLocked, rule_of
from tooltray.consent.approvals.rule_coverage import Place, covers, covers_read, folder_of, is_for, needs_disk, read_arguments
from tooltray.consent.approvals.rule_words import folder_words, words
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.confirm_widening import YES_TO_CALLS
from tooltray.foundation.errors import Conflict, Problem
from tooltray.foundation.events import EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.sessions.exchange import FROM_GRANT, FROM_RULES
from tooltray.records.audit_trail import AuditTrail, Decision
from tooltray.servers.upstream.server_manager import ServerManager


class CallRules:
    """The rules on arguments of settings and grants. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        tools: ToolManager,
        modes: Modes,
        grants: GrantBook,
        user_folder: Path,
        spawn: Spawn,
    ) -> None:
        """
        Args:
            user_folder: the user's own folder.
        """
        self._config, self._servers, self._tools, self._modes, self._grants = config, servers, tools, modes, grants
        self._home, self._spawn = str(user_folder), spawn
        self._checked_settings: Settings | None = None  # the settings at the last check of their folders
        self._missing: frozenset[str] = frozenset()  # folders of its rules that do not exist

    async def allowed_by(self, call: AskedCall) -> str:
        """Returns which kind of rule allows a call, as the record names it; empty if none does."""
        of_settings, of_grants = list(self._of_settings(call)), list(self._of_grants(call))
        if not of_settings and not of_grants:
            return ""
        arguments = read_arguments(bytes(call.arguments))
        if arguments is None:
            return ""
        place = self.place(call.project)

        def found() -> str:
            if any(covers_read(rule, arguments, place) for rule in of_settings):
                return FROM_RULES
            return FROM_GRANT if any(covers_read(rule, arguments, place) for rule in of_grants) else ""

        return await asyncio.to_thread(found) if any(map(needs_disk, (*of_settings, *of_grants))) else found()

    def _of_settings(self, call: AskedCall) -> Iterator[CallRule]:
        """Yields the settings' rules for the tool, unless the user chose that it always asks."""
        of_client = self._modes.call_rules(call.state)
        server, tool = call.route.server, call.route.definition.name
        rules = self._servers.get(server).config.call_rules if of_client is None else of_client
        if rules and not (call.decision.is_excepted or call.route.decision.is_excepted):
            yield from (rule for rule in rules if rule.server in ("", server) and is_for(rule, tool))

    def _of_grants(self, call: AskedCall) -> Iterator[CallRule]:
        """Yields the grants' rules; for a tool that always asks, only rules made for this tool by its name."""
        tool, asks_always = call.route.definition.name, call.decision.is_excepted or call.route.decision.is_excepted
        for grant in self._grants.rules(call.route, call.client):
            if asks_always and not grant.tool:
                continue
            if (rule := rule_of(grant)) and is_for(rule, tool):
                yield rule

    def place(self, project: str) -> Place:
        """Returns the place of a session that works on a project."""
        return Place(project, self._home)

    async def is_plain_for(self, rule: CallRule, arguments: bytes, project: str) -> bool:
        """Returns whether a rule made from a call covers the call, and has no folder that is a link: then the rule is as wide as it
        reads.
        """
        place = self.place(project)

        def is_plain() -> bool:
            return covers(rule, arguments, place) and not any(link_target(folder, place) for folder in folders_of(rule))

        return await asyncio.to_thread(is_plain)

    # rules that no call can satisfy

    def problems(self) -> Iterator[Problem]:
        """Yields the problems of the rules on arguments in the settings, as of the last check of their folders."""
        self._check_folders_soon()
        for server in self._servers:
            names, rules = self._tools.known_names(server.name), server.config.auto_approve
            for rule in server.config.call_rules:
                yield from (_problem(server.name, rule, why) for why in (*_why_no_tool(rule, names, rules), *self._why_no_path(rule)))
        for client, settings in self._config.settings.publish.clients.items():
            for rule in settings.call_rules or ():
                yield from (_problem(client, rule, why) for why in self._why_no_path(rule))

    def _why_no_path(self, rule: CallRule) -> list[str]:
        return [_no_folder(folder) for folder in folders_of(rule) if folder in self._missing]

    def _check_folders_soon(self) -> None:
        """Checks the folders in the background if the settings have changed; the result is in later calls of `problems`."""
        if self._config.settings is not self._checked_settings:
            self._checked_settings, self._missing = self._config.settings, frozenset()
            if any(self._folders()):
                self._spawn(self._check_folders(), name="folders of rules on arguments")

    async def _check_folders(self) -> None:
        self._missing = frozenset(await asyncio.to_thread(missing, list(self._folders()), self.place("")))

    def _folders(self) -> Iterator[str]:
        settings = self._config.settings
        servers = (rule for server in settings.mcp_servers.values() for rule in server.call_rules)
        clients = (rule for client in settings.publish.clients.values() for rule in client.call_rules or ())
        return (folder for rule in (*servers, *clients) for folder in folders_of(rule))


def folders_of(rule: CallRule) -> list[str]:
    """Returns the folders of a rule that have to exist, whatever project a session works on."""
    listed = (folder for condition in rule.arguments.values() for folder in condition.inside or ())
    return [folder for folder in listed if not folder.startswith(PROJECT)]


def missing(folders: Iterable[str], place: Place) -> list[str]:
    """Returns the folders that do not exist. Reads the disk."""
    return [folder for folder in folders if not os.path.isdir(folder_of(folder, place))]


def link_target(folder: str, place: Place) -> str:
    """Returns the target of a rule's folder, if the folder is a link or lies behind one; else empty. Reads the disk."""
    whole = folder_of(folder, place)
    real = os.path.realpath(whole)
    return "" if real == whole else real


async def folder_problems(rule: CallRule, place: Place) -> tuple[str, ...]:
    """Returns why a rule cannot allow any call at present."""
    return tuple(map(_no_folder, await asyncio.to_thread(missing, folders_of(rule), place)))


def _no_folder(folder: str) -> str:
    return Phrase("folder {folder} not found", folder=folder_words(folder))


def _why_no_tool(rule: CallRule, names: Collection[str], auto_approve: Collection[str]) -> Iterator[str]:
    """Yields why a rule applies to no tool; `names`: the known tools, empty if they are unknown."""
    known = [name for name in names if is_for(rule, name)]
    if names and not known:
        yield Phrase("no such tool")
    elif known and all(is_excepted(name, auto_approve) for name in known):
        yield Phrase("you chose that this tool asks always")


def _problem(owner: str, rule: CallRule, why: str) -> Problem:
    title = Phrase("A rule on arguments of '{name}' matches no calls", name=visible(owner))
    return Problem(title, Phrase("{why} ({rule})", why=why, rule=words(rule)), Phrase("Correct it in settings.json"))


MOST_KEPT = 256  # more are not approved within minutes


class RecentApprovals:
    """The calls that the user has just approved once. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, flow_guard: FlowGuard, bus: EventBus, now: Callable[[], float]) -> None:
        """
        Args:
            now: seconds that never run back, and continue while the computer sleeps.
        """
        self._config, self._guard, self._now = config, flow_guard, now
        self._kept: dict[Hashable, tuple[float, Raw | None]] = {}  # until when, and the arguments of the user
        bus.subscribe(ScreenLocked, lambda event: self._kept.clear())

    @property
    def _for_s(self) -> int:
        return self._config.settings.approvals.same_for_seconds

    def remember(self, call: AskedCall) -> None:
        """Remembers a call that the user has approved, once: as it runs, and as its client sent it."""
        if not self._for_s or not self._is_harmless_again(call):
            return
        for key, arguments in {call.same: None, call.same_as_sent: call.edit}.items():
            self._kept.pop(key, None)
            if len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._now() + self._for_s, arguments

    def covers(self, call: AskedCall) -> bool:
        """Returns whether the user has just approved the same call."""
        until, _ = self._kept.get(call.same, (0.0, None))
        return self._now() < until and bool(self._for_s)

    def as_approved(self, call: AskedCall) -> AskedCall:
        """Returns a call with the arguments with which the user has just approved the same call; its own if that changed none."""
        _, arguments = self._kept[call.same] if self.covers(call) else (0.0, None)
        return call if arguments is None else call.with_arguments(arguments)

    def similar_window_s(self, call: AskedCall) -> int:
        """Returns for how many seconds the user may allow similar calls; 0: they may not."""
        tool = tool_of(call.route.definition.name, call.route.hints)
        is_safe = tool.category == "read" or tool.is_said("destructiveHint", False)
        return self._for_s if is_safe and self._is_harmless_again(call) else 0

    def _is_harmless_again(self, call: AskedCall) -> bool:
        tool = tool_of(call.route.definition.name, call.route.hints)
        return not (call.decision.flow or tool.destroys or tool.verbs.repeats or self._guard.sends(call.route))


LASTING = (SESSION, LIKE, *ENDS, READS)
YES = (ONCE, *LASTING)


class StandingGrants:
    """All that the user has allowed before. Belongs to the engine's loop."""

    def __init__(
        self, *, grants: GrantBook, recent_approvals: RecentApprovals, call_rules: CallRules, tools: ToolManager, trail: AuditTrail
    ) -> None:
        self._grants, self._recent, self._call_rules, self._tools, self._trail = grants, recent_approvals, call_rules, tools, trail

    async def allowed_by(self, call: AskedCall) -> str:
        """Returns which kind of earlier approval allows a call, as the record names it; empty if none does."""
        return FROM_GRANT if self._recent.covers(call) else await self.covered_by(call)

    def as_approved(self, call: AskedCall) -> AskedCall:
        return self._recent.as_approved(call)

    async def covered_by(self, call: AskedCall) -> str:
        """Does the same as `allowed_by` without recent approvals, each of which was for one call."""
        if self._grants.allows(call.route, call.state, call.client):
            return FROM_GRANT
        return await self._call_rules.allowed_by(call)

    def remember(self, call: AskedCall) -> None:
        self._recent.remember(call)

    async def keep(self, call: AskedCall, question: ApprovalSnapshot, answer: str) -> None:
        """Saves an answer that lasts; others are not saved.

        Args:
            question: the text that the user read.

        Raises:
            TooltrayError: the answer cannot be saved, its session has ended, or its rule would be wider than it reads; nothing was allowed.
        """
        server, name, one = call.route.server, call.route.definition.name, {call.route.definition.name: call.route}
        if answer == SESSION and not call.state.connections:
            hint = Phrase("Allow it for longer, for example for an hour.")
            raise Conflict(Phrase("The session has ended"), Phrase("its AI client is not connected any more, so nothing was allowed"), hint)
        if answer == SESSION:
            self._grants.allow_in_session(call.route, call.state, call.client, knows_flow=bool(call.decision.flow))
        elif answer == READS:
            await self._grants.allow(server, "reads", {**reads(self._tools, server), name: call.route}, client=call.client, is_seen=True)
        elif answer == LIKE:
            end = GrantEnd(float(self._recent.similar_window_s(call)))
            await self._grants.allow(server, "tool", one, client=call.client, end=end, is_seen=True)
        elif answer in ENDS:
            await self._grants.allow(server, "tool", one, client=call.client, end=ENDS[answer], is_seen=True)
        elif rule := rule_answered(question, answer):
            if not await self._call_rules.is_plain_for(rule, bytes(call.arguments), call.project):
                hint = Phrase("A path in it leads elsewhere, by a link.")
                raise Conflict(Phrase("This rule would not mean what it seems to"), Phrase("nothing was allowed"), hint)
            await self._grants.allow(server, "rule", one, client=call.client, is_seen=True, rule=rule.members())

    async def record(self, call: AskedCall, answer: str, way: str) -> None:
        """Records an answer that lasts in the audit trail, before it counts; answers for one call are recorded as they happen.

        Args:
            way: how the AI client asked its user.

        Raises:
            TooltrayError: it cannot be written.
        """
        if is_lasting(answer):
            about = {"server": call.route.server, "tool": call.shown_tool, "client": call.client, "answer": answer}
            about["definitions"] = call.route.mark[: suspicion.MARK_LENGTH]
            await self._trail.record(Decision(YES_TO_CALLS, "yes", way, suspicion.visible(call.client), about=about))


def is_lasting(answer: str) -> bool:
    """Returns whether an answer allows more than one call."""
    return answer in LASTING or is_rule(answer)


def allows(answer: str) -> bool:
    return answer in YES or is_rule(answer)


def reads(tools: ToolManager, server: str) -> dict[str, Route]:
    """Returns a server's tools that read, as they are now."""
    return {name: route for name, route in tools.routes(server).items() if route.decision.is_plain_read}
