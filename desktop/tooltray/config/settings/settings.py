"""What the settings say, checked: models over the JSON of `settings.json`.

Above it: settings_reading, McpConfHelper, managers, expansion. Below it: server_config. Knows no file and no secret's value.

JSON keeps the users' spelling (`mcpServers`, `autoApprove`), Python is snake_case. The raw JSON stays the truth and is what is written
back; these models are a view of it, so nothing in here can lose a field. How an entry of a server is read, server_config says.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
)

from tooltray.config.secrets.vaults import SecretBackend
from tooltray.config.settings.call_rule import LONGEST_VALUE, AutoApprove, CallRules
from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.document import CURRENT_VERSION
from tooltray.config.settings.json_model import JsonModel
from tooltray.config.settings.server_config import (
    AtOnce,
    GivenMembers,
    MCPServerConfig,
    PerMinute,
    Port,
    Seconds,
    Shown,
    Target,
    plain_number,
)
from tooltray.config.settings.tool_override import Tokens, ToolOverride
from tooltray.foundation.moments import LAST_TIME_S

UnixTime = Annotated[float, BeforeValidator(plain_number), Field(ge=0, le=LAST_TIME_S, strict=True, allow_inf_nan=False)]
Mode = Literal["everything", "lazy", "search", "automatic"]
ANY_SERVER = "/"
"""Among the choices for servers of other files: for all of them. No server is called that."""
MOST_SECRET_COMMANDS = 100  # one for each key of a person's
MOST_COMMAND_WORDS = 64
SecretCommand = Annotated[
    tuple[Annotated[StrictStr, Field(max_length=LONGEST_VALUE)], ...], Field(min_length=1, max_length=MOST_COMMAND_WORDS)
]
SecretCommands = Annotated[dict[str, SecretCommand], Field(max_length=MOST_SECRET_COMMANDS)]


class ApiSettings(JsonModel):
    """What other programs may do over HTTP in a person's place; they show a token of their own.

    Attributes:
        enabled: whether they may do anything.
        trusted: of an older version, and not counted; a person is asked what to put in its place.
    """

    enabled: StrictBool = False
    trusted: StrictBool = False


class HttpSettings(JsonModel):
    """Where AI clients connect over HTTP, if they may.

    Attributes:
        port: 0: any that is free.
        require_token: whether a client has to show a token of ours; without one only on addresses of this machine itself.
        api: what other programs may do at the same address.
    """

    enabled: StrictBool = False
    host: StrictStr = "127.0.0.1"
    port: Port = 7717
    require_token: StrictBool = True
    api: ApiSettings = ApiSettings()


LONGEST_SAME_S = 300  # beyond that a yes is one for a time, and is chosen as such
SameSeconds = Annotated[int, Field(ge=0, le=LONGEST_SAME_S, strict=True)]


class ApprovalSettings(JsonModel):
    """When a person is asked about calls.

    Attributes:
        same_for_seconds: so long after a yes the same call is not asked about again; 0: each is.
        flow_guard: calls that send or publish ask first, once a session has read what strangers wrote.
    """

    same_for_seconds: SameSeconds = 0
    flow_guard: StrictBool = False


class ClientSettings(JsonModel):
    """What one kind of AI client gets, by the name that it gives itself.

    Attributes:
        mode: how tools are shown to it; None: as the servers' settings say.
        profile: that its sessions get unless they ask for another.
        auto_approve: which of its calls go through unasked, in the place of the servers' own `autoApprove` and `callRules`.
        call_rules: which further ones do, by what they are called with, in the place of the servers' own `callRules`.
        flow_guard: as in ApprovalSettings; None: as there.
        result_limit: tokens of a result that it gets at once; the smaller one counts where its server or tool has one, too.
        reads: which one its model gets of a result that says the same as text and as structured content; the other is left out.
    """

    mode: Mode | None = None
    profile: StrictStr | None = None
    auto_approve: AutoApprove | None = None
    result_limit: Tokens | None = None
    reads: Literal["text", "structured"] | None = None
    flow_guard: StrictBool | None = None
    call_rules: CallRules | None = None


class PublishSettings(JsonModel):
    """How AI clients see tools and reach us.

    Attributes:
        naming: servers' names in front of tool names only where two would be alike, or always.
        lazy_load: for every server that does not say otherwise.
        mode: for every client that has none of its own.
        feedback: whether models may report to the person and ask for an answer.
    """

    naming: Literal["conflict", "always"] = "conflict"
    http: HttpSettings = HttpSettings()
    lazy_load: StrictBool = False
    mode: Mode | None = None
    clients: Annotated[Mapping[str, ClientSettings], GivenMembers] = Field(default_factory=dict)
    feedback: StrictBool = True

    def shows_lazily(self, server: MCPServerConfig) -> bool:
        """Whether AI clients that have no mode of their own see a server's tools only when they have activated it."""
        by_default = {None: self.lazy_load, "lazy": True}.get(self.mode)
        return by_default is not None and server.is_lazy(by_default)


