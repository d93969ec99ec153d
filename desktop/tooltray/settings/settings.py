"""What the settings say, checked: models over the JSON of `settings.json`.

Above it: McpConfHelper, managers, expansion. Below it: server_config, document. Knows no file and no secret's value.

JSON keeps the users' spelling (`mcpServers`, `autoApprove`), Python is snake_case. The raw JSON stays the truth and is what is written
back; these models are a view of it, so nothing in here can lose a field. How an entry of a server is read, server_config says.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from tooltray.errors import Problem, TooltrayError
from tooltray.languages import languages
from tooltray.moments import LAST_TIME_S
from tooltray.phrases import Phrase
from tooltray.secrets.vaults import SecretBackend
from tooltray.settings.call_rule import AutoApprove, CallRules, read_rules
from tooltray.settings.confinement import Confinement
from tooltray.settings.document import CURRENT_VERSION, Document, version_of
from tooltray.settings.json_model import JsonModel
from tooltray.settings.server_config import AtOnce, GivenMembers, MCPServerConfig, PerMinute, Port, Seconds, Shown, Target, plain_number
from tooltray.settings.tool_override import Tokens, ToolOverride
from tooltray.settings.usable import (
    CORRECT_IT,
    MUST_BE_OBJECT,
    Path,
    Slip,
    correct_it,
    first_path,
    in_words,
    joined,
    not_fully_used,
    not_used,
    of_field,
    of_member,
    printable,
    read_fields,
    read_members,
    read_texts,
)

BUILTIN_NAMES = ("hub",)
"""Names of the servers that come with Tooltray; no entry may have one."""
MAX_NAME_LENGTH = 64  # a name becomes a part of file names, keyring entries and tool names
FORBIDDEN_IN_NAMES = "/{}"  # `${secret:NAME/KEY}` has to find its parts again
UnixTime = Annotated[float, BeforeValidator(plain_number), Field(ge=0, le=LAST_TIME_S, strict=True, allow_inf_nan=False)]
Mode = Literal["everything", "lazy", "search", "automatic"]

Default = TypeVar("Default")

UNREADABLE_PROFILE = "(cannot be read)"
"""Of an AI client whose profile is no text. There is no profile of this name, and in one that there is not is nothing."""

_NO_CONTENTS = Phrase("the journal keeps no arguments and no results")
_MEANWHILE = {
    "http": Phrase("AI clients cannot connect over HTTP"),
    "line": Phrase("the journal does not keep what calls touched"),
    "contents": _NO_CONTENTS,
    "contentsUntil": _NO_CONTENTS,
    "flowGuard": Phrase("the flow guard is on"),
}
NOTHING_BY_THEM = Phrase("these rules allow nothing")
_HELD = {
    "autoApprove": Phrase("each of its calls is asked about"),
    "callRules": NOTHING_BY_THEM,
    "profile": Phrase("it sees nothing"),
    "flowGuard": Phrase("the flow guard is on for it"),
}
_NOT_STARTED = Phrase("it does not start")
ANY_SERVER = "/"
"""Among the choices for servers of other files: for all of them. No server is called that."""


SecretCommand = Annotated[tuple[StrictStr, ...], Field(min_length=1)]


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
    secret_commands: Annotated[Mapping[str, SecretCommand], GivenMembers] = Field(default_factory=dict)
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


class Reading(msgspec.Struct, frozen=True):
    """What a document says, and what of it cannot be used."""

    settings: Settings = msgspec.field(default_factory=Settings)
    slips: tuple[Slip, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong, without where."""
        return tuple(slip.problem for slip in self.slips)


class UnusableEntry(TooltrayError):
    """An entry of a server cannot be used.

    Attributes:
        path: of what is wrong with it; empty: the whole.
    """

    def __init__(self, title: str, message: str, hint: str, *, path: Path) -> None:
        super().__init__(title, message, hint)
        self.path = path


def check_name(name: str, reserved: Collection[str]) -> None:
    """Says whether a server may be called that.

    Raises:
        TooltrayError: it may not; says why.
    """
    if name in reserved:
        reason: str = Phrase("this is the name of a server that comes with Tooltray")
    elif not 0 < len(name) <= MAX_NAME_LENGTH:
        reason = Phrase("a name has 1 to {most} characters, this one has {count}", most=MAX_NAME_LENGTH, count=len(name))
    elif not name.isprintable() or name != name.strip() or any(character in name for character in FORBIDDEN_IN_NAMES):
        reason = Phrase("a name has letters, digits, signs and inner spaces, but no '/', '{brace}' or '{closing}'", brace="{", closing="}")
    else:
        return
    raise TooltrayError(Phrase("'{name}' cannot be the name of a server", name=_printable(name)), reason, Phrase("Choose another name"))


