"""One request of ours that waits for its reply.

Above it: dispatcher, which matches replies to these, and McpClient, which waits for them. Below it: deadlines.
"""

import asyncio

from msgspec import Raw

from tooltray.protocol.deadlines import Deadline
from tooltray.protocol.envelope import Envelope


class PendingCall:
    """A request of ours that waits for its reply."""

    __slots__ = ("deadline", "id", "is_cancellable", "is_undelivered", "max_reply_bytes", "questions", "reply")

    def __init__(self, id: Raw, is_cancellable: bool, max_reply_bytes: int | None = None) -> None:
        self.id, self.is_cancellable = id, is_cancellable
        self.max_reply_bytes = max_reply_bytes  # a much larger reply is dropped as it arrives; None: the bound of all messages
        self.is_undelivered = False  # the peer certainly does not have it
        self.questions = 0  # of the peer's, before a person: the time they take is not the peer's
        self.reply: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        self.deadline: Deadline | None = None

    def settle(self, reply: Envelope) -> None:
        if not self.reply.done():
            self.reply.set_result(reply)

    def progressed(self) -> None:
        """The peer works on it: its time starts anew."""
        if self.deadline:
            self.deadline.restart()
