"""Exports entries of the journal and decisions of the audit trail: JSON Lines, one object a line, the oldest first.

Only the owner can read the file. It is written as a whole or not at all.
"""

import os
from collections.abc import Iterable, Iterator
from heapq import merge
from pathlib import Path
from tempfile import mkstemp

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import replace
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ActivityDetails
from tooltray.foundation.snapshots.approvals import AuditEntry
from tooltray.foundation.verbs import JsonObject

DECISION = "decision"  # the kind of a line that comes from the audit trail


def write_entries(path: Path, entries: Iterator[ActivityDetails], decisions: Iterable[AuditEntry] = ()) -> int:
    """Writes the file; returns the number of lines.

    Args:
        path: absolute; an existing file is replaced.
        decisions: the oldest first; they are sorted among the entries by their time.

    Raises:
        TooltrayError: it cannot be written; an existing file is unchanged.
    """
    if not path.is_absolute() or "\0" in str(path):
        raise TooltrayError(Phrase("The journal cannot be exported"), Phrase("'{path}' is no absolute path", path=path))
    try:
        descriptor, temporary = mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.", suffix=".tmp")
        try:
            count = _write(descriptor, entries, decisions)
            replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise TooltrayError(Phrase("The journal cannot be exported"), message, hint_for(error, Phrase("Choose another place"))) from None
    return count


def _write(descriptor: int, entries: Iterator[ActivityDetails], decisions: Iterable[AuditEntry]) -> int:
    lines = merge(map(line_of, entries), map(line_of_decision, decisions), key=lambda line: line["at"])
    with open(descriptor, "wb") as file:
        return sum(1 for line in lines if file.write(msgspec.json.encode(line) + b"\n"))


def line_of(details: ActivityDetails) -> JsonObject:
    """Converts an entry, its times and its stored contents into one object."""
    times = {name: value for name, value in msgspec.structs.asdict(details.times).items() if value is not None}
    kept = {"arguments": details.arguments, "result": details.result, "is_cut": details.is_cut} if details.entry.has_contents else {}
    return {**msgspec.structs.asdict(details.entry), **times, "allowed_by": details.allowed_by, **kept}


def line_of_decision(entry: AuditEntry) -> JsonObject:
    """Converts a decision into an object, with the hash that proves its position in the audit trail."""
    return {"kind": DECISION, **msgspec.structs.asdict(entry)}