def read_entry(name: str, entry: object) -> MCPServerConfig:
    """One entry, checked.

    Raises:
        UnusableEntry: says which field and why, and quotes no value.
    """
    try:
        return MCPServerConfig.model_validate(entry)
    except ValidationError as error:
        title = Phrase("The entry of server '{server}' cannot be used", server=name)
        raise UnusableEntry(title, in_words(error), CORRECT_IT, path=first_path(error)) from None


def read_given_entry(name: str, entry: object) -> MCPServerConfig:
    """One entry of anything but the settings' own file: a project's file, REST, an import, a link, a bundle, a proposal.

    Raises:
        UnusableEntry: says why; also of a server in memory, which a person alone adds.
    """
    config = read_entry(name, entry)
    check_runs_outside(name, config)
    return config


def check_runs_outside(name: str, config: MCPServerConfig) -> None:
    """
    Raises:
        UnusableEntry: it would run inside Tooltray.
    """
    if config.transport == "inmemory":
        title = Phrase("'{name}' cannot be added from here: it would run inside Tooltray and could read every secret", name=name)
        raise UnusableEntry(title, "", Phrase("Add it yourself, at a terminal: tooltray servers add NAME --inmemory ENTRY"), path=("type",))


def read_usable_entry(name: str, entry: object) -> tuple[MCPServerConfig, Mapping[str, Problem]]:
    """One entry without those of its overrides and rules on arguments that cannot be used: these are no reason to lose a server.

    Returns:
        It, and what of it is not used, by the members of the entry.

    Raises:
        UnusableEntry: the rest cannot be used, either.
    """
    if not isinstance(entry, Mapping):
        return read_entry(name, entry), {}
    usable, problems = dict(entry), dict[str, Problem]()
    if (overrides := entry.get("toolOverrides")) is not None:
        usable["toolOverrides"], odd = _usable_overrides(overrides)
        if odd:
            title = Phrase("The overrides of tools of server '{server}' are not fully used", server=name)
            problems["toolOverrides"] = Problem(title, joined(odd), CORRECT_IT)
    if (rules := entry.get("callRules")) is not None:
        usable["callRules"], odd = read_rules(rules)
        if odd:
            title = Phrase("The rules on arguments of server '{server}' are not fully used", server=name)
            problems["callRules"] = Problem(title, joined(odd), correct_it(NOTHING_BY_THEM))
    return read_entry(name, usable), problems


def _usable_overrides(given: object) -> tuple[Mapping[str, object], list[str]]:
    if not isinstance(given, Mapping):
        return {}, [of_field("toolOverrides", MUST_BE_OBJECT)]
    odd: list[str] = []
    read = read_members(ToolOverride, given, lambda _, why: odd.append(of_member("toolOverrides", why)))
    return {tool: given[tool] for tool in read}, odd


def read_settings(document: Document, reserved: Collection[str] = ()) -> Reading:
    """Reads a document as far as it can be used.

    Args:
        document: the parsed file, of any version up to now or newer.
        reserved: names of servers that come with Tooltray.
    """
    slips: list[Slip] = []
    settings = Settings(
        version=version_of(document),
        mcp_servers=_read_servers(document.get("mcpServers"), reserved, slips),
        default_servers=_read_defaults(document.get("defaultServers"), slips),
        mcp_enabled=_read_part(document, "mcpEnabled", StrictBool, True, slips),
        paused_until=_read_part(document, "pausedUntil", UnixTime, 0.0, slips),
        publish=_read_publish(document.get("publish"), slips),
        secrets=_read_part(document, "secrets", SecretSettings, SecretSettings(), slips),
        secret_commands=_read_part(document, "secretCommands", dict[str, SecretCommand], {}, slips),
        auto_detect_npm_registry=_read_part(document, "autoDetectNpmRegistry", StrictBool, True, slips),
        custom_npm_registry=_read_part(document, "customNpmRegistry", Target, None, slips),
        npm_registries=_read_part(document, "npmRegistries", tuple[RegistryEntry, ...], (), slips),
        profiles=_read_profiles(document.get("profiles"), slips),
        allowed_folders=read_texts("allowedFolders", document.get("allowedFolders"), slips),
        ready_answers=read_texts("readyAnswers", document.get("readyAnswers"), slips),
        hot_reload=_read_part(document, "hotReload", StrictBool, True, slips),
        file_servers=_read_file_servers(document.get("fileServers"), slips),
        discovery=_read_part(document, "discovery", DiscoverySettings, DiscoverySettings(), slips),
        language=_read_language(document, slips),
        window=_read_part(document, "window", WindowSettings, WindowSettings(), slips),
        notifications=_read_part(document, "notifications", dict[str, StrictBool], {}, slips),
        activity=_read_activity(document.get("activity"), slips),
        telemetry=_read_part(document, "telemetry", TelemetrySettings, TelemetrySettings(), slips),
        results=_read_part(document, "results", ResultSettings, ResultSettings(), slips),
        approvals=_read_approvals(document.get("approvals"), slips),
    )
    return Reading(settings, tuple(slips))


