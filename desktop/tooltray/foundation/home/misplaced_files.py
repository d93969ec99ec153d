"""Renames anything else that has the name of a file or folder of the home: a pipe, a device, a folder, a broken link.

Opening a pipe would wait for its other end, and content that Tooltray did not write must not be overwritten.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from tooltray.foundation.errors import Problem
from tooltray.foundation.files.atomic_file import BROKEN, set_aside
from tooltray.foundation.phrases import Phrase

_TITLE = Phrase("Something that is not a file of Tooltray was in the place of one")
_NOWHERE = Phrase("it is a link that leads nowhere")


def set_aside_misplaced(root: Path, files: Collection[Path], folders: Collection[Path], walked: Collection[Path]) -> Iterator[Problem]:
    """Renames each misplaced item.

    A link to a file counts as the file, even if the file does not exist yet.

    Args:
        root: the home, which exists.
        files: the files in it that have fixed names.
        folders: the folders in it, each before its subfolders.
        walked: the folders among them in which every file is Tooltray's.

    Yields:
        Each item that was renamed, and its new name.
    """
    for folder in folders:
        yield from _moved(folder, _what_else(folder, stat.S_ISDIR))
    for file in files:
        yield from _moved(file, _what_else(file, stat.S_ISREG if file.suffix != ".sock" else _is_no_folder_or_pipe))
    stems = tuple(each.stem for each in files if each.parent == root)
    found = [Path(folder, name) for top in walked for folder, _, names in os.walk(top) for name in names]
    found += [
        root / name for name in os.listdir(root) if name.startswith(stems) and BROKEN not in name
    ]  # older ones, and notes beside them
    for path in sorted({*found} - {*files}):
        yield from _moved(path, _what_else(path, _is_no_pipe))


def _what_else(path: Path, is_right: Callable[[int], bool]) -> str:
    """Returns a description of an item of the wrong kind; empty if the item is of the expected kind, or does not exist."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return _NOWHERE if path.is_symlink() and not Path(os.path.realpath(path)).parent.is_dir() else ""
    except OSError:
        return _NOWHERE if path.is_symlink() else ""
    if is_right(mode):
        return ""
    if stat.S_ISREG(mode):
        return Phrase("it is not a folder")
    return Phrase("it is a folder") if stat.S_ISDIR(mode) else Phrase("it is no file, but a pipe or a device")


def _is_no_pipe(mode: int) -> bool:
    return not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode))


def _is_no_folder_or_pipe(mode: int) -> bool:
    return _is_no_pipe(mode) and not stat.S_ISDIR(mode)


def _moved(path: Path, reason: str) -> Iterator[Problem]:
    if not reason or BROKEN in path.name:
        return
    aside = set_aside(path)
    if aside == path:
        yield Problem(_TITLE, Phrase("{path}: {reason}; it cannot be renamed", path=path, reason=reason), Phrase("Remove it."))
    else:
        yield Problem(_TITLE, Phrase("{path}: {reason}; it is now {aside}", path=path, reason=reason, aside=aside))
