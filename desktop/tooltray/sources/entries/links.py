"""Links that add a server: reads Tooltray's and other AI clients', as READMEs and web pages have them, and makes links for other clients.

Reading runs nothing and opens nothing. Any web page can have such a link, and the page may lie: so the link's content is shown in full, and
nothing in it counts as an approval. A link that is made never contains a secret's value: it has an input or a description instead, for
which the client asks the user, or a variable that the client reads from its environment, else the name in angle brackets, to be replaced.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import SplitResult, quote, unquote, urlsplit

import msgspec

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.json_text import NotJson, check_depth
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonObject
from tooltray.sources.entries.portable_entry import filled_in, without_secrets

LONGEST_LINK = 64 * 1024  # characters; published links have less than 2000, and a user could not read more
MOST_LAYERS = 5  # of encodings around each other; a redirect with an encoded link with encoded JSON has three
GRANTS = frozenset(
    {"autoApprove", "auto_approve", "callRules", "call_rules", "alwaysAllow", "trust", "approval", "autoStart", "enabledByDefault"}
    | {"confinement"}
)
"""Members of an entry that let calls run without asking, or its process do more than a new server may; in a link they are ignored."""

Parameters = list[tuple[str, str]]


class InstallLink(msgspec.Struct, frozen=True):
    """The content of a link that adds servers.

    Attributes:
        kind: the client for which it was made, such as "Cursor".
        value: the servers in it, in any of the forms that a pasted block may have.
    """

    kind: str
    value: object

    @property
    def origin(self) -> str:
        """Where the link is from, to show to the user."""
        return Phrase("a link made for {kind}, which any web page can have", kind=self.kind)


def is_link(text: str) -> bool:
    """Reports whether a text is a link to add a server, even one that cannot be read."""
    return _reader(text.strip()) is not None


def read_link(text: str) -> InstallLink:
    """Reads a link that `is_link` recognises.

    Raises:
        TooltrayError: it is too long, damaged, or carries no server.
    """
    text = text.strip()
    if len(text) > LONGEST_LINK:
        raise _unreadable(Phrase("it has {number} characters", number=f"{len(text):,}"))
    found = _reader(text)
    if found is None:
        raise _unreadable(Phrase("it is not a link that adds a server"))
    kind, read = found
    return InstallLink(kind, _without_grants(read(urlsplit(text))))


def _reader(text: str) -> tuple[str, Callable[[SplitResult], object]] | None:
    """Finds the client for which a link was made, and the function that reads the link."""
    if not re.match(r"[A-Za-z][A-Za-z0-9.+-]*:\S", text) or re.search(r"\s", text):
        return None
    try:
        parts = urlsplit(text[:LONGEST_LINK])
    except ValueError:
        return None
    place = f"{parts.scheme}:{parts.netloc}{parts.path}".lower().rstrip("/")
    return next(((kind, read) for pattern, kind, read in _LINKS if re.fullmatch(pattern, place)), None)


# the forms of links


def _named_config(parts: SplitResult) -> object:
    """Reads `?name=NAME&config=JSON`, the JSON in base64 or not; `inputs` beside it as in VS Code."""
    given = dict(_parameters(parts.query))
    value = _json_of(_needed(given, "config"))
    return _with_name(_with_inputs(value, given.get("inputs", "")), given.get("name", ""))


def _whole_query(parts: SplitResult) -> object:
    """Reads `?JSON`, percent-encoded once or twice; or the form with a name and a config."""
    if re.match(r"(?:name|config)=", parts.query):
        return _named_config(parts)
    return _with_inputs(_json_of(_text(parts.query)), "")


def _redirect(parts: SplitResult) -> object:
    """Reads `?url=LINK` of a page that opens VS Code; the link has the form `vscode:mcp/install?JSON`."""
    inner = _needed(dict(_parameters(parts.query)), "url")
    for _ in range(MOST_LAYERS):
        if re.match(r"vscode(?:-insiders)?:", inner):
            return _whole_query(urlsplit(inner))
        inner = _text(inner)
    raise _unreadable(Phrase("its parameter {name} is not a VS Code link", name="url"))


def _container(name: str) -> Callable[[SplitResult], object]:
    """Returns a reader of `?NAME=BASE64`, with `mcpServers` in it."""
    return lambda parts: _json_of(_needed(dict(_parameters(parts.query)), name))


def _goose(parts: SplitResult) -> object:
    """Reads `?cmd=COMMAND&arg=ARGUMENT&arg=...&env=NAME%3DWHAT_IT_IS&id=ID&name=NAME`, or a `url` in the place of the command."""
    given = _parameters(parts.query)
    single = dict(given)
    entry: JsonObject = {"name": single.get("id") or single.get("name", "")}
    if url := single.get("url"):
        return {**entry, "url": url, "type": "sse" if single.get("type") == "sse" else "http"}
    env = dict(pair.partition("=")[::2] for name, pair in given if name == "env")
    entry |= {"command": _needed(single, "cmd"), "args": [value for name, value in given if name == "arg"]}
    return {**entry, "env": {name: f"<{about or name}>" for name, about in env.items()}} if env else entry


_LINKS: tuple[tuple[str, str, Callable[[SplitResult], object]], ...] = (
    (r"tooltray:install", "Tooltray", _named_config),
    (r"cursor:anysphere\.cursor-(?:deeplink|mcp)/mcp/install", "Cursor", _named_config),
    (r"https:(?:www\.)?cursor\.com(?:/[a-z-]+)?/install-mcp", "Cursor", _named_config),
    (r"vscode:mcp/install", "VS Code", _whole_query),
    (r"vscode-insiders:mcp/install", "VS Code Insiders", _whole_query),
    (r"https:(?:insiders\.)?vscode\.dev/redirect/mcp/install", "VS Code", _named_config),
    (r"https:(?:insiders\.)?vscode\.dev/redirect", "VS Code", _redirect),
    (r"lmstudio:add_mcp", "LM Studio", _named_config),
    (r"https:lmstudio\.ai/install-mcp", "LM Studio", _named_config),
    (r"cherrystudio:mcp/install", "Cherry Studio", _container("servers")),
    (r"deepchat:mcp/install", "DeepChat", _container("code")),
    (r"goose:extension", "Goose", _goose),
    (r"https:kiro\.dev/launch/mcp/add", "Kiro", _named_config),
    (r"kiro:kiro\.mcp/add", "Kiro", _named_config),
)
"""Patterns of scheme, host and path (in small letters, without slashes at the end), the client's name, and the reader."""


