"""Files of AI clients in a made-up home, and the table's clients by their ids."""

import json
from pathlib import Path
from typing import Any

from tooltray.config.foreign_configs.documents import Document, read_document
from tooltray.sources.clients.client_kinds import ClientKind, read_client_kinds

KINDS: dict[str, ClientKind] = {kind.id: kind for kind in read_client_kinds()}
BRIDGE = {"command": "/usr/bin/python3", "args": ["-I", "-S", "/opt/tooltray_bridge/__main__.py"]}


def put(path: Path, content: Any) -> Path:
    """Writes a file and the folders above it.

    Args:
        content: bytes, a text, or what becomes JSON.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), "utf-8", newline="")
    return path


def document_of(kind: ClientKind, folder: Path, content: Any, name: str = "") -> Document:
    """A file of a client as it is read.

    Args:
        name: of the file; empty: one whose ending says the client's format.
    """
    path = put(folder / (name or f"file.{kind.format}"), content)
    return read_document(path, kind.format_of(path))
