"""Explains to the user why a server's process ended: translates the errors of npx, uvx, Node.js, Python and Docker. Pure.

A known error is explained by its cause. To explain one more, add a line to `KNOWN` and an example to the test. Of any other error the most
telling line of stderr is quoted: the last line is often a usage text, a stack frame or advice, so each recent line gets a rank from a table
and the highest rank wins; of equal ranks the later line, since a chain of exceptions ends with the uncaught one.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from tooltray.foundation.errors import Problem
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import DID_NOT_START
from tooltray.servers.transports.transport import ConnectionFailure

MAX_LINES = 200  # enough for a usage text or a dump of goroutines with the error on top
RECENT_S = 10.0  # before the last line: an error an hour ago is not the reason of this end
MAX_WORDS = 300  # characters; a card and a JSON-RPC error show them
NPM_LINES = 2  # the code, and what it means here

_NOISE, _USAGE, _PLAIN, _COMPLAINT, _ERROR, _FATAL = range(6)

_ANSI = lazy_pattern(r"\x1b\[[0-9;?]*[A-Za-z]")
_NPM = lazy_pattern(r"npm (?:error|ERR!|err!)\s*(.*)")
_UV = lazy_pattern(r"^\s*(?:╰─▶|├─▶|×|cause:)\s*")
_UV_GOES_ON = "      "  # it breaks its lines at 80 characters
_TRACEBACK = "Traceback (most recent call last)"
_USAGE_LINE = lazy_pattern(r"^\s*usage\b", re.IGNORECASE)
_RUST_PANIC = lazy_pattern(r"^thread '.*' (?:\(\d+\) )?panicked at (?:'(?P<words>.+)', )?\S+:\d+:\d+:?$")

_BOX = lazy_pattern(r"^[\s│┃|]+|[\s│┃|]+$")  # of tables, of Rich's panels and of Python's exception groups
_CAUSE = lazy_pattern(r"^\[(?:cause|errors?)\]: (?:\[ *)?")  # of an error object that Node.js prints
_MEMBER = lazy_pattern(
    r"""^(?![A-Z]\w*(?:Error|Exception|Warning): )['"]?\[?[\w$]+\]?['"]?: """
    r"""(?P<value>true|false|null|undefined|-?[\d.]+n?|'.*'|".*"|\[(?:.*\])?|\{(?:.*\})?)[\s,}\]]*$"""
)
_MESSAGE = lazy_pattern(r"""^['"]?(?:message|msg|error|reason|sqlMessage)['"]?: ['"](?P<words>.*[^\s'",])['"][\s,}\]]*$""")
_VALIDATION = lazy_pattern(r"\b\d+ validation errors? for \S+$")
_WORST_LEVELS = ("error", "fatal", "critical", "panic")
_PINO_ERROR = 50  # levels of pino are numbers

