"""The parts of a server's answer: of a tool's result, of a resource, of the messages of a prompt. A part that does not follow the protocol
is shown as JSON, so that nothing in an answer is hidden."""

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tooltray.ui.i18n import tr
from tooltray.ui.server_text import one_line

LONGEST_JSON = 2_000_000  # characters of a text that is looked at for JSON; that takes 20 ms
WRAPPED = "result"  # the name in which SDKs wrap a value that is no object
LONGEST_NAME = 200  # characters of a name, an address, a kind of file


class Part(msgspec.Struct, frozen=True):
    """A part of an answer.

    Attributes:
        kind: "text", "json", "picture", "audio", "file" or "link".
        heading: the text above it; may be empty.
        text: of a text unchanged; of a picture, an audio or a file its Base64; of a link its address.
        value: of JSON.
        mime: the MIME type that the server gave.
        note: further information; may be empty.
    """

    kind: str
    heading: str = ""
    text: str = ""
    value: object = None
    mime: str = ""
    note: str = ""


def parts_of(result: Mapping[str, object]) -> list[Part]:
    """Returns the parts of a CallToolResult, a ReadResourceResult or a GetPromptResult."""
    parts = list(_parts(result))
    value = result.get("structuredContent")
    if value is None:
        return parts
    structured = Part("json", tr("Structured result"), value=value)
    if isinstance(value, Mapping) and len(value) == 1 and _are(parts, next(iter(value.values()))):
        return parts if WRAPPED in value else [structured]
    return [structured, *(part for part in parts if not (part.kind == "json" and part.value == value))]  # repeated as text for old clients


def _are(parts: Sequence[Part], value: object) -> bool:
    """Returns whether the parts are this value, or the items of this list."""
    if len(parts) == 1 and _is(parts[0], value):
        return True
    return isinstance(value, list) and bool(parts) and len(parts) == len(value) and all(map(_is, parts, value))


def _is(part: Part, value: object) -> bool:
    if part.kind == "json":
        return part.value == value
    return part.kind == "text" and part.text == (value if isinstance(value, str) else as_json(value))


def _parts(result: Mapping[str, object]) -> Iterator[Part]:
    for item in _items(result.get("content")):
        yield _content(item)
    for item in _items(result.get("contents")):
        yield _resource(item)
    for message in _items(result.get("messages")):
        role = _string(message, "role")
        heading = {"user": tr("From the user"), "assistant": tr("From the assistant")}.get(role, role)
        for item in _items(message.get("content")):
            yield msgspec.structs.replace(_content(item), heading=heading)


def _items(given: object) -> Sequence[Mapping[str, object]]:
    """Returns the objects in a list; a single value counts as a list of one, and other values are wrapped."""
    items = given if isinstance(given, list | tuple) else [] if given is None else [given]
    return [item if isinstance(item, Mapping) else {"": item} for item in items]


def _content(item: Mapping[str, object]) -> Part:
    match item.get("type"):
        case "text" if isinstance(item.get("text"), str):
            return _text(_string(item, "text"), "")
        case "image" | "audio" as kind if isinstance(item.get("data"), str):
            mime = _string(item, "mimeType")
            return Part("picture" if kind == "image" else "audio", text=_string(item, "data"), mime=one_line(mime, LONGEST_NAME))
        case "resource_link":
            name, uri = _string(item, "title") or _string(item, "name"), _string(item, "uri")
            note = one_line(_string(item, "description"), LONGEST_NAME)
            return Part("link", one_line(name, LONGEST_NAME), uri, mime=one_line(_string(item, "mimeType"), LONGEST_NAME), note=note)
        case "resource" if isinstance(resource := item.get("resource"), Mapping):
            return _resource(resource)
    return Part("json", value=dict(item))


def _resource(item: Mapping[str, object]) -> Part:
    mime, heading = one_line(_string(item, "mimeType"), LONGEST_NAME), one_line(_string(item, "uri"), LONGEST_NAME)
    if isinstance(item.get("text"), str):
        return msgspec.structs.replace(_text(_string(item, "text"), mime), heading=heading)
    if isinstance(item.get("blob"), str):
        kind = {"image": "picture", "audio": "audio"}.get(mime.split("/")[0], "file")
        return Part(kind, heading, _string(item, "blob"), mime=mime)
    return Part("json", heading, value=dict(item))


def _text(text: str, mime: str) -> Part:
    """Returns a text as a part, or as JSON if it is JSON."""
    if text.lstrip()[:1] in ("{", "[") and len(text) <= LONGEST_JSON:
        try:
            return Part("json", text=text, value=json.loads(text), mime=mime)
        except (ValueError, RecursionError):
            pass
    return Part("text", text=text, mime=mime)


def _string(item: Mapping[str, object], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def whole_text(parts: Sequence[Part], result: Mapping[str, object]) -> str:
    """Returns the text to copy: all texts, or without any the whole result as JSON."""
    texts = [part.text for part in parts if part.kind == "text" or (part.kind == "json" and part.text)]
    return "\n\n".join(texts) if texts else as_json(parts[0].value if len(parts) == 1 and parts[0].kind == "json" else result)


def as_json(value: object) -> str:
    """Returns a value as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
