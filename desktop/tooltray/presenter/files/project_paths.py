"""Where what an entry starts lies, and who can change it.

Above it: trust_requests and ServerFiles. Below it: the disk, which is looked at and never written; call it in a thread.
"""

import os
import re
from collections.abc import Iterator

from tooltray.config.files.file_server import FILE_NAME, PROJECT_FOLDER
from tooltray.config.server_config import MCPServerConfig
from tooltray.errors import Denied
from tooltray.servers.projects import is_inside, shown

PROJECT_VARIABLES = (PROJECT_FOLDER,)
"""Stand for the project's own folder, and are nothing of the person's environment."""
MOST_WORDS = 200  # arguments that are looked at
_OF_SCRIPTS = ("npm", "pnpm", "yarn", "poetry", "pipenv", "pdm", "hatch", "bundle", "composer")
_OF_BUILDS = ("make", "just", "task", "rake", "cargo", "go", "tox", "nox", "gradle", "gradlew", "mvn", "mvnw", "mix", "direnv")
RUNNERS = frozenset((*_OF_SCRIPTS, *_OF_BUILDS))
"""What they run stands in a file of the folder in which they are started."""
RUNNERS_BY = {"python": ("-m", "."), "node": (".",), "bun": ("run", "x", "."), "deno": ("task", "run"), "uv": ("run",), "dotnet": ("run",)}
"""The same, where an argument says so."""
LOOKED_AT = {"npx": ("node_modules/.bin", ".npmrc"), "bunx": ("node_modules/.bin", "bunfig.toml", ".npmrc"), "uvx": ("uv.toml",)}
"""What others look at in that folder before they look for a package elsewhere."""
_SUFFIX, _VERSION = re.compile(r"\.(?:exe|cmd|bat)$"), re.compile(r"[\d.]+$")
_OWN_FOLDER = re.compile(r"\$\{(?:" + "|".join(PROJECT_VARIABLES) + r")(?::-[^{}]*)?\}")
_AFTER_SIGN = re.compile(r"^-{1,2}[\w-]+=")  # `--require=./x.js`


def found_inside(config: MCPServerConfig, folder: str) -> bool:
    """Whether the command, or a file that it is given as an argument, lies in the project: whoever can change the project changes it."""
    base = _at(config.cwd or "", folder, folder)
    return any(os.path.lexists(path) and _is_inside(path, folder) for path in _paths(config, base, folder)) or _is_written_inside(config)


def _is_written_inside(config: MCPServerConfig) -> bool:
    """It is said to be there, whether it is there yet or not."""
    command = config.command or ""
    is_relative = ("/" in command or "\\" in command) and not os.path.isabs(command) and not command.startswith(("~", "$"))
    return is_relative or bool(_OWN_FOLDER.match(command))


def _paths(config: MCPServerConfig, base: str, folder: str) -> Iterator[str]:
    if "/" in (command := config.command or "") or os.sep in command:
        yield _at(command, folder, folder)
    for word in (*config.args, *config.template)[:MOST_WORDS]:
        path = _at(_AFTER_SIGN.sub("", word), base, folder)
        if "\0" not in path and os.path.isfile(path):
            yield path


def _at(text: str, base: str, folder: str) -> str:
    return os.path.join(base, _OWN_FOLDER.sub(lambda _: folder, text))


def _is_inside(path: str, folder: str) -> bool:
    return is_inside(os.path.normpath(path), folder) or is_inside(os.path.realpath(path), folder)


def is_found_in_project(config: MCPServerConfig, folder: str) -> bool:
    """Whether the command looks for what it runs in the folder in which it is started, and that is the project's."""
    base = os.path.realpath(_at(config.cwd or "", folder, folder)) if "\0" not in (config.cwd or "") else ""
    if not is_inside(base, folder):
        return False
    command, words = _SUFFIX.sub("", os.path.basename(config.command or "").lower()), (*config.args, *config.template)
    if command in RUNNERS or any(word in RUNNERS_BY.get(_VERSION.sub("", command), ()) for word in words[:MOST_WORDS]):
        return True
    return any(os.path.lexists(os.path.join(base, name)) for name in LOOKED_AT.get(command, ()))


def is_writable_by_others(path: str, bits: int) -> bool:
    """Whether the permissions let other users change it."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return os.name == "posix" and bool(found.st_mode & bits)


def check_stays_inside(folder: str) -> None:
    """A link in the place of a project's file must not lead out of the project: it would be another's file.

    Raises:
        Denied: it does.
    """
    path = os.path.join(folder, FILE_NAME)
    real = os.path.realpath(path)
    if not is_inside(real, folder):
        title = f"'{shown(path)}' is not read"
        raise Denied(title, f"it is a link that leads out of the project, to '{shown(real)}'", "Put the file itself into the project.")
