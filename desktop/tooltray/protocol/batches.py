"""Requests that came as one array and are answered as one (JSON-RPC 2.0; of MCP's versions 2025-03-26 alone has it).

Where they are refused, each request in the array is answered by itself, since a peer that knows no batches waits for each of its ids.

Above it: dispatcher, which reads one message and decides what becomes of it.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Raw

from tooltray.protocol.envelope import INVALID_REQUEST, NOTHING, Envelope, MalformedFrame, failure
from tooltray.protocol.member_scanner import elements_of
from tooltray.protocol.unsent import Unsent

REFUSED = "batches belong to version 2025-03-26 alone"
MOST_REFUSED = 10_000  # requests of one array that are answered one by one; no client sends so many, and the answers take memory, too

Parts = tuple[bytes, Raw, bytes]
"""Head, payload and tail of one message."""


def read_batch(
    line: bytes | bytearray, read: Callable[[bytes], Envelope], *, is_server: bool
) -> tuple[list[Envelope], list[tuple[Raw, Envelope]]]:
    """Splits a batch into its messages.

    Args:
        read: reads one message; raises MalformedFrame.
        is_server: the peer is a server; what is malformed in its batch gets no error.

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
        raise MalformedFrame("a batch of nothing", NOTHING, INVALID_REQUEST)
    messages, refusals = list[Envelope](), list[tuple[Raw, Envelope]]()
    for element in elements:
        try:
            messages.append(read(bytes(element)))
        except MalformedFrame as error:
            if not (is_server or error.is_reply):
                refusals.append((error.id, failure(INVALID_REQUEST, str(error))))
    return messages, refusals


def refused_ids(line: bytes | bytearray, read: Callable[[bytes], Envelope]) -> list[Raw]:
    """The ids of the requests in an array that is refused, each once; empty if it is no array, or one without requests.

    Args:
        read: reads one message; raises MalformedFrame, which names the id where there is one.
    """
    if line.lstrip()[:1] != b"[":
        return []
    try:
        elements = elements_of(line)
    except ValueError:
        return []
    ids: dict[bytes, Raw] = {}
    for element in elements:
        if id := _request_id(bytes(element), read):
            ids[bytes(id)] = id
        if len(ids) >= MOST_REFUSED:
            break
    return list(ids.values())


def _request_id(element: bytes, read: Callable[[bytes], Envelope]) -> Raw:
    try:
        message = read(element)
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
    """Those of one connection whose replies have not left.

    Attributes:
        waiting: by the id of each request that is not answered; the dispatcher looks here itself, with every reply.
    """

    def __init__(self, send: Callable[[Parts, Raw], None], unsent: Unsent) -> None:
        """
        Args:
            send: takes the array of replies, and the id of the first request in the batch.
            unsent: counts what waits here.
        """
        self._send, self._unsent = send, unsent
        self.waiting: dict[bytes, _Batch] = {}

    def open(self, ids: Iterable[Raw], refusals: Sequence[Parts]) -> None:
        """Begins one.

        Args:
            ids: of its requests; one that is in another batch already stays there.
            refusals: the replies to what is no message.
        """
        batch = _Batch(refusals)
        for id in ids:
            if bytes(id) not in self.waiting:
                batch.about = batch.about or id
                batch.awaited.add(bytes(id))
                self.waiting[bytes(id)] = batch
        self._send_if_complete(batch)

    def answer(self, id: Raw, reply: Parts) -> bool:
        """Keeps the reply to a request for when all of its batch are there; False if the request is in none."""
        batch = self.waiting.get(bytes(id))
        if batch is None:
            return False
        batch.replies.append(reply)
        batch.bytes += len(memoryview(reply[1]))
        self._unsent.add(len(memoryview(reply[1])))
        self.leave(bytes(id))
        return True

    def leave(self, key: bytes) -> None:
        """A request is answered, or will not be; after the last one the replies leave."""
        if batch := self.waiting.pop(key, None):
            batch.awaited.discard(key)
            self._send_if_complete(batch)

    def clear(self) -> None:
        """Nobody reads replies any more."""
        for batch in set(self.waiting.values()):
            self._unsent.take(batch.bytes)
        self.waiting.clear()

    def _send_if_complete(self, batch: _Batch) -> None:
        if batch.replies and not batch.awaited:
            self._unsent.take(batch.bytes)
            texts = (b"".join(parts)[:-1] for parts in batch.replies)
            self._send((b"[" + b",".join(texts), NOTHING, b"]\n"), batch.about)
