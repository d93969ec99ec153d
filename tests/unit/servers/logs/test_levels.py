import pytest

from tooltray.foundation.snapshots.logs import LEVELS
from tooltray.servers.logs.levels import WORDS, level_behind, level_of

LINES = {
    "2026-11-25 19:15:13,123 - server.py - ERROR - no such table": "error",
    "WARNING:root:disk nearly full": "warning",
    "[11/25/26 19:15:13] INFO     Processing request of type ListToolsRequest      server.py:534": "info",
    "DEBUG postgres_mcp.sql.pool  opening": "debug",
    "Traceback (most recent call last):": "error",
    "KeyError: 'a'": "error",
    "requests.exceptions.ConnectionError: refused": "error",
    "error: unrecognized arguments: -n": "error",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'": "error",
    "TypeError: Cannot read properties of undefined (reading 'x')": "error",
    "npm error code E404": "error",
    "npm warn deprecated glob@7": "warning",
    "npm notice New major version": "info",
    '{"level":50,"time":1,"msg":"boom"}': "error",
    '{"level":40,"msg":"slow"}': "warning",
    '{"level":30,"msg":"ready"}': "info",
    '{"level":10,"msg":"x"}': "debug",
    '{"time":"2026","msg":"a long text","severity":"WARNING"}': "warning",
    '{"msg":"INFO of something"}': "",
    'time=2026-11-25T19:15:13Z level=warn msg="retry"': "warning",
    'ts=1 lvl=eror msg="x"': "error",
    "<3>kernel says level=3": "error",
    "level=4 syslog": "warning",
    "level=6 syslog": "info",
    "level=7 syslog": "debug",
    "2026/11/25 19:15:13 INFO listening addr=:8080": "info",
    "I1125 19:15:13.000000    1 main.go:1] up": "info",
    "E1125 19:15:13.000000    1 main.go:1] down": "error",
    "panic: runtime error: index out of range": "error",
    "goroutine 1 [running]:": "error",
    "thread 'main' panicked at src/main.rs:2:5:": "error",
    "2026-11-25T19:15:13.123Z  WARN my_server::pool: slow": "warning",
    "[warn] something": "warning",
    "no error was found in 3 files": "",
    "Listening on stdio": "",
    "the word information means nothing": "",
    "": "",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_has_the_level_that_its_logger_writes(line: str) -> None:
    assert level_of(line) == LINES[line]


def test_what_is_indented_and_the_exception_behind_it_belong_to_the_line_above() -> None:
    assert level_behind('  File "x.py", line 1, in f', "error") == "error"
    assert level_behind("\tat main (x.js:1:2)", "warning") == "warning"
    assert level_behind("psycopg_pool.PoolTimeout: 30 s", "error") == "error"
    assert level_behind("psycopg_pool.PoolTimeout: 30 s", "info") == ""
    assert level_behind("INFO up again", "error") == "info"


def test_no_line_of_a_level_is_passed_over_for_want_of_its_words() -> None:
    """A piece of a log is looked at only if one of these words is in it."""
    assert tuple(WORDS) == LEVELS
    for line, level in LINES.items():
        if level and WORDS[level]:
            assert any(word in f"\n| {line}".lower().encode() for word in WORDS[level]), line
