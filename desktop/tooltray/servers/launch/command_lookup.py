"""Finds commands, also where installers put programs outside of the PATH; an error names the searched places. Compares whole names, never
parts of them."""

import ntpath
import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.program_launch import CannotStart

LAUNCHERS = frozenset({"npx", "uvx", "bunx", "pnpx"})  # they download the server at its first start
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"  # if neither the user nor the entry sets one
MAX_FIRST_LINE_BYTES = 1024  # of a script; Linux itself reads 256
DEFAULT_PATHEXT = ".COM;.EXE;.BAT;.CMD"  # the endings of programs on Windows if PATHEXT is not set
_ENDINGS = frozenset({*DEFAULT_PATHEXT.lower().split(";"), ".ps1"})  # npm puts an `npx.ps1` beside its `npx.cmd`
IS_WINDOWS = os.name == "nt"
_DOWNLOADING = {  # programs that download or build other programs, by the words that make them do it; an empty set: always
    **dict.fromkeys(LAUNCHERS, frozenset()),
    "npm": frozenset({"exec", "x", "run", "start"}),
    "pnpm": frozenset({"dlx", "exec", "run", "start"}),
    "yarn": frozenset({"dlx", "run", "start"}),
    "bun": frozenset({"x", "run"}),
    "uv": frozenset({"run", "tool", "x"}),
    "pipx": frozenset({"run"}),
    "docker": frozenset({"run", "pull", "compose"}),
    "podman": frozenset({"run", "pull", "compose"}),
    "deno": frozenset({"run"}),
    "go": frozenset({"run"}),
    "cargo": frozenset({"run"}),
    "dotnet": frozenset({"run", "tool"}),
    "dnx": frozenset(),
    "nix": frozenset({"run", "shell", "develop"}),
}
_PASSES_ON = frozenset({"sh", "bash", "zsh", "dash", "env", "cmd", "powershell", "pwsh", "mise", "nice"})  # the command follows them
_WORDS = lazy_pattern(r"[\w.+-]+")
_COMES_WITH = {
    "npx": "Node.js",
    "node": "Node.js",
    "npm": "Node.js",
    "uvx": "uv",
    "uv": "uv",
    "bunx": "Bun",
    "docker": "Docker",
    "python": "Python",
    "python3": "Python",
}


class Lookup(msgspec.Struct, frozen=True):
    """The outcome of a search: `resolved` is an absolute path, or empty."""

    command: str
    resolved: str
    searched: tuple[str, ...]
    path: str


def look_up(command: str, *, env: Mapping[str, str], cwd: str) -> Lookup:
    """Finds a command the way a shell would: a path as it is (relative ones from `cwd`), a name on PATH.

    Args:
        env: the environment that the command would get; its PATH counts, not the hub's.
        cwd: absolute folder in which the command would run.
    """
    if IS_WINDOWS:  # pragma: no cover - one branch per platform
        return look_up_on_windows(command, env=env, cwd=cwd)
    path = env.get("PATH") or DEFAULT_PATH
    if os.sep in command:
        target = Path(cwd, command)
        return Lookup(command, str(target) if target.is_file() and os.access(target, os.X_OK) else "", (str(target.parent),), path)
    folders = tuple(os.path.join(cwd, folder) for folder in path.split(os.pathsep))  # a relative or empty entry is meant from `cwd`
    return Lookup(command, shutil.which(command, path=os.pathsep.join(folders)) or "", folders, path)


def look_up_on_windows(command: str, *, env: Mapping[str, str], cwd: str, is_file: Callable[[str], bool] = os.path.isfile) -> Lookup:
    """Finds a command by the rules of Windows: `npx` is a `npx.cmd` there, and only a file whose ending PATHEXT names is a program.

    A name without one of those endings is tried with each, in their order; a file of just that name is never run (npm puts a shell script
    `npx` beside `npx.cmd`). Unlike Windows itself, this searches the current folder only if the PATH has it.
    """
    variables = {name.upper(): value for name, value in env.items()}
    path = variables.get("PATH", "")
    endings = tuple(ending.lower() for ending in (variables.get("PATHEXT") or DEFAULT_PATHEXT).split(";") if ending)
    names = (command,) if command.lower().endswith(endings) else tuple(command + ending for ending in endings)
    if ntpath.basename(command) != command:
        folders: Sequence[str] = (ntpath.dirname(ntpath.normpath(ntpath.join(cwd, command))),)
        names = tuple(ntpath.basename(name) for name in names)
    else:
        folders = [ntpath.join(cwd, folder.strip('"')) for folder in path.split(";") if folder]
    candidates = (ntpath.join(folder, name) for folder in folders for name in names)
    return Lookup(command, next(filter(is_file, candidates), ""), tuple(folders), path)


