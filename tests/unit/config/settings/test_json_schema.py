"""json_schema.py"""

from collections.abc import Mapping
from typing import Annotated, Literal

from jsonschema import Draft202012Validator

from tooltray.config.settings.call_rule import CallRule
from tooltray.config.settings.json_kinds import Before, Between, Sized
from tooltray.config.settings.json_model import JsonModel
from tooltray.config.settings.json_schema import schema_of
from tooltray.config.settings.settings import Settings


class Point(JsonModel):
    """A point."""

    keeps_unknown = False

    x_place: Annotated[int, Between(least=0, most=9)]
    name: Annotated[str, Before(str), Sized(least=1)] = "p"


class Line(JsonModel):
    """A line.

    Attributes:
        ends: where it ends.
    """

    ends: Annotated[tuple[Point, ...], Sized(most=2)] = (Point(x_place=1),)
    width: Annotated[float, Between(above=0)] | None = None
    style: Literal["thin", "bold"] | bool = "thin"
    marks: Annotated[Mapping[str, Point], Sized(most=3)] = {}
    middle: Point | None = None


def test_a_schema_has_kinds_bounds_defaults_and_the_models_in_it() -> None:
    assert schema_of(Line, "#/parts/") == {
        "$defs": {
            "Point": {
                "additionalProperties": False,
                "description": "A point.",
                "properties": {
                    "xPlace": {"maximum": 9, "minimum": 0, "title": "Xplace", "type": "integer"},
                    "name": {"default": "p", "minLength": 1, "title": "Name", "type": "string"},
                },
                "required": ["xPlace"],
                "title": "Point",
                "type": "object",
            }
        },
        "additionalProperties": True,
        "description": "A line.\n\nAttributes:\n    ends: where it ends.",
        "properties": {
            "ends": {
                "default": [{"xPlace": 1, "name": "p"}],
                "items": {"$ref": "#/parts/Point"},
                "maxItems": 2,
                "title": "Ends",
                "type": "array",
            },
            "width": {"anyOf": [{"exclusiveMinimum": 0, "type": "number"}, {"type": "null"}], "default": None, "title": "Width"},
            "style": {"anyOf": [{"enum": ["thin", "bold"], "type": "string"}, {"type": "boolean"}], "default": "thin", "title": "Style"},
            "marks": {"additionalProperties": {"$ref": "#/parts/Point"}, "maxProperties": 3, "title": "Marks", "type": "object"},
            "middle": {"anyOf": [{"$ref": "#/parts/Point"}, {"type": "null"}], "default": None},
        },
        "title": "Line",
        "type": "object",
    }
    assert "$defs" not in schema_of(Point)


def test_schemas_of_the_settings_are_json_schema_that_defaults_and_rules_fit() -> None:
    Draft202012Validator.check_schema(schema_of(Settings))
    Draft202012Validator(schema_of(Settings)).validate(Settings().model_dump(by_alias=True))
    rule = {"tool": "read", "arguments": {"path": {"inside": ["~/a"]}, "count": {"number": {"max": 3}}}}
    Draft202012Validator(schema_of(CallRule)).validate(rule)
    assert not Draft202012Validator(schema_of(CallRule)).is_valid(rule | {"tol": "x"})
