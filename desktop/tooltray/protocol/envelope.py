"""One JSON-RPC message whose payload stays bytes.

`params`, `result`, `error` and `id` are `msgspec.Raw`: they leave as they came, so 2**70, 1e400, long decimals and unknown fields survive.
JSON that msgspec refuses (lone surrogates) is split by a scanner that copies only the members. A line that is not JSON or not JSON-RPC
raises `MalformedFrame`, with the id if it can still be found.
"""

import functools
import json
import math
import re
from typing import Any, NoReturn

import msgspec
from msgspec import Raw

from tooltray.foundation.phrases import plain_text
from tooltray.protocol import member_scanner

NOTHING, NULL = Raw(b""), Raw(b"null")
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
CONNECTION_CLOSED, REQUEST_TIMEOUT = -32000, -32001  # the codes that the MCP SDKs use for these
METHODS_KEPT = 128  # as JSON; there are about thirty, and a client may make up others
QUOTED_BYTES = 200  # of unreadable input
_OPENING_BRACE = ord("{")
UTF8_CHECKED_BELOW_BYTES = 2**20  # the check costs 0.8 ms per MB and a copy
_ID = rb"(" + member_scanner.STRING + rb"|-?[0-9][0-9.eE+-]*)"
_ID_PLACES = [  # where an id is certainly the message's own: its first members, its last member, or right before the outcome
    re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*' + _ID + rb"\s*[,}]"),
    re.compile(rb'"id"\s*:\s*' + _ID + rb"\s*\}\s*$"),
    re.compile(rb'"id"\s*:\s*' + _ID + rb'\s*,\s*"(?:result|error|method)"'),
]
_ID_SEARCH_BYTES = 4096  # of either end of a malformed frame
_EMPTY_ARRAY = re.compile(rb"\[\s*\]\Z")
_VALID_ID = re.compile(rb"(?:" + member_scanner.STRING + rb"|-?(?:0|[1-9][0-9]*+))\Z", re.DOTALL)  # MCP: no fractions, no null


class Envelope(msgspec.Struct, omit_defaults=True):
    """A request (id and method), a notification (method) or a reply (id and result or error)."""

    jsonrpc: str = ""
    id: Raw = NOTHING
    method: str = ""
    params: Raw = NOTHING
    result: Raw = NOTHING
    error: Raw = NOTHING


NO_REPLY = Envelope()
"""Returned in place of an answer when none is to be sent."""


class MalformedFrame(Exception):
    """A line that is not a JSON-RPC message.

    Attributes:
        id: empty if none could be found.
        code: the error code of JSON-RPC 2.0 for the fault.
        is_reply: whether the line was meant as a reply; answering a reply could go back and forth for ever.
    """

    def __init__(self, reason: str, id: Raw = NOTHING, code: int = PARSE_ERROR, *, is_reply: bool = False) -> None:
        super().__init__(reason)
        self.id, self.code, self.is_reply = id, code, is_reply


_decoder = msgspec.json.Decoder(Envelope)


def decode(line: bytes | bytearray) -> Envelope:
    """Reads one line.

    Raises:
        MalformedFrame: it is not JSON, or not a JSON-RPC message.
    """
    try:
        if len(line) <= UTF8_CHECKED_BELOW_BYTES and not line.isascii():
            str(line, "utf-8")  # msgspec does not look inside Raw, and clients choke on invalid UTF-8
        message = _decoder.decode(line)
    except (ValueError, RecursionError):
        message = _decode_leniently(line)
    if message.error and message.error == NULL:  # some servers write every member of a reply
        message.error = NOTHING
    is_reply = not message.method and bool(message.result or message.error)
    if message.id and not _VALID_ID.match(memoryview(message.id)) and not (is_reply and _takes_whole_number(message)):
        raise MalformedFrame("the id must be a string or an integer", NOTHING, INVALID_REQUEST, is_reply=is_reply)
    if not message.method and not (message.id and is_reply):
        raise MalformedFrame("neither a request, a notification nor a reply", message.id, INVALID_REQUEST, is_reply=is_reply)
    return message


def _takes_whole_number(message: Envelope) -> bool:
    """Replaces a reply's id that is an integer written as 1.0 or 1E7, since some programs keep every number as a double.

    Returns whether the id is an integer.
    """
    try:
        number = float(bytes(message.id))
    except ValueError:
        return False
    if number.is_integer():
        message.id = Raw(b"%d" % int(number))
    return number.is_integer()


