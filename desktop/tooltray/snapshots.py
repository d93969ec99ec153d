"""What the engine tells of itself at one moment: frozen dataclasses, one per thing that a person or a program may look at.

With errors the lowest layer. Events carry snapshots, the presenter's verbs return them, views draw them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tooltray.errors import Problem


class ServerState(Enum):
    """The state of one server. Its transition table is in server_manager."""

    STOPPED = "stopped"  # a person stopped or disabled it
    ON_DEMAND = "on_demand"  # not running; its first use starts it
    WAITING = "waiting"  # not running; it needs to know for which project
    STARTING = "starting"
    INSTALLING = "installing"  # starting, and its launcher (npx, uvx) is downloading
    RUNNING = "running"
    RESTARTING = "restarting"  # died; the next attempt is due
    STOPPING = "stopping"
    NEEDS_SIGN_IN = "needs_sign_in"  # it runs elsewhere and wants the person to sign in
    ERROR = "error"  # given up until somebody acts


@dataclass(frozen=True)
class ProjectCopySnapshot:
    """The copy of a server for one project."""

    path: str  # of the project, absolute
    name: str  # of the project
    state: ServerState
    session_count: int = 0  # AI clients of this project that are connected now
    target: str = ""  # its command line or URL, the project filled in; no secret is in it
    problem: Problem | None = None
    pids: tuple[int, ...] = ()


@dataclass(frozen=True)
class ServerSnapshot:
    """One server as a card shows it. No secret is in it: `target` has placeholders, not values."""

    name: str
    transport: str  # "stdio", "inmemory", "http", "sse"
    target: str  # command line or URL
    state: ServerState
    since: float = 0.0  # unix seconds at which the state was entered
    is_default: bool = False  # starts with the hub
    is_disabled: bool = False  # never starts
    is_builtin: bool = False  # comes with Tooltray and cannot be removed
    icon: str = ""
    description: str = ""
    tool_count: int = 0
    calls: tuple[int, ...] = ()  # per hour, oldest first, the last 16 hours
    calls_today: int = 0
    p95_ms: float = 0.0
    problem: Problem | None = None  # with ERROR and RESTARTING
    detail: str = ""  # what happens now, while STARTING, INSTALLING or RESTARTING
    pids: tuple[int, ...] = ()
    auto_approve: tuple[str, ...] = ()
    isolation: str = "shared"  # one copy for all AI clients, or "session": one for each
    idle_stop_s: float | None = None  # seconds without a call after which an on-demand server is stopped again; None: never
    saved_processes: int = 0  # launchers (npx, uvx and the shells between) that a direct start has spared
    is_signed_in: bool = False  # a token of a sign-in is kept for it
    has_sign_in_page: bool = False  # a sign-in has begun, and its page waits for the person
    is_lazy: bool = False  # AI clients see its tools when they have activated it
    is_deferred: bool = False  # it starts when a project is known, one copy for each
    startup_template: tuple[str, ...] = ()  # of a deferred server: its arguments with {project_path} and {project_name} in them
    copies: tuple[ProjectCopySnapshot, ...] = ()  # of a deferred server
    origin: str = "settings"  # where its entry is: "settings", "project" (the project's own file), "served" (as the hub was started), "hub"
    file: str = ""  # the absolute path of that file; empty: of the settings
    project: str = ""  # absolute path of the folder whose sessions alone have it; empty: all sessions
    revision: str = ""  # of its entry: another one where that is another one


@dataclass(frozen=True)
class McpClientSnapshot:
    """One connection to one running server: a server has one for each era, and for each session with `isolation: session`."""

    server: str
    era: str  # "legacy" or "modern"
    protocol_version: str
    server_info: Mapping[str, Any]  # name and version, as the server says
    capabilities: tuple[str, ...]  # the names of what it offers: "tools", "prompts", ...
    tool_count: int = 0
    prompt_count: int = 0
    resource_count: int = 0
    is_of_one_session: bool = False
    pids: tuple[int, ...] = ()


@dataclass(frozen=True)
class ToolSnapshot:
    """One tool as a list shows it."""

    name: str  # as AI clients see it
    server: str
    original_name: str
    description: str
    category: str  # "read" or "write"
    is_enabled: bool
    is_approved: bool
    is_held: bool = False  # a person allowed it, and its definition is another one since


@dataclass(frozen=True)
class CoveredTool(ToolSnapshot):
    """A tool that a grant would allow."""

    warnings: tuple[str, ...] = ()  # as in ApprovalSnapshot


@dataclass(frozen=True)
class HttpStatus:
    """Whether and where AI clients can connect over HTTP."""

    is_enabled: bool = False  # by the settings
    is_open: bool = False
    url: str = ""  # of all servers together, if it is open
    requires_token: bool = True
    problem: Problem | None = None  # why it is enabled and not open
    is_api_enabled: bool = False  # programs may do over HTTP what a person can do here; by the settings
    api_url: str = ""  # of that, if it is open
    is_api_trusted: bool = False  # those programs may also approve calls, trust projects and allow folders


@dataclass(frozen=True)
class ClientTokenSnapshot:
    """An AI client that may connect over HTTP; the token itself is known to nobody but the client."""

    name: str
    created_at: float  # unix seconds


@dataclass(frozen=True)
class RegistryMeasurement:
    """How one npm registry answered."""

    url: str  # as it may be shown: without user name and password
    name: str  # how people know it
    origin: str  # "npm" (npm's own configuration), "mirror" (comes with Tooltray), "settings", or "custom"
    region: str = ""  # where it stands, in words
    milliseconds: float | None = None  # until it answered for the probed packages; None: it did not
    problem: str = ""  # why it cannot be used


@dataclass(frozen=True)
class NpmRegistryStatus:
    """Which npm registry servers get, and why."""

    url: str = ""  # what servers get, as it may be shown; empty: what npm itself is configured to use
    origin: str = "npm"  # as in RegistryMeasurement
    is_auto_detect: bool = True
    custom_url: str = ""  # chosen by the person; it goes before all others
    measured_at: float = 0.0  # unix seconds; 0: never
    is_from_cache: bool = False  # measured by an earlier hub
    is_measuring: bool = False
    measurements: tuple[RegistryMeasurement, ...] = ()  # fastest first, then those that cannot be used


@dataclass(frozen=True)
class SignInSnapshot:
    """A sign-in that waits for the person's browser."""

    server: str
    url: str  # the page of the authorization server; to be opened by whoever asked
    ends_at: float  # unix seconds


