"""Recognises commands that run code of the project (`npm run`, `make`, `node .`, `python -m`), and names the file that decides what runs.

Above it: trust_requests. Below it: project_paths and the disk. Blocks for a few file system calls.

Only the runner's own arguments count: in `node server.js .` the dot belongs to the server. After an unknown option the next argument may be
its value or the operand; both are examined then, so that nothing is missed.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.phrases import Phrase
from tooltray.servers.upstream.project_folder import is_inside
from tooltray.sources.project_files.started_commands import MOST_WORDS, place_of

Words = Sequence[str]


class Where(msgspec.Struct, frozen=True):
    """
    Attributes:
        base: the folder in which a command works.
        project: real path of the project.
    """

    base: str
    project: str

    @property
    def is_here(self) -> bool:
        """Whether `base` lies in the project."""
        return is_inside(os.path.realpath(self.base), self.project)

    def path(self, word: str) -> str:
        return place_of(word, self.base, self.project)


Rule = Callable[[str, Words, Where], str]
"""Explains, for a command's name and arguments, which code of the project runs; empty for none."""

_FILES: Mapping[str, str] = {
    "npm": "package.json",
    "pnpm": "package.json",
    "yarn": "package.json",
    "composer": "composer.json",
    "bundle": "Gemfile",
    "poetry": "pyproject.toml",
    "pdm": "pyproject.toml",
    "hatch": "pyproject.toml",
    "pipenv": "Pipfile",
    "tox": "tox.ini",
    "make": "Makefile",
    "just": "justfile",
    "task": "Taskfile.yml",
    "rake": "Rakefile",
    "cargo": "Cargo.toml",
    "nox": "noxfile.py",
    "gradle": "build.gradle",
    "gradlew": "build.gradle",
    "mvn": "pom.xml",
    "mvnw": "pom.xml",
    "mix": "mix.exs",
    "direnv": ".envrc",
}
"""The file in the folder that defines what a runner runs."""
_LOOKED_AT: Mapping[str, tuple[str, ...]] = {
    "npx": ("node_modules/.bin", ".npmrc"),
    "pnpx": ("node_modules/.bin", ".npmrc"),
    "bunx": ("node_modules/.bin", "bunfig.toml", ".npmrc"),
    "uvx": ("uv.toml",),
    "deno": ("deno.json", "deno.jsonc", "package.json"),
}
"""The files in the folder that other runners consult before they fetch a package."""
_FETCHING = ("exec", "x", "dlx")  # `npm exec`, `pnpm dlx`: fetch a package, like npx
_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "npm": ("--prefix", "-C"),
    "pnpm": ("--dir", "-C"),
    "yarn": ("--cwd",),
    "bun": ("--cwd",),
    "poetry": ("--directory", "-C"),
    "make": ("--directory", "-C", "--file", "--makefile", "-f"),
    "just": ("--justfile", "-f"),
    "task": ("--dir", "-d", "--taskfile", "-t"),
    "uv": ("--directory", "--project"),
    "cargo": ("--manifest-path", "-C"),
    "go": ("-C",),
    "dotnet": ("--project",),
}
"""Options that name another working folder, or a file in it."""
_FLAGS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(r"-[bBdEhiIOPqRsSuvVx]+"),
    "node": re.compile(r"--(?:no-warnings|enable-source-maps|watch|trace-[a-z-]+|experimental-(?!loader|config)[a-z-]+|inspect(?:-brk)?)"),
    "deno": re.compile(r"-[AqrE]+|--(?:allow|deny)-[a-z-]+|--(?:quiet|reload|unstable[a-z-]*|no-[a-z-]+)"),
    "uv": re.compile(r"-[qvn]+|--(?:quiet|verbose|frozen|locked|isolated|offline|no-[a-z-]+)"),
}
"""Options without a value."""
_NO_FLAGS = re.compile(r"(?!)")
_SUFFIX, _VERSION = re.compile(r"\.(?:exe|cmd|bat)$"), re.compile(r"[\d.]+$")
_MODULE = re.compile(r"-[A-Za-z]*?m(.*)")
_ISOLATED = re.compile(r"-[A-Za-z]*[IP][A-Za-z]*")
_CODE = re.compile(r"-[A-Za-z]*c.*")


