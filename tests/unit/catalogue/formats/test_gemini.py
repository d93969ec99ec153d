"""gemini.py"""

import copy
import json
import re
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.gemini_shape import check_schema, check_tools
from tests.contract.results import PIXEL, RESULTS, responded

from tooltray.catalogue.formats import gemini, json_schema
from tooltray.catalogue.formats.calls import MADE_UP
from tooltray.catalogue.formats.gemini import MAX_REFERRED, MAX_WORDS, MAX_WRITTEN, Gemini, gemini_schema

GEMINI = Gemini()
NAME = {"type": "STRING"}


def response(result: str, **members: Any) -> Any:
    return GEMINI.response(responded(RESULTS[result], **members))["functionResponse"]


def test_all_tools_are_functions_of_one() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    assert GEMINI.tools([{"name": "add", "description": "Adds", "inputSchema": schema}, {"name": "list", "title": "Lists"}]) == [
        {
            "functionDeclarations": [
                {
                    "name": "add",
                    "description": "Adds",
                    "parameters": {"type": "OBJECT", "properties": {"a": NAME}, "required": ["a"], "description": "No other properties."},
                },
                {"name": "list", "description": "Lists"},
            ]
        }
    ]


def test_a_function_without_arguments_says_what_its_schema_said() -> None:
    ((tool,),) = [
        each["functionDeclarations"] for each in GEMINI.tools([{"name": "a", "description": "A", "inputSchema": {"description": "B"}}])
    ]
    assert tool == {"name": "a", "description": "A\nB"}


def test_odd_names_are_changed_everywhere() -> None:
    schema = {"properties": {"城市": {"anyOf": [{"type": "string"}, {"type": "number"}]}, "2nd": True}, "required": ["城市"]}
    (tool,) = GEMINI.tools([{"name": "2fast", "inputSchema": schema}])
    (function,) = tool["functionDeclarations"]
    assert re.fullmatch("tool_2fast_[0-9a-f]{8}", function["name"])
    city, second = function["parameters"]["properties"]
    assert re.fullmatch("argument_[0-9a-f]{8}", city)
    assert re.fullmatch("argument_2nd_[0-9a-f]{8}", second)
    assert function["parameters"]["required"] == [city]
    told = "The tool calls this '城市'."
    assert function["parameters"]["properties"][city] == {
        "anyOf": [{"type": "STRING", "description": told}, {"type": "NUMBER", "description": told}]
    }


def test_a_call_is_read_from_the_part_or_from_the_call_itself() -> None:
    call = {"name": "add", "args": {"a": 1}, "id": "1"}
    for shown in (call, {"functionCall": call}, {"function_call": call, "text": None}):
        assert GEMINI.call(shown).arguments == {"a": 1}
    assert GEMINI.call({"name": "add"}).arguments == {}