@dataclass(frozen=True)
class SetupChange:
    """What a reset or an import would do, or has done, to one thing of the set-up."""

    kind: str  # "add", "replace", "remove" or "keep"
    subject: str  # "server", "default" (whether it starts with the hub), "setting" or "secret" (a value that is to be given)
    name: str
    detail: str = ""  # what changes, in words; no secret is in it


@dataclass(frozen=True)
class HubSnapshot:
    """The whole hub at one moment."""

    pid: int
    version: str
    is_paused: bool  # `mcpEnabled` is off: lists stay, calls are refused
    session_count: int  # AI clients connected now
    started_at: float  # unix seconds
    servers: tuple[ServerSnapshot, ...]
    notices: tuple[Problem, ...] = ()  # what was wrong with the settings, and what was done about it


class AnswerKind(Enum):
    """What a field of a server's form takes."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"  # one of its options
    CHOICES = "choices"  # any of them


@dataclass(frozen=True)
class ElicitationOption:
    value: str  # as the server wrote it, and as it goes back
    title: str


@dataclass(frozen=True)
class ElicitationField:
    """One answer of a form. Texts are the server's, made harmless."""

    name: str  # as the server wrote it
    title: str
    kind: AnswerKind
    description: str = ""
    is_required: bool = False
    default: str | float | bool | tuple[str, ...] | None = None  # the server's own proposal
    options: tuple[ElicitationOption, ...] = ()
    format: str = ""  # of a text: "email", "uri", "date", "date-time"
    least: float | None = None  # of a number its value, of a text its length, of choices how many
    most: float | None = None


@dataclass(frozen=True)
class ElicitationSnapshot:
    """A question that a server asks the person. Texts are the server's, made harmless."""

    id: str
    server: str
    mode: str  # "form" or "url"
    message: str
    ends_at: float  # unix seconds
    url: str = ""  # to be opened by the person, not by us
    fields: tuple[ElicitationField, ...] = ()


@dataclass(frozen=True)
class SessionProject:
    """Which project an AI client works on, as far as it is known."""

    path: str  # absolute
    name: str
    source: str  # who said so: "feedback", "roots", "folder" (in which its bridge was started) or "person"


@dataclass(frozen=True)
class SessionSnapshot:
    """One AI client's session: who it is, and what it sees."""

    id: str
    client: str  # as it names itself; empty until it has
    version: str = ""
    server: str = ""  # it has this one alone
    profile: str = ""  # the named set of servers and tools that it gets; empty: everything
    mode: str = "everything"  # how tools are shown to it: "everything", "lazy" or "search"
    reason: str = ""  # why this mode, in words
    project: SessionProject | None = None
    activated: tuple[str, ...] = ()  # lazy servers whose tools it has asked for
    is_connected: bool = True  # what is known of a session is kept for a while after its client left


