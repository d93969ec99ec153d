"""Parses what people copy from READMEs: a command line, a JSON or TOML block, an AI client's `mcp add` command, a URL, or an install link.

The parser runs nothing and reads no files; it only returns what would run.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.secret_looks import PATH_VALUE, looks_secret
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.json_text import NotJson, check_depth
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import split
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.servers.confinement.confinements import works_in_sandbox
from tooltray.sources.entries.links import is_link, read_link
from tooltray.sources.entries.pasted_parts import (
    ASSIGNMENT,
    as_word,
    clean_name,
    guess_name,
    is_placeholder,
    netloc,
    parameters,
    pasted_warnings,
    portable,
    take_headers,
    usual_type,
    with_escaped_paths,
    with_parameter,
    without_keys,
)

LONGEST_TEXT = 200_000  # characters; the largest published config blocks have a few thousand


_EXAMPLE = "Paste a command such as `npx -y @scope/package`, or the JSON block from the server's README"
_CONTAINERS = ("mcpServers", "servers", "mcp_servers", "context_servers", "mcp")
_URL_KEYS = ("url", "baseUrl", "serverUrl", "httpUrl")
_OTHER_TYPES = {"streamable-http": "http", "streamableHttp": "http", "streamable_http": "http", "http-stream": "http"}
_SCHEME = re.compile(r"((?:Bearer|Basic|Token|ApiKey)(?:\s+|$))(.*)", re.IGNORECASE | re.DOTALL)  # of an Authorization header; no secret
_OF_THE_CLIENT = {"-s", "--scope", "-g", "--global", "--project", "--user", "-y", "--yes", "-f", "--force", "-d", "--debug"}  # of `mcp add`
_SHELL_WORDS = {"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"}


class PastedServer(msgspec.Struct, frozen=True):
    """A server that was found in a text and is not stored yet.

    Attributes:
        name: the name in the text, or a guess from the command.
        config: the entry in the spelling of `mcpServers`, with all values as pasted.
        secrets: variables, headers and query parameters that look like secrets, by name; the value is empty if the text has only a
            placeholder.
        origin: where a link is from, to show to the user; empty for any other text.
        left_out: options of an AI client's own command that concern the server and are not taken over.
    """

    name: str
    config: JsonObject
    secrets: dict[str, str] = msgspec.field(default_factory=dict)
    origin: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def is_remote(self) -> bool:
        """Whether the server is reached by a URL, so that no process is started."""
        return "command" not in self.config

    @property
    def works_in_sandbox(self) -> bool:
        """Whether the server is a process that a sandbox can limit, where the computer has one."""
        return works_in_sandbox(self.config)

    @property
    def argv(self) -> list[str]:
        """Command and arguments; empty for a remote server."""
        return [] if self.is_remote else [self.config["command"], *self.config.get("args", ())]

    @property
    def target(self) -> str:
        """The command line or the URL without secrets, on one line."""
        return without_keys(str(self.config.get("url", ""))) if self.is_remote else shlex.join(self.argv)

    @property
    def transport(self) -> str:
        """The transport: "stdio", "http" or "sse"."""
        return str(self.config.get("type", "http")) if self.is_remote else "stdio"

    @property
    def host(self) -> str:
        """The host and port of a remote server; empty if they are a placeholder, and for a local server."""
        return netloc(str(self.config.get("url", ""))).rpartition("@")[2]

    @property
    def headers(self) -> tuple[str, ...]:
        """The names of the headers for a remote server."""
        return tuple(self.config.get("headers", ()))

    @property
    def secret_arguments(self) -> tuple[str, ...]:
        """Options whose value looks like a secret, such as `--api-key`: other programs on the computer can read arguments."""
        found = []
        before = ""
        for argument in self.argv[1:]:
            option, equals, value = argument.partition("=")
            if not equals or not (option.startswith("-") or ASSIGNMENT.match(argument)):
                option, value = before, argument
            if not value.startswith("-") and looks_secret(option.lstrip("-"), value):
                found.append(option if option.startswith("-") or equals else f"{value[:4]}…")
            before = argument if argument.startswith("-") else ""
        return tuple(found)

    @property
    def own_rules(self) -> tuple[str, ...]:
        """The calls that run without asking by rules in the text, in words; empty if it has no such rules."""
        rules, by_arguments = self.config.get("autoApprove"), self.config.get("callRules")
        listed = [str(rule) for rule in rules] if isinstance(rules, list) else []
        if isinstance(rules, list) and not rules:
            listed = [Phrase("nothing")]
        return (*listed, *([Phrase("rules on arguments")] if by_arguments else ()))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the user before the server is added."""
        options = [Phrase("these options have no effect here: {names}", names=", ".join(self.left_out))] if self.left_out else []
        return (*pasted_warnings(self.name, self.config), *options)

    def stored_as(self, name: str, secrets: Mapping[str, str]) -> tuple[JsonObject, dict[str, str]]:
        """Returns the entry for the settings, and the secrets to store.

        Args:
            name: the name under which the server is added.
            secrets: the values to store as secrets, by the names in `self.secrets`.

        Returns:
            The entry, with `${secret:NAME/KEY}` for each secret, and the values by the names of the secrets.
        """
        entry = self.filled_in({key: f"${{secret:{name}/{key}}}" for key in secrets})
        return entry, {f"{name}/{key}": value for key, value in secrets.items()}

    def filled_in(self, values: Mapping[str, str | None], entry: JsonMapping | None = None) -> JsonObject:
        """Returns the entry with other values for its secrets.

        Args:
            values: the values by the names in `self.secrets`; None removes the secret from the entry.
            entry: the entry to fill in; None for `self.config`.
        """
        result = dict(self.config if entry is None else entry)
        for key, value in values.items():
            if key in self.config.get("headers", {}):
                scheme = _SCHEME.match(self.config["headers"][key])
                before = f"{scheme[1].strip()} " if scheme else ""
                result["headers"] = _with(result["headers"], key, None if value is None else before + value)
            elif key in self.config.get("env", {}):
                result["env"] = _with(result["env"], key, value)
            else:
                result["url"] = with_parameter(result["url"], key, value)
        return result


