"""The tools of the page as rows, the filter, and their texts. Pure functions; a value that could not be read is None, and never 0."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from tooltray.foundation.snapshots.activity import ToolUse
from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.foundation.snapshots.tools import ToolCosts, ToolSnapshot
from tooltray.ui.approval.approval_body import granted_to
from tooltray.ui.approval.permission_words import ToolRow as Approval
from tooltray.ui.approval.permission_words import applies_now, why
from tooltray.ui.client_names import shown_client
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.server_text import one_line
from tooltray.ui.state_language import UNKNOWN, not_known

FILTERS = 5
ALL, ASKS, HELD, OFF, UNUSED = range(FILTERS)
USED_DAYS = 30
LONGEST_NAME = 300  # characters
LONGEST_TIP = 400  # characters of a description
FEW_USED, MANY_TOOLS = 0.5, 20  # a profile of the used ones is worth a word where less than half of so many are used


class ToolRow(msgspec.Struct, frozen=True):
    """A tool in the table.

    Attributes:
        key: its server, and the server's own name for it.
        tokens: of its definition; None: not known.
        use: in the last 30 days; None: it was not called.
        approval: what decides whether its calls ask first; None: not known, then what the tool itself says applies.
        is_use_known: whether the journal could be read.
        text: the text for searches.
        filters: a bit for each filter that it belongs to; evaluated for 5,000 rows with each key of a search.
    """

    tool: ToolSnapshot
    key: tuple[str, str]
    tokens: int | None = None
    use: ToolUse | None = None
    is_use_known: bool = False
    approval: Approval | None = None
    text: str = ""
    filters: int = 0

    @property
    def name(self) -> str:
        """The server's own name for it, safe for display."""
        return one_line(self.tool.original_name, LONGEST_NAME)


def rows_of(
    tools: Iterable[ToolSnapshot],
    costs: ToolCosts | None,
    uses: Sequence[ToolUse] | None,
    approvals: Mapping[tuple[str, str], Approval] = {},
) -> list[ToolRow]:
    """Combines tools with their costs, their uses and their approval."""
    tokens: Mapping[str, int] = {cost.name: cost.tokens for server in costs.servers for cost in server.tools} if costs else {}
    used = {(use.server, use.tool): use for use in uses or ()}
    rows = []
    for tool in tools:
        key = tool.server, tool.original_name
        use, text = used.get(key), f"{tool.name}\n{tool.original_name}\n{tool.server}\n{tool.description}".casefold()
        filters = _filters(tool, is_unused=uses is not None and use is None)
        rows.append(ToolRow(tool, key, tokens.get(tool.name), use, uses is not None, approvals.get(key), text, filters))
    return rows


def _filters(tool: ToolSnapshot, *, is_unused: bool) -> int:
    asks = tool.is_enabled and not tool.is_approved and not tool.is_held
    return 1 << ALL | asks << ASKS | tool.is_held << HELD | (not tool.is_enabled) << OFF | is_unused << UNUSED


def is_in(row: ToolRow, filter: int) -> bool:
    """Returns whether a row belongs to a filter."""
    return bool(row.filters >> filter & 1)


def counts(rows: Iterable[ToolRow]) -> list[int]:
    """Returns how many rows belong to each filter."""
    kinds = Counter(row.filters for row in rows)
    return [sum(count for filters, count in kinds.items() if filters >> filter & 1) for filter in range(FILTERS)]


def found(rows: Sequence[ToolRow], *, server: str = "", text: str = "") -> list[ToolRow]:
    """Returns the rows that fit the filter and the search.

    Args:
        text: all of its words are in the name, the description or the server's name.
    """
    for word in text.casefold().split():
        rows = [row for row in rows if word in row.text]
    return [row for row in rows if row.key[0] == server] if server else list(rows)