# the content of links


def _parameters(query: str) -> Parameters:
    """Returns the parameters of a query. A `+` is kept: it is a character of base64, and these links are made without forms."""
    pairs = (part.partition("=") for part in query.split("&") if part)
    return [(_text(name), _text(value)) for name, _, value in pairs]


def _text(encoded: str) -> str:
    """Removes one layer of percent-encoding."""
    try:
        return unquote(encoded, errors="strict")
    except UnicodeDecodeError:
        raise _unreadable(Phrase("it is not in UTF-8")) from None


def _needed(given: Mapping[str, str], name: str) -> str:
    if value := given.get(name, "").strip():
        return value
    raise _unreadable(Phrase("its parameter {name} is missing", name=name))


def _json_of(text: str) -> object:
    """Decodes JSON out of up to MOST_LAYERS encodings."""
    for _ in range(MOST_LAYERS):
        text = text.strip()
        if text.startswith(("{", "[", '"')):
            return _parsed(text)
        text = _text(text) if "%" in text else _from_base64(text)
    raise _unreadable(Phrase("it is encoded too many times"))


def _parsed(text: str) -> object:
    try:
        value = json.loads(text)
        check_depth(value)
    except NotJson as error:
        raise _unreadable(error.reason) from None
    except (ValueError, RecursionError):
        raise _unreadable(Phrase("its content is not JSON")) from None
    if isinstance(value, str):  # JSON in a text
        return _json_of(value) if value.strip().startswith(("{", "[")) else value
    return value


