"""Looks for a program where people's installers put programs, for the doctor: it was not on PATH, and it may be there all the same.

Above it: the doctor. Below it: nothing. Looks at the file system and changes nothing; works on exact names.
"""

import os
import re
from pathlib import Path

# below the person's folder; a star stands for one folder: version managers keep one per version
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
MOST = 5  # nobody chooses among more


def find_elsewhere(command: str, *, home: Path, common: tuple[str, ...] = COMMON) -> tuple[str, ...]:
    """Returns the absolute paths of programs of this name, a person's own first, the newest version of each kind first.

    Args:
        command: a bare name.
        home: the person's folder.
        common: folders of the whole system.
    """
    if not command or os.sep in command:
        return ()
    folders = [folder for pattern in _PERSONAL for folder in _newest_first(home, pattern)]
    folders += [folder for pattern in common for folder in _newest_first(Path("/"), pattern.lstrip("/"))]
    paths = (folder / command for folder in folders)
    return tuple(dict.fromkeys(str(path) for path in paths if _can_run(path)))[:MOST]


def runs_by_name(path: str) -> bool:
    """Whether a program is a script whose interpreter is looked up on PATH, so that its path alone would not make it run."""
    try:
        with open(path, "rb") as file:
            return file.read(64).startswith((b"#!/usr/bin/env", b"#! /usr/bin/env"))
    except OSError:
        return False


def _newest_first(root: Path, pattern: str) -> list[Path]:
    return sorted(root.glob(pattern), key=_version, reverse=True)


def _version(folder: Path) -> list[tuple[int, ...]]:
    """Orders v18.2.0 before v9.1.0, which letters would not."""
    return [tuple(int(number) for number in re.findall(r"\d+", part)) for part in folder.parts]


def _can_run(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except OSError:
        return False
