"""Starts a server's own program in place of npx or uvx, if its package is unpacked already and they would run exactly this program.

A launcher runs as long as its server, asks the network before each start, and contributes nothing afterwards. Without it a start is
quicker, works offline, and needs less memory. The launcher is left out only if the result cannot differ; in doubt it is used. A server that
exits without output is started with its launcher the next time, in case the missing launcher was the cause.

npm (libnpmexec of npm 7 to 11) first looks for a program of that name in the folder's own project, or in a package installed for all; then
in the cache's folder named after the requested text. It runs an exact version in the cache as it is, by `sh`, with the folder's programs
first on the PATH. For anything but an exact version (no version, a tag, a range) npm asks its registry at each start whether there is a
newer one, so the program that it would run is not known here. The start is also left to npm if one of npm's settings changes which program
is run. Only the values of the settings `cache` and `prefix` are kept, since other settings contain keys of registries. The cache is only
read.

uv (0.13) runs a tool that the user installed as it is, with the folder of its environment first on the PATH, unless a version, an index or
another Python is requested. uv resolves anything else at each start, so the program that it would run is not known here.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.servers.launch.command_lookup import look_up, program_name, read_launcher_line
from tooltray.servers.launch.npm_config import read_npmrc
from tooltray.servers.launch.program_launch import DirectProgram, Launch

NPX = "npx-cli.js"  # the file to which npm's own `npx` is a link; a version manager's replacement links to another

# settings that change what npx runs, or how; if one is set, the start is left to npm
DECISIVE = frozenset(
    {
        *("before", "call", "c", "dangerously-allow-all-scripts", "global", "globalconfig", "include-workspace-root", "location"),
        *("min-release-age", "node-arg", "node-options", "package", "p", "script-shell", "shell", "userconfig", "workspace", "workspaces"),
    }
)
_UV_NAME = lazy_pattern(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")  # in uv's own spelling, without extras or a version
_SETTINGS = ("/etc/uv/uv.toml", "uv/uv.toml", "uv/.python-version")  # the relative ones in each folder of settings
_MACHINES_FOLDER = "/etc/xdg"  # of the machine's settings, if no variable names another


class NpmSettings(msgspec.Struct, frozen=True):
    """The settings of npm that decide where npx looks.

    Attributes:
        npm: the folder of npm itself.
        cache: its cache.
        prefix: the folder for packages that are installed for all projects.
    """

    npm: Path
    cache: Path
    prefix: Path


def read_npm_settings(environ: Mapping[str, str], *, npx: str, node: str) -> NpmSettings | None:
    """Returns npm's settings; None if one changes what npx runs, or if this `npx` is not npm's own.

    Args:
        environ: of the process that npx would be.
        npx, node: the programs that the PATH leads to.
    """
    npm, home = Path(os.path.realpath(npx)).parent.parent, Path(environ.get("HOME", ""))
    is_npms_own = os.path.basename(os.path.realpath(npx)) == NPX and (npm / "bin" / "npm-cli.js").is_file()
    if not is_npms_own or not home.is_absolute() or environ.get("DESTDIR"):
        return None
    known = {**read_npmrc(npm / "npmrc"), **read_npmrc(home / ".npmrc"), **dict(_of_environ(environ))}
    prefix = _folder(known.get("prefix") or environ.get("PREFIX") or str(Path(os.path.realpath(node)).parent.parent), home)
    if prefix is None:
        return None
    known = {**read_npmrc(prefix / "etc" / "npmrc"), **known}
    cache = _folder(known.get("cache") or "~/.npm", home)
    return None if cache is None or DECISIVE & known.keys() else NpmSettings(npm, cache, prefix)


def _of_environ(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields npm's settings: `npm_config_script_shell` and `NPM_CONFIG_SCRIPT_SHELL` are script-shell; an empty one counts as not set."""
    for name, value in environ.items():
        if name.lower().startswith("npm_config_") and value:
            yield name.lower().removeprefix("npm_config_").replace("_", "-"), value


def _folder(value: str, home: Path) -> Path | None:
    """Returns an absolute folder; None if the value may contain a variable or a comment."""
    path = home / value.removeprefix("~/") if value.startswith("~/") else Path(value)
    return path if path.is_absolute() and not set(value) & set("$;#") else None


FLAGS = frozenset({"-y", "--yes", "-q", "--quiet"})  # of npx; they do not change what is run
SHEBANG = b"#!/usr/bin/env node"
MAX_JSON_BYTES = 16 * 1024 * 1024  # the lock of a package with thousands of dependencies has a few
SHELL = "/bin/sh"  # by which npm starts programs
SHELLS_THAT_STAY = frozenset({"dash"})  # as `sh`; others replace themselves with the program that they run
HASH_DIGITS = 16
_EXACT = lazy_pattern(r"((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)@(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)")


