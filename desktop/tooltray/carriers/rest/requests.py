"""Parses and validates a request of the REST interface: path segments, query, body and revision; and cuts pages out of long lists.

Each error describes what was expected, and where. A page's cursor names the last member that the caller has, so that members added or
removed meanwhile neither repeat nor hide others.
"""

import asyncio
import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar
from urllib.parse import parse_qsl, unquote

import msgspec
from aiohttp import web

from tooltray.carriers.http_server.answers import is_compressed
from tooltray.carriers.rest.operation import Operation
from tooltray.carriers.rest.responses import WHAT_IT_TAKES, Failed
from tooltray.foundation.files.json_text import NotJson, read_json

JSON_TYPES = ("application/json", "application/merge-patch+json")
BODY_WITHIN_S = 30.0  # enough for a program on this machine; a slower one only keeps a connection open
MAX_QUERY_FIELDS = 50
MAX_INTEGER = 2**63 - 1  # the range that every server can handle
PAGING = ("limit", "cursor")
MOST = 500
KEY_CHARACTERS = 16  # characters of a digest; a cursor is not secret, only short

T = TypeVar("T")

_ODD = re.compile("[\0\ud800-\udfff]")  # not allowed in file names, variables or headers


def segments_below_api(path: str) -> tuple[str, ...]:
    """Splits a path into its segments below `/api`, not decoded."""
    return tuple(path.split("/")[2:])


def path_segments(request: web.Request) -> tuple[str, ...]:
    """Returns the segments below `/api`, decoded one by one: a name may contain a slash, as `%2F`.

    Raises:
        Failed: a segment is not UTF-8 text, or has characters that no name can have.
    """
    try:
        segments = tuple(unquote(segment, errors="strict") for segment in segments_below_api(request.rel_url.raw_path))
    except UnicodeDecodeError:
        raise Failed(400, "The path is not UTF-8 text") from None
    if any(_ODD.search(segment) for segment in segments):
        raise Failed(400, "A character in the path cannot be part of a name")
    return segments


def read_query(request: web.Request, operation: Operation) -> tuple[msgspec.Struct, dict[str, str]]:
    """Returns the operation's arguments in the query, and `limit` and `cursor`.

    Raises:
        Failed: a parameter is unknown, repeated or of the wrong type.
    """
    raw = request.rel_url.raw_query_string
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, strict_parsing=bool(raw), errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except ValueError:
        raise Failed(400, "The query cannot be read", "it must be name=value pairs joined by '&', in UTF-8") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Failed(422, "The query has a duplicate parameter")
    if _ODD.search("".join(text for pair in pairs for text in pair)):
        raise Failed(400, "A character in the query cannot be part of a value")
    paging = {name: fields.pop(name) for name in PAGING if operation.page_key and name in fields}
    try:
        return msgspec.convert(fields, operation.query, strict=False), paging
    except msgspec.ValidationError as error:
        raise Failed(422, "The query cannot be used", in_words(error), WHAT_IT_TAKES) from None


async def read_body(request: web.Request, operation: Operation) -> object:
    """Returns the body converted to the operation's type; None if it takes none.

    Raises:
        Failed: the body is missing, too large, not JSON, or does not fit the type.
    """
    limit = operation.options.max_body_bytes if operation.body is not None else 0
    data = await _bytes(request, limit)
    if operation.body is None:
        return None
    if not data and not operation.needs_body:
        return msgspec.convert({}, operation.body)
    _check_type(request)
    document = _document(data)
    try:
        return msgspec.convert(document, operation.body)
    except msgspec.ValidationError as error:
        raise Failed(422, "The body cannot be used", in_words(error), WHAT_IT_TAKES) from None


def read_revision(request: web.Request) -> str:
    """Returns the revision in `If-Match`; empty for any.

    Raises:
        Failed: the value cannot be a revision.
    """
    given = request.headers.get("If-Match", "*").strip()
    if given == "*":
        return ""
    found = re.fullmatch(r'"([0-9a-f]{1,64})"', given)
    if not found:
        raise Failed(412, "It has changed meanwhile", "If-Match does not name its current revision", "Send the ETag of the last read.")
    return found[1]


