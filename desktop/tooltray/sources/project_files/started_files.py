"""The files of a project that an entry of its own file starts: finds them, computes their digests, and compares them with the allowed ones.

Blocks on the disk. Paths that a command line computes (variables, `$(...)`) are not found, nor files that these files import, as the guide
explains.
"""

import difflib
import hashlib
import json
import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tooltray.config.settings.file_server import PROJECT_FOLDER
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonMapping
from tooltray.servers.launch.command_lookup import program_name
from tooltray.servers.upstream.project_folder import is_inside

PROJECT_VARIABLES = (PROJECT_FOLDER,)
"""Placeholders for the project's own folder; they are not variables of the user's environment."""
MOST_WORDS = 200  # arguments that are examined
_OWN_FOLDER = lazy_pattern(r"\$\{(?:" + "|".join(PROJECT_VARIABLES) + r")(?::-[^{}]*)?\}")
_AFTER_SIGN = lazy_pattern(r"^-{1,2}[\w-]+=")  # `--require=./x.js`
_SUFFIX, _VERSION = lazy_pattern(r"\.(?:exe|cmd|bat)$"), lazy_pattern(r"[\d.]+$")
_MODULE = lazy_pattern(r"-[A-Za-z]*?m(.*)")
_FLAGS: Mapping[str, re.Pattern[str]] = {
    "python": lazy_pattern(r"-[bBdEhiIOPqRsSuvVx]+"),
    "node": lazy_pattern(
        r"--(?:no-warnings|enable-source-maps|watch|trace-[a-z-]+|experimental-(?!loader|config)[a-z-]+|inspect(?:-brk)?)"
    ),
    "bun": lazy_pattern(r"(?!)"),
}
"""Options of an interpreter without a value."""


def found_inside(config: MCPServerConfig, folder: str) -> bool:
    """Returns whether the command or a file among its arguments lies in the project, where others who change the project can change it."""
    return any(True for _ in paths_inside(config, folder)) or _is_written_inside(config)


def paths_inside(config: MCPServerConfig, folder: str) -> Iterator[str]:
    """Yields the command, if it is a path, and the files among its arguments, as far as they lie in the project."""
    base = place_of(config.cwd or "", folder, folder)
    return (path for path in _paths(config, base, folder) if os.path.lexists(path) and _is_inside(path, folder))


def _is_written_inside(config: MCPServerConfig) -> bool:
    """Returns whether the command is written as a path in the project, existing or not."""
    command = config.command or ""
    is_relative = ("/" in command or "\\" in command) and not os.path.isabs(command) and not command.startswith(("~", "$"))
    return is_relative or bool(_OWN_FOLDER.match(command))


def _paths(config: MCPServerConfig, base: str, folder: str) -> Iterator[str]:
    if "/" in (command := config.command or "") or os.sep in command:
        yield place_of(command, folder, folder)
    for word in (*config.args, *config.template)[:MOST_WORDS]:
        path = place_of(_AFTER_SIGN.sub("", word), base, folder)
        if "\0" not in path and os.path.isfile(path):
            yield path


def place_of(text: str, base: str, folder: str) -> str:
    """Resolves a path of an entry relative to `base`, with the placeholder of the project's folder filled in."""
    return os.path.join(base, _OWN_FOLDER.sub(lambda _: folder, text))


def _is_inside(path: str, folder: str) -> bool:
    return is_inside(os.path.normpath(path), folder) or is_inside(os.path.realpath(path), folder)


SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
PACKAGE_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
DEEPEST = 4  # a script that runs a script that runs a script
LARGEST_BYTES = 1024 * 1024  # of a package.json
_BEFORE = frozenset({"exec", "env", "command", "nohup", "time"})
_ENDS = frozenset({"&&", "||", ";", "|", "&", "(", ")"})


def runs_by_name(config: MCPServerConfig) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the modules (`python -m NAME`), and arguments that may be folders (`node DIR`), that an interpreter runs."""
    kind = _VERSION.sub("", _SUFFIX.sub("", os.path.basename(config.command or "").lower()))
    modules, folders = [], []
    for words in dict.fromkeys((config.args[:MOST_WORDS], config.template[:MOST_WORDS])) if kind in _FLAGS else ():
        for place, word in _own_words(kind, words):
            if kind == "python" and (found := _MODULE.fullmatch(word)):
                modules.append(found[1] or "".join(words[place + 1 : place + 2]))
            elif not word.startswith("-"):
                folders.append(word)
    return tuple(filter(None, modules)), tuple(folders)


def _own_words(kind: str, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the interpreter's own arguments with their indexes, up to its first operand: in `node server.js .` the dot is the server's.

    After an unknown option the next argument may be its value or the operand; both are yielded then, so that nothing is missed.
    """
    is_certain = True
    for place, word in enumerate(words):
        yield place, word
        if not word.startswith("-"):
            if is_certain:
                return
            is_certain = True
        else:
            is_certain = "=" in word or word == "--" or _FLAGS[kind].fullmatch(word) is not None


