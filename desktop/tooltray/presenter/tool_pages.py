"""All pages of one server's `tools/list`, as definitions that stay bytes.

Above it: ToolManager. Below it: McpClient. Knows nothing of what is in a definition.
"""

import json
import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from tooltray.errors import TooltrayError
from tooltray.presenter.mcp_client import McpClient
from tooltray.wire import envelope, member_scanner
from tooltray.wire.envelope import METHOD_NOT_FOUND, NOTHING, Envelope

LIST_TIMEOUT_S = 60.0  # of one page
MAX_PAGES = 1000  # a server that pages for ever is broken

_SPACE = re.compile(r"[ \t\n\r]*")


class _Page(msgspec.Struct):
    tools: list[Raw] = []
    cursor: str | None = msgspec.field(name="nextCursor", default=None)


async def list_all(client: McpClient) -> list[Raw]:
    """The definitions of all pages; a cursor that comes again ends the list.

    Raises:
        TooltrayError: the server answered with an error or nonsense, or lists without end; a server without tools is no error.
    """
    definitions: list[Raw] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        reply = await client.request("tools/list", {"cursor": cursor} if cursor else {}, timeout_s=LIST_TIMEOUT_S)
        if reply.error:
            _check_is_no_failure(reply)
            return []
        page = _read(reply.result)
        definitions += page.tools
        cursor = page.cursor
        if not cursor or cursor in seen:
            return definitions
        seen.add(cursor)
    raise TooltrayError("it lists its tools without end", f"more than {MAX_PAGES} pages")


def _check_is_no_failure(reply: Envelope) -> None:
    error = envelope.load(reply.error)
    said = error if isinstance(error, dict) else {}
    if said.get("code") != METHOD_NOT_FOUND:
        raise TooltrayError("it answered tools/list with an error", str(said.get("message", "")))


def _read(result: Raw) -> _Page:
    try:
        return msgspec.json.decode(result, type=_Page)
    except msgspec.ValidationError as error:
        raise TooltrayError("it answered tools/list with something else", str(error)) from None
    except (ValueError, RecursionError):  # half a surrogate pair, which JSON allows: one odd description is no reason to lose all tools
        return _read_leniently(result)


def _read_leniently(result: Raw) -> _Page:
    try:
        members = member_scanner.members_of(bytes(result))
        cursor = envelope.load(Raw(members.get("nextCursor", NOTHING)))
        if not isinstance(cursor, str | None):
            raise ValueError("its cursor is no string")
        return _Page(list(_elements(members.get("tools", b"[]").decode())), cursor)
    except (ValueError, RecursionError) as error:
        raise TooltrayError("it answered tools/list with something else", str(error)) from None


def _elements(array: str) -> Iterator[Raw]:
    """The elements of a JSON array, verbatim.

    Raises:
        ValueError: it is no array.
    """
    if not array.startswith("["):
        raise ValueError("no array")
    decoder, at = json.JSONDecoder(), _next(array, 1)
    while array[at] != "]":
        _, end = decoder.raw_decode(array, at)
        yield Raw(array[at:end].encode())
        at = _next(array, end)
        at = _next(array, at + 1) if array[at] == "," else at


def _next(text: str, at: int) -> int:
    """Where the next character stands that is no white space."""
    space = _SPACE.match(text, at)
    assert space is not None, "it matches nothing too"
    return space.end()
