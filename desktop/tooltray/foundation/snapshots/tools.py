"""Tools, as a list shows them, and their cost in tokens of a model's context."""

import msgspec


class ToolSnapshot(msgspec.Struct, frozen=True):
    """One tool as a list shows it."""

    name: str  # as AI clients see it
    server: str
    original_name: str
    description: str
    category: str  # "read" or "write"
    is_enabled: bool
    is_approved: bool
    is_held: bool = False  # a person allowed it, and its definition is another one since
    has_view: bool = False  # MCP Apps: AI clients that can do so show its results in a view of its server
    is_for_views: bool = False  # no model sees it; views of its server may call it
    flaws: tuple[str, ...] = ()  # what is mended of its definition for AI clients, one sentence each


class CoveredTool(ToolSnapshot, frozen=True):
    """A tool that a grant would allow."""

    warnings: tuple[str, ...] = ()  # as in ApprovalSnapshot
    revision: str = ""  # of all that it would allow, the same for each of them; `add_grant` takes it


class ToolCost(msgspec.Struct, frozen=True):
    """The cost of one definition, in tokens of a model's context."""

    name: str  # as AI clients see it
    tokens: int
    is_shown: bool  # the client gets it at the start


class ServerCost(msgspec.Struct, frozen=True):
    server: str
    tokens: int  # of all its tools that are switched on
    shown_tokens: int  # of what a client gets of it at the start, its activating tool included
    tools: tuple[ToolCost, ...]
    skill_tokens: int = 0  # of the names, descriptions and URIs of its skills, for AI clients that know skills; in none of the above


class ToolCosts(msgspec.Struct, frozen=True):
    """The cost of tool definitions, in tokens of a model's context: all of them, and the listed ones."""

    tokenizer: str
    tokens: int
    shown_tokens: int
    servers: tuple[ServerCost, ...]
    client: str = ""  # for whom `shown` counts; empty: for a client that nothing is known of
    skill_tokens: int = 0  # as in ServerCost