@dataclass(frozen=True)
class ClientModeSnapshot:
    """How tools are shown to one kind of AI client."""

    client: str  # as it names itself; empty: every other one
    title: str  # how people know it
    mode: str  # chosen by the person: "everything", "lazy", "search" or "automatic"; empty: as the servers' settings say
    shown_mode: str  # what that comes to: "everything", "lazy" or "search"
    reason: str  # why, in words
    profile: str = ""  # that its sessions get unless they ask for another
    is_seen: bool = False  # it was connected here at least once
    auto_approve: tuple[str, ...] | None = None  # in the place of the servers' own; None: the servers' own count


@dataclass(frozen=True)
class ProfileSnapshot:
    """A named set of servers and tools."""

    name: str
    servers: tuple[str, ...] | None  # None: all
    tools: Mapping[str, tuple[str, ...]]  # by server, the only ones of it; names are the server's own
    description: str = ""
    tool_count: int = 0  # offered through it now


@dataclass(frozen=True)
class ToolCost:
    """What one definition costs in the context of a model."""

    name: str  # as AI clients see it
    tokens: int
    is_shown: bool  # the client gets it at the start


@dataclass(frozen=True)
class ServerCost:
    server: str
    tokens: int  # of all its tools that are switched on
    shown_tokens: int  # of what a client gets of it at the start, its activating tool included
    tools: tuple[ToolCost, ...]


@dataclass(frozen=True)
class ToolCosts:
    """What definitions of tools cost in the context of a model, all and as they are shown."""

    tokenizer: str
    tokens: int
    shown_tokens: int
    servers: tuple[ServerCost, ...]
    client: str = ""  # for whom `shown` counts; empty: for a client that nothing is known of


@dataclass(frozen=True)
class ApprovalSnapshot:
    """A tool call that waits for a person's yes. Texts of servers and models are made harmless."""

    id: str
    server: str
    tool: str  # the server's own name for it
    client: str
    category: str  # "read" or "write"
    arguments: str  # indented JSON, known secrets masked; cut where it is very long
    why: str  # it asks
    ends_at: float  # unix seconds; then it is refused
    choices: tuple[str, ...]  # of "once", "session", "always" (this tool) and "reads" (all of this server), those that make sense here
    project: str = ""  # path
    description: str = ""  # of the tool
    diff: tuple[str, ...] = ()  # what an edit would change: lines that begin with "+", "-" or " "
    definition_diff: tuple[str, ...] = ()  # how the definition differs from what was allowed before, in the same way
    warnings: tuple[str, ...] = ()  # what is odd in the definition: hidden characters, text that gives orders to a model
    replaces: str = ""  # the id under which this waited before its tool was defined in another way


@dataclass(frozen=True)
class GrantSnapshot:
    """A yes of a person that lasts."""

    id: str
    kind: str  # "tool" or "reads" (every tool of the server that reads)
    server: str
    tool: str = ""  # of the kind "tool": the server's own name
    client: str = ""  # for this AI client alone
    session: str = ""  # for this session alone: its id
    created_at: float = 0.0  # unix seconds
    expires_at: float = 0.0  # unix seconds; 0: it does not expire
    is_held: bool = False  # the definition of its tool, or of a tool of its server, is another one since; such tools ask again
    held_tools: tuple[str, ...] = ()  # which


@dataclass(frozen=True)
class ToolChange:
    """A tool that a person allowed, and whose definition is another one since: it asks again until a person has seen how it differs."""

    server: str
    tool: str  # the server's own name
    diff: tuple[str, ...]  # lines that begin with "+", "-" or " "
    warnings: tuple[str, ...] = ()  # as in ApprovalSnapshot


@dataclass(frozen=True)
class FeedbackAttachment:
    """A picture or a file that goes with a person's answer."""

    name: str
    mime_type: str
    data: str = ""  # base64; empty where `path` says where it is
    path: str = ""  # of a file that is too large to be sent


@dataclass(frozen=True)
class FeedbackSnapshot:
    """A report of a model that waits for a person's answer."""

    id: str
    client: str
    project_path: str  # empty where none is known
    project_name: str
    summary: str  # Markdown
    asked_at: float  # unix seconds
    ends_at: float  # unix seconds
    is_client_there: bool = True  # False: no call waits for it now, and an answer is kept for when its client asks again


@dataclass(frozen=True)
class FeedbackEntry:
    """One report of a project's history, and what was answered."""

    id: str
    project_path: str
    project_name: str
    client: str
    summary: str  # Markdown
    asked_at: float  # unix seconds
    outcome: str  # "answered", "dismissed", "expired", "withdrawn" or "waiting"
    text: str = ""
    attachments: tuple[str, ...] = ()  # names
    answered_at: float = 0.0  # unix seconds


