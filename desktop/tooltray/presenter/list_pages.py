"""All pages of one of a server's lists (tools, prompts, resources, ...), as definitions that stay bytes.

Above it: ServerLists, and ToolManager for the copies of one session. Below it: McpClient. Knows nothing of what is in a definition.
"""

from msgspec import Raw

from tooltray.errors import TooltrayError
from tooltray.presenter.mcp_client import McpClient
from tooltray.wire import envelope
from tooltray.wire.elements import elements_of
from tooltray.wire.envelope import METHOD_NOT_FOUND, NOTHING, Envelope
from tooltray.wire.member_scanner import opened

LIST_TIMEOUT_S = 60.0  # of one page
MAX_PAGES = 1000  # a server that pages for ever is broken


async def list_all(client: McpClient, method: str, member: str) -> list[Raw]:
    """The definitions of all pages; a cursor that comes again ends the list.

    Args:
        method: "tools/list", ...
        member: of the result, where the definitions are.

    Raises:
        TooltrayError: the server answered with an error or nonsense, or lists without end; a server without such a list is no error.
    """
    definitions: list[Raw] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        reply = await client.request(method, {"cursor": cursor} if cursor else {}, timeout_s=LIST_TIMEOUT_S)
        if reply.error:
            _check_is_no_failure(reply, method)
            return []
        page, cursor = _read(reply.result, method, member)
        definitions += page
        if not cursor or cursor in seen:
            return definitions
        seen.add(cursor)
    raise TooltrayError(f"it answers {method} without end", f"more than {MAX_PAGES} pages")


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
            raise ValueError("its cursor is no string")
        return elements_of(members.get(member, Raw(b"[]"))), cursor
    except (ValueError, RecursionError) as error:
        raise TooltrayError(f"it answered {method} with something else", str(error)) from None