def program_name(command: str, *, is_windows: bool = IS_WINDOWS) -> str:
    """Returns the bare name of a command: `npx` for `/usr/bin/npx`, and on Windows for `NPX.CMD`."""
    if not is_windows:
        return Path(command).name
    name, ending = ntpath.splitext(ntpath.basename(command).lower())
    return name if ending in _ENDINGS else name + ending


def is_launcher(command: str) -> bool:
    """Reports whether a command downloads what it starts."""
    return program_name(command) in LAUNCHERS


def downloads(command: str, args: Sequence[str]) -> bool:
    """Reports whether the program of a command may first have to be downloaded or built; any word of a shell's script may be a command."""
    program = program_name(command)
    if program in _PASSES_ON:
        words = [word for arg in args for word in _WORDS.findall(arg)]
        return any(downloads(word, words[at + 1 :]) for at, word in enumerate(words) if word not in _PASSES_ON)
    wanted = _DOWNLOADING.get(program)
    return wanted is not None and (not wanted or not wanted.isdisjoint(args))


class LauncherLine(msgspec.Struct, frozen=True):
    """A launcher's command line: options by their meaning, the first word that is not an option, and what follows."""

    options: Mapping[str, tuple[str, ...]]
    word: str
    rest: tuple[str, ...]


def read_launcher_line(args: Sequence[str], options: Mapping[str, str] = {}, *, flags: frozenset[str]) -> LauncherLine | None:
    """Reads the arguments of npx or uvx; None if an option is not known, or only options are given.

    Args:
        options: the meaning of each option that has a value.
        flags: options without a value.
    """
    rest, found = list(args), dict[str, tuple[str, ...]]()
    while rest and rest[0].startswith("-"):
        word, equals, value = rest.pop(0).partition("=")
        if word == "--":
            break
        if word in options and (equals or rest):
            found[options[word]] = (*found.get(options[word], ()), value if equals else rest.pop(0))
        elif word not in flags:
            return None
    return LauncherLine(found, rest[0], tuple(rest[1:])) if rest else None


def comes_with(command: str) -> str:
    """Returns the product that brings a well-known command along; empty for any other."""
    return _COMES_WITH.get(program_name(command), "")


def _not_executable(lookup: Lookup) -> CannotStart | None:
    """Returns the error for a file of that name that cannot be run; None if the file does not exist. Reads the disk."""
    for folder in lookup.searched:
        path = os.path.join(folder, Path(lookup.command).name)
        if os.path.isfile(path):
            hint = Phrase("If it is a program: chmod +x {path}", path=shlex.quote(path))
            return CannotStart(Phrase("'{command}' is not executable", command=lookup.command), _unless_said(path, lookup), hint)
        if os.sep in lookup.command and os.path.isdir(path):
            title = Phrase("'{command}' is a folder, not a program", command=lookup.command)
            return CannotStart(title, _unless_said(path, lookup), Phrase("Name the program in it."))
    return None


def _unless_said(path: str, lookup: Lookup) -> str:
    """Returns where the file was found, if that is not the command itself."""
    return "" if os.path.normpath(path) == os.path.normpath(lookup.command) else path


