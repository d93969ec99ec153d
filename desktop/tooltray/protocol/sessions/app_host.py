"""Whether an AI client shows the views of tools: the extension MCP Apps (2026-01-26), as clients declare it in both eras."""

from msgspec import Raw

from tooltray.protocol.member_scanner import opened

EXTENSION = "io.modelcontextprotocol/ui"
_HINT = b"modelcontextprotocol"  # the slash behind it may be escaped


def shows_views(capabilities: Raw) -> bool:
    """Returns whether a client with these capabilities declares the extension; a member of a wrong type declares nothing."""
    if _HINT not in bytes(capabilities):
        return False
    try:
        return bytes(opened(opened(capabilities)["extensions"])[EXTENSION]).startswith(b"{")
    except (KeyError, ValueError, RecursionError):
        return False
