"""Explains to the user why a server's process ended: translates the errors of npx, uvx, Node.js, Python and Docker. Pure.

A known error is explained by its cause; of any other error the most telling line of stderr is quoted. To explain one more, add a line to
`KNOWN` and an example to the test.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.servers.transports.last_words import is_error, is_usage
from tooltray.servers.transports.transport import ConnectionFailure

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
    return Known(re.compile(pattern, re.MULTILINE), title, hint, is_lasting)


NETWORK_HINT = Phrase("Check your network; see which registries answer: tooltray registry status")
NO_NETWORK = Phrase(
    "Check your network. Confined to no network it gets no packages: install them beforehand, or start it with npx or uvx, "
    "whose packages Tooltray installs."
)
KNOWN: tuple[Known, ...] = (
    _known(
        r"^tooltray: cannot be confined: (?P<what>.*)$",
        lambda what: Phrase("it cannot be confined: {what}", what=what),
        Phrase("Choose another confinement for it, or correct what is named there."),
    ),
    _known(
        r"^npm (?:error|ERR!) 404 .*'(?P<what>[^'\s]+?)@[^'@\s]*'",
        lambda what: Phrase("npm knows no package '{what}'", what=what),
        CHECK_PACKAGE,
    ),
    _known(
        r"^npm (?:error|ERR!) 404 .* GET \S*/(?P<what>[^/\s]+)$",
        lambda what: Phrase("npm knows no package '{what}'", what=what),
        CHECK_PACKAGE,
    ),
    _known(
        r"^npm (?:error|ERR!) command sh -c (?P<what>.*)$",
        lambda what: Phrase("its installation failed at the package's own script: {what}", what=what),
        Phrase("The server was not started. See what its package needs in order to be installed; its log has the whole output."),
    ),
    _known(r"^npm (?:error|ERR!) code E404(?P<what>)$", lambda what: Phrase("npm knows no such package"), CHECK_PACKAGE),
    _known(
        r"No matching version found for (?P<what>\S+?)\.?$",
        lambda what: Phrase("npm knows no '{what}'", what=what),
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
        lambda what: Phrase("there is no Python package '{what}'", what=what),
        CHECK_PACKAGE,
    ),
    _known(
        r"[Ee]xecutable named `(?P<what>[^`]+)` is not provided by package",
        lambda what: Phrase("the package has no program '{what}'", what=what),
        Phrase("Name the package with --from in its arguments."),
    ),
    _known(
        r"can't open file '(?P<what>[^']+)': \[Errno 2\]",
        lambda what: Phrase("there is no file {what}", what=what),
        Phrase("Correct the path in its arguments."),
    ),
    _known(
        r"Cannot find module '(?P<what>/[^']+)'\s*$",
        lambda what: Phrase("there is no file {what}", what=what),
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
        lambda what: Phrase("there is no image '{what}' that Docker may download", what=what),
        CHECK_PACKAGE,
    ),
    _known(
        r"(?:EADDRINUSE[^\n]*|[Aa]ddress already in use)(?P<what>)",
        lambda what: Phrase("a port that it needs is taken by another program"),
        Phrase("Look whether it runs already."),
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
_ALTERNATIVES = re.compile(rf"({_NAME})(?:(?! and )[^.;])*? or (?:the )?{_NAME}")  # the user has to set only one of them
_OPTIONAL = re.compile(r"\b(?:running (?:in|with)|optional|optionally|falling back|defaults? to|defaulting|using default)\b", re.IGNORECASE)
_MISSING = re.compile(
    r"\b(?:not set|unset|is required|are required|required|missing|must (?:be )?(?:set|provide|provided)|not provided|not defined"
    r"|is empty|environment variables?|please set|please provide|KeyError)\b",
    re.IGNORECASE,
)
_ASKS_FOR_ARGUMENT = re.compile(r"\barguments?\b", re.IGNORECASE)
_NO_VARIABLE = re.compile(r"^(?:ERR_|MODULE_NOT_FOUND$|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|RUST_BACKTRACE$|NODE_OPTIONS$)")


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
    how, quote = how_it_ended(exit_code), Phrase("It says: {words}", words=words)
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
        hint = Phrase("It may be no MCP server, or need other arguments.")
        last = " / ".join(line.strip() for line in lines[-LAST_LINES:])[:TITLE_WORDS]
        message = Phrase("{how}; it last wrote: {line}", how=how, line=last) if last else Phrase("{how} and wrote nothing", how=how)
        return ConnectionFailure(Problem(Phrase("'{name}' ended at once", name=name), message, hint), exit_code == 0)
    if is_usage(words):
        return ConnectionFailure(Problem(Phrase("'{name}' needs other arguments", name=name), quote, CHECK_ARGUMENTS), True)
    title = Phrase("'{name}' did not start: {words}", name=name, words=words[:TITLE_WORDS])
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
