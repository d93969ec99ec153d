"""One entry of `mcpServers`, checked.

If an entry can be read in several ways, its writer's meaning counts:
- `null` means "not given", for every field.
- Numbers and `true`/`false` in `args`, `env` and headers become strings in their JSON spelling; a variable that is `null` is left out.
- An empty `command` or URL counts as not given (other programs write `"command": ""` beside a URL).
- `type`, `transport` and `transportType` are one field; `streamable-http` and its relatives are `http`.
- A given `type` decides; then a command beside a URL is allowed, and unused.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, ClassVar, Literal, Self

from tooltray.config.settings.call_rule import AutoApprove, CallRules
from tooltray.config.settings.confinement import OPEN, Confinement
from tooltray.config.settings.json_kinds import HIDDEN, After, Before, Between
from tooltray.config.settings.json_model import JsonModel, without_null
from tooltray.config.settings.tool_override import Tokens, ToolOverride
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.protocol.eras import Era

LABEL_COLORS = ("blue", "green", "amber", "red", "violet", "grey")
Transport = Literal["stdio", "http", "sse", "inmemory"]

# fields that other programs spell differently; the first spelling is ours
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "base_url": ("baseUrl", "url"),
    "custom_headers": ("customHeaders", "headers"),
    "type": ("type", "transport", "transportType"),
}
_OTHER_OAUTH = {"callbackPort": "redirectPort", "scope": "scopes"}
_OTHER_TYPES = {
    "local": "stdio",
    "remote": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
    "http-stream": "http",
}


def _as_written(value: object) -> object:
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _blank_is_absent(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _our_type(value: object) -> object:
    return _OTHER_TYPES.get(value, value) if isinstance(value, str) else value


def _split(value: object) -> object:
    return tuple(value.split()) if isinstance(value, str) else value


def _text_or_nothing(value: object) -> object:
    return value if isinstance(value, str) else ""


def _is_absolute(folder: str) -> str:
    if not folder.startswith("~") and not os.path.isabs(folder):
        raise ValueError(Phrase("must be the whole path of a folder"))
    return folder


def plain_number(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


Word = Annotated[str, Before(_as_written)]
Words = Annotated[Mapping[str, Word], Before(without_null), HIDDEN]  # people type keys into these
GivenMembers = Before(without_null)
Target = Annotated[str | None, Before(_blank_is_absent)]
Shown = Annotated[str, Before(_text_or_nothing)]  # an odd icon is no reason to lose a server

Folder = Annotated[str, After(_is_absolute)]
Port = Annotated[int, Between(least=0, most=65535)]
AtOnce = Annotated[int, Between(least=1, most=10_000)]
PerMinute = Annotated[int, Between(least=1, most=100_000)]
Seconds = Annotated[float, Before(plain_number), Between(above=0)]

USUAL_RULES = ("read",)
"""The rules of an entry without `autoApprove`."""


class ToolFilter(JsonModel):
    """Which of a server's tools are published: only those in the list, or all but those. Names are the server's own."""

    mode: Literal["allow", "block"]
    list: tuple[str, ...] = ()


class OAuthSettings(JsonModel):
    """How to sign in to a remote server, if that cannot be detected. Placeholders in it are not expanded.

    The spellings of other programs are accepted, too: only `true` or `false`, `callbackPort`, and scopes as one text with spaces.

    Attributes:
        enabled: whether to sign in at all; without it a server that requires it is in error.
        client_id: of a client that was registered by hand; without it one registers itself.
        client_secret: of such a client; a placeholder like `${secret:NAME}`.
        scopes: the scopes to request; without them, those that the server names.
        grant: who signs in: the user, in a browser, or this client with its secret.
        issuer: the authorization server, if the server does not name it.
        redirect_port: of the address to which the browser returns; 0: any that is free.
        send_resource: whether requests name the server as the `resource` of the tokens (RFC 8707), which some authorization servers refuse.
    """

    enabled: bool = True
    client_id: Target = None
    client_secret: Annotated[Target, HIDDEN] = None
    scopes: Annotated[tuple[str, ...], Before(_split)] = ()
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    issuer: Target = None
    redirect_port: Port = 0
    send_resource: bool = True

    @classmethod
    def _prepared(cls, data: object) -> object:
        if isinstance(data, bool):
            return {"enabled": data}
        if not isinstance(data, Mapping):
            return data
        theirs = {_OTHER_OAUTH[name]: data[name] for name in _OTHER_OAUTH.keys() & data.keys()}
        return theirs | {name: value for name, value in data.items() if name not in _OTHER_OAUTH}

    def _check(self) -> None:
        if self.grant == "client_credentials" and not (self.client_id and self.client_secret):
            raise ValueError(Phrase("the grant client_credentials needs clientId and clientSecret"))
        if self.client_secret and not self.client_id:
            raise ValueError(Phrase("clientSecret needs clientId"))


OAUTH_MEMBERS = frozenset({*(field.alias for field in OAuthSettings.model_fields.values()), *_OTHER_OAUTH})


class ServerOptions(JsonModel):
    """`options` of an entry, as another program writes them."""

    lazy_load: bool | None = None


class MCPServerConfig(JsonModel):
    """One entry of `mcpServers`. Placeholders in it are not expanded.

    Attributes:
        call_timeout: seconds without progress after which a call is given up; None: the hub's own limit.
        start_timeout: seconds that it may be silent before its first answer; None: the hub's own limit.
        auto_approve: which calls run without asking: rules, or names of tools, see catalogue/auto_approve.py.
        call_rules: which further calls do, by their arguments.
        disable: never start this server.
        isolation: one instance for all AI clients, or one for each AI client's session.
        idle_stop: seconds without a call after which a server that does not start with the hub is stopped again; None: never.
        direct_start: whether a package that npx or uvx has unpacked already is started without them.
        era: of the protocol that it speaks; "auto": detected.
        custom_npm_registry: where this server's packages come from, in place of the registry for all.
        oauth: how to sign in, if that cannot be detected.
        lazy_load: whether AI clients see its tools only once they have activated it; None: as in `publish.lazyLoad`.
        options: another place for `lazyLoad`.
        deferred_startup: starts when a project is known, one instance for each.
        startup_args_template: of a deferred server, in place of `args`.
        tool_overrides: by the server's own name for a tool.
        disabled_skills: which of its skills are not offered: their URIs as the server has them, or their names.
        label: which of the user's accounts or machines it is, in their words: "work", "private".
        color: the colour of that label, one of LABEL_COLORS; any other word means no colour.
        result_limit: tokens of a result that clients get at once; the rest is kept and read page by page. None: results are whole.
        csv_tables: whether clients get tables in results as CSV; None: as their own settings define.
        max_calls: of its tools in progress at once, of all AI clients together; others wait for their turn. None: any number.
        calls_per_minute: that begin in a minute; others wait. None: any number.
        projects: folders; only sessions that work in one of them, or below it, have the server. Empty: all sessions.
        confinement: which files and hosts its process may reach; without effect for a server that is not a process.
    """

    command: Target = None
    args: tuple[Word, ...] = ()
    env: Words = {}
    cwd: Target = None
    type: Annotated[Transport | None, Before(_our_type)] = None
    base_url: Target = None
    custom_headers: Words = {}
    auto_approve: AutoApprove = USUAL_RULES
    call_rules: CallRules = ()
    icons: Shown = ""
    descriptions: Shown = ""
    disable: bool = False
    call_timeout: Seconds | None = None
    start_timeout: Seconds | None = None
    tool_filter: ToolFilter | None = None
    disabled_tools: tuple[str, ...] = ()
    disabled_skills: tuple[str, ...] = ()
    isolation: Literal["shared", "session"] = "shared"
    idle_stop: Seconds | None = None
    direct_start: bool = True
    era: Literal["auto", "legacy", "modern"] = "auto"
    custom_npm_registry: Target = None
    oauth: OAuthSettings | None = None
    lazy_load: bool | None = None
    options: ServerOptions = ServerOptions()
    deferred_startup: bool = False
    startup_args_template: tuple[Word, ...] | None = None
    tool_overrides: Annotated[Mapping[str, ToolOverride], GivenMembers] = {}
    label: Shown = ""
    color: Shown = ""
    result_limit: Tokens | None = None
    csv_tables: bool | None = None
    max_calls: AtOnce | None = None
    calls_per_minute: PerMinute | None = None
    projects: tuple[Folder, ...] = ()
    confinement: Confinement = OPEN

    _spelled: ClassVar[Mapping[str, str]] = {}  # the spellings of SPELLINGS that were given, by field

    @classmethod
    def _read(cls, data: object) -> Self:
        if not isinstance(data, Mapping):
            return super()._read(data)
        ours, spelled = dict(data), {}
        for name, spellings in SPELLINGS.items():
            given = {spelling: ours.pop(spelling) for spelling in spellings if data.get(spelling) is not None}
            if name == "type":  # two words for one transport do not contradict each other
                given = {spelling: _our_type(value) for spelling, value in given.items()}
            if len({json.dumps(value, sort_keys=True, default=str) for value in given.values()}) > 1:
                raise ValueError(Phrase("{fields} differ; keep one of them", fields=" / ".join(given)))
            for spelling in given:
                ours[spellings[0]], spelled[name] = given[spelling], spelling
        config = super()._read(ours)
        vars(config)["_spelled"] = spelled
        return config

    def _values(self) -> Iterator[object]:
        yield from super()._values()
        yield self._spelled

    def _check(self) -> None:
        reason = next(_why_not_started(self), "")
        if reason:
            raise ValueError(reason)

    @property
    def transport(self) -> Transport:
        """Returns how the server is reached: by `type`, else by the form of the entry."""
        return self.type or ("stdio" if self.command else "http")

    @property
    def only_era(self) -> Era | None:
        """Returns the era that the entry gives; None: it is detected."""
        return None if self.era == "auto" else Era(self.era)

    @property
    def template(self) -> tuple[str, ...]:
        """Returns the arguments of a deferred server, with the project's placeholders."""
        return self.args if self.startup_args_template is None else self.startup_args_template

    @property
    def arguments(self) -> tuple[str, ...]:
        """Returns the arguments that it is started with, with the project's placeholders if it waits for a project."""
        return self.template if self.deferred_startup else self.args

    @property
    def own_lazy_load(self) -> bool | None:
        """Returns `lazyLoad` of the entry; None if it has none."""
        return self.options.lazy_load if self.lazy_load is None else self.lazy_load

    def is_lazy(self, by_default: bool) -> bool:
        """Returns whether AI clients see its tools only once they have activated it; `by_default` counts if the entry lacks it."""
        return by_default if self.own_lazy_load is None else self.own_lazy_load

    @property
    def target(self) -> str:
        """Returns the command line, quoted for a shell, or the URL as it may be shown, by which the user recognises the server."""
        if self.command and self.transport not in ("http", "sse"):
            return joined([self.command, *self.arguments])
        return shown_url(self.base_url or "")

    def to_entry(self) -> dict[str, object]:
        """Returns the entry as it goes into the file: its given members, in their given spelling."""
        entry = self.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
        spellings = {SPELLINGS[name][0]: spelling for name, spelling in self._spelled.items()}
        return {spellings.get(key, key): value for key, value in entry.items()}