def check_request(message: Envelope) -> None:
    """Checks what JSON-RPC 2.0 requires of a request or notification beyond being readable.

    Raises:
        MalformedFrame: the version is missing or wrong, or `params` is neither an object nor an array.
    """
    if message.jsonrpc != "2.0":
        raise MalformedFrame('"jsonrpc" must be "2.0"', message.id, INVALID_REQUEST)
    if message.params and memoryview(message.params)[0] != _OPENING_BRACE:
        forgive(message)
    if message.params and memoryview(message.params)[0] not in b"{[":
        raise MalformedFrame("params must be an object or an array", message.id, INVALID_REQUEST)


def forgive(message: Envelope) -> None:
    """Removes null or an empty array in place of params, which some servers write against JSON-RPC 2.0 and other peers refuse."""
    if message.params == NULL or (message.params and _EMPTY_ARRAY.match(memoryview(message.params))):
        message.params = NOTHING


_MAY_BE_JSON = re.compile(r'[ \t\r\n]*[{\["\d-]|[ \t\r\n]*(?:true|false|null)\b')


def _decode_leniently(line: bytes | bytearray) -> Envelope:
    text = str(line, "utf-8", "replace").removeprefix("\ufeff")  # a byte order mark, with which some programs begin their output
    if not _MAY_BE_JSON.match(text):  # a server's other output, which may be long
        raise MalformedFrame("not JSON", find_id(line))
    try:
        # only checks that it is JSON; the value is not used (it would rewrite numbers, so they stay text)
        json.loads(text, parse_constant=_refuse_constant, parse_int=str, parse_float=str)
    except RecursionError:
        raise MalformedFrame("nested too deeply", find_id(line)) from None
    except ValueError:
        raise MalformedFrame("not JSON", find_id(line)) from None
    try:
        members = member_scanner.members_of(text.encode("utf-8"))
        strings = {name: json.loads(members[name]) for name in ("jsonrpc", "method") if name in members}
    except ValueError:
        raise MalformedFrame("not a JSON-RPC message", NOTHING, INVALID_REQUEST) from None
    message = Envelope()
    for name in {"id", "params", "result", "error"} & members.keys():
        setattr(message, name, Raw(members[name]))
    if not all(isinstance(each, str) for each in strings.values()):
        found = message.id if _VALID_ID.match(memoryview(message.id)) else NOTHING
        raise MalformedFrame("the method and the version must be strings", found, INVALID_REQUEST)
    message.jsonrpc, message.method = strings.get("jsonrpc", ""), strings.get("method", "")
    return message


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def find_id(line: bytes | bytearray) -> Raw:
    """Returns the id of a frame that cannot be read, or `NOTHING`."""
    if b"id" not in line:
        return NOTHING
    ends = bytes(line) if len(line) <= 2 * _ID_SEARCH_BYTES else bytes(line[:_ID_SEARCH_BYTES] + b"\n" + line[-_ID_SEARCH_BYTES:])
    match = next((found for place in _ID_PLACES if (found := place.search(ends))), None)
    if not match or not _VALID_ID.match(match[1]):
        return NOTHING
    try:
        json.loads(str(match[1], "utf-8"))  # a reply will contain it
    except ValueError:
        return NOTHING
    return Raw(match[1])


def dump(value: object) -> Raw:
    """Returns a value of ours as JSON. msgspec refuses what `json` can still write (lone surrogates, integers beyond 64 bits)."""
    try:
        return Raw(msgspec.json.encode(value, enc_hook=plain_text))
    except (ValueError, OverflowError):
        return Raw(json.dumps(_finite(value), separators=(",", ":")).encode())


