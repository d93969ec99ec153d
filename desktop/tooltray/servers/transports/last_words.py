"""Picks the line of a server's stderr that explains best why the process ended. Pure.

The last line is often a usage text, a stack frame or advice. So each recent line gets a rank from a table and the highest rank wins; of
equal ranks the later line, since a chain of exceptions ends with the uncaught one.
"""

import json
import re
from collections import deque
from collections.abc import Iterable

MAX_LINES = 200  # enough for a usage text or a dump of goroutines with the error on top
RECENT_S = 10.0  # before the last line: an error an hour ago is not the reason of this end
MAX_WORDS = 300  # characters; a card and a JSON-RPC error show them
NPM_LINES = 2  # the code, and what it means here

_NOISE, _USAGE, _PLAIN, _COMPLAINT, _ERROR, _FATAL = range(6)

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NPM = re.compile(r"npm (?:error|ERR!|err!)\s*(.*)")
_UV = re.compile(r"^\s*(?:╰─▶|├─▶|×|cause:)\s*")
_UV_GOES_ON = "      "  # it breaks its lines at 80 characters
_TRACEBACK = "Traceback (most recent call last)"
_USAGE_LINE = re.compile(r"^\s*usage\b", re.IGNORECASE)
_RUST_PANIC = re.compile(r"^thread '.*' (?:\(\d+\) )?panicked at (?:'(?P<words>.+)', )?\S+:\d+:\d+:?$")

_BOX = re.compile(r"^[\s│┃|]+|[\s│┃|]+$")  # of tables, of Rich's panels and of Python's exception groups
_CAUSE = re.compile(r"^\[(?:cause|errors?)\]: (?:\[ *)?")  # of an error object that Node.js prints
_MEMBER = re.compile(
    r"""^(?![A-Z]\w*(?:Error|Exception|Warning): )['"]?\[?[\w$]+\]?['"]?: """
    r"""(?P<value>true|false|null|undefined|-?[\d.]+n?|'.*'|".*"|\[(?:.*\])?|\{(?:.*\})?)[\s,}\]]*$"""
)
_MESSAGE = re.compile(r"""^['"]?(?:message|msg|error|reason|sqlMessage)['"]?: ['"](?P<words>.*[^\s'",])['"][\s,}\]]*$""")
_VALIDATION = re.compile(r"\b\d+ validation errors? for \S+$")
_WORST_LEVELS = ("error", "fatal", "critical", "panic")
_PINO_ERROR = 50  # levels of pino are numbers

_RANKS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"^npm (?:warn|WARN|notice)\b"), _NOISE),
    (re.compile(r"^\s*(?:at .+|File \".*\", line \d+.*|throw \w+;|\.\.\. \d+ more.*|goroutine \d+ \[.*|exit status \d+)$"), _NOISE),
    (re.compile(r"^(?:Node\.js v[\d.]+|node:internal/.*|note: run with `RUST_BACKTRACE.*|stack backtrace:)$"), _NOISE),
    (re.compile(r"^\W*$|^[╭┌╔╰└╚].*[╮┐╗╯┘╝]$|^\+? *Exception Group Traceback|^\+[-+ \d]+$"), _NOISE),
    (re.compile(r"^(?:SystemExit(?:: -?\d+)?|KeyboardInterrupt|(?:asyncio\.exceptions\.)?CancelledError|Aborted!)$"), _NOISE),
    (re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)"), _NOISE),
    (
        re.compile(r"^(?:Install|Uninstall|Download|Resolv|Prepar|Build|Built|Audit)(?:ed|ing)? \S+.*(?:\d ?m?s|[KMG]iB\)|packages?)$"),
        _NOISE,
    ),
    (re.compile(r"^Downloaded \S+$"), _NOISE),
    (_MEMBER, _NOISE),
    (re.compile(r"^(?:panic|fatal error): \S"), _FATAL),
    (re.compile(r"^(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?: \S"), _FATAL),
    (re.compile(r"^(?:\S+: )*(?:fatal|error|ERROR|FATAL)(?:\[\w+\])?: \S", re.IGNORECASE), _FATAL),
    (re.compile(r"\b(?:error|fatal|exception|critical)\b|no such host", re.IGNORECASE), _ERROR),
    (re.compile(r"\bE(?:CONN|NOT|ACCES|PERM|ADDR|HOST|TIME)[A-Z]*\b"), _ERROR),
    (
        re.compile(
            r"\b(?:failed|failure|cannot|can't|could not|unable|denied|refused|missing|required|invalid|unknown|unrecognized|not found"
            r"|no such|no module named|not set|not provided|not a valid|must be|unexpected|unsupported|already in use|expired)\b",
            re.IGNORECASE,
        ),
        _COMPLAINT,
    ),
)
"""The first pattern found in a line gives its rank; a line without a match is `_PLAIN`."""


