"""Reads a file with servers in one of three formats; bad content never raises or blocks, it becomes problems of the reading.

Above it: server_files, served files. Below it: file_text, json_places, a reader for each format. Blocks for as long as the disk takes.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from tooltray.config.foreign_configs.config_source import CannotUse, ConfigSource, shown
from tooltray.config.foreign_configs.go_config import filled_in_outside_texts
from tooltray.config.foreign_configs.mcp_hub import read_mcp_hub
from tooltray.config.foreign_configs.mcp_json import read_mcp_json
from tooltray.config.foreign_configs.tbxark import is_tbxark, read_tbxark
from tooltray.config.settings.file_server import FileReading, Kind
from tooltray.foundation.errors import Problem
from tooltray.foundation.files.file_text import CannotOpen, FileText, read_text
from tooltray.foundation.files.json_places import CannotRead, Value, read
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.files import FileProblem

MAX_VALUES = 100_000  # in one file; parsing so many takes a second, and no config has a hundredth of it


def read_file(path: Path, kind: Kind | None, *, environ: Mapping[str, str] | None = None, cwd: str = "") -> FileReading:
    """Reads a file.

    Args:
        path: absolute.
        kind: the format; None: detect whether it is TBXark's or mcp-hub's.
        environ: where variables that are expanded at once are looked up; None: the environment of this process.
        cwd: the workspace folder of mcp-hub's placeholders; empty: the working directory of this process.
    """
    try:
        file = read_text(path)
    except CannotOpen as error:
        return _not_understood(FileReading(str(path), kind or "mcp-hub", error.digest), error.reason, error.line)
    reading = FileReading(str(path), kind or "mcp-hub", file.digest)
    if not file.digest:
        return reading
    return _read(reading, file, os.environ if environ is None else environ, cwd, kind)


def _read(reading: FileReading, file: FileText, environ: Mapping[str, str], cwd: str, kind: Kind | None) -> FileReading:
    text = file.text
    if kind != "mcp.json" and _is_tbxark_s(text, kind):
        text = filled_in_outside_texts(text, environ)
    source = ConfigSource(reading.path, text)
    try:
        if not text.strip("\ufeff \t\r\n"):
            raise CannotUse(Phrase("it is empty"), 0)
        document = read(text, "jsonc" if kind == "mcp.json" else "json5", MAX_VALUES)
        reading = replace(reading, kind=kind or ("tbxark" if is_tbxark(document.content) else "mcp-hub"))
        reading = _with_servers(reading, source, document, environ, cwd)
    except (CannotRead, CannotUse) as error:
        return _not_understood(reading, error.reason, *_where(source, error.at))
    return replace(reading, problems=tuple(source.problems))


def _is_tbxark_s(text: str, kind: Kind | None) -> bool:
    """Whether variables may be outside of strings. A wrong guess does no harm: other JSON has no `$` there."""
    return kind == "tbxark" or (kind is None and '"mcpProxy"' in text)


def _with_servers(reading: FileReading, source: ConfigSource, document: Value, environ: Mapping[str, str], cwd: str) -> FileReading:
    if reading.kind == "mcp.json":
        return replace(reading, entries=read_mcp_json(source, document))
    if reading.kind == "mcp-hub":
        return replace(reading, entries=read_mcp_hub(source, document, environ, cwd or _here()))
    found = read_tbxark(source, document, environ)
    return replace(reading, entries=found.entries, endpoint=found.endpoint, must_be_valid=found.must_be_valid)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # somebody has removed it
        return ""


def _where(source: ConfigSource, at: int | None) -> tuple[int, str]:
    return (0, "") if at is None else (source.line(at), source.place_in_words(at))


def _not_understood(reading: FileReading, reason: str, line: int, place: str = "") -> FileReading:
    if not place and line:
        place = Phrase("line {line}", line=line)
    message = Phrase("{place}: {reason}", place=place, reason=reason) if place else reason
    title = Phrase("{file} cannot be read", file=shown(Path(reading.path).name))
    hint = Phrase("Correct it in {file}; until then what ran goes on", file=shown(reading.path))
    return replace(reading, is_understood=False, problems=(FileProblem(Problem(title, message, hint), line),))
