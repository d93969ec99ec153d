"""What a server is in one or two words: the package, image or host behind its command or URL, never a path. Pure."""

import re
import shlex
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr

LAUNCHERS = frozenset({"npx", "pnpx", "bunx", "uvx", "pipx", "uv", "npm", "pnpm", "yarn", "bun", "deno", "docker", "podman"})
VERBS = frozenset({"run", "exec", "dlx", "x"})  # of a launcher, before what it launches
INTERPRETERS = re.compile(r"(?:python|pypy|node|ruby|perl|php|java|bash|sh|zsh|pwsh|powershell|cmd|tsx|ts-node)[\d.]*(?:\.exe)?")
VALUED = re.compile(
    "-[evpuwmh]|--(?:env|volume|mount|name|network|net|publish|env-file|user|workdir|entrypoint|memory|cpus|from|python|with|package|"
    "directory|project|index-url|registry|platform|add-host|hostname)"
)
"""Options of launchers that have a value behind them."""
VERSION = re.compile(r"(?<=.)(?:@[^/@]*|:[\w.-]+|==.*)$")  # of a package or an image
COMMON = re.compile(r"(?:index|main|server|cli|app|start|run|__main__)\.\w+")  # names of files that say nothing


def service(server: ServerSnapshot) -> str:
    """Returns the package, image, module or host of a server; without its version, and of a path only the name."""
    if server.is_builtin:
        return tr("Comes with Tooltray")
    if "://" in server.target.partition(" ")[0]:
        return host(server.target) or server.target
    words = _words(server.target)
    return (_launched(words) if words else "") or server.transport


def _words(target: str) -> list[str]:
    """Returns the words of a command line, also of one that is quoted for Windows or not at all."""
    try:
        return [word.strip("\"'") for word in shlex.split(target, posix="\\" not in target)]
    except ValueError:
        return target.split()


def host(url: str) -> str:
    """Returns the host of a URL; empty if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _launched(words: Sequence[str]) -> str:
    program = _name(words[0]).removesuffix(".cmd").removesuffix(".exe")
    if INTERPRETERS.fullmatch(program):
        if "-m" in words[:-1]:
            return words[words.index("-m") + 1]
        named = next((word for word in words[1:] if not word.startswith("-")), "")
        return _name(named) if named and "-c" not in words else program
    if program not in LAUNCHERS:
        return program
    package = next(_operands(words[1:]), "")
    is_image = program in ("docker", "podman")
    return VERSION.sub("", package if package.startswith("@") or is_image else _name(package)) or program


def _operands(words: Sequence[str]) -> Iterator[str]:
    is_value = False
    for word in words:
        if not is_value and not word.startswith("-") and word not in VERBS:
            yield word
        is_value = not is_value and VALUED.fullmatch(word) is not None


def _name(path: str) -> str:
    """Returns the last part of a path, with its folder if the name alone says nothing."""
    parts = [part for part in re.split(r"[/\\]", path) if part]
    if len(parts) > 1 and COMMON.fullmatch(parts[-1]):
        return next((part for part in reversed(parts[:-1]) if part not in ("build", "dist", "src", "lib", "bin")), parts[-1])
    return parts[-1] if parts else path
