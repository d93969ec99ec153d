"""A tool's definition as every format declares it: its name and its arguments' names as the provider takes them, its schema at hand.

Above it: the formats, and ToolFormats for the way back. Below it: names and schemas.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tooltray.errors import TooltrayError
from tooltray.formats import mending
from tooltray.formats.names import NameMap, NameRule
from tooltray.formats.schemas import object_schema, with_words

MAX_DEPTH = 2 * mending.MAX_DEPTH  # in which references are looked for: a schema within a schema is two levels of JSON
_PROPERTIES = "#/properties/"


@dataclass(frozen=True)
class Declared:
    """
    Attributes:
        name: as the provider takes it.
        description: empty if there is none.
        schema: of the arguments under our names, see `object_schema`.
        arguments: the names of the arguments on both sides.
    """

    name: str
    description: str
    schema: dict[str, Any]
    arguments: NameMap

    @property
    def head(self) -> dict[str, Any]:
        """Name and description as all formats have them; an empty description is left out."""
        return {"name": self.name, **({"description": self.description} if self.description else {})}


def declared(definitions: Iterable[Mapping[str, Any]], *, tools: NameRule, arguments: NameRule) -> list[Declared]:
    """What the formats need of definitions; of two with one name the first.

    Args:
        tools, arguments: what the provider takes as names of tools, and of their arguments.

    Raises:
        TooltrayError: one has no name.
    """
    named: dict[str, Mapping[str, Any]] = {}
    for definition in definitions:
        named.setdefault(_name_of(definition), definition)
    names = NameMap(named, tools)
    return [_declared(names.theirs(name), definition, arguments) for name, definition in named.items()]


def argument_names(definition: Mapping[str, Any], rule: NameRule) -> NameMap:
    """The names of one tool's arguments on both sides."""
    return NameMap(object_schema(definition.get("inputSchema"))["properties"], rule)


def renamed(schema: Mapping[str, Any], arguments: NameMap) -> dict[str, Any]:
    """An object's schema with the provider's names for its properties."""
    if not arguments.changes:
        return dict(schema)
    found = {key: _repointed(value, arguments, 0) for key, value in schema.items()}
    found["properties"] = {arguments.theirs(name): each for name, each in found["properties"].items()}
    if "required" in schema:
        found["required"] = [arguments.theirs(name) for name in schema["required"]]
    return found


def _name_of(definition: Mapping[str, Any]) -> str:
    name = definition.get("name")
    if not isinstance(name, str):
        raise TooltrayError("a tool's definition has no name", "`name` must be a text")
    return name


def _declared(name: str, definition: Mapping[str, Any], rule: NameRule) -> Declared:
    schema = object_schema(definition.get("inputSchema"))
    arguments = NameMap(schema["properties"], rule)
    return Declared(name, _description(definition), _told(schema, arguments.changes), arguments)


def _description(definition: Mapping[str, Any]) -> str:
    """In the server's words; its title where it has no others."""
    annotations = definition.get("annotations")
    title = annotations.get("title") if isinstance(annotations, Mapping) else None
    texts = (definition.get("description"), definition.get("title"), title)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _told(schema: dict[str, Any], changed: Iterable[str]) -> dict[str, Any]:
    """With the true names of those arguments that get another; they may say more about them than anything else does."""
    properties = dict(schema["properties"])
    for name in changed:
        inner = properties[name] if isinstance(properties[name], Mapping) else {}
        properties[name] = with_words(inner, f"The tool calls this {name!r}.")
    return {**schema, "properties": properties}


def _repointed(value: Any, arguments: NameMap, depth: int) -> Any:
    """References into properties, under their new names."""
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
