"""The elements of a JSON array as bytes, also of one that msgspec refuses although it is JSON (half a surrogate pair, great depth).

Above it: batches, lists of servers, results that are opened. Below it: member_scanner. Whether each element is JSON is the caller's to
check: one that is not does not hide the others.
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
        ValueError: it is no array.
    """
    try:
        return _decoder.decode(array)
    except msgspec.ValidationError:
        raise  # it can be read, and is no array
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
