"""The two ways in which editors save: they write into the file as it is, or put a new one in its place."""

import os
from collections.abc import Callable
from pathlib import Path

Save = Callable[[Path, bytes], None]


def save_in_place(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def save_by_rename(path: Path, content: bytes) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content)
    os.replace(new, path)
