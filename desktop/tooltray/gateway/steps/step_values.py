"""The value of a step: what the result of its call holds, for later steps; and the reason in a result that has failed."""

from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.steps.references import Room
from tooltray.protocol.envelope import NOTHING, Envelope, load
from tooltray.protocol.member_scanner import elements_of, opened
from tooltray.protocol.task_messages import read_begun

LONGEST_REASON = 2000  # characters of a server's words about a failed call
IS_TASK = "the tool answered with a task"


def failed_reason(reply: Envelope) -> str:
    """Returns why a call has failed, in the words of the server or the hub; empty if it has not failed."""
    if reply.error:
        return _cut(str(load(reply.error).get("message", ""))) or "it failed without a reason"
    if read_begun(reply.result):
        return IS_TASK
    members = opened(reply.result)
    if bytes(members.get("isError", NOTHING)) != b"true":
        return ""
    return _cut("\n".join(_texts(members))) or "it failed without a reason"


def value_of(result: Raw, room: Room) -> object:
    """Returns the structured content of a result, else its only text as JSON, else its texts; None if it has none of them.

    Args:
        result: an object.

    Raises:
        TooltrayError: it has more bytes than the room.
    """
    members = opened(result)
    structured = members.get("structuredContent")
    if structured is not None and bytes(structured) != b"null":
        room.take(len(memoryview(structured)))
        try:
            return load(structured)
        except ValueError:
            raise TooltrayError("the structured content cannot be read") from None
    room.take(len(memoryview(members.get("content", NOTHING))))
    texts = _texts(members)
    if len(texts) != 1:
        return "\n".join(texts) if texts else None
    try:
        return load(Raw(texts[0].encode("utf-8", "surrogatepass")))
    except ValueError:
        return texts[0]


def _texts(members: dict[str, Raw]) -> list[str]:
    """Returns the texts of a result; blocks that cannot be read are left out."""
    try:
        blocks = [load(block) for block in elements_of(members.get("content", Raw(b"[]")))]
    except ValueError:
        return []
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return [text for text in texts if isinstance(text, str)]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}..."
