"""Tracks the state that must survive a hub: the calls that wait for an answer, and the messages that the next hub must be sent. It uses no
sockets.

At a hub's end each request is answered on its own, so a batch is tracked as the requests in it. Ids of the hub that have more than
`MAX_HELD_BYTES` are not tracked.
"""

from tooltray_bridge.lines import (
    AHEAD_ID,
    CANCEL_HEAD,
    HUB_LOST,
    LEAVE_ID,
    LINE_LOST,
    LISTEN,
    NO_ID,
    REPLY_HEAD,
    SUBSCRIBE,
    UNSUBSCRIBE,
    WITHDRAWN,
    answered,
    answered_id,
    failed,
    identify,
    is_batch,
    is_refusal,
    replay_key,
    reply_id_at,
    requested_id,
)
from tooltray_bridge.scan import elements, members, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tooltray_bridge.first_answers import FirstAnswers

JOINED_BYTES = 4096  # pieces of a line are joined up to this size, so that neither end of a long line is scattered over many
MAX_LINE_BYTES = 64 * 2**20  # of a client's line; the hub drops longer ones and answers with an error
MAX_HELD_BYTES = 1 << 16  # of a hub's line whose id has not ended yet
INITIALIZE, INITIALIZED, CANCELLED = b"initialize", b"notifications/initialized", b"notifications/cancelled"
REPLAYED = frozenset((INITIALIZE, b"logging/setLevel", LISTEN, SUBSCRIBE))
FOLLOWED = REPLAYED | {INITIALIZED, CANCELLED, UNSUBSCRIBE}
SUPERSEDED = b""  # in place of a method: the answer belongs to a request that is no longer in the replay
ARRAY = b"["
CUT = b",\n"  # ends a line that the hub has not ended: it is invalid, also if only the line's end was missing
NOTEWORTHY = (ARRAY, REPLY_HEAD, CANCEL_HEAD)  # beginnings of lines that are more than a notification