def _read_servers(entries: object, reserved: Collection[str], slips: list[Slip]) -> dict[str, MCPServerConfig]:
    if entries is None:
        return {}
    if not isinstance(entries, dict):
        slips.append(_no_object("mcpServers"))
        return {}
    servers = {}
    for name, entry in entries.items():
        try:
            check_name(name, reserved)
            servers[name], odd = read_usable_entry(name, entry)
            slips.extend(Slip(problem, ("mcpServers", name, member)) for member, problem in odd.items())
        except TooltrayError as error:
            path = error.path if isinstance(error, UnusableEntry) else ()
            slips.append(Slip(error.problem, ("mcpServers", name, *path), name))
    return servers


def _no_object(key: str, meanwhile: str = "") -> Slip:
    return not_used(key, of_field(key, MUST_BE_OBJECT), meanwhile)


def _read_publish(given: object, slips: list[Slip]) -> PublishSettings:
    if given is None:
        return PublishSettings()
    if not isinstance(given, Mapping):
        slips.append(_no_object("publish"))
        return PublishSettings()
    publish, odd = read_fields(PublishSettings, {key: value for key, value in given.items() if key != "clients"})
    for field_name, why in odd.items():
        slips.append(not_used(f"publish.{field_name}", of_field("publish", joined(why)), _MEANWHILE.get(field_name, "")))
    if given.get("clients") is None:
        return publish
    return publish.model_copy(update={"clients": _read_clients(given["clients"], slips)})


def _read_activity(given: object, slips: list[Slip]) -> ActivitySettings:
    """By a slip in them the journal may keep less than its writer meant, and never more."""
    if given is None:
        return ActivitySettings()
    if not isinstance(given, Mapping):
        slips.append(_no_object("activity", _MEANWHILE["line"]))
        return ActivitySettings(line=False)
    activity, odd = read_fields(ActivitySettings, given)
    fields = {to_camel(key) for key in odd}
    for key, why in odd.items():
        slips.append(not_used(f"activity.{key}", of_field("activity", joined(why)), _MEANWHILE.get(key, "")))
    less = {"line": False} if "line" in fields else {}
    return activity.model_copy(update=less | ({"contents": False} if fields & {"contents", "contentsUntil"} else {}))


def _read_approvals(given: object, slips: list[Slip]) -> ApprovalSettings:
    """By a slip in it more is asked about than its writer meant, and never less."""
    if given is None:
        return ApprovalSettings()
    if not isinstance(given, Mapping):
        slips.append(_no_object("approvals", _MEANWHILE["flowGuard"]))
        return ApprovalSettings(flow_guard=True)
    approvals, odd = read_fields(ApprovalSettings, given)
    for key, why in odd.items():
        slips.append(not_used(f"approvals.{key}", of_field("approvals", joined(why)), _MEANWHILE.get(key, "")))
    return approvals.model_copy(update={"flow_guard": True}) if "flowGuard" in {to_camel(key) for key in odd} else approvals


def _read_clients(given: object, slips: list[Slip]) -> dict[str, ClientSettings]:
    if not isinstance(given, Mapping):
        slips.append(not_used("publish.clients", of_field("publish", of_field("clients", MUST_BE_OBJECT))))
        return {}
    return {name: _read_client(name, value, slips) for name, value in given.items() if value is not None}


