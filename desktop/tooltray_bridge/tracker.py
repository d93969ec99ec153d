"""What a hub's end would leave open: the calls that wait for an answer, and what the next hub must be told.

Above it: hot, which shows it every chunk of both directions, and cold, which asks it when the hub is gone. Below it: scan, for
lines that hide their id. Knows no sockets.

No line is parsed. Of what the client writes both ends are looked at: an id that is among a message's first members or is its last
one is certainly its own, and that is where every known client writes it; only a line that has an `"id"` elsewhere is read in full.
Of what the hub writes the first bytes are enough, because the hub promises to begin each reply with `REPLY_HEAD`. Ids are kept as
they are written, byte for byte. Not followed are ids of more than `MAX_HELD_BYTES`, and names of members written with escapes.
"""

from tooltray_bridge.scan import QUOTE, end_of_string, members, value_of

END_BYTES = 200  # of a line; enough for jsonrpc, id and method, or for the id alone at its end
JOINED_BYTES = 4096  # pieces of a line are joined up to this size, so that neither end of a long line is scattered over many
MAX_LINE_BYTES = 64 * 2**20  # of a client's line; the hub drops longer ones and answers with an error
MAX_HELD_BYTES = 1 << 16  # of a hub's line whose id has not ended yet
REPLY_HEAD = b'{"jsonrpc":"2.0","id":'
REQUEST_MARK = b',"method"'  # what follows the id in a request of the hub's own
HUB_LOST = b'{"code":-32000,"message":"the connection to the Tooltray hub was lost while this call was running; call again"}'
LINE_LOST = (
    b'{"code":-32000,"message":"the connection to the Tooltray hub was lost within this message, which is too long to be sent again"}'
)
INITIALIZE, INITIALIZED = b"initialize", b"notifications/initialized"
CANCELLED, LISTEN = b"notifications/cancelled", b"subscriptions/listen"
REPLAYED = frozenset((INITIALIZE, INITIALIZED, b"logging/setLevel", LISTEN))
LOOKED_FOR = frozenset((b"jsonrpc", b"id", b"method"))
OUTCOMES = frozenset((b"result", b"error"))
NO_ID = b"null"  # under which the hub answers a batch


def scalar_at(data: bytes, at: int) -> tuple[bytes, int]:
    """The string or number at `at`, and where it ends; empty if it is something else, or its end is not there."""
    if data.startswith(QUOTE, at):
        end = end_of_string(data, at)
        return (data[at:end], end) if end > 0 else (b"", 0)
    comma = data.find(b",", at)
    brace = data.find(b"}", at, comma) if comma >= 0 else data.find(b"}", at)
    end = brace if brace >= 0 else comma
    if end < 0 or data[at : at + 1] in (b"{", b"["):
        return b"", 0
    return data[at:end].rstrip(), end


def value_after(data: bytes, at: int) -> tuple[bytes, int]:
    """The same for the member whose name ends at `at`."""
    colon = data.find(b":", at)
    if colon != at and not data[at : max(colon, at)].isspace():
        return b"", 0
    at = colon + 1
    while data[at : at + 1].isspace():
        at += 1
    return scalar_at(data, at)


def front_of(line: bytes) -> tuple[bytes, bytes, bytes]:
    """The id and the method that are among a message's first members, and the name of the first member that is none of `LOOKED_FOR`."""
    front = line[:END_BYTES]
    found = method = b""
    at = 1
    while True:
        start = front.find(QUOTE, at)
        end = front.find(QUOTE, start + 1)
        name = front[start + 1 : end]
        if name not in LOOKED_FOR:
            return found, method, name
        value, at = value_after(front, end + 1)
        if not value:
            return found, method, b""
        if name == b"id":
            found = value
        elif name == b"method":
            method = value[1:-1]


def last_id_of(line: bytes) -> bytes:
    """The id that is a message's last member."""
    tail = line[-END_BYTES:]
    at = tail.rfind(b'"id"')
    if at <= 0 or tail.startswith(b"\\", at - 1):
        return b""
    value, end = value_after(tail, at + 4)
    return value if tail[end:].strip() == b"}" else b""


