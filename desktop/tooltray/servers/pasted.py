"""Reads what people copy from READMEs: a command line, a JSON or TOML block, an AI client's `mcp add` command, or a URL.

Above it: the sheet "Add server" and the command line. Below it: errors. Knows nothing of settings on disk, of running servers or of the
screen. It never runs anything and never looks at the disk; it only says what would run.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tooltray.errors import TooltrayError

LONGEST_TEXT = 200_000  # characters; the largest published config blocks have a few thousand
LONGEST_NAME = 64  # what settings allow

_EXAMPLE = "Paste a command such as `npx -y @scope/package`, or the JSON block from the server's README"
_CONTAINERS = ("mcpServers", "servers", "mcp_servers", "context_servers", "mcp")
_URL_KEYS = ("url", "baseUrl", "serverUrl", "httpUrl")
_LAUNCHERS = re.compile("npx|bunx|pnpx|uvx|pipx|uv|npm|pnpm|yarn|bun|deno|node|python|python3|py|docker|podman")
_HAS_SUBCOMMANDS = re.compile("uv|pipx|npm|pnpm|yarn|bun|deno|docker|podman")
_SUBCOMMANDS = re.compile("run|exec|x|dlx|tool")
_LAUNCHER_WORDS = re.compile("-y|--yes|-m|-i|-it|-t|--rm|-q|--quiet|--init|-A|-c|/c")
_TAKES_VALUE = re.compile("-p|--package|--from|--with|--python|--directory|--project|-e|--env|-v|--mount|--network|--name")
_SHELL_WORDS = {"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"}
_WRAPPERS = {"cmd", "cmd.exe", "env", "sudo"}
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PAT|CREDENTIALS?|AUTHORIZATION)(?:$|_\d+$|_VALUE$)"
)
_SECRET_VALUE = re.compile(
    r"gh[pousr]_|github_pat_|glpat-|sk-[A-Za-z0-9_-]{8}|xox[abprs]-|AKIA[0-9A-Z]{12}|AIza[0-9A-Za-z_-]{20}|eyJ[A-Za-z0-9_-]{16}|Bearer\s\S"
    r"|[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@"
)
_PLACEHOLDER = re.compile(
    r"<[^>]*>|\[[^\]]*\]|\.\.\.|…|x{3,}|\*{3,}|\$\{input:[^}]*\}"
    r"|(?:your|my|insert|enter|replace|put|add|paste)[ _-].*|.*[ _-](?:here|goes[ _-]here)|(?:changeme|todo|secret|token|api[_-]?key)",
    re.IGNORECASE,
)
_PATH_VALUE = re.compile(r"[~.]{0,2}/|[A-Za-z]:[\\/]")
_AFFIX = re.compile(r"^(?:mcp-servers?-|server-|mcp-)+|(?:-mcp-servers?|-servers?-mcp|-mcp|-servers?)+$")


@dataclass(frozen=True)
class PastedServer:
    """One server that was found in a text; nothing of it is stored yet.

    Attributes:
        name: what it is called in the text, or a guess from its command.
        config: the entry in the spelling of `mcpServers`, all values as pasted.
        secrets: what of `config["env"]` looks like a secret; a value is empty where the text has only a placeholder for it.
    """

    name: str
    config: dict[str, Any]
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def is_remote(self) -> bool:
        """Whether it is reached by a URL, so that nothing is started here."""
        return "command" not in self.config

    @property
    def argv(self) -> list[str]:
        """Command and arguments; empty for a remote server."""
        return [] if self.is_remote else [self.config["command"], *self.config.get("args", ())]

    @property
    def target(self) -> str:
        """What is run or reached, as one line."""
        return str(self.config.get("url", "")) if self.is_remote else shlex.join(self.argv)

    @property
    def secret_arguments(self) -> tuple[str, ...]:
        """Options whose value looks like a secret, e.g. `--api-key`: other programs on the computer can read arguments."""
        found = []
        before = ""
        for argument in self.argv[1:]:
            option, equals, value = argument.partition("=")
            if not equals or not (option.startswith("-") or _ASSIGNMENT.match(argument)):
                option, value = before, argument
            if not value.startswith("-") and looks_secret(option.lstrip("-"), value):
                found.append(option if option.startswith("-") or equals else f"{value[:4]}…")
            before = argument if argument.startswith("-") else ""
        return tuple(found)

    def stored_as(self, name: str, secrets: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
        """Returns the entry as settings will hold it, and what goes into the secret store.

        A person adds this server knowingly, so all its tools are allowed unless the text itself says otherwise.

        Args:
            name: the name under which it is added.
            secrets: the variables that are to be kept as secrets, with their values.

        Returns:
            The entry, with `${secret:NAME/KEY}` for each secret, and the values by the names of the secrets.
        """
        entry = dict(self.config)
        if secrets:
            entry["env"] = {**entry.get("env", {}), **{key: f"${{secret:{name}/{key}}}" for key in secrets}}
        entry.setdefault("autoApprove", ["all"])
        return entry, {f"{name}/{key}": value for key, value in secrets.items()}


def parse_pasted(text: str) -> list[PastedServer]:
    """Reads a pasted text.

    Returns:
        The servers in it, at least one, in the order of the text.

    Raises:
        TooltrayError: it cannot be read; says where it breaks off and what can be pasted.
    """
    if len(text) > LONGEST_TEXT:
        raise TooltrayError("This is too long for a server's entry", f"{len(text):,} characters", _EXAMPLE)
    text = "\n".join(line for line in text.strip().splitlines() if not line.lstrip().startswith("```")).strip()
    if not text:
        raise TooltrayError("There is nothing to read yet", "", _EXAMPLE)
    if text.startswith("[mcp_servers"):
        return _servers(_toml(text))
    if text[0] in "{[" or re.match(r'"[^"\n]+"\s*:', text):
        return _servers(_json(text))
    if re.fullmatch(r"https?://\S+", text):
        return [_server(_guess_name([text]), {"url": text})]
    return [_command_line(text)]


def looks_secret(key: str, value: str) -> bool:
    """Whether a variable holds a secret, by its name or by the form of its value."""
    if value.startswith("${") and not value.startswith("${input:"):
        return False  # it stands somewhere else already
    if _SECRET_VALUE.match(value):
        return True
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).upper().replace("-", "_")
    return bool(_SECRET_NAME.search(name)) and not _PATH_VALUE.match(value)


# blocks


def _json(text: str) -> Any:
    """Returns the value of a JSON text, also with comments and commas that are too many, and of a fragment `"name": {...}`."""
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
    """Returns JSON without comments and trailing commas; strings stay as they are."""
    tokens = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL)
    return tokens.sub(lambda match: match[0] if match[0].startswith('"') else "", text)


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TooltrayError("This TOML cannot be read", str(error), "Check that the whole block was copied") from error


def _servers(value: Any) -> list[PastedServer]:
    found = [_server(name, entry) for name, entry in _entries(value)]
    if not found:
        raise TooltrayError("There is no server in this block", "", _EXAMPLE)
    return found


def _entries(value: Any) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Finds the entries in any of the forms that programs use for them."""
    if isinstance(value, list):
        for item in value:
            yield from _entries(item)
    elif not isinstance(value, dict):
        raise TooltrayError("This block is no server's entry", f"it is {value!r:.60}", _EXAMPLE)
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


