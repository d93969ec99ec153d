"""Reads and writes JSON without loss, so that unknown fields come back as they were; and computes hashes of JSON values.

Python's own `json` loses some of what a file may hold: it turns `1e400` into `Infinity`, which is not JSON, rounds long fractions, accepts
`NaN`, and drops the first of two equal keys silently.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from tooltray.foundation.errors import Conflict
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

MAX_DIGITS = 4000  # Python refuses to read an int of more than 4300 digits; longer ones are kept as Decimal
REVISION_CHARACTERS = 16  # enough to notice a change; consent is bound to the whole digest
MAX_DEPTH = 100  # code that walks the document (copying, checking, writing) recurses one to three calls a level, and Python allows 1000

TOO_DEEP = Phrase("it is nested too deeply")
_OF_PYTHON = {
    "Expecting value": Phrase("a value is missing"),
    "Expecting property name enclosed in double quotes": Phrase("a name in double quotes is missing"),
    "Expecting ':' delimiter": Phrase("{sign} is missing", sign="':'"),
    "Expecting ',' delimiter": Phrase("{sign} is missing", sign="','"),
    "Extra data": Phrase("there is text after the end"),
    "Unterminated string starting at": Phrase("a text begins here and does not end in its line"),
    "Invalid control character at": Phrase("a text begins here and does not end in its line"),
    "Illegal trailing comma before end of object": Phrase("there is a comma after the last member"),
    "Illegal trailing comma before end of array": Phrase("there is a comma after the last member"),
}
"""Messages of the standard library, in our words; the others are rare and stay as they are."""
_LONE_SURROGATE = lazy_pattern("[\ud800-\udfff]")


class NotJson(Exception):
    """A text that is not JSON, or a document that has no JSON form. Quotes no value, because one may be an API key.

    Attributes:
        reason: for the user, with the position.
        line: of the text, from 1; 0: not known.
    """

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.line = reason, line


def read_json(data: bytes) -> tuple[object, list[str]]:
    """Parses a whole document in UTF-8, with or without a byte order mark.

    Returns:
        the document, and the keys that occur twice in one object (the document has the last one).

    Raises:
        NotJson: the text is malformed, not UTF-8, or nested more than `MAX_DEPTH` levels.
    """
    twice: list[str] = []

    def to_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice.extend(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        return found

    try:
        text = data.decode("utf-8-sig")
        document = json.loads(text, object_pairs_hook=to_object, parse_float=_number, parse_int=_integer, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise NotJson(Phrase("byte {number} is not {encoding}", number=error.start + 1, encoding="UTF-8")) from None
    except json.JSONDecodeError as error:
        place = Phrase("line {line}, column {column}", line=error.lineno, column=error.colno)
        raise NotJson(Phrase("{place}: {reason}", place=place, reason=_OF_PYTHON.get(error.msg, error.msg)), error.lineno) from None
    except RecursionError:
        raise NotJson(TOO_DEEP) from None
    check_depth(document)
    return document, twice


def write_json(document: object) -> bytes:
    """Encodes a document as UTF-8 with an indentation of two spaces and a final newline.

    Raises:
        NotJson: a value has no JSON form, or the nesting is so deep that `read_json` would refuse it.
    """
    check_depth(document)
    text = "".join(_write(document, "\n")) + "\n"
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def check_depth(document: object) -> None:
    """Checks the nesting of a document.

    Raises:
        NotJson: a document is nested more than `MAX_DEPTH` levels.
    """
    level = [document]
    for _ in range(MAX_DEPTH):
        level = [member for value in level for member in _members(value)]
        if not level:
            return
    raise NotJson(TOO_DEEP)


def _members(value: object) -> Iterable[object]:
    match value:
        case dict():
            return value.values()
        case list() | tuple():
            return value
    return ()


def _number(text: str) -> float | Decimal:
    number = float(text)
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise NotJson(Phrase("the number {number} is too large", number=text[:40])) from None
    return number if math.isfinite(number) and Decimal(repr(number)) == exact else exact


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) < MAX_DIGITS else Decimal(text)


def _refuse(text: str) -> NoReturn:
    raise NotJson(Phrase("{word} is not JSON", word=text))


def _write(value: object, line: str) -> Iterator[str]:
    inner = line + "  "
    match value:
        case dict() if value:
            yield "{"
            for index, (key, member) in enumerate(value.items()):
                yield ("," if index else "") + inner + _key(key) + ": "
                yield from _write(member, inner)
            yield line + "}"
        case list() | tuple() if value:
            yield "["
            for index, member in enumerate(value):
                yield ("," if index else "") + inner
                yield from _write(member, inner)
            yield line + "]"
        case dict():
            yield "{}"
        case list() | tuple():
            yield "[]"
        case _:
            yield _word(value)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise NotJson(Phrase("a {kind} cannot be a key", kind=type(key).__name__))
    return _word(key)


def _word(value: object) -> str:
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        raise NotJson(Phrase("a {kind} in it has no JSON form", kind=type(value).__name__)) from None


def digest_of(content: object) -> str:
    """Returns the SHA-256 of a JSON value as 64 hex digits. Layout and the order of keys do not matter.

    Args:
        content: what `json.loads` gives, or the JSON of a model; other objects count as their `str`.
    """
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()


def revision_of(content: object) -> str:
    """Returns the first 16 digits of `digest_of`. A client passes them back with a change, which is refused if the entry has changed."""
    return digest_of(content)[:REVISION_CHARACTERS]


def check_revision(revision: str, seen: str) -> None:
    """Refuses a change of an entry that is not the one the caller has seen.

    Args:
        revision: of the present entry; empty: the entry does not exist.
        seen: of the entry that the caller has seen; empty: the caller accepts any.

    Raises:
        Conflict: the two differ.
    """
    if seen and seen != revision:
        title, message = Phrase("This entry has changed meanwhile"), Phrase("it has been changed since you opened it")
        raise Conflict(title, message, Phrase("Review it and decide again."))
