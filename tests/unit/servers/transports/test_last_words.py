"""last_words.py: the line that says why a server ended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.servers.transports.process_failure import MAX_WORDS, RECENT_S, LastWords, most_telling_line

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
