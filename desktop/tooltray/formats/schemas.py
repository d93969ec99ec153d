"""Normalises the schema of a tool's arguments for all providers: one object with properties at the top level.

Above it: declared. Below it: mending, merging, references, contents (JSON as text). Providers refuse `anyOf`, `oneOf`, `allOf`, `enum` and
`not` at the top level. So alternatives there become one object that accepts them all, and the remaining constraints go into its
description. Below the top level everything stays as the server wrote it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tooltray.formats.contents import as_json
from tooltray.formats.mending import mended
from tooltray.formats.merging import both, either
from tooltray.formats.references import target

MAX_NESTED = 8  # alternatives within alternatives at the top; nobody writes more than two
NOT_AT_THE_TOP = ("not", "enum", "const", "$ref", "anyOf", "oneOf", "allOf")

Schema = Mapping[str, Any]


def object_schema(schema: Any) -> dict[str, Any]:
    """Normalises the schema of a definition.

    Args:
        schema: `inputSchema` as the server wrote it; anything but an object means no arguments.

    Returns:
        a new schema with `type: object` and `properties`.
    """
    root = mended(schema) if isinstance(schema, Mapping) else {}
    flat = _flat(root, root, 0)
    return {**flat, "type": "object", "properties": flat.get("properties", {})}


def with_words(schema: Schema, words: str) -> dict[str, Any]:
    """The schema with a line added to its description."""
    before = schema.get("description")
    return {**schema, "description": f"{before}\n{words}" if before else words}


def is_object(schema: Schema) -> bool:
    """Whether the schema accepts an object; arguments always are one."""
    types = schema.get("type", "object")
    return types == "object" or "object" in types


def _flat(schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    """Flattens a schema into one object without alternatives."""
    found = {key: value for key, value in schema.items() if key not in NOT_AT_THE_TOP}
    if depth > MAX_NESTED:
        return found
    if (meant := target(root, schema.get("$ref"))) is not None:
        found = both(found, _flat(meant, root, depth + 1))
    for part in schema.get("allOf", ()):
        if isinstance(part, Mapping):
            found = both(found, _flat(part, root, depth + 1))
    for key in ("anyOf", "oneOf"):
        branches = [_flat(each, root, depth + 1) for each in schema.get(key, ()) if isinstance(each, Mapping) and is_object(each)]
        if branches:
            found = _one_of(found, branches)
    for key in ("not", "enum", "const"):
        if key in schema and schema[key] != {}:
            found = with_words(found, f"All arguments together, {key}: {as_json(schema[key])}")
    return found


def _one_of(base: Schema, branches: Sequence[Schema]) -> dict[str, Any]:
    """An object that accepts the arguments of the base and of any of its branches."""
    found = dict(base)
    for branch in branches:
        found = {**{key: value for key, value in branch.items() if key not in ("properties", "required", "description")}, **found}
    properties = dict(base.get("properties", {}))
    for name in dict.fromkeys(name for branch in branches for name in branch.get("properties", {})):
        properties[name] = either(list(_meanings(name, base, branches)))
    needed = [list(branch.get("required", ())) for branch in branches]
    common = [name for name in needed[0] if all(name in names for names in needed)]
    required = list(dict.fromkeys([*base.get("required", ()), *common]))
    if properties:
        found["properties"] = properties
    if required:
        found["required"] = required
    if "additionalProperties" not in base and any("additionalProperties" not in branch for branch in branches):
        found.pop("additionalProperties", None)  # a branch takes more than the others
    return _with_branches_described(found, branches, [[name for name in names if name not in required] for names in needed])


def _meanings(name: str, base: Schema, branches: Sequence[Schema]) -> Iterator[Any]:
    """The schemas of one argument: from each branch, joined with the base's, or from the base if a branch does not have it."""
    outer = base.get("properties", {})
    for branch in branches:
        inner = branch.get("properties", {})
        if name in inner and isinstance(outer.get(name), Mapping) and isinstance(inner[name], Mapping):
            yield both(outer[name], inner[name])
        elif name in inner or name in outer:
            yield inner.get(name, outer.get(name))


def _with_branches_described(schema: Schema, branches: Sequence[Schema], groups: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Adds to the description which arguments belong together, and the descriptions of the branches."""
    found = dict(schema)
    for text in dict.fromkeys(branch["description"] for branch in branches if branch.get("description")):
        found = with_words(found, text)
    named = list(dict.fromkeys(" and ".join(group) for group in groups if group))
    if named and all(groups):
        found = with_words(found, f"One of these is needed: {'; or '.join(named)}.")
    elif named:
        found = with_words(found, f"Belong together, where given: {'; or '.join(named)}.")
    return found
