"""Chooses the name of a pasted server: cleans the name in the text, or guesses one from the command or URL."""

import re
from collections.abc import Callable

from tooltray.config.settings.secret_looks import PATH_VALUE

LONGEST_NAME = 64  # the limit of the settings

_LAUNCHERS = re.compile("npx|bunx|pnpx|uvx|pipx|uv|npm|pnpm|yarn|bun|deno|node|python|python3|py|docker|podman")
_HAS_SUBCOMMANDS = re.compile("uv|pipx|npm|pnpm|yarn|bun|deno|docker|podman")
_SUBCOMMANDS = re.compile("run|exec|x|dlx|tool")
_LAUNCHER_WORDS = re.compile("-y|--yes|-m|-i|-it|-t|--rm|-q|--quiet|--init|-A|-c|/c")
_TAKES_VALUE = re.compile("-p|--package|--from|--with|--python|--directory|--project|-e|--env|-v|--mount|--network|--name")
_WRAPPERS = {"cmd", "cmd.exe", "env", "sudo"}
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=(?!=)")  # with two it is a version: uvx name==1.2
_AFFIX = re.compile(r"^(?:mcp-servers?-|server-|mcp-)+|(?:-mcp-servers?|-servers?-mcp|-mcp|-servers?)+$")


def clean_name(name: str) -> str:
    last = name.strip().rstrip("/").rpartition("/")[2]
    return "".join(sign for sign in last if sign.isprintable())[:LONGEST_NAME].strip()


def guess_name(words: list[str]) -> str:
    """Returns a short name for a command: its package, script or host, without `mcp` and `server` around it."""
    for guess in _NAMED_BY:
        if name := guess(words):
            return clean_name(name) or "server"
    return "server"


def _host(words: list[str]) -> str:
    if not (match := re.match(r"https?://(?:[^/@]*@)?([^/:?#]+)", words[0])):
        return ""
    parts = [part for part in match[1].split(".") if part not in ("www", "mcp", "api")] or match[1].split(".")[:1]
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
        if ASSIGNMENT.match(word) or word.startswith("${"):
            continue
        return _package_name(word)
    return _stem(words[0])


def _package_name(word: str) -> str:
    if PATH_VALUE.match(word) or word.endswith((".js", ".mjs", ".cjs", ".ts", ".py")):
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
