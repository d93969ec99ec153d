"""What the settings say, checked: models over the JSON of `settings.json`.

Above it: McpConfHelper, managers, expansion. Below it: migrations (for the version). Knows no file and no secret's value.

JSON keeps the users' spelling (`mcpServers`, `autoApprove`), Python is snake_case. The raw JSON stays the truth and is what is written
back; these models are a view of it, so nothing in here can lose a field. Where an entry can be read in several ways, what its writer meant
counts:

- `null` means "not given", for every field.
- Numbers and `true`/`false` in `args`, `env` and headers become strings in their JSON spelling; a variable that is `null` is left out.
- An empty `command` or URL counts as not given (other programs write `"command": ""` beside a URL).
- `streamable-http` and its relatives are `http`.
- A `type` that is given decides; then a command beside a URL is allowed, and unused.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StrictBool,
    StrictStr,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from tooltray.config.migrations import CURRENT_VERSION, Document, version_of
from tooltray.config.usable import CORRECT_IT, in_words, not_used, read_fields, read_members, read_texts
from tooltray.errors import Problem, TooltrayError

MAX_NAME_LENGTH = 64  # a name becomes a part of file names, keyring entries and tool names
FORBIDDEN_IN_NAMES = "/{}"  # `${secret:NAME/KEY}` has to find its parts again

Transport = Literal["stdio", "http", "sse", "inmemory"]
SecretBackend = Literal["keyring", "file", "memory"]
Mode = Literal["everything", "lazy", "search", "automatic"]

# fields that other programs spell in another way; the first spelling is ours
SPELLINGS: Mapping[str, tuple[str, ...]] = {"base_url": ("baseUrl", "url"), "custom_headers": ("customHeaders", "headers")}

UNREADABLE_PROFILE = "(cannot be read)"
"""Of an AI client whose profile is no text. There is no profile of this name, and in one that there is not is nothing."""

_MEANWHILE = {"http": "AI clients cannot connect over HTTP"}
_HELD = {"autoApprove": "each of its calls is asked about", "profile": "it sees nothing"}
_OTHER_OAUTH = {"callbackPort": "redirectPort", "scope": "scopes"}
_OTHER_TYPES = {"streamable-http": "http", "streamable_http": "http", "streamableHttp": "http"}


def _without_null(value: Any) -> Any:
    return {key: member for key, member in value.items() if member is not None} if isinstance(value, Mapping) else value


def _as_written(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _blank_is_absent(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _our_type(value: Any) -> Any:
    return _OTHER_TYPES.get(value, value) if isinstance(value, str) else value


def _split(value: Any) -> Any:
    return tuple(value.split()) if isinstance(value, str) else value


def _text_or_nothing(value: Any) -> Any:
    return value if isinstance(value, str) else ""


def _plain_number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


Word = Annotated[StrictStr, BeforeValidator(_as_written)]
Words = Annotated[Mapping[str, Word], BeforeValidator(_without_null), Field(repr=False)]  # people type keys into these
GivenMembers = BeforeValidator(_without_null)
Target = Annotated[StrictStr | None, BeforeValidator(_blank_is_absent)]
Shown = Annotated[str, BeforeValidator(_text_or_nothing)]  # an odd icon is no reason to lose a server

Port = Annotated[int, Field(ge=0, le=65535, strict=True)]
Seconds = Annotated[float, BeforeValidator(_plain_number), Field(gt=0, strict=True, allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        return _without_null(data)


class ToolFilter(_Model):
    """Which of a server's tools are published: only those in the list, or all but those. Names are the server's own."""

    mode: Literal["allow", "block"]
    list: tuple[StrictStr, ...] = ()


class OAuthSettings(_Model):
    """How to sign in to a server elsewhere, where that cannot be found out. Placeholders in it are not expanded.

    What other programs write is taken, too: `true` and `false` alone, `callbackPort`, and scopes as one text with spaces between them.

    Attributes:
        enabled: whether anybody signs in at all; without it a server that asks for it is in error.
        client_id: of a client that was registered by hand; without it one registers itself.
        client_secret: of such a client; a placeholder like `${secret:NAME}`.
        scopes: what to ask for; without them, what the server says it wants.
        grant: who signs in: the person, in a browser, or this client by itself with its secret.
        issuer: the authorization server, where the server does not say which.
        redirect_port: of the address that the browser comes back to; 0: any that is free.
    """

    enabled: StrictBool = True
    client_id: Target = None
    client_secret: Annotated[Target, Field(repr=False)] = None
    scopes: Annotated[tuple[StrictStr, ...], BeforeValidator(_split)] = ()
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    issuer: Target = None
    redirect_port: Port = 0

    @model_validator(mode="before")
    @classmethod
    def _read_spellings(cls, data: Any) -> Any:
        if isinstance(data, bool):
            return {"enabled": data}
        given = _OTHER_OAUTH.keys() & data.keys() if isinstance(data, Mapping) else ()
        theirs = {_OTHER_OAUTH[name]: data[name] for name in given}
        return theirs | {name: value for name, value in data.items() if name not in given} if given else data

    @model_validator(mode="after")
    def _can_sign_in(self) -> Self:
        if self.grant == "client_credentials" and not (self.client_id and self.client_secret):
            raise ValueError("the grant client_credentials needs clientId and clientSecret")
        if self.client_secret and not self.client_id:
            raise ValueError("clientSecret needs clientId")
        return self


class ToolOverride(_Model):
    """How one tool is shown to AI clients, in the place of its own words."""

    name: Target = None
    description: StrictStr | None = None


class ServerOptions(_Model):
    """`options` of an entry, as another program has them."""

    lazy_load: StrictBool | None = None


class MCPServerConfig(_Model):
    """One entry of `mcpServers`. Placeholders in it are not expanded.

    Attributes:
        call_timeout: seconds without progress after which a call is given up; None: the hub's own limit.
        auto_approve: which calls go through unasked: rules, or names of tools; tools/approval.py says which.
        disable: never start this server.
        isolation: one copy for all AI clients, or one for each AI client's session.
        idle_stop: seconds without a call after which a server that does not start with the hub is stopped again; None: never.
        direct_start: whether a package that npx or uvx has unpacked already is started without them.
        custom_npm_registry: where this server's packages come from, in the place of the registry for all.
        oauth: how to sign in, where that cannot be found out.
        lazy_load: whether AI clients see its tools only when they have activated it; None: as `publish.lazyLoad` says.
        options: `lazyLoad` may stand in here, too.
        deferred_startup: starts when a project is known, one copy for each.
        startup_args_template: of a deferred server, in the place of `args`.
        tool_overrides: by the server's own name for a tool.
    """

    command: Target = None
    args: tuple[Word, ...] = ()
    env: Words = Field(default_factory=dict)
    cwd: Target = None
    type: Annotated[Transport | None, BeforeValidator(_our_type)] = None
    base_url: Target = None
    custom_headers: Words = Field(default_factory=dict)
    auto_approve: tuple[StrictStr, ...] = ("read",)
    icons: Shown = ""
    descriptions: Shown = ""
    disable: StrictBool = False
    call_timeout: Seconds | None = None
    tool_filter: ToolFilter | None = None
    disabled_tools: tuple[StrictStr, ...] = ()
    isolation: Literal["shared", "session"] = "shared"
    idle_stop: Seconds | None = None
    direct_start: StrictBool = True
    custom_npm_registry: Target = None
    oauth: OAuthSettings | None = None
    lazy_load: StrictBool | None = None
    options: ServerOptions = ServerOptions()
    deferred_startup: StrictBool = False
    startup_args_template: tuple[Word, ...] | None = None
    tool_overrides: Annotated[Mapping[str, ToolOverride], GivenMembers] = Field(default_factory=dict)

    _spelled: dict[str, str] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _read_spellings(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        ours, spelled = dict(data), {}
        for name, spellings in SPELLINGS.items():
            given = {spelling: ours.pop(spelling) for spelling in spellings if data.get(spelling) is not None}
            if len({json.dumps(value, sort_keys=True, default=str) for value in given.values()}) > 1:
                raise ValueError(f"{' and '.join(given)} differ; keep one of them")
            for spelling in given:
                ours[spellings[0]], spelled[name] = given[spelling], spelling
        config = handler(ours)
        config._spelled.update(spelled)
        return config

    @model_validator(mode="after")
    def _can_be_started(self) -> Self:
        reason = _why_not_started(self) or next(_why_no_process(self), "")
        if reason:
            raise ValueError(reason)
        return self

    @property
    def transport(self) -> Transport:
        """How the server is reached: what `type` says, else what the entry looks like."""
        return self.type or ("stdio" if self.command else "http")

    @property
    def template(self) -> tuple[str, ...]:
        """The arguments of a deferred server, the project's placeholders in them."""
        return self.args if self.startup_args_template is None else self.startup_args_template

    @property
    def arguments(self) -> tuple[str, ...]:
        """What it is started with, the project's placeholders in it if it waits for one."""
        return self.template if self.deferred_startup else self.args

    def is_lazy(self, by_default: bool) -> bool:
        """Whether AI clients see its tools only when they have activated it; `by_default`: what counts where it does not say."""
        own = self.options.lazy_load if self.lazy_load is None else self.lazy_load
        return by_default if own is None else own

    @property
    def target(self) -> str:
        """The command line, quoted for a shell, or the URL as it may be shown; what a person recognises the server by."""
        if self.command and self.transport not in ("http", "sse"):
            return shlex.join([self.command, *self.arguments])
        return shown_url(self.base_url or "")

    def to_entry(self) -> dict[str, Any]:
        """The entry as it goes into the file: what was given, in the spelling it was given in."""
        entry = self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
        spellings = {SPELLINGS[name][0]: spelling for name, spelling in self._spelled.items()}
        return {spellings.get(key, key): value for key, value in entry.items()}


