"""What a shell line, a script of `package.json` or a Makefile starts, as entries of their own: their files are part of what is allowed.

Blocks for reading small files. What a line computes while it runs (variables, `$(...)`, files that files load) is not found.
"""

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.servers.launch.command_lookup import program_name
from tooltray.sources.project_files.project_paths import place_of

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
