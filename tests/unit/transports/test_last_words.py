"""transports/last_words.py: the line that says why a server ended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.transports.last_words import MAX_WORDS, RECENT_S, LastWords, most_telling_line

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
        ("npm warn deprecated a@1", "npm warn deprecated a@1"),
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