def _from_base64(text: str) -> str:
    """Decodes base64 of either alphabet, with or without its padding."""
    plain = re.sub(r"\s", "+", text).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
    except UnicodeDecodeError:
        raise _unreadable(Phrase("it is not in UTF-8")) from None
    except (binascii.Error, ValueError):
        raise _unreadable(Phrase("what it carries is neither JSON nor base64; it may be cut off")) from None


def _with_name(value: object, name: str) -> object:
    """Gives the name beside a config to its one entry; in a config with several named entries these keep their names."""
    if isinstance(value, dict) and any(isinstance(value.get(key), str | list) for key in ("command", "url", "serverUrl", "httpUrl")):
        return {**value, "name": name or value.get("name", "")}
    return value


def _with_inputs(value: object, text: str) -> object:
    """Fills in the defaults that VS Code would suggest for inputs that are not secrets; the user enters the other inputs."""
    beside = _json_of(text) if text else None
    inside = value.pop("inputs", None) if isinstance(value, dict) else None
    defaults = dict(_defaults(beside)) | dict(_defaults(inside))
    return filled_in(value, defaults) if defaults else value


def _defaults(inputs: object) -> Iterator[tuple[str, str]]:
    for each in inputs if isinstance(inputs, list) else ():
        if isinstance(each, dict) and isinstance(each.get("default"), str) and isinstance(each.get("id"), str) and not each.get("password"):
            yield f"${{input:{each['id']}}}", each["default"]


def _without_grants(value: object) -> object:
    match value:
        case list():
            return [_without_grants(each) for each in value]
        case dict():
            return {key: each if key in ("env", "headers") else _without_grants(each) for key, each in value.items() if key not in GRANTS}
    return value


def _unreadable(reason: str) -> TooltrayError:
    hint = Phrase("Copy the whole link again, or paste the command from the server's README")
    return TooltrayError(Phrase("This link cannot be read"), reason, hint)


_PLACEHOLDER = re.compile(r"\$\{(?:(?P<secret>secret:[^{}]+)|(?P<variable>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*))?)\}")

Entry = JsonObject


class _Value(msgspec.Struct, frozen=True):
    """A value that is not written out in a link: its `name`, and whether it is a secret."""

    name: str
    is_secret: bool


Spell = Callable[[_Value], str]


def client_links(name: str, entry: Mapping[str, object]) -> dict[str, str]:
    """Returns the link for each client that supports such links, by the client's name.

    Args:
        name: of the server in the client.
        entry: in the spelling of `mcpServers`; plain values that look like secrets are left out of the links, too.

    Raises:
        TooltrayError: the server cannot be added to another program.
    """
    config = read_entry(name, without_secrets(name, entry).entry)
    if config.transport == "inmemory" or config.deferred_startup:
        why = Phrase("it runs inside Tooltray") if config.transport == "inmemory" else Phrase("it starts for a project of Tooltray's")
        raise TooltrayError(Phrase("No link for '{name}'", name=name), why, Phrase("Connect the client to Tooltray."))
    return {client: link for client, make in _CLIENTS.items() if (link := make(name, config))}


# the links of each client


def _cursor(name: str, config: MCPServerConfig) -> str:
    return f"cursor://anysphere.cursor-deeplink/mcp/install?name={_quoted(name)}&config={_base64(_entry(config, _env_variable))}"


def _lm_studio(name: str, config: MCPServerConfig) -> str:
    return f"lmstudio://add_mcp?name={_quoted(name)}&config={_base64(_entry(config, _in_brackets))}"


def _kiro(name: str, config: MCPServerConfig) -> str:
    return f"https://kiro.dev/launch/mcp/add?name={_quoted(name)}&config={_quoted(_json(_entry(config, _plain_variable)))}"


