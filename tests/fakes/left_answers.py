"""A home in which the last hub has left answers for bridges that are started in its parent folder. Test code."""

import os
from pathlib import Path

from tooltray.carriers.mcp.first_answers_file import Asked, Kind, encode, program_file, signature
from tooltray.foundation.home.home import Home
from tooltray_bridge import first_answers

INTRODUCED = b'{"protocolVersion":"2025-11-25"}'
GREETED, LISTED = b'{"serverInfo":{}}', b'{"tools":[{"name":"echo"}]}'
ANSWERS = {
    Asked(INTRODUCED, "initialize", INTRODUCED): GREETED,
    Asked(INTRODUCED, "tools/list", b"{}"): LISTED,
    Asked(b"", "tools/list", b"{}"): b'{"tools":[],"ttlMs":1}',
}


def left_in(home: Path) -> Home:
    """The home in a user's folder; settings.json and a project's file decide about the answers."""
    kept = Home(home / ".tooltray")
    kept.root.mkdir(mode=0o700)
    kept.settings.write_text("{}")
    write(kept)
    return kept


def write(kept: Home, *, program: bytes = b"") -> None:
    inputs = {str(path): signature(path) for path in (kept.settings, kept.names)}
    project = kept.root.parent / ".mcp.json"
    kinds = {facts(kept): Kind({str(project): signature(project)}, ANSWERS), b"\0other\0": Kind({}, ANSWERS)}
    kept.first_answers.touch(0o600)
    kept.first_answers.write_bytes(encode(program or signature(program_file()), inputs, kinds))


def facts(kept: Home) -> bytes:
    return first_answers.facts(None, None, os.fsencode(kept.root.parent))


def read(kept: Home) -> first_answers.FirstAnswers | None:
    return first_answers.read(os.fsencode(kept.root), facts(kept))
