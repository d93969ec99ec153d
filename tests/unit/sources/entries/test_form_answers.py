"""form_answers.py: what a user gave for a form; what is wrong names its field."""

from typing import Any

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import FormField
from tooltray.sources.entries.form_answers import MAX_VALUES, read_answers


def field(**members: Any) -> FormField:
    return FormField(**{"key": "a", "label": "A", **members})


@pytest.mark.parametrize(
    ("members", "value", "texts"),
    [
        ({}, "x", ("x",)),
        ({}, None, ()),
        ({}, " ", ()),
        ({}, ["x"], ("x",)),
        ({"default": "d"}, None, ("d",)),
        ({"default": "d"}, "", ()),
        ({"is_list": True}, ["x", "", "y"], ("x", "y")),
        ({"is_list": True}, "x", ("x",)),
        ({"kind": "number", "minimum": 1.0, "maximum": 3.0}, 3.0, ("3",)),
        ({"kind": "number"}, "2.5", ("2.5",)),
        ({"kind": "number"}, " ", ()),
        ({"kind": "boolean"}, True, ("true",)),
        ({"kind": "boolean"}, "False", ("false",)),
        ({"kind": "choice", "choices": ("x", "y")}, "y", ("y",)),
        ({"kind": "number"}, "${secret:a}", ("${secret:a}",)),
    ],
)
def test_each_field_gets_its_texts(members: dict[str, Any], value: Any, texts: tuple[str, ...]) -> None:
    assert read_answers([field(**members)], {} if value is None else {"a": value}) == {"a": texts}


@pytest.mark.parametrize(
    ("members", "value", "why"),
    [
        ({"is_required": True}, None, "'A' is missing"),
        ({"is_required": True, "is_secret": True}, " ", "'A' is missing"),
        ({"kind": "choice", "choices": ("x",)}, "y", "one of x"),
        ({"kind": "number"}, "many", "must be a number"),
        ({"kind": "number"}, "nan", "must be a number"),
        ({"kind": "number"}, "inf", "must be a number"),
        ({"kind": "number"}, True, "must be a number"),
        ({"kind": "number", "minimum": 1.0}, 0, "at least 1"),
        ({"kind": "number", "maximum": 3.0}, "4", "at most 3"),
        ({"kind": "boolean"}, "maybe", "true or false"),
        ({"kind": "boolean"}, 1, "true or false"),
        ({}, ["x", "y"], "only one value"),
        ({"is_list": True}, ["x"] * (MAX_VALUES + 1), "more than 64 values"),
        ({}, "x\0y", "cannot be given"),
        ({}, "x" * 40_000, "too long"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name(members: dict[str, Any], value: Any, why: str) -> None:
    with pytest.raises(TooltrayError, match=why) as raised:
        read_answers([field(**members)], {} if value is None else {"a": value})
    assert "'A'" in str(raised.value)


def test_a_key_that_is_not_in_the_form_is_refused() -> None:
    with pytest.raises(TooltrayError, match="It asks for: a"):
        read_answers([field()], {"b": "x"})
    with pytest.raises(TooltrayError, match="asks for nothing"):
        read_answers([], {"": "x"})