class ProfileSettings(JsonModel):
    """A named set of servers and tools.

    Attributes:
        servers: the only ones; None: all.
        tools: by server, the only ones of it; names are the server's own.
        skills: by server, the only skills of it: their names, or their URIs as the server has them.
    """

    servers: tuple[StrictStr, ...] | None = None
    tools: Annotated[Mapping[str, tuple[StrictStr, ...]], GivenMembers] = Field(default_factory=dict)
    skills: Annotated[Mapping[str, tuple[StrictStr, ...]], GivenMembers] = Field(default_factory=dict)
    description: Shown = ""


class SecretSettings(JsonModel):
    """Where secrets are kept; None: nobody has chosen, so the keyring of the system."""

    backend: SecretBackend | None = None


class DiscoverySettings(JsonModel):
    """Where servers are found.

    Attributes:
        registry: the address of another registry of MCP servers than the official one; `false` or an empty text: none is asked.
    """

    registry: StrictStr | StrictBool | None = None


class WindowSettings(JsonModel):
    """How the window looks, and when it is there.

    Attributes:
        theme: None: the system's.
        keeps_running: closing it hides it, where there is a tray; otherwise that ends Tooltray.
        starts_hidden: it stays away until somebody opens it from the tray.
        first_steps: somebody has just begun, and is led to a first call.
    """

    theme: Literal["light", "dark"] | None = None
    keeps_running: StrictBool = True
    starts_hidden: StrictBool = False
    first_steps: StrictBool = False


MostDays = Annotated[int, Field(gt=0, le=3650, strict=True)]
MostMegabytes = Annotated[int, Field(gt=0, le=100_000, strict=True)]


class ActivitySettings(JsonModel):
    """What the journal keeps, and for how long.

    Attributes:
        line: of each call one line of what it touched.
        contents: of each call all arguments and the result, without known secrets.
        contents_until: unix seconds; from then on no more of them are kept. None: until a person switches it off.
        contents_days: after which arguments and results are removed; the entries stay.
        days: after which entries are removed.
        megabytes: on disk; beyond that the oldest entries are removed.
    """

    line: StrictBool = True
    contents: StrictBool = False
    contents_until: Seconds | None = None
    contents_days: MostDays = 7
    days: MostDays = 30
    megabytes: MostMegabytes = 200

    def keeps_contents(self, now: float) -> bool:
        """Whether arguments and results are kept at this moment. `now`: unix seconds."""
        return self.contents and (self.contents_until is None or now < self.contents_until)


class TelemetrySettings(JsonModel):
    """Where traces of calls go.

    Attributes:
        otlp: the URL of a collector that takes OTLP over HTTP; empty: nothing is sent anywhere.
    """

    otlp: StrictStr = ""


class ResultSettings(JsonModel):
    """What is kept of large results, for a day.

    Attributes:
        megabytes: on disk; beyond that the oldest ones are removed.
    """

    megabytes: MostMegabytes = 500