def _with(members: JsonMapping, key: str, value: str | None) -> JsonObject:
    """Returns members with another value for one of them, in its place; None: without it."""
    return {each: value if each == key else held for each, held in members.items() if each != key or value is not None}


def parse_pasted(text: str) -> list[PastedServer]:
    """Parses a pasted text.

    Returns:
        The servers in it, at least one, in the order of the text.

    Raises:
        TooltrayError: the text cannot be parsed; the error has the place, and what can be pasted.
    """
    if len(text) > LONGEST_TEXT:
        raise TooltrayError("This is too long for a server's entry", f"{len(text):,} characters", _EXAMPLE)
    text = "\n".join(line for line in text.strip().splitlines() if not line.lstrip().startswith("```")).strip()
    if not text:
        raise TooltrayError("Nothing to read yet", "", _EXAMPLE)
    if is_link(text):
        link = read_link(text)
        return [replace(server, origin=link.origin) for server in _servers(link.value)]
    if text.startswith("[mcp_servers"):
        return _servers(_toml(text))
    if text[0] in "{[" or re.match(r'"[^"\n]+"\s*:', text):
        return _servers(_json(text))
    if re.fullmatch(r"https?://\S+", text):
        return [_server("", {"url": text})]
    return [_command_line(text)]


# blocks


def _json(text: str) -> Any:
    """Parses JSON, also with comments and trailing commas, and a fragment `"name": {...}`."""
    text = with_escaped_paths(text)
    plain = _without_comments(text)
    candidates = [text, plain]
    if not text.startswith(("{", "[")):
        candidates = [f"{{{plain.rstrip().rstrip(',')}}}"]
    failure: json.JSONDecodeError | None = None
    for candidate in candidates:
        try:
            return json.loads(candidate)
        except json.JSONDecodeError as error:
            failure = error
        except (RecursionError, ValueError) as error:
            raise TooltrayError("This JSON cannot be read", str(error), _EXAMPLE) from error
    assert failure is not None
    message = f"line {failure.lineno}, column {failure.colno}: {failure.msg}"
    raise TooltrayError("This JSON cannot be read", message, "Check that the whole block was copied, with all its braces") from failure


def _without_comments(text: str) -> str:
    """Removes comments and trailing commas from JSON outside strings."""
    tokens = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL)
    return tokens.sub(lambda match: match[0] if match[0].startswith('"') else "", text)


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(with_escaped_paths(text))
    except tomllib.TOMLDecodeError as error:
        raise TooltrayError("This TOML cannot be read", str(error), "Check that the whole block was copied") from error


def _servers(value: Any) -> list[PastedServer]:
    try:
        check_depth(value)
    except NotJson as error:
        raise TooltrayError("This block is not a server's entry", error.reason, _EXAMPLE) from None
    found = [_server(name, entry) for name, entry in _entries(value)]
    if not found:
        raise TooltrayError("No server found in this block", "", _EXAMPLE)
    return found


