"""process_failure.py"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.errors import Problem
from tooltray.servers.transports.process_failure import (
    MAX_WORDS,
    OF_NO_OUTPUT,
    RECENT_S,
    TITLE_WORDS,
    VARIABLES,
    LastWords,
    explain,
    most_telling_line,
)
from tooltray.servers.transports.transport import ConnectionFailure

ENDED = json.loads(Path(__file__).with_name("ended_servers.json").read_text())
"""What real servers wrote to stderr before they ended, with the title that they get."""
DOCKER = "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?."


def why(stderr: str, *, code: int | None = 1, env: dict[str, str] | None = None, may_be_tried_again: bool = False) -> ConnectionFailure:
    lines = [line for line in stderr.splitlines() if line.strip()]
    return explain("s", lines, most_telling_line(lines), code, env or {}, may_be_tried_again=may_be_tried_again)


@pytest.mark.parametrize(
    ("stderr", "title", "is_lasting"),
    [
        ("npm error code E404\nnpm error 404  'no-such@*' is not in this registry.", "npm has no package 'no-such'", True),
        (
            "npm error code E404\nnpm error 404  The requested resource '@a/b@1.2' could not be found or you do not have permission",
            "npm has no package '@a/b'",
            True,
        ),
        ("npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://r.example/@a%2fb", "npm has no package '@a/b'", True),
        ("npm error code E404\nnpm error 404 Not Found", "npm has no such package", True),
        ("npm error code ETARGET\nnpm error notarget No matching version found for a@9.", "npm has no 'a@9'", True),
        ("npm error could not determine executable to run", "the package has no program to run", True),
        ("npm error code ENOTFOUND\nnpm error network request failed", "npm's registry cannot be reached (ENOTFOUND)", False),
        ("npm error code E503\nnpm error 503 Service Unavailable", "npm's registry cannot be reached (E503)", False),
        *(
            (stderr, "its package could not be fetched without a network", False)
            for stderr in (
                "error: DNSResolveFailed downloading package manifest a",
                "➤ YN0001: │ RequestError: getaddrinfo EAI_AGAIN r.example",
                "  × Failed to fetch: `https://r.example/simple/a/`\n  ├─▶ dns error",
                "error: Request failed after 3 retries in 5.5s\n  cause: Failed to fetch: https://r.example/simple/a/",
                "  × adding a new package\n  ├─▶ Failed to resolve the latest version of a: Failed to fetch metadata\n  │   from https://r.example/a",
                " ERR_PNPM_META_FETCH_FAIL  GET https://r.example/a: request failed, reason: getaddrinfo EAI_AGAIN",
                "WARNING: Retrying after connection broken by 'NewConnectionError('<pip>: Failed to establish')': /simple/a/",
            )
        ),
        (
            "  × No solution found when resolving tool dependencies:\n"
            "  ╰─▶ Because no-such was not found in the package registry and you require no-such, ...",
            "Python package 'no-such' not found",
            True,
        ),
        (
            "  ╰─▶ Because no-such was not found in the package\n      registry and you require",
            "Python package 'no-such' not found",
            True,
        ),
        ("An executable named `a` is not provided by package `b`.", "the package has no program 'a'", True),
        ("python3: can't open file '/no.py': [Errno 2] No such file or directory", "file /no.py not found", True),
        ("Error: Cannot find module '/no.js'\n    at x", "file /no.js not found", True),
        ("Error: Cannot find module 'zod'\nRequire stack:", "the Node.js package 'zod' is not installed", True),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /a.js", "the Node.js package 'zod' is not installed", True),
        ("ModuleNotFoundError: No module named 'a.b'", "the Python module 'a.b' is not installed", True),
        ("/usr/bin/python3: No module named a", "the Python module 'a' is not installed", True),
        (DOCKER, "Docker is not running", False),
        ("docker: Error response from daemon: pull access denied for a/b, ...", "Docker image 'a/b' not found", True),
        ("Error: listen EADDRINUSE: address already in use :::3000", "a port that it needs is taken by another program", False),
        ("usage: s [-h]\ns: error: unrecognized arguments: --x", "it does not know the arguments --x", True),
        ("usage: s [-h]\ns: error: the following arguments are required: --key", "it needs the arguments --key", True),
        ("tooltray: cannot be sandboxed: /p: Permission denied", "it cannot be sandboxed: /p: Permission denied", True),
        ("Error: no such database", "'s' did not start: Error: no such database", False),
    ],
)
def test_what_the_tools_that_start_servers_say_is_told_by_its_reason(stderr: str, title: str, is_lasting: bool) -> None:
    found = why(stderr)
    assert (found.problem.title, found.is_lasting) == (title, is_lasting)
    assert found.how == "It ended with exit code 1"
    assert found.words == most_telling_line(stderr.splitlines())[:TITLE_WORDS]


@pytest.mark.parametrize("code", [None, -6, 0, 1])
def test_an_error_that_it_wrote_is_the_reason_however_it_ended(code: int | None) -> None:
    assert why("Error: no such database", code=code).problem.title == "'s' did not start: Error: no such database"


@pytest.mark.parametrize(
    ("stderr", "variables"),
    [
        ("Error: GITHUB_PERSONAL_ACCESS_TOKEN not set", ("GITHUB_PERSONAL_ACCESS_TOKEN",)),
        ("Error: BRAVE_API_KEY environment variable is required", ("BRAVE_API_KEY",)),
        ("Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables", ("SLACK_BOT_TOKEN", "SLACK_TEAM_ID")),
        ("Traceback (most recent call last):\n  File \"a\", line 1\nKeyError: 'MY_KEY'", ("MY_KEY",)),
        ("A_A is required\nB_B is required\nA_A is required\nC_C is required\nD_D is required", ("A_A", "B_B", "C_C")),
    ],
)
def test_a_variable_that_is_missing_is_answered_with_the_option_that_gives_it(stderr: str, variables: tuple[str, ...]) -> None:
    found = why(stderr)
    assert (found.variables, found.is_lasting) == (variables, True)
    assert len(found.variables) <= VARIABLES
    assert found.problem.title == f"'s' needs {', '.join(variables)}"
    assert found.problem.hint == f"Add it with {' '.join(f'--secret {variable}' for variable in variables)}."


@pytest.mark.parametrize(
    "stderr",
    [
        "Error [ERR_MODULE_NOT_FOUND]: x is required",
        "  code: 'MODULE_NOT_FOUND', is required",
        "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "MY_KEY was read",
        "API is required",
        "Error: HAVE_IT is not set correctly, a value is required",
    ],
)
def test_other_words_in_capitals_are_no_missing_variables(stderr: str) -> None:
    assert why(stderr, env={"HAVE_IT": "1"}).variables == ()


@pytest.mark.parametrize(
    ("code", "message", "is_lasting"),
    [
        (0, "It ended with exit code 0 and wrote nothing", True),
        (1, "It ended with exit code 1 and wrote nothing", False),
        (-9, "It was killed by signal 9 and wrote nothing", False),
        (None, "It closed its output and wrote nothing", False),
    ],
)
def test_a_program_that_ends_without_a_word_is_told_by_how_it_ended(code: int | None, message: str, is_lasting: bool) -> None:
    found = why("", code=code)
    assert found.problem == Problem("'s' ended at once", message, "It may not be an MCP server, or may need other arguments.")
    assert found.is_lasting is is_lasting


@pytest.mark.parametrize(("code", "is_lasting"), [(1, False), (126, True), (127, True)])
def test_a_shell_that_does_not_find_its_command_is_not_asked_again(code: int, is_lasting: bool) -> None:
    assert why("sh: 1: nothing: boom", code=code).is_lasting is is_lasting


def test_what_is_tried_in_another_way_the_next_time_is_not_lasting() -> None:
    assert not why("ModuleNotFoundError: No module named 'a'", may_be_tried_again=True).is_lasting


def test_a_long_line_stands_whole_in_the_message_and_cut_in_the_title() -> None:
    line = "Error: " + "x" * 250
    found = why(line)
    assert found.problem == Problem(f"'s' did not start: {line[:TITLE_WORDS]}", f"It ended with exit code 1: {line}")


@given(st.lists(st.text()), st.text(), st.integers(-64, 255) | st.none())
def test_whatever_a_server_writes_there_is_a_reason(lines: list[str], words: str, code: int | None) -> None:
    found = explain("s", lines, words, code, {})
    assert found.problem.title
    assert found.how


@pytest.mark.parametrize("case", ENDED, ids=lambda case: str(case["server"]))
def test_what_real_servers_wrote_before_they_ended_is_told_by_its_reason(case: dict[str, Any]) -> None:
    assert why("\n".join(case["stderr"]), code=case["exit"]).problem.title == case["title"]


def test_where_no_line_is_the_reason_the_last_lines_are_shown() -> None:
    problem = why("npm warn a\nstarting\n}", code=0).problem
    assert (problem.title, problem.message) == ("'s' ended at once", "It ended with exit code 0; it last wrote: npm warn a / starting / }")
    assert why("npm warn a").problem.message == "It ended with exit code 1; it last wrote: npm warn a"
    assert why("started", code=-9).problem.message == "It was killed by signal 9; it last wrote: started"


def test_a_usage_text_is_no_reason() -> None:
    found = why("Usage: s [folders...]\nNote: folders come from the command line")
    assert (found.problem.title, found.is_lasting) == ("'s' needs other arguments", True)


def test_of_an_install_script_without_output_nothing_is_quoted() -> None:
    problem = explain("s", ["npm error command sh -c postinstall of a@1"], "", 1, {}).problem
    assert (problem.message, problem.hint) == ("It ended with exit code 1", OF_NO_OUTPUT)


@pytest.mark.parametrize("words", ["AttributeError: 'A' object has no attribute 'b'", "KeyError: 'host'", 'ValueError: "a" is not "b"'])
def test_an_exception_whose_message_is_in_quotation_marks_is_the_reason(words: str) -> None:
    found = why(f'Traceback (most recent call last):\n  File "a.py", line 1, in main\n    call()\n{words}')
    assert found.problem.title == f"'s' did not start: {words}"


def test_a_server_for_an_older_mcp_sdk_is_told_which_release_it_needs() -> None:
    problem = why("    @server.list_resources()\nAttributeError: 'Server' object has no attribute 'list_resources'").problem
    assert problem.title == "its package was written for an older release of the MCP SDK"
    assert problem.message == "Its output: AttributeError: 'Server' object has no attribute 'list_resources'"


def test_a_server_that_asks_for_an_argument_is_not_only_tried_again() -> None:
    problem = why("Please provide a database URL as a command-line argument").problem
    assert problem.title == "'s' did not start: Please provide a database URL as a command-line argument"
    assert (problem.hint, why("no such host").problem.hint) == ("Check its arguments.", "")


def test_a_failed_install_script_is_told_as_a_failed_installation() -> None:
    stderr = "npm error code 1\nnpm error path /a\nnpm error command failed\nnpm error command sh -c node i.js\nnpm error Error: no disk"
    problem = why(stderr).problem
    assert problem.title == "its installation failed at the package's own script: node i.js"
    assert problem.message == "Its output: npm: Error: no disk"


@pytest.mark.parametrize(
    ("stderr", "variables"),
    [
        ("a key is required: A_KEY, --key-file, or A_KEY_FILE", ("A_KEY",)),
        ("Either A_KEY or the B_KEY is required", ("A_KEY",)),
        ("A_KEY and B_KEY or C_KEY are required", ("A_KEY", "B_KEY")),
        ("no A_KEY set; running in keyless mode, a key is required for some", ()),
    ],
)
def test_one_of_several_variables_is_enough_where_the_server_says_or(stderr: str, variables: tuple[str, ...]) -> None:
    assert why(stderr).variables == variables


NPM_NOT_FOUND = """npm warn Unknown user config "nodedir". This will stop working in the next major version of npm.
npm error code E404
npm error 404 Not Found - GET https://registry.example/nothing
npm error 404
npm error 404  'nothing@*' is not in this registry.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log"""
NPM_WORDS = "npm: code E404; 404 Not Found - GET https://registry.example/nothing"
NODE = """node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/no/such/file.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2"""
PYTHON = """Traceback (most recent call last):
  File "/srv/server.py", line 3, in <module>
    import nothing
