"""What Gemini's API asks of a function's declaration beyond the types of google-genai; each rule is one that it refuses requests for."""

from collections.abc import Mapping
from typing import Any

from google.genai import types

ALONE = {"anyOf"}
TEXTS = {"title", "description", "default", "example"}
OF_TYPE = {
    "STRING": {"enum", "format", "pattern", "minLength", "maxLength"},
    "NUMBER": {"format", "minimum", "maximum"},
    "INTEGER": {"format", "minimum", "maximum"},
    "BOOLEAN": set[str](),
    "NULL": set[str](),
    "ARRAY": {"items", "minItems", "maxItems"},
    "OBJECT": {"properties", "required", "minProperties", "maxProperties"},
}


def check_tools(tools: list[dict[str, Any]]) -> list[types.FunctionDeclaration]:
    """The declarations, read by the vendor's types."""
    declarations = [each for tool in tools for each in tool["functionDeclarations"]]
    for declaration in declarations:
        assert set(declaration) <= {"name", "description", "parameters"}
        if "parameters" in declaration:
            assert declaration["parameters"]["type"] == "OBJECT"
            assert declaration["parameters"]["properties"]
            check_schema(declaration["parameters"])
    read = [types.Tool.model_validate(tool) for tool in tools]
    types.GenerateContentConfig(tools=list(read))
    return [each for tool in read for each in tool.function_declarations or []]


def check_schema(schema: Mapping[str, Any]) -> None:
    if "anyOf" in schema:
        assert set(schema) == ALONE
        assert len(schema["anyOf"]) > 1
        for each in schema["anyOf"]:
            check_schema(each)
        return
    kind = schema["type"]
    assert set(schema) <= {"type", "nullable"} | TEXTS | OF_TYPE[kind]
    assert all(isinstance(value, str) and value for value in schema.get("enum", ()))
    assert set(schema.get("required", ())) <= set(schema.get("properties", {}))
    if kind == "ARRAY":
        check_schema(schema["items"])
    for each in schema.get("properties", {}).values():
        check_schema(each)