def _vscode(scheme: str) -> Callable[[str, MCPServerConfig], str]:
    def make(name: str, config: MCPServerConfig) -> str:
        entry = _entry(config, _input)
        kind = {"type": config.transport} if config.transport in ("http", "sse") else {}
        asked = [value.name for value in _values(config) if value.is_secret]
        inputs = [{"type": "promptString", "id": each, "description": each, "password": True} for each in asked]
        return f"{scheme}:mcp/install?{_quoted(_json({'name': name, **kind, **entry, **({'inputs': inputs} if inputs else {})}))}"

    return make


def _goose_link(name: str, config: MCPServerConfig) -> str:
    """Returns a link for Goose; empty for a remote server that needs headers, since such links cannot have any."""
    about = [("id", re.sub(r"[^a-z0-9_-]+", "-", name.lower())), ("name", name), ("description", config.descriptions or name)]
    if config.transport in ("http", "sse"):
        kind = "sse" if config.transport == "sse" else "streamable_http"
        url = _written(config.base_url or "", _in_brackets)
        return "" if config.custom_headers else f"goose://extension?{_query([('url', url), ('type', kind), *about])}"
    words = [("cmd", _written(config.command or "", _in_brackets)), *(("arg", _written(word, _in_brackets)) for word in config.args)]
    asked = [("env", f"{variable}={_asked_for(variable, value)}") for variable, value in config.env.items()]
    return f"goose://extension?{_query([*words, *asked, *about])}"


def _asked_for(variable: str, value: str) -> str:
    """Returns the description with which Goose asks the user for a variable; a value without a placeholder describes itself."""
    return variable if _PLACEHOLDER.search(value) else value


_CLIENTS: Mapping[str, Callable[[str, MCPServerConfig], str]] = {
    "Cursor": _cursor,
    "VS Code": _vscode("vscode"),
    "VS Code Insiders": _vscode("vscode-insiders"),
    "LM Studio": _lm_studio,
    "Kiro": _kiro,
    "Goose": _goose_link,
}


# how each client spells a value that is not written out


def _env_variable(value: _Value) -> str:
    return f"${{env:{value.name}}}"


def _plain_variable(value: _Value) -> str:
    return f"${{{value.name}}}"


def _input(value: _Value) -> str:
    return f"${{input:{value.name}}}" if value.is_secret else _env_variable(value)


def _in_brackets(value: _Value) -> str:
    return f"<{value.name}>"


# entries


def _entry(config: MCPServerConfig, spell: Spell) -> Entry:
    if config.transport in ("http", "sse"):
        headers = {name: _written(value, spell) for name, value in config.custom_headers.items()}
        return {"url": _written(config.base_url or "", spell)} | ({"headers": headers} if headers else {})
    env = {name: _written(value, spell) for name, value in config.env.items()}
    command = {"command": _written(config.command or "", spell), "args": [_written(word, spell) for word in config.args]}
    return command | ({"env": env} if env else {})


def _written(text: str, spell: Spell) -> str:
    return _PLACEHOLDER.sub(lambda found: _filled(found, spell), text)


def _filled(found: "re.Match[str]", spell: Spell) -> str:
    return found["default"] if found["default"] is not None else spell(_value(found))


def _value(found: "re.Match[str]") -> _Value:
    if found["secret"]:
        name = found["secret"].removeprefix("secret:").rpartition("/")[2]
        return _Value(re.sub(r"[^A-Za-z0-9_]+", "_", name), is_secret=True)
    return _Value(found["variable"], is_secret=False)


def _values(config: MCPServerConfig) -> Iterator[_Value]:
    """Returns the values of an entry that are not written out, each once."""
    texts = [config.command or "", *config.args, *config.env.values(), config.base_url or "", *config.custom_headers.values()]
    found = [_value(each) for text in texts for each in _PLACEHOLDER.finditer(text) if each["default"] is None]
    return iter(dict.fromkeys(found))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _base64(value: object) -> str:
    return quote(base64.b64encode(_json(value).encode()).decode(), safe="")


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _query(pairs: list[tuple[str, str]]) -> str:
    return "&".join(f"{name}={_quoted(value)}" for name, value in pairs)