class HttpSettings(_Model):
    """Where AI clients connect over HTTP, if they may.

    Attributes:
        port: 0: any that is free.
        require_token: whether a client has to show a token of ours; without one only on addresses of this machine itself.
    """

    enabled: StrictBool = False
    host: StrictStr = "127.0.0.1"
    port: Port = 7717
    require_token: StrictBool = True


class ClientSettings(_Model):
    """What one kind of AI client gets, by the name that it gives itself.

    Attributes:
        mode: how tools are shown to it; None: as the servers' settings say.
        profile: that its sessions get unless they ask for another.
        auto_approve: which of its calls go through unasked, in the place of the servers' own `autoApprove`.
    """

    mode: Mode | None = None
    profile: StrictStr | None = None
    auto_approve: tuple[StrictStr, ...] | None = None


class PublishSettings(_Model):
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


class ProfileSettings(_Model):
    """A named set of servers and tools.

    Attributes:
        servers: the only ones; None: all.
        tools: by server, the only ones of it; names are the server's own.
    """

    servers: tuple[StrictStr, ...] | None = None
    tools: Annotated[Mapping[str, tuple[StrictStr, ...]], GivenMembers] = Field(default_factory=dict)
    description: Shown = ""


class SecretSettings(_Model):
    """Where secrets are kept; None: nobody has chosen, so the keyring of the system."""

    backend: SecretBackend | None = None


