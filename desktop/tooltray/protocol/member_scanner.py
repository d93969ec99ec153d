"""Splits a JSON object or array into its parts as bytes, also if msgspec refuses the JSON (lone surrogates, deep nesting).

The scan covers only the outermost level and skips its values, so any depth works. The caller checks each part: a malformed one does not
affect the others.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec
from msgspec import Raw

STRING = rb'"(?:[^"\\]++|\\.)*+"'  # possessive: a string of 20 MB costs a tenth of a second and no memory
_NAME = re.compile(rb"[\s,]*+(" + STRING + rb")\s*+:\s*+", re.DOTALL)
_TO_NEXT_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|' + STRING + rb")*+([{}\[\]])", re.DOTALL)
_SCALAR = re.compile(STRING + rb'|[^\s,{}\[\]"]++', re.DOTALL)
_OBJECT_START = re.compile(rb"\s*+\{")
_OBJECT_END = re.compile(rb"\s*+\}")
_object_decoder = msgspec.json.Decoder(dict[str, Raw])
_ARRAY_START = re.compile(rb"\s*+\[\s*+")
_ARRAY_END = re.compile(rb"\s*+\]\s*+\Z")
_NEXT_ELEMENT = re.compile(rb"\s*+,\s*+(?!\])")
_array_decoder = msgspec.json.Decoder(list[Raw])


Text = TypeVar("Text", bytes, memoryview)


def members_of(text: bytes) -> dict[str, bytes]:
    """Returns the values of the outermost object by name, verbatim; the last one counts if a name occurs twice.

    Raises:
        ValueError: it is not an object.
    """
    return dict(scanned_members(text))


def scanned_members(text: Text) -> Iterator[tuple[str, Text]]:
    """Yields the members of the outermost object.

    Raises:
        ValueError: it is not an object.
    """
    start = _OBJECT_START.match(text)
    if not start:
        raise ValueError("no object")
    at = start.end()
    while name := _NAME.match(text, at):
        at = end_of_value(text, name.end())
        yield json.loads(name[1]), text[name.end() : at]
    if not _OBJECT_END.match(text, at):
        raise ValueError("no whole object")


def opened(raw: Raw) -> dict[str, Raw]:
    """Returns the members as `members_of` does, for a part of a message that `envelope.decode` has accepted.

    Raises:
        ValueError: it is not an object.
    """
    try:
        return _object_decoder.decode(raw)
    except msgspec.ValidationError:
        raise  # valid JSON, but not an object
    except (ValueError, RecursionError):
        return {name: Raw(value) for name, value in members_of(bytes(raw)).items()}


def closed(members: Mapping[str, Raw]) -> Raw:
    """Returns an object of these members; the reverse of `opened`."""
    try:
        return Raw(msgspec.json.encode(members))
    except UnicodeEncodeError:  # a name is half a surrogate pair
        return Raw(b"{%b}" % b",".join(b"%b:%b" % (json.dumps(name).encode(), bytes(value)) for name, value in members.items()))


def end_of_value(text: bytes | memoryview, start: int) -> int:
    """Returns the index behind the value that starts at `start`.

    Raises:
        ValueError: the value has no end.
    """
    if scalar := _SCALAR.match(text, start):
        return scalar.end()
    depth, at = 0, start
    while bracket := _TO_NEXT_BRACKET.match(text, at):
        depth += 1 if bracket[1] in b"{[" else -1
        at = bracket.end()
        if depth <= 0:
            return at
    raise ValueError("no end of a value")


def elements_of(array: Raw | bytes | bytearray) -> list[Raw]:
    """Returns the elements of an array, verbatim.

    Raises:
        ValueError: it is not an array.
    """
    try:
        return _array_decoder.decode(array)
    except msgspec.ValidationError:
        raise  # valid JSON, but not an array
    except (ValueError, RecursionError):
        return [Raw(each) for each in scanned_elements(bytes(array))]


def scanned_elements(text: Text) -> Iterator[Text]:
    """Yields the elements of an array that is not empty.

    Raises:
        ValueError: it is not such an array.
    """
    start = _ARRAY_START.match(text)
    while start:
        end = end_of_value(text, start.end())
        yield text[start.end() : end]
        if _ARRAY_END.match(text, end):
            return
        start = _NEXT_ELEMENT.match(text, end)
    raise ValueError("no whole array")
