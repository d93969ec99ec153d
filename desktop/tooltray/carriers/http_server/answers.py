"""Reads the messages and writes the responses of the HTTP endpoints: refusals, single JSON replies, streams of events.

Imported when the first endpoint opens.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence

from aiohttp import web
from msgspec import Raw

from tooltray.carriers.http_server.event_streams import JOIN_BELOW_BYTES, EventQueue, message_parts, write_parts
from tooltray.carriers.http_server.guard import EVENTS_TYPE, JSON_TYPE, Refused, accepted, is_json
from tooltray.protocol.batches import REFUSED, refused_ids
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.envelope import PARSE_ERROR, MalformedFrame, decode, reply_parts

MAX_BODY_BYTES = 64 * 1024 * 1024  # the same limit as for a line of an AI client over stdio
BODY_SILENCE_S = 30.0  # clients send a body at once; a request that stalls in its body is not kept open forever
NOT_ACCEPTABLE, REQUEST_TIMEOUT, TOO_LARGE, UNSUPPORTED_MEDIA_TYPE = 406, 408, 413, 415
_UNBUFFERED = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}  # the second is for nginx


def refusal(refused: Refused) -> web.Response:
    """Builds the response for a refused request."""
    errors = [b"".join(reply_parts(id, refused.reply))[:-1] for id in refused.ids or (refused.id,)]
    body = b"[%b]" % b",".join(errors) if refused.ids else errors[0]
    return web.Response(status=refused.status, body=body, content_type=JSON_TYPE, headers=refused.headers)


def cut_of(request: web.Request) -> Callable[[], object] | None:
    """Returns a function that aborts a request's connection; None if it has already ended."""
    return request.transport.abort if request.transport else None


async def read_message(request: web.Request) -> bytearray:
    """Reads the body of a POST, without a copy in the request.

    Raises:
        Refused: the body is too large, compressed, incomplete, or not declared as JSON.
    """
    if not is_json(request.headers.get("Content-Type")):
        raise Refused(UNSUPPORTED_MEDIA_TYPE, "a message is application/json")
    if is_compressed(request):
        raise Refused(UNSUPPORTED_MEDIA_TYPE, "a message is not compressed")
    too_large = Refused(TOO_LARGE, f"a message may have at most {MAX_BODY_BYTES:,} bytes")
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise too_large
    body = bytearray()
    while chunk := await _next_chunk(request):
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise too_large
    return body


async def _next_chunk(request: web.Request) -> bytes:
    """Reads the next part of a body; empty at its end.

    Raises:
        Refused: nothing arrives within `BODY_SILENCE_S`.
    """
    if request.content.is_eof():  # the body arrived together with the headers, as nearly all do
        return await request.content.readany()
    try:
        async with asyncio.timeout(BODY_SILENCE_S):
            return await request.content.readany()
    except TimeoutError:
        raise Refused(REQUEST_TIMEOUT, "the rest of the message did not come", headers={"Connection": "close"}) from None


def is_compressed(request: web.Request) -> bool:
    """Reports whether the body has a content encoding, which is not supported here."""
    return request.headers.get("Content-Encoding", "identity").strip().lower() not in ("identity", "")


def check_accept(request: web.Request) -> None:
    """Checks that the client accepts JSON and event streams, since the form of the answer is not known before.

    Raises:
        Refused: it does not accept both.
    """
    if accepted(request.headers.get("Accept")) != (True, True):
        raise Refused(NOT_ACCEPTABLE, "a client must accept both application/json and text/event-stream")


def unreadable(error: MalformedFrame, body: bytes | bytearray = b"") -> Refused:
    """Builds the refusal of a body that is not a valid message; if it is a batch, of each request in it."""
    if ids := refused_ids(body, decode):
        return no_batches(ids)
    what = "Parse error" if error.code == PARSE_ERROR else "Invalid request"
    return Refused(400, f"{what}: {error}", code=error.code, id=error.id)


def no_batches(ids: Sequence[Raw] = ()) -> Refused:
    """Builds the refusal of a batch with these requests, which belongs to another version."""
    return Refused(400, REFUSED, ids=ids)


async def json_reply(
    request: web.Request, message: Outgoing, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.StreamResponse:
    """Sends one message as the whole response; a large payload is not copied, a small one is sent together with the headers."""
    parts = message_parts(message)
    if sum(map(len, parts)) < JOIN_BELOW_BYTES:
        return web.Response(status=status, headers=headers, body=b"".join(parts), content_type=JSON_TYPE)
    response = web.StreamResponse(status=status, headers=headers)
    response.content_type = JSON_TYPE
    response.content_length = sum(map(len, parts))
    await response.prepare(request)
    await write_parts(response, parts)
    await response.write_eof()
    return response


async def start_events(request: web.Request, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
    """Sends the headers of an event stream."""
    response = web.StreamResponse(headers={**_UNBUFFERED, **(headers or {})})
    response.content_type = EVENTS_TYPE
    await response.prepare(request)
    return response


async def write_events(response: web.StreamResponse, queue: EventQueue) -> None:
    """Writes a queue's events until the end of the stream or until the client disconnects."""
    with contextlib.suppress(ConnectionResetError):  # the client has just disconnected
        await queue.write_to(response)
        await response.write_eof()
