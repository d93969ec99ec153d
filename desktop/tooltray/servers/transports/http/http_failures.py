"""Explains errors of HTTP: as text for the user, and as the JSON-RPC reply to the request that failed. It knows the meaning of statuses and
of aiohttp's errors, and shows no query, user name, password or header of ours, since any of these may be a secret.
"""

import json
import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

import aiohttp
import msgspec
from msgspec import Raw
from yarl import URL

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.protocol import envelope
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, worded
from tooltray.servers.transports.transport import ConnectionFailure

SHOWN_BODY_CHARACTERS = 200
MAX_ERROR_BODY_BYTES = 65536  # of an error response; a larger one is not a JSON-RPC error
SHORTEST_RETRY_AFTER_S = 1.0  # for `Retry-After: 0`
MAX_SHOWN_CHALLENGE = 500  # of `WWW-Authenticate`
INTERNAL_FAULT = 500
NOBODY_THERE = Phrase("nothing answers there (connection refused)")
CHECK_WAY = Phrase("Check its URL and your network.")
CHECK_PROXY = Phrase("Check HTTPS_PROXY and its relatives in your shell's profile.")
START_IT = Phrase("Start it there, or check its URL.")
_EXPIRED, _OTHER_HOST, _OTHER_ADDRESS = 10, 62, 64  # OpenSSL's codes for faults of a certificate
_BAD_REQUEST, _SIGN_IN, _NOT_FOUND, _WRONG_METHOD, _GONE, _TOO_MANY = 400, 401, 404, 405, 410, 429
_SESSION_REFUSALS = frozenset({400, 403, 404, 410, 412, 422, 440})
_OTHER_REFUSALS = frozenset({401, 402, 403, 407, 408, 411, 413, 414, 415, 426, 429, 431, 451})
"""Refusals because of the caller, or of a request's size or form; 403 means the session only if the response mentions it."""
_OF_REQUESTS = (METHOD_NOT_FOUND, INVALID_PARAMS)
_SAYS_SESSION = re.compile(rb"session|not (?:been )?initiali[sz]ed", re.IGNORECASE)