def run_of_project(config: MCPServerConfig, folder: str) -> str:
    """Explains how a project decides what a server's command runs; empty if it does not.

    Args:
        folder: the project's real path.
    """
    command = _SUFFIX.sub("", os.path.basename(config.command or "").lower())
    kind = _VERSION.sub("", command)
    if "\0" in (config.cwd or ""):
        return ""
    for words in dict.fromkeys((config.args, config.template)):
        where = _moved(kind, Where(place_of(config.cwd or "", folder, folder), folder), words)
        rule = _rule(kind) if where.is_here else _of_folders_elsewhere
        if finding := rule(command, words[:MOST_WORDS], where):
            return finding
    return ""


def runs_by_name(config: MCPServerConfig) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The modules (`python -m NAME`), and what may be a folder (`node DIR`), that an interpreter is given to run."""
    kind = _VERSION.sub("", _SUFFIX.sub("", os.path.basename(config.command or "").lower()))
    modules, folders = [], []
    for words in (config.args[:MOST_WORDS], config.template[:MOST_WORDS]):
        if kind == "python":
            named = ((place, found) for place, word in _own(kind, words) if (found := _MODULE.fullmatch(word)))
            modules += [found[1] or "".join(words[place + 1 : place + 2]) for place, found in named]
        if kind in ("python", "node", "bun"):
            folders += [word for word, _ in _operands(kind, words)]
    return tuple(filter(None, modules)), tuple(folders)


def _rule(kind: str) -> Rule:
    if kind in _FILES:
        return _of_scripts
    return {"python": _of_python, "node": _of_node, "bun": _of_bun, "deno": _of_deno, "uv": _of_uv, "go": _of_go, "dotnet": _of_dotnet}.get(
        kind, _of_packages
    )


def _moved(kind: str, where: Where, words: Words) -> Where:
    """Returns where a command works, after options that name another folder."""
    options, operands, rest = _ELSEWHERE.get(kind, ()), 0, iter(words)
    for word in rest:
        name, sign, value = word.partition("=")
        if name in options:
            value = value if sign else next(rest, "")
            where = where if "\0" in value else replace(where, base=where.path(value))
        operands += not word.startswith("-")
        if operands > 1:  # the rest belongs to the program that it runs
            break
    return where


def _own(kind: str, words: Words) -> Iterator[tuple[int, str]]:
    """Yields the runner's own arguments with their indexes, up to its first operand."""
    flags, is_certain = _FLAGS.get(kind, _NO_FLAGS), True
    for place, word in enumerate(words):
        yield place, word
        if not word.startswith("-"):
            if is_certain:
                return
            is_certain = True
        else:
            is_certain = "=" in word or word == "--" or flags.fullmatch(word) is not None


def _operands(kind: str, words: Words) -> list[tuple[str, Words]]:
    """Returns the candidates for the first operand, each with the arguments after it."""
    return [(word, words[place + 1 :]) for place, word in _own(kind, words) if not word.startswith("-")]


def _of_scripts(command: str, words: Words, where: Where) -> str:
    wanted = [word for word, _ in _operands(command, words)]
    if command in ("npm", "pnpm", "yarn") and wanted and all(word in _FETCHING for word in wanted):
        return _of_packages("npx", words, where)
    return _stands_in(command, _FILES[command])


def _of_python(command: str, words: Words, where: Where) -> str:
    is_isolated = False
    for place, word in _own("python", words):
        if found := _MODULE.fullmatch(word):
            module = found[1] or "".join(words[place + 1 : place + 2])
            return "" if is_isolated or _ISOLATED.fullmatch(word.partition("m")[0]) else _module(command, module)
        if _CODE.fullmatch(word):
            return ""
        is_isolated = is_isolated or _ISOLATED.fullmatch(word) is not None
    return _of_folder(command, _operands("python", words), where)


