"""Converts a server's entry from an AI client's spelling to the spelling of the settings.

The rules, where clients differ:

- `url` without a type is SSE in Gemini CLI, Qwen Code and Cline; elsewhere HTTP, unless its path ends in `/sse`.
- `timeout` is in seconds in Cline, Roo Code and Goose, in milliseconds in Claude Code, Gemini CLI and Copilot CLI; elsewhere numbers from
1,000 on are milliseconds. - A client's rules for calls without asking (`autoApprove`, `alwaysAllow`, `trust`) are not imported, unlike the
tools that it hides: here
  calls that only read run without asking, as everywhere.
- A server of a project starts in the project's folder, as its client starts it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from tooltray.config.foreign_configs.config_source import CannotUse, shown
from tooltray.config.foreign_configs.mcp_json import FIELD_SPELLINGS, WITHOUT_EFFECT, in_our_spelling
from tooltray.config.settings.expansion import VARIABLE_NAME
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.secret_looks import PATH_VALUE, looks_secret
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import split
from tooltray.foundation.snapshots.entries import FormField
from tooltray.foundation.verbs import JsonObject
from tooltray.sources.entries.pasted_parts import as_word, is_placeholder, usual_type
from tooltray.sources.foreign_entries.known_proxies import carried_by
from tooltray.sources.foreign_entries.variables import ANY, OF_A_TEXT, SYNTAXES, Surroundings, Syntax, Variables

Entry = JsonObject
ReadFile = Callable[[str], str]
"""Returns the text of a file that an entry names; raises CannotUse."""

_FIELDS = ("command", "args", "env", "cwd", "url", "headers", "type", "callTimeout", "toolFilter", "disabledTools", "descriptions")
_BARE_URL_IS_SSE = frozenset({"gemini", "cline"})
_SECONDS, _MILLISECONDS = frozenset({"cline", "roo", "goose"}), frozenset({"claude", "gemini", "copilot-cli"})
_OF_THE_START = frozenset({"opencode"})  # their `timeout` limits the listing of tools, not a call
_ALLOWED, _HIDDEN = ("enabled_tools", "includeTools"), ("disabled_tools", "excludeTools", "disabledTools")
_APPROVED = ("autoApprove", "alwaysAllow", "trust")
_OAUTH = {"client_id": "clientId", "CLIENT_ID": "clientId", "client_secret": "clientSecret", "CLIENT_SECRET": "clientSecret"}
_CARRIED = frozenset(
    {
        *(spelling for ours, others in FIELD_SPELLINGS.items() for spelling in (ours, *others)),
        *(*_FIELDS, *_ALLOWED, *_HIDDEN, *_APPROVED),
        *("disable", "disabled", "timeout", "tool_timeout_sec", "tools", "scopes", "envFile", "env_vars", "env_keys"),
        *("env_http_headers", "bearer_token_env_var", "headersHelper", "sandbox", "sandboxEnabled"),
    }
)  # members that are converted, or have a remark of their own
_SCHEME = re.compile(r"((?:Bearer|Basic|Token|ApiKey)\s+)?(.*)", re.IGNORECASE | re.DOTALL)  # of an Authorization header
_OAUTH_FIELDS = ("clientId", "clientSecret", "scopes", "scope", "callbackPort")


class RawServer(HidesFields, frozen=True):
    """One server before it is read.

    Attributes:
        raw: the entry as in its file.
        shape: how its client writes entries (ClientKind.shape); empty if unknown.
        project: the folder of a project's file with the entry; empty for other files.
        folder: of the file; empty without a file.
        inputs: the file's descriptions of the values that its client asks for, by their ids.
        is_example: it is from a README or another text, in which `<your key>` stands for a value.
    """

    hidden: ClassVar = ("raw", "inputs")

    name: str
    raw: Mapping[str, object]
    shape: str = ""
    project: str = ""
    folder: str = ""
    inputs: Mapping[str, Mapping[str, object]] = {}
    is_example: bool = False


class ReadServer(HidesFields, frozen=True):
    """One server in the spelling of the settings.

    Attributes:
        entry: in the spelling of `mcpServers`, its secrets in plain text; `${input:KEY}` stands for a value that the user is asked for.
        asks: the fields for these values.
        read: contents of files that were filled in; they are secrets.
        is_off: it is switched off in its client.
        proxied: the proxy in front of it; empty without a proxy.
        remarks: the parts of the entry that are not imported, each a reason to ask before importing.
    """

    hidden: ClassVar = ("entry", "read")

    entry: Entry
    asks: tuple[FormField, ...] = ()
    read: tuple[str, ...] = ()
    is_off: bool = False
    proxied: str = ""
    remarks: tuple[str, ...] = ()


def read_server(server: RawServer, *, home: str, read_file: ReadFile) -> ReadServer:
    """Reads an entry.

    Args:
        home: the user's folder.

    Raises:
        CannotUse: the entry cannot be expressed in the settings, or is empty; the error quotes no value.
    """
    entry = _spelled(server)
    is_off = bool(entry.pop("disable", False))
    carried = carried_by(entry)
    if carried:
        entry = carried.entry
    if "url" in entry and "type" not in entry and (kind := usual_type(str(entry["url"]))):
        entry["type"] = kind
    usual = OF_A_TEXT if server.is_example else ANY
    variables = Variables(SYNTAXES.get(server.shape, usual), Surroundings(home, server.project, server.folder, server.inputs, read_file))
    entry = _translated(entry, variables, server.shape)
    if server.is_example:
        _ask_for_examples(entry, variables)
    _add_references(entry, server.raw, variables)
    if variables.needs_project:
        entry["deferredStartup"] = True
    elif server.project and "command" in entry:
        entry.setdefault("cwd", server.project)
    _check(server.name, entry)
    proxied, left_out = (carried.proxied, carried.left_out) if carried else ("", ())
    remarks = tuple(_remarks(server.raw, left_out, is_remote="command" not in entry))
    return ReadServer(entry, tuple(variables.asks.values()), tuple(variables.read), is_off, proxied, remarks)


# fields


def _spelled(server: RawServer) -> Entry:
    """Returns the entry with the settings' fields; its texts are unchanged."""
    written = {key: value for key, value in server.raw.items() if value is not None and key not in _APPROVED}
    if isinstance(old := written.get("command"), Mapping):  # of Zed, until 2025: {"path": ..., "args": ..., "env": ...}
        written |= {**{key: value for key, value in old.items() if key != "path"}, "command": old.get("path")}
    if "httpUrl" in written:  # it takes precedence over `url` if both are given
        written |= {"url": written.pop("httpUrl"), "type": written.get("type", "http")}
    if server.shape in _BARE_URL_IS_SSE and "url" in written and not {"type", "transportType"} & written.keys():
        written["type"] = "sse"
    if not isinstance(written.get("tools"), list):
        written.pop("tools", None)  # Codex's approval settings for the calls of each tool
    limits = dict(_limits(written, server.shape))
    entry = {key: value for key, value in in_our_spelling(written, lambda key: 0).items() if key in _FIELDS or key == "disable"} | limits
    entry |= {"oauth": oauth} if (oauth := _oauth(server.raw)) is not None else {}
    entry["args"] = _words(entry.get("args", []))
    return _with_split_command(entry)


