"""formats/references.py"""

from typing import Any

import pytest

from tooltray.formats.references import target

TEXT = {"type": "string"}
ROOT: dict[str, Any] = {
    "$defs": {
        "a": TEXT,
        "b": {"$ref": "#/$defs/a"},
        "round": {"$ref": "#/$defs/about"},
        "about": {"$ref": "#/$defs/round"},
        "a/b~c": {"type": "integer"},
        "named": {"$anchor": "here", "type": "array"},
        "no schema": 5,
    },
    "properties": {"list": {"prefixItems": [TEXT, {"type": "number"}]}},
}


@pytest.mark.parametrize(
    ("reference", "schema"),
    [
        ("#/$defs/a", TEXT),
        ("#/$defs/b", TEXT),
        ("#/$defs/a~1b~0c", {"type": "integer"}),
        ("#/%24defs/a", TEXT),
        ("#/properties/list/prefixItems/1", {"type": "number"}),
        ("#here", {"$anchor": "here", "type": "array"}),
        ("#", ROOT),
        ("#/", ROOT),
    ],
)
def test_a_reference_into_the_schema_is_followed(reference: str, schema: Any) -> None:
    assert target(ROOT, reference) == schema


@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/gone",
        "#/$defs/a/type/deeper",
        "#/$defs/no schema",
        "#/properties/list/prefixItems/2",
        "#/properties/list/prefixItems/x",
        "#gone",
        "#/$defs/round",
        "https://example.org/schema.json",
        "other.json#/a",
        5,
        None,
    ],
)
def test_other_references_lead_nowhere(reference: Any) -> None:
    assert target(ROOT, reference) is None


def test_a_schema_without_definitions_has_no_anchors() -> None:
    assert target({"$defs": 5}, "#here") is None