ModuleNotFoundError: No module named 'nothing'"""
CHAINED = f"""{PYTHON}

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/server.py", line 5, in <module>
    raise SystemExit
mypackage.errors.NoKey: there is no key
sys:1: ResourceWarning: unclosed file"""
ARGPARSE = """usage: server [-h] --key KEY
              [--port PORT]
server: error: the following arguments are required: --key"""
GO_FLAGS = """flag provided but not defined: -x
Usage of server:
  -token string
    \tthe API token (required)
  -v\tsay more"""
COBRA = """Error: unknown flag: --x
Usage:
  server stdio [flags]

Flags:
  -h, --help   error handling help for stdio
"""
RUST = """thread 'main' panicked at src/main.rs:5:9:
the config is missing
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"""
OLD_RUST = "thread 'main' panicked at 'no config', src/main.rs:5:9\nnote: run with `RUST_BACKTRACE=1` environment variable to display one"
GO_PANIC = """panic: runtime error: invalid memory address

goroutine 1 [running]:
main.main()
\t/src/main.go:4 +0x18
exit status 2"""
UV = """  × No solution found when resolving tool dependencies:
  ╰─▶ Because nothing was not found in the package registry and you
      require nothing, we can conclude that your requirements are
      unsatisfiable."""
UV_WORDS = (
    "Because nothing was not found in the package registry and you require nothing, we can conclude that your requirements are"
    " unsatisfiable."
)
FILESYSTEM = """Usage: mcp-server-filesystem [allowed-directory] [additional-directories...]
Note: Allowed directories can be provided via:
  1. Command-line arguments (shown above)
