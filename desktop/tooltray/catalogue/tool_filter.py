"""Which tools of a server are offered at all, by the server's own settings.

Above it: ToolManager. Below it: nothing. Pure; knows the shape of two settings, `toolFilter` and `disabledTools`, and no server. Both hold
original names, so that they stay right when the names that AI clients see change.
"""

from collections.abc import Collection, Iterable
from typing import Protocol


class ToolFilter(Protocol):
    """The setting `toolFilter`: either only the tools of a list, or all but them."""

    @property
    def mode(self) -> str:
        """ "allow" or "block"."""

    @property
    def list(self) -> Collection[str]: ...


class FilteredServer(Protocol):
    """The part of a server's settings that decides; `MCPServerConfig` has it."""

    @property
    def tool_filter(self) -> ToolFilter | None:
        """None filters nothing. An empty `allow` list offers nothing, an empty `block` list everything."""

    @property
    def disabled_tools(self) -> Collection[str]: ...


def is_enabled(name: str, config: FilteredServer) -> bool:
    """Whether a tool, by its original name, is offered to AI clients."""
    if name in config.disabled_tools:
        return False
    chosen = config.tool_filter
    return chosen is None or (name in chosen.list) == (chosen.mode == "allow")


def enabled(names: Iterable[str], config: FilteredServer) -> list[str]:
    """Those of `names` that are offered, in their order."""
    disabled, chosen = frozenset(config.disabled_tools), config.tool_filter
    listed, is_allowing = frozenset(chosen.list if chosen else ()), chosen is not None and chosen.mode == "allow"
    return [name for name in names if name not in disabled and (chosen is None or (name in listed) == is_allowing)]
