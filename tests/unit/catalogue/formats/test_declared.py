"""declared.py"""

import re
from typing import Any

import pytest

from tooltray.catalogue.formats.declared import MAX_DEPTH, argument_names, declared, renamed
from tooltray.catalogue.formats.names import PLAIN, NameRule
from tooltray.foundation.errors import TooltrayError

TOOLS = NameRule(PLAIN, 64, "tool")
ARGUMENTS = NameRule(re.compile(r"[a-z]+"), 20, "argument")
ODD = {
    "type": "object",
    "properties": {"城市": {"type": "string", "description": "Where"}, "days": True, "x y": True},
    "required": ["城市", "days"],
}


def of(**members: Any) -> Any:
    (found,) = declared([{"name": "add", **members}], tools=TOOLS, arguments=ARGUMENTS)
    return found


@pytest.mark.parametrize(
    ("members", "description"),
    [
        ({"description": "D", "title": "T"}, "D"),
        ({"description": " ", "title": "T"}, "T"),
        ({"annotations": {"title": "A"}}, "A"),
        ({"annotations": 5, "title": 5}, ""),
        ({}, ""),
    ],
)
def test_a_tool_is_described_by_the_best_words_there_are(members: dict[str, Any], description: str) -> None:
    assert of(**members).description == description


def test_of_two_tools_with_one_name_the_first_stays() -> None:
    found = declared([{"name": "a", "title": "1"}, {"name": "b"}, {"name": "a", "title": "2"}], tools=TOOLS, arguments=ARGUMENTS)
    assert [(each.name, each.description) for each in found] == [("a", "1"), ("b", "")]


def test_a_definition_without_a_name_is_refused() -> None:
    with pytest.raises(TooltrayError, match="a tool's definition has no name"):
        declared([{"title": "T"}], tools=TOOLS, arguments=ARGUMENTS)


def test_odd_names_of_arguments_are_mapped_and_their_true_names_told() -> None:
    found = of(inputSchema=ODD)
    schema = renamed(found.schema, found.arguments)
    city, days, other = schema["properties"]
    assert re.fullmatch("argument_[0-9a-f]{8}", city)
    assert days == "days"
    assert schema["properties"][city]["description"] == "Where\nThe tool calls this '城市'."
    assert schema["properties"][other] == {"description": "The tool calls this 'x y'."}
    assert schema["required"] == [city, "days"]
    assert argument_names({"inputSchema": ODD}, ARGUMENTS).arguments({city: 1, other: 2}) == {"城市": 1, "x y": 2}


def test_references_into_arguments_follow_their_names() -> None:
    schema = {
        "properties": {"a/b": {"type": "object", "properties": {"c": {}}}, "other": {"anyOf": [{"$ref": "#/properties/a~1b/properties/c"}]}}
    }
    found = of(inputSchema=schema)
    theirs = found.arguments.theirs("a/b")
    assert renamed(found.schema, found.arguments)["properties"]["other"] == {"anyOf": [{"$ref": f"#/properties/{theirs}/properties/c"}]}


def test_plain_names_stay_with_everything_else() -> None:
    found = of(inputSchema={"properties": {"a": {"$ref": "#/properties/b"}, "b": {}}})
    assert renamed(found.schema, found.arguments) == found.schema


def test_a_schema_that_is_nested_very_deeply_can_be_renamed() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(900):
        schema = {"items": schema}
    found = of(inputSchema={"properties": {"x y": schema}})
    inner: Any = renamed(found.schema, found.arguments)["properties"][found.arguments.theirs("x y")]
    for _ in range(MAX_DEPTH):
        inner = inner["items"]
    assert inner
