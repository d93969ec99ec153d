"""What the settings of a server say of single tools: whether they are offered (`toolFilter`, `disabledTools`), and how (`toolOverrides`).

Above it: ToolManager and Profiles. Below it: the settings' models. Pure; gives no name: that a name is published under has to be unique
among all servers' tools, which names sees to. Everything else goes by the server's own name for a tool: what may be called unasked, what is
switched off, and what the server is sent; so settings stay right when the names that AI clients see change.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase

NAME = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)  # what every AI client takes, and as long as published names are
NAME_IN_WORDS = "1 to 40 of the letters a to z and A to Z, digits, '_' and '-'"
_MARK = "/"  # between a server and its tool in the key of a chosen name; no server's name has one

Tool = tuple[str, str]
"""A server's name and the server's own name for the tool."""


def chosen_name(override: ToolOverride | None) -> str:
    """The name that a tool is to have; empty: its own, also where the one in the settings cannot be used."""
    name = override.name if override else None
    return name if name and NAME.fullmatch(name) else ""


def key(server: str, tool: str, override: ToolOverride | None) -> Tool:
    """What a published name is given to: the tool, or the tool under a chosen name.

    Each name that was ever chosen for a tool is one of its own: it still leads there when another is chosen, and never to another tool.
    """
    name = chosen_name(override)
    return (f"{server}{_MARK}{tool}", name) if name else (server, tool)


def other_key(server: str, tool: str, name: str) -> Tool:
    """What another name is given to, by which the tool is told apart where `name` could mean another server's."""
    return f"{server}{_MARK}{tool}", f"{server}_{name}"


def tool_of(key: Tool) -> Tool:
    """The tool that a published name was given to."""
    if _MARK not in key[0]:
        return key
    server, _, tool = key[0].partition(_MARK)
    return server, tool


def names_alone(tools: Collection[str], config: MCPServerConfig) -> dict[str, str]:
    """The names of a server's tools, by its own names, for an AI client that has this server alone.

    A chosen name that another of these tools has or is to have, too, is not used.
    """
    chosen = {tool: name for tool in tools if (name := chosen_name(config.tool_overrides.get(tool)))}
    taken = Counter(as_compared(name) for name in (*tools, *chosen.values()))
    usable = {tool: name for tool, name in chosen.items() if taken[as_compared(name)] == 1}
    return {tool: usable.get(tool, tool) for tool in tools}


def tool_alone(name: str, tools: Collection[str], config: MCPServerConfig) -> str:
    """The server's own name for what such a client calls `name`; the name itself where that is no chosen one.

    Args:
        tools: the server's own names, as far as they are known.
    """
    if name in tools or not config.tool_overrides:
        return name
    shown = names_alone({*tools, *config.tool_overrides}, config)
    return next((tool for tool, each in shown.items() if each == name), name)


def problems(server: str, config: MCPServerConfig, tools: Collection[str]) -> Iterator[Problem]:
    """What is to be said of a server's overrides.

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
    """What is equal here may be one name to an AI client: some map `-` to `_`, some ignore case."""
    return name.replace("-", "_").lower()


def is_enabled(name: str, config: MCPServerConfig) -> bool:
    """Whether a tool is offered to AI clients. An empty `allow` list offers nothing, an empty `block` list everything."""
    if name in config.disabled_tools:
        return False
    chosen = config.tool_filter
    return chosen is None or (name in chosen.list) == (chosen.mode == "allow")


def enabled(names: Iterable[str], config: MCPServerConfig) -> list[str]:
    """Those of `names` that are offered, in their order."""
    disabled, chosen = frozenset(config.disabled_tools), config.tool_filter
    listed, is_allowing = frozenset(chosen.list if chosen else ()), chosen is not None and chosen.mode == "allow"
    return [name for name in names if name not in disabled and (chosen is None or (name in listed) == is_allowing)]
