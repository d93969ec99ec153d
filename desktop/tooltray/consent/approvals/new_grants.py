"""Grants that the user gives without a call: the tools that one would be for, the recent calls that it would have covered, and the grant.

The journal has arguments only if the user wants that; other calls of the past cannot be judged.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import asdict

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.asked_call import mark, named_with_mark
from tooltray.consent.approvals.call_rules import CallRules, folders_of, led_to, why_nothing
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grant_ends import GrantEnd, check_end
from tooltray.consent.approvals.pending_approvals import PendingApprovals, PendingCall
from tooltray.consent.approvals.question_snapshots import LONGEST_NAME, Masked
from tooltray.consent.approvals.rule_coverage import Place, covers, is_for
from tooltray.consent.approvals.rule_words import cautions, folder_words, words
from tooltray.consent.approvals.standing_grants import reads
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.files.json_text import revision_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityFilter
from tooltray.foundation.snapshots.approvals import GrantSnapshot, JudgedCall, RulePreview
from tooltray.foundation.snapshots.tools import CoveredTool
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.records.journal.journal_reader import JournalReader
from tooltray.servers.upstream.server_manager import ServerManager


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
            raise Conflict(Phrase("the tools have changed since they were shown"), hint=Phrase("Look at them once more."))
        return await self._grants.allow(server, "tool" if kind == "tool" else "reads", routes, client=client, end=end)

    async def definitions(self, server: str, kind: str, tool: str) -> list[str]:
        """Returns the tools that a grant would be for as they are defined now, each with the beginning of its mark."""
        await self._tools.published(server)  # one that was never listed would have changed after the approval
        routes = reads(self._tools, server) if kind == "reads" else self._tools.routes(server)
        wanted = routes if kind == "reads" else {tool: routes[tool]} if tool in routes else {}
        return [named_with_mark(name, mark(route)) for name, route in wanted.items()]

    async def _routes_for(self, server: str, kind: str, tool: str) -> dict[str, Route]:
        """Returns the tools that a grant would be for.

        Raises:
            TooltrayError: there is no such server, tool or kind, or the grant would allow nothing.
        """
        self._servers.get(server)
        await self._tools.published(server)  # waits for one that was never listed
        if kind not in ("tool", "reads"):
            raise TooltrayError(
                Phrase("'{kind}' is no kind of grant", kind=suspicion.visible(kind)), hint=Phrase("It is 'tool' or 'reads'.")
            )
        if kind == "reads":
            routes = reads(self._tools, server)
            if not routes:
                raise NotFound(
                    Phrase("'{server}' has no tools that read", server=server), hint=Phrase("See them with `tooltray tools list`.")
                )
            return routes
        found = self._tools.routes(server).get(tool)
        if found is None:
            shown = suspicion.visible(tool)
            raise NotFound(
                Phrase("'{server}' offers no tool '{shown}'", server=server, shown=shown),
                hint=Phrase("The server's own name is wanted; see `tooltray tools list --json`."),
            )
        return {tool: found}


def _revision(routes: Mapping[str, Route]) -> str:
    """Returns a revision that changes with each of some tools, and with which tools these are."""
    return revision_of({name: mark(route) for name, route in routes.items()})


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
            masked: takes known secrets out of what is shown.
        """
        self._servers, self._tools, self._rules, self._grants = servers, tools, call_rules, grants
        self._pending, self._reader, self._masked = pending_approvals, journal_reader, masked

    async def preview(self, server: str, given: object) -> RulePreview:
        """Implements ApprovalsApi.preview_rule."""
        rule = read_rule(given)
        self._servers.get(server)
        names = await self._names(server, rule)
        past, unknown = await asyncio.to_thread(self._past, server, names)
        calls = [*(_of_question(each) for each in self._pending if _is_of(each, server, names)), *past]
        place = self._rules.place("")
        judged = await asyncio.to_thread(self._judged, rule, calls, place)
        problems = await why_nothing(rule, place)
        if not names:
            problems = (Phrase("there is no such tool"), *problems)
        links = await asyncio.to_thread(lambda: [(each, led_to(each, place)) for each in folders_of(rule)])
        led = (Phrase("{folder} leads to {real}", folder=folder_words(each), real=suspicion.visible(real)) for each, real in links if real)
        return RulePreview(words(rule), rule.members(), (*cautions(rule, place), *led), problems, tuple(judged), unknown)

    async def allow(self, server: str, given: object, client: str, end: GrantEnd) -> GrantSnapshot:
        """Implements ApprovalsApi.add_rule."""
        check_end(end)
        rule = read_rule(given)
        self._servers.get(server)
        await self._tools.published(server)  # waits for one that was never listed
        routes = self._routes(server, rule)
        if not routes:
            raise NotFound(
                Phrase("'{server}' offers no tool that this rule speaks of", server=server),
                hint=Phrase("The server's own name is wanted; see `tooltray tools list --json`."),
            )
        if rule.server not in ("", server):
            raise TooltrayError(Phrase("This rule speaks of another server"), hint=Phrase("Leave out its member server."))
        if problems := await why_nothing(rule, self._rules.place("")):
            raise TooltrayError(
                Phrase("This rule lets no call through"), "; ".join(problems), Phrase("Make the folder, or name another one.")
            )
        if self._masked(rule.text) != rule.text:
            raise TooltrayError(Phrase("There is a secret in this rule"), Phrase("it would be kept"), Phrase("Make one without it."))
        return await self._grants.allow(server, "rule", routes, client=client, end=end, rule=rule.members())

    async def definitions(self, server: str, rule: CallRule) -> list[str]:
        """Returns a rule's tools as they are defined now, each with the beginning of its mark."""
        await self._tools.published(server)
        return [named_with_mark(name, mark(route)) for name, route in self._routes(server, rule).items()]

    def _routes(self, server: str, rule: CallRule) -> dict[str, Route]:
        return {name: route for name, route in self._tools.routes(server).items() if is_for(rule, name)}

    async def _names(self, server: str, rule: CallRule) -> list[str]:
        """Returns the tools that a rule is about."""
        await self._tools.published(server)
        return list(self._routes(server, rule))

    def _past(self, server: str, names: Iterable[str]) -> tuple[list[_PastCall], int]:
        """Returns calls of the past, the newest first, and the number of calls whose arguments are missing or cut. Reads the journal."""
        if not (tools := tuple(names)):
            return [], 0
        wanted = ActivityFilter(kinds=("call",), servers=(server,), tools=tools)
        found = self._reader.latest_details(wanted, MOST_PAST)
        known = [_of_entry(each) for each in found if each.arguments and not each.is_cut]
        return known, len(found) - len(known)

    def _judged(self, rule: CallRule, calls: Iterable[_PastCall], place: Place) -> list[JudgedCall]:
        return [self._one_judged(rule, call, place) for call in calls]

    def _one_judged(self, rule: CallRule, call: _PastCall, place: Place) -> JudgedCall:
        is_covered = covers(rule, call.arguments, place._replace(project=call.project))
        line = self._masked(call.arguments.decode("utf-8", "replace"))
        shown = suspicion.visible(line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…")
        return JudgedCall(call.at, suspicion.visible(call.tool), plain(call.client, LONGEST_NAME), shown, is_covered)


def _is_of(question: PendingCall, server: str, names: Iterable[str]) -> bool:
    route = question.subject.route
    return route.server == server and route.definition.name in names


def _of_question(question: PendingCall) -> _PastCall:
    call = question.subject
    return _PastCall(question.asked_at, call.route.definition.name, call.client, call.project, bytes(call.arguments))


def _of_entry(details: ActivityDetails) -> _PastCall:
    entry = details.entry
    return _PastCall(entry.at, entry.tool, entry.client, entry.project, details.arguments.encode("utf-8", "replace"))