@dataclass(frozen=True)
class MCPToolCall:
    """A tool call of a model, whichever provider's format it came in."""

    id: str  # the provider's own, or one that was made up where a format has none
    name: str  # the tool, as AI clients see it
    arguments: Mapping[str, Any]
    server: str = ""  # whose tool it is, where that is known


@dataclass(frozen=True)
class MCPToolResponse:
    """How one tool call ended.

    As an event it has no arguments and no result: these go to whoever called and to nobody else.
    """

    tool: str  # as the AI client called it
    server: str
    client: str
    outcome: str  # "ok", "error", "refused" or "cancelled"
    duration_s: float
    argument_bytes: int
    result_bytes: int
    tool_call_id: str = ""  # of the MCPToolCall that this answers; empty in events
    result: Mapping[str, Any] | None = None  # the CallToolResult; None in events


# files with servers in them


@dataclass(frozen=True)
class FileProblem:
    """What is wrong in a file with servers in it."""

    problem: Problem
    line: int = 0  # from 1; 0: the whole file, or nobody knows
    entry: str = ""  # the server of the file that is not used; empty: the file as a whole


@dataclass(frozen=True)
class FileEntrySnapshot:
    """One server of such a file."""

    name: str  # in the file
    server: str  # how it is called here; empty where it is not used
    state: str  # "used", "waits" (for a person's yes), "changed" (what was trusted goes on, the new content waits), "broken" or "off"
    line: int = 0  # from 1


@dataclass(frozen=True)
class ServerFileSnapshot:
    """One file that servers come from, as it was last read."""

    path: str  # absolute
    kind: str  # "settings", "mcp.json" (of a project), "tbxark" or "mcp-hub"
    exists: bool = True
    project: str = ""  # of a project's own file: its folder
    is_for_all: bool = True  # False: sessions that work on this project alone have its servers
    entries: tuple[FileEntrySnapshot, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    url: str = ""  # of the endpoint that the file asks for, if it is open


@dataclass(frozen=True)
class ServerEntry:
    """How a server is described where it comes from, and what that comes to. Secrets are in it as far as a person wrote them there."""

    name: str  # in its file
    entry: Mapping[str, Any] = field(repr=False)  # as it stands there
    counts: Mapping[str, Any] = field(repr=False)  # in the spelling of the settings, with what was chosen here for one of another file


@dataclass(frozen=True)
class TrustRequest:
    """An entry of a project's file that runs only after a person's yes; everything as it is written there, nothing filled in."""

    project: str  # its folder, absolute
    file: str
    entry: str  # its name in the file
    digest: str  # of the content: a yes is for this one alone
    is_change: bool  # a person said yes to another content before
    transport: str
    target: str  # command line or URL
    command: str = ""  # of a process
    host: str = ""  # of a server elsewhere
    cwd: str = ""
    secrets: tuple[str, ...] = ()  # the names of those that it would get
    variables: tuple[str, ...] = ()  # the same of the person's environment
    env: tuple[str, ...] = ()  # the variables that a process is started with besides the person's, as "NAME=value"
    headers: tuple[str, ...] = ()  # that are sent, as "Name: value"
    others: tuple[str, ...] = ()  # every other field of the entry, as "field: value"
    is_inside: bool = False  # what is started lies in the project itself
    auto_approve: tuple[str, ...] = ()  # which of its calls would go through unasked
    diff: tuple[str, ...] = ()  # against what was trusted, as far as that is known: lines that begin with "+", "-" or " "
    warnings: tuple[str, ...] = ()
    line: int = 0  # in the file, from 1


@dataclass(frozen=True)
class TrustedEntry:
    """An entry of a project's file to which a person said yes."""

    project: str
    entry: str
    server: str  # how it is called here
    trusted_at: float  # unix seconds
    is_own: bool = False  # Tooltray wrote it there itself


@dataclass(frozen=True)
class ReloadChange:
    """One thing that reading the files again would do, or did."""

    kind: str  # "add", "restart", "change" (of what runs on), "remove", "wait" (for a yes), "keep" (the file is broken) or "setting"
    name: str  # of the server, here; of a setting its path, as in "publish.naming"
    file: str  # absolute
    detail: str = ""  # in words; no secret is in it


@dataclass(frozen=True)
class RecentCall:
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


@dataclass(frozen=True)
class SettingsDocument:
    """The settings without the servers, in the spelling of the file."""

    settings: Mapping[str, Any]
    revision: str  # another one where they are others
