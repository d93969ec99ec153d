"""Whether a file lies in a work tree of a version control system, whose changes its person commits.

Above it: client_scanner. Below it: the disk. Starts no program.
"""

import os
from pathlib import Path

MARKS = (".git", ".hg", ".jj", ".svn")


class WorkTrees:
    """Remembers what it has seen: many files lie in the same folders."""

    def __init__(self) -> None:
        self._seen: dict[Path, bool] = {}

    def holds(self, path: Path) -> bool:
        """Whether the file, or what it links to (as people keep their settings in a repository), is in a work tree."""
        return any(self._is_inside(folder) for folder in {path.parent, Path(os.path.realpath(path)).parent})

    def _is_inside(self, folder: Path) -> bool:
        if folder not in self._seen:
            has_mark = any(os.path.lexists(folder / mark) for mark in MARKS)
            self._seen[folder] = has_mark or (folder != folder.parent and self._is_inside(folder.parent))
        return self._seen[folder]