def _limits(written: JsonObject, shape: str) -> Iterator[tuple[str, object]]:
    """Removes time-outs and lists of tools from an entry, and yields them as fields of the settings."""
    timeout, seconds = written.pop("timeout", None), written.pop("tool_timeout_sec", None)
    if _is_number(seconds):
        yield "callTimeout", float(seconds)
    elif _is_number(timeout) and shape not in _OF_THE_START:
        is_ms = shape in _MILLISECONDS or (shape not in _SECONDS and timeout >= 1000)
        yield "callTimeout", timeout / 1000 if is_ms else float(timeout)
    allowed = [name for key in _ALLOWED if key in written for name in _names(written.pop(key))]
    if allowed and "*" not in allowed:
        yield "toolFilter", {"mode": "allow", "list": allowed}
    hidden = [name for key in _HIDDEN if key in written for name in _names(written.pop(key))]
    if hidden:
        yield "disabledTools", hidden


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _names(given: object) -> list[str]:
    """Returns names of tools, without the argument limits that Gemini CLI writes in brackets after a name."""
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise CannotUse(Phrase("its list of tools cannot be read"))
    names = [name.partition("(")[0].strip() for name in given]
    if any(set(name) & set("*?[") and name != "*" for name in names):
        raise CannotUse(Phrase("its list of tools has patterns in it"))
    return names