def identify(ends: bytes, pieces: list[bytes]) -> tuple[bytes, bytes]:
    """The id under which the hub will answer a line of the client, and its method. No id: nothing will be answered.

    Args:
        ends: the line, or at least both its ends.
        pieces: all of it, if `ends` is not.
    """
    method = b""
    if ends.startswith(b"{"):
        found, method, other = front_of(ends)
        if found and method:
            return found, method
        if other in OUTCOMES:
            return b"", b""
        if method and (found := last_id_of(ends)):
            return found, method
    line = b"".join(pieces) or ends
    if method and b'"id"' not in line:
        return b"", method
    if line.lstrip().startswith(b"["):
        return NO_ID, b""
    spans = members(line)
    if not OUTCOMES.isdisjoint(spans):
        return b"", b""
    return value_of(line, spans.get(b"id")), value_of(line, spans.get(b"method"))[1:-1]


def replay_key(found: bytes, method: bytes) -> bytes:
    """Of what is sent again to the next hub the last one counts, but every subscription."""
    return method + found if method == LISTEN else method


def reply_id_at(data: bytes, start: int) -> bytes | None:
    """The id of the reply that starts at `start`; empty if it is no reply, None if there is too little of it to tell."""
    at = start + len(REPLY_HEAD)
    if not data.startswith(REPLY_HEAD, start):
        return None if len(data) < at and REPLY_HEAD.startswith(data[start:]) else b""
    found, end = scalar_at(data, at)
    if not found or len(data) < end + len(REQUEST_MARK):
        return None
    return b"" if data.startswith(REQUEST_MARK, end) else found


def failed(found: bytes, error: bytes) -> bytes:
    """A line that answers a request with an error object."""
    return b'%b%b,"error":%b}\n' % (REPLY_HEAD, found, error)