def _is_entry(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("command"), str | list) or any(isinstance(value.get(key), str) for key in _URL_KEYS)


def _server(name: str, entry: Mapping[str, Any]) -> PastedServer:
    """Brings an entry into the spelling of `mcpServers`; what it has besides stays."""
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
    if config.pop("disabled", False) is True:
        config["disable"] = True
    if config.get("type") in ("local", "remote", "custom", "streamable-http", "streamableHttp"):
        config["type"] = "stdio" if command else "http"
    result: dict[str, Any] = {}
    if isinstance(command, str) and command.strip():
        first, *more = _split(command) if not arguments and " " in command and not _PATH_VALUE.match(command) else [command]
        result = {"command": _portable(first), "args": [_portable(_word(argument)) for argument in [*more, *arguments]]}
    else:
        url = next((config.pop(key) for key in _URL_KEYS if isinstance(config.get(key), str)), "")
        if not url:
            raise TooltrayError(f"The entry of {shown} has neither a command nor a URL", "", _EXAMPLE)
        result = {"url": url}
    if env:
        result["env"] = {str(key): _portable(_word(value)) for key, value in env.items() if value is not None}
    result |= config
    secrets = {key: value for key, value in result.get("env", {}).items() if looks_secret(key, value)}
    for key, value in secrets.items():
        if _PLACEHOLDER.fullmatch(value.strip()):
            secrets[key] = ""
    words = [result.get("command") or result["url"], *result.get("args", [])]
    return PastedServer(_clean_name(name) or _guess_name(words), result, secrets)


def _word(value: Any) -> str:
    """Numbers and switches come without quotes in some blocks; programs take words."""
    return value if isinstance(value, str) else json.dumps(value)


def _portable(text: str) -> str:
    """Returns a value with other programs' placeholders in our spelling."""
    text = re.sub(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}", r"${\1}", text)
    return re.sub(r"\$\{userHome\}", "${HOME}", text)


# command lines


def _command_line(text: str) -> PastedServer:
    env: dict[str, str] = {}
    commands: list[list[str]] = []
    for line in re.sub(r"[ \t]*[\\`^][ \t]*\n[ \t]*", " ", text).splitlines():  # a line goes on after \ (shells), ` (PowerShell), ^ (cmd)
        line = re.sub(r"^\s*(?:[$%>]|PS [^>]*>)\s+", "", line).strip()
        if not line or line.startswith("#"):
            continue
        words = _split(line)
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("env", "export")):
            if "=" in words[0]:
                key, _, value = words[0].partition("=")
                env[key] = value
            del words[0]
        if words:
            commands.append(words)
    if not commands:
        raise TooltrayError("There is no command in this text", "it only sets variables" if env else "", _EXAMPLE)
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
    entry: dict[str, Any] = {"command": command, "args": [_expanded(word) for word in arguments]}
    return _server("", {**entry, "env": {key: _expanded(value) for key, value in env.items()}})


