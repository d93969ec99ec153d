"""The settings as models over the JSON of `settings.json`, checked.

JSON keeps the users' spelling (`mcpServers`, `autoApprove`), Python is snake_case. The raw JSON stays the truth and is what is written
back; these models are a view on it, so they cannot lose a field. server_config reads the entries of servers.
"""

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from tooltray.config.secrets.vaults import SecretBackend
from tooltray.config.settings.call_rule import LONGEST_VALUE, AutoApprove, CallRules
from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.document import CURRENT_VERSION
from tooltray.config.settings.json_kinds import After, Before, Between, Sized
from tooltray.config.settings.json_model import JsonModel, printable
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
from tooltray.foundation.languages import languages
from tooltray.foundation.loopback import is_loopback
from tooltray.foundation.moments import LAST_TIME_S
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import AccessChoice

UnixTime = Annotated[float, Before(plain_number), Between(least=0, most=LAST_TIME_S)]
Mode = Literal["everything", "lazy", "search", "automatic"]
ANY_CLIENT = "*"
"""The key of the settings for every AI client without settings of its own."""
ANY_SERVER = "/"
"""The key of the choices for all servers of other files. No server can have this name."""
MOST_SECRET_COMMANDS = 100  # one for each key of a user's
MOST_COMMAND_WORDS = 64
SecretCommand = Annotated[tuple[Annotated[str, Sized(most=LONGEST_VALUE)], ...], Sized(least=1, most=MOST_COMMAND_WORDS)]
SecretCommands = Annotated[Mapping[str, SecretCommand], Sized(most=MOST_SECRET_COMMANDS)]


class ApiSettings(JsonModel):
    """What other programs, which show a token of their own, may do over HTTP in the user's place.

    Attributes:
        enabled: whether they may do anything.
        trusted: of an older version, and ignored; the user is asked for a replacement.
    """

    enabled: bool = False
    trusted: bool = False


class HttpSettings(JsonModel):
    """Where AI clients connect over HTTP, if they may.

    Attributes:
        port: 0: any that is free.
        require_token: whether a client has to show a token of ours; false only works on addresses of this machine.
        api: what other programs may do at the same address.
    """

    enabled: bool = False
    host: str = "127.0.0.1"
    port: Port = 7717
    require_token: bool = True
    api: ApiSettings = ApiSettings()


LONGEST_LANGUAGE = 64  # characters of an unknown one that are shown
LONGEST_SAME_S = 300  # longer approvals are grants with a duration
SameSeconds = Annotated[int, Between(least=0, most=LONGEST_SAME_S)]


class ApprovalSettings(JsonModel):
    """When calls ask for approval.

    Attributes:
        same_for_seconds: seconds after an approval in which the same call runs without asking; 0: each call asks.
        flow_guard: whether calls that send or publish ask first, once a session has read what strangers wrote.
    """

    same_for_seconds: SameSeconds = 0
    flow_guard: bool = False


class ClientSettings(JsonModel):
    """The settings of one kind of AI client, by the name that it gives itself.

    Attributes:
        mode: how tools are shown to it; None: as the servers' settings define.
        profile: of its sessions, unless they request another.
        auto_approve: which of its calls run without asking, in place of the servers' own `autoApprove` and `callRules`.
        call_rules: which further calls do, by their arguments, in place of the servers' own `callRules`.
        flow_guard: as in ApprovalSettings, which counts if this is None.
        result_limit: tokens of a result that it gets at once; the smaller one counts if its server or tool has a limit, too.
        csv_tables: whether it gets tables in results as CSV; False also where the server's or the tool's settings have it.
        steps: whether it gets `run_steps`; None: as for all clients.
        reads: which one its model gets of a result that has the same content as text and as structured content; the other is left out.
    """

    mode: Mode | None = None
    profile: str | None = None
    auto_approve: AutoApprove | None = None
    result_limit: Tokens | None = None
    csv_tables: bool | None = None
    reads: Literal["text", "structured"] | None = None
    flow_guard: bool | None = None
    call_rules: CallRules | None = None
    steps: bool | None = None


