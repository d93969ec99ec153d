"""Code that a program imports from beside its package: hoisted `node_modules`, and the sources of editable installs. Blocks on the disk.
Such code is only found here; the profiles decide whether a server may read it.

Node.js looks for a package in the `node_modules` of each folder above the file that requires it; npm's and pnpm's workspaces rely on that.
pip, uv and Poetry write into `direct_url.json` where the sources of an editable install are. A wheel could bring such a file that names any
folder, so it counts only for a project of the same name. `.pth` files do not count: their author cannot be known.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from glob import glob
from urllib.parse import unquote, urlsplit

from tooltray.servers.confinement.launch_line import leads_through
from tooltray.servers.confinement.program_paths import glob_safe

MODULES = "node_modules"
MAX_FILE_BYTES = 1_000_000  # of a direct_url.json, which has a line, or a pyproject.toml, which has some pages


def hoisted_modules(path: str) -> Iterator[str]:
    """Yields the `node_modules` that Node.js looks into for a file of code, the nearest first."""
    folder = os.path.dirname(path)
    while folder != os.path.dirname(folder):
        if os.path.basename(folder) != MODULES and os.path.isdir(modules := os.path.join(folder, MODULES)):
            yield modules
        folder = os.path.dirname(folder)


def editable_sources(environment: str, changeable: Sequence[str] = ()) -> Iterator[str]:
    """Yields the projects that a virtual environment imports packages from, where these are not copied into it.

    Args:
        changeable: folders that the server may write: a `direct_url.json` there is ignored.
    """
    for note in glob(os.path.join(glob_safe(environment), "lib", "python*", "site-packages", "*.dist-info", "direct_url.json")):
        package = os.path.basename(os.path.dirname(note)).partition("-")[0]
        if not leads_through(note, changeable) and (source := _editable(_bytes(note))) and _normal(package) in _names(source):
            yield source


def _bytes(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read(MAX_FILE_BYTES)
    except OSError:
        return b""


def _editable(note: bytes) -> str:
    """Returns the folder of an editable install; empty for any other install."""
    try:
        found = json.loads(note)
        is_editable, url = found["dir_info"]["editable"] is True, urlsplit(found["url"])
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return ""
    path = unquote(url.path)
    return path if is_editable and url.scheme == "file" and os.path.isabs(path) and "\0" not in path else ""


def _names(project: str) -> Iterator[str]:
    """Yields the names that a project gives itself."""
    try:
        found = tomllib.loads(_bytes(os.path.join(project, "pyproject.toml")).decode(errors="replace"))
    except (ValueError, RecursionError):
        return
    tool = found.get("tool")
    for table in (found.get("project"), tool.get("poetry") if isinstance(tool, dict) else None):
        if isinstance(table, dict) and isinstance(name := table.get("name"), str):
            yield _normal(name)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
