"""Writes entries of the journal into a file for other programs, and what people decided: JSON Lines, an object each, the oldest first.

Above it: ActivityApi, in a thread. Below it: JournalReader, the audit trail. The file is for its
owner alone, and is there whole or not at all.
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
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.activity import ActivityDetails
from tooltray.foundation.snapshots.audit import AuditEntry

DECISION = "decision"  # the kind of a line that comes from the audit trail


def write_entries(path: Path, entries: Iterator[ActivityDetails], decisions: Iterable[AuditEntry] = ()) -> int:
    """Returns how many were written.

    Args:
        path: absolute; what is there is replaced.
        decisions: the oldest first; they stand among the entries by their time.

    Raises:
        TooltrayError: it cannot be written; what was there is as it was.
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
    """An entry, its times and what is kept of its contents, side by side."""
    times = {name: value for name, value in msgspec.structs.asdict(details.times).items() if value is not None}
    kept = {"arguments": details.arguments, "result": details.result, "is_cut": details.is_cut} if details.entry.has_contents else {}
    return {**msgspec.structs.asdict(details.entry), **times, "allowed_by": details.allowed_by, **kept}


def line_of_decision(entry: AuditEntry) -> JsonObject:
    """A decision, with what proves its place in the audit trail."""
    return {"kind": DECISION, **msgspec.structs.asdict(entry)}