def approval(row: ToolRow) -> tuple[str, str]:
    """Returns whether calls of a tool ask first now, as a chip; temporary approvals count."""
    tool = row.tool
    if not tool.is_enabled:
        return tr("Off"), ""
    if row.approval is not None and (row.approval.grants or row.approval.tool.call_rules):
        return applies_now(row.approval)
    if tool.is_held:
        return tr("Blocked until reviewed"), "warning"
    return (tr("Runs without asking"), "") if tool.is_approved else (tr("Asks first"), "neutral")


def why_so(row: ToolRow) -> str:
    """Returns why calls of a tool ask first, or do not, as a sentence."""
    tool = row.tool
    if not tool.is_enabled:
        return tr("AI clients do not see it.")
    if row.approval is not None and row.approval.grants and not row.approval.tool.is_free:
        return _granted(row.approval.grants)
    if row.approval is not None and row.approval.tool.call_rules and not (tool.is_held or tool.is_approved):
        return why(row.approval)
    if tool.is_held:
        return tr("Its definition has changed since you allowed it. It asks until you have seen how.")
    if tool.is_approved:
        return tr("What you have allowed for this server covers it.")
    return tr("It can change things, so you are asked first.") if tool.category == "write" else tr("You are asked before each call.")


def _granted(grants: Sequence[GrantSnapshot]) -> str:
    if any(not (each.client or each.session) for each in grants):
        return tr("You have allowed it. Otherwise it asks first.")
    clients = ", ".join(dict.fromkeys(map(granted_to, grants)))
    if len(grants) == 1 and grants[0].expires_at and not grants[0].session:
        return tr("Asks first; allowed for {client} until {when}.", client=clients, when=moment(grants[0].expires_at, datetime.now()))
    return tr("Asks first; allowed for {client}.", client=clients)


def danger(row: ToolRow) -> int:
    """Returns which tool is better tried first: one that is on, and then one that only reads."""
    return 2 * (not row.tool.is_enabled) + (row.tool.category == "write")


def tokens_words(row: ToolRow) -> str:
    return UNKNOWN if row.tokens is None else f"{row.tokens:,}"


def tokens_tip(row: ToolRow) -> str:
    if row.tokens is not None:
        return ""
    return not_known("" if row.tool.is_enabled else tr("It is counted while the tool is on."))


def use_tip(row: ToolRow) -> str:
    return used_by(row) if row.is_use_known else not_known(tr("The journal could not be read."))


def last_used(row: ToolRow, now: datetime) -> str:
    if not row.is_use_known:
        return UNKNOWN
    return moment(row.use.last_at, now) if row.use is not None else tr("Never")


def used_by(row: ToolRow) -> str:
    if not row.is_use_known:
        return UNKNOWN
    names = row.use.clients if row.use is not None else ()
    shown = [tr("You") if name == "tooltray" else one_line(shown_client(name), 40) for name in names]
    return ", ".join(filter(None, shown)) or tr("No clients")


def name_and_text(row: ToolRow) -> tuple[str, str]:
    """Returns the two lines of a tool in the table: its name, and what it does."""
    return row.name, one_line(row.tool.description, LONGEST_TIP)


def tip(row: ToolRow) -> str:
    """Returns what a tool does, and its name for AI clients."""
    return "\n".join(filter(None, [one_line(row.tool.description, LONGEST_TIP), one_line(row.tool.name, LONGEST_NAME)]))


def used_share(rows: Sequence[ToolRow]) -> tuple[int, int] | None:
    """Returns how many of the tools that clients see were used, and the number of these tools; None: not known, or the share is too large
    to mention.
    """
    offered = [row for row in rows if row.tool.is_enabled]
    used = sum(row.use is not None for row in offered)
    if not offered or not all(row.is_use_known for row in offered):
        return None
    return (used, len(offered)) if used and len(offered) >= MANY_TOOLS and used / len(offered) < FEW_USED else None


def profile_of(rows: Iterable[ToolRow], name: str) -> ProfileSnapshot:
    """Returns a profile with only these tools."""
    tools: dict[str, list[str]] = {}
    for row in rows:
        tools.setdefault(row.tool.server, []).append(row.tool.original_name)
    return ProfileSnapshot(name, tuple(tools), {server: tuple(names) for server, names in tools.items()})