def test_a_result_is_an_object_with_media_beside_it() -> None:
    assert response("image") == {
        "name": "add",
        "id": "call_1",
        "response": {"result": "here"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": PIXEL}}],
    }


def test_media_alone_are_pointed_at() -> None:
    found = GEMINI.response(responded({"content": RESULTS["image"]["content"][1:]}))["functionResponse"]
    assert found["response"] == {"result": "(The result is shown beside this.)"}
    assert len(found["parts"]) == 1


def test_an_error_stands_under_its_own_name() -> None:
    assert response("error") == {"name": "add", "id": "call_1", "response": {"error": "no such file"}}


def test_an_id_that_was_made_up_is_not_told_to_the_api() -> None:
    assert "id" not in response("text", id=GEMINI.call({"name": "add"}).id)
    assert "id" not in response("text", id="")
    assert GEMINI.call({"name": "add"}).id.startswith(MADE_UP)


def test_a_response_names_the_function_as_the_api_knows_it() -> None:
    (tool,) = GEMINI.tools([{"name": "天气"}])
    assert response("text", tool="天气")["name"] == tool["functionDeclarations"][0]["name"]


STRING, INTEGER, NUMBER, BOOLEAN = {"type": "STRING"}, {"type": "INTEGER"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}
TEXTS = {"type": "array", "items": {"type": "string"}}
ANYTHING = {"anyOf": [STRING, NUMBER, BOOLEAN, {"type": "OBJECT"}, {"type": "ARRAY", "items": STRING}]}


def written(schema: Any, **root: Any) -> Any:
    """What becomes of one argument."""
    found = gemini_schema({"type": "object", "properties": {"x": schema}, **root})["properties"]["x"]
    check_schema(found)
    types.Schema.model_validate(found)
    return found


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "string"}, STRING),
        ({"type": ["string", "null"]}, {**STRING, "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [STRING, INTEGER]}),
        ({"type": ["string", "integer", "null"]}, {"anyOf": [{**STRING, "nullable": True}, {**INTEGER, "nullable": True}]}),
        ({"type": "null"}, {"type": "NULL"}),
        ({"type": "string", "nullable": True}, {**STRING, "nullable": True}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {**STRING, "nullable": True}),
        ({"anyOf": [{"type": "null"}]}, {"type": "NULL"}),
        (
            {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "null"}]},
            {"anyOf": [{**STRING, "nullable": True}, {**INTEGER, "nullable": True}]},
        ),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [STRING, INTEGER]}),
        ({"oneOf": [{"const": None}, {"type": "integer"}]}, {**INTEGER, "nullable": True}),
        ({"oneOf": [{"enum": [None]}, {"type": "integer"}]}, {**INTEGER, "nullable": True}),
        ({"anyOf": [True]}, ANYTHING),
        ({}, ANYTHING),
        (True, ANYTHING),
        ({"nullable": True, "type": []}, {"anyOf": [{**each, "nullable": True} for each in ANYTHING["anyOf"]]}),
    ],
)
def test_types_null_and_alternatives(schema: Any, found: Any) -> None:
    assert written(schema) == found


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"enum": ["a", "b"]}, {**STRING, "enum": ["a", "b"], "format": "enum"}),
        ({"const": "a"}, {**STRING, "enum": ["a"], "format": "enum"}),
        ({"type": "string", "enum": ["a", None]}, {**STRING, "enum": ["a"], "format": "enum", "nullable": True}),
        ({"type": "string", "enum": ["a", ""]}, {**STRING, "enum": ["a"], "format": "enum", "description": 'One of: "a", ""'}),
        ({"type": "string", "enum": [1, True]}, {**STRING, "enum": ["1", "true"], "format": "enum"}),
        ({"type": "integer", "enum": [1, 2]}, {**INTEGER, "description": "One of: 1, 2"}),
        ({"const": True}, {**BOOLEAN, "description": "One of: true"}),
        ({"enum": [None]}, {"type": "NULL"}),
        (
            {"enum": ["a", 1, 2.5, None]},
            {
                "anyOf": [
                    {**STRING, "enum": ["a"], "format": "enum", "nullable": True},
                    {**INTEGER, "description": "One of: 1", "nullable": True},
                    {**NUMBER, "description": "One of: 2.5", "nullable": True},
                ]
            },
        ),
        ({"oneOf": [{"const": "a"}, {"const": "b"}], "title": "T"}, {**STRING, "title": "T", "enum": ["a", "b"], "format": "enum"}),
        ({"enum": [{"a": 1}]}, {"type": "OBJECT", "description": 'One of: {"a": 1}'}),
        ({"enum": [[1]]}, {"type": "ARRAY", "description": "One of: [1]", "items": ANYTHING}),
    ],
)
def test_listed_values(schema: Any, found: Any) -> None:
    assert written(schema) == found


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        (
            {"type": "string", "minLength": 1, "maxLength": 5.0, "pattern": "^a"},
            {**STRING, "minLength": 1, "maxLength": 5, "pattern": "^a"},
        ),
        ({"type": "string", "format": "date-time"}, {**STRING, "format": "date-time"}),
        ({"type": "string", "format": "uri"}, {**STRING, "description": "Format: uri"}),
        ({"type": "string", "minimum": 3}, STRING),
        ({"type": "string", "minLength": "x", "maxLength": -1}, STRING),
        ({"type": "integer", "format": "int64", "minimum": 0, "maximum": 9}, {**INTEGER, "format": "int64", "minimum": 0, "maximum": 9}),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9.5}, {**INTEGER, "minimum": 1, "maximum": 9}),
        ({"type": "integer", "exclusiveMinimum": 0, "minimum": 5}, {**INTEGER, "minimum": 5}),
        (
            {"type": "integer", "exclusiveMinimum": 0, "minimum": "5", "exclusiveMaximum": 9, "maximum": []},
            {**INTEGER, "minimum": 1, "maximum": 8},
        ),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1.5}, {**NUMBER, "maximum": 1.5, "description": "More than 0"}),
        ({"type": "number", "multipleOf": 0.5}, {**NUMBER, "description": "multipleOf: 0.5"}),
        ({"type": "integer", "minimum": True}, INTEGER),
        ({"type": "integer", "multipleOf": 1}, {**INTEGER, "description": "multipleOf: 1"}),
        (TEXTS, {"type": "ARRAY", "items": STRING}),
        ({"type": "array"}, {"type": "ARRAY", "items": ANYTHING}),
        ({"type": "array", "items": True}, {"type": "ARRAY", "items": ANYTHING}),
        (
            {**TEXTS, "minItems": 1, "uniqueItems": True},
            {"type": "ARRAY", "items": STRING, "minItems": 1, "description": "No duplicate entries."},
        ),
        (
            {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
            {
                "type": "ARRAY",
                "items": {"anyOf": [STRING, INTEGER]},
                "maxItems": 2,
                "description": 'Entries in this order: [{"type": "string"}, {"type": "integer"}]',
            },
        ),
        (
            {"prefixItems": [{"type": "string"}], "items": {"type": "string"}},
            {"type": "ARRAY", "items": STRING, "description": 'Entries in this order: [{"type": "string"}]'},
        ),
    ],
)
def test_limits_and_lists(schema: Any, found: Any) -> None:
    assert written(schema) == found


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "object"}, {"type": "OBJECT"}),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "gone"], "minProperties": 1},
            {"type": "OBJECT", "properties": {"a": STRING}, "required": ["a"], "minProperties": 1},
        ),
        ({"properties": {"a": {"type": "string"}, "never": False}, "required": ["never"]}, {"type": "OBJECT", "properties": {"a": STRING}}),
        ({"type": "object", "additionalProperties": False}, {"type": "OBJECT", "description": "No other properties."}),
        ({"type": "object", "additionalProperties": True}, {"type": "OBJECT"}),
        ({"additionalProperties": {"type": "string"}}, {"type": "OBJECT", "description": 'Other properties: {"type": "string"}'}),
        ({"type": "object", "not": {"required": ["a"]}}, {"type": "OBJECT", "description": 'not: {"required": ["a"]}'}),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            {"type": "OBJECT", "properties": {"a": STRING, "b": STRING}, "description": "One of these is needed: a; or b."},
        ),
        (
            {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}, True]},
            {"type": "OBJECT", "properties": {"a": STRING, "b": STRING}, "required": ["b"]},
        ),
        (
            {"description": "D", "anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}]},
            {"anyOf": [{**STRING, "description": "D"}, {"type": "OBJECT", "description": "D", "properties": {"a": STRING}}]},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}], "oneOf": [{"title": "A"}, {"title": "B"}]},
            {"anyOf": [{"anyOf": [{**STRING, "title": each} for each in "AB"]}, {"anyOf": [{**INTEGER, "title": each} for each in "AB"]}]},
        ),
    ],
)
def test_objects(schema: Any, found: Any) -> None:
    assert written(schema) == found


