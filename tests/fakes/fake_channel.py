"""A channel that keeps what a dispatcher writes, and a dispatcher on it."""

import json
from typing import Any

from tests.fakes.heard import Record

from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, success
from tooltray.protocol.in_flight import AnswerOrder

TICK_S = 0.01


class FakeChannel:
    """
    Attributes:
        lines: what was written, a line each, without the newline.
        is_closed: whether the dispatcher has closed it.
    """

    def __init__(self) -> None:
        self.lines: Record[bytes] = Record()
        self.is_closed = False
        self._rest = b""

    def write(self, data: bytes | memoryview) -> None:
        *lines, self._rest = (self._rest + bytes(data)).split(b"\n")
        for line in lines:
            self.lines.add(line)

    def close(self) -> None:
        self.is_closed = True
        self.lines.look()

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines.all]

    @property
    def replies(self) -> dict[Any, dict[str, Any]]:
        """By id; only replies."""
        return {message["id"]: message for message in self.messages if "method" not in message}

    async def message(self, count: int = 1) -> dict[str, Any]:
        """The `count`-th message; waits for it."""
        await self.lines.until(lambda: len(self.lines.all) >= count)
        return self.messages[count - 1]

    async def reply(self, id: Any) -> dict[str, Any]:
        """The reply to a request; waits for it."""
        await self.lines.until(lambda: id in self.replies)
        return self.replies[id]

    async def notification(self, method: str, count: int = 1) -> Any:
        """The parameters of a notification or request, for the `count`-th time."""
        found = await self.lines.wait(lambda line: json.loads(line).get("method") == method, count=count)
        return json.loads(found).get("params")

    async def closing(self) -> None:
        await self.lines.until(lambda: self.is_closed)


async def say_ok(request: Envelope) -> Envelope:
    return success({})


def make_dispatcher(**options: Any) -> tuple[RawDispatcher, FakeChannel]:
    """A dispatcher on a channel; towards an AI client, and answering {} to everything, unless told otherwise."""
    defaults = {
        "name": "peer",
        "deadlines": DeadlineWheel(tick_s=TICK_S),
        "answer": say_ok,
        "take_notification": lambda message: None,
        "max_line_bytes": 2**26,
    }
    order = AnswerOrder(**{name: options.pop(name) for name in AnswerOrder.__struct_fields__ if name in options})
    dispatcher = RawDispatcher(**(defaults | {"order": order} | options))
    channel = FakeChannel()
    dispatcher.attach(channel)
    return dispatcher, channel


def line(**message: Any) -> bytes:
    """One message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
