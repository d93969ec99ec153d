"""values.py"""

import argparse
from collections.abc import Callable
from typing import Any

import pytest

from tooltray.cli import values
from tooltray.cli.arguments import UsageError, parse


def test_a_secrets_value_typed_by_mistake_is_not_repeated() -> None:
    with pytest.raises(UsageError) as refusal:
        parse(["servers", "add", "files", "--secret", "KEY=sk-123", "--", "x"], {})
    assert "sk-123" not in str(refusal.value)


def test_a_missing_number_is_named_in_words() -> None:
    with pytest.raises(UsageError, match="invalid number of seconds value: 'soon'"):
        parse(["tools", "call", "x", "--timeout", "soon"], {})


def test_an_idle_time_that_is_no_number_is_named_in_words() -> None:
    with pytest.raises(UsageError, match="invalid number of seconds above 0 value: 'abc'"):
        parse(["servers", "add", "a", "--on-demand", "--idle-stop", "abc", "--", "x"], {})


def test_a_limit_that_is_no_number_is_named_in_words() -> None:
    with pytest.raises(UsageError, match="it must be a number from 500, or none"):
        parse(["tools", "limit", "many", "--server", "s"], {})


def test_variables_keep_what_follows_the_first_equals_sign() -> None:
    args = parse(["servers", "add", "x", "--env", "A=b=c", "--env", "B=", "--secret", "K", "--", "run"], {})
    assert args.env == [("A", "b=c"), ("B", "")]
    assert args.secret == ["K"]


@pytest.mark.parametrize(
    ("value", "text", "read"),
    [
        (values.seconds, "0", 0.0),
        (values.some_seconds, "0.5", 0.5),
        (values.time, "90s", 90.0),
        (values.time, "7d", 604800.0),
        (values.line_count, "1000000", 1000000),
        (values.number, "1", 1),
        (values.port, "0", 0),
        (values.words, "a 'b c'", "a 'b c'"),
        (values.some_text, " a ", " a "),
        (values.url, "HTTP://example.com", "HTTP://example.com"),
        (values.header, "X-Key : a: b ", ("X-Key", "a: b")),
        (values.header_name, "X-Key", "X-Key"),
        (values.variable, "_A1", "_A1"),
        (values.assignment, "A=", ("A", "")),
    ],
)
def test_a_value_is_read(value: Callable[[str], Any], text: str, read: object) -> None:
    assert value(text) == read


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (values.seconds, "nan"),
        (values.seconds, "-1"),
        (values.seconds, "10000001"),
        (values.some_seconds, "0"),
        (values.time, "0s"),
        (values.time, "5"),
        (values.time, "1000000000s"),
        (values.line_count, "0"),
        (values.number, "0"),
        (values.port, "65536"),
        (values.words, "'"),
        (values.some_text, "  "),
        (values.url, "ftp://example.com"),
        (values.url, "https://example.com/a b"),
        (values.header, "X-Key"),
        (values.header, "X Key: a"),
        (values.header, "X-Key: "),
        (values.header_name, "X-Key: a"),
        (values.variable, "1A"),
        (values.assignment, "A"),
        (values.assignment, "A B=c"),
    ],
)
def test_what_is_no_such_value_is_refused(value: Callable[[str], Any], text: str) -> None:
    with pytest.raises((ValueError, argparse.ArgumentTypeError)):
        value(text)