def _finite(value: object) -> object:
    """Returns the value with null, as msgspec writes it, for each number that JSON cannot hold."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def load(raw: Raw) -> Any:
    """Returns a payload as Python values, for payloads that are not relayed.

    Raises:
        ValueError: it is not JSON, or nested deeper than Python can hold.
    """
    if not raw:
        return None
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(bytes(raw), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def failure(code: int, message: str, data: object = None) -> Envelope:
    """Returns an error reply of our own that explains what went wrong."""
    return Envelope(error=dump({"code": code, "message": str(message)} | ({} if data is None else {"data": data})))


def success(result: object) -> Envelope:
    """Returns a reply of our own."""
    return Envelope(result=dump(result))


SEARCHED_FOR_ERROR_BYTES = 512  # at either end of a large result


def has_failed(reply: Envelope) -> bool:
    """Reports whether a reply is an error, or the result of a tool call that failed; of large results it reads only both ends, where every
    known server writes `isError`.
    """
    if reply.error:
        return True
    view = memoryview(reply.result)
    edge = SEARCHED_FOR_ERROR_BYTES
    ends = bytes(view[:edge]) + bytes(view[-edge:])
    return b'"isError"' in ends and b'"isError":true' in ends.replace(b" ", b"")


class Worded(Envelope):
    """A failure of our own that keeps its message as it was made, e.g. as a Phrase; the error that is sent contains it as plain text."""

    words: str = ""


def worded(code: int, words: str, data: object = None) -> Worded:
    return Worded(error=failure(code, words, data).error, words=words)


class TooLarge(Envelope):
    """A failure of our own for a reply that was dropped because it is larger than the requester allowed."""

    size_bytes: int = 0


def too_large(size_bytes: int) -> TooLarge:
    return TooLarge(error=failure(PARSE_ERROR, f"a reply of {size_bytes:,} bytes exceeds the requested size").error, size_bytes=size_bytes)


class NotDelivered(Envelope):
    """A failure of our own for a request that the peer certainly never received whole, so that it may be sent once more."""


def not_delivered(reason: str) -> NotDelivered:
    return NotDelivered(error=failure(CONNECTION_CLOSED, reason).error)


def unanswered(reason: str) -> Envelope:
    """Returns a failure of our own for a request that the peer has but whose reply is lost; `reason` alone could suggest the opposite."""
    return failure(CONNECTION_CLOSED, f"{reason}; it had already received the request, and may have carried it out")


NOT_DELIVERED = not_delivered("the server did not accept the request; call again")


def readable(reply: Envelope, peer: str) -> Envelope:
    """Returns a reply as clients can read it: unchanged; an empty result for null; an error of ours if its result is not an object or its
    error has no integer code or no message (JSON-RPC 2.0, 5.1). Clients drop such a reply and wait for another until they time out.

    Args:
        peer: the sender's name, for the error.
    """
    has_object = bool(reply.result) and memoryview(reply.result)[0] == _OPENING_BRACE
    if not reply.error:
        if has_object:
            return reply
        return success({}) if reply.result == NULL else _unreadable(peer, "its result is not an object", reply.result)
    if _is_error(reply.error):
        return reply
    if has_object:  # some servers write every member of a reply
        return Envelope(result=reply.result)
    return _unreadable(peer, "its error has no code or no message", reply.error)


def _is_error(raw: Raw) -> bool:
    """Returns whether a member is an error of JSON-RPC 2.0; its code may be written as 1.0, which clients read as 1."""
    try:
        error = load(raw)
    except ValueError:  # nested too deeply
        return False
    code, message = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, None)
    is_code = (isinstance(code, int) and not isinstance(code, bool)) or (isinstance(code, float) and code.is_integer())
    return is_code and isinstance(message, str)


def _unreadable(peer: str, what: str, member: Raw) -> Envelope:
    quoted = str(memoryview(member)[:QUOTED_BYTES], "utf-8", "replace")
    return failure(PARSE_ERROR, f"{peer} sent a reply that cannot be read: {what}: {quoted}")


@functools.lru_cache(maxsize=METHODS_KEPT)
def _method_json(method: str) -> bytes:
    return bytes(dump(method))


def request_parts(id: bytes, method: str, params: Raw) -> tuple[bytes, Raw, bytes]:
    """Returns head, payload and tail of a request (or of a notification, if `id` is empty)."""
    id_member = b'"id":%b,' % id if id else b""
    head = b'{"jsonrpc":"2.0",%b"method":%b' % (id_member, _method_json(method))
    return (head + b',"params":', params, b"}\n") if params else (head, NOTHING, b"}\n")


def reply_parts(id: Raw, reply: Envelope) -> tuple[bytes, Raw, bytes]:
    """Returns head, payload and tail of a reply; the id always comes first, so that the bridge can follow replies by their first bytes."""
    member, payload = (b"error", reply.error) if reply.error else (b"result", reply.result)
    return b'{"jsonrpc":"2.0","id":%b,"%b":' % (bytes(id) or b"null", member), payload, b"}\n"
