"""Splits a tool's result into pieces of text and media, which each format passes on or describes in words. Nothing is left out: media that
a format cannot carry are replaced by a line with their kind and size, and a block of an unknown type is passed on as JSON text.
"""

import base64
import json
from collections.abc import Callable, Mapping

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.tools import MCPToolResponse
from tooltray.foundation.verbs import JsonObject

NOTHING_SAID = "(The tool returned nothing.)"
TOO_DEEP = "(nested too deeply to be shown)"
ERROR_PREFIX = "Error: "  # for formats without a flag for a failed call


class Media(msgspec.Struct, frozen=True):
    """Binary data of a result.

    Attributes:
        kind: "Image", "Audio" or "File".
        mime_type: in lower case, without parameters; empty if unknown.
        data: base64 without blanks; empty if it is missing or cannot be decoded.
        size: in bytes; None if the data cannot be decoded.
        uri: of a resource; else empty.
    """

    kind: str
    mime_type: str
    data: str
    size: int | None
    uri: str

    @property
    def data_url(self) -> str:
        return f"data:{self.mime_type};base64,{self.data}"

    @property
    def file_name(self) -> str:
        return self.uri.rstrip("/").rpartition("/")[2] or "file"

    @property
    def words(self) -> str:
        facts = [self.uri, self.mime_type, "unreadable data" if self.size is None else size_in_words(self.size)]
        return f"[{self.kind}: {', '.join(fact for fact in facts if fact)}; it cannot be shown here]"


Piece = str | Media


def pieces(response: MCPToolResponse) -> list[Piece]:
    """Returns the pieces of a result, in order; never empty.

    Raises:
        TooltrayError: the response has no result, as in events.
    """
    result = response.result
    if result is None:
        raise TooltrayError(f"the call of '{response.tool}' has no result to convert", "events say how a call ended, without its result")
    content = result.get("content", [])
    blocks = content if isinstance(content, list) else [content]
    found = [piece for piece in map(_piece, blocks) if not isinstance(piece, str) or piece.strip()]
    if "structuredContent" in result and not _is_repeated(result["structuredContent"], found):
        found.append(as_json(result["structuredContent"]))
    return found or [NOTHING_SAID]


def is_error(response: MCPToolResponse) -> bool:
    return response.result is not None and response.result.get("isError") is True


def as_text(response: MCPToolResponse) -> str:
    """Returns the whole result as text, media described in words."""
    return "\n\n".join(piece if isinstance(piece, str) else piece.words for piece in pieces(response))


def as_blocks(
    response: MCPToolResponse, *, text: Callable[[str], JsonObject], media: Callable[[Media], JsonObject | None]
) -> list[JsonObject]:
    """Converts each piece into a block; a resource with media is preceded by a block with its URI.

    Args:
        text: makes a block of text.
        media: makes a block of media, or returns None if the format has no block for this type; the media are then described in words.
    """
    blocks: list[JsonObject] = []
    for piece in pieces(response):
        shown = media(piece) if isinstance(piece, Media) and piece.data else None
        if isinstance(piece, str):
            blocks.append(text(piece))
        elif shown is None:
            blocks.append(text(piece.words))
        else:
            blocks += [text(f"[Resource: {piece.uri}]"), shown] if piece.uri else [shown]
    return blocks


def as_json(value: object, *, longest: int | None = None) -> str:
    """Returns a value as JSON within a text for a model.

    Args:
        longest: the number of characters after which the text is cut; None: it is not cut.
    """
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return TOO_DEEP
    return text if longest is None or len(text) <= longest else f"{text[:longest]}..."


def size_in_words(size: int) -> str:
    for limit, unit in ((1000, "bytes"), (1000**2, "kB"), (1000**3, "MB")):
        if size < limit:
            return f"{size} bytes" if unit == "bytes" else f"{size * 1000 / limit:.1f} {unit}"
    return f"{size / 1000**3:.1f} GB"


def _piece(block: object) -> Piece:
    if not isinstance(block, Mapping):
        return as_json(block)
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image", "data": str(data)}:
            return _media("Image", block, data)
        case {"type": "audio", "data": str(data)}:
            return _media("Audio", block, data)
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return f"[Resource: {uri}]\n{text}"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data)} as resource}:
            return _media(_kind(resource), resource, data, uri)
        case {"type": "resource_link", "uri": str(uri)}:
            return _link(block, uri)
        case _:
            return as_json(block)


def _media(kind: str, block: Mapping[str, object], data: str, uri: str = "") -> Media:
    compact = "".join(data.split())
    try:
        return Media(kind, _mime_type(block), compact, len(base64.b64decode(compact, validate=True)), uri)
    except ValueError:
        return Media(kind, _mime_type(block), "", None, uri)


def _kind(resource: Mapping[str, object]) -> str:
    return {"image": "Image", "audio": "Audio"}.get(_mime_type(resource).partition("/")[0], "File")


def _mime_type(block: Mapping[str, object]) -> str:
    found = block.get("mimeType")
    return found.partition(";")[0].strip().lower() if isinstance(found, str) else ""


def _link(block: Mapping[str, object], uri: str) -> str:
    size = block.get("size")
    facts = [block.get("title") or block.get("name"), uri, block.get("mimeType"), size_in_words(size) if isinstance(size, int) else None]
    head = f"[Resource link: {', '.join(fact for fact in facts if isinstance(fact, str) and fact)}]"
    description = block.get("description")
    return f"{head}\n{description}" if isinstance(description, str) and description else head


def _is_repeated(structured: object, found: list[Piece]) -> bool:
    """Reports whether the texts contain the structured content already, as the specification asks of servers.

    Some servers wrap a bare value in an object with one member, such as `result` or `content`.
    """
    texts = [piece for piece in found if isinstance(piece, str)]
    if any(_equals(text, structured) for text in texts):
        return True
    if not isinstance(structured, Mapping) or len(structured) != 1:
        return False
    (value,) = structured.values()
    is_list_of_these = isinstance(value, list) and len(value) == len(texts) and all(map(_equals, texts, value))
    return is_list_of_these or any(_equals(text, value) for text in texts)


def _equals(text: str, value: object) -> bool:
    if isinstance(value, str):
        return text == value
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False
