"""What an entry of a project's own file starts in the project: paths, modules, shell lines and scripts. Blocks on the disk."""

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from tooltray.config.settings.file_server import FILE_NAME, PROJECT_FOLDER
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Denied
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.command_lookup import program_name
from tooltray.servers.upstream.project_folder import is_inside, shown

PROJECT_VARIABLES = (PROJECT_FOLDER,)
"""Placeholders for the project's own folder; they are not variables of the person's environment."""
MOST_WORDS = 200  # arguments that are examined
_OWN_FOLDER = re.compile(r"\$\{(?:" + "|".join(PROJECT_VARIABLES) + r")(?::-[^{}]*)?\}")
_AFTER_SIGN = re.compile(r"^-{1,2}[\w-]+=")  # `--require=./x.js`


def found_inside(config: MCPServerConfig, folder: str) -> bool:
    """Returns whether the command or a file among its arguments lies in the project: who can change the project can then change it."""
    return any(True for _ in paths_inside(config, folder)) or _is_written_inside(config)


def paths_inside(config: MCPServerConfig, folder: str) -> Iterator[str]:
    """Yields the command, if it is a path, and the files among its arguments, as far as they lie in the project."""
    base = place_of(config.cwd or "", folder, folder)
    return (path for path in _paths(config, base, folder) if os.path.lexists(path) and _is_inside(path, folder))


def _is_written_inside(config: MCPServerConfig) -> bool:
    """Returns whether the command is written as a path in the project, existing or not."""
    command = config.command or ""
    is_relative = ("/" in command or "\\" in command) and not os.path.isabs(command) and not command.startswith(("~", "$"))
    return is_relative or bool(_OWN_FOLDER.match(command))


def _paths(config: MCPServerConfig, base: str, folder: str) -> Iterator[str]:
    if "/" in (command := config.command or "") or os.sep in command:
        yield place_of(command, folder, folder)
    for word in (*config.args, *config.template)[:MOST_WORDS]:
        path = place_of(_AFTER_SIGN.sub("", word), base, folder)
        if "\0" not in path and os.path.isfile(path):
            yield path


def place_of(text: str, base: str, folder: str) -> str:
    """Resolves a path of an entry relative to `base`, with the placeholder of the project's folder filled in."""
    return os.path.join(base, _OWN_FOLDER.sub(lambda _: folder, text))


def _is_inside(path: str, folder: str) -> bool:
    return is_inside(os.path.normpath(path), folder) or is_inside(os.path.realpath(path), folder)


def is_writable_by_others(path: str, bits: int) -> bool:
    """Returns whether a file's permissions include one of `bits`, with which other users can change it; False on Windows."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return os.name == "posix" and bool(found.st_mode & bits)


def check_stays_inside(folder: str) -> None:
    """Checks that a project's file is no link to a file outside the project, which would be foreign.

    Raises:
        Denied: it is such a link.
    """
    path = os.path.join(folder, FILE_NAME)
    real = os.path.realpath(path)
    if not is_inside(real, folder):
        title = Phrase("'{file}' is not read", file=shown(path))
        message = Phrase("it is a link that leads out of the project, to '{place}'", place=shown(real))
        raise Denied(title, message, Phrase("Put the file itself into the project."))


SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
PACKAGE_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
DEEPEST = 4  # a script that runs a script that runs a script
LARGEST_BYTES = 1024 * 1024  # of a package.json
_BEFORE = frozenset({"exec", "env", "command", "nohup", "time"})
_ENDS = frozenset({"&&", "||", ";", "|", "&", "(", ")"})


def lines_of(config: MCPServerConfig, folder: str, depth: int = 0) -> Iterator[MCPServerConfig]:
    """Yields what else an entry starts, as entries with a command and arguments.

    Args:
        folder: the project's real path.
    """
    if depth >= DEEPEST:
        return
    for line in _lines(config, folder):
        for found in _commands(line, config):
            yield found
            yield from lines_of(found, folder, depth + 1)


def starts_others(config: MCPServerConfig, folder: str) -> bool:
    """Returns whether an entry starts a shell line or a runner: what these run cannot be known before they run it."""
    return next(lines_of(config, folder), None) is not None or any(map(os.path.isfile, deciding_files(config, folder)))


def deciding_files(config: MCPServerConfig, folder: str) -> Iterator[str]:
    """Yields the paths of files that decide what a runner starts: package.json and what its `main` and `bin` name, a Makefile."""
    base, name = place_of(config.cwd or "", folder, folder), program_name(config.command or "")
    if name in PACKAGE_RUNNERS:
        yield os.path.join(base, "package.json")
    if name == "make":
        yield from (os.path.join(base, each) for each in MAKEFILES)
    if name == "node":
        for place in (place_of(word, base, folder) for word in config.args if not word.startswith("-")):
            package = _package(place)
            programs = package.get("bin")
            named = [package.get("main"), *(programs.values() if isinstance(programs, dict) else [programs])]
            yield from (os.path.join(place, each + end) for each in named if isinstance(each, str) for end in ("", ".js", "/index.js"))


def _lines(config: MCPServerConfig, folder: str) -> Iterator[str]:
    name, words = program_name(config.command or ""), list(config.args)
    if name in SHELLS:
        yield from (words[at + 1] for at, word in enumerate(words[:-1]) if word.startswith("-") and word.endswith("c"))
    if name in PACKAGE_RUNNERS:
        scripts = _package(place_of(config.cwd or "", folder, folder)).get("scripts")
        wanted = {each for word in words if not word.startswith("-") for each in (word, f"pre{word}", f"post{word}")}
        if isinstance(scripts, dict):
            yield from (line for script, line in scripts.items() if script in wanted and isinstance(line, str))


def _commands(line: str, config: MCPServerConfig) -> Iterator[MCPServerConfig]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = [*lexer, ";"]
    except ValueError:  # quotes that do not close: no shell runs it, either
        return
    command: list[str] = []
    for word in words:
        if word not in _ENDS:
            command.append(word)
            continue
        while command and (command[0] in _BEFORE or "=" in command[0]):
            command.pop(0)
        if command:
            yield MCPServerConfig(command=command[0], args=tuple(command[1:]), cwd=config.cwd)
        command = []


def _package(folder: str) -> Mapping[str, Any]:
    try:
        with open(os.path.join(folder, "package.json"), "rb") as file:
            found = json.loads(file.read(LARGEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
