"""Makes links that add a server to another AI client, as a web page or a button has them.

No link ever contains a secret's value. The link has an input or a description instead, for which the client asks the user, or a variable
that the client reads from its environment. If a client supports neither, the link has the name in angle brackets, for the user to replace.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.sources.entries.portable_entry import without_secrets

_PLACEHOLDER = re.compile(r"\$\{(?:(?P<secret>secret:[^{}]+)|(?P<variable>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*))?)\}")

Entry = dict[str, Any]


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
        raise TooltrayError(Phrase("There is no link for '{name}'", name=name), why, Phrase("Connect the client to Tooltray."))
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


def _goose(name: str, config: MCPServerConfig) -> str:
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
    "Goose": _goose,
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
