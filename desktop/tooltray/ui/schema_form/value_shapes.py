"""The parts of a JSON Schema about one value that a form can use: one of a few kinds, with its options and its texts.

Nothing here follows a schema further than the requested value, so that one that refers to itself costs as much as any other. References are
resolved only within the schema."""

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Final
from urllib.parse import unquote

import msgspec

from tooltray.ui.i18n import tr
from tooltray.ui.server_text import one_line

Schema = Mapping[str, object]
MOST_HOPS = 32  # of references in a row; a longer chain is a circle
MOST_MERGED = 16  # parts of an `allOf`
MOST_OPTIONS = 200  # of a choice; a longer menu is no help, and such a value is written as JSON
MOST_VARIANTS = 24
LONGEST_TITLE, LONGEST_DESCRIPTION = 80, 600  # characters of a server's words at a field
TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "object": Mapping,
    "array": (list, tuple),
    "null": NoneType,
}
KIND_OF_TYPE = {"string": "text", "array": "list"}


class Absent:
    """The absence of a value, unlike None, which is a value."""

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent()


class Shape(msgspec.Struct, frozen=True):
    """The parts of a schema that a form uses.

    Attributes:
        kind: "text", "number", "integer", "boolean", "choice", "choices" (any options, each once), "const", "null", "object", "list",
            "variants", or "json" for all else.
        schema: with its references resolved.
        options: of a choice, or of choices: values and titles.
        variants: the possible schemas.
        is_nullable: null is a value, too.
    """

    kind: str
    schema: Schema
    title: str = ""
    description: str = ""
    options: tuple[tuple[object, str], ...] = ()
    variants: tuple[Schema, ...] = ()
    is_nullable: bool = False

    @property
    def default(self) -> object:
        """The server's default, or the only possible value; ABSENT without one."""
        return self.schema.get("const", self.schema.get("default", ABSENT))


def shape_of(root: Schema, schema: object) -> Shape:
    """Reads a schema's shape for a value.

    Args:
        root: the whole schema, in which references are resolved.
    """
    read, is_nullable = _without_null(root, resolved(root, schema))
    title, description = _words(read.get("title"), LONGEST_TITLE), _words(read.get("description"), LONGEST_DESCRIPTION)
    if "const" in read:
        return Shape("const", read, title, description)
    if options := _options(read):
        return Shape("choice", read, title, description, options=options, is_nullable=is_nullable)
    if variants := _variants(read):
        return Shape("variants", read, title, description, variants=variants, is_nullable=is_nullable)
    kind = _plain_kind(read)
    if kind == "list" and read.get("uniqueItems") is True and (options := _options(resolved(root, read["items"]))):
        return Shape("choices", read, title, description, options=options, is_nullable=is_nullable)
    return Shape(kind, read, title, description, is_nullable=is_nullable)


def resolved(root: Schema, schema: object) -> Schema:
    """Returns a schema with its reference resolved and the parts of `allOf` merged; one with an invalid reference is marked `x-unread`."""
    read: Schema = schema if isinstance(schema, Mapping) else {}
    for _ in range(MOST_HOPS):
        if not isinstance(reference := read.get("$ref"), str):
            return _merged(root, read)
        found = _pointed_at(root, reference)
        rest = {key: value for key, value in read.items() if key != "$ref"}
        if found is None:
            return {**rest, "x-unread": True}
        read = {**found, **rest}
    return {"x-unread": True}


def _pointed_at(root: Schema, reference: str) -> Schema | None:
    if not reference.startswith("#"):
        return None
    place: object = root
    for part in unquote(reference[1:]).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping):
            place = place.get(key)
        elif isinstance(place, Sequence) and not isinstance(place, str) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            return None
    return place if isinstance(place, Mapping) else None


def _merged(root: Schema, read: Schema) -> Schema:
    parts = read.get("allOf")
    if not isinstance(parts, list) or not 0 < len(parts) <= MOST_MERGED:
        return read
    whole: dict[str, object] = {}
    for part in [*parts, {key: value for key, value in read.items() if key != "allOf"}]:
        each = part if not isinstance(part, Mapping) or "$ref" not in part else {**(_pointed_at(root, str(part["$ref"])) or {}), **part}
        if not isinstance(each, Mapping):
            continue
        properties, required = {**_mapping(whole, "properties"), **_mapping(each, "properties")}, [*_list(whole, "required")]
        required += [name for name in _list(each, "required") if name not in required]
        whole = {**whole, **each, **({"properties": properties} if properties else {}), **({"required": required} if required else {})}
    whole.pop("$ref", None)
    return whole


def _without_null(root: Schema, read: Schema) -> tuple[Schema, bool]:
    """Returns a schema for all values but null, and whether null is valid, too."""
    types = read.get("type")
    if isinstance(types, list) and "null" in types:
        rest = [each for each in types if each != "null"]
        return {**read, "type": rest[0] if len(rest) == 1 else rest or "null"}, True
    for key in ("anyOf", "oneOf"):
        branches = read.get(key)
        if isinstance(branches, list) and {"type": "null"} in branches:
            rest = [each for each in branches if each != {"type": "null"}]
            others = {name: value for name, value in read.items() if name != key}
            return ({**resolved(root, rest[0]), **others} if len(rest) == 1 else {**others, key: rest}), True
    return read, read.get("nullable") is True


