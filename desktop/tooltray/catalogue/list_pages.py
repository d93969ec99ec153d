"""All pages of one of a server's lists (tools, prompts, resources, ...), as definitions that stay bytes; bounded in number, size, time."""

import asyncio
from collections.abc import Sequence

from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol import envelope
from tooltray.protocol.envelope import METHOD_NOT_FOUND, NOTHING, Envelope, TooLarge
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import elements_of, opened
from tooltray.servers.upstream.mcp_client import McpClient

LIST_TIMEOUT_S = 60.0  # of one page
LISTED_WITHIN_S = 300.0  # all pages; the slowest servers that are used take some seconds
MAX_PAGES = 1000  # a server with endless pages is broken
MAX_DEFINITIONS = 5000  # of one kind; the largest servers in use have some hundred, and models cannot choose among more
MAX_DEFINITION_BYTES = 16 * 2**20  # of one kind; 5,000 definitions of 3 kB, ten times what is usual
ENVELOPE_BYTES = 2**16  # of a page besides its definitions: its cursor, `_meta`
READ_AT_ONCE_BYTES = 2**18  # of a page: takes less than a millisecond; larger ones are read in a thread, beside the event loop


class TooLong(TooltrayError):
    """An error: a list exceeds the limits. The last known list stays."""


async def list_all(client: McpClient, method: str, member: str) -> list[Raw]:
    """Returns the definitions of all pages; a repeated cursor ends the list. No page is requested beyond the limits.

    An empty cursor is an ordinary cursor by 2026-07-28; before that version, servers end their lists with it.

    Args:
        method: "tools/list", ...
        member: of the result, where the definitions are.

    Raises:
        TooLong: the list has more than MAX_DEFINITIONS definitions, or MAX_DEFINITION_BYTES bytes.
        TooltrayError: the server answered with an error or an invalid reply, or its list does not end; a server without such a list is not
            an error.
    """
    try:
        async with asyncio.timeout(LISTED_WITHIN_S):
            return await _pages(client, method, member)
    except TimeoutError:
        raise TooltrayError(f"its {method} does not end", f"it was not complete within {LISTED_WITHIN_S:g} s") from None


async def _pages(client: McpClient, method: str, member: str) -> list[Raw]:
    definitions: list[Raw] = []
    size_bytes = 0
    cursor: str | None = None
    seen: set[str | None] = {None} if client.era is Era.MODERN else {None, ""}  # cursors that end a list
    for _ in range(MAX_PAGES):
        params = {} if cursor is None else {"cursor": cursor}
        reply = await client.request(method, params, timeout_s=LIST_TIMEOUT_S, max_reply_bytes=MAX_DEFINITION_BYTES + ENVELOPE_BYTES)
        if isinstance(reply, TooLarge):
            check_length(method, len(definitions), reply.size_bytes)
        if reply.error:
            _check_is_no_failure(reply, method)
            return []
        size_bytes += len(memoryview(reply.result))
        check_length(method, len(definitions), size_bytes)
        is_long = len(memoryview(reply.result)) > READ_AT_ONCE_BYTES
        page, cursor = await finish_in_thread(_read, reply.result, method, member) if is_long else _read(reply.result, method, member)
        definitions += page
        check_length(method, len(definitions), size_bytes)
        if cursor in seen:
            return definitions
        seen.add(cursor)
    raise TooltrayError(f"its {method} does not end", f"more than {MAX_PAGES} pages")


def check_length(method: str, count: int, size_bytes: int) -> None:
    """Checks a list against the limits.

    Raises:
        TooLong: there are too many definitions, or their pages are too large.
    """
    title = Phrase("its answer to {method} is too large", method=method)
    if count > MAX_DEFINITIONS:
        raise TooLong(title, Phrase("more than {most} entries", most=f"{MAX_DEFINITIONS:,}"))
    if size_bytes > MAX_DEFINITION_BYTES + ENVELOPE_BYTES:
        raise TooLong(title, Phrase("more than {most} MiB", most=MAX_DEFINITION_BYTES // 2**20))


def is_too_long(definitions: Sequence[Raw]) -> bool:
    """Reports whether definitions are over the limits; those on disk may come from an earlier version."""
    is_too_large = sum(len(memoryview(each)) for each in definitions) > MAX_DEFINITION_BYTES
    return len(definitions) > MAX_DEFINITIONS or is_too_large


def _check_is_no_failure(reply: Envelope, method: str) -> None:
    error = envelope.load(reply.error)
    said = error if isinstance(error, dict) else {}
    if said.get("code") != METHOD_NOT_FOUND:
        raise TooltrayError(f"it answered {method} with an error", str(said.get("message", "")))


def _read(result: Raw, method: str, member: str) -> tuple[list[Raw], str | None]:
    try:
        members = opened(result)
        cursor = envelope.load(members.get("nextCursor", NOTHING))
        if not isinstance(cursor, str | None):
            raise ValueError("its cursor is not a string")
        return elements_of(members.get(member, Raw(b"[]"))), cursor
    except (ValueError, RecursionError) as error:
        raise TooltrayError(f"its reply to {method} is malformed", str(error)) from None