class PublishSettings(JsonModel):
    """How AI clients see tools and connect.

    Attributes:
        naming: whether servers' names come before tool names only if two would be alike, or always.
        lazy_load: for every server without its own value.
        mode: for every client without its own mode.
        feedback: whether models may report to the user and ask for an answer.
        steps: whether clients get `run_steps`, which makes several calls; None: those that search tools.
    """

    naming: Literal["conflict", "always"] = "conflict"
    http: HttpSettings = HttpSettings()
    lazy_load: bool = False
    mode: Mode | None = None
    clients: Annotated[Mapping[str, ClientSettings], GivenMembers] = {}
    feedback: bool = True
    steps: bool | None = None

    def shows_lazily(self, server: MCPServerConfig) -> bool:
        """Returns whether AI clients without a mode of their own see a server's tools only once they have activated it."""
        by_default = {None: self.lazy_load, "lazy": True}.get(self.mode)
        return by_default is not None and server.is_lazy(by_default)


class ProfileSettings(JsonModel):
    """A named set of servers and tools.

    Attributes:
        servers: the only ones; None: all.
        tools: the only tools by server; names are the server's own.
        skills: the only skills by server: their names, or their URIs as the server has them.
    """

    servers: tuple[str, ...] | None = None
    tools: Annotated[Mapping[str, tuple[str, ...]], GivenMembers] = {}
    skills: Annotated[Mapping[str, tuple[str, ...]], GivenMembers] = {}
    description: Shown = ""


class SecretSettings(JsonModel):
    """Where secrets are stored; None: the user has not chosen, so in the keyring of the system."""

    backend: SecretBackend | None = None


class DiscoverySettings(JsonModel):
    """Where servers are found.

    Attributes:
        registry: the address of another registry of MCP servers than the official one; `false` or an empty text: no registry is used.
    """

    registry: str | bool | None = None


RELEASES = ""  # where the project publishes its list of releases: set it with the first one (docs/releasing.md)


def _is_release_list(address: str) -> str:
    parts = urlsplit(address)
    is_own = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if address and (not parts.hostname or "@" in parts.netloc or not (parts.scheme == "https" or is_own)):
        raise ValueError(Phrase("It begins with https://"))
    return address


class UpdateSettings(JsonModel):
    """Whether Tooltray looks for newer releases of itself, once a day.

    Attributes:
        check: None: the user has not decided, so it does not.
        address: of the list of releases: https, or http on this computer. Empty: no list is read, and the user is not asked.
    """

    check: bool | None = None
    address: Annotated[str, After(_is_release_list)] = RELEASES

    @property
    def is_on(self) -> bool:
        return bool(self.check and self.address)


class WindowSettings(JsonModel):
    """How the window looks, and when it is shown.

    Attributes:
        theme: None: the system's.
        size: of text and all else in the windows, in per cent.
        keeps_running: closing it hides it, if there is a tray; otherwise that ends Tooltray.
        starts_hidden: it stays hidden until the user opens it from the tray.
        first_steps: the user has just begun, and is led to a first call.
    """

    theme: Literal["light", "dark"] | None = None
    size: Literal[80, 90, 100, 110, 125, 150, 175, 200] = 100
    keeps_running: bool = True
    starts_hidden: bool = False
    first_steps: bool = False


MOST_DAYS = 3650
MOST_MEGABYTES = 100_000
MostDays = Annotated[int, Between(above=0, most=MOST_DAYS)]
MostMegabytes = Annotated[int, Between(above=0, most=MOST_MEGABYTES)]


class ActivitySettings(JsonModel):
    """What the journal keeps, and for how long.

    Attributes:
        line: one line for each call on what it touched.
        contents: all arguments and the result of each call, without known secrets.
        contents_until: unix seconds; from then on no further ones are kept. None: until the user switches it off.
        contents_days: days after which arguments and results are removed; the entries stay.
        days: after which entries are removed.
        megabytes: on disk; beyond that the oldest entries are removed.
    """

    line: bool = True
    contents: bool = False
    contents_until: Seconds | None = None
    contents_days: MostDays = 7
    days: MostDays = 30
    megabytes: MostMegabytes = 200

    def keeps_contents(self, now: float) -> bool:
        """Returns whether arguments and results are kept at this moment. `now`: unix seconds."""
        return self.contents and (self.contents_until is None or now < self.contents_until)


class TelemetrySettings(JsonModel):
    """Where traces of calls go.

    Attributes:
        otlp: the URL of a collector that takes OTLP over HTTP; empty: nothing is sent anywhere.
    """

    otlp: str = ""


class ResultSettings(JsonModel):
    """What is kept of large results, for a day.

    Attributes:
        megabytes: on disk; beyond that the oldest ones are removed.
    """

    megabytes: MostMegabytes = 500