class Tracker:
    """The state of both directions of one bridge.

    Attributes:
        is_offline: whether there is no hub. Lines of the client that await an answer are then kept.
        has_met_hub: whether there has been a hub.
        has_answered: whether the present hub has answered a request.
        owed: lines of the bridge's own that the client must still be given.
        is_leaving: whether the present hub hands over, and has asked the bridge to leave it.
    """

    def __init__(self) -> None:
        self.is_offline = self.has_answered = self.is_leaving = False
        self.has_met_hub = True
        self.owed = b""
        self._in_flight: dict[bytes, bytes] = {}  # id -> method; replay_key for a request in the replay, or one that ends it
        self._waiting: dict[bytes, tuple[int, bytes]] = {}  # id -> batch or 0, line, for the next hub; empty if the replay has it
        self._replay: dict[bytes, tuple[bytes, bytes]] = {}  # by replay_key: id, line
        self._replays = self._batches = 0
        self._pieces: list[bytes] = []  # of the line that the client has begun
        self._pieces_bytes = 0
        self._is_skipping = False  # the rest of that line, because its start never reached a hub
        self._held = b""  # the start of a line of the hub, too short to know its id
        self._line_id: bytes | None = None  # of the line that the hub has begun
        self._line: list[bytes] = []  # its start; the whole line if it is not one reply
        self._unwanted: set[bytes] = set()  # ids of replies that are not for the client
        self._questions: set[bytes] = set()  # ids of the hub's requests that the client has not answered
        self._answers: FirstAnswers | None = None  # of the last hub, until there is one
        self._introduction = b""  # the params of the client's `initialize`
        self._ahead: dict[bytes, bytes] = {}  # id of the bridge's own -> line: answered before a hub could, which must know it, too
        self._is_hub_due = False  # the client has answers without a hub, and will soon need one

    @property
    def is_awaiting(self) -> bool:
        """Reports whether the client awaits an answer that only the next hub can give."""
        return bool(self._waiting)

    @property
    def has_answers(self) -> bool:
        """Reports whether some requests can be answered before there is a hub."""
        return self._answers is not None

    @property
    def wants_hub(self) -> bool:
        """Reports whether a hub is to be started for the client."""
        return self.is_awaiting or self._is_hub_due

    @property
    def is_settled(self) -> bool:
        """Reports whether the client has the whole answer to each of its requests."""
        return not self._in_flight and not self._waiting and not self._held and self._line_id is None

    @property
    def reads_client(self) -> bool:
        """Reports whether the client's lines are for the present hub: not once it hands over, unless it awaits the client's answer."""
        return not self.is_leaving or bool(self._questions)

    @property
    def may_leave(self) -> bool:
        """Reports whether the present hub hands over and has answered each request that the next one is not sent again."""
        is_between_lines = self.is_leaving and self._line_id is None and not self._held
        return is_between_lines and all(self._is_in_replay(found, key) for found, key in self._in_flight.items())

    @property
    def kept_bytes(self) -> int:
        """Returns the size of the lines that wait for the next hub."""
        return sum(len(line) for _, line in self._waiting.values())

    def take_owed(self) -> bytes:
        """Returns the owed lines; empty while the client has received only a part of a line of the hub."""
        if self._line_id is not None:
            return b""
        owed, self.owed = self.owed, b""
        return owed

    def client_sent(self, chunk: bytes) -> bytes:
        """Tracks bytes that the client wrote; returns those for the hub."""
        if not self._pieces and not self.is_offline and chunk.find(b"\n") == len(chunk) - 1:
            self._on_line(chunk, [])
            return chunk
        start = skipped = 0
        while end := chunk.find(b"\n", start) + 1:
            skipped = end if self._is_skipping else skipped
            self._end_line(chunk[start:end])
            start = end
        if start < len(chunk):
            skipped = len(chunk) if self._is_skipping else skipped
            self._keep(chunk[start:])
        return b"" if self.is_offline else chunk[skipped:]

    def hub_sent(self, chunk: bytes) -> bytes:
        """Tracks bytes that the hub wrote; returns those for the client: all but the replies to replayed requests."""
        if self._line_id is None and not self._held and not self._unwanted and chunk.find(b"\n") == len(chunk) - 1:
            found = reply_id_at(chunk, 0)
            self._on_hub_line(found, chunk)
            return b"" if found == LEAVE_ID else chunk
        if self._held:
            chunk, self._held = self._held + chunk, b""
        wanted = []
        wanted_from = start = 0
        while start < len(chunk):
            end = chunk.find(b"\n", start) + 1
            if self._line_id is None:
                found = reply_id_at(chunk, start)
                if found is None and not end and len(chunk) - start < MAX_HELD_BYTES:
                    self._held = chunk[start:]
                    break
                self._line_id, self._line = found or b"", [chunk[start : end or None]]
            elif not self._line_id:
                self._line.append(chunk[start : end or None])
            if self._line_id == LEAVE_ID or self._line_id in self._unwanted:
                wanted.append(chunk[wanted_from:start])
                wanted_from = end or len(chunk)
            if end:
                self._on_hub_line(self._line_id, b"".join(self._line))
                self._line_id, self._line = None, []
            start = end or len(chunk)
        if not wanted and not self._held:
            return chunk
        wanted.append(chunk[wanted_from:start])
        return b"".join(wanted)

    def start_offline(self, answers: "FirstAnswers | None" = None) -> None:
        """Sets the state for a start without a hub.

        Args:
            answers: for the requests that come before a hub.
        """
        self.is_offline, self.has_met_hub, self._answers = True, False, answers

    def hub_lost(self) -> bytes:
        """Sets the state for a hub that is gone.

        Returns:
            The bytes for the client: the end of a cut line, cancellations of the hub's requests, and an error for each call that
            will not be answered. A handshake, log levels and subscriptions are not among them: they wait for the next hub.
        """
        is_cut = self._line_id is not None and self._line_id not in self._unwanted
        self._held, self._line_id, self._line, self.is_offline, self.is_leaving = b"", None, [], True, False
        lost = [found for found, key in self._in_flight.items() if not self._is_in_replay(found, key)]
        for found in lost:
            del self._in_flight[found]
        self._waiting = {found: (0, b"") for found, key in self._in_flight.items() if not key.startswith(LISTEN)}
        questions, self._questions = self._questions, set()
        return b"".join([CUT * is_cut, *(WITHDRAWN % each for each in questions), *(failed(found, HUB_LOST) for found in lost)])

    def refuse(self, error: bytes) -> bytes:
        """Answers everything that waits, when no hub can be had for now.

        Args:
            error: a JSON-RPC error object that gives the reason.

        Returns:
            The bytes for the client: this error for everything that waits.
        """
        refused, self._waiting, self._is_hub_due = self._waiting, {}, False
        for found in refused:
            self._drop(found)
        return b"".join(failed(found, error) for found in refused)

    def hub_found(self) -> bytes:
        """Sets the state for a new hub.

        Returns:
            The bytes for the hub: the handshake, the subscriptions, what was answered before it came, the waiting requests, and the line
            that the client has begun.
        """
        self.is_offline = self.has_answered = self._is_hub_due = False
        self.has_met_hub, self._answers = True, None
        self._unwanted = {*self._ahead}
        handshake = [key for key in (INITIALIZE, INITIALIZED) if key in self._replay]
        others = [key for key in self._replay if key not in handshake]
        lines = [self._to_replay(key, *self._replay[key]) for key in handshake + others]
        lines += [*self._ahead.values(), *self._take_waiting()]
        self._is_skipping = self._pieces_bytes > MAX_LINE_BYTES
        return b"".join(lines if self._is_skipping else lines + self._pieces)

    def _take_waiting(self) -> list[bytes]:
        """Returns the lines that wait; the requests of one batch are one line again."""
        lines: dict[bytes | int, list[bytes]] = {}
        for found, (batch, line) in self._waiting.items():
            if line:
                lines.setdefault(batch or found, []).append(line)
        self._waiting = {}
        return [b"[%b]\n" % b",".join(each[:-1] for each in of) if isinstance(key, int) else of[0] for key, of in lines.items()]

    def _keep(self, piece: bytes) -> None:
        pieces = self._pieces
        self._pieces_bytes += len(piece)
        if pieces and len(pieces[-1]) < JOINED_BYTES:
            pieces[-1] += piece
        else:
            pieces.append(piece)
        if self._pieces_bytes > MAX_LINE_BYTES:  # it will not be sent again: its ends are enough
            pieces[1:] = [b"".join(pieces[-2:])[-JOINED_BYTES:]]

    def _end_line(self, last: bytes) -> None:
        if not self._pieces:
            self._on_line(last, [])
            return
        self._keep(last)
        pieces, is_lost = self._pieces, self._pieces_bytes > MAX_LINE_BYTES and (self.is_offline or self._is_skipping)
        self._pieces, self._pieces_bytes, self._is_skipping = [], 0, False
        ends = pieces[0] if len(pieces) == 1 else pieces[0] + b"".join(pieces[-2:])[-JOINED_BYTES:]
        if not is_lost:
            self._on_line(ends, pieces)
        elif found := NO_ID if is_batch(ends) else identify(ends, [])[0]:
            self.owed += failed(found, LINE_LOST)

    def _on_line(self, ends: bytes, pieces: list[bytes], batch: int = 0) -> None:
        """Tracks a line of the client, or a message of its `batch`."""
        found, method = identify(ends, pieces)
        if self._answers and found and not batch and self._answer_ahead(found, method, b"".join(pieces) or ends):
            return
        if method in FOLLOWED:
            self._on_followed(found, method, b"".join(pieces) or ends, batch)
        elif found:
            self._in_flight[found] = method
            if self.is_offline:
                self._waiting[found] = batch, b"".join(pieces) or ends
        elif not method and (self._questions or is_batch(ends)):
            self._on_other_line(b"".join(pieces) or ends, batch)

    def _answer_ahead(self, found: bytes, method: bytes, line: bytes) -> bool:
        """Answers a request as the next hub will; returns whether the answer is known."""
        assert self._answers is not None
        params = value_of(line, members(line).get(b"params"))
        if method == INITIALIZE and self._introduction:  # what follows belongs to another session
            self._answers = None
            return False
        introduction = params if method == INITIALIZE else self._introduction
        result, checksum = self._answers.find(introduction, method, params)
        if method == INITIALIZE:
            self._introduction = params
            if not result:
                self._answers = None
        if not result:
            return False
        if method in REPLAYED:
            self._note_replay(found, replay_key(found, method, line), line)
        else:
            self._replays += 1
            ours = AHEAD_ID % (checksum, self._replays)
            self._ahead[ours] = _under_id(ours, line)
        self.owed += answered(found, result)
        self._is_hub_due = True
        return True

    def _on_followed(self, found: bytes, method: bytes, line: bytes, batch: int) -> None:
        if not found:
            if method == CANCELLED:
                self._drop(requested_id(line))
            elif method == INITIALIZED:
                self._replay[INITIALIZED] = b"", line
            return
        key = replay_key(found, method, line)
        self._in_flight[found] = key
        if method in REPLAYED:
            self._note_replay(found, key, line)
        if self.is_offline:
            self._waiting[found] = (0, b"") if method in REPLAYED else (batch, line)

    def _on_other_line(self, line: bytes, batch: int) -> None:
        if not batch and is_batch(line):
            self._batches += 1
            for message in elements(line):
                self._on_line(message + b"\n", [], self._batches)
        else:
            self._questions.discard(answered_id(line))

    def _note_replay(self, found: bytes, key: bytes, line: bytes) -> None:
        for other in [each for each, of in self._in_flight.items() if of == key and each != found]:
            if other in self._waiting:  # it was to be sent with the replay, which has room for one, or behind it
                self._drop(other)
                self.owed += failed(other, HUB_LOST)
            else:
                self._in_flight[other] = SUPERSEDED
        if key == INITIALIZE:
            self._replay.pop(INITIALIZED, None)
        self._replay[key] = found, line

    def _on_hub_line(self, found: bytes | None, line: bytes) -> None:
        """Tracks a line of the hub that has ended, or a reply in its array.

        Args:
            found: the result of `reply_id_at` for it.
            line: the part that `reply_id_at` has needed, or more; the whole line if it is not one reply.
        """
        if found in self._in_flight:
            self.has_answered = True
            key = self._in_flight.pop(found)
            if key in self._replay:
                self._on_answer(found, key, line)
        elif found in self._unwanted:
            self.has_answered = True
            self._unwanted.discard(found)
            self._ahead.pop(found, None)
        elif found == LEAVE_ID:
            self.is_leaving = True
        elif not found and line.startswith(NOTEWORTHY):
            self._on_other_hub_line(line)

    def _on_answer(self, found: bytes, key: bytes, line: bytes) -> None:
        """Drops a request from the replay that the hub's answer ends or refuses."""
        is_end = self._replay[key][0] != found
        if is_end or key.startswith(LISTEN) or is_refusal(line, found):
            del self._replay[key]

    def _on_other_hub_line(self, line: bytes) -> None:
        if line.startswith(ARRAY):
            for reply in elements(line):
                if reply.startswith(REPLY_HEAD):
                    self._on_hub_line(reply_id_at(reply, 0), reply)
        elif line.startswith(REPLY_HEAD):
            self._questions.add(line[len(REPLY_HEAD) :].partition(b",")[0])
        else:
            self._questions.discard(requested_id(line))

    def _drop(self, found: bytes) -> None:
        key = self._in_flight.pop(found, b"")
        self._waiting.pop(found, None)
        if self._is_in_replay(found, key):
            del self._replay[key]

    def _is_in_replay(self, found: bytes, key: bytes) -> bool:
        entry = self._replay.get(key)
        return entry is not None and entry[0] == found

    def _to_replay(self, key: bytes, found: bytes, line: bytes) -> bytes:
        """Returns the line for the next hub; under an id of the bridge's own if the client has its answer, and may have reused its id."""
        if not found or self._in_flight.get(found) == key:
            return line
        self._replays += 1
        ours = b'"tooltray-replay-%d"' % self._replays
        self._unwanted.add(ours)
        return _under_id(ours, line)


def _under_id(id: bytes, line: bytes) -> bytes:
    """Returns a request under another id; empty if it is not JSON, which the hub has reported already."""
    span = members(line).get(b"id")
    return line[: span[0]] + id + line[span[1] :] if span else b""