@pytest.mark.parametrize(
    ("sign", "kind"),
    [({"minLength": 1}, "STRING"), ({"minItems": 1}, "ARRAY"), ({"minimum": 1}, "NUMBER"), ({"required": ["a"]}, "OBJECT")],
)
def test_a_type_that_is_not_named_is_given_away_by_what_is(sign: dict[str, Any], kind: str) -> None:
    assert written(sign)["type"] == kind


def test_texts_go_along() -> None:
    schema = {"type": "string", "title": "T", "description": "D", "default": "d", "examples": ["e", "f"]}
    assert written(schema) == {**STRING, "title": "T", "description": "D", "default": "d", "example": "e"}
    assert written({"type": "string", "example": "e", "examples": []}) == {**STRING, "example": "e"}
    assert written({"type": "string", "default": None, "title": ""}) == STRING


def test_a_default_stands_where_its_type_does() -> None:
    found = written({"type": ["string", "number", "null"], "default": 5, "examples": ["x"]})
    assert found == {"anyOf": [{**STRING, "example": "x", "nullable": True}, {**NUMBER, "default": 5, "nullable": True}]}


def test_what_is_told_in_words_stays_short() -> None:
    found = written({"type": "object", "not": {"enum": ["x" * 2000]}})
    assert len(found["description"]) < MAX_WORDS + 20