def _of_node(command: str, words: Words, where: Where) -> str:
    options = [word.partition("=")[0] for _, word in _own("node", words) if word.startswith("-")]
    if "--run" in options:
        return _stands_in(command, "package.json")
    if "--test" in options:
        return _folder(command, ".")
    if not {"-e", "--eval", "-p", "--print", "-pe"}.isdisjoint(options):
        return ""
    operands = _operands("node", words)
    inspected = [operand for word, rest in operands if word == "inspect" for operand in _operands("node", rest)]
    return _of_folder(command, operands + inspected, where)


def _of_bun(command: str, words: Words, where: Where) -> str:
    for word, rest in _operands("bun", words):
        if word == "x":
            return _of_packages("bunx", rest, where)
        wanted = _operands("bun", rest) if word == "run" else [(word, rest)]
        if finding := _of_folder(command, wanted, where):
            return finding
        if not all(os.path.isabs(name) or os.path.isfile(where.path(name)) for name, _ in wanted):
            return _stands_in(command, "package.json")
    return _looked_at(command, ("bunfig.toml",), where)


def _of_deno(command: str, words: Words, where: Where) -> str:
    if any(word == "task" for word, _ in _operands("deno", words)):
        return _stands_in(command, "deno.json")
    return _looked_at(command, _LOOKED_AT["deno"], where)


def _of_uv(command: str, words: Words, where: Where) -> str:
    for word, rest in _operands("uv", words):
        if word == "run" and not any(own == "--no-project" for _, own in _own("uv", rest)):
            return _stands_in(command, "pyproject.toml")
    return _looked_at(command, _LOOKED_AT["uvx"], where)


def _of_go(command: str, words: Words, where: Where) -> str:
    """A package with a version is fetched, whatever the folder contains."""
    for word, rest in _operands("go", words):
        packages = [package for package, _ in _operands("go", rest)]
        if word == "run" and packages and all("@" in package for package in packages):
            return ""
    return _stands_in(command, "go.mod")


def _of_dotnet(command: str, words: Words, where: Where) -> str:
    is_built = any(word in ("run", "watch", "test", "build") for word, _ in _operands("dotnet", words))
    return _stands_in(command, "*.csproj") if is_built else ""


def _of_packages(command: str, words: Words, where: Where) -> str:
    return _looked_at(command, _LOOKED_AT.get(command, ()), where)


def _of_folders_elsewhere(command: str, words: Words, where: Where) -> str:
    """Handles a command that does not start in the project but may be given a folder of it to run."""
    kind = _VERSION.sub("", command)
    return _of_folder(command, _operands(kind, words), where) if kind in ("python", "node", "bun") else ""


def _of_folder(command: str, operands: Sequence[tuple[str, Words]], where: Where) -> str:
    """Handles a folder as operand, whose files decide what runs."""
    for word, _ in operands:
        path = where.path(word)
        if "\0" not in path and os.path.isdir(path) and is_inside(os.path.realpath(path), where.project):
            return _folder(command, word)
    return ""


def _looked_at(command: str, names: Sequence[str], where: Where) -> str:
    for name in names:
        if os.path.lexists(os.path.join(where.base, name)):
            return Phrase(
                "{command} looks at {file} of the project for what it runs: whoever changes that changes what runs",
                command=visible(command),
                file=name,
            )
    return ""


def _stands_in(command: str, file: str) -> str:
    return Phrase(
        "what {command} runs stands in the files of the project, as in {file}: whoever changes those changes what runs",
        command=visible(command),
        file=file,
    )


def _module(command: str, module: str) -> str:
    return Phrase(
        "{command} looks for {module} in the project first: whoever puts a file of that name there changes what runs",
        command=visible(command),
        module=visible(module),
    )


def _folder(command: str, folder: str) -> str:
    return Phrase(
        "{command} runs the folder '{folder}' of the project: whoever changes its files changes what runs",
        command=visible(command),
        folder=visible(folder),
    )