class RegistryEntry(JsonModel):
    """A npm registry that a person adds to those that come with Tooltray.

    Attributes:
        name: how it is called; without one by its host.
    """

    url: StrictStr
    name: Shown = ""


class FileServerSettings(JsonModel):
    """What a person has chosen here for a server whose entry is in another file; None: as that file says.

    Attributes:
        is_default: whether it starts with the hub, or with the first session of its project.
    """

    disable: StrictBool | None = None
    auto_approve: AutoApprove | None = None
    call_rules: CallRules | None = None
    disabled_tools: tuple[StrictStr, ...] | None = None
    disabled_skills: tuple[StrictStr, ...] | None = None
    call_timeout: Seconds | None = None
    era: Literal["auto", "legacy", "modern"] | None = None
    isolation: Literal["shared", "session"] | None = None
    idle_stop: Seconds | None = None
    lazy_load: StrictBool | None = None
    result_limit: Tokens | None = None
    max_calls: AtOnce | None = None
    calls_per_minute: PerMinute | None = None
    share_reads: StrictBool | None = None
    tool_overrides: Annotated[Mapping[str, ToolOverride] | None, GivenMembers] = None
    custom_npm_registry: Target = None
    confinement: Confinement | None = None
    is_default: StrictBool | None = None

    def applied(self, config: MCPServerConfig) -> MCPServerConfig:
        """The entry with what was chosen in the place of what it says."""
        chosen = {name: getattr(self, name) for name in self.__class__.model_fields if name != "is_default"}
        return config.model_copy(update={name: value for name, value in chosen.items() if value is not None})


class Settings(JsonModel):
    """The whole file; entries that cannot be used are not in it.

    Attributes:
        secret_commands: programs with their arguments, by the names that `${secret:command:NAME}` has for them.
        auto_detect_npm_registry: whether the fastest registry is found out and used.
        paused_until: unix seconds; while `mcp_enabled` is off, when it goes on by itself; 0: when somebody says so.
        custom_npm_registry: chosen by the person; goes before the fastest.
        npm_registries: more of them to measure.
        profiles: named sets of servers and tools.
        allowed_folders: projects for which servers may be started, said by the person; absolute.
        ready_answers: to reports of models.
        hot_reload: whether files are read again as soon as somebody has changed them.
        file_servers: what was chosen here for servers whose entries are in other files, by their names here.
        discovery: where servers are found.
        language: of the window and the command line, as its catalogue is called; None: the system's.
        window: how it looks, and when it is there.
        notifications: which kinds the person has switched on or off; see notification_kinds.
        activity: what the journal keeps.
        telemetry: where traces of calls go.
        results: what is kept of large results.
        approvals: when a person is asked about calls.
    """

    version: int = CURRENT_VERSION
    mcp_servers: Mapping[str, MCPServerConfig] = Field(default_factory=dict)
    default_servers: tuple[str, ...] = ()
    mcp_enabled: bool = True
    paused_until: float = 0.0
    publish: PublishSettings = PublishSettings()
    secrets: SecretSettings = SecretSettings()
    secret_commands: Annotated[SecretCommands, GivenMembers] = Field(default_factory=dict)
    auto_detect_npm_registry: bool = True
    custom_npm_registry: str | None = None
    npm_registries: tuple[RegistryEntry, ...] = ()
    profiles: Mapping[str, ProfileSettings] = Field(default_factory=dict)
    allowed_folders: tuple[str, ...] = ()
    ready_answers: tuple[str, ...] = ()
    hot_reload: bool = True
    file_servers: Mapping[str, FileServerSettings] = Field(default_factory=dict)
    discovery: DiscoverySettings = DiscoverySettings()
    language: StrictStr | None = None
    window: WindowSettings = WindowSettings()
    notifications: Annotated[Mapping[str, StrictBool], GivenMembers] = Field(default_factory=dict)
    activity: ActivitySettings = ActivitySettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    results: ResultSettings = ResultSettings()
    approvals: ApprovalSettings = ApprovalSettings()
