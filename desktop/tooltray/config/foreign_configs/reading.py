"""Reads a project's `.mcp.json`, or a config of TBXark's mcp-proxy. Bad content never raises: it becomes problems of the reading."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from tooltray.config.foreign_configs.config_source import CannotUse, ConfigSource, shown
from tooltray.config.foreign_configs.mcp_json import read_mcp_json
from tooltray.config.foreign_configs.tbxark import read_tbxark
from tooltray.config.settings.file_server import FileReading, Kind
from tooltray.foundation.errors import Problem
from tooltray.foundation.files.file_text import CannotOpen, read_text
from tooltray.foundation.files.json_places import CannotRead, read
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import FileProblem

MAX_VALUES = 100_000  # in one file; parsing so many takes a second, and no config has a hundredth of it


def read_file(path: Path, kind: Kind, *, environ: Mapping[str, str] | None = None) -> FileReading:
    """Reads a file; blocks on the disk.

    Args:
        path: absolute.
        environ: where variables that are expanded at once are looked up; None: the environment of this process.
    """
    try:
        file = read_text(path)
    except CannotOpen as error:
        return _not_understood(FileReading(str(path), kind, error.digest), error.reason, error.line)
    reading = FileReading(str(path), kind, file.digest)
    return _read(reading, file.text, os.environ if environ is None else environ) if file.digest else reading


def _read(reading: FileReading, text: str, environ: Mapping[str, str]) -> FileReading:
    source = ConfigSource(reading.path, text)
    try:
        if not text.strip("\ufeff \t\r\n"):
            raise CannotUse(Phrase("it is empty"), 0)
        if reading.kind == "mcp.json":
            reading = replace(reading, entries=read_mcp_json(source, read(text, "jsonc", MAX_VALUES)))
        else:
            found = read_tbxark(source, read(text, "json5", MAX_VALUES), environ)
            reading = replace(reading, entries=found.entries, endpoint=found.endpoint, must_be_valid=found.must_be_valid)
    except (CannotRead, CannotUse) as error:
        return _not_understood(reading, error.reason, *_where(source, error.at))
    return replace(reading, problems=tuple(source.problems))


def _where(source: ConfigSource, at: int | None) -> tuple[int, str]:
    return (0, "") if at is None else (source.line(at), source.place_in_words(at))


def _not_understood(reading: FileReading, reason: str, line: int, place: str = "") -> FileReading:
    if not place and line:
        place = Phrase("line {line}", line=line)
    message = Phrase("{place}: {reason}", place=place, reason=reason) if place else reason
    title = Phrase("{file} cannot be read", file=shown(Path(reading.path).name))
    hint = Phrase("Correct it in {file}; until then, running servers keep running", file=shown(reading.path))
    return replace(reading, is_understood=False, problems=(FileProblem(Problem(title, message, hint), line),))
