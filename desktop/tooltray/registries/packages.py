"""Which packages servers are downloaded as: whether a registry matters at all, and what it is asked for when it is measured.

Above it: NpmRegistries. Pure. Works on exact names of commands, never on parts of them.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath, PureWindowsPath

from tooltray.settings.server_config import MCPServerConfig

NODE_COMMANDS = frozenset({"npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx"})
PYTHON_COMMANDS = frozenset({"uvx", "uv", "pip", "pip3", "pipx"})
SDK = "@modelcontextprotocol/sdk"  # what almost every server on Node.js needs, so each useful registry has it
MAX_OWN_PACKAGES = 3  # enough to notice a mirror that lacks what this person needs; each is one more request to each registry

_ENDINGS = (".exe", ".cmd", ".bat", ".ps1")  # of Windows
_RUNNERS = frozenset({"npx", "pnpx", "bunx"})
_SWITCHES = frozenset({"-y", "--yes", "-q", "--quiet", "--silent", "--bun", "--prefer-offline", "--prefer-online", "--offline"})
# a name and perhaps a version; no path, no address
_SPEC = re.compile(r"((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[^/:]*)?")


def command_name(command: str) -> str:
    """The bare name of a command: without its folder, and without the ending that Windows wants."""
    name = PureWindowsPath(PurePosixPath(command).name).name
    stem, ending = name[:-4], name[-4:].lower()
    return stem if ending in _ENDINGS else name


def is_downloaded(config: MCPServerConfig) -> bool:
    """Whether a server's command downloads packages."""
    return config.transport == "stdio" and command_name(config.command or "") in NODE_COMMANDS | PYTHON_COMMANDS


def is_python(config: MCPServerConfig) -> bool:
    """Whether it downloads them from an index for Python packages."""
    return config.transport == "stdio" and command_name(config.command or "") in PYTHON_COMMANDS


def package_of(config: MCPServerConfig) -> str:
    """The npm package that a server is started from, without its version; empty if that is not plain to see."""
    if command_name(config.command or "") not in _RUNNERS:
        return ""
    words = iter(config.arguments)
    for word in words:
        name, mark, value = word.partition("=")
        if name in ("-p", "--package"):
            return _name_in(value if mark else next(words, ""))
        if not word.startswith("-"):
            return _name_in(word)
        if word not in _SWITCHES and not mark:
            return ""  # the next word may be this option's value
    return ""


def probed_packages(servers: Iterable[MCPServerConfig], *, scopes_elsewhere: Collection[str], may_name_own: bool) -> tuple[str, ...]:
    """What registries are asked for.

    Args:
        servers: those of the settings that are not switched off.
        scopes_elsewhere: npm gets the packages of these scopes (`@company`) from registries of their own; nobody else hears of them.
        may_name_own: whether the person's packages may be named; not where they come from a registry that the person chose, which may
            have packages that nobody else is to know of.
    """
    names = dict.fromkeys(package_of(config) for config in servers if not config.disable) if may_name_own else {}
    own = [name for name in names if name not in ("", SDK) and name.partition("/")[0] not in scopes_elsewhere]
    return (SDK, *own[:MAX_OWN_PACKAGES])


def _name_in(spec: str) -> str:
    found = _SPEC.fullmatch(spec)
    return found[1] if found and not spec.startswith(".") else ""
