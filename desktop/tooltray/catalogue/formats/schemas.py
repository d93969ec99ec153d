"""Normalises the schema of a tool's arguments for all providers: one object with properties at the top level. Providers refuse `anyOf`,
`oneOf`, `allOf`, `enum` and `not` at the top level. So alternatives there become one object that accepts them all, and the remaining
constraints go into its description. Below the top level everything stays as the server wrote it.
"""

from collections.abc import Iterator, Mapping, Sequence

from tooltray.catalogue.formats.contents import as_json
from tooltray.catalogue.formats.json_schema import Schema, alternatives, both, by_name, either, required, string, target
from tooltray.catalogue.formats.mending import mended
from tooltray.foundation.remote import JsonObject

MAX_NESTED = 8  # alternatives within alternatives at the top; servers write at most two
NOT_AT_THE_TOP = ("not", "enum", "const", "$ref", "anyOf", "oneOf", "allOf")


def object_schema(schema: object) -> JsonObject:
    """Normalises the schema of a definition.

    Args:
        schema: `inputSchema` as the server wrote it; anything but an object means no arguments.

    Returns:
        a new schema with `type: object` and `properties`.
    """
    root = mended(schema) if isinstance(schema, Mapping) else {}
    flat = _flat(root, root, 0)
    return {**flat, "type": "object", "properties": by_name(flat)}


def with_words(schema: Schema, words: str) -> JsonObject:
    """Returns the schema with a line added to its description."""
    before = schema.get("description")
    return {**schema, "description": f"{before}\n{words}" if before else words}


def is_object(schema: Schema) -> bool:
    """Reports whether the schema accepts an object; arguments always are one."""
    types = schema.get("type", "object")
    return types == "object" or (isinstance(types, list) and "object" in types)


def _flat(schema: Schema, root: Schema, depth: int) -> JsonObject:
    """Flattens a schema into one object without alternatives."""
    found = {key: value for key, value in schema.items() if key not in NOT_AT_THE_TOP}
    if depth > MAX_NESTED:
        return found
    if (meant := target(root, schema.get("$ref"))) is not None:
        found = both(found, _flat(meant, root, depth + 1))
    for part in alternatives(schema, "allOf"):
        found = both(found, _flat(part, root, depth + 1))
    for key in ("anyOf", "oneOf"):
        branches = [_flat(each, root, depth + 1) for each in alternatives(schema, key) if is_object(each)]
        if branches:
            found = _one_of(found, branches)
    for key in ("not", "enum", "const"):
        if key in schema and schema[key] != {}:
            found = with_words(found, f"All arguments together, {key}: {as_json(schema[key])}")
    return found


def _one_of(base: Schema, branches: Sequence[Schema]) -> JsonObject:
    """Returns an object that accepts the arguments of the base and of any of its branches."""
    found = dict(base)
    for branch in branches:
        found = {**{key: value for key, value in branch.items() if key not in ("properties", "required", "description")}, **found}
    properties = dict(by_name(base))
    for name in dict.fromkeys(name for branch in branches for name in by_name(branch)):
        properties[name] = either(list(_meanings(name, base, branches)))
    needed = [required(branch) for branch in branches]
    common = [name for name in needed[0] if all(name in group for group in needed)]
    names = list(dict.fromkeys([*required(base), *common]))
    if properties:
        found["properties"] = properties
    if names:
        found["required"] = names
    if "additionalProperties" not in base and any("additionalProperties" not in branch for branch in branches):
        found.pop("additionalProperties", None)  # a branch takes more than the others
    return _with_branches_described(found, branches, [[name for name in group if name not in names] for group in needed])


def _meanings(name: str, base: Schema, branches: Sequence[Schema]) -> Iterator[object]:
    """Yields the schemas of one argument: from each branch, joined with the base's, or from the base if a branch does not have the
    argument.
    """
    outer = by_name(base)
    for branch in branches:
        inner = by_name(branch)
        if isinstance(ours := outer.get(name), Mapping) and isinstance(own := inner.get(name), Mapping):
            yield both(ours, own)
        elif name in inner or name in outer:
            yield inner.get(name, outer.get(name))


def _with_branches_described(schema: Schema, branches: Sequence[Schema], groups: Sequence[Sequence[str]]) -> JsonObject:
    """Adds to the description which arguments belong together, and the descriptions of the branches."""
    found = dict(schema)
    for description in dict.fromkeys(filter(None, (string(branch, "description") for branch in branches))):
        found = with_words(found, description)
    named = list(dict.fromkeys(" and ".join(group) for group in groups if group))
    if named and all(groups):
        found = with_words(found, f"One of these is needed: {'; or '.join(named)}.")
    elif named:
        found = with_words(found, f"Belong together, where given: {'; or '.join(named)}.")
    return found
