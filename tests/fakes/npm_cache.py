"""npm as it lies on a disk: its own programs, and a package in the cache of npx, as npm 11 leaves it."""

import hashlib
import json
from pathlib import Path
from typing import Any

PACKAGE, VERSION = "@scope/server-toy", "1.2.3"
SPEC = f"{PACKAGE}@{VERSION}"
SCRIPT = "#!/usr/bin/env node\nconsole.error('toy')\n"


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    """A file that may be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def write_json(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def install_node(prefix: Path) -> Path:
    """Node.js with its npm below a folder; returns the folder of their programs."""
    folder = prefix / "bin"
    program(folder / "node")
    program(prefix / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    npx = program(prefix / "lib" / "node_modules" / "npm" / "bin" / "npx-cli.js")
    (folder / "npx").symlink_to(npx)
    return folder


def unpack(cache: Path, *, spec: str = SPEC, package: str = PACKAGE, version: str = VERSION, bin: Any = None, script: str = SCRIPT) -> Path:
    """A package as `npx` leaves it in npm's cache; returns the cache's folder for it.

    Args:
        cache: npm's cache; `~/.npm`.
        spec: what stood on the command line.
        bin: of its package.json; None: one program of the package's own name.
    """
    entry = cache / "_npx" / hashlib.sha512(spec.encode()).hexdigest()[:16]
    modules = entry / "node_modules"
    own_name = package.rpartition("/")[2]
    bins = bin if isinstance(bin, dict) else {own_name: bin or "dist/index.js"}
    write_json(entry / "package.json", {"dependencies": {package: f"^{version}"}, "_npx": {"packages": [spec]}})
    write_json(modules / ".package-lock.json", {"lockfileVersion": 3, "packages": {f"node_modules/{package}": {"version": version}}})
    write_json(modules / package / "package.json", {"name": package, "version": version, "bin": bin or bins})
    (modules / ".bin").mkdir(exist_ok=True)
    for name, target in bins.items():
        program(modules / package / target, script)
        (modules / ".bin" / name).symlink_to(Path("..", package, target))
    return entry
