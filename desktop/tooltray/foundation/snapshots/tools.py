"""Tools, skills and tasks of servers: as lists show them, their cost in tokens, and calls of them."""

import msgspec

from tooltray.foundation.verbs import JsonMapping


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
    tokens: int  # of all its tools that are switched on, if listed in full: without the tools that find others
    shown_tokens: int  # of what a client gets of it at the start, its activating tool included
    tools: tuple[ToolCost, ...]
    skill_tokens: int = 0  # of the names, descriptions and URIs of its skills, for AI clients that know skills; in none of the above
    compact_tokens: int | None = None  # what `shown_tokens` would be with a compact tool listing; None: it cannot be chosen, or is unknown


class ToolCosts(msgspec.Struct, frozen=True):
    """The cost of tool definitions, in tokens of a model's context: all of them, and the listed ones."""

    tokenizer: str  # with which they were counted; "estimate": they could not be counted
    tokens: int  # of a full tool listing
    shown_tokens: int
    servers: tuple[ServerCost, ...]
    client: str = ""  # for whom `shown` counts; empty: for a client that nothing is known of
    skill_tokens: int = 0  # as in ServerCost
    search_tokens: int = 0  # of the tools that are listed as soon as the listing of one server is compact; 0 if they are already

    @property
    def is_estimated(self) -> bool:
        """Whether the tokens could not be counted, and are estimated by size."""
        return self.tokenizer == "estimate"


class FoundTool(msgspec.Struct, frozen=True):
    """A tool that a search has found.

    Attributes:
        name: as AI clients see it.
        signature: in one line, its name, its arguments and what it does; those with `?` may be left out.
        why: what it has in common with the query, such as "name: read"; may be empty.
    """

    name: str
    server: str
    signature: str
    why: str = ""


class FoundTools(msgspec.Struct, frozen=True):
    """The tools that fit one query, the best first. `starting`: the servers whose tools are not known yet."""

    query: str
    tools: tuple[FoundTool, ...]
    starting: tuple[str, ...] = ()


class MCPToolCall(msgspec.Struct, frozen=True):
    """A tool call of a model, in the format of any provider."""

    id: str  # the provider's own, or one that was made up where a format has none
    name: str  # the tool, as AI clients see it
    arguments: JsonMapping
    server: str = ""  # whose tool it is, where that is known


class MCPToolResponse(msgspec.Struct, frozen=True):
    """The result of one tool call.

    As an event it has no arguments and no result: only the caller gets these.
    """

    tool: str  # as the AI client called it
    server: str
    client: str
    outcome: str  # "ok", "error", "refused" or "cancelled"
    duration_s: float
    argument_bytes: int
    result_bytes: int
    tool_call_id: str = ""  # of the MCPToolCall that this answers; of any other call one that the hub has made
    result: JsonMapping | None = None  # the CallToolResult; None in events


class RecentCall(msgspec.Struct, frozen=True):
    """One tool call that was carried out or refused."""

    id: int  # they count up
    at: float  # unix seconds at which it ended
    tool: str  # as the AI client called it
    server: str
    client: str
    outcome: str  # as in MCPToolResponse
    duration_s: float
    argument_bytes: int
    result_bytes: int


class SkillSnapshot(msgspec.Struct, frozen=True):
    """One skill of a server.

    Attributes:
        uri: by which AI clients know it.
        own_uri: under which its server has it.
        file_count, size_bytes: of its files; 0 where unknown.
        is_dynamic: its content is generated when it is read, so it has no fixed digest.
        is_held: it has changed, and is blocked until the user has reviewed the change.
        is_shared_name: another server has a skill of this name, too.
    """

    uri: str
    server: str
    own_uri: str
    name: str
    description: str
    file_count: int = 0
    size_bytes: int = 0
    is_dynamic: bool = False
    is_enabled: bool = True
    is_held: bool = False
    is_shared_name: bool = False


class ServerTaskSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A long-running operation of a server, which its AI client does not wait for (an MCP task).

    Attributes:
        client: that started it, as it names itself.
        status: as last received: "working", "input_required", "completed", "failed" or "cancelled".
        created_at: unix seconds.
        ttl_s: how long its server keeps it, in seconds; None: unlimited or unknown.
    """

    id: str
    server: str
    tool: str
    client: str
    status: str
    created_at: float
    ttl_s: float | None = None
