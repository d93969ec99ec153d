"""Picks the line of a server's stderr that explains best why the process ended.

Above it: server_output and process_failure. Pure. The last line is often a usage text, a stack frame or advice. So each recent line gets a
rank from a table and the highest rank wins; of equal ranks the later line, since a chain of exceptions ends with the uncaught one.
"""

import re
from collections import deque
from collections.abc import Iterable

MAX_LINES = 200  # enough for a usage text or a dump of goroutines with the error on top
RECENT_S = 10.0  # before the last line: an error an hour ago is not why the process ends now
MAX_WORDS = 300  # characters; a card and a JSON-RPC error show them
NPM_LINES = 2  # the code, and what it means here

_NOISE, _USAGE, _PLAIN, _COMPLAINT, _ERROR, _FATAL = range(6)

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NPM = re.compile(r"npm (?:error|ERR!|err!)\s*(.*)")
_UV = re.compile(r"^\s*(?:╰─▶|├─▶|×)\s*")
_UV_GOES_ON = "      "  # it breaks its lines at 80 characters
_TRACEBACK = "Traceback (most recent call last)"
_USAGE_LINE = re.compile(r"^\s*usage\b", re.IGNORECASE)
_RUST_PANIC = re.compile(r"^thread '.*' (?:\(\d+\) )?panicked at (?:'(?P<words>.+)', )?\S+:\d+:\d+:?$")

_RANKS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"^npm (?:warn|WARN|notice)\b"), _NOISE),
    (re.compile(r"^\s*(?:at .+|File \".*\", line \d+.*|throw \w+;|\.\.\. \d+ more.*|goroutine \d+ \[.*|exit status \d+)$"), _NOISE),
    (re.compile(r"^(?:Node\.js v[\d.]+|node:internal/.*|note: run with `RUST_BACKTRACE.*|stack backtrace:)$"), _NOISE),
    (re.compile(r"^\W*$"), _NOISE),
    (re.compile(r"^(?:panic|fatal error): \S"), _FATAL),
    (re.compile(r"^(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?: \S"), _FATAL),
    (re.compile(r"^(?:\S+: )*(?:fatal|error|ERROR|FATAL)(?:\[\w+\])?: \S", re.IGNORECASE), _FATAL),
    (re.compile(r"\b(?:error|fatal|exception|critical)\b", re.IGNORECASE), _ERROR),
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
    """Keeps the recent lines of stderr; `str()` gives the most telling of them."""

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
    """Returns the line that explains best why a program ended, at most `MAX_WORDS` characters; empty if there is none."""
    best, words = -1, ""
    for rank, text in _ranked(_ANSI.sub("", line) for line in lines):
        is_better = rank > best if rank in (_NOISE, _USAGE) else rank >= best  # of a usage text its first line
        if is_better and text:
            best, words = rank, text
    return words[:MAX_WORDS]


def _ranked(lines: Iterable[str]) -> list[tuple[int, str]]:
    """Returns rank and text of each line; lines that belong together (npm, uv, a Rust panic) are joined into one."""
    found: list[tuple[int, str]] = []
    npm: list[str] = []
    is_in_usage = is_in_traceback = is_behind_panic = is_of_uv = False
    for line in lines:
        if match := _NPM.match(line):
            npm = [*npm, match[1]] if match[1] and len(npm) < NPM_LINES else npm
            found.append((_FATAL, f"npm: {'; '.join(npm)}" if npm else line.strip()))
            continue
        npm = []
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
            found.append((_NOISE if is_in_traceback else _FATAL, line.strip()))
        elif _USAGE_LINE.match(line):
            is_in_usage = True
            found.append((_USAGE, line.strip()))
        else:
            rank = _rank(line)
            found.append((_NOISE if is_in_usage and rank < _FATAL else rank, line.strip()))
    return found


def _rank(line: str) -> int:
    return next((rank for pattern, rank in _RANKS if pattern.search(line)), _PLAIN)