_RANKS: tuple[tuple[re.Pattern[str], int], ...] = (
    (lazy_pattern(r"^npm (?:warn|WARN|notice)\b"), _NOISE),
    (lazy_pattern(r"^\s*(?:at .+|File \".*\", line \d+.*|throw \w+;|\.\.\. \d+ more.*|goroutine \d+ \[.*|exit status \d+)$"), _NOISE),
    (lazy_pattern(r"^(?:Node\.js v[\d.]+|node:internal/.*|note: run with `RUST_BACKTRACE.*|stack backtrace:)$"), _NOISE),
    (lazy_pattern(r"^\W*$|^[╭┌╔╰└╚].*[╮┐╗╯┘╝]$|^\+? *Exception Group Traceback|^\+[-+ \d]+$"), _NOISE),
    (lazy_pattern(r"^(?:SystemExit(?:: -?\d+)?|KeyboardInterrupt|(?:asyncio\.exceptions\.)?CancelledError|Aborted!)$"), _NOISE),
    (lazy_pattern(r"^(?:During handling of the above exception|The above exception was the direct cause)"), _NOISE),
    (
        lazy_pattern(r"^(?:Install|Uninstall|Download|Resolv|Prepar|Build|Built|Audit)(?:ed|ing)? \S+.*(?:\d ?m?s|[KMG]iB\)|packages?)$"),
        _NOISE,
    ),
    (lazy_pattern(r"^Downloaded \S+$"), _NOISE),
    (_MEMBER, _NOISE),
    (lazy_pattern(r"^(?:panic|fatal error): \S"), _FATAL),
    (lazy_pattern(r"^(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?: \S"), _FATAL),
    (lazy_pattern(r"^(?:\S+: )*(?:fatal|error|ERROR|FATAL)(?:\[\w+\])?: \S", re.IGNORECASE), _FATAL),
    (lazy_pattern(r"\b(?:error|fatal|exception|critical)\b|no such host", re.IGNORECASE), _ERROR),
    (lazy_pattern(r"\bE(?:CONN|NOT|ACCES|PERM|ADDR|HOST|TIME)[A-Z]*\b"), _ERROR),
    (
        lazy_pattern(
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


TITLE_WORDS = 160  # characters of a quoted line; a title is one short sentence
LAST_LINES = 3  # shown if no line gives the reason
VARIABLES = 3  # missing variables that a title names; the log has the others
NOT_FOUND_CODE, NOT_EXECUTABLE_CODE = 127, 126  # exit codes of a shell: command not found, command not executable

CHECK_PACKAGE = Phrase("Check the package's name in its arguments; a private package needs a sign-in to its registry.")
CHECK_ARGUMENTS = Phrase("Check its arguments.")
OF_NO_OUTPUT = Phrase("The server was not started. npx does not show why; in an empty folder, npm install with that package's name does.")
"""The hint if only npm's own log has the reason: it keeps the name of a failed script, but no output."""


class Known(msgspec.Struct, frozen=True):
    """An error that is recognised in a server's stderr.

    Attributes:
        pattern: searched for in the recent lines of stderr; its group `what` fills the title.
        title: builds the title from `what`.
        is_lasting: a retry would fail in the same way.
    """

    pattern: re.Pattern[str]
    title: Callable[[str], Phrase]
    hint: Phrase
    is_lasting: bool = True


def _known(pattern: str, title: Callable[[str], Phrase], hint: Phrase, *, is_lasting: bool = True) -> Known:
    return Known(lazy_pattern(pattern, re.MULTILINE), title, hint, is_lasting)


NETWORK_HINT = Phrase("Check your network; see which registries answer: tooltray registry status")
NO_NETWORK = Phrase(
    "Check your network. A sandbox without network prevents downloads: install packages beforehand, or "
    "start the server with npx or uvx, whose packages Tooltray installs."
)
KNOWN: tuple[Known, ...] = (
    _known(
        r"^tooltray: cannot be sandboxed: (?P<what>.*)$",
        lambda what: Phrase("it cannot be sandboxed: {what}", what=what),
        Phrase("Change its sandbox settings, or correct what is named there."),
    ),
    _known(
        r"^npm (?:error|ERR!) 404 .*'(?P<what>[^'\s]+?)@[^'@\s]*'",
        lambda what: Phrase("npm has no package '{what}'", what=what),
        CHECK_PACKAGE,
    ),
    _known(
        r"^npm (?:error|ERR!) 404 .* GET \S*/(?P<what>[^/\s]+)$",
        lambda what: Phrase("npm has no package '{what}'", what=what),
        CHECK_PACKAGE,
    ),
    _known(
        r"^npm (?:error|ERR!) command sh -c (?P<what>.*)$",
        lambda what: Phrase("its installation failed at the package's own script: {what}", what=what),
        Phrase("The server was not started. See what its package needs in order to be installed; its log has the whole output."),
    ),
    _known(r"^npm (?:error|ERR!) code E404(?P<what>)$", lambda what: Phrase("npm has no such package"), CHECK_PACKAGE),
    _known(
        r"No matching version found for (?P<what>\S+?)\.?$",
        lambda what: Phrase("npm has no '{what}'", what=what),
        Phrase("Check the version in its arguments."),
    ),
    _known(
        r"^npm (?:error|ERR!) could not determine executable to run(?P<what>)",
        lambda what: Phrase("the package has no program to run"),
        Phrase("Check the package's name in its arguments."),
    ),
    _known(
        r"^npm (?:error|ERR!) code (?P<what>ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E5\d\d)$",
        lambda what: Phrase("npm's registry cannot be reached ({what})", what=what),
        NETWORK_HINT,
        is_lasting=False,
    ),
    _known(
        # pnpm, Bun, Yarn, uv, pip in the hands of pipx
        r"(?P<what>)(?:ERR_PNPM_(?:META_FETCH_FAIL|FETCH_FAIL)|^error: \w+ (?:downloading|fetching) package manifest"
        r"|RequestError: \w+ E[A-Z_]+|Failed to fetch(?: metadata|: `?https?://)|NewConnectionError\(|NameResolutionError\()",
        lambda what: Phrase("its package could not be fetched without a network"),
        NO_NETWORK,
        is_lasting=False,
    ),
    _known(
        r"current Python version \([\d.]+\)\s+does\s+not\s+satisfy\s+Python(?P<what>[<>=!~\d.,]+)",
        lambda what: Phrase("its package needs Python {what}", what=what),
        Phrase("Name another Python in its arguments, as in: uvx --python 3.13 ..."),
    ),
    _known(
        r"Because (?P<what>\S+) was not found in the\s+package\s+registry",
        lambda what: Phrase("Python package '{what}' not found", what=what),
        CHECK_PACKAGE,
    ),
    _known(
        r"[Ee]xecutable named `(?P<what>[^`]+)` is not provided by package",
        lambda what: Phrase("the package has no program '{what}'", what=what),
        Phrase("Name the package with --from in its arguments."),
    ),
    _known(
        r"can't open file '(?P<what>[^']+)': \[Errno 2\]",
        lambda what: Phrase("file {what} not found", what=what),
        Phrase("Correct the path in its arguments."),
    ),
    _known(
        r"Cannot find module '(?P<what>/[^']+)'\s*$",
        lambda what: Phrase("file {what} not found", what=what),
        Phrase("Correct the path in its arguments."),
    ),
    _known(
        r"Cannot find (?:module|package) '(?P<what>[^'/][^']*)'",
        lambda what: Phrase("the Node.js package '{what}' is not installed", what=what),
        Phrase("Install what the server needs: npm install, in its folder."),
    ),
    _known(
        r"No module named '?(?P<what>[\w.]+)'?$",
        lambda what: Phrase("the Python module '{what}' is not installed", what=what),
        Phrase("Install it into the Python that runs the server."),
    ),
    _known(
        r"[Cc]annot connect to the (?P<what>Docker|Podman) (?:daemon|socket)",
        lambda what: Phrase("{what} is not running", what=what),
        Phrase("Start it, then try again."),
        is_lasting=False,
    ),
    _known(
        r"pull access denied for (?P<what>[^\s,]+)",
        lambda what: Phrase("Docker image '{what}' not found", what=what),
        CHECK_PACKAGE,
    ),
    _known(
        r"(?:EADDRINUSE[^\n]*|[Aa]ddress already in use)(?P<what>)",
        lambda what: Phrase("a port that it needs is taken by another program"),
        Phrase("Check whether it is already running."),
        is_lasting=False,
    ),
    _known(
        r"AttributeError: 'Server' object has no attribute '(?P<what>(?:list|read|get|call|set)_\w+)'",
        lambda what: Phrase("its package was written for an older release of the MCP SDK"),
        Phrase("Name that release in its arguments, as in: uvx --with 'mcp<2' ..."),
    ),
    _known(
        r"error: the following arguments are required: (?P<what>.*)$",
        lambda what: Phrase("it needs the arguments {what}", what=what),
        CHECK_ARGUMENTS,
    ),
    _known(
        r"error: unrecognized arguments: (?P<what>.*)$",
        lambda what: Phrase("it does not know the arguments {what}", what=what),
        CHECK_ARGUMENTS,
    ),
)

_NAME = r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"
_ALTERNATIVES = lazy_pattern(rf"({_NAME})(?:(?! and )[^.;])*? or (?:the )?{_NAME}")  # the user has to set only one of them
_OPTIONAL = lazy_pattern(
    r"\b(?:running (?:in|with)|optional|optionally|falling back|defaults? to|defaulting|using default)\b", re.IGNORECASE
)
_MISSING = lazy_pattern(
    r"\b(?:not set|unset|is required|are required|required|missing|must (?:be )?(?:set|provide|provided)|not provided|not defined"
    r"|is empty|environment variables?|please set|please provide|KeyError)\b",
    re.IGNORECASE,
)
_ASKS_FOR_ARGUMENT = lazy_pattern(r"\barguments?\b", re.IGNORECASE)
_NO_VARIABLE = lazy_pattern(r"^(?:ERR_|MODULE_NOT_FOUND$|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|RUST_BACKTRACE$|NODE_OPTIONS$)")


def explain(
    name: str, lines: Sequence[str], words: str, exit_code: int | None, env: Mapping[str, str], *, may_be_tried_again: bool = False
) -> ConnectionFailure:
    """Explains why a server's process has ended.

    Args:
        lines: the recent lines of stderr.
        words: the most telling line; empty if the process wrote nothing.
        exit_code: None if the process closed its stdout without ending.
        env: the environment of the process.
        may_be_tried_again: the next attempt starts the server in another way, so no failure is lasting.
    """
    found = _explain(name, lines, words, exit_code, env)
    is_lasting = found.is_lasting and not may_be_tried_again
    return replace(found, is_lasting=is_lasting, how=how_it_ended(exit_code), words=words[:TITLE_WORDS])


def _explain(name: str, lines: Sequence[str], words: str, exit_code: int | None, env: Mapping[str, str]) -> ConnectionFailure:
    how, quote = how_it_ended(exit_code), Phrase("Its output: {words}", words=words)
    if variables := tuple(_missing_variables(lines, env))[:VARIABLES]:
        options = " ".join(f"--secret {variable}" for variable in variables)
        title = Phrase("'{name}' needs {variables}", name=name, variables=", ".join(variables))
        return ConnectionFailure(Problem(title, quote, Phrase("Add it with {options}.", options=options)), True, variables)
    text = "\n".join(lines)
    for known in KNOWN:
        if found := known.pattern.search(text):
            title = known.title(unquote(found["what"] or "")[:TITLE_WORDS])
            return ConnectionFailure(Problem(title, *((quote, known.hint) if words else (how, OF_NO_OUTPUT))), known.is_lasting)
    if not words or (exit_code is not None and exit_code <= 0 and not is_usage(words) and not is_error(words)):
        hint = Phrase("It may not be an MCP server, or may need other arguments.")
        last = " / ".join(line.strip() for line in lines[-LAST_LINES:])[:TITLE_WORDS]
        message = Phrase("{how}; it last wrote: {line}", how=how, line=last) if last else Phrase("{how} and wrote nothing", how=how)
        return ConnectionFailure(Problem(Phrase("'{name}' ended at once", name=name), message, hint), exit_code == 0)
    if is_usage(words):
        return ConnectionFailure(Problem(Phrase("'{name}' needs other arguments", name=name), quote, CHECK_ARGUMENTS), True)
    title = DID_NOT_START.filled(name=name, words=words[:TITLE_WORDS])
    message = how if len(words) <= TITLE_WORDS else Phrase("{how}: {words}", how=how, words=words)
    remedy = CHECK_ARGUMENTS if _ASKS_FOR_ARGUMENT.search(words) else ""
    return ConnectionFailure(Problem(title, message, remedy), exit_code in (NOT_FOUND_CODE, NOT_EXECUTABLE_CODE))


def how_it_ended(exit_code: int | None) -> Phrase:
    """Describes the end of a process in a sentence without a full stop; `exit_code` as in `explain`."""
    if exit_code is None:
        return Phrase("It closed its output")
    if exit_code < 0:
        return Phrase("It was killed by signal {number}", number=-exit_code)
    return Phrase("It ended with exit code {code}", code=exit_code)


def _missing_variables(lines: Sequence[str], env: Mapping[str, str]) -> Iterator[str]:
    """Yields the names of environment variables that stderr reports as missing and that the process did not get."""
    seen = set()
    for line in lines:
        if _MISSING.search(line) and not _OPTIONAL.search(line):
            for variable in re.findall(_NAME, _ALTERNATIVES.sub(r"\1", line)):
                if variable not in seen and not env.get(variable) and not _NO_VARIABLE.match(variable):
                    seen.add(variable)
                    yield variable
