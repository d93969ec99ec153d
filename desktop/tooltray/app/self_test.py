"""Checks that an installation is complete. The tests of the packages run it inside the frozen program, as `run-module`."""

import hashlib
import importlib
import json
import sys
from collections.abc import Iterable

from tooltray.foundation.programs import find_resources


def failed_imports(modules: Iterable[str]) -> dict[str, str]:
    """Imports each module; returns the errors by module."""
    failed = dict[str, str]()
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"
    return failed


def digests() -> dict[str, str]:
    """Reads every resource; returns the SHA-256 of each by its path."""
    folder = find_resources()
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main() -> int:
    """Reads names of modules from standard input, one a line; writes what failed and what was read, as JSON, to standard output."""
    json.dump({"failed": failed_imports(sys.stdin.read().split()), "resources": digests()}, sys.stdout)
    return 0
