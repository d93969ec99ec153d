"""Writes tables in the results of tools as CSV, which repeats no names: for clients and tools whose user has switched that on.

A table is a list of flat objects. Its CSV gives back the very values: a number as the server wrote it, a text that looks like a number,
`null`, an empty text, a missing member. A result with any other list, and a table that CSV makes hardly smaller, is unchanged.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.gateway.kept_results.result_parts import CONTENT, JSON, STRUCTURED, TEXT, ResultPart, parts_of, repeated
from tooltray.protocol.envelope import dump
from tooltray.protocol.member_scanner import closed, opened

LEAST_ROWS = 5
MOST_COLUMNS = 100  # of tables by and for people; objects with a member each of its own would make a row for each and a column for each
MOST_BYTES = 2**20  # a quarter of a million tokens, more than most models read; takes a tenth of a second in a thread
MOST_SHARE = 0.75  # of the JSON: a smaller saving is not worth a second notation
_ROWS, _MEMBERS = msgspec.json.Decoder(list[dict[str, Raw]]), msgspec.json.Decoder(dict[str, Raw])
_BEGINS_TABLE = lazy_pattern(rb"\s*[\[{]")
_SPLITS = lazy_pattern(rb'[",\r\n]|\A\s|\s\Z|\A\Z')  # a text that CSV would split, that programs would trim, or an empty one
_LOOKS_OTHER = lazy_pattern(  # a text that could be taken for another value
    rb"(?i)[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf(?:inity)?)|true|false|null"
)
_LEGEND = b"Quoted: text. Bare: number, true, false, null, else text. Empty: no such member.]"


def with_csv(result: Raw) -> Raw | None:
    """Returns a result with its tables as CSV; None if it is unchanged. Errors are unchanged.

    Structured content that repeats the text goes with it. Other structured content becomes the text of a result that has none.
    """
    members = opened(result)
    if bytes(members.get("isError", b"false")) != b"false" or not (parts := parts_of(members)):
        return None
    blocks = _blocks(parts) or _own_block(parts)
    if not blocks:
        return None
    is_left_out = len(parts) == 1 or repeated(parts)
    others = {name: value for name, value in members.items() if name != STRUCTURED or not is_left_out}
    return closed(others | {CONTENT: Raw(b"[%b]" % b",".join(map(bytes, blocks)))})


def _blocks(parts: Sequence[ResultPart]) -> list[Raw]:
    """Returns the blocks of a content with its tables as CSV; empty for a content without tables."""
    blocks = [(part.raw, _block(part)) for part in parts if part.title != STRUCTURED and part.kind != JSON]
    return [new or before for before, new in blocks] if any(new for _, new in blocks) else []


def _own_block(parts: Sequence[ResultPart]) -> list[Raw]:
    """Returns a block for a table in structured content that has no text beside it; empty for other content."""
    [structured] = parts if parts[0].title == STRUCTURED else [None]
    table = csv_of(structured.raw) if structured else None
    return [dump({"type": "text", "text": table})] if table else []


def _block(part: ResultPart) -> Raw | None:
    """Returns a block of text with its table as CSV; None for any other block."""
    is_text = part.kind == TEXT and part.title == "text" and len(memoryview(part.string)) <= 2 * MOST_BYTES  # it may have escapes
    table = csv_of(b"".join(part.pieces())) if is_text else None
    return closed({**opened(part.raw), "text": dump(table)}) if table else None


def csv_of(text: bytes | Raw) -> str | None:
    """Returns a table as CSV behind a line that explains it; None for any other text, and where CSV is not a quarter smaller.

    Args:
        text: UTF-8. A table may be the only member of an object.
    """
    size = len(memoryview(text))
    if size > MOST_BYTES or not _BEGINS_TABLE.match(memoryview(text)):
        return None
    try:
        name, rows = _table(bytes(text))
        if len(rows) < LEAST_ROWS or not all(rows):
            return None
        columns = list(dict.fromkeys(column for row in rows for column in row))
        return _joined(_lines(name, columns, rows), int(size * MOST_SHARE)) if len(columns) <= MOST_COLUMNS else None
    except (ValueError, RecursionError):  # no JSON, nested values, half a surrogate pair
        return None


def _table(text: bytes) -> tuple[str, list[dict[str, Raw]]]:
    """Returns the rows of a table, and the name of the member that has it; empty: none.

    Raises:
        ValueError, RecursionError: the text has something else.
    """
    if text.lstrip().startswith(b"["):
        return "", _ROWS.decode(text)
    [(name, rows)] = _MEMBERS.decode(text).items()
    return name, _ROWS.decode(rows)


def _lines(name: str, columns: Sequence[str], rows: Sequence[dict[str, Raw]]) -> Iterator[bytes]:
    of_member = b" of %b" % bytes(dump(name)) if name else b""
    yield b"[CSV%b, rows: %d. %b" % (of_member, len(rows), _LEGEND)
    yield b",".join(_text_cell(column.encode()) for column in columns)
    for row in rows:
        yield b",".join(_cell(row[column]) if column in row else b"" for column in columns)


def _cell(value: Raw) -> bytes:
    """Returns a value as a cell.

    Raises:
        ValueError: it is an object or a list, or not a text that UTF-8 has.
    """
    json = bytes(value)
    if json.startswith(b'"'):
        return _text_cell(msgspec.json.decode(json, type=str).encode() if b"\\" in json else json[1:-1])
    if json.startswith((b"{", b"[")):
        raise ValueError("a nested value")
    return json


def _text_cell(utf8: bytes) -> bytes:
    is_quoted = _SPLITS.search(utf8) or _LOOKS_OTHER.fullmatch(utf8)
    return b'"%b"' % utf8.replace(b'"', b'""') if is_quoted else utf8


def _joined(lines: Iterator[bytes], most: int) -> str | None:
    """Returns lines as one text; None as soon as they have more than `most` bytes."""
    text = bytearray()
    for line in lines:
        text += line + b"\n"
        if len(text) > most + 1:  # the last line has no end
            return None
    return text[:-1].decode()
