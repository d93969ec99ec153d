"""What servers answered, for callers of our own: lists and results as plain objects."""

from typing import Any

from msgspec import Raw

from tooltray.calls.model_calls import error_message
from tooltray.errors import TooltrayError
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope


def result_of(reply: Envelope, failed: str) -> dict[str, Any]:
    """The result object of a server's reply.

    Args:
        failed: what did not work, in words.

    Raises:
        TooltrayError: the reply is an error, or its result no object.
    """
    if reply.error:
        raise TooltrayError(failed, error_message(reply))
    result = envelope.load(reply.result)
    if not isinstance(result, dict):
        raise TooltrayError(failed, "the server's answer is no object")
    return result


def listed(listing: Raw, member: str) -> list[dict[str, Any]]:
    """The definitions in a list as AI clients get it; `member`: where they stand."""
    definitions: list[dict[str, Any]] = envelope.load(listing)[member]
    return definitions


def is_of(server: str | None, owner: tuple[str, str] | None) -> bool:
    """Whether a definition belongs to a server; None: any is wanted."""
    return server is None or (owner is not None and owner[0] == server)
