"""Batches: requests that come in one array and are answered in one array (JSON-RPC 2.0; in MCP only version 2025-03-26 has them).

A refused array gets one answer for each request in it, because a peer that does not know batches waits for each of its ids.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Raw

from tooltray.protocol.envelope import INVALID_REQUEST, NOTHING, Envelope, MalformedFrame, check_request, decode, failure, forgive
from tooltray.protocol.member_scanner import elements_of
from tooltray.protocol.unsent import Unsent

REFUSED = "batches exist only in version 2025-03-26"
MOST_REFUSED = 10_000  # requests of one array that are answered separately; no client sends so many, and answers take memory, too

Parts = tuple[bytes, Raw, bytes]
"""Head, payload and tail of one message."""


def read_batch(line: bytes | bytearray, *, is_server: bool) -> tuple[list[Envelope], list[tuple[Raw, Envelope]]]:
    """Splits a batch into its messages.

    Args:
        is_server: whether the peer is a server; malformed parts of its batch get no error.

    Returns:
        The messages, and for each malformed request its id and an error.

    Raises:
        MalformedFrame: the line is not JSON, or an empty array.
    """
    try:
        elements = elements_of(line)
    except ValueError:
        raise MalformedFrame("not JSON", NOTHING) from None
    if not elements:
        raise MalformedFrame("an empty batch", NOTHING, INVALID_REQUEST)
    messages, refusals = list[Envelope](), list[tuple[Raw, Envelope]]()
    for element in elements:
        try:
            message = decode(bytes(element))
            if message.method:
                forgive(message) if is_server else check_request(message)
            messages.append(message)
        except MalformedFrame as error:
            if not (is_server or error.is_reply):
                refusals.append((error.id, failure(INVALID_REQUEST, str(error))))
    return messages, refusals


def refused_ids(line: bytes | bytearray) -> list[Raw]:
    """Returns the ids of the requests in a refused array, each once; empty if the line is not an array or has no requests."""
    if line.lstrip()[:1] != b"[":
        return []
    try:
        elements = elements_of(line)
    except ValueError:
        return []
    ids: dict[bytes, Raw] = {}
    for element in elements:
        if id := _request_id(bytes(element)):
            ids[bytes(id)] = id
        if len(ids) >= MOST_REFUSED:
            break
    return list(ids.values())


def _request_id(element: bytes) -> Raw:
    try:
        message = decode(element)
    except MalformedFrame as error:
        return NOTHING if error.is_reply or not element.startswith(b"{") else error.id
    return message.id if message.method else NOTHING


class _Batch:
    __slots__ = ("about", "awaited", "bytes", "replies")

    def __init__(self, replies: Sequence[Parts]) -> None:
        self.about = NOTHING
        self.awaited: set[bytes] = set()
        self.replies = list(replies)
        self.bytes = 0


class Batches:
    """The batches of one connection whose replies have not been sent.

    Attributes:
        waiting: by the id of each unanswered request; the dispatcher checks it with every reply.
    """

    def __init__(self, send: Callable[[Parts, Raw], None], unsent: Unsent) -> None:
        """
        Args:
            send: takes the array of replies, and the id of the first request in the batch.
            unsent: counts the bytes that wait here.
        """
        self._send, self._unsent = send, unsent
        self.waiting: dict[bytes, _Batch] = {}

    def open(self, ids: Iterable[Raw], refusals: Sequence[Parts]) -> None:
        """Begins a batch.

        Args:
            ids: the ids of its requests; an id that is already in another batch stays in that one.
            refusals: the replies to elements that are not messages.
        """
        batch = _Batch(refusals)
        for id in ids:
            if bytes(id) not in self.waiting:
                batch.about = batch.about or id
                batch.awaited.add(bytes(id))
                self.waiting[bytes(id)] = batch
        self._send_if_complete(batch)

    def answer(self, id: Raw, reply: Parts) -> bool:
        """Keeps the reply to a request until its whole batch is answered; returns False if the request is in no batch."""
        batch = self.waiting.get(bytes(id))
        if batch is None:
            return False
        batch.replies.append(reply)
        batch.bytes += len(memoryview(reply[1]))
        self._unsent.add(len(memoryview(reply[1])))
        self.leave(bytes(id))
        return True

    def leave(self, key: bytes) -> None:
        """Removes a request that is answered or never will be; after the last one of its batch the replies are sent."""
        if batch := self.waiting.pop(key, None):
            batch.awaited.discard(key)
            self._send_if_complete(batch)

    def clear(self) -> None:
        """Drops all batches, because the peer reads no more replies."""
        for batch in set(self.waiting.values()):
            self._unsent.take(batch.bytes)
        self.waiting.clear()

    def _send_if_complete(self, batch: _Batch) -> None:
        if batch.replies and not batch.awaited:
            self._unsent.take(batch.bytes)
            texts = (b"".join(parts)[:-1] for parts in batch.replies)
            self._send((b"[" + b",".join(texts), NOTHING, b"]\n"), batch.about)