def _entries(value: Any) -> Iterable[tuple[str, JsonMapping]]:
    """Yields names and entries in any of the forms that AI clients use."""
    if isinstance(value, list):
        for item in value:
            yield from _entries(item)
    elif not isinstance(value, dict):
        raise TooltrayError("This block is not a server's entry", f"it is {value!r:.60}", _EXAMPLE)
    elif _is_entry(value):
        yield str(value.get("name") or ""), {key: item for key, item in value.items() if key != "name"}
    elif inner := [value[key] for key in _CONTAINERS if isinstance(value.get(key), dict)]:
        for container in inner:
            yield from _entries(container)
    else:
        for name, entry in value.items():
            if isinstance(entry, dict) and _is_entry(entry):
                yield name, entry
            elif isinstance(entry, dict):
                raise TooltrayError(f"The entry {name!r} has neither a command nor a URL", "", _EXAMPLE)


def _is_entry(value: JsonMapping) -> bool:
    return isinstance(value.get("command"), str | list) or any(isinstance(value.get(key), str) for key in _URL_KEYS)


def _server(name: str, entry: JsonMapping) -> PastedServer:
    """Converts an entry to the spelling of `mcpServers`; other members stay unchanged."""
    config = dict(entry)
    command = config.pop("command", None)
    arguments = config.pop("args", config.pop("arguments", []))
    env = config.pop("env", config.pop("environment", None)) or {}
    shown = name or "it"
    if isinstance(command, list):
        command, arguments = (command or [""])[0], command[1:]
    if isinstance(arguments, str):
        arguments = _split(arguments)
    if not isinstance(arguments, list) or not isinstance(env, dict):
        raise TooltrayError(f"The entry of {shown} cannot be read", "`args` has to be a list and `env` an object", _EXAMPLE)
    if config.pop("disabled", False) is True or config.pop("enabled", True) is False:
        config["disable"] = True
    kind = _type(config, shown)
    if kind == "inmemory":
        title = Phrase("{name} cannot be added from a text or a link: it would run inside Tooltray and could read every secret", name=shown)
        raise TooltrayError(title, "", Phrase("Add it yourself, at a terminal: tooltray servers add NAME --inmemory ENTRY"))
    if kind in ("local", "remote", "custom", "streamable-http", "streamableHttp"):
        kind = "stdio" if command else "http"
    result: JsonObject = {}
    if isinstance(command, str) and command.strip():
        first, *more = _split(command) if not arguments and " " in command and not PATH_VALUE.match(command) else [command]
        result = {"command": portable(first), "args": [portable(as_word(argument)) for argument in [*more, *arguments]]}
    else:
        url = next((config.pop(key) for key in _URL_KEYS if isinstance(config.get(key), str)), "")
        if not url:
            raise TooltrayError(f"The entry of {shown} has neither a command nor a URL", "", _EXAMPLE)
        result = {"url": portable(url)}
        if kind := _OTHER_TYPES.get(str(kind), kind) or usual_type(url):
            result["type"] = kind
        if headers := take_headers(config):
            result["headers"] = headers
    if "command" in result and kind is not None:
        config["type"] = kind
    if env:
        result["env"] = {str(key): portable(as_word(value)) for key, value in env.items() if value is not None}
    result |= config
    words = [result.get("command") or result["url"], *result.get("args", [])]
    return PastedServer(clean_name(name) or guess_name(words), result, secrets_in(result))


def _type(config: JsonObject, shown: str) -> Any:
    """Removes and returns the type of a server, in any of its spellings; None if the entry has none."""
    given = [(key, kind) for key in ("type", "transport", "transportType") if (kind := config.pop(key, None))]
    if len({str(_OTHER_TYPES.get(str(kind), kind)) for _, kind in given}) > 1:
        names = " / ".join(key for key, _ in given)
        raise TooltrayError(f"The entry of {shown} cannot be read", f"{names} differ; keep one of them", _EXAMPLE)
    return given[0][1] if given else None


def secrets_in(config: JsonMapping) -> dict[str, str]:
    """Returns the values of an entry's environment, headers and URL that look like secrets, by name; empty for a placeholder or a blank.

    Args:
        config: in the spelling of `mcpServers`, all values texts.
    """
    found = {key: value for key, value in config.get("env", {}).items() if looks_secret(key, value)}
    for key, value in config.get("headers", {}).items():
        scheme = _SCHEME.match(value)
        held = scheme[2] if scheme else value
        if looks_secret(key, value) and looks_secret(key, held):
            found[key] = held
    for key, value in parameters(str(config.get("url", ""))):
        if looks_secret(key, value) and key not in found:
            found[key] = value
    return {key: "" if is_placeholder(value) or value.isspace() else value for key, value in found.items()}


# command lines


