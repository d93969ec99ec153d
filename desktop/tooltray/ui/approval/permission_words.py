"""What applies to each tool now, and texts about rules, tools and answers."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import inf

import msgspec

from tooltray.foundation.snapshots.activity import ActivityEntry
from tooltray.foundation.snapshots.approvals import GrantSnapshot, RulePreview, ServerPermissions, ToolPermission, tried_in_words
from tooltray.ui.approval.approval_body import granted_until, warnings
from tooltray.ui.client_names import shown_client
from tooltray.ui.i18n import say, tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.problem_words import in_a_row

ALL, READS, CHOSEN, NOTHING, OWN = "all", "reads", "chosen", "nothing", "own"
"""What of a server runs without asking."""
BASES: Mapping[str, tuple[str, ...]] = {ALL: ("all",), READS: ("read",), CHOSEN: (), NOTHING: ()}
"""The rules of each, besides those that name one tool."""


class ToolRow(msgspec.Struct, frozen=True):
    """A tool with all that decides whether its calls ask first."""

    server: str
    tool: ToolPermission
    is_changeable: bool
    grants: tuple[GrantSnapshot, ...] = ()  # that cover it

    @property
    def key(self) -> tuple[str, str]:
        return self.server, self.tool.tool


def tool_rows(servers: Iterable[ServerPermissions], grants: Mapping[str, GrantSnapshot]) -> list[ToolRow]:
    """Returns a row for each tool of some servers.

    Args:
        grants: by their ids.
    """
    return [
        ToolRow(server.server, tool, server.is_changeable, tuple(grants[id] for id in tool.grants if id in grants))
        for server in servers
        for tool in server.tools
    ]


async def read_tools(hub: QtMcpPresenter, server: str = "") -> dict[tuple[str, str], ToolRow]:
    """Returns the tools of a server, or of all, by the server and its own name of the tool; `applies_now` says what applies to each."""
    grants = {each.id: each for each in await hub.approvals.get_grants()}
    return {row.key: row for row in tool_rows(await hub.approvals.get_permissions(server), grants)}


def mode_of(server: ServerPermissions) -> str:
    """Returns the mode of a server's rules: ALL, READS, CHOSEN, NOTHING or OWN."""
    base = [rule for rule in server.rules if rule not in server.single]
    if "all" in base or {"read", "write"} <= {*base}:
        return ALL
    if base == ["read"]:
        return READS
    if base:
        return OWN
    return CHOSEN if has_chosen(server) else NOTHING


def has_chosen(server: ServerPermissions) -> bool:
    """Returns whether a tool runs without asking by its name; the server's tools need not be known."""
    return any(not rule.startswith("ask:") for rule in server.single)


def rules_for(server: ServerPermissions, mode: str) -> list[str]:
    """Returns the rules for a mode; choices for single tools stay, for NOTHING only the ones that ask."""
    single = [rule for rule in server.single if mode != NOTHING or rule.startswith("ask:")]
    return [*BASES[mode], *single]


def modes_for(server: ServerPermissions) -> list[tuple[str, str]]:
    """Returns the modes that can be chosen for a server, with their names; CHOSEN and OWN only where they apply."""
    chosen = [(CHOSEN, tr("Only tools you chose"))] if has_chosen(server) else []
    own = [(OWN, tr("Rules of its own"))] if mode_of(server) == OWN else []
    return [(ALL, tr("Everything")), (READS, tr("What only reads")), *chosen, (NOTHING, tr("Nothing")), *own]


def applies_now(row: ToolRow) -> tuple[str, str]:
    """Returns what applies to calls of a tool now, temporary approvals included, as a chip: plain where they run without asking."""
    tool = row.tool
    if not tool.is_enabled:
        return tr("Off"), ""
    if tool.is_free:
        return tr("Runs without asking"), ""
    if (grant := _longest_grant(row)) is not None:
        return _allowed(grant), "accent"
    if tool.is_held:
        return tr("Blocked until reviewed"), "warning"
    if row.grants:
        return tr("Allowed for {client}", client=shown_client(row.grants[0].client) or tr("One session")), "accent"
    if tool.call_rules:
        return tr("Asks, except by a rule"), "accent"
    return tr("Asks first"), "neutral"


def _longest_grant(row: ToolRow) -> GrantSnapshot | None:
    """Returns the grant for all clients that lasts longest."""
    for_all = [grant for grant in row.grants if not (grant.client or grant.session)]
    return max(for_all, key=lambda grant: (not grant.until, grant.expires_at or inf), default=None)


def _allowed(grant: GrantSnapshot) -> str:
    if grant.expires_at:
        return tr("Allowed until {when}", when=granted_until(grant, datetime.now()))
    return tr("Allowed until the screen locks") if grant.until else tr("Allowed")


def why(row: ToolRow) -> str:
    """Returns why a tool asks or does not, in the user's language."""
    if not row.tool.is_enabled:
        return tr("Switched off: AI clients do not see it")
    if not row.tool.is_free and _longest_grant(row) is not None:
        return tr("You allowed it; otherwise it asks first")
    if row.tool.is_held:
        return tr("It has changed since you allowed it")
    if not row.tool.is_free and row.tool.call_rules:
        return tr("Runs without asking: {rules}", rules="; ".join(map(say, row.tool.call_rules)))
    return say(row.tool.why)


def choices() -> list[tuple[str, str]]:
    """Returns what the user can choose for one tool."""
    return [("default", tr("As its server")), ("always", tr("Runs without asking")), ("ask", tr("Asks first"))]


def answer_word(entry: ActivityEntry) -> str:
    """Returns the answer to a call, in words."""
    words = {
        "once": tr("Allowed once"),
        "session": tr("Allowed for the session"),
        "like": tr("Allowed for some seconds"),
        "hour": tr("Allowed for an hour"),
        "day": tr("Allowed for a day"),
        "lock": tr("Allowed until the screen locks"),
        "always": tr("Allowed always"),
        "reads": tr("All reads allowed"),
        "rule": tr("Allowed, and a rule made of it"),
        "refused": tr("Declined"),
        "late": tr("No answer"),
        "cancelled": tr("Given up"),
    }
    return words.get(entry.outcome, entry.outcome)


def covered(words: str) -> str:
    """Returns which calls run without asking by a rule, as a sentence; `words`: of the rule."""
    return tr("Runs without asking: {calls}.", calls=say(words))


def of_late(preview: RulePreview) -> str:
    """Returns how many recent calls a rule would have covered."""
    return in_a_row(*map(say, tried_in_words(preview)))


def cautions(preview: RulePreview) -> str:
    """Returns what the user should know about a rule, a sentence on each line."""
    return warnings((*preview.problems, *preview.cautions))