def lines_of(config: MCPServerConfig, folder: str, depth: int = 0) -> Iterator[MCPServerConfig]:
    """Yields other command lines that an entry starts, as entries with a command and arguments.

    Args:
        folder: the project's real path.
    """
    if depth >= DEEPEST:
        return
    for line in _lines(config, folder):
        for found in _commands(line, config):
            yield found
            yield from lines_of(found, folder, depth + 1)


def starts_others(config: MCPServerConfig, folder: str) -> bool:
    """Returns whether an entry starts a shell line or a runner, whose programs cannot be known in advance."""
    return next(lines_of(config, folder), None) is not None or any(map(os.path.isfile, deciding_files(config, folder)))


def deciding_files(config: MCPServerConfig, folder: str) -> Iterator[str]:
    """Yields the paths of files that decide what a runner starts: package.json and the files in its `main` and `bin`, a Makefile."""
    base, name = place_of(config.cwd or "", folder, folder), program_name(config.command or "")
    if name in PACKAGE_RUNNERS:
        yield os.path.join(base, "package.json")
    if name == "make":
        yield from (os.path.join(base, each) for each in MAKEFILES)
    if name == "node":
        for place in (place_of(word, base, folder) for word in config.args if not word.startswith("-")):
            package = _package(place)
            programs = package.get("bin")
            named = [package.get("main"), *(programs.values() if isinstance(programs, dict) else [programs])]
            yield from (os.path.join(place, each + end) for each in named if isinstance(each, str) for end in ("", ".js", "/index.js"))


def _lines(config: MCPServerConfig, folder: str) -> Iterator[str]:
    name, words = program_name(config.command or ""), list(config.args)
    if name in SHELLS:
        yield from (words[at + 1] for at, word in enumerate(words[:-1]) if word.startswith("-") and word.endswith("c"))
    if name in PACKAGE_RUNNERS:
        scripts = _package(place_of(config.cwd or "", folder, folder)).get("scripts")
        wanted = {each for word in words if not word.startswith("-") for each in (word, f"pre{word}", f"post{word}")}
        if isinstance(scripts, dict):
            yield from (line for script, line in scripts.items() if script in wanted and isinstance(line, str))


def _commands(line: str, config: MCPServerConfig) -> Iterator[MCPServerConfig]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = [*lexer, ";"]
    except ValueError:  # unclosed quotes: no shell runs the line, either
        return
    command: list[str] = []
    for word in words:
        if word not in _ENDS:
            command.append(word)
            continue
        while command and (command[0] in _BEFORE or "=" in command[0]):
            command.pop(0)
        if command:
            yield MCPServerConfig(command=command[0], args=tuple(command[1:]), cwd=config.cwd)
        command = []


def _package(folder: str) -> JsonMapping:
    try:
        with open(os.path.join(folder, "package.json"), "rb") as file:
            found = json.loads(file.read(LARGEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


CODE = lazy_pattern(r"\.(?:py|pyz|pyw|[cm]?[jt]sx?|sh|bash|zsh|ps1|bat|cmd|exe|rb|pl|php|lua|jar|wasm|r)$", re.IGNORECASE)
"""Names of files that are run when they are arguments; others are data, which a server may change itself."""
ENTRY_FILES = ("__main__.py", "index.js", "index.mjs", "index.cjs", "index.ts", "package.json")
"""Files that decide what runs if an interpreter is given a folder."""
MOST_FILES = 32  # of one entry
LARGEST_HASHED_BYTES = 256 * 2**20  # takes half a second; of a larger file only the size and the time of change are compared
LARGEST_SHOWN_BYTES = 64 * 1024  # bytes of a file whose copy is saved, to show differences later
MOST_DIFF_LINES, LONGEST_LINE = 200, 500
SHOWN_DIGITS = 12
MISSING, NO_FILE = "missing", "no file"  # instead of a digest
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
    """Returns the digest of the file at a path, links followed; MISSING or NO_FILE without a file."""
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
    """Returns the files that have changed, are missing or are new."""
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
        """Returns how files differ from the allowed ones; each line begins with "+", "-" or " "."""
        return tuple(line for path in changed(before, now) for line in self._difference(project, path, before, now))

    def _difference(self, project: str, path: str, before: Digests, now: Digests) -> Iterator[str]:
        was, becomes = before.get(path, MISSING), now.get(path, MISSING)
        yield f" {visible(path)}:"
        old, new = self._kept(was), _text_at(os.path.join(project, path))
        if old is None or new is None or becomes == MISSING:
            yield f"-{_digest_in_words(was)}"
            yield f"+{_digest_in_words(becomes)}"
            return
        lines = difflib.unified_diff(_text_lines(old), _text_lines(new), lineterm="", n=2)
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


def _text_lines(text: bytes) -> list[str]:
    return text.decode().splitlines()


def _digest_in_words(digest: str) -> str:
    if digest == MISSING:
        return str(Phrase("not there"))
    return str(Phrase("SHA-256 {digest}", digest=digest)) if re.fullmatch(r"[0-9a-f]{64}", digest) else digest