def _oauth(raw: Mapping[str, object]) -> object:
    given = raw.get("oauth", raw.get("auth"))
    if isinstance(given, bool):
        return given
    known = {_OAUTH.get(key, key): value for key, value in given.items()} if isinstance(given, Mapping) else {}
    found = {key: known[key] for key in _OAUTH_FIELDS if known.get(key)}
    if isinstance(scopes := raw.get("scopes"), list):
        found.setdefault("scopes", scopes)
    if "scopes" in found:
        found.pop("scope", None)
    return found or None


def _words(given: object) -> list[Any]:
    if isinstance(given, str):
        return _split(given)
    if not isinstance(given, list):
        raise CannotUse(Phrase("'{field}' must be a list", field="args"))
    return [as_word(word) if isinstance(word, str | int | float | bool) else word for word in given]


def _with_split_command(entry: Entry) -> Entry:
    command = entry.get("command")
    if isinstance(command, str) and " " in command.strip() and not entry["args"] and not PATH_VALUE.match(command):
        first, *more = _split(command)
        entry |= {"command": first, "args": more}
    if not command:
        entry.pop("command", None)
        entry.pop("args")
    return entry


def _split(line: str) -> list[str]:
    try:
        return split(line)
    except ValueError:
        raise CannotUse(Phrase("a quote in its command is opened and never closed")) from None


def _remarks(raw: Mapping[str, object], left_out: Iterable[str], *, is_remote: bool) -> Iterator[str]:
    """
    Args:
        left_out: variables that are not imported because a proxy is left out.
        is_remote: the server has no process that could have variables.
    """
    if raw.get("sandbox") or raw.get("sandboxEnabled"):
        yield Phrase("its client runs it in a sandbox; here it would run without one")
    if raw.get("headersHelper"):
        yield Phrase("its client runs a command for its headers (headersHelper); set them here, with {text}", text="${secret:command:NAME}")
    if limited := [name for key in (*_ALLOWED, *_HIDDEN) for name in _listed(raw, key) if "(" in str(name)]:
        yield Phrase("tools are listed without what limits their arguments: {names}", names=", ".join(shown(str(name)) for name in limited))
    variables = [key for key in ("envFile", "env_vars", "env_keys") if raw.get(key)] if is_remote else []
    if missing := [*_not_carried_over(raw), *variables, *left_out]:
        yield Phrase("this is not carried over: {names}", names=", ".join(map(shown, missing)))


def _not_carried_over(raw: Mapping[str, object]) -> Iterator[str]:
    """Yields the names of members that have a meaning only in the entry's client."""
    if isinstance(old := raw.get("command"), Mapping):
        yield from (f"command.{key}" for key in old if key != "path" and key not in _CARRIED)
    remote = {"requestOptions", "requestInit", "apiKey"} if any(raw.get(key) for key in ("url", *FIELD_SPELLINGS["url"])) else ()
    for key, value in raw.items():
        if value in (None, "", [], {}) or key in _CARRIED or key in WITHOUT_EFFECT:
            continue
        if key in ("oauth", "auth"):
            members = [member for member in value if _OAUTH.get(member, member) not in _OAUTH_FIELDS] if isinstance(value, Mapping) else []
            yield from (f"{key}.{member}" for member in members)
        elif key not in remote:
            yield key
        elif isinstance(value, Mapping):
            yield from (f"{key}.{member}" for member, held in value.items() if member != "headers" or not isinstance(held, Mapping))
        elif key != "apiKey" or not isinstance(value, str):
            yield key