class Tracker:
    """Follows both directions of one bridge.

    Attributes:
        is_offline: there is no hub. Of what the client writes, that is kept to which it awaits an answer.
        has_answered: the hub has answered something since it was found.
        owed: lines that the client must be given besides what the hub says.
    """

    def __init__(self) -> None:
        self.is_offline = self.has_answered = False
        self.owed = b""
        self._in_flight: dict[bytes, bytes] = {}  # id -> method
        self._waiting: dict[bytes, bytes] = {}  # id -> line, for the next hub; empty if the line is in the replay
        self._replay: dict[bytes, tuple[bytes, bytes, bytes]] = {}  # by replay_key: id, method, line
        self._replays = 0
        self._pieces: list[bytes] = []  # of the line that the client is in the middle of
        self._pieces_bytes = 0
        self._is_skipping = False  # the rest of that line: no hub has its start
        self._held = b""  # the start of a line of the hub, too short to know its id
        self._line_id: bytes | None = None  # of the line that the hub is in the middle of
        self._unwanted: set[bytes] = set()  # ids of replies that are not for the client

    @property
    def is_awaiting(self) -> bool:
        """Whether the client awaits an answer that only the next hub can give."""
        return bool(self._waiting)

    @property
    def kept_bytes(self) -> int:
        """The size of the lines that wait for the next hub."""
        return sum(map(len, self._waiting.values()))

    def take_owed(self) -> bytes:
        """What is owed, unless the client is within a line of the hub."""
        if self._line_id is not None:
            return b""
        owed, self.owed = self.owed, b""
        return owed

    def client_sent(self, chunk: bytes) -> bytes:
        """Notes what the client wrote, and returns what the hub gets of it."""
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
        """Notes what the hub wrote, and returns what the client gets of it: all but replies to what was replayed."""
        if self._line_id is None and not self._held and not self._unwanted and chunk.find(b"\n") == len(chunk) - 1:
            self._on_answer(reply_id_at(chunk, 0))
            return chunk
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
                self._line_id = found or b""
            if self._line_id in self._unwanted:
                wanted.append(chunk[wanted_from:start])
                wanted_from = end or len(chunk)
            if end:
                self._on_answer(self._line_id)
                self._line_id = None
            start = end or len(chunk)
        if not wanted and not self._held:
            return chunk
        wanted.append(chunk[wanted_from:start])
        return b"".join(wanted)

    def start_offline(self) -> None:
        """There was no hub to begin with."""
        self.is_offline = True

    def hub_lost(self) -> bytes:
        """The hub is gone.

        Returns:
            What the client is told: the end of a cut line, and an error for each call that nobody will answer. A handshake and open
            subscriptions are not among them: they wait for the next hub.
        """
        is_cut = self._line_id is not None and self._line_id not in self._unwanted
        self._held, self._line_id, self.is_offline = b"", None, True
        lost = [found for found, method in self._in_flight.items() if not self._is_in_replay(found, method)]
        for found in lost:
            del self._in_flight[found]
        self._waiting = {found: b"" for found, method in self._in_flight.items() if method != LISTEN}
        return b"\n" * is_cut + b"".join(failed(found, HUB_LOST) for found in lost)

    def refuse(self, error: bytes) -> bytes:
        """No hub can be had for now.

        Args:
            error: a JSON-RPC error object that says why.

        Returns:
            What the client is told: this error for everything that waits.
        """
        refused, self._waiting = self._waiting, {}
        for found in refused:
            self._drop(found)
        return b"".join(failed(found, error) for found in refused)

    def hub_found(self) -> bytes:
        """There is a hub again.

        Returns:
            What it is sent: the handshake and the subscriptions, what waits, and the line that the client is in the middle of.
        """
        self.is_offline = self.has_answered = False
        self._unwanted = set()
        handshake = [key for key in (INITIALIZE, INITIALIZED) if key in self._replay]
        others = [key for key in self._replay if key not in handshake]
        lines = [self._to_replay(*self._replay[key]) for key in handshake + others]
        lines += self._waiting.values()
        self._waiting = {}
        self._is_skipping = self._pieces_bytes > MAX_LINE_BYTES
        return b"".join(lines if self._is_skipping else lines + self._pieces)

    def _keep(self, piece: bytes) -> None:
        pieces = self._pieces
        self._pieces_bytes += len(piece)
        if pieces and len(pieces[-1]) < JOINED_BYTES:
            pieces[-1] += piece
        else:
            pieces.append(piece)
        if self._pieces_bytes > MAX_LINE_BYTES:  # nobody will be sent it again: its ends are enough
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
        elif found := identify(ends, [])[0]:
            self.owed += failed(found, LINE_LOST)

    def _on_line(self, ends: bytes, pieces: list[bytes]) -> None:
        found, method = identify(ends, pieces)
        if found:
            self._in_flight[found] = method
        elif method == CANCELLED:
            self._drop(value_after(ends, ends.find(b'"requestId"') + 11)[0])
        is_replayed = method in REPLAYED and bool(found or method == INITIALIZED)
        if is_replayed:
            self._note_replay(found, method, b"".join(pieces) or ends)
        if found and self.is_offline:
            self._waiting[found] = b"" if is_replayed else b"".join(pieces) or ends

    def _note_replay(self, found: bytes, method: bytes, line: bytes) -> None:
        key = replay_key(found, method)
        superseded = self._replay.get(key, (b"",))[0]
        if superseded != found and superseded in self._waiting:  # it was to be sent with the replay, which has room for one
            self._drop(superseded)
            self.owed += failed(superseded, HUB_LOST)
        if method == INITIALIZE:
            self._replay.pop(INITIALIZED, None)
        self._replay[key] = found, method, line

    def _on_answer(self, found: bytes | None) -> None:
        if found in self._in_flight:
            self.has_answered = True
            if self._in_flight.pop(found) == LISTEN:
                self._replay.pop(replay_key(found, LISTEN), None)
        elif found in self._unwanted:
            self.has_answered = True
            self._unwanted.discard(found)

    def _drop(self, found: bytes) -> None:
        method = self._in_flight.pop(found, b"")
        self._waiting.pop(found, None)
        if self._is_in_replay(found, method):
            del self._replay[replay_key(found, method)]

    def _is_in_replay(self, found: bytes, method: bytes) -> bool:
        entry = self._replay.get(replay_key(found, method))
        return entry is not None and entry[:2] == (found, method)

    def _to_replay(self, found: bytes, method: bytes, line: bytes) -> bytes:
        """The line for the next hub; under an id of ours if the client has had its answer, and may have given its id to another call."""
        if not found or self._in_flight.get(found) == method:
            return line
        span = members(line).get(b"id")
        if not span:  # no JSON, which the hub has said already
            return b""
        self._replays += 1
        ours = b'"tooltray-replay-%d"' % self._replays
        self._unwanted.add(ours)
        return line[: span[0]] + ours + line[span[1] :]