def test_references_are_written_out_with_what_stands_beside_them() -> None:
    pet = {"type": "object", "properties": {"name": {"$ref": "#/$defs/Name"}}, "required": ["name"], "description": "A pet"}
    found = written({"$ref": "#/$defs/Pet", "description": "Mine"}, **{"$defs": {"Pet": pet, "Name": {"type": "string", "minLength": 1}}})
    assert found == {
        "type": "OBJECT",
        "description": "Mine\nA pet",
        "properties": {"name": {**STRING, "minLength": 1}},
        "required": ["name"],
    }


@pytest.mark.parametrize("reference", ["#/$defs/Gone", "https://example.org/Gone"])
def test_a_reference_that_leads_nowhere_is_an_object_that_says_so(reference: str) -> None:
    assert written({"$ref": reference}) == {"type": "OBJECT", "description": "As Gone"}


def test_a_schema_within_itself_ends_in_a_plain_object() -> None:
    node = {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}}}
    found = written({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}})
    second = found["properties"]["next"]
    assert second["nullable"] is True
    assert second["properties"] == {"value": INTEGER, "next": {"type": "OBJECT", "description": "As Node", "nullable": True}}


@pytest.mark.parametrize(
    "definition",
    [
        {"allOf": [{"$ref": "#/$defs/A"}]},
        {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]},
        {"$ref": "#/$defs/A", "title": "T"},
        {"items": {"$ref": "#/$defs/A"}},
        {"properties": {str(n): {"$ref": "#/$defs/A"} for n in range(10)}},
    ],
)
def test_every_circle_ends(definition: dict[str, Any]) -> None:
    assert len(json.dumps(written({"$ref": "#/$defs/A"}, **{"$defs": {"A": definition}}))) < 20_000


def test_definitions_that_use_each_other_twice_do_not_grow_without_end() -> None:
    definitions = {
        f"D{n}": {"type": "object", "properties": {side: {"$ref": f"#/$defs/D{n + 1}"} for side in ("left", "right")}} for n in range(40)
    }
    found = written({"$ref": "#/$defs/D0"}, **{"$defs": {**definitions, "D40": {"type": "string"}}})
    assert MAX_REFERRED / 2 < count(found) < MAX_REFERRED * 3


def test_alternatives_within_alternatives_do_not_grow_without_end() -> None:
    schema: Any = {"type": "string"}
    for level in range(8):
        choices = [{"properties": {f"{level}{n}": schema}, "required": [f"{level}{n}"]} for n in range(6)]
        schema = {"type": "object", "properties": {"x": schema}, "oneOf": choices}
    assert count(written(schema)) < MAX_WRITTEN * 3


INNER: Any = {"type": "object", "properties": {"x": {"type": "string"}}}
OUTER: Any = {"type": "object", "properties": {"p": INNER, "q": INNER}}
WHOLE, BARE = {"type": "OBJECT", "properties": {"x": STRING}}, {"type": "OBJECT"}