At least one directory must be provided by EITHER method for the server to operate."""


REFUSED = """Error connecting to the database: Error: connect ECONNREFUSED 127.0.0.1:3306
    at Object.createConnection (/srv/node_modules/mysql2/promise.js:31:31) {
  code: 'ECONNREFUSED',
  errno: -111,
  sql: undefined,
  fatal: true
}"""
AGGREGATE = """AggregateError [ECONNREFUSED]:
    at internalConnectMultiple (node:net:1122:18) {
  code: 'ECONNREFUSED',
  [errors]: [
    Error: connect ECONNREFUSED 127.0.0.1:3306
        at createConnectionError (node:net:1652:14) {
      errno: -111,
    },
  ]
}"""
CAUSE = """TypeError: fetch failed
    at node:internal/deps/undici/undici:13510:13 {
  [cause]: Error: getaddrinfo ENOTFOUND a.invalid
      at GetAddrInfoReqWrap.onlookupall (node:dns:122:26) {
    errno: -3008,
    code: 'ENOTFOUND',
    hostname: 'a.invalid'
  }
}"""
COW = """ _______
< hello >
 -------
        \\   ^__^
         \\  (oo)\\_______
            (__)\\       )\\/\\
                ||----w |
                ||     ||"""
EXITING = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
ConnectionRefusedError: [Errno 111] Connection refused
During handling of the above exception, another exception occurred:
Traceback (most recent call last):
  File "a.py", line 3, in <module>
    sys.exit(1)
SystemExit: 1"""
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in <module>
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "a.py", line 2, in f
    | httpx.ConnectError: Name or service not known
    +------------------------------------"""
SCRIPT = """npm error code 1
npm error path /home/me/.npm/_npx/1/node_modules/puppeteer
npm error command failed
npm error command sh -c node install.mjs
npm error Error: ERROR: Failed to set up chrome v131
npm error     at downloadBrowser (file:///home/me/install.js:26:15)
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log"""
SETTINGS = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings
api_key
  Field required [type=missing, input_value={}, input_type=dict]
    For further information visit https://errors.example"""


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", ""),
        ("loading\nboom", "boom"),
        (NPM_NOT_FOUND, NPM_WORDS),
        (f"starting\n{NPM_NOT_FOUND}", NPM_WORDS),
        (f"{NPM_NOT_FOUND}\nboom\nnpm ERR! code ETIMEDOUT", "npm: code ETIMEDOUT"),
        ("npm error", "npm error"),
        ("npm error\nnpm error code E1", "npm: code E1"),
        ("npm warn deprecated a@1", ""),
        (NODE, "Error: Cannot find module '/no/such/file.js'"),
        ("TypeError [ERR_INVALID_URL]: Invalid URL\n    at new URL (node:url:1)", "TypeError [ERR_INVALID_URL]: Invalid URL"),
        (PYTHON, "ModuleNotFoundError: No module named 'nothing'"),
        (CHAINED, "mypackage.errors.NoKey: there is no key"),
        ("/usr/bin/python3: No module named nothing\nbye", "/usr/bin/python3: No module named nothing"),
        (ARGPARSE, "server: error: the following arguments are required: --key"),
        (GO_FLAGS, "flag provided but not defined: -x"),
        (COBRA, "Error: unknown flag: --x"),
        (RUST, "the config is missing"),
        (OLD_RUST, "no config"),
        (GO_PANIC, "panic: runtime error: invalid memory address"),
        (UV, UV_WORDS),
        (FILESYSTEM, "Usage: mcp-server-filesystem [allowed-directory] [additional-directories...]"),
        ("\x1b[31mError: no key\x1b[0m\nbye", "Error: no key"),
        ("2026-11-22 ERROR the database is locked\nshutting down", "2026-11-22 ERROR the database is locked"),
        ("cannot open the port\nError: failed\nshutting down", "Error: failed"),
        (REFUSED, "Error connecting to the database: Error: connect ECONNREFUSED 127.0.0.1:3306"),
        (AGGREGATE, "Error: connect ECONNREFUSED 127.0.0.1:3306"),
        (CAUSE, "Error: getaddrinfo ENOTFOUND a.invalid"),
        (COW, "< hello >"),
        (EXITING, "ConnectionRefusedError: [Errno 111] Connection refused"),
        (GROUP, "httpx.ConnectError: Name or service not known"),
        (SCRIPT, "npm: Error: ERROR: Failed to set up chrome v131"),
        ("npm error command sh -c node a.js", ""),
        (
            SETTINGS,
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings: api_key: Field required",
        ),
        ("}\n|| ||\n  code: 'EACCES',", ""),
        ("╭─ Error ───────╮\n│ No such file. │\n╰───────────────╯", "No such file."),
        ('{"level":50,"msg":"no database"}\n{"level":30,"msg":"failed, ending"}', "no database"),
        ('{"severity":"ERROR","message":"no database"}\nbye', "no database"),
        ('{"level":"info"}', '{"level":"info"}'),
        ("{no JSON}", "{no JSON}"),
        ("2026/11/28 10:00:00 dial tcp: lookup a.invalid: no such host\n", "2026/11/28 10:00:00 dial tcp: lookup a.invalid: no such host"),
        ("Installed 28 packages in 91ms", ""),
        ("Error: API_KEY not set\nsee https://example/docs", "Error: API_KEY not set"),
    ],
)
def test_the_line_with_the_error_is_shown_and_not_usage_frames_or_advice(lines: str, words: str) -> None:
    assert most_telling_line(lines.splitlines()) == words


def test_what_a_server_complained_of_long_before_its_end_is_not_why_it_ends() -> None:
    last = LastWords()
    last.add("Error: one request failed", 0.0)
    last.add("out of cheese", RECENT_S + 1)
    assert str(last) == "out of cheese"


def test_words_are_bounded() -> None:
    assert most_telling_line(["Error: " + "x" * 5000]) == ("Error: " + "x" * 5000)[:MAX_WORDS]


@given(
    st.lists(
        st.text()
        | st.sampled_from([NPM_NOT_FOUND, NODE, PYTHON, RUST, ARGPARSE, "npm error", UV, "\x1b[1m", "thread 'a' panicked at x:1:1:"])
    )
)
def test_whatever_is_printed_gives_words_of_what_was_printed_or_none(texts: list[str]) -> None:
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    words = most_telling_line(lines)
    assert len(words) <= MAX_WORDS
    assert bool(words) <= bool(lines)