def config_hash(config: MCPServerConfig) -> str:
    """Returns a hash that is equal for two configs exactly if the same program runs the same way; values of placeholders do not count."""
    return hashlib.sha256(what_runs(config).encode()).hexdigest()


def runs_otherwise(before: MCPServerConfig, after: MCPServerConfig) -> bool:
    """Returns whether a running server must be restarted: another program, or the same one in another confinement or era. Only
    `config_hash` decides whether it is the same program, and the approved one.
    """
    return config_hash(before) != config_hash(after) or before.era != after.era or after.confinement.needs_start(before.confinement)


def what_runs(config: MCPServerConfig) -> str:
    """Returns the input of `config_hash`, as JSON; it contains what the user typed as a secret."""
    parts: tuple[object, ...] = (
        *(config.transport, config.command, config.args, dict(config.env), config.cwd, config.base_url, dict(config.custom_headers)),
    )
    if config.custom_npm_registry:  # later additions count only if used, so that the hashes of all other servers stay the same
        parts += (config.custom_npm_registry,)
    if config.oauth:
        parts += (config.oauth.model_dump(),)
    if config.deferred_startup:
        parts += ("deferred", config.template)
    return json.dumps(parts, sort_keys=True)


def shown_url(url: str) -> str:
    """Returns a URL without user name, password, query and fragment, which may contain keys."""
    return re.split("[?#]", re.sub(r"(?<=://)[^/?#]*@", "", url))[0]


def _why_not_started(config: MCPServerConfig) -> Iterator[str]:
    match config.type:
        case None if config.command and config.base_url:
            yield Phrase('it has a command and a URL; choose one with "type"')
        case None if not config.command and not config.base_url:
            yield Phrase("it has neither a command nor a URL")
        case "stdio" if not config.command:
            yield Phrase("its type is stdio, but it has no command")
        case "http" | "sse" if not config.base_url:
            yield Phrase("its type is {type}, but it has no URL", type=config.type)
    # what no operating system and no HTTP request could carry
    if config.base_url and not config.base_url.lower().startswith(("http://", "https://", "${")):
        yield Phrase("the URL must begin with http:// or https://")
    if any("\0" in word for word in (config.command or "", config.cwd or "", *config.args, *config.template, *config.env.values())):
        yield Phrase("a zero character is in the command, its arguments or its environment")
    if any(not name or "=" in name or "\0" in name for name in config.env):
        yield Phrase("env: the name of a variable is empty or has a '=' in it")
    if any(character in text for pair in config.custom_headers.items() for text in pair for character in "\r\n\0"):
        yield Phrase("customHeaders: a header has a line break in it")
