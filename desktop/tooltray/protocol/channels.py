"""The two interfaces by which a dispatcher sends: a stream of bytes, or whole messages."""

from typing import Protocol

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING


class Channel(Protocol):
    """A channel for bytes that never blocks and buffers what the peer does not read yet."""

    def write(self, data: bytes | memoryview) -> None: ...
    def close(self) -> None: ...


class Outgoing(msgspec.Struct):
    """A message to send.

    Attributes:
        parts: head, payload and tail; joined they are its JSON and a newline.
        id: of our request, or of the peer's request that this message answers; empty for a notification and a batch of replies.
        method: empty for a reply.
        about: id of the peer's request that the message relates to (progress, questions, log messages); for a reply its own id; else empty.
    """

    parts: tuple[bytes, Raw, bytes]
    id: Raw = NOTHING
    method: str = ""
    about: Raw = NOTHING

    @property
    def payload(self) -> Raw:
        """Returns the params, the result or the error."""
        return self.parts[1]

    def joined(self) -> bytes:
        """Returns the message's JSON."""
        return b"".join(self.parts)[:-1]


class MessageChannel(Protocol):
    """A channel for whole messages that never blocks."""

    def send(self, message: Outgoing) -> None: ...
    def close(self) -> None: ...
