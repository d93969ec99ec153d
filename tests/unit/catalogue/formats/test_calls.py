"""calls.py"""

import json
from typing import Any

import pytest
from tests.fakes.nesting import TOO_DEEP

from tooltray.catalogue.formats.calls import read_arguments
from tooltray.foundation.errors import TooltrayError

FENCE = "```"


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        (None, {}),
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ("{}", {}),
        ('""', {}),
        (f'{FENCE}json\n{{"a": 1}}\n{FENCE}', {"a": 1}),
        (f'{FENCE}\n{{"a": 1,}}\n{FENCE}\n', {"a": 1}),
        (f"{FENCE}json\n{FENCE}", {}),
        (json.dumps('{"a": 1}'), {"a": 1}),
        (json.dumps(json.dumps({"a": "b"})), {"a": "b"}),
        (json.dumps("{'a': True,}"), {"a": True}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"城市": "北京"}', {"城市": "北京"}),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ],
)
def test_arguments_are_read(given: Any, arguments: dict[str, Any]) -> None:
    assert read_arguments("add", given) == arguments


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("[1]", "they are an array, not an object"),
        ("5", "they are a number, not an object"),
        ("true", "they are true or false, not an object"),
        ([1], "they are an array, not an object"),
        (b"{}", "they are something else, not an object"),
        (json.dumps(json.dumps(json.dumps("{}"))), "they are a text, not an object"),
        ('{"a": 1,\n "b" 2}', "line 2, column 6: a colon is missing"),
        ('{"a": NaN}', "line 1, column 7: 'NaN' is no value"),
        ("hello", "line 1, column 1: 'hello' is no value"),
        ("[" * TOO_DEEP, "line 1, column 102: it is nested too deeply"),
        ("[" * TOO_DEEP + "]" * TOO_DEEP, "line 1, column 102: it is nested too deeply"),
    ],
)
def test_what_is_no_object_is_refused_with_the_reason_and_the_place(given: Any, message: str) -> None:
    with pytest.raises(TooltrayError) as raised:
        read_arguments("add", given)
    assert raised.value.problem.title == "the arguments for 'add' are no JSON object"
    assert raised.value.problem.message == message


def test_an_object_that_is_given_is_not_the_one_that_comes_out() -> None:
    given = {"a": 1}
    assert read_arguments("add", given) is not given