def npx_program(launch: Launch) -> DirectProgram | None:
    """Returns the program that npx would run; None if that is not certain."""
    line = read_launcher_line(launch.args, flags=FLAGS)
    exact = _EXACT.fullmatch(line.word) if line else None
    if line is None or exact is None:
        return None
    package, version = exact.groups()
    npx, node = (look_up(command, env=launch.env, cwd=launch.cwd).resolved for command in (launch.command, "node"))
    if not npx or not node or _has_project(launch):
        return None
    settings = read_npm_settings(launch.env, npx=npx, node=node)
    if settings is None or _is_global(line.word, package, settings.prefix):
        return None
    entry = settings.cache / "_npx" / hashlib.sha512(line.word.encode()).hexdigest()[:HASH_DIGITS]
    program = _program_in(entry, line.word, package, version)
    if program is None:
        return None
    return DirectProgram(node, (str(program), *line.rest), _variables(launch, settings, program, node), _saved())


def _has_project(launch: Launch) -> bool:
    """Reports whether npm would look for programs and settings in the server's folder, or in one above it."""
    folder, home = Path(os.path.realpath(launch.cwd)), Path(os.path.realpath(launch.env.get("HOME", "")))
    if any(os.path.lexists(each / name) for each in (folder, *folder.parents) for name in ("node_modules", "package.json")):
        return True
    return folder != home and os.path.lexists(folder / ".npmrc")


def _is_global(spec: str, package: str, prefix: Path) -> bool:
    """Reports whether the package is installed for all projects, perhaps as a link to a working copy."""
    return any(os.path.lexists(prefix / place) for place in (f"lib/node_modules/{package}", f"bin/{spec}"))


def _program_in(entry: Path, spec: str, package: str, version: str) -> Path | None:
    """Returns the program of a package in npm's cache, if the cache's files are complete and unchanged."""
    modules = entry / "node_modules"
    folder = modules / package
    if os.path.lexists(entry / "concurrency.lock") or os.path.lexists(modules / ".bin" / "node"):
        return None  # being installed right now; or it brings a Node.js of its own
    asked = _read_json(entry / "package.json")
    lock = _read_json(modules / ".package-lock.json")
    manifest = _read_json(folder / "package.json")
    locked = _at(lock, "packages", f"node_modules/{package}")
    is_whole = (
        _at(asked, "_npx", "packages") == [spec]
        and _at(locked, "version") == version
        and not _at(locked, "link")
        and (_at(manifest, "name"), _at(manifest, "version")) == (package, version)
    )
    name, target = bin_of(manifest) if is_whole else ("", "")
    program = modules / ".bin" / name
    return program if name and _is_script(program, folder / target, inside=folder) else None


def bin_of(manifest: object) -> tuple[str, str]:
    """Returns the name and the file of the program that a package is run by: the only one, or the one with the package's own name."""
    own_name = str(_at(manifest, "name")).rpartition("/")[2]
    bins = _at(manifest, "bin")
    if isinstance(bins, str):
        bins = {own_name: bins}
    if not isinstance(bins, dict) or not all(isinstance(target, str) for target in bins.values()):
        return "", ""
    name = next(iter(bins), "") if len(set(bins.values())) == 1 else own_name
    is_plain = os.path.basename(name) == name
    return (name, bins[name]) if is_plain and name in bins else ("", "")


def _is_script(program: Path, target: Path, *, inside: Path) -> bool:
    """Reports whether what npm would run is an executable script for Node.js in the package."""
    real = Path(os.path.realpath(program))
    if real != Path(os.path.realpath(target)) or not real.is_relative_to(os.path.realpath(inside)) or not os.access(real, os.X_OK):
        return False
    with real.open("rb") as script:
        return script.readline(len(SHEBANG) + 2).rstrip() == SHEBANG


def _variables(launch: Launch, settings: NpmSettings, program: Path, node: str) -> Mapping[str, str]:
    """Returns the variables that npx sets for a program, as far as a server may read them."""
    folder = os.path.realpath(launch.cwd)  # as npm and its shell find it
    return {
        "PATH": os.pathsep.join([str(program.parent), launch.env.get("PATH", "")]),
        "PWD": folder,
        "INIT_CWD": folder,
        "NODE": os.path.realpath(node),
        "npm_command": "exec",
        "npm_config_cache": str(settings.cache),
        "npm_config_prefix": str(settings.prefix),
        "npm_execpath": str(settings.npm / "bin" / "npm-cli.js"),
        "npm_lifecycle_event": "npx",
        "npm_lifecycle_script": program.name,
        "npm_node_execpath": os.path.realpath(node),
    }


