"""result_reading.py: what a model gives, and what is wrong with it."""

from typing import Any

import pytest
from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.kept_results.result_reading import NO_END, line_range, read_arguments
from tooltray.protocol.envelope import dump


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"handle": 1},
        {"handle": "r", "ofset": 5},
        {"handle": "r", "offset": -1},
        {"handle": "r", "offset": "0"},
        {"handle": "r", "lines": "1", "grep": "x"},
        {"handle": "r", "path": "$"},
        {"handle": "r", "part": "1"},
        [],
        None,
    ],
)
def test_arguments_that_cannot_be_used_are_refused_in_words(arguments: Any) -> None:
    with pytest.raises(TooltrayError):
        read_arguments(dump({"name": "read_result", "arguments": arguments}))


def test_without_arguments_the_handle_is_missing() -> None:
    with pytest.raises(TooltrayError, match="handle"):
        read_arguments(Raw(b'{"name":"read_result"}'))


@pytest.mark.parametrize(("lines", "expected"), [("1-2", (1, 2)), (" 7 ", (7, 7)), ("3 - 9", (3, 9)), ("5-", (5, NO_END))])
def test_ranges_of_lines(lines: str, expected: tuple[int, int]) -> None:
    assert line_range(lines) == expected


@pytest.mark.parametrize("lines", ["", "0", "0-3", "5-4", "-5", "a-b", "1,2", "9" * 20])
def test_what_is_no_range_is_refused_in_words(lines: str) -> None:
    with pytest.raises(TooltrayError, match="range"):
        line_range(lines)
