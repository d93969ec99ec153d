"""chain.py: what a model may write, and what is told where it is wrong."""

from typing import Any

import jsonschema
import pytest
from msgspec import Raw

from tooltray.catalogue.views.steps_tool import MOST_CALLS, MOST_STEPS, SCHEMA
from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.steps.chain import Chain, read_chain
from tooltray.protocol.envelope import dump

A = {"id": "a", "tool": "t"}


def chain(**arguments: Any) -> Chain:
    return read_chain(dump({"name": "run_steps", "arguments": {"return": None, **arguments}}))


def why(**arguments: Any) -> str:
    with pytest.raises(TooltrayError) as refused:
        chain(**arguments)
    return str(refused.value)


def test_a_chain_is_read_and_knows_which_values_it_needs() -> None:
    second = {"id": "b", "tool": "u", "for_each": {"$": "a"}, "arguments": {"x": {"$": "item/n"}}, "on_error": "skip"}
    third = {"id": "c", "tool": "v", "for_each": [1, 2]}
    read = chain(steps=[A, second, third], **{"return": {"all": {"$": "c"}}})
    assert [(step.id, step.tool, step.skips) for step in read.steps] == [("a", "t", False), ("b", "u", True), ("c", "v", False)]
    assert read.used >= {"a", "c"}
    assert "b" not in read.used
    assert not read.is_dry
    assert chain(steps=[A], dry_run=True).is_dry


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([], "steps: Expected 'array' of length >= 1"),
        ([A] * (MOST_STEPS + 1), f"steps: Expected 'array' of length <= {MOST_STEPS}"),
        ("x", "steps: Expected 'array', got 'str'"),
        ([A, {"id": "b"}], "steps[1]: Object missing required field 'tool'"),
        ([{**A, "argument": {}}], "steps[0]: Object contains unknown field 'argument'"),
        ([{**A, "tool": 1}], "steps[0].tool: Expected 'str', got 'int'"),
        ([{**A, "id": "a b"}], "steps[0].id: Expected 'str' matching regex"),
        ([{**A, "id": "item"}], "steps[0].id: 'item' is the element of for_each"),
        ([A, A], "steps[1].id: an earlier step has this id"),
        ([{**A, "on_error": "go"}], "steps[0].on_error: Invalid enum value 'go'"),
        ([{**A, "arguments": {"x": {"$": "a"}}}], "steps[0].arguments.x: '$' names 'a': there is no earlier step"),
        ([{**A, "arguments": {"x": {"$": "item"}}}], "steps[0].arguments.x: '$' names 'item'"),
        ([A, {**A, "id": "b", "arguments": {"$": "a"}}], "steps[1].arguments: each argument may be a reference"),
        ([{**A, "for_each": {"list": []}}], "steps[0].for_each: a list, or an object with '$', is needed"),
        ([{**A, "for_each": {"$": "item"}}], "steps[0].for_each: '$' names 'item'"),
        ([{**A, "for_each": "abc"}], "steps[0].for_each: Expected"),
        ([{**A, "for_each": list(range(MOST_CALLS + 1))}], "steps[0].for_each: 51 calls: a chain makes at most 50"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_its_reason(steps: Any, reason: str) -> None:
    assert reason in why(steps=steps)


def test_the_result_has_to_be_named_and_names_steps() -> None:
    assert "return: '$' names 'b': the values here are 'a'" in why(steps=[A], **{"return": {"$": "b"}})
    for params in (dump({"arguments": {"steps": [A]}}), dump({"arguments": "x"}), dump({}), Raw(b'{"arguments":{"a":"\\ud800')):
        with pytest.raises(TooltrayError, match="the arguments: Object missing required field"):
            read_chain(params)


def test_the_schema_takes_what_is_read_and_refuses_what_is_not() -> None:
    schema = jsonschema.Draft202012Validator(SCHEMA)
    second = {"id": "b", "tool": "u", "for_each": {"$": "a"}, "arguments": {"x": {"$": "item"}}, "on_error": "skip"}
    assert schema.is_valid({"steps": [A, second], "return": [{"$": "b"}], "dry_run": True})
    wrong = [{}, {"steps": []}, {"steps": [{"id": "a"}], "return": 1}, {"steps": [{**A, "if": 1}], "return": 1}, {"steps": [A]}]
    assert not any(map(schema.is_valid, wrong))
