"""Recognises programs between a client and a remote server, and the servers behind them: mcp-remote, supergateway, mcp-proxy and others.

A client that speaks only stdio needs such a program; Tooltray reaches the server itself, over HTTP, and signs in where the server asks for
it. So the server itself is offered instead of the proxy. If a part of the command line is not understood, the entry stays unchanged, since
a proxy may do more than pass messages on.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonMapping, JsonObject

Entry = JsonObject  # in the spelling of `mcpServers`

_URL = re.compile(r"https?://\S+")
_VERSION = re.compile(r"(?<=.)@[^/]*$")
_HEADER = re.compile(r"([A-Za-z0-9!#$&'*+.^_`|~-]+):\s*(.*)", re.DOTALL)
_LAUNCHERS = ("npx", "bunx", "pnpx", "uvx")
_LAUNCHER_FLAGS = ("-y", "--yes", "-q", "--quiet", "x", "dlx")
_WRAPPED = ("cmd", "cmd.exe")
_REMOTE_FLAGS = ("--allow-http", "--debug", "--silent", "--enable-proxy")  # options of mcp-remote that do not change the messages
_REMOTE_VALUES = ("--host", "--transport", "--auth-timeout", "--header", "--ignore-tool")
_SSE = {"sse-only": "sse", "http-only": "http", "http-first": "http", "sse-first": "sse"}


TOKEN = "API_ACCESS_TOKEN"  # options of mcp-proxy


class Carried(msgspec.Struct, frozen=True):
    """The offered entry, without its proxy.

    Attributes:
        proxied: the proxy, to show to the user.
        left_out: variables of the proxy that are not used here.
    """

    entry: Entry
    proxied: str
    left_out: tuple[str, ...] = ()


def carried_by(entry: JsonMapping) -> Carried | None:
    """Returns the offered entry for an entry that starts a proxy or a container; None if the entry is offered unchanged."""
    words = _program(entry)
    if not words:
        return None
    if words[0] == "docker":
        return _container(entry, words)
    if words[:2] == ["@smithery/cli", "run"] and len(words) > 2:
        return Carried(dict(entry), Phrase("the server {name} of Smithery, run by Smithery's own program", name=words[2]))
    read = _READERS.get(words[0])
    env = entry.get("env") or {}
    found = read(words[1:], env) if read else None
    if found is None:
        return None
    rest = {key: value for key, value in entry.items() if key not in ("command", "args", "env", "cwd", "type")}
    proxied = Phrase(
        "a server elsewhere, behind {program}: Tooltray connects to it directly, and signs in where it asks for that", program=words[0]
    )
    left_out = tuple(f"env.{name}" for name in env if name != TOKEN and not any(f"${{{name}}}" in word for word in words))
    return Carried(rest | found, proxied, left_out)


def is_docker_gateway(words: Sequence[str]) -> bool:
    return list(words[:4]) in (["docker", "mcp", "gateway", "run"], ["docker", "mcp", "gateway"])


def _program(entry: JsonMapping) -> list[str]:
    """Returns the words of a command line from the actual program on, without launchers, shells and versions."""
    words = [str(entry.get("command") or ""), *(str(word) for word in entry.get("args") or ())]
    if words[0].lower() in _WRAPPED and len(words) > 2 and words[1].lower() == "/c":
        words = words[2:]
    name = re.sub(r"\.(?:exe|cmd)$", "", re.split(r"[/\\]", words[0])[-1])
    if name not in _LAUNCHERS:
        return [name, *words[1:]] if name else []
    rest = words[1:]
    while rest and rest[0] in _LAUNCHER_FLAGS:
        rest = rest[1:]
    return [_VERSION.sub("", rest[0]), *rest[1:]] if rest else []


def _mcp_remote(words: Sequence[str], env: JsonMapping) -> Entry | None:
    """Reads `mcp-remote URL [PORT] [--header "Name: value"] [--transport http-only]`."""
    url, headers, kind, rest = "", dict[str, str](), "", list(words)
    while rest:
        word = rest.pop(0)
        if word in _REMOTE_FLAGS:
            continue
        if word in _REMOTE_VALUES and rest:
            value = rest.pop(0)
            if word == "--header" and not _take_header(value, env, headers):
                return None
            if word == "--ignore-tool":
                return None  # hides tools, in mcp-remote's own spelling
            kind = _SSE.get(value, "") if word == "--transport" else kind
        elif _URL.fullmatch(word) and not url:
            url = word
        elif not word.isdigit():  # the port of its own sign-in
            return None
    return _remote(url, kind, headers)


def _supergateway(words: Sequence[str], env: JsonMapping) -> Entry | None:
    """Reads `supergateway --sse URL` or `--streamableHttp URL`, with `--header` and `--oauth2Bearer`."""
    url, headers, kind, rest = "", dict[str, str](), "", list(words)
    while rest:
        word = rest.pop(0)
        if word not in ("--sse", "--streamableHttp", "--header", "--oauth2Bearer", "--logLevel", "--outputTransport") or not rest:
            return None
        value = rest.pop(0)
        match word:
            case "--sse" | "--streamableHttp":
                url, kind = value, "sse" if word == "--sse" else "http"
            case "--header":
                if not _take_header(value, env, headers):
                    return None
            case "--oauth2Bearer":
                headers["Authorization"] = f"Bearer {value}"
            case "--outputTransport" if value != "stdio":
                return None
    return _remote(url, kind, headers)


def _mcp_proxy(words: Sequence[str], env: JsonMapping) -> Entry | None:
    """Reads `mcp-proxy [--transport sse|streamablehttp] [-H NAME VALUE] URL`; with a command instead of the URL it is a server."""
    url, headers, kind, rest = "", dict[str, str](), "sse", list(words)
    token = env.get(TOKEN)
    if isinstance(token, str) and token:
        headers["Authorization"] = f"Bearer {token}"
    while rest:
        word = rest.pop(0)
        if word in ("-H", "--headers") and len(rest) > 1:
            name = rest.pop(0)
            headers[name] = rest.pop(0)
        elif word == "--transport" and rest:
            kind = "http" if rest.pop(0) == "streamablehttp" else "sse"
        elif _URL.fullmatch(word) and not url:
            url = word
        else:
            return None
    return _remote(url, kind, headers)


def _container(entry: JsonMapping, words: Sequence[str]) -> Carried | None:
    """Returns the image of a container for the user; the container itself is offered unchanged."""
    if is_docker_gateway(words):
        return Carried(dict(entry), Phrase("Docker's own gateway: the servers that are switched on in Docker Desktop"))
    if words[1:2] != ["run"]:
        return None
    image = _image(words[2:])
    return Carried(dict(entry), Phrase("the container image {image}, run by Docker", image=image)) if image else None


_DOCKER_VALUES = (
    "-e",
    "--env",
    "-v",
    "--volume",
    "--mount",
    "--name",
    "--network",
    "-p",
    "--publish",
    "--env-file",
    "-u",
    "--user",
    "-w",
    "--pull",
)


def _image(words: Sequence[str]) -> str:
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            return word
        if word in _DOCKER_VALUES and rest:
            rest.pop(0)
    return ""


def _take_header(text: str, env: JsonMapping, headers: dict[str, str]) -> bool:
    """Splits `Name: value`; variables of the entry's own environment in the value are filled in, as the proxy does."""
    found = _HEADER.fullmatch(text)
    if found is None:
        return False
    headers[found[1]] = re.sub(r"\$\{([A-Za-z_]\w*)\}", lambda name: str(env.get(name[1], name[0])), found[2])
    return True


def _remote(url: str, kind: str, headers: Mapping[str, str]) -> Entry | None:
    if not _URL.fullmatch(url):
        return None
    return {"url": url} | ({"type": kind} if kind else {}) | ({"headers": dict(headers)} if headers else {})


_READERS: Mapping[str, Callable[[Sequence[str], JsonMapping], Entry | None]] = {
    "mcp-remote": _mcp_remote,
    "supergateway": _supergateway,
    "mcp-proxy": _mcp_proxy,
}