class LastWords:
    """The recent lines of stderr; `str()` gives the most telling of them."""

    def __init__(self) -> None:
        self._lines: deque[tuple[float, str]] = deque(maxlen=MAX_LINES)

    def add(self, line: str, at: float = 0.0) -> None:
        """Adds the next line of stderr, which must not be empty; `at` is the time in seconds of any one clock."""
        self._lines.append((at, line))

    @property
    def lines(self) -> list[str]:
        """The lines of the last `RECENT_S` before the newest line."""
        last = self._lines[-1][0] if self._lines else 0.0
        return [line for at, line in self._lines if last - at <= RECENT_S]

    def __str__(self) -> str:
        return most_telling_line(self.lines)


def most_telling_line(lines: Iterable[str]) -> str:
    """Returns the line that explains best why a program ended, at most `MAX_WORDS` characters; empty if no line explains it."""
    best, words = _NOISE, ""
    for rank, text in _ranked(_ANSI.sub("", line) for line in lines):
        is_better = rank > best if rank == _USAGE else rank >= best  # of a usage text its first line
        if is_better and text and rank != _NOISE:
            best, words = rank, text
    return words[:MAX_WORDS]


def is_usage(words: str) -> bool:
    """Returns whether the most telling line begins a usage text, so that nothing better was written."""
    return _USAGE_LINE.match(words) is not None


def is_error(words: str) -> bool:
    """Returns whether a line reports an error, and not only what may be wrong."""
    return any(rank >= _ERROR for rank, _ in _ranked([words]))


def _ranked(lines: Iterable[str]) -> list[tuple[int, str]]:
    """Returns rank and text of each line; lines that belong together (npm, uv, a Rust panic) are joined into one."""
    found: list[tuple[int, str]] = []
    npm: list[str] = []
    script: list[str] = []  # what a package's install script wrote
    awaited = 0  # lines that belong to a validation error
    is_in_usage = is_in_traceback = is_behind_panic = is_of_uv = False
    for line in lines:
        if match := _NPM.match(line):
            is_of_script = bool(script) or match[1].startswith("command sh -c")
            if is_of_script:
                script.append(match[1])
                if words := most_telling_line(each for each in script[1:] if not each.startswith("A complete log")):
                    found.append((_FATAL, f"npm: {words}"))
                continue
            npm = [*npm, match[1]] if match[1] and len(npm) < NPM_LINES else npm
            found.append((_FATAL, f"npm: {'; '.join(npm)}" if npm else line.strip()))
            continue
        npm, script = [], []
        if awaited:
            awaited -= 1
            found[-1] = (_FATAL, f"{found[-1][1]}: {line.split(' [type=')[0].strip()}")
            continue
        if is_of_uv and line.startswith(_UV_GOES_ON):
            found[-1] = (_FATAL, f"{found[-1][1]} {line.strip()}")
            continue
        is_of_uv = _UV.match(line) is not None
        if is_of_uv:
            found.append((_FATAL, _UV.sub("", line).strip()))
        elif is_behind_panic:
            found.append((_FATAL, line.strip()))
            is_behind_panic = False
        elif panic := _RUST_PANIC.match(line):
            is_behind_panic = not panic["words"]
            found.append((_FATAL, panic["words"] or ""))
        elif line.lstrip().startswith(_TRACEBACK):
            is_in_traceback = True
        elif is_in_traceback:
            is_in_traceback = line[:1].isspace() or not line.strip()
            rank = _rank(line.strip())
            found.append((_NOISE if is_in_traceback or rank == _NOISE else _FATAL, line.strip()))
        elif _USAGE_LINE.match(line):
            is_in_usage = True
            found.append((_USAGE, line.strip()))
        else:
            rank, text = _of_line(_BOX.sub("", line))
            found.append((_NOISE if is_in_usage and rank < _FATAL else rank, text))
        awaited = 2 if _VALIDATION.search(line) else 0
    return found


def _of_line(text: str) -> tuple[int, str]:
    """Returns rank and words of a single line, without the frame around it."""
    if text.startswith("{") and (logged := _logged(text)):
        return logged
    if message := _MESSAGE.match(text):
        return _ERROR, message["words"]
    if cause := _CAUSE.match(text):
        text = text[cause.end() :]
    rank = _rank(text)
    letters = sum(character.isalnum() for character in text)
    is_drawn = rank == _PLAIN and letters * 2 < len("".join(text.split()))
    return (_NOISE if is_drawn else rank), text


def _logged(text: str) -> tuple[int, str] | None:
    """Returns rank and words of a line of a structured log; None for other text."""
    try:
        record = json.loads(text)
    except ValueError:
        return None
    words = next((record[name] for name in ("msg", "message", "error", "err") if isinstance(record.get(name), str)), "")
    level = record.get("level", record.get("severity", ""))
    is_bad = level >= _PINO_ERROR if isinstance(level, int) else str(level).lower() in _WORST_LEVELS
    return (_FATAL if is_bad else _rank(words), words) if words else None


def _rank(line: str) -> int:
    return next((rank for pattern, rank in _RANKS if pattern.search(line)), _PLAIN)