def _options(read: Schema) -> tuple[tuple[object, str], ...]:
    """Returns the values of a choice with their titles; empty if it has too many, or is something else."""
    if values := _list(read, "enum"):
        return tuple((value, _title_of(value)) for value in values) if len(values) <= MOST_OPTIONS else ()
    branches = _list(read, "oneOf") or _list(read, "anyOf")
    consts = [each for each in branches if isinstance(each, Mapping) and "const" in each]
    if not consts or len(consts) < len(branches) or len(branches) > MOST_OPTIONS:
        return ()
    return tuple((each["const"], _words(each.get("title"), LONGEST_TITLE) or _title_of(each["const"])) for each in consts)


def _title_of(value: object) -> str:
    if isinstance(value, str):
        return one_line(value, LONGEST_TITLE) or '""'
    return one_line(msgspec.json.encode(value).decode(), LONGEST_TITLE)


def _variants(read: Schema) -> tuple[Schema, ...]:
    """Returns the kinds that one value can have; branches that only name required members do not count."""
    types = read.get("type")
    if isinstance(types, list) and len(types) > 1:
        return tuple({**read, "type": each} for each in types if isinstance(each, str) and each in TYPES)
    branches = [each for each in _list(read, "oneOf") or _list(read, "anyOf") if isinstance(each, Mapping)]
    if not 0 < len(branches) <= MOST_VARIANTS or not any(
        each.keys() & {"type", "properties", "$ref", "enum", "const"} for each in branches
    ):
        return ()
    shared = {key: value for key, value in read.items() if key not in ("oneOf", "anyOf", "title", "description", "default")}
    return tuple(_merged(read, {"allOf": [shared, each]}) if shared.keys() - {"type", "$schema"} else each for each in branches)


def _plain_kind(read: Schema) -> str:
    kind = read.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        kind = _guessed_type(read)
    if "x-unread" in read or (kind == "object" and not properties_of(read)):
        return "json"
    if kind == "array" and ("prefixItems" in read or not isinstance(read.get("items"), Mapping)):
        return "json"
    if "enum" in read:
        return "json"  # too many for a menu
    return KIND_OF_TYPE.get(kind, kind) if kind else "json"


def _guessed_type(read: Schema) -> str:
    signs = {"properties": "object", "items": "array", "pattern": "string", "minLength": "string", "format": "string", "minimum": "number"}
    return next((kind for sign, kind in signs.items() if sign in read), "")


def properties_of(read: Schema) -> Mapping[str, object]:
    """Returns the schemas of an object's members by name."""
    return _mapping(read, "properties")


def required_of(read: Schema) -> frozenset[str]:
    """Returns the names of an object's required members."""
    return frozenset(name for name in _list(read, "required") if isinstance(name, str))


def kind_words(shape: Shape) -> str:
    """Returns the kind of value, in a word or two."""
    words = {
        "text": tr("text"),
        "number": tr("number"),
        "integer": tr("whole number"),
        "boolean": tr("yes or no"),
        "list": tr("list"),
        "object": tr("object"),
        "json": tr("JSON"),
    }.get(shape.kind, "")
    format = shape.schema.get("format")
    return f"{words} · {one_line(format, 24)}" if shape.kind == "text" and isinstance(format, str) else words


def variant_title(root: Schema, variant: Schema, number: int) -> str:
    """Returns the name of a variant: its title, the value that distinguishes it, or its type."""
    shape = shape_of(root, variant)
    if shape.title:
        return shape.title
    for name, member in properties_of(shape.schema).items():
        if "const" in (read := resolved(root, member)):
            return f"{one_line(name, LONGEST_TITLE)}: {_title_of(read['const'])}"
    reference = variant.get("$ref")
    if isinstance(reference, str):
        return one_line(reference.rpartition("/")[2], LONGEST_TITLE)
    kind = shape.schema.get("type")
    return str(kind) if isinstance(kind, str) else str(number)


def fits(root: Schema, schema: object, value: object) -> bool:
    """Returns whether a value could belong to a schema: by its type and required members, without full validation."""
    shape = shape_of(root, schema)
    read = shape.schema
    if value is None:
        return shape.is_nullable or shape.kind in ("null", "json")
    match shape.kind:
        case "const":
            return same(read["const"], value)
        case "choice":
            return any(same(option, value) for option, _ in shape.options)
        case "variants":
            return any(fits(root, each, value) for each in shape.variants if each.get("$ref") != "#")
        case "object" if isinstance(value, Mapping):
            return _members_fit(root, read, value)
        case "json":
            return _is_of_type(read.get("type"), value)
    return _is_of_type(read.get("type") or _guessed_type(read), value)


def _members_fit(root: Schema, read: Schema, value: Mapping[str, object]) -> bool:
    """Returns whether an object has all required members, and the constants that distinguish variants."""
    if not required_of(read) <= value.keys():
        return False
    members = {name: resolved(root, member) for name, member in properties_of(read).items() if name in value}
    return all(same(member["const"], value[name]) for name, member in members.items() if "const" in member)


def _is_of_type(kind: object, value: object) -> bool:
    """Returns whether a value has a type of JSON, where true is not a number; an unknown type has all values."""
    if not isinstance(kind, str) or kind not in TYPES:
        return True
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def same(first: object, second: object) -> bool:
    """Returns whether two values are equal in JSON, where true is not 1."""
    return first == second and isinstance(first, bool) == isinstance(second, bool)


def _words(text: object, most: int) -> str:
    return one_line(text, most) if isinstance(text, str) else ""


def _mapping(read: Schema, key: str) -> Mapping[str, object]:
    value = read.get(key)
    return value if isinstance(value, Mapping) else {}


def _list(read: Schema, key: str) -> list[object]:
    value = read.get(key)
    return value if isinstance(value, list) else []
