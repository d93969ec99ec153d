"""What a server's settings define for single tools: whether they are offered (`toolFilter`, `disabledTools`), and how (`toolOverrides`).
Pure.

A name under which a tool is published has to be unique among all servers' tools, which published_names ensures. Everything else uses the
server's own name for a tool: approval rules, disabled tools, and requests to the server. So settings stay right when the names that AI
clients see change.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.errors import Problem
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

NAME = lazy_pattern(r"[A-Za-z0-9_-]{1,40}", re.ASCII)  # a name that every AI client accepts, as long as published names are
NAME_IN_WORDS = "1 to 40 of the letters a to z and A to Z, digits, '_' and '-'"
_MARK = "/"  # between a server and its tool in the key of a chosen name; no server's name contains one

Tool = tuple[str, str]
"""A server's name and the server's own name for the tool."""


def chosen_name(override: ToolOverride | None) -> str:
    """Returns the chosen name of a tool; empty if none was chosen, or the name in the settings cannot be used."""
    name = override.name if override else None
    return name if name and NAME.fullmatch(name) else ""


def key(server: str, tool: str, override: ToolOverride | None) -> Tool:
    """Returns the key that a published name is given to: the tool, or the tool under a chosen name.

    Each name that was ever chosen for a tool has its own key: it still leads to the tool when another is chosen, and never to another tool.
    """
    name = chosen_name(override)
    return (f"{server}{_MARK}{tool}", name) if name else (server, tool)


def other_key(server: str, tool: str, name: str) -> Tool:
    """Returns the key for another name that identifies the tool if `name` could mean another server's."""
    return f"{server}{_MARK}{tool}", f"{server}_{name}"


def tool_of(key: Tool) -> Tool:
    """Returns the tool that a published name was given to."""
    if _MARK not in key[0]:
        return key
    server, _, tool = key[0].partition(_MARK)
    return server, tool


def names_alone(tools: Collection[str], config: MCPServerConfig) -> dict[str, str]:
    """Returns the names of a server's tools, by its own names, for an AI client that has only this server.

    A chosen name that another of these tools has or would get, too, is not used.
    """
    chosen = {tool: name for tool in tools if (name := chosen_name(config.tool_overrides.get(tool)))}
    taken = Counter(as_compared(name) for name in (*tools, *chosen.values()))
    usable = {tool: name for tool, name in chosen.items() if taken[as_compared(name)] == 1}
    return {tool: usable.get(tool, tool) for tool in tools}


def tool_alone(name: str, tools: Collection[str], config: MCPServerConfig) -> str:
    """Returns the server's own name for the tool that such a client calls `name`; the name itself if it is not a chosen one.

    Args:
        tools: the server's own names, as far as they are known.
    """
    if name in tools or not config.tool_overrides:
        return name
    shown = names_alone({*tools, *config.tool_overrides}, config)
    return next((tool for tool, each in shown.items() if each == name), name)


def problems(server: str, config: MCPServerConfig, tools: Collection[str]) -> Iterator[Problem]:
    """Yields the problems of a server's overrides.

    Args:
        tools: the server's own names; empty while they are not known.
    """
    for tool, override in config.tool_overrides.items():
        if override.name and not chosen_name(override):
            title = Phrase("A tool of '{server}' keeps its own name", server=server)
            yield Problem(
                title,
                Phrase("{name} in toolOverrides cannot be the name of a tool", name=repr(override.name[:60])),
                Phrase("A name has {name_in_words}.", name_in_words=NAME_IN_WORDS),
            )
        if tools and tool not in tools:
            title = Phrase("toolOverrides of '{server}' names a tool that it does not have", server=server)
            yield Problem(
                title,
                Phrase("it has no tool {tool}", tool=repr(tool[:60])),
                Phrase("Use the server's own name for the tool: tooltray tools list"),
            )


def as_compared(name: str) -> str:
    """Returns a form that is equal for names that an AI client may merge: some map `-` to `_`, some ignore case."""
    return name.replace("-", "_").lower()


def is_enabled(name: str, config: MCPServerConfig) -> bool:
    """Returns whether a tool is offered to AI clients. An empty `allow` list offers nothing, an empty `block` list everything."""
    if name in config.disabled_tools:
        return False
    chosen = config.tool_filter
    return chosen is None or (name in chosen.list) == (chosen.mode == "allow")


def enabled(names: Iterable[str], config: MCPServerConfig) -> list[str]:
    """Returns the offered ones among `names`, in their order."""
    disabled, chosen = frozenset(config.disabled_tools), config.tool_filter
    listed, is_allowing = frozenset(chosen.list if chosen else ()), chosen is not None and chosen.mode == "allow"
    return [name for name in names if name not in disabled and (chosen is None or (name in listed) == is_allowing)]
