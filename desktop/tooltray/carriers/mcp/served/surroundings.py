"""What the placeholders of a served config find: as in the programs whose configs these are, the variables with which the hub was started.

Above it: the engine. Below it: the reader of files. A project's own file has no part in this: its placeholders find the person's usual
environment alone, of which nothing is the hub's own.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from tooltray.config.settings.expansion import variable_names
from tooltray.config.settings.file_server import FileEntry, FileReading, Kind
from tooltray.sources.project_files.trust_decisions import ReadFile


def in_surroundings(read: ReadFile, environ: Mapping[str, str]) -> ReadFile:
    """The same reader, whose readings of served configs know those of the variables that they ask for."""

    def read_in_surroundings(path: Path, kind: Kind | None) -> FileReading:
        reading = read(path, kind)
        if kind is not None:
            return reading
        return replace(reading, entries=tuple(_knowing(entry, environ) for entry in reading.entries))

    return read_in_surroundings


def _knowing(entry: FileEntry, environ: Mapping[str, str]) -> FileEntry:
    found = {name: environ[name] for name in variable_names(entry.config) if name in environ}
    return replace(entry, variables={**found, **entry.variables}) if found else entry
