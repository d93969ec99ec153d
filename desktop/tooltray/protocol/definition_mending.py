"""The least change that makes a definition readable for every AI client, and the flaws that its author should know of.

Members keep their bytes and their order unless they are changed. A flaw is a sentence that begins with the place of the member, says what
the member is and what the specification requires, and ends with what AI clients get instead.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.protocol import definition_shapes as shapes
from tooltray.protocol import output_schemas
from tooltray.protocol.envelope import NOTHING, dump, load
from tooltray.protocol.member_scanner import STRING, closed, elements_of, opened
from tooltray.protocol.output_schemas import LegacyOutput

LEFT_OUT = "left out"
LONGEST_SHOWN = 40  # characters of a value in a flaw
OBJECT_SCHEMA, OBJECT_TYPE = Raw(b'{"type":"object"}'), Raw(b'"object"')
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")

_BRACKETS = bytes.maketrans(b"[]", b"{}")
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
_STRINGS = lazy_pattern(STRING, re.DOTALL)
_HALF = lazy_pattern(rb"\\u[dD][89a-fA-F]")
_ESCAPE = lazy_pattern(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
_DATE = lazy_pattern(rb'"%b"' % shapes.DATE.encode())
_DIGITS = lazy_pattern(rb'"([0-9]{1,15})"')
_WHOLE = lazy_pattern(rb"(-?[0-9]{1,15})\.0+")
_KINDS = {b"{": "an object", b"[": "an array", b'"': "a string", b"t": "true", b"f": "false", b"n": "null"}
_JSON_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


class Flaws:
    """The flaws of one definition."""

    def __init__(self, *, is_modern: bool) -> None:
        """
        Args:
            is_modern: whether the server speaks 2026-07-28, which allows more in schemas than legacy clients can read.
        """
        self.is_modern = is_modern
        self.sentences: list[str] = []

    def add(self, where: str, what: str, instead: str = LEFT_OUT) -> None:
        """Adds a flaw; `instead` is what clients get."""
        self.sentences.append(f"{where} {what} ({instead})")


Mend = Callable[[Raw, str, Flaws], Raw | None]
"""Takes a member, its place and the flaws; returns what clients get: the member itself if it is good, None to leave it out."""


class Mended(NamedTuple):
    """What AI clients get of a definition.

    Attributes:
        raw: the definition; the server's own bytes if every client can read them.
        flaws: sentences for its author.
        output: what legacy clients get in place of its `outputSchema`; None: the same as all others.
    """

    raw: Raw
    flaws: tuple[str, ...]
    output: LegacyOutput | None


def mended(raw: Raw, mends: Mapping[str, Mend], needed: Mapping[str, Raw], *, is_modern: bool = False) -> Mended:
    """Mends a definition.

    Args:
        raw: a JSON object.
        mends: one of TOOL, PROMPT, TEMPLATE, RESOURCE.
        needed: members without which no client reads it, each with its replacement.
        is_modern: as in Flaws.
    """
    flaws = Flaws(is_modern=is_modern)
    text = _whole_characters(bytes(raw), flaws)
    before = opened(raw if text is None else Raw(text))
    flat = {name: _flat(name, value, flaws) for name, value in before.items()}
    after = _mended({name: value for name, value in flat.items() if value is not None}, mends, "", flaws)
    for name, value in needed.items():
        if name not in after:
            if name not in before:
                flaws.add(name, "is missing", f"{_shown(value)} is used")
            after = {**after, name: value}
    is_same = text is None and len(after) == len(before) and all(after.get(name) is value for name, value in before.items())
    output = _legacy_output(after.get("outputSchema", NOTHING), flaws) if mends is TOOL else None
    return Mended(raw if is_same else closed(after), tuple(flaws.sentences), output)


def is_text_for_all(raw: bytes) -> bool:
    """Returns whether every client can parse a definition: its characters are whole, and it is not too deep. Does not check its members."""
    if b"\\u" in raw and _HALF.search(raw):
        return False
    return raw.count(b"{") + raw.count(b"[") <= shapes.MOST_LEVELS or not is_too_deep(raw)


def is_too_deep(raw: bytes) -> bool:
    """Returns whether some clients cannot parse a list that contains this definition."""
    brackets = _STRINGS.sub(b"", raw).translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(shapes.MOST_LEVELS):
        if not brackets:
            return False
        if len(brackets) > 2 * shapes.MOST_LEVELS * brackets.count(b"{}"):  # deeper than this on average
            return True
        brackets = brackets.replace(b"{}", b"")  # one level
    return bool(brackets)


def _flat(name: str, value: Raw, flaws: Flaws) -> Raw | None:
    """Returns a member of a definition if it is not too deep; of a too deep `inputSchema` its shallow parts, of any other None."""
    if not is_too_deep(bytes(value)):
        return value
    is_cut = name == "inputSchema" and _first(value) == b"{"
    flaws.add(name, f"is nested more than {shapes.MOST_LEVELS} levels deep", "deeper parts are left out" if is_cut else LEFT_OUT)
    if not is_cut:
        return None
    members = opened(value)
    kept = {member: each for member, each in members.items() if not is_too_deep(bytes(each))}
    if _first(members.get("properties", NOTHING)) == b"{":
        shallow = {member: Raw(b"{}") if is_too_deep(bytes(each)) else each for member, each in opened(members["properties"]).items()}
        kept["properties"] = closed(shallow)
    return closed(kept)


def _whole_characters(raw: bytes, flaws: Flaws) -> bytes | None:
    """Returns the text with U+FFFD in place of halves of surrogate pairs; None if it has none."""
    text = _ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], raw) if b"\\u" in raw else raw
    if text == raw:
        return None
    flaws.add("its text", "has half of a surrogate pair in it", "U+FFFD is used")
    return text


def _legacy_output(raw: Raw, flaws: Flaws) -> LegacyOutput | None:
    """Returns what legacy clients get of an output schema that only other clients can read."""
    if not raw or output_schemas.is_for_all(raw):
        return None
    schema = load(raw)
    if output_schemas.is_object(schema, is_modern=flaws.is_modern):
        return LegacyOutput(_root_schema(raw, "outputSchema", Flaws(is_modern=True)))
    if flaws.is_modern:
        return LegacyOutput(output_schemas.projection(schema), is_wrapped=True)
    flaws.add("outputSchema", 'is not of "type": "object", the only type before 2026-07-28', "left out for clients of that time")
    return LegacyOutput(None)


# values


def _first(raw: Raw) -> bytes:
    return bytes(memoryview(raw)[:1])


def _kind(raw: Raw) -> str:
    return _KINDS.get(_first(raw), "a number")


def _shown(raw: Raw) -> str:
    text = bytes(memoryview(raw)[: 4 * LONGEST_SHOWN]).decode("utf-8", "replace")
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _only(first_bytes: bytes, wanted: str) -> Mend:
    """Returns a mend that leaves out a member unless it begins with one of these bytes."""

    def mend(raw: Raw, where: str, flaws: Flaws) -> Raw | None:
        if _first(raw) in first_bytes:
            return raw
        flaws.add(where, f"is {_kind(raw)}, not {wanted}")
        return None

    return mend


_text, _boolean, _object = _only(b'"', "a string"), _only(b"tf", "true or false"), _only(b"{", "an object")


def _of_type(
    kind: Any, wanted: str, rewritten: Callable[[Raw], Raw | None] = lambda raw: None, is_good: Callable[[Any], bool] = lambda value: True
) -> Mend:
    """Returns a mend for a value of a type that msgspec knows.

    Args:
        rewritten: returns what another value means; None if that is not clear.
        is_good: whether clients read a value of the type.
    """
    decoder = msgspec.json.Decoder(kind)

    def mend(raw: Raw, where: str, flaws: Flaws) -> Raw | None:
        if (value := shapes.decoded(decoder, raw)) is not None and is_good(value):
            return raw
        instead = rewritten(raw)
        flaws.add(where, f"is {_shown(raw)}, not {wanted}", f"{_shown(instead)} is used" if instead else LEFT_OUT)
        return instead

    return mend


def _with_time(raw: Raw) -> Raw | None:
    """Returns the first moment of a day."""
    return Raw(bytes(raw)[:-1] + b'T00:00:00Z"') if _DATE.fullmatch(bytes(raw)) else None


def _as_integer(raw: Raw) -> Raw | None:
    """Returns the integer that is written as a string, or with a fraction of zero."""
    found = _DIGITS.fullmatch(bytes(raw)) or _WHOLE.fullmatch(bytes(raw))
    return Raw(b"%d" % int(found[1])) if found else None


# arrays and objects


def _array(mend_each: Mend, wanted: str, *, takes_one: bool = False) -> Mend:
    """Returns a mend for an array; elements that cannot be mended are left out.

    Args:
        takes_one: whether a string in place of the array means an array of this string.
    """

    def mend(raw: Raw, where: str, flaws: Flaws) -> Raw | None:
        if takes_one and _first(raw) == b'"':
            flaws.add(where, f"is a string, not an array of {wanted}", f"[{_shown(raw)}] is used")
            raw = Raw(b"[%b]" % bytes(raw))
        if _first(raw) != b"[":
            flaws.add(where, f"is {_kind(raw)}, not an array of {wanted}")
            return None
        before = elements_of(raw)
        after = [mend_each(each, f"{where}[{place}]", flaws) for place, each in enumerate(before)]
        if all(new is old for new, old in zip(after, before, strict=True)):
            return raw
        return Raw(b"[%b]" % b",".join(bytes(each) for each in after if each is not None))

    return mend


def _members(mends: Mapping[str, Mend], needed: str = "") -> Mend:
    """Returns a mend for an object. `needed`: a string member without which the object is useless."""

    def mend(raw: Raw, where: str, flaws: Flaws) -> Raw | None:
        if _first(raw) != b"{":
            flaws.add(where, f"is {_kind(raw)}, not an object")
            return None
        before = opened(raw)
        if needed and _first(before.get(needed, NOTHING)) != b'"':
            flaws.add(where, f"has no {needed} that is a string")
            return None
        after = _mended(before, mends, where, flaws)
        return raw if after is before else closed(after)

    return mend


def _mended(before: dict[str, Raw], mends: Mapping[str, Mend], where: str, flaws: Flaws) -> dict[str, Raw]:
    """Returns the members after the mends; the same dictionary if nothing has changed."""
    found = {name: mend(before[name], f"{where}.{name}" if where else name, flaws) for name, mend in mends.items() if name in before}
    if all(value is before[name] for name, value in found.items()):
        return before
    merged = {name: found.get(name, value) for name, value in before.items()}
    return {name: value for name, value in merged.items() if value is not None}


# schemas


def _input_schema(raw: Raw, where: str, flaws: Flaws) -> Raw:
    if _first(raw) == b"{":
        return _root_schema(raw, where, flaws)
    flaws.add(where, f"is {_kind(raw)}, not an object", f"{_shown(OBJECT_SCHEMA)} is used")
    return OBJECT_SCHEMA


def _output_schema(raw: Raw, where: str, flaws: Flaws) -> Raw | None:
    if _first(raw) != b"{":
        flaws.add(where, f"is {_kind(raw)}, not an object")
        return None
    if fault := output_schemas.schema_fault(raw):
        flaws.add(where, f"cannot be compiled by clients that check results: {fault}")
        return None
    schema = load(raw)
    is_mended = schema.get("type") == "object" or (not flaws.is_modern and output_schemas.is_object(schema, is_modern=False))
    return _root_schema(raw, where, flaws) if is_mended else raw


def _root_schema(raw: Raw, where: str, flaws: Flaws) -> Raw:
    """Returns a schema whose root every client can read; everything else in it stays unchanged."""
    before = opened(raw)
    after = _mended(before, _ROOT, where, flaws)
    if "type" not in after:
        flaws.add(where, 'has no "type", which has to be "object"', "added")
        after = {**after, "type": OBJECT_TYPE}
    return raw if after is before else closed(after)


def _root_type(raw: Raw, where: str, flaws: Flaws) -> Raw:
    if load(raw) == "object":
        return raw
    flaws.add(where, f'is {_shown(raw)}, not "object"', '"object" is used')
    return OBJECT_TYPE


def _properties(raw: Raw, where: str, flaws: Flaws) -> Raw | None:
    if _first(raw) == b"[" and not elements_of(raw):
        flaws.add(where, "is an array, not an object", "{} is used")
        return Raw(b"{}")
    if _first(raw) != b"{":
        flaws.add(where, f"is {_kind(raw)}, not an object")
        return None
    before = opened(raw)
    after = {name: _property(value, f"{where}.{name}", flaws) for name, value in before.items()}
    return raw if all(value is before[name] for name, value in after.items()) else closed(after)


def _property(raw: Raw, where: str, flaws: Flaws) -> Raw:
    first = _first(raw)
    if first == b"{":
        return raw
    name = load(raw) if first == b'"' else ""
    instead = Raw(b'{"not":{}}') if first == b"f" else dump({"type": name} if name in _JSON_TYPES else {})
    if not (flaws.is_modern and first in b"tf"):  # 2026-07-28 allows these
        flaws.add(where, f"is {_kind(raw)}, not an object", f"{_shown(instead)} is used")
    return instead


_ROOT: Mapping[str, Mend] = {
    "type": _root_type,
    "$schema": _text,
    "properties": _properties,
    "required": _array(_text, "strings", takes_one=True),
}
_SIZES = _array(_text, "strings", takes_one=True)
_ICON = _members({"mimeType": _text, "sizes": _SIZES, "theme": _of_type(shapes.Theme, '"light" or "dark"')}, needed="src")
_NAMED: Mapping[str, Mend] = {"name": _text, "title": _text, "description": _text, "icons": _array(_ICON, "icons"), "_meta": _object}
_ANNOTATIONS = _members(
    {
        "audience": _array(_of_type(shapes.Role, '"user" or "assistant"'), '"user" and "assistant"', takes_one=True),
        "priority": _of_type(shapes.Priority, "a number from 0 to 1"),
        "lastModified": _of_type(shapes.DateAndTime, 'a date and time such as "2025-01-12T15:00:58Z"', _with_time),
    }
)
_ARGUMENT = _members({"title": _text, "description": _text, "required": _boolean}, needed="name")

TOOL: Mapping[str, Mend] = {
    **_NAMED,
    "inputSchema": _input_schema,
    "outputSchema": _output_schema,
    "annotations": _members({"title": _text, **dict.fromkeys(HINTS, _boolean)}),
    "execution": _members({"taskSupport": _of_type(shapes.TaskSupport, '"required", "optional" or "forbidden"')}),
}
PROMPT: Mapping[str, Mend] = {**_NAMED, "arguments": _array(_ARGUMENT, "arguments")}
TEMPLATE: Mapping[str, Mend] = {**_NAMED, "mimeType": _text, "annotations": _ANNOTATIONS}
RESOURCE: Mapping[str, Mend] = {**TEMPLATE, "size": _of_type(int, "an integer", _as_integer, shapes.is_size)}