def _saved() -> int:
    """Returns how many processes are saved: npm itself, and the shell if it waits for the program that it starts."""
    return 1 + (os.path.basename(os.path.realpath(SHELL)) in SHELLS_THAT_STAY)


def _read_json(file: Path) -> object:
    try:
        with file.open("rb") as opened:
            return json.loads(opened.read(MAX_JSON_BYTES))
    except (OSError, ValueError, RecursionError):
        return None


def _at(document: object, *keys: str) -> object:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def uvx_program(launch: Launch) -> DirectProgram | None:
    """Returns the program that uvx would run; None if that is not certain."""
    name, args = (launch.args[0], tuple(launch.args[1:])) if launch.args else ("", ())
    home = Path(launch.env.get("HOME", ""))
    uvx = look_up(launch.command, env=launch.env, cwd=launch.cwd).resolved
    uv = Path(os.path.realpath(uvx)).parent / "uv"
    if not _UV_NAME.fullmatch(name) or not uvx or not uv.is_file() or not home.is_absolute() or _is_told_otherwise(launch, home):
        return None
    folder = Path(launch.env.get("XDG_DATA_HOME") or home / ".local" / "share", "uv", "tools", name)
    program = folder / "bin" / name
    has_python = (folder / "bin" / "python").is_file()  # a link, which an update of Python may have left dangling
    if not has_python or not os.access(program, os.X_OK) or not _is_plain(_read_toml(folder / "uv-receipt.toml"), name):
        return None
    path = os.pathsep.join([str(program.parent), launch.env.get("PATH", "")])
    return DirectProgram(str(program), args, {"PATH": path, "UV": str(uv)}, saved_processes=1)


def _is_told_otherwise(launch: Launch, home: Path) -> bool:
    """Reports whether uv has settings, many of which change what it runs."""
    persons = Path(launch.env.get("XDG_CONFIG_HOME") or home / ".config")
    machines = (launch.env.get("XDG_CONFIG_DIRS") or _MACHINES_FOLDER).split(":")
    folders = (persons, *map(Path, filter(None, machines)))
    has_file = any(os.path.lexists(folder / file) for folder in folders for file in _SETTINGS)
    return has_file or any(name.startswith("UV_") for name in launch.env)


def _is_plain(receipt: Mapping[str, object], name: str) -> bool:
    """Reports whether a tool was installed only by its name, and has a program of that name."""
    tool = receipt.get("tool")
    if (
        not isinstance(tool, dict)
        or tool.keys() - {"requirements", "python", "entrypoints"}
        or tool.get("requirements") != [{"name": name}]
    ):
        return False
    entrypoints = tool.get("entrypoints")
    return isinstance(entrypoints, list) and any(isinstance(each, dict) and each.get("name") == name for each in entrypoints)


def _read_toml(file: Path) -> dict[str, object]:
    import tomllib  # compiles long expressions

    try:
        return tomllib.loads(file.read_bytes().decode())
    except (OSError, ValueError, RecursionError):
        return {}


FINDERS: Mapping[str, Callable[[Launch], DirectProgram | None]] = {"npx": npx_program, "uvx": uvx_program}


class _Key(msgspec.Struct, frozen=True):
    command: str
    args: tuple[str, ...]
    cwd: str


class DirectStarts:
    """A memory of servers that did not run without their launcher. `shorten` reads the file system and may be called in any thread."""

    def __init__(self) -> None:
        self._failed: set[_Key] = set()

    def shorten(self, launch: Launch) -> Launch:
        """Returns the launch without its launcher if that is safe, else unchanged."""
        found = _find(launch)
        if found is None:
            return launch
        key = _Key(launch.command, tuple(launch.args), launch.cwd)
        if key in self._failed:
            return replace(launch, on_silent_end=lambda: self._failed.discard(key))  # the missing launcher was not the cause
        return replace(
            launch,
            command=found.program,
            args=found.args,
            env={**launch.env, **found.env},
            saved_processes=found.saved_processes,
            on_silent_end=lambda: self._failed.add(key),
        )


def _find(launch: Launch) -> DirectProgram | None:
    finder = FINDERS.get(program_name(launch.command))
    try:
        return finder(launch) if finder else None
    except (OSError, ValueError):  # a file that cannot be read leaves doubt
        return None