class ExchangeFailed(Exception):
    """The error of an exchange without a response, or without all of the response.

    Attributes:
        reason: a text for the user, without the server's name.
        is_unreachable: no connection was made, so nothing was sent; the next request would fail alike.
        is_undelivered: the server cannot have received the whole request, so it may be sent again.
        is_unauthorized: the request was refused until the user signs in; `reason` is then a whole sentence.
        title, hint: the headline, and what the user can do; empty if only the reason is known.
    """

    def __init__(
        self,
        reason: str,
        *,
        is_unreachable: bool = False,
        is_undelivered: bool = False,
        is_unauthorized: bool = False,
        title: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(reason)
        self.reason, self.is_unreachable, self.title, self.hint = reason, is_unreachable, title, hint
        self.is_undelivered, self.is_unauthorized = is_undelivered or is_unreachable, is_unauthorized


class _RpcError(msgspec.Struct):
    code: int
    message: str = ""


def redacted_url(url: URL) -> str:
    """Returns a URL without user, password, query and fragment, which may be secrets."""
    return str(url.with_user(None).with_query(None).with_fragment(None)) if url.absolute else ""


def explain_error(error: Exception, url: URL) -> ExchangeFailed:
    """Translates an error of aiohttp or of a socket.

    Args:
        url: the URL of the request; only parts that are not secret are shown.
    """
    match error:
        case aiohttp.ClientConnectorCertificateError():
            title = Phrase("the certificate of {host} is not trusted", host=url.host)
            return ExchangeFailed(_certificate_words(error.certificate_error, url), is_unreachable=True, title=title)
        case aiohttp.ClientConnectorDNSError():
            reason = Phrase("the name of the host {host} cannot be resolved", host=url.host)
            title = Phrase("{host} cannot be found", host=url.host)
            return ExchangeFailed(reason, is_unreachable=True, title=title, hint=CHECK_WAY)
        case aiohttp.ClientProxyConnectionError():
            return _proxy_failed(error)
        case aiohttp.ClientHttpProxyError():
            reason = Phrase("the proxy refused to connect to {host} (HTTP {status})", host=url.host, status=error.status)
            title = Phrase("the proxy does not allow connections to {host}", host=url.host)
            return ExchangeFailed(reason, is_unreachable=True, title=title, hint=CHECK_PROXY)
        case aiohttp.ClientConnectorSSLError():
            reason = Phrase("no encrypted connection to {url}: {reason}", url=redacted_url(url), reason=_ssl_words(error.os_error))
            title = Phrase("{host} does not speak HTTPS", host=_place(url))
            return ExchangeFailed(reason, is_unreachable=True, title=title, hint=Phrase("Check the URL: http or https?"))
        case aiohttp.ConnectionTimeoutError():
            title = Phrase("{host} does not answer", host=_place(url))
            return ExchangeFailed(
                Phrase("no connection to {url} in time", url=redacted_url(url)), is_unreachable=True, title=title, hint=CHECK_WAY
            )
        case aiohttp.ClientConnectorError():
            return _connection_failed(error, url)
        case aiohttp.ServerDisconnectedError():
            return ExchangeFailed(Phrase("it closed the connection without an answer"))
        case aiohttp.ClientPayloadError():
            return ExchangeFailed(Phrase("the connection broke in the middle of its answer"))
        case aiohttp.ClientResponseError():
            return ExchangeFailed(Phrase("its response is not valid HTTP (status {status})", status=error.status))
        case OSError(errno=int(number)):
            broken = os.strerror(number)  # the error's own text may contain the whole URL
            return ExchangeFailed(Phrase("the connection broke ({reason})", reason=broken))
        case _:
            return ExchangeFailed(Phrase("the connection broke ({reason})", reason=type(error).__name__))


def _proxy_failed(error: aiohttp.ClientProxyConnectionError) -> ExchangeFailed:
    cause, proxy = error.os_error.strerror or "no connection", f"{error.host}:{error.port}"
    reason = Phrase("the proxy {proxy} cannot be reached: {reason}", proxy=proxy, reason=cause)
    return ExchangeFailed(reason, is_unreachable=True, title=Phrase("the proxy {proxy} cannot be reached", proxy=proxy), hint=CHECK_PROXY)


def _connection_failed(error: aiohttp.ClientConnectorError, url: URL) -> ExchangeFailed:
    words = _os_words(error.os_error)
    if words == NOBODY_THERE:
        title = Phrase("nothing answers at {host}", host=_place(url))
        reason = Phrase("the connection to {url} was refused", url=redacted_url(url))
        return ExchangeFailed(reason, is_unreachable=True, title=title, hint=START_IT)
    reason = Phrase("no connection to {url}: {reason}", url=redacted_url(url), reason=words)
    return ExchangeFailed(reason, is_unreachable=True, title=Phrase("{host} cannot be reached", host=_place(url)), hint=CHECK_WAY)


def _place(url: URL) -> str:
    """Returns host and explicit port of a URL; its path may be a secret."""
    return f"{url.host}:{url.port}" if url.explicit_port else str(url.host)


def failure_of(error: ExchangeFailed) -> ConnectionFailure | None:
    """Returns the failure to show on a server's card; None if only the reason is known."""
    return ConnectionFailure(Problem(error.title, error.reason, error.hint)) if error.title else None


def status_failure(status: int, url: URL) -> ConnectionFailure | None:
    """Returns the failure to show for an HTTP error status, without the server's own message; None for other statuses."""
    host = _place(url)
    match status:
        case 401 | 403:
            title, hint = Phrase("{host} refuses access (HTTP {status})", host=host, status=status), Phrase("Check the key that it gets.")
        case 404 | 405:
            title = Phrase("{host} has no MCP at this address (HTTP {status})", host=host, status=status)
            hint = Phrase("Check the URL: many end in /mcp or /sse.")
        case 429:
            title = Phrase("{host} gets too many requests (HTTP {status})", host=host, status=status)
            hint = Phrase("Try again in a moment.")
        case _ if status >= INTERNAL_FAULT:
            title = Phrase("{host} has an internal error (HTTP {status})", host=host, status=status)
            hint = Phrase("Try again later, or ask the server's operator.")
        case _:
            return None
    return ConnectionFailure(Problem(title, hint=hint))


def _os_words(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError) or "refused" in str(error).lower():  # after several addresses there is only a text
        return NOBODY_THERE
    return error.strerror or type(error).__name__


def _ssl_words(error: OSError) -> str:
    reason = getattr(error, "reason", None)
    return str(reason).replace("_", " ").lower() if reason else type(error).__name__


def _certificate_words(error: Exception, url: URL) -> str:
    reason = error.verify_message.rstrip(".") if isinstance(error, ssl.SSLCertVerificationError) else type(error).__name__
    code = error.verify_code if isinstance(error, ssl.SSLCertVerificationError) else 0
    if code == _EXPIRED:
        remedy = Phrase("its operator has to renew it; check this computer's clock too")
    elif code in (_OTHER_HOST, _OTHER_ADDRESS):
        remedy = Phrase("check the host in the URL")
    else:
        remedy = Phrase("if a company's own authority signed it, name that authority's file in SSL_CERT_FILE in your shell's profile")
    return Phrase("the certificate of {host} is not trusted: {reason}; {remedy}", host=url.host, reason=reason, remedy=remedy)


def retry_after_s(status: int, headers: Mapping[str, str]) -> float | None:
    """Returns after how many seconds a rejected request should be retried (429 with `Retry-After`); None if the server gives no time.

    503 does not count: a proxy sends it with `Retry-After` even when the server received the request and did not answer.
    """
    after_s = _after_s(headers) if status == _TOO_MANY else None
    return None if after_s is None else max(after_s, SHORTEST_RETRY_AFTER_S)


def _after_s(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds of `Retry-After`, which may be a date (RFC 9110, 10.2.3), by the server's own clock if it sends its time."""
    after = headers.get("Retry-After", "").strip()
    if after.isascii() and after.isdigit():
        return float(after)
    try:
        until = parsedate_to_datetime(after).timestamp()
    except ValueError:
        return None
    try:
        now = parsedate_to_datetime(headers.get("Date", "")).timestamp()
    except ValueError:
        now = time.time()
    return max(until - now, 0.0)


def error_in(body: bytes) -> Raw:
    """Returns the JSON-RPC error in a response body; empty if it has none. The id is not checked, since it may be null."""
    if len(body) > MAX_ERROR_BODY_BYTES or not body.lstrip().startswith(b"{"):
        return NOTHING
    try:
        message = msgspec.json.decode(body, type=Envelope)
        msgspec.json.decode(message.error, type=_RpcError)
    except (ValueError, RecursionError):
        return NOTHING
    return message.error


def is_lost_session(status: int, body: bytes, id: Raw = NOTHING) -> bool:
    """Returns whether the response to a message with a session id shows that the server does not know the session.

    The specification requires 404. Servers respond with 400 and others, too, with an error or a text that mentions the session or reports
    that nothing was initialized.

    Args:
        id: the id of the request; a JSON-RPC error with the same id is about the request unless its words are about the session.
    """
    if status not in _SESSION_REFUSALS:
        return False
    if error := _own_error(body, id):
        return _code_of(error) not in _OF_REQUESTS and bool(_SAYS_SESSION.search(bytes(error)))
    return status in (_NOT_FOUND, _GONE) or bool(_SAYS_SESSION.search(body))


def may_be_lost_session(status: int, body: bytes, id: Raw) -> bool:
    """Returns whether a request with a session id may have been refused for the session, although the response does not show it."""
    is_other = not _BAD_REQUEST <= status < INTERNAL_FAULT or status in _OTHER_REFUSALS
    return is_lost_session(status, body, id) or not (is_other or _own_error(body, id))


def _own_error(body: bytes, id: Raw) -> Raw:
    """Returns the JSON-RPC error in a response body if it has the id of the request; else an empty one."""
    return error_in(body) if id and bytes(envelope.find_id(body)).strip(b'"') == bytes(id).strip(b'"') else NOTHING


def _code_of(error: Raw) -> int:
    return msgspec.json.decode(error, type=_RpcError).code


def may_be_older(status: int, body: bytes) -> bool:
    """Returns whether a refused `initialize` looks like a server that speaks only HTTP+SSE; this test is the specification's."""
    return status in (400, _NOT_FOUND, _WRONG_METHOD) and not error_in(body)


def refusal(
    server: str, status: int, reason: str, headers: Mapping[str, str], body: bytes, *, url: URL, mask: Callable[[str], str] = str
) -> Envelope:
    """Builds the reply to a request that got an HTTP error: the JSON-RPC error in the body unchanged, else an error in words.

    Args:
        reason: the reason phrase after the status.
        body: the first `MAX_ERROR_BODY_BYTES` of the body.
        mask: masks secrets in an error in words.
    """
    error = error_in(body)
    if error and status != _SIGN_IN:
        return Envelope(error=error)
    summary = Phrase("server '{name}' {how}", name=server, how=refusal_words(status, reason, headers, url=url))
    text = _text_of(body, headers)
    return worded(INTERNAL_ERROR, mask(Phrase("{how}: {words}", how=summary, words=text) if text else summary), {"httpStatus": status})


def refusal_words(status: int, reason: str, headers: Mapping[str, str], *, url: URL) -> str:
    """Describes an HTTP error; the text continues a sentence that begins with the server's name."""
    challenge = _clean(headers.get("WWW-Authenticate", ""))[:MAX_SHOWN_CHALLENGE]
    behind = f" ({challenge})" if challenge else ""
    match status:
        case 401:
            return Phrase("wants a sign-in (HTTP {status}){behind}", status=status, behind=behind)
        case 403:
            return Phrase("refuses access (HTTP {status}){behind}", status=status, behind=behind)
        case 404 | 405:
            return Phrase("has no MCP at {url} (HTTP {status}); check the URL", url=redacted_url(url), status=status)
        case 429:
            after_s = _after_s(headers)
            if after_s is not None:
                return Phrase("is asked too often (HTTP {status}, try again after {seconds} s)", status=status, seconds=f"{after_s:.0f}")
            return Phrase("is asked too often (HTTP {status})", status=status)
        case _:
            return Phrase("answered with HTTP {status}", status=f"{status} {_clean(reason)}".rstrip())


def _text_of(body: bytes, headers: Mapping[str, str]) -> str | None:
    kind = headers.get("Content-Type", "").lower()
    if not kind.startswith(("text/plain", "application/json", "application/problem+json")):
        return None
    text = body[: 4 * SHOWN_BODY_CHARACTERS].decode(errors="replace")
    return _clean(_message_in(body) or text)[:SHOWN_BODY_CHARACTERS]


def _message_in(body: bytes) -> str | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and isinstance(error := value.get("error"), dict):
        value = error
    texts = [value.get(name) for name in ("error_description", "message", "detail", "error")] if isinstance(value, dict) else []
    return next((each for each in texts if isinstance(each, str)), None)


def _clean(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))
