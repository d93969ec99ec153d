"""Reads a line's id, its method, and whether it answers a request; and the lines that the bridge writes itself.

Lines are not parsed. Of the client's lines both ends are read: an id that is among a message's first members or is its last one is
certainly its own, and that is where every known client writes it; only a line that has an `"id"` elsewhere is read in full. Of the hub's
lines the first bytes are enough, because the hub promises to begin each reply with `REPLY_HEAD`. Ids are kept as they are written, byte for
byte. Names of members written with escapes are not recognised.
"""

from tooltray_bridge.scan import QUOTE, end_of_string, members, value_of

END_BYTES = 200  # of a line; enough for jsonrpc, id and method, or for just the id at its end
REPLY_HEAD = b'{"jsonrpc":"2.0","id":'
REQUEST_MARK = b',"method"'  # what follows the id in a request of the hub's own
ERROR_MARK = b',"error":'  # and in a reply that refuses
CANCEL_HEAD = b'{"jsonrpc":"2.0","method":"notifications/cancelled"'  # of a hub that no longer needs an answer
HUB_LOST = b'{"code":-32000,"message":"the connection to Tooltray was lost while this call was running; call again"}'
LINE_LOST = b'{"code":-32000,"message":"the connection to Tooltray was lost within this message, which is too long to be resent"}'
WITHDRAWN = CANCEL_HEAD + b',"params":{"requestId":%b,"reason":"the connection to Tooltray was lost"}}\n'
AHEAD_ID = b'"tooltray-ahead-%b-%d"'  # of a request that the client has an answer to, with the checksum of its result
LEAVE_ID = b'"tooltray-leave"'  # of a line by which a hub that hands over asks the bridge to leave; as in carriers/mcp/local_socket.py
NO_ID = b"null"  # the id in the answer to a message without a readable id
LISTEN, SUBSCRIBE, UNSUBSCRIBE = b"subscriptions/listen", b"resources/subscribe", b"resources/unsubscribe"
LOOKED_FOR = frozenset((b"jsonrpc", b"id", b"method"))
OUTCOMES = frozenset((b"result", b"error"))


def scalar_at(data: bytes, at: int) -> tuple[bytes, int]:
    """Returns the string or number at `at`, and where it ends; empty if another value is there or its end is missing."""
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
    """Returns the string or number of the member whose name ends at `at`, and where the value ends; empty as in `scalar_at`."""
    colon = data.find(b":", at)
    if colon != at and not data[at : max(colon, at)].isspace():
        return b"", 0
    at = colon + 1
    while data[at : at + 1].isspace():
        at += 1
    return scalar_at(data, at)


def front_of(line: bytes) -> tuple[bytes, bytes, bytes]:
    """Returns the id and the method that are among a message's first members, and the name of the first member that is not in
    `LOOKED_FOR`."""
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
    """Returns the id that is a message's last member."""
    tail = line[-END_BYTES:]
    at = tail.rfind(b'"id"')
    if at <= 0 or tail.startswith(b"\\", at - 1):
        return b""
    value, end = value_after(tail, at + 4)
    return value if tail[end:].strip() == b"}" else b""


def identify(ends: bytes, pieces: list[bytes]) -> tuple[bytes, bytes]:
    """Returns the id under which the hub will answer a line of the client, and its method.

    A line without an id gets no answer. A line with neither id nor method is a reply, a batch or not a message.

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
    if is_batch(line):
        return b"", b""
    spans = members(line)
    if not OUTCOMES.isdisjoint(spans):
        return b"", b""
    return value_of(line, spans.get(b"id")), value_of(line, spans.get(b"method"))[1:-1]


def is_batch(line: bytes) -> bool:
    """Reports whether a line holds several messages."""
    return line.lstrip().startswith(b"[")


def requested_id(line: bytes) -> bytes:
    """Returns the id of the request that a cancellation is about."""
    return value_after(line, line.find(b'"requestId"') + 11)[0]


def answered_id(line: bytes) -> bytes:
    """Returns the id of the hub's request that the client's line answers. Some clients write a number as a string."""
    return value_of(line, members(line).get(b"id")).strip(QUOTE)


def replay_key(found: bytes, method: bytes, line: bytes) -> bytes:
    """Returns the key under which a request is kept for the next hub. Of several requests with one key the last one counts. The key is the
    method; a notification stream has its own key, and so has each resource, for both its subscription and the end of that subscription."""
    if method == LISTEN:
        return method + QUOTE + found  # no method has a quote in it
    if method in (SUBSCRIBE, UNSUBSCRIBE):
        params = value_of(line, members(line).get(b"params"))
        return SUBSCRIBE + value_of(params, members(params).get(b"uri"))
    return method


def reply_id_at(data: bytes, start: int) -> bytes | None:
    """Returns the id of the reply that starts at `start`; empty if it is not a reply, None if there are too few bytes to decide."""
    at = start + len(REPLY_HEAD)
    if not data.startswith(REPLY_HEAD, start):
        return None if len(data) < at and REPLY_HEAD.startswith(data[start:]) else b""
    found, end = scalar_at(data, at)
    if not found or len(data) < end + len(REQUEST_MARK):
        return None
    return b"" if data.startswith(REQUEST_MARK, end) else found


def answered(found: bytes, result: bytes) -> bytes:
    """Returns a line that answers a request."""
    return b'%b%b,"result":%b}\n' % (REPLY_HEAD, found, result)


def failed(found: bytes, error: bytes) -> bytes:
    """Returns a line that answers a request with an error object."""
    return b'%b%b,"error":%b}\n' % (REPLY_HEAD, found, error)


def is_refusal(line: bytes, found: bytes) -> bool:
    """Reports whether the hub's reply to this id is an error."""
    return line.startswith(ERROR_MARK, len(REPLY_HEAD) + len(found))
