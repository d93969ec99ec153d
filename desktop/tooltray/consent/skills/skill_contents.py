"""Reads files of skills from their servers for the user, and checks that what a server gives is what its entry declares: size and SHA-256.

A digest comes from the server that gives the content, so it shows that the two fit together, and nothing of what is in it.
"""

import hashlib
from base64 import b64decode

from msgspec import Raw

from tooltray.catalogue.skill import SkillFile
from tooltray.protocol.envelope import Envelope, dump, load
from tooltray.protocol.eras import Head
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.caller import OwnCaller
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.server_manager import ServerManager

CHECKED_AT_ONCE_BYTES = 2**18  # of a result; longer ones are checked in a thread, beside the event loop


def fault_of(result: Raw, uri: str, file: SkillFile) -> str:
    """Returns why the result of a read is not the file; empty where it is.

    Args:
        uri: by which it was asked for.
    """
    try:
        content = _bytes(result, uri)
    except ValueError as error:
        return str(error) or "its content cannot be read"
    if len(content) != file.size_bytes:
        return f"it has {len(content):,} bytes, not {file.size_bytes:,}"
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return "" if digest == file.digest else f"its digest is {digest}, not {file.digest}"


def text_of(result: Raw, uri: str) -> str:
    """Returns the text of a file.

    Raises:
        ValueError: it is not text.
    """
    return _bytes(result, uri).decode("utf-8", "replace")


def _bytes(result: Raw, uri: str) -> bytes:
    """
    Raises:
        ValueError: no content of the result is of this URI, or it has none.
    """
    try:
        contents = load(opened(result)["contents"])
    except KeyError:
        raise ValueError("the answer has no contents") from None
    listed = [each for each in contents if isinstance(each, dict)] if isinstance(contents, list) else []
    found = next((each for each in listed if each.get("uri") == uri), listed[0] if len(listed) == 1 else None)
    text, blob = (found.get("text"), found.get("blob")) if found else (None, None)
    if isinstance(text, str):
        return text.encode()
    if isinstance(blob, str):
        return b64decode(blob, validate=True)
    raise ValueError("the answer has no content under its URI")


class SkillReading:
    """Reads files as the user. Has no state of its own; what AI clients read of skills passes Skills."""

    def __init__(self, *, servers: ServerManager, relay: ServerRelay, caller: OwnCaller, held: HeldCalls) -> None:
        self._servers, self._relay, self._caller, self._held = servers, relay, caller, held

    async def result(self, server: str, uri: str) -> Raw:
        """Returns the result of `resources/read`.

        Args:
            uri: as the server has it.

        Raises:
            ReadingFailed: its server refused, with its own words.
        """
        request = Envelope(method="resources/read", params=dump({"uri": uri}))
        exchange = Exchange(request, Head(), self._caller, self._held, None, self._caller.name)
        reply = await self._relay.send_with_retry(self._servers.get(server), exchange)
        if reply.error:
            error = load(reply.error)
            raise ReadingFailed(str(error.get("message", "")) if isinstance(error, dict) else "")
        return reply.result


class ReadingFailed(Exception):
    """The words of a server that does not give a skill."""
