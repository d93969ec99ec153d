"""Finds what an entry of a project's own file starts in the project: paths, modules, shell lines and scripts. Blocks on the disk.

Paths that a line computes while it runs (variables, `$(...)`, files that files load) are not found.
"""

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tooltray.config.settings.file_server import PROJECT_FOLDER
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.servers.launch.command_lookup import program_name
from tooltray.servers.upstream.project_folder import is_inside

PROJECT_VARIABLES = (PROJECT_FOLDER,)
"""Placeholders for the project's own folder; they are not variables of the user's environment."""
MOST_WORDS = 200  # arguments that are examined
_OWN_FOLDER = re.compile(r"\$\{(?:" + "|".join(PROJECT_VARIABLES) + r")(?::-[^{}]*)?\}")
_AFTER_SIGN = re.compile(r"^-{1,2}[\w-]+=")  # `--require=./x.js`
_SUFFIX, _VERSION = re.compile(r"\.(?:exe|cmd|bat)$"), re.compile(r"[\d.]+$")
_MODULE = re.compile(r"-[A-Za-z]*?m(.*)")
_FLAGS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(r"-[bBdEhiIOPqRsSuvVx]+"),
    "node": re.compile(r"--(?:no-warnings|enable-source-maps|watch|trace-[a-z-]+|experimental-(?!loader|config)[a-z-]+|inspect(?:-brk)?)"),
    "bun": re.compile(r"(?!)"),
}
"""Options of an interpreter without a value."""


def found_inside(config: MCPServerConfig, folder: str) -> bool:
    """Returns whether the command or a file among its arguments lies in the project, where others who change the project can change it."""
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


SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
PACKAGE_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
DEEPEST = 4  # a script that runs a script that runs a script
LARGEST_BYTES = 1024 * 1024  # of a package.json
_BEFORE = frozenset({"exec", "env", "command", "nohup", "time"})
_ENDS = frozenset({"&&", "||", ";", "|", "&", "(", ")"})


def runs_by_name(config: MCPServerConfig) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the modules (`python -m NAME`), and what may be a folder (`node DIR`), that an interpreter is given to run."""
    kind = _VERSION.sub("", _SUFFIX.sub("", os.path.basename(config.command or "").lower()))
    modules, folders = [], []
    for words in dict.fromkeys((config.args[:MOST_WORDS], config.template[:MOST_WORDS])) if kind in _FLAGS else ():
        for place, word in _own_words(kind, words):
            if kind == "python" and (found := _MODULE.fullmatch(word)):
                modules.append(found[1] or "".join(words[place + 1 : place + 2]))
            elif not word.startswith("-"):
                folders.append(word)
    return tuple(filter(None, modules)), tuple(folders)


def _own_words(kind: str, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the interpreter's own arguments with their indexes, up to its first operand: in `node server.js .` the dot is the server's.

    After an unknown option the next argument may be its value or the operand; both are yielded then, so that nothing is missed.
    """
    is_certain = True
    for place, word in enumerate(words):
        yield place, word
        if not word.startswith("-"):
            if is_certain:
                return
            is_certain = True
        else:
            is_certain = "=" in word or word == "--" or _FLAGS[kind].fullmatch(word) is not None


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
