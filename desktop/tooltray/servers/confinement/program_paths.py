"""Finds a program with all its own files: the interpreter's installation, a virtual environment, its package. Blocks on the disk.

A command is a chain: `~/.local/bin/x` is a link to a script of a virtual environment, whose first line names a Python that is a link to the
installation of a version manager. Each link of the chain counts, and with it the folder above its `bin` if that is an installation.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from glob import glob

from tooltray.servers.confinement.guarded_folders import GuardedFolders, is_below
from tooltray.servers.confinement.launch_line import leads_through
from tooltray.servers.confinement.policy import LINUX_READ, MAC_READ
from tooltray.servers.launch.command_lookup import look_up, program_name

COMPANIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("npx", "npm", "pnpm", "pnpx", "yarn"), ("node", "npm")),
    **dict.fromkeys(("uvx", "uv"), ("uv", "python3")),
    "pipx": ("python3",),
}
"""Programs that launchers start by bare name."""
SYSTEM_READ = MAC_READ if sys.platform == "darwin" else LINUX_READ
RUNTIMES = (
    *(".pyenv", ".nvm", ".volta", ".asdf", ".nodenv", ".rbenv", ".fnm", ".n", "n", ".bun", ".deno", ".sdkman"),
    *(
        ".local/share/uv",
        ".local/share/mise",
        ".local/share/fnm",
        ".local/share/pnpm",
        "miniconda3",
        "anaconda3",
        "miniforge3",
        "mambaforge",
    ),
)
"""In the home: folders in which version managers keep interpreters, and nothing else."""
PROGRAM_FOLDERS = ("bin", "sbin", "shims")
_INSTALLED = ("pyvenv.cfg", "lib/node_modules", "lib/python*", "include/node", "package.json", "shims", "conda-meta")
_PACKAGE = ("package.json", "pyproject.toml", "setup.py", "requirements.txt", "node_modules", "Cargo.toml", "go.mod", "deno.json", ".git")
_PACKAGES = ("node_modules", "site-packages", "dist-packages")
_CODE = (".js", ".mjs", ".cjs", ".ts", ".py", ".pyz", ".rb", ".php", ".jar", ".sh", ".dll")
_SHEBANG = re.compile(rb"#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?")
MAX_LINE_BYTES = 1024
MAX_LINKS = 40  # links in a row: the kernel's own limit


def program_paths(program: str, *, env: Mapping[str, str], cwd: str, guarded: GuardedFolders, changeable: Sequence[str] = ()) -> set[str]:
    """Returns the paths that must be readable for a program to run.

    Args:
        program: absolute.
        env: its environment, whose PATH counts for interpreters and companions.
        changeable: folders that the program itself may write. The program may have changed links and scripts in them, so the target of such
            a link, or of such a script's first line, counts only if it is a runtime.
    """
    found, waiting, seen = set[str](), [(program, True)], set[str]()
    while waiting:
        path, is_certain = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for hop in _hops(path):
            if not is_of_system(hop) and (is_certain or _is_runtime(hop, guarded)):
                found |= {hop, *_installation(hop, guarded)}
            is_certain = is_certain and not leads_through(hop, changeable)
        names = [_interpreter(os.path.realpath(path)), *COMPANIONS.get(program_name(path), ())]
        waiting += [(each, is_certain) for name in names if name and (each := look_up(name, env=env, cwd=cwd).resolved)]
    return found


def _is_runtime(path: str, guarded: GuardedFolders) -> bool:
    """Reports whether a path is in a folder in which a version manager keeps interpreters."""
    return any(is_below(path, os.path.join(guarded.home, each)) for each in RUNTIMES)


def is_of_system(path: str) -> bool:
    """Reports whether a path is in a folder that every confined program may read and only the system changes."""
    return any(is_below(path, folder) for folder in SYSTEM_READ)


def package_of(path: str, guarded: GuardedFolders) -> str:
    """Returns the package that a file of code belongs to, with the packages beside it: the folder of installed packages that contains the
    file, or the next folder above that looks like a package; else only the file."""
    for name in _PACKAGES:
        before, found, _ = path.partition(f"/{name}/")
        if found and not guarded.why_not(installed := f"{before}/{name}"):
            return installed
    folder = os.path.dirname(path)
    while not guarded.why_not(folder):
        if any(os.path.lexists(os.path.join(folder, mark)) for mark in _PACKAGE):
            return folder
        folder = os.path.dirname(folder)
    return path


def is_code(path: str) -> bool:
    return path.endswith(_CODE)


def paths_among(args: Sequence[str], guarded: GuardedFolders) -> Iterator[str]:
    """Yields the existing absolute paths among arguments, as `/srv`, `~/notes` or `--root=/srv`; links in them stay."""
    for word in args:
        for text in (word, word.partition("=")[2]):
            if text.startswith(("/", "~/")) and "\0" not in text and os.path.exists(path := guarded.whole(text)):
                yield path


def _hops(path: str) -> Iterator[str]:
    """Yields the path, and each one that it leads to as a link."""
    for _ in range(MAX_LINKS):
        yield path
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    yield os.path.realpath(path)


def _installation(program: str, guarded: GuardedFolders) -> Iterator[str]:
    folder = os.path.dirname(program)
    root = os.path.dirname(folder)
    if os.path.basename(folder) not in PROGRAM_FOLDERS:
        return
    if os.path.realpath(root) in (os.path.realpath(guarded.home), os.path.realpath(os.path.join(guarded.home, ".local"))):
        yield from glob(os.path.join(glob_safe(root), "lib", "python*"))
        yield from glob(os.path.join(glob_safe(root), "lib", "node_modules"))
    elif any(glob(os.path.join(glob_safe(root), mark)) for mark in _INSTALLED) and not guarded.why_not(root):
        yield root


def glob_safe(path: str) -> str:
    """Returns a path in which no character is a pattern."""
    return re.sub(r"([*?[])", r"[\1]", path)


def _interpreter(script: str) -> str:
    """Returns the program that a script's first line names; empty: it is not a script, or cannot be read."""
    try:
        with open(script, "rb") as opened:
            found = _SHEBANG.match(opened.readline(MAX_LINE_BYTES))
    except OSError:
        return ""
    if not found:
        return ""
    program, word = os.fsdecode(found[1]), os.fsdecode(found[2] or b"")
    return word if os.path.basename(program) == "env" else program
