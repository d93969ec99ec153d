"""Shortens many paths to few folders: a file, or its folder where several in it were used, never one that may not be opened as a whole."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable

FILES_OF_FOLDER = 3  # so many files of one folder are replaced by the folder: fewer are named one by one
FOLDERS_OF_FOLDER = 4  # so many folders side by side are replaced by their common one
MOST_FOLDERS = 24  # the user reads the list; beyond it, two side by side are enough


def fewest(paths: Iterable[str], may_be_opened: Callable[[str], bool], folders: Iterable[str] = ()) -> set[str]:
    """Returns few folders and files that cover all paths.

    Args:
        paths: absolute, of files.
        folders: those that are needed as they are.
    """
    found = _folded(set(paths), FILES_OF_FOLDER, may_be_opened) | set(folders)
    found = _folded_upwards(found, FOLDERS_OF_FOLDER, may_be_opened)
    return found if len(found) <= MOST_FOLDERS else _folded_upwards(found, 2, may_be_opened)


def without_nested(paths: Iterable[str]) -> set[str]:
    """Returns the paths that are in none of the others."""
    kept: set[str] = set()
    for path in sorted(paths, key=len):
        if not any(parent in kept for parent in _parents(path)) and path not in kept:
            kept.add(path)
    return kept


def _folded_upwards(paths: set[str], siblings: int, may_be_opened: Callable[[str], bool]) -> set[str]:
    before: set[str] = set()
    while paths != before:
        before, paths = paths, without_nested(_folded(without_nested(paths), siblings, may_be_opened))
    return paths


def _folded(paths: set[str], siblings: int, may_be_opened: Callable[[str], bool]) -> set[str]:
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_folder[os.path.dirname(path)].append(path)
    found: set[str] = set()
    for folder, inside in by_folder.items():
        found.update((folder,) if len(inside) >= siblings and may_be_opened(folder) else inside)
    return found


def _parents(path: str) -> Iterable[str]:
    while len(path := os.path.dirname(path)) > 1:
        yield path
