"""The signature of a tool, a line for a model: its name, its arguments and what it does. All of it comes from the tool's server, so each
text is cut and loses control characters and line breaks.
"""

import json
from collections.abc import Iterator, Mapping

from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.protocol.envelope import NOTHING, load
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.elicitation_form import plain

LONGEST_SENTENCE = 120  # characters of a description, about 25 tokens
LONGEST_ARGUMENTS = 140  # characters of all arguments, about 40 tokens; the required ones are always named
LONGEST_NAME, LONGEST_VALUE = 48, 24  # characters of an argument's name, and of a value of an enum
MOST_REQUIRED = 12  # arguments; more of them are counted
MOST_CHOICES = 4  # values of an enum, or types of a value
DEEPEST, DEEPEST_NAMED = 4, 2  # steps down in a schema: whose types are shown, and whose objects' members are named
READ_CHARACTERS = 1000  # of a description; its first sentence is in them
ELLIPSIS, SEPARATOR, CHOICE = "…", ", ", "|"
_SHORT = {"string": "str", "integer": "int", "number": "number", "boolean": "bool"}
_PARAGRAPH = lazy_pattern(r"\r?\n[^\S\n]*(?:\r?\n|[-*#•]|\d+[.)]|[A-Z][\w ]{1,30}:\s*(?:\n|$))")  # an empty line, a list, or a heading
_SENTENCE = lazy_pattern(r".*?[^.\s](?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?:[.!?][\"')\]]*(?=\s)|[。！？])")
_PLAIN_NAME = lazy_pattern(r"[^\W\d][\w.$-]*")
_PLAIN_VALUE = lazy_pattern(r"[\w.+/-]+")

Schema = Mapping[str, object]


def signature(definition: Raw, *, name: str = "") -> str:
    """Returns the signature of a definition, such as `read_file(path: str, limit?: int) - Reads a file`. An argument with `?` may be left
    out. Arguments and values beyond the room are left out with an ellipsis.

    Args:
        definition: an object; members of a wrong kind are left out.
        name: replaces the definition's own.
    """
    members = opened(definition)
    name = name or plain(_value(members.get("name", NOTHING)), 2 * LONGEST_NAME)
    sentence = first_sentence(_value(members.get("description", NOTHING)) or _value(members.get("title", NOTHING)))
    return f"{name}({arguments(_value(members.get('inputSchema', NOTHING)))})" + (f" - {sentence}" if sentence else "")


