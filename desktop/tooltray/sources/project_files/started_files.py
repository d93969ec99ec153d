"""The files of a project that an entry of its own file starts: their digests, and how they differ from what was allowed.

Blocks on the disk. Files that these files import are not among them, as the guide explains.
"""

import difflib
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.servers.upstream.project_folder import is_inside
from tooltray.sources.project_files.started_commands import deciding_files, lines_of, paths_inside, place_of, runs_by_name

CODE = re.compile(r"\.(?:py|pyz|pyw|[cm]?[jt]sx?|sh|bash|zsh|ps1|bat|cmd|exe|rb|pl|php|lua|jar|wasm|r)$", re.IGNORECASE)
"""Names of files that are run when they are arguments; others are data, which a server may change itself."""
ENTRY_FILES = ("__main__.py", "index.js", "index.mjs", "index.cjs", "index.ts", "package.json")
"""Files that decide what runs if an interpreter is given a folder."""
MOST_FILES = 32  # of one entry
LARGEST_HASHED_BYTES = 256 * 2**20  # half a second; of a larger file only the size and the time of its change count
LARGEST_SHOWN_BYTES = 64 * 1024  # of which a copy is kept, so that a difference can be shown
MOST_DIFF_LINES, LONGEST_LINE = 200, 500
SHOWN_DIGITS = 12
MISSING, NO_FILE = "missing", "no file"  # in the place of a digest
BEGINNINGS = (b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # scripts, Linux, Windows, macOS

Digests = Mapping[str, str]
"""Digests by the path below the project, or by the absolute path of a link's own place."""


def started_files(config: MCPServerConfig, folder: str) -> dict[str, str]:
    """Returns the digests of the files that an entry starts, as they are now.

    Args:
        folder: the project's real path.
    """
    if config.transport != "stdio":
        return {}
    entries = [config, *lines_of(config, folder)]
    found = dict.fromkeys(path for each in entries for path in _started(each, folder))
    return {path: digest_at(os.path.join(folder, path)) for path in sorted(found)[:MOST_FILES]}


def _started(config: MCPServerConfig, folder: str) -> Iterator[str]:
    command = place_of(config.command or "", folder, folder)
    for path in paths_inside(config, folder):
        if path == command or CODE.search(path) or _is_program(path):
            yield _below(path, folder)
    base = place_of(config.cwd or "", folder, folder)
    modules, folders = runs_by_name(config)
    names = [name for module in modules for name in _files_of(module)] + [
        os.path.join(each, name) for each in folders for name in ENTRY_FILES
    ]
    for name in (*names, *deciding_files(config, folder)):
        path = place_of(name, base, folder)
        if "\0" not in path and os.path.isfile(path) and is_inside(os.path.normpath(path), folder):
            yield _below(path, folder)


def _files_of(module: str) -> tuple[str, ...]:
    """Returns where `python -m` would find a module first."""
    path = module.replace(".", os.sep)
    return f"{path}.py", os.path.join(path, "__main__.py"), os.path.join(path, "__init__.py")


def _is_program(path: str) -> bool:
    """Returns whether a file begins as scripts and programs do; on some disks every file has the permission to be executed."""
    try:
        with open(path, "rb") as file:
            return file.read(4).startswith(BEGINNINGS)
    except OSError:
        return False


def _below(path: str, folder: str) -> str:
    normal = os.path.normpath(path)
    return os.path.relpath(normal, folder) if is_inside(normal, folder) else normal


def digest_at(path: str) -> str:
    """Returns the digest of the file at a path, links followed; MISSING or NO_FILE if there is nothing to be read."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return NO_FILE
            if found.st_size > LARGEST_HASHED_BYTES:
                return f"{found.st_size} bytes of {found.st_mtime_ns}"
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return MISSING
    except OSError:
        return NO_FILE


def seen_digest(entry: str, files: Digests) -> str:
    """Returns the digest that the user's consent covers: the content of an entry, and of the files that it starts.

    Args:
        entry: the digest of its content.
    """
    if not files:
        return entry
    text = "\0".join((entry, *(f"{path}\0{digest}" for path, digest in sorted(files.items()))))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def shown_files(files: Digests) -> tuple[str, ...]:
    """Returns a line for each file, with the beginning of its digest."""
    return tuple(f"{visible(path)} ({digest[:SHOWN_DIGITS]})" for path, digest in files.items())


def changed(before: Digests, now: Digests) -> list[str]:
    """Returns the files that have changed, are gone or are new."""
    return [path for path in sorted({*before, *now}) if before.get(path, MISSING) != now.get(path, MISSING)]


class StartedTexts:
    """Copies of small text files as they were when they were allowed, each named by its digest. Blocks on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, project: str, files: Digests) -> None:
        """Saves copies of files that can be shown later; a copy that cannot be written is missing later, which does no other harm."""
        for path, digest in files.items():
            text = _text_at(os.path.join(project, path))
            if text is not None and hashlib.sha256(text).hexdigest() == digest:
                self._write(digest, text)

    def _write(self, digest: str, text: bytes) -> None:
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if not (self._folder / digest).exists():
                write_atomically(self._folder / digest, text)
        except OSError:
            pass

    def tidy(self, used: set[str]) -> None:
        """Deletes the copies that no consent refers to any more."""
        try:
            for path in self._folder.iterdir():
                if path.name not in used:
                    path.unlink(missing_ok=True)
        except OSError:
            pass

    def differences(self, project: str, before: Digests, now: Digests) -> tuple[str, ...]:
        """Returns how files differ from what was allowed; each line begins with "+", "-" or " "."""
        return tuple(line for path in changed(before, now) for line in self._difference(project, path, before, now))

    def _difference(self, project: str, path: str, before: Digests, now: Digests) -> Iterator[str]:
        was, becomes = before.get(path, MISSING), now.get(path, MISSING)
        yield f" {visible(path)}:"
        old, new = self._kept(was), _text_at(os.path.join(project, path))
        if old is None or new is None or becomes == MISSING:
            yield f"-{_digest_in_words(was)}"
            yield f"+{_digest_in_words(becomes)}"
            return
        lines = difflib.unified_diff(_lines(old), _lines(new), lineterm="", n=2)
        for number, line in enumerate(line for line in lines if not line.startswith(("---", "+++", "@@"))):
            if number >= MOST_DIFF_LINES:
                yield " …"
                return
            yield line[:1] + visible(line[1 : LONGEST_LINE + 1])

    def _kept(self, digest: str) -> bytes | None:
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            return None
        try:
            return read_own(self._folder / digest, LARGEST_SHOWN_BYTES)
        except (OSError, ValueError):
            return None


def _text_at(path: str) -> bytes | None:
    """Returns the content of a small text file; None for any other."""
    try:
        content = read_own(Path(path), LARGEST_SHOWN_BYTES)
        content.decode()
    except (OSError, ValueError):
        return None
    return content


def _lines(text: bytes) -> list[str]:
    return text.decode().splitlines()


def _digest_in_words(digest: str) -> str:
    if digest == MISSING:
        return str(Phrase("not there"))
    return str(Phrase("SHA-256 {digest}", digest=digest)) if re.fullmatch(r"[0-9a-f]{64}", digest) else digest
