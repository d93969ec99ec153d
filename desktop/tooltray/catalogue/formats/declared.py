"""Converts a tool's definition into the form that all formats share: names that the provider accepts, and a normalised schema."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from tooltray.catalogue.formats import json_schema
from tooltray.catalogue.formats.contents import as_json
from tooltray.catalogue.formats.json_schema import Schema, alternatives, both, by_name, either, mended, required, string, target
from tooltray.catalogue.formats.names import NameMap, NameRule
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.verbs import JsonObject

MAX_NESTED = 8  # alternatives within alternatives at the top; servers write at most two
NOT_AT_THE_TOP = ("not", "enum", "const", "$ref", "anyOf", "oneOf", "allOf")


def object_schema(schema: object) -> JsonObject:
    """Normalises the schema of a definition: one object with properties at the top level, where providers refuse `anyOf`, `oneOf`, `allOf`,
    `enum` and `not`. Other constraints there go into the description; below the top level everything stays.

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
        found.pop("additionalProperties", None)  # a branch accepts further arguments
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


MAX_DEPTH = 2 * json_schema.MAX_DEPTH  # levels in which references are searched: a schema within a schema is two levels of JSON
_PROPERTIES = "#/properties/"


class Declared(msgspec.Struct, frozen=True):
    """One tool in the form that all formats share.

    Attributes:
        name: a name that the provider accepts.
        description: empty if it is missing.
        schema: of the arguments under the server's names, see `object_schema`.
        arguments: maps the server's names of arguments to the provider's, and back.
    """

    name: str
    description: str
    schema: JsonObject
    arguments: NameMap

    @property
    def head(self) -> JsonObject:
        """Name and description, which all formats spell alike; an empty description is left out."""
        return {"name": self.name, **({"description": self.description} if self.description else {})}


def declared(definitions: Iterable[Mapping[str, object]], *, tools: NameRule, arguments: NameRule) -> list[Declared]:
    """Converts definitions; of two with the same name the first one is used.

    Args:
        tools, arguments: the names that the provider accepts for tools and for their arguments.

    Raises:
        TooltrayError: a definition has no name.
    """
    named: dict[str, Mapping[str, object]] = {}
    for definition in definitions:
        named.setdefault(_name_of(definition), definition)
    names = NameMap(named, tools)
    return [_declared(names.theirs(name), definition, arguments) for name, definition in named.items()]


def argument_names(definition: Mapping[str, object], rule: NameRule) -> NameMap:
    """Maps the names of one tool's arguments to the provider's, and back."""
    return NameMap(by_name(object_schema(definition.get("inputSchema"))), rule)


def renamed(schema: Mapping[str, object], arguments: NameMap) -> JsonObject:
    """Returns an object's schema with the provider's names for its properties."""
    if not arguments.changes:
        return dict(schema)
    found = {key: _repointed(value, arguments, 0) for key, value in schema.items()}
    found["properties"] = {arguments.theirs(name): each for name, each in by_name(found).items()}
    if "required" in schema:
        found["required"] = [arguments.theirs(name) for name in required(schema)]
    return found


def _name_of(definition: Mapping[str, object]) -> str:
    name = definition.get("name")
    if not isinstance(name, str):
        raise TooltrayError("a tool's definition has no name", "`name` must be a string")
    return name


def _declared(name: str, definition: Mapping[str, object], rule: NameRule) -> Declared:
    schema = object_schema(definition.get("inputSchema"))
    arguments = NameMap(by_name(schema), rule)
    return Declared(name, _description(definition), _with_original_names(schema, arguments.changes), arguments)


def _description(definition: Mapping[str, object]) -> str:
    """Returns the server's description, or its title if it has no description."""
    annotations = definition.get("annotations")
    title = annotations.get("title") if isinstance(annotations, Mapping) else None
    texts = (definition.get("description"), definition.get("title"), title)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _with_original_names(schema: JsonObject, changed: Iterable[str]) -> JsonObject:
    """Adds the original names of renamed arguments to their descriptions, because a name may explain an argument best."""
    properties = dict(by_name(schema))
    for name in changed:
        properties[name] = with_words(by_name(properties, name), f"The tool calls this {name!r}.")
    return {**schema, "properties": properties}


def _repointed(value: object, arguments: NameMap, depth: int) -> object:
    """Returns a schema whose references to properties use their new names."""
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_repointed(each, arguments, depth + 1) for each in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: _repointed(each, arguments, depth + 1) for key, each in value.items()}
    reference = found.get("$ref")
    if isinstance(reference, str) and reference.startswith(_PROPERTIES):
        name, slash, rest = reference.removeprefix(_PROPERTIES).partition("/")
        found["$ref"] = f"{_PROPERTIES}{arguments.theirs(name.replace('~1', '/').replace('~0', '~'))}{slash}{rest}"
    return found
