"""Removes secrets from the text of a file with servers; everything else stays unchanged, byte by byte."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tooltray.config.foreign_configs.mcp_json import HOLDERS
from tooltray.foundation.files.json_edit import with_member
from tooltray.foundation.files.json_places import read
from tooltray.sources.entries.portable_entry import without_secrets


def clean_text(content: bytes) -> bytes | None:
    """Returns a file's content with placeholders for its secrets.

    Args:
        content: of `settings.json` or a project's `.mcp.json`.

    Returns:
        The content; None if it cannot be parsed, so that its secrets cannot be detected.
    """
    try:
        text = content.decode()
        for path, cleaned in _cleaned(_document(text)):
            text = with_member(text, path, cleaned)
        return text.encode()
    except (ValueError, RecursionError):
        return None


def _document(text: str) -> Any:
    try:
        return json.loads(text)  # a hundred times faster than `read`, which also accepts comments
    except ValueError:
        return read(text).content


def _cleaned(document: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields the path and the new value of each member that contains secrets."""
    if not isinstance(document, dict):
        raise ValueError("no object")
    for key, value in document.items():
        if key in HOLDERS and isinstance(value, dict):
            for name, entry in value.items():
                yield from _if_changed((key, name), entry, name)
        else:
            yield from _if_changed((key,), value, key)


def _if_changed(path: tuple[str, ...], value: Any, server: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    cleaned = without_secrets(server, value if isinstance(value, Mapping) else {path[-1]: value}).entry
    now = cleaned if isinstance(value, Mapping) else cleaned[path[-1]]
    if now != value:
        yield path, now