@pytest.mark.parametrize(
    ("limit", "most", "schema", "found"),
    [
        ("MAX_WRITTEN", 5, OUTER, [WHOLE, WHOLE]),
        ("MAX_WRITTEN", 4, OUTER, [WHOLE, BARE]),
        ("MAX_REFERRED", 3, {"$ref": "#/$defs/D"}, [WHOLE, WHOLE]),
        ("MAX_REFERRED", 2, {"$ref": "#/$defs/D"}, [WHOLE, BARE]),
        ("MAX_DEPTH", 2, OUTER, [WHOLE, WHOLE]),
        ("MAX_DEPTH", 1, OUTER, [BARE, BARE]),
    ],
)
def test_what_is_beyond_a_limit_is_an_object_of_which_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, schema: Any, found: list[Any]
) -> None:
    monkeypatch.setattr(gemini, limit, most)
    assert list(written(schema, **{"$defs": {"D": OUTER}})["properties"].values()) == found


def test_parts_of_a_schema_are_written_out_as_deep_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_schema, "MAX_DEPTH", 1)
    schema = {"allOf": [{"title": "one", "allOf": [{"type": "string", "allOf": [{"title": "three"}]}]}]}
    assert written(schema) == {"type": "STRING", "title": "one"}


def test_a_long_chain_of_definitions_ends() -> None:
    definitions = {f"D{n}": {"title": "T", "$ref": f"#/$defs/D{n + 1}"} for n in range(2000)}
    assert written({"$ref": "#/$defs/D0"}, **{"$defs": definitions})["anyOf"]


@pytest.mark.parametrize("wrap", [lambda inner: {"allOf": [inner]}, lambda inner: {"anyOf": [inner]}, lambda inner: {"items": inner}])
def test_a_schema_that_is_nested_very_deeply_ends(wrap: Any) -> None:
    schema: Any = {"type": "string"}
    for _ in range(800):
        schema = wrap(schema)
    assert written(schema)


def test_a_thousand_arguments_are_all_there() -> None:
    kinds = [{"type": "string"}, {"type": ["integer", "null"]}, {}, {"$ref": "#/$defs/A"}]
    schema = {"type": "object", "properties": {f"p{n}": kinds[n % 4] for n in range(1000)}, "$defs": {"A": {"properties": {"a": TEXTS}}}}
    found = gemini_schema(schema)
    assert len(found["properties"]) == 1000
    assert found["properties"]["p999"]["properties"] == {"a": {"type": "ARRAY", "items": STRING}}


def count(schema: Any) -> int:
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]
    return 1 + sum(map(count, inner))


WORDS = st.sampled_from(["a", "b", "城市", "", "x y"])
KINDS = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null", "what", 5])
REFERENCES = st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/gone", 5])
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.lists(WORDS, max_size=2)
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.fixed_dictionaries({}, optional={"type": KINDS | st.lists(KINDS, max_size=3), "$ref": REFERENCES}) | VALUES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": KINDS | st.lists(KINDS, max_size=3),
            "properties": st.dictionaries(WORDS, inner, max_size=3) | VALUES,
            "required": st.lists(WORDS | st.integers(), max_size=3) | VALUES,
            "items": inner | st.lists(inner, max_size=2),
            "prefixItems": st.lists(inner, max_size=2),
            "anyOf": st.lists(inner, max_size=3) | VALUES,
            "oneOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=3),
            "enum": st.lists(VALUES, max_size=3),
            "const": VALUES,
            "$ref": REFERENCES,
            "$defs": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2) | VALUES,
            "not": inner,
            "additionalProperties": inner,
            "minimum": VALUES,
            "exclusiveMinimum": VALUES,
            "minLength": VALUES,
            "format": VALUES,
            "pattern": VALUES,
            "uniqueItems": VALUES,
            "default": VALUES,
            "examples": VALUES,
            "description": VALUES,
            "nullable": VALUES,
        },
    ),
    max_leaves=12,
)


@given(SCHEMAS)
def test_whatever_a_server_writes_the_vendors_types_take(schema: Any) -> None:
    before = copy.deepcopy(schema)
    check_tools(Gemini().tools([{"name": "add", "inputSchema": schema}]))
    assert repr(schema) == repr(before), "what was given has been changed"
