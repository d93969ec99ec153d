"""schema_check.py: a value is checked by a server's schema, whatever that is, without fetching anything and in bounded time."""

from collections.abc import Mapping
from typing import Any

import pytest

from tooltray.foundation.schema_check import is_harmless, prepare, schema_errors


def errors(schema: Mapping[str, object], value: object, **options: Any) -> list[str]:
    return [error.message for error in schema_errors(schema, value, **options)]


@pytest.mark.parametrize(
    ("pattern", "is_tried"),
    [("^[a-z]+$", True), ("^(a+)+$", False), (r"(a|b)*c", False), (r"(.)\1", False), ("a*b*c*", False), ("x" * 300, False)],
)
def test_a_pattern_that_could_run_for_ever_is_not_tried(pattern: str, is_tried: bool) -> None:
    assert is_harmless(pattern) is is_tried
    assert bool(errors({"properties": {"a": {"pattern": pattern}}}, {"a": "a" * 30 + "!"})) is is_tried


@pytest.mark.parametrize("pattern", ["(", "^a"])
def test_a_pattern_of_another_dialect_and_one_that_fits_are_no_errors(pattern: str) -> None:
    assert errors({"pattern": pattern}, "abc") == []


@pytest.mark.parametrize(
    ("format", "text", "is_right"),
    [
        ("email", "nobody", False),
        ("email", "a@b", True),
        ("uri", "example", False),
        ("uri", "http://[", False),
        ("uri", "mailto:a@b", True),
        ("date", "2026-02-30", False),
        ("date", "20260203", False),
        ("date", "2026-02-03", True),
        ("date-time", "2026-02-03", False),
        ("date-time", "2026-02-03T25:00:00Z", False),
        ("date-time", "2026-02-03T04:05:06.7+08:00", True),
        ("hex", "anything", True),
    ],
)
def test_a_format_is_checked_where_that_is_wanted(format: str, text: str, is_right: bool) -> None:
    assert (errors({"format": format}, text, checks_formats=True) == []) is is_right
    assert errors({"format": format}, text) == []
    assert errors({"format": format}, 5, checks_formats=True) == []


def test_nothing_is_fetched_and_a_schema_that_explodes_ends() -> None:
    prepare()
    assert errors({"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}, {"a": 1}) == []
    layers = {str(number): {"allOf": [{"$ref": f"#/$defs/{number + 1}"}] * 3} for number in range(30)}
    assert errors({"$ref": "#/$defs/0", "$defs": {**layers, "30": {"type": "string"}}}, "x") == []
    assert errors({"type": 5}, {}) == []
    assert errors({"$ref": "#"}, {}) == []
    assert errors({"$schema": "http://json-schema.org/draft-04/schema#", "id": 5}, {}) == []


def test_a_reader_may_stop_at_the_first_error() -> None:
    found = schema_errors({"required": ["a", "b"]}, {})
    assert "'a'" in next(iter(found)).message
    found.close()
    assert list(found) == []


def test_as_many_keywords_are_checked_as_may_be() -> None:
    schema = {"items": {"type": "string"}}
    assert errors(schema, ["a", 1], most_keywords=3) == ["1 is not of type 'string'"]
    assert errors(schema, ["a", 1], most_keywords=2) == []
