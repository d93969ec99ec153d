"""Bundles as tests make them: a few files, and a manifest that says what a test wants."""

import hashlib
import json
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SERVER = {"type": "python", "entry_point": "server/main.py", "mcp_config": {"command": "python3", "args": ["${__dirname}/server/main.py"]}}
FILES = {"server/main.py": b"print('a server')\n"}


def manifest(**more: Any) -> dict[str, Any]:
    """A whole manifest of version 0.3."""
    about = {"manifest_version": "0.3", "name": "notes", "version": "1.0.0", "description": "Keeps notes.", "author": {"name": "Somebody"}}
    return {**about, "server": SERVER, **more}


def info(name: str, mode: int = 0o644, **members: Any) -> zipfile.ZipInfo:
    """A member as the reference writes them."""
    made = zipfile.ZipInfo(name)
    made.create_system, made.external_attr, made.compress_type = 3, (stat.S_IFREG | mode) << 16, zipfile.ZIP_DEFLATED
    for key, value in members.items():
        setattr(made, key, value)
    return made


def write_zip(path: Path, *members: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def write_bundle(path: Path, files: Mapping[str, bytes] = FILES, **more: Any) -> Path:
    """Writes a bundle with a manifest and some files."""
    return write_zip(path, ("manifest.json", json.dumps(manifest(**more)).encode()), *files.items())


def sum_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