def in_words(error: msgspec.ValidationError) -> str:
    """Describes where and why a value is invalid, without repeating the value."""
    return str(error).replace("`$.", "`").replace(" - at `$`", "")


async def _bytes(request: web.Request, limit: int) -> bytes:
    if is_compressed(request):
        raise Failed(415, "This kind of body is not accepted", "it is compressed; send it uncompressed")
    too_large = Failed(413, "The body is too large", f"at most {limit:,} bytes are accepted here" if limit else "no body is accepted here")
    if (request.content_length or 0) > limit:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > limit:
                    raise too_large
    except TimeoutError:
        raise Failed(408, "The body was not received", f"it must arrive within {BODY_WITHIN_S:.0f} s") from None
    except web.RequestPayloadError:
        raise Failed(400, "The body cannot be read", "it does not match its headers") from None
    return bytes(body)


def _check_type(request: web.Request) -> None:
    kind, _, options = request.headers.get("Content-Type", "").partition(";")
    charset = re.search(r"charset\s*=\s*\"?([^\s\";]*)", options, re.IGNORECASE)
    if kind.strip().lower() not in JSON_TYPES or (charset and charset[1].lower() not in ("utf-8", "utf8")):
        raise Failed(415, "This kind of body is not accepted", "send application/json, in UTF-8")


def _document(data: bytes) -> object:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4]:
        raise Failed(415, "This kind of body is not accepted", "it seems to be UTF-16; send UTF-8")
    try:
        document, twice = read_json(data)
    except NotJson as error:
        raise Failed(400, "The body is not JSON", str(error)) from None
    if twice:
        raise Failed(400, "The body has a duplicate member", ", ".join(repr(name) for name in sorted(set(twice))[:5]))
    return _usable(document)


def _usable(value: object) -> object:
    """Converts Decimals to floats and rejects values that servers could not handle.

    Raises:
        Failed: a text or number in the body cannot be used.
    """
    match value:
        case str() if _ODD.search(value):
            raise Failed(422, "A string in the body cannot be used", "it has a zero character or half a surrogate pair in it")
        case bool():
            return value
        case int() | Decimal() if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise Failed(422, "A number in the body cannot be used", "it is too large")
        case Decimal():
            return float(value)
        case Mapping():
            return {_usable(key): _usable(member) for key, member in value.items()}
        case list():
            return [_usable(member) for member in value]
    return value


# pages


def page(items: Sequence[T], paging: Mapping[str, str], key: Callable[[T], str]) -> tuple[list[T], str]:
    """Cuts one page out of a list.

    Args:
        paging: `limit` and `cursor` as given by the caller; without a limit everything is one page.
        key: returns the unique key of a member.

    Returns:
        The page, and the cursor of the next page; empty after the last one.

    Raises:
        Failed: limit or cursor is invalid.
    """
    limit, start = _limit(paging, len(items)), _start(items, paging.get("cursor", ""), key)
    found = list(items[start : start + limit])
    end = start + len(found)
    return found, _cursor(end, key(items[end - 1])) if found and end < len(items) else ""


def _limit(paging: Mapping[str, str], count: int) -> int:
    if "limit" not in paging:
        return count
    text = paging["limit"]
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MOST)) and 1 <= int(text) <= MOST):
        raise Failed(422, "The query cannot be used", f"limit is a number from 1 to {MOST}")
    return int(text)


def _start(items: Sequence[T], cursor: str, key: Callable[[T], str]) -> int:
    if not cursor:
        return 0
    try:
        number, _, digest = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii").partition(".")
        position = int(number)
    except (ValueError, binascii.Error):
        raise Failed(422, "The query cannot be used", "this cursor is invalid") from None
    found = (index + 1 for index, item in enumerate(items) if _digest(key(item)) == digest)
    return next(found, max(position - 1, 0))  # the member was removed, so the next one has moved up


def _cursor(position: int, key: str) -> str:
    return base64.urlsafe_b64encode(f"{position}.{_digest(key)}".encode()).decode()


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_CHARACTERS]