def _command_line(text: str) -> PastedServer:
    env: dict[str, str] = {}
    commands: list[list[str]] = []
    for line in re.sub(r"[ \t]*[\\`^][ \t]*\n[ \t]*", " ", text).splitlines():  # continued after \ (shells), ` (PowerShell), ^ (cmd)
        line = re.sub(r"^\s*(?:[$%>]|PS [^>]*>)\s+", "", line).strip()
        if not line or line.startswith("#"):
            continue
        words = _split(line)
        while words and (ASSIGNMENT.match(words[0]) or words[0] in ("env", "export")):
            if "=" in words[0]:
                key, _, value = words[0].partition("=")
                env[key] = value
            del words[0]
        if words:
            commands.append(words)
    if not commands:
        raise TooltrayError("No command found in this text", "it only sets variables" if env else "", _EXAMPLE)
    if len(commands) > 1:
        message = f"{len(commands)} lines have a command: {shlex.join(commands[0]):.60} and {shlex.join(commands[1]):.60}"
        raise TooltrayError("Only one command can be added at a time", message, "Paste the line that starts the server")
    words = commands[0]
    if unusable := next((word for word in words if word in _SHELL_WORDS or "$(" in word or word.startswith("`")), None):
        message = f"{unusable!r} means something to a shell only; servers are started without one"
        hint = "Put it into a script and paste the script's path, or paste only the command that starts the server"
        raise TooltrayError("This line needs a shell", message, hint)
    if len(words) > 3 and words[1:2] == ["mcp"] and words[2] in ("add", "add-json"):
        return _client_command(words, env)
    if len(words) == 3 and words[1] == "--add-mcp":
        return _servers(_json(words[2]))[0]
    command, *arguments = words
    entry: JsonObject = {"command": command, "args": [_expanded(word) for word in arguments]}
    return _server("", {**entry, "env": {key: _expanded(value) for key, value in env.items()}})


def _client_command(words: list[str], env: dict[str, str]) -> PastedServer:
    """Parses `CLIENT mcp add [OPTIONS] NAME [--] COMMAND ARGS...` of several AI clients, also with a URL instead of the command."""
    options = _ClientOptions(env)
    name = ""
    rest = words[3:]
    while rest:
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("-"):
            options.take(word, rest, takes_many=not name)
        elif not name:
            name = word
        else:
            rest.insert(0, word)
            break
    if options.url:
        rest.insert(0, options.url)
    if not name or not rest:
        raise TooltrayError("This command does not name a server to add", shlex.join(words)[:120], _EXAMPLE)
    if rest[0].startswith("{"):
        server = _servers(_json(f'"{name}": {rest[0]}'))[0]
    elif re.match(r"https?://", rest[0]):
        url, *more = rest
        while more:
            options.take(more.pop(0), more, takes_many=False)
        server = _server(name, {"url": url, **options.of_a_url()})
    else:
        server = _server(name, {"command": rest[0], "args": [_expanded(word) for word in rest[1:]], "env": env})
    return replace(server, left_out=tuple(options.left_out))


class _ClientOptions:
    """The options of `CLIENT mcp add`; those that do not concern the server (such as a scope) are skipped with their values.

    Attributes:
        left_out: the names of others that are not understood.
    """

    def __init__(self, env: dict[str, str]) -> None:
        self.url = ""
        self.left_out: list[str] = []
        self._env, self._kind, self._headers = env, "", dict[str, str]()

    def take(self, word: str, rest: list[str], *, takes_many: bool) -> None:
        """Takes an option, and its values from the following words.

        Args:
            takes_many: whether `-e` may have several values here.
        """
        option, equals, value = word.partition("=")
        if option in ("-e", "--env"):
            pairs = [value] if equals and value else [rest.pop(0)] if rest else []
            while takes_many and rest and ASSIGNMENT.match(rest[0]):
                pairs.append(rest.pop(0))
            self._env |= {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
            return
        if not equals and word.startswith("-") and rest and not rest[0].startswith("-"):
            value = rest.pop(0)
        match option:
            case "-t" | "--transport":
                self._kind = value
            case "-H" | "--header":
                key, _, content = value.partition(":")
                self._headers[key.strip()] = _expanded(content.strip())
            case "--url":
                self.url = value
            case "--bearer-token-env-var":
                self._headers["Authorization"] = f"Bearer ${{{value}}}"
            case _ if option.startswith("-") and option not in _OF_THE_CLIENT:
                self.left_out.append(option)

    def of_a_url(self) -> JsonObject:
        return {key: value for key, value in (("type", self._kind), ("headers", self._headers)) if value}


def _split(line: str) -> list[str]:
    try:
        return split(line)
    except ValueError as error:
        reason = "a quote is opened and never closed" if "quotation" in str(error) else str(error)
        raise TooltrayError("This command cannot be read", f"{reason}: {line[:80]}", "Check that the whole line was copied") from error


def _expanded(word: str) -> str:
    """Converts `$NAME` and `~`, which a shell would expand, to the placeholders of the settings."""
    word = re.sub(r"\$([A-Za-z_][A-Za-z0-9_]*)", r"${\1}", word)
    return "${HOME}" + word[1:] if word == "~" or word.startswith("~/") else word
