"""Converts a tool's definition into the form that all formats share: names that the provider accepts, and a normalised schema."""

from collections.abc import Iterable, Mapping

import msgspec

from tooltray.catalogue.formats import mending
from tooltray.catalogue.formats.json_schema import by_name, required
from tooltray.catalogue.formats.names import NameMap, NameRule
from tooltray.catalogue.formats.schemas import object_schema, with_words
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.remote import JsonObject

MAX_DEPTH = 2 * mending.MAX_DEPTH  # levels in which references are searched: a schema within a schema is two levels of JSON
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
    """Converts definitions; of two with the same name the first one counts.

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
        raise TooltrayError("a tool's definition has no name", "`name` must be a text")
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
