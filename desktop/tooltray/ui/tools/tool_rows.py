"""The tools of the page as rows: what is known of each, which of them a person wants to see, and the words for that.

Above it: the tab Tools and its details. Below it: snapshots. Pure functions; what could not be read is None, and never 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from tooltray.snapshots.activity import ToolUse
from tooltray.snapshots.tools import ToolCosts, ToolSnapshot
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.widgets.server_text import one_line

ALL, ASKS, HELD, OFF, UNUSED = range(5)  # the filters
USED_DAYS = 30
UNKNOWN = "?"  # the mark of what could not be read
LONGEST_TIP = 400  # characters of a description
FEW_USED, MANY_TOOLS = 0.5, 20  # a profile of the used ones is worth a word where less than half of so many are used


class ToolRow(msgspec.Struct, frozen=True):
    """
    Attributes:
        tokens: of its definition; None: not known.
        use: in the last 30 days; None: it was not called.
        is_use_known: whether the journal could be read.
    """

    tool: ToolSnapshot
    tokens: int | None = None
    use: ToolUse | None = None
    is_use_known: bool = False
    text: str = ""  # in which words are looked for

    @property
    def key(self) -> tuple[str, str]:
        return self.tool.server, self.tool.original_name

    @property
    def is_unused(self) -> bool:
        return self.is_use_known and self.use is None


def rows_of(tools: Iterable[ToolSnapshot], costs: ToolCosts | None, uses: Sequence[ToolUse] | None) -> list[ToolRow]:
    """Puts together what is known of tools."""
    tokens: Mapping[str, int] = {cost.name: cost.tokens for server in costs.servers for cost in server.tools} if costs else {}
    used = {(use.server, use.tool): use for use in uses or ()}
    return [
        ToolRow(
            tool,
            tokens.get(tool.name),
            used.get((tool.server, tool.original_name)),
            uses is not None,
            f"{tool.name}\n{tool.original_name}\n{tool.server}\n{tool.description}".casefold(),
        )
        for tool in tools
    ]


def is_in(row: ToolRow, filter: int) -> bool:
    """Whether a row belongs to a filter."""
    tool = row.tool
    if filter == ASKS:
        return tool.is_enabled and not tool.is_approved and not tool.is_held
    if filter == UNUSED:
        return row.is_unused
    return tool.is_held if filter == HELD else not tool.is_enabled if filter == OFF else True


def found(rows: Sequence[ToolRow], *, filter: int = ALL, server: str = "", text: str = "") -> list[ToolRow]:
    """Returns the rows that a person wants to see.

    Args:
        text: all of its words are in the name, the description or the server's name.
    """
    wanted = text.casefold().split()
    return [row for row in rows if is_in(row, filter) and server in ("", row.tool.server) and all(word in row.text for word in wanted)]


def goes_through(tool: ToolSnapshot) -> tuple[str, str]:
    """Returns whether a call of a tool asks first, as a chip."""
    if not tool.is_enabled:
        return tr("Off"), ""
    if tool.is_held:
        return tr("Held"), "warning"
    return (tr("Runs without asking"), "") if tool.is_approved else (tr("Asks first"), "neutral")


def why_so(tool: ToolSnapshot) -> str:
    """Returns why a call of a tool asks first, or does not, as a sentence."""
    if not tool.is_enabled:
        return tr("AI clients do not see it.")
    if tool.is_held:
        return tr("Its definition has changed since you allowed it. It asks until you have seen how.")
    if tool.is_approved:
        return tr("What you have allowed for this server covers it.")
    return tr("It can change things, so you are asked first.") if tool.category == "write" else tr("You are asked before each call.")


def tokens_words(row: ToolRow) -> str:
    if row.tokens is None:
        return "–" if not row.tool.is_enabled else UNKNOWN
    return f"{row.tokens:,}"


def last_used(row: ToolRow, now: datetime) -> str:
    if not row.is_use_known:
        return UNKNOWN
    return moment(row.use.last_at, now) if row.use is not None else tr("Never")


def used_by(row: ToolRow) -> str:
    if not row.is_use_known:
        return UNKNOWN
    names = row.use.clients if row.use is not None else ()
    shown = [tr("You") if name == "tooltray" else one_line(name, 40) for name in names]
    return ", ".join(filter(None, shown)) or "–"


def tip(row: ToolRow) -> str:
    """Returns what a tool does, and its name for AI clients where that is another one."""
    other = row.tool.name if row.tool.name != row.tool.original_name else ""
    return "\n".join(filter(None, [one_line(row.tool.description, LONGEST_TIP), other]))


def used_share(rows: Sequence[ToolRow]) -> tuple[int, int] | None:
    """Returns how many of the tools that clients see were used, and how many these are; None: that is not known, or nothing to speak of."""
    offered = [row for row in rows if row.tool.is_enabled]
    used = sum(row.use is not None for row in offered)
    if not offered or not all(row.is_use_known for row in offered):
        return None
    return (used, len(offered)) if used and len(offered) >= MANY_TOOLS and used / len(offered) < FEW_USED else None


def profile_of(rows: Iterable[ToolRow]) -> dict[str, object]:
    """Returns a profile that has these tools alone, as it stands in the settings."""
    tools: dict[str, list[str]] = {}
    for row in rows:
        tools.setdefault(row.tool.server, []).append(row.tool.original_name)
    return {"servers": list(tools), "tools": tools}