def first_sentence(text: object, most: int = LONGEST_SENTENCE) -> str:
    """Returns the first sentence of a description in one line, without its full stop, cut at the end of a word; empty if it is not text.

    Args:
        most: characters.
    """
    if not isinstance(text, str):
        return ""
    paragraph = _PARAGRAPH.split(text[:READ_CHARACTERS].strip(), maxsplit=1)[0].lstrip("#* ")
    line = " ".join(plain(paragraph, READ_CHARACTERS).split())
    found = _SENTENCE.match(line)
    sentence = (found[0] if found else line).rstrip(".。: ")
    if len(sentence) <= most:
        return sentence
    end = sentence.rfind(" ", 0, most)
    return sentence[: end if end > most // 2 else most - 1].rstrip(" ,;:-(") + ELLIPSIS


def arguments(schema: object) -> str:
    """Returns the arguments of a schema: the required ones first, with their types as far as there is room, then others as far as there is.

    Args:
        schema: of a tool's input; whatever its server wrote.
    """
    if not isinstance(schema, Mapping):
        return ""
    types, properties, required = _Types(schema), _properties(schema), _required(schema)
    first = [key for key in properties if key in required][:MOST_REQUIRED]
    kept: list[str] = []
    room = LONGEST_ARGUMENTS
    owed = sum(len(_name(key)) + len(SEPARATOR) for key in first)  # the room for the names of the required ones that are to come
    for key in first:
        name = _name(key)
        owed -= len(name) + len(SEPARATOR)
        text = _typed(name, types.of(properties[key]))
        kept.append(text if len(text) + len(SEPARATOR) <= room - owed else name)
        room -= len(kept[-1]) + len(SEPARATOR)
    for key in (key for key in properties if key not in required):
        text = _typed(f"{_name(key)}?", types.of(properties[key]))
        room -= len(text) + len(SEPARATOR)
        if room < 0 or len(first) < len(required):
            break
        kept.append(text)
    return SEPARATOR.join([*kept, *([ELLIPSIS] if len(kept) < len(properties) else [])])


def described_arguments(schema: object) -> Iterator[tuple[str, str, str]]:
    """Yields the name, the type and the description of each argument, the required ones first; others have a `?` behind their name.

    Args:
        schema: of a tool's input; whatever its server wrote.
    """
    if isinstance(schema, Mapping):
        types, required = _Types(schema), _required(schema)
        for key, value in sorted(_properties(schema).items(), key=lambda item: item[0] not in required):
            about = value.get("description") if isinstance(value, Mapping) else ""
            yield _name(key) + ("" if key in required else "?"), types.of(value), plain(about, READ_CHARACTERS)


class _Types:
    """The types of one schema, in a few characters. References may lead round in a circle, so every step down is counted."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def of(self, schema: object, depth: int = 0) -> str:
        """Returns the type of a value; empty if every value is right, or the type is not known."""
        schema = self._resolved(schema)
        if not isinstance(schema, Mapping) or depth > DEEPEST:
            return ""
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(values, list):
            return CHOICE.join([*map(_written, values[:MOST_CHOICES]), *([ELLIPSIS] if len(values) > MOST_CHOICES else [])])
        choices = schema.get("anyOf", schema.get("oneOf"))
        if isinstance(choices, list):
            return _joined(self.of(choice, depth + 1) for choice in choices[:MOST_CHOICES])
        kind = schema.get("type", "object" if _properties(schema) else None)
        return _joined(self._named(each, schema, depth) for each in (kind if isinstance(kind, list) else [kind])[:MOST_CHOICES])

    def _named(self, kind: object, schema: Schema, depth: int) -> str:
        if kind == "array":
            inner = self.of(schema.get("items"), depth + 1)
            return f"({inner})[]" if CHOICE in inner and not inner.endswith("}") else f"{inner}[]"
        if kind == "object":
            return self._members(schema, depth)
        return _SHORT.get(kind, "") if isinstance(kind, str) else ""

    def _members(self, schema: Schema, depth: int) -> str:
        """Returns an object with its required members, or with the first ones if none is required."""
        properties, required = _properties(schema), _required(schema)
        if not properties or depth > DEEPEST_NAMED:
            return "object"
        listed = [key for key in properties if key in required or not required][:MOST_REQUIRED]
        mark = "" if required else "?"
        shown = [_typed(_name(key) + mark, self.of(properties[key], depth + 1)) for key in listed]
        return "{" + SEPARATOR.join([*shown, *([ELLIPSIS] if len(shown) < len(properties) else [])]) + "}"

    def _resolved(self, schema: object) -> object:
        """Follows one reference within the schema; any other is not known."""
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str):
            return schema
        found: object = self._root
        for part in reference.removeprefix("#/").split("/"):
            found = found.get(part) if isinstance(found, Mapping) else None
        return None if isinstance(found, Mapping) and "$ref" in found else found


def _typed(name: str, kind: str) -> str:
    return f"{name}: {kind}" if kind else name


def _joined(kinds: Iterator[str]) -> str:
    """Joins the types that a value may have, without null: an argument that may be null may nearly always be left out."""
    return CHOICE.join(dict.fromkeys(kind for kind in kinds if kind))


def _written(value: object) -> str:
    """Returns a value of an enum: a plain word as it is, anything else as JSON."""
    if not isinstance(value, str):
        return plain(json.dumps(value), LONGEST_VALUE)
    shown = plain(value, LONGEST_VALUE)
    return shown if _PLAIN_VALUE.fullmatch(shown) else json.dumps(shown, ensure_ascii=False)


def _name(key: str) -> str:
    shown = plain(key, LONGEST_NAME)
    return shown if _PLAIN_NAME.fullmatch(shown) else json.dumps(shown, ensure_ascii=False)


def _properties(schema: Schema) -> Mapping[str, object]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _required(schema: Schema) -> frozenset[str]:
    listed = schema.get("required")
    names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    return frozenset(names) & frozenset(_properties(schema))


def _value(raw: Raw) -> object:
    try:
        return load(raw)
    except (ValueError, RecursionError):
        return None