class RegistryEntry(_Model):
    """A npm registry that a person adds to those that come with Tooltray.

    Attributes:
        name: how it is called; without one by its host.
    """

    url: StrictStr
    name: Shown = ""


class Settings(_Model):
    """The whole file; entries that cannot be used are not in it.

    Attributes:
        auto_detect_npm_registry: whether the fastest registry is found out and used.
        custom_npm_registry: chosen by the person; goes before the fastest.
        npm_registries: more of them to measure.
        profiles: named sets of servers and tools.
        allowed_folders: projects for which servers may be started, said by the person; absolute.
        ready_answers: to reports of models.
    """

    version: int = CURRENT_VERSION
    mcp_servers: Mapping[str, MCPServerConfig] = Field(default_factory=dict)
    default_servers: tuple[str, ...] = ()
    mcp_enabled: bool = True
    publish: PublishSettings = PublishSettings()
    secrets: SecretSettings = SecretSettings()
    auto_detect_npm_registry: bool = True
    custom_npm_registry: str | None = None
    npm_registries: tuple[RegistryEntry, ...] = ()
    profiles: Mapping[str, ProfileSettings] = Field(default_factory=dict)
    allowed_folders: tuple[str, ...] = ()
    ready_answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What a document says, and what of it cannot be used."""

    settings: Settings = field(default_factory=Settings)
    problems: tuple[Problem, ...] = ()


def config_hash(config: MCPServerConfig) -> str:
    """The same for two configs exactly when the same program runs in the same way; values of placeholders do not count."""
    parts: tuple[Any, ...] = (
        *(config.transport, config.command, config.args, dict(config.env), config.cwd, config.base_url, dict(config.custom_headers)),
    )
    if config.custom_npm_registry:  # what was added later counts where it is used: what is known of all other servers stays known
        parts += (config.custom_npm_registry,)
    if config.oauth:
        parts += (config.oauth.model_dump(mode="json"),)
    if config.deferred_startup:
        parts += ("deferred", config.template)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def shown_url(url: str) -> str:
    """A URL without user name, password, query and fragment: keys stand in those."""
    return re.split("[?#]", re.sub(r"(?<=://)[^/?#]*@", "", url), maxsplit=1)[0]


def check_name(name: str, reserved: Collection[str]) -> None:
    """Says whether a server may be called that.

    Raises:
        TooltrayError: it may not; says why.
    """
    if name in reserved:
        reason = "this is the name of a server that comes with Tooltray"
    elif not 0 < len(name) <= MAX_NAME_LENGTH:
        reason = f"a name has 1 to {MAX_NAME_LENGTH} characters, this one has {len(name)}"
    elif not name.isprintable() or name != name.strip() or any(character in name for character in FORBIDDEN_IN_NAMES):
        reason = "a name has letters, digits, signs and inner spaces, but no '/', '{' or '}'"
    else:
        return
    raise TooltrayError(f"'{_printable(name)}' cannot be the name of a server", reason, "Choose another name")


def read_entry(name: str, entry: Any) -> MCPServerConfig:
    """One entry, checked.

    Raises:
        TooltrayError: it cannot be used; says which field and why, and quotes no value.
    """
    try:
        return MCPServerConfig.model_validate(entry)
    except ValidationError as error:
        raise TooltrayError(f"The entry of server '{name}' cannot be used", in_words(error), "Correct it in settings.json") from None


def read_usable_entry(name: str, entry: Any) -> tuple[MCPServerConfig, tuple[Problem, ...]]:
    """One entry without those of its overrides that cannot be used: how a tool is shown is no reason to lose a server.

    Raises:
        TooltrayError: the rest cannot be used, either.
    """
    overrides = entry.get("toolOverrides") if isinstance(entry, Mapping) else None
    if overrides is None:
        return read_entry(name, entry), ()
    odd: list[str] = []
    usable: dict[str, Any] = {}
    if isinstance(overrides, Mapping):
        read = read_members(ToolOverride, overrides, lambda _, why: odd.append(f"toolOverrides.{why}"))
        usable = {tool: overrides[tool] for tool in read}
    else:
        odd.append("toolOverrides: must be an object")
    config = read_entry(name, {**entry, "toolOverrides": usable})
    title = f"The overrides of tools of server '{name}' are not fully used"
    return config, (Problem(title, "; ".join(odd), CORRECT_IT),) if odd else ()


def read_settings(document: Document, reserved: Collection[str] = ()) -> Reading:
    """Reads a document as far as it can be used.

    Args:
        document: the parsed file, of any version up to now or newer.
        reserved: names of servers that come with Tooltray.
    """
    problems: list[Problem] = []
    settings = Settings(
        version=version_of(document),
        mcp_servers=_read_servers(document.get("mcpServers"), reserved, problems),
        default_servers=_read_defaults(document.get("defaultServers"), problems),
        mcp_enabled=_read_part(document, "mcpEnabled", StrictBool, True, problems),
        publish=_read_publish(document.get("publish"), problems),
        secrets=_read_part(document, "secrets", SecretSettings, SecretSettings(), problems),
        auto_detect_npm_registry=_read_part(document, "autoDetectNpmRegistry", StrictBool, True, problems),
        custom_npm_registry=_read_part(document, "customNpmRegistry", Target, None, problems),
        npm_registries=_read_part(document, "npmRegistries", tuple[RegistryEntry, ...], (), problems),
        profiles=_read_profiles(document.get("profiles"), problems),
        allowed_folders=read_texts("allowedFolders", document.get("allowedFolders"), problems),
        ready_answers=read_texts("readyAnswers", document.get("readyAnswers"), problems),
    )
    return Reading(settings, tuple(problems))


def _read_servers(entries: Any, reserved: Collection[str], problems: list[Problem]) -> dict[str, MCPServerConfig]:
    if entries is None:
        return {}
    if not isinstance(entries, dict):
        problems.append(not_used("mcpServers", "mcpServers: must be an object"))
        return {}
    servers = {}
    for name, entry in entries.items():
        try:
            check_name(name, reserved)
            servers[name], odd = read_usable_entry(name, entry)
            problems.extend(odd)
        except TooltrayError as error:
            problems.append(error.problem)
    return servers


def _read_publish(given: Any, problems: list[Problem]) -> PublishSettings:
    if given is None:
        return PublishSettings()
    if not isinstance(given, Mapping):
        problems.append(not_used("publish", "publish: must be an object"))
        return PublishSettings()
    publish, odd = read_fields(PublishSettings, {key: value for key, value in given.items() if key != "clients"})
    for field_name, why in odd.items():
        problems.append(not_used(f"publish.{field_name}", f"publish: {'; '.join(why)}", _MEANWHILE.get(field_name, "")))
    if given.get("clients") is None:
        return publish
    return publish.model_copy(update={"clients": _read_clients(given["clients"], problems)})


def _read_clients(given: Any, problems: list[Problem]) -> dict[str, ClientSettings]:
    if not isinstance(given, Mapping):
        problems.append(not_used("publish.clients", "publish: clients: must be an object"))
        return {}
    return {name: _read_client(name, value, problems) for name, value in given.items() if value is not None}


def _read_client(name: str, given: Any, problems: list[Problem]) -> ClientSettings:
    """What of an entry can be used. By a slip in it no client may do or see more than its writer meant: what held it back holds it all."""
    if isinstance(given, Mapping):
        client, odd = read_fields(ClientSettings, given)
        slips, why = {to_camel(key) for key in odd}, [f"clients.{name}.{each}" for reasons in odd.values() for each in reasons]
    else:
        client, slips, why = ClientSettings(), {"autoApprove"}, [f"clients.{name}: must be an object"]
    if slips:
        meanwhile = " and ".join(words for field_name, words in _HELD.items() if field_name in slips)
        title = f"The settings of AI client '{_printable(name)}' are not fully used"
        hint = f"{CORRECT_IT}; until then {meanwhile}" if meanwhile else CORRECT_IT
        problems.append(Problem(title, f"publish: {'; '.join(why)}", hint))
    held = {"auto_approve": ()} if "autoApprove" in slips else {}
    return client.model_copy(update=held | ({"profile": UNREADABLE_PROFILE} if "profile" in slips else {}))


def _read_profiles(given: Any, problems: list[Problem]) -> dict[str, ProfileSettings]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        problems.append(not_used("profiles", "profiles: must be an object", "AI clients that have a profile see nothing"))
        return {}

    def report(name: str, why: str) -> None:
        hint = f"{CORRECT_IT}; until then AI clients that have it see nothing"
        problems.append(Problem(f"The profile '{_printable(name)}' cannot be used", f"profiles: {why}", hint))

    return read_members(ProfileSettings, given, report)


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name[:MAX_NAME_LENGTH])


def _read_defaults(names: Any, problems: list[Problem]) -> tuple[str, ...]:
    if names is None:
        return ()
    usable = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    if not isinstance(names, list) or len(usable) < len(names):
        message = "defaultServers: must be a list of names"
        problems.append(Problem("defaultServers in the settings is not fully used", message, "Correct it in settings.json"))
    return tuple(dict.fromkeys(usable))


def _read_part(document: Document, key: str, kind: Any, default: Any, problems: list[Problem]) -> Any:
    if document.get(key) is None:
        return default
    try:
        return TypeAdapter(kind).validate_python(document[key])
    except ValidationError as error:
        problems.append(not_used(key, f"{key}: {in_words(error)}"))
        return default


def _why_not_started(config: MCPServerConfig) -> str:
    match config.type:
        case None if config.command and config.base_url:
            return 'it has a command and a URL; say which counts with "type"'
        case None if not config.command and not config.base_url:
            return "it has neither a command nor a URL"
        case "stdio" if not config.command:
            return "its type is stdio, but it has no command"
        case "http" | "sse" if not config.base_url:
            return f"its type is {config.type}, but it has no URL"
    return ""


def _why_no_process(config: MCPServerConfig) -> Iterator[str]:
    """What no operating system and no HTTP request could carry."""
    if config.base_url and not config.base_url.lower().startswith(("http://", "https://", "${")):
        yield "the URL must begin with http:// or https://"
    if any("\0" in word for word in (config.command or "", config.cwd or "", *config.args, *config.template, *config.env.values())):
        yield "a zero character is in the command, its arguments or its environment"
    if any(not name or "=" in name or "\0" in name for name in config.env):
        yield "env: the name of a variable is empty or has a '=' in it"
    if any(character in text for pair in config.custom_headers.items() for text in pair for character in "\r\n\0"):
        yield "customHeaders: a header has a line break in it"