def _client_command(words: list[str], env: dict[str, str]) -> PastedServer:
    """Reads `CLIENT mcp add [OPTIONS] NAME [--] COMMAND ARGS...`, as several AI clients spell it."""
    name = ""
    rest = words[3:]
    while rest:
        word = rest.pop(0)
        if word == "--":
            break
        option, equals, value = word.partition("=")
        if option in ("-e", "--env"):
            pairs = [value] if equals and value else [rest.pop(0)] if rest else []
            while not name and rest and _ASSIGNMENT.match(rest[0]):  # one option may take several
                pairs.append(rest.pop(0))
            env |= {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
        elif word.startswith("-"):
            if not equals and rest and not rest[0].startswith("-"):
                del rest[0]  # a scope, a transport, a header
        elif not name:
            name = word
        else:
            rest.insert(0, word)
            break
    if not name or not rest:
        raise TooltrayError("This command names no server to add", shlex.join(words)[:120], _EXAMPLE)
    if rest[0].startswith("{"):
        return _servers(_json(f'"{name}": {rest[0]}'))[0]
    if re.match(r"https?://", rest[0]):
        return _server(name, {"url": rest[0]})
    return _server(name, {"command": rest[0], "args": [_expanded(word) for word in rest[1:]], "env": env})


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        reason = "a quote is opened and never closed" if "quotation" in str(error) else str(error)
        raise TooltrayError("This command cannot be read", f"{reason}: {line[:80]}", "Check that the whole line was copied") from error


def _expanded(word: str) -> str:
    """A shell would fill these in; settings do it with their own spelling."""
    word = re.sub(r"\$([A-Za-z_][A-Za-z0-9_]*)", r"${\1}", word)
    return "${HOME}" + word[1:] if word == "~" or word.startswith("~/") else word


# names


def _clean_name(name: str) -> str:
    last = name.strip().rstrip("/").rpartition("/")[2]
    return "".join(sign for sign in last if sign.isprintable())[:LONGEST_NAME].strip()


def _guess_name(words: list[str]) -> str:
    """Returns a short name for a command: the package's, the script's or the host's, without `mcp` and `server` around it."""
    for guess in _NAMED_BY:
        if name := guess(words):
            return _clean_name(name) or "server"
    return "server"


def _host(words: list[str]) -> str:
    if not (match := re.match(r"https?://(?:[^/@]*@)?([^/:?#]+)", words[0])):
        return ""
    parts = [part for part in match[1].split(".") if part not in ("www", "mcp", "api")]
    return parts[0] if len(parts) < 3 or parts[0].isdigit() else parts[-2]


def _package(words: list[str]) -> str:
    words = [word for word in words if word]
    while words and _stem(words[0]) in _WRAPPERS:
        words = [word for word in words[1:] if not word.startswith(("-", "/")) or len(words) == 2]
    if not words:
        return ""
    if not _LAUNCHERS.fullmatch(_stem(words[0])):
        return _without_affixes(_stem(words[0]))
    skip = False
    has_subcommands = _HAS_SUBCOMMANDS.fullmatch(_stem(words[0])) is not None
    for word in words[1:]:
        if has_subcommands and _SUBCOMMANDS.fullmatch(word):
            continue
        if skip or _LAUNCHER_WORDS.fullmatch(word) or word.startswith("-"):
            skip = not skip and _TAKES_VALUE.fullmatch(word) is not None
            continue
        if _ASSIGNMENT.match(word) or word.startswith("${"):
            continue
        return _package_name(word)
    return _stem(words[0])


def _package_name(word: str) -> str:
    if _PATH_VALUE.match(word) or word.endswith((".js", ".mjs", ".cjs", ".ts", ".py")):
        parts = [part for part in re.split(r"[/\\]", word) if part and part not in ("..", ".", "~")]
        telling = [part for part in parts if _stem(part) not in ("index", "main", "server", "cli", "dist", "build", "src", "app", "bin")]
        return _without_affixes(_stem((telling or parts or ["server"])[-1]))
    name = re.sub(r"(?<=.)@[^/]*$|(?:==|>=|~=|\[).*$|:[^/]*$", "", word)
    scope, _, last = name.rpartition("/")
    bare = _without_affixes(last.replace("_", "-"))
    return bare if bare not in ("", "mcp", "server") else scope.rpartition("/")[2].lstrip("@") or last


def _without_affixes(name: str) -> str:
    short = _AFFIX.sub("", name)
    return short or name


def _stem(word: str) -> str:
    last = re.split(r"[/\\]", word.rstrip("/\\"))[-1]
    return re.sub(r"\.(?:exe|cmd|bat|sh|[cm]?js|ts|py)$", "", last, flags=re.IGNORECASE)


_NAMED_BY: tuple[Callable[[list[str]], str], ...] = (_host, _package)
