"""The open questions of one server about calls in flight."""

import asyncio
from collections.abc import Awaitable, Iterable

from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure

CALL_IS_OVER = "the call that this question was about is over"


class OpenQuestions:
    """Questions that end with the calls that they are about: a server need not withdraw them itself, and few do."""

    def __init__(self) -> None:
        self._open: list[tuple[set[object], asyncio.Timeout]] = []

    async def ask(self, asking: Awaitable[Envelope], calls: Iterable[object]) -> Envelope:
        """Returns the answer to a question; an error once all of `calls` are over, and the question is then cancelled.

        Args:
            calls: those that the question may be about; without any, it waits however long it takes.
        """
        if not (left := set(calls)):
            return await asking
        limit = asyncio.timeout(None)
        question = (left, limit)
        self._open.append(question)
        try:
            async with limit:
                return await asking
        except TimeoutError:
            if not limit.expired():
                raise
            return failure(CONNECTION_CLOSED, CALL_IS_OVER)
        finally:
            self._open.remove(question)

    def end_call(self, call: object) -> None:
        """Ends the questions that were only about this call, which is over."""
        for left, limit in self._open:
            if call in left:
                left.remove(call)
                if not left:
                    limit.reschedule(0.0)  # a time that has passed