class RegistryEntry(JsonModel):
    """A npm registry that the user adds to Tooltray's own.

    Attributes:
        name: shown for it; its host if empty.
    """

    url: str
    name: Shown = ""


class FileServerSettings(JsonModel):
    """What the user has chosen here for a server whose entry is in another file; None: as in that file.

    Attributes:
        is_default: whether it starts with the hub, or with the first session of its project.
    """

    disable: bool | None = None
    auto_approve: AutoApprove | None = None
    call_rules: CallRules | None = None
    disabled_tools: tuple[str, ...] | None = None
    disabled_skills: tuple[str, ...] | None = None
    call_timeout: Seconds | None = None
    era: Literal["auto", "legacy", "modern"] | None = None
    isolation: Literal["shared", "session"] | None = None
    idle_stop: Seconds | None = None
    lazy_load: bool | None = None
    result_limit: Tokens | None = None
    csv_tables: bool | None = None
    max_calls: AtOnce | None = None
    calls_per_minute: PerMinute | None = None
    tool_overrides: Annotated[Mapping[str, ToolOverride] | None, GivenMembers] = None
    custom_npm_registry: Target = None
    confinement: Confinement | None = None
    is_default: bool | None = None

    def applied(self, config: MCPServerConfig) -> MCPServerConfig:
        """Returns the entry with the choices in place of its own values."""
        chosen = {name: getattr(self, name) for name in self.model_fields if name != "is_default"}
        return config.model_copy(update={name: value for name, value in chosen.items() if value is not None})


def _without_repeats(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _is_language(code: str) -> str:
    if all(code != language.code for language in languages()):
        raise ValueError(Phrase("language '{code}' not found", code=printable(code[:LONGEST_LANGUAGE])))
    return code


class Settings(JsonModel):
    """The whole file, without unusable entries.

    Attributes:
        secret_commands: programs with their arguments, by the names that `${secret:command:NAME}` has for them.
        auto_detect_npm_registry: whether the fastest registry is detected and used.
        paused_until: unix seconds at which it resumes automatically while `mcp_enabled` is off; 0: when the user resumes it.
        custom_npm_registry: chosen by the user; takes precedence over the fastest.
        npm_registries: further ones to measure.
        profiles: named sets of servers and tools.
        allowed_folders: projects for which servers may be started, allowed by the user; absolute.
        ready_answers: to reports of models.
        hot_reload: whether files are read again as soon as they have changed.
        file_servers: what was chosen here for servers whose entries are in other files, by their names here.
        discovery: where servers are found.
        language: of the window and the command line, by the name of its catalogue; None: the system's.
        updates: whether newer releases of Tooltray are looked for.
        window: how it looks, and when it is shown.
        notifications: which kinds the user has switched on or off; see foundation/preferences.
        activity: what the journal keeps.
        telemetry: where traces of calls go.
        results: what is kept of large results.
        approvals: when calls ask for approval.
        new_servers: what a server may do that is added; None: trusted, or careful if it was found.
    """

    version: int = CURRENT_VERSION
    mcp_servers: Mapping[str, MCPServerConfig] = {}
    default_servers: Annotated[tuple[str, ...], After(_without_repeats)] = ()
    mcp_enabled: bool = True
    paused_until: UnixTime = 0.0
    publish: PublishSettings = PublishSettings()
    secrets: SecretSettings = SecretSettings()
    secret_commands: Annotated[SecretCommands, GivenMembers] = {}
    auto_detect_npm_registry: bool = True
    custom_npm_registry: Target = None
    npm_registries: tuple[RegistryEntry, ...] = ()
    profiles: Annotated[Mapping[str, ProfileSettings], GivenMembers] = {}
    allowed_folders: tuple[str, ...] = ()
    ready_answers: tuple[str, ...] = ()
    hot_reload: bool = True
    file_servers: Annotated[Mapping[str, FileServerSettings], GivenMembers] = {}
    discovery: DiscoverySettings = DiscoverySettings()
    language: Annotated[str, After(_is_language)] | None = None
    updates: UpdateSettings = UpdateSettings()
    window: WindowSettings = WindowSettings()
    notifications: Annotated[Mapping[str, bool], GivenMembers] = {}
    activity: ActivitySettings = ActivitySettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    results: ResultSettings = ResultSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    new_servers: AccessChoice | None = None
