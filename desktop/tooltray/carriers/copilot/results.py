"""Converts a tool result to the SDK's `ToolResult`: text for the model, with images and other data beside it."""

from typing import TYPE_CHECKING

from tooltray.catalogue.formats import contents
from tooltray.foundation.snapshots.tools import MCPToolResponse

if TYPE_CHECKING:
    from copilot import ToolBinaryResult, ToolResult, ToolResultType

UNKNOWN_TYPE = "application/octet-stream"


def tool_result(response: MCPToolResponse) -> "ToolResult":
    """Converts a response. An error becomes a `failure` with its text, never `denied` or `rejected`, which may end the model's turn."""
    from copilot import ToolResult

    pieces = contents.pieces(response)
    binaries = [_binary(piece) for piece in pieces if isinstance(piece, contents.Media) and piece.data]
    words = [piece if isinstance(piece, str) else piece.words for piece in pieces if isinstance(piece, str) or not piece.data]
    text, has_failed = "\n\n".join(words), contents.is_error(response)
    return ToolResult(
        text_result_for_llm=text,
        result_type="failure" if has_failed else "success",
        error=text if has_failed else None,
        binary_results_for_llm=binaries or None,
    )


def failed(reason: str, result_type: "ToolResultType" = "failure") -> "ToolResult":
    """Makes the result of a call that could not be made; the model reads the reason and continues."""
    from copilot import ToolResult

    return ToolResult(text_result_for_llm=reason, result_type=result_type, error=reason)


def _binary(media: contents.Media) -> "ToolBinaryResult":
    from copilot import ToolBinaryResult

    return ToolBinaryResult(
        data=media.data,
        mime_type=media.mime_type or UNKNOWN_TYPE,
        type="image" if media.mime_type.startswith("image/") else "resource",
        description=media.uri or media.kind.lower(),
    )