# texts


def _translated(entry: Entry, variables: Variables, shape: str) -> Entry:
    def one(value: object, key: str, **how: bool) -> object:
        return variables.ours(value, key, **how) if isinstance(value, str) else value

    def members(values: object) -> object:
        return {str(key): one(value, str(key)) for key, value in values.items()} if isinstance(values, Mapping) else values

    made = dict(entry)
    for field in ("env", "headers", "oauth"):
        if field in made:
            made[field] = members(made[field])
    for field in ("cwd", "url"):
        if field in made:
            made[field] = one(made[field], field)
    if "command" in made:
        made["command"] = one(made["command"], "command", is_command=True)
        with variables.limited_to(Syntax() if shape == "droid" else None):  # this client fills in only the environment
            made["args"] = list(_arguments(made["args"], one))
    return made


def _arguments(words: Iterable[object], one: Callable[[object, str], object]) -> Iterator[object]:
    """Translates arguments; the option before a value is its name."""
    option = ""
    for word in words:
        name, equals, _ = word.partition("=") if isinstance(word, str) else ("", "", "")
        yield one(word, (name if equals else option).lstrip("-"))
        option = word if isinstance(word, str) and word.startswith("-") and not equals else ""


def _ask_for_examples(entry: Entry, variables: Variables) -> None:
    """Asks for secrets whose value is only an example."""
    for field in ("env", "headers"):
        for key, value in _members(entry, field):
            scheme, held = _SCHEME.fullmatch(str(value)).groups("")  # type: ignore[union-attr]  # it fits every text
            if "${" not in held and looks_secret(str(key), held) and is_placeholder(held):
                entry[field] |= {str(key): scheme + variables.ask(str(key), str(key), is_secret=True)}


def _add_references(entry: Entry, raw: Mapping[str, object], variables: Variables) -> None:
    """Adds variables and headers from other members: names of variables to pass on or to send, a file with variables, keys of a keyring."""
    headers = {str(name): _reference(value) for name, value in _members(raw, "env_http_headers")}
    if token := raw.get("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer {_reference(token)}"
    if headers:
        entry["headers"] = headers | dict(_members(entry, "headers"))
    env: dict[str, object] = {}
    if isinstance(path := raw.get("envFile"), str) and path:
        env |= _variables_of(variables.content(variables.ours(path, "envFile")))
    for each in _listed(raw, "env_vars"):
        name = each.get("name") if isinstance(each, Mapping) else each
        env[str(name)] = _reference(name)
    env |= {str(key): variables.ask(str(key), str(key), is_secret=True) for key in _listed(raw, "env_keys")}
    if env and "command" in entry:
        entry["env"] = env | dict(_members(entry, "env"))


def _members(holder: Mapping[str, object], key: str) -> list[tuple[object, object]]:
    given = holder.get(key)
    return list(given.items()) if isinstance(given, Mapping) else []


def _listed(raw: Mapping[str, object], key: str) -> list[object]:
    given = raw.get(key)
    if given is not None and not isinstance(given, list):
        raise CannotUse(Phrase("'{field}' must be a list", field=key))
    return given or []


def _reference(name: object) -> str:
    if not isinstance(name, str) or not VARIABLE_NAME.fullmatch(name):
        raise CannotUse(Phrase("'{name}' is not a variable name", name=shown(str(name))))
    return f"${{{name}}}"


def _variables_of(text: str) -> dict[str, object]:
    """Returns the variables of a file with lines `NAME=value`."""
    found: dict[str, object] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name, value = name.strip(), value.strip()
        if not equals or name.startswith("#"):
            continue
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        elif " #" in value:
            value = value.partition(" #")[0].rstrip()
        found[name] = value
    return found


def _check(name: str, entry: Entry) -> None:
    try:
        read_entry(name, entry)
    except TooltrayError as error:
        raise CannotUse(error.problem.message) from None