def _read_client(name: str, given: object, slips: list[Slip]) -> ClientSettings:
    """What of an entry can be used. By a slip in it no client may do or see more than its writer meant: what held it back holds it all."""
    if isinstance(given, Mapping):
        client, odd = read_fields(ClientSettings, given)
        fields, why = {to_camel(key) for key in odd}, [of_member(f"clients.{name}", each) for reasons in odd.values() for each in reasons]
    else:
        client, fields, why = ClientSettings(), {"autoApprove"}, [of_field(f"clients.{name}", MUST_BE_OBJECT)]
        odd = {}
    if fields:
        title = Phrase("The settings of AI client '{client}' are not fully used", client=_printable(name))
        problem = Problem(title, of_field("publish", joined(why)), correct_it(_held_back(fields)))
        slips.append(Slip(problem, ("publish", "clients", name, *list(odd)[:1])))
    held: dict[str, object] = {"auto_approve": ()} if "autoApprove" in fields else {}
    held |= {"flow_guard": True} if "flowGuard" in fields else {}
    held |= {"call_rules": ()} if "callRules" in fields else {}
    return client.model_copy(update=held | ({"profile": UNREADABLE_PROFILE} if "profile" in fields else {}))


def _held_back(fields: Collection[str]) -> str:
    words: list[str] = [words for field_name, words in _HELD.items() if field_name in fields]
    text = words[0] if words else ""
    for other in words[1:]:
        text = Phrase("{one} and {other}", one=text, other=other)
    return text


def _read_profiles(given: object, slips: list[Slip]) -> dict[str, ProfileSettings]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        slips.append(_no_object("profiles", Phrase("AI clients that have a profile see nothing")))
        return {}

    def report(name: str, why: str) -> None:
        hint = correct_it(Phrase("AI clients that have it see nothing"))
        title = Phrase("The profile '{profile}' cannot be used", profile=_printable(name))
        slips.append(Slip(Problem(title, of_field("profiles", why), hint), ("profiles", name)))

    return read_members(ProfileSettings, given, report)


def _read_file_servers(given: object, slips: list[Slip]) -> dict[str, FileServerSettings]:
    """By a slip in them no call may go through unasked, and no server be more open: of a server whose choices cannot be read each call is
    asked about, and one whose confinement cannot be read does not start."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        slips.append(_no_object("fileServers", Phrase("servers of other files do not start") if given else ""))
        return {ANY_SERVER: FileServerSettings(auto_approve=(), disable=True)} if given else {}
    held: dict[str, FileServerSettings] = {}

    def report(name: str, why: str) -> None:
        held[name] = _held_choices(given[name])
        meanwhile = _NOT_STARTED if held[name].disable else _HELD["autoApprove"]
        title = Phrase("What was chosen for the server '{server}' cannot be used", server=_printable(name))
        slips.append(Slip(Problem(title, of_field("fileServers", why), correct_it(meanwhile)), ("fileServers", name)))

    return read_members(FileServerSettings, given, report) | held


def _held_choices(given: object) -> FileServerSettings:
    if not isinstance(given, Mapping):
        return FileServerSettings(auto_approve=(), disable=True)
    chosen, odd = read_fields(FileServerSettings, given)
    return FileServerSettings(auto_approve=(), confinement=chosen.confinement, disable="confinement" in odd or None)


def _printable(name: str) -> str:
    return printable(name[:MAX_NAME_LENGTH])


def _read_defaults(names: object, slips: list[Slip]) -> tuple[str, ...]:
    if names is None:
        return ()
    usable = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    if not isinstance(names, list) or len(usable) < len(names):
        message = of_field("defaultServers", Phrase("must be a list of names"))
        slips.append(Slip(Problem(not_fully_used("defaultServers"), message, CORRECT_IT), ("defaultServers",)))
    return tuple(dict.fromkeys(usable))


def _read_language(document: Document, slips: list[Slip]) -> str | None:
    code: str | None = _read_part(document, "language", StrictStr, None, slips)
    if code is None or any(code == language.code for language in languages()):
        return code
    slips.append(not_used("language", of_field("language", Phrase("there is no language '{code}'", code=_printable(code)))))
    return None


def _read_part(document: Document, key: str, kind: Any, default: Default, slips: list[Slip]) -> Default:
    if document.get(key) is None:
        return default
    try:
        value: Default = TypeAdapter(kind).validate_python(document[key])
        return value
    except ValidationError as error:
        slips.append(not_used(key, of_field(key, in_words(error)), path=(key, *first_path(error))))
        return default
