"""Splits a JSON array into its elements as bytes, also if msgspec refuses the JSON (lone surrogates, deep nesting).

Above it: batches, lists of servers, parsed results. Below it: member_scanner. The caller checks each element: a malformed one does not
affect the others.
"""

import re

import msgspec
from msgspec import Raw

from tooltray.protocol.member_scanner import end_of_value

_START = re.compile(rb"\s*+\[\s*+")
_END = re.compile(rb"\s*+\]\s*+\Z")
_NEXT = re.compile(rb"\s*+,\s*+(?!\])")
_decoder = msgspec.json.Decoder(list[Raw])


def elements_of(array: Raw | bytes | bytearray) -> list[Raw]:
    """The elements, verbatim.

    Raises:
        ValueError: it is not an array.
    """
    try:
        return _decoder.decode(array)
    except msgspec.ValidationError:
        raise  # valid JSON, but not an array
    except (ValueError, RecursionError):
        return _scanned(bytes(array))


def _scanned(text: bytes) -> list[Raw]:
    elements: list[Raw] = []
    start = _START.match(text)
    while start:
        end = end_of_value(text, start.end())
        elements.append(Raw(text[start.end() : end]))
        if _END.match(text, end):
            return elements
        start = _NEXT.match(text, end)
    raise ValueError("no whole array")