def why_not_run(program: str, reason: str) -> tuple[str, str]:
    """Returns why the system does not run an executable file, and what to do about it; reads the file's first line.

    Args:
        program: its absolute path.
        reason: the system's own words.
    """
    try:
        with open(program, "rb") as file:
            start = file.read(MAX_FIRST_LINE_BYTES)
    except OSError:
        start = b""
    if start.startswith(b"#!"):
        line = start[2:].split(b"\n", 1)[0].decode(errors="replace")
        interpreter = line.split()[0] if line.split() else ""
        if not os.path.exists(interpreter) or line.endswith("\r"):
            what = Phrase("its first line names {interpreter}, which is not there", interpreter=repr(interpreter or line))
            return what, Phrase("Install that, or correct the file's first line.")
    if start.startswith((b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")):
        return Phrase("it is a program for another system ({reason})", reason=reason), Phrase("Get the one for this computer.")
    if start and b"\0" not in start and not start.startswith(b"#!"):
        what = Phrase("it is a text file whose first line does not name a program to run it ({reason})", reason=reason)
        return what, Phrase("Put that in front as the command: python3, node, sh ...")
    return reason, Phrase("Check that the command is a program for this machine, and its arguments.")


def not_found_title(command: str) -> Phrase:
    """Returns the title of the error for a command that is not on PATH."""
    return Phrase("command '{command}' not found", command=command)


def not_found(lookup: Lookup) -> CannotStart:
    """Returns the error for a lookup without result, with what to do about it."""
    runtime = comes_with(lookup.command)
    if found := _not_executable(lookup):
        return found
    if os.sep in lookup.command:
        title = Phrase("'{command}' is not there", command=lookup.command)
        return CannotStart(title, Phrase("looked in {folders}", folders=lookup.searched[0]), Phrase("Correct the command's path."))
    title, folders = not_found_title(lookup.command), ", ".join(lookup.searched)
    if runtime:
        message = Phrase("looked in {folders}; {runtime} is not on PATH", folders=folders, runtime=runtime)
        return CannotStart(title, message, Phrase("Install {runtime}, or set the command's full path.", runtime=runtime))
    return CannotStart(title, Phrase("looked in {folders}", folders=folders), Phrase("Install it, or set the command's full path."))


# below the user's folder; a star matches one folder: version managers keep one per version
_PERSONAL = (
    *(".local/bin", "bin", ".cargo/bin", ".bun/bin", ".deno/bin", ".volta/bin", ".npm-global/bin", ".yarn/bin", ".local/share/pnpm"),
    *(".nvm/versions/node/*/bin", ".local/share/fnm/node-versions/*/installation/bin", ".fnm/node-versions/*/installation/bin"),
    *(".asdf/shims", ".asdf/installs/*/*/bin", ".local/share/mise/shims", ".local/share/mise/installs/*/*/bin"),
    *(".pyenv/shims", ".pyenv/versions/*/bin", ".rye/shims", "miniconda3/bin", "anaconda3/bin", "n/bin", ".n/bin", ".nodenv/shims"),
)
COMMON = (
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
    "/opt/*/bin",
    "/usr/local/lib/nodejs/*/bin",
)
MOST = 5  # a longer list does not help the user to choose


def find_elsewhere(command: str, *, home: Path, common: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the absolute paths of programs of this name, the user's own first, the newest version of each kind first.

    Args:
        command: a bare name.
        home: the user's folder.
        common: folders of the whole system.
    """
    if not command or os.sep in command:
        return ()
    folders = [folder for pattern in _PERSONAL for folder in _newest_first(home, pattern)]
    folders += [folder for pattern in common for folder in _newest_first(Path("/"), pattern.lstrip("/"))]
    paths = (folder / command for folder in folders)
    return tuple(dict.fromkeys(str(path) for path in paths if _can_run(path)))[:MOST]


def runs_by_name(path: str) -> bool:
    """Reports whether a program is a script whose interpreter is looked up on PATH, so that the script's path is not enough to run it."""
    try:
        with open(path, "rb") as file:
            return file.read(64).startswith((b"#!/usr/bin/env", b"#! /usr/bin/env"))
    except OSError:
        return False


def _newest_first(root: Path, pattern: str) -> list[Path]:
    return sorted(root.glob(pattern), key=_version, reverse=True)


def _version(folder: Path) -> list[tuple[int, ...]]:
    """Orders v18.2.0 before v9.1.0, unlike an alphabetical order."""
    return [tuple(int(number) for number in re.findall(r"\d+", part)) for part in folder.parts]


def _can_run(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except OSError:
        return False
