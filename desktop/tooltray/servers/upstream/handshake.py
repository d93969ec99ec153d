"""Opens a connection to a server, in either era, and reads the server's answer.

The era is found by the rules of specification 2026-07-28, "versioning": `server/discover` is tried first; anything that does not
prove a modern server falls back to `initialize`.
The eras that each server speaks are remembered over restarts, so that a server known to be legacy is not probed again.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular
from tooltray.protocol import envelope
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import METHOD_NOT_FOUND, NOTHING, Envelope, Worded, dump
from tooltray.protocol.eras import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    HANDSHAKE_VERSIONS,
    MODERN_VERSIONS,
    PROTOCOL_VERSION_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    Era,
)

DISCOVER_TIMEOUT_S = 10.0  # some servers do not answer unknown methods; the SDKs wait as long


TITLE_WORDS = 160  # characters of a server's own words; a title is one short sentence


class EraRefused(TooltrayError):
    """The error of a server that does not speak the era in which it was to be opened."""


class OpeningFailed(TooltrayError):
    """An error: a server answered the handshake with an error, or not at all.

    Attributes:
        words: why.
    """

    def __init__(self, server: str, words: str) -> None:
        if not words or len(words) > TITLE_WORDS:
            super().__init__(Phrase("'{name}' could not be opened", name=server), words)
        else:
            super().__init__(Phrase("'{name}' could not be opened: {words}", name=server, words=words))
        self.words = words


class EndedAtProbe(OpeningFailed):
    """The error of a connection that ended while `server/discover` was unanswered.

    Servers built with rmcp before 3.0 and others end at a first message that is not `initialize`, so this is a sign of the legacy era.
    """


class GreetingPlan(msgspec.Struct, frozen=True):
    """The eras in which a connection to a server is tried.

    Attributes:
        wants: MODERN tries the modern era first and accepts the legacy one too; LEGACY opens in the legacy era or not at all.
        is_known_legacy: the server spoke only the legacy era the last time, so that one is tried first.
        only: the era that the server's settings give; the other one is never tried. None: both are tried.
        discover_timeout_s: after which a server counts as silent to `server/discover`.
    """

    wants: Era
    is_known_legacy: bool
    only: Era | None
    discover_timeout_s: float


class Introduction(msgspec.Struct, frozen=True):
    """The identity and the capabilities that we give a server as a client.

    Attributes:
        capabilities: what we declare as a client.
        params: of `initialize`, in place of our own, if the connection is for only one AI client; else empty.
    """

    client_info: dict[str, str]
    capabilities: dict[str, object]
    params: Raw


class Greeting(msgspec.Struct, frozen=True):
    """A server's answer when it was opened; `result` is the whole answer, unchanged."""

    era: Era
    version: str
    capabilities: dict[str, object]
    instructions: str | None
    result: Raw = msgspec.field(default_factory=lambda: Raw(b"{}"))


class _Error(msgspec.Struct):
    code: int = 0
    message: str = ""
    data: object = None

    @property
    def supported(self) -> list[str]:
        """The versions that an "unsupported protocol version" error names."""
        named = self.data.get("supported") if isinstance(self.data, dict) else None
        return [version for version in named if isinstance(version, str)] if isinstance(named, list) else []


async def greet(
    dispatcher: RawDispatcher,
    *,
    server: str,
    plan: GreetingPlan,
    introduction: Introduction,
    on_answered: Callable[[], None] = lambda: None,
) -> Greeting:
    """Opens a connection.

    Args:
        server: its name, for errors.
        on_answered: called at the server's first answer: it speaks the protocol, however long the rest takes.

    Raises:
        EraRefused: the legacy era was wanted and the server is modern only.
        EndedAtProbe: the server ended before it answered `server/discover`; another connection is to be opened in the legacy era.
        TooltrayError: the server answered with an error, nonsense, or ended.
    """
    opening = _Opening(dispatcher, server, plan, introduction, on_answered)
    if plan.only is Era.MODERN:
        return await opening.discover()
    return await (opening.initialize() if Era.LEGACY in (plan.wants, plan.only) else opening.negotiate())


class _Opening:
    def __init__(
        self,
        dispatcher: RawDispatcher,
        server: str,
        plan: GreetingPlan,
        introduction: Introduction,
        on_answered: Callable[[], None],
    ) -> None:
        self._dispatcher, self._server, self._plan = dispatcher, server, plan
        self._introduction, self._on_answered = introduction, on_answered

    async def negotiate(self) -> Greeting:
        if not self._plan.is_known_legacy and (greeting := await self._discover(MODERN_VERSIONS[-1])):
            return greeting
        try:
            return await self.initialize()
        except EraRefused:  # updated since, or slow to answer the probe, but modern
            if greeting := await self._discover(MODERN_VERSIONS[-1]):
                return greeting
            raise

    async def discover(self) -> Greeting:
        """Opens the connection in the modern era or not at all."""
        if self._plan.wants is Era.LEGACY:
            raise EraRefused(Phrase("'{name}' does not speak the legacy protocol", name=self._server), Phrase("as set in its settings"))
        if greeting := await self._discover(MODERN_VERSIONS[-1]):
            return greeting
        raise OpeningFailed(self._server, Phrase("it does not speak the modern protocol, which its settings give"))

    async def _discover(self, version: str, *, is_second_try: bool = False) -> Greeting | None:
        us = self._introduction
        meta = {PROTOCOL_VERSION_KEY: version, CLIENT_INFO_KEY: us.client_info, CLIENT_CAPABILITIES_KEY: us.capabilities}
        try:
            async with asyncio.timeout(self._plan.discover_timeout_s):
                reply = await self._dispatcher.call("server/discover", dump({"_meta": meta}), is_cancellable=False)
        except TimeoutError:
            return None
        if self._dispatcher.is_closed:
            raise EndedAtProbe(self._server, self._dispatcher.closed_because)
        self._on_answered()
        if reply.error:
            error = _read_error(reply)
            mutual = [each for each in MODERN_VERSIONS if each in error.supported]
            if error.code == UNSUPPORTED_PROTOCOL_VERSION and mutual and not is_second_try:
                return await self._discover(mutual[-1], is_second_try=True)
            return None
        result = _read_object(reply)
        spoken = result.get("supportedVersions")
        if not isinstance(spoken, list) or version not in spoken:
            return None
        return Greeting(Era.MODERN, version, _object(result.get("capabilities")), _text(result.get("instructions")), reply.result)

    async def initialize(self) -> Greeting:
        us = self._introduction
        own = {"protocolVersion": HANDSHAKE_VERSIONS[-1], "capabilities": us.capabilities, "clientInfo": us.client_info}
        reply = await self._dispatcher.call("initialize", us.params or dump(own), is_cancellable=False)
        if reply.error:
            raise self._refusal(_read_error(reply), self._words(reply))
        result = _read_object(reply)
        version = _text(result.get("protocolVersion")) or ""
        if version not in HANDSHAKE_VERSIONS:
            title = Phrase("'{name}' speaks another protocol", name=self._server)
            message = Phrase("it answered initialize with version {version}", version=repr(version))
            raise TooltrayError(title, message, Phrase("Update the server."))
        self._dispatcher.send_notification("notifications/initialized", NOTHING)
        return Greeting(Era.LEGACY, version, _object(result.get("capabilities")), _text(result.get("instructions")), reply.result)

    def _words(self, reply: Envelope) -> str:
        """Returns the message of an error; for our own errors the phrase, since a window can show it in another language."""
        message, because = _read_error(reply).message, self._dispatcher.closed_because
        if isinstance(reply, Worded):
            return reply.words
        return because if message == because else message

    def _refusal(self, error: _Error, message: str) -> TooltrayError:
        if error.code in (UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND):
            return EraRefused(Phrase("'{name}' does not speak the legacy protocol", name=self._server), message)
        return OpeningFailed(self._server, message)


def _read_error(reply: Envelope) -> _Error:
    try:
        return msgspec.json.decode(reply.error, type=_Error)
    except (ValueError, RecursionError):
        return _Error(message="an error that cannot be read")


def _read_object(reply: Envelope) -> dict[str, object]:
    try:
        return _object(envelope.load(reply.result))
    except ValueError:  # nested too deeply
        return {}


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


logger = logging.getLogger(__name__)
ERAS_KEPT_FOR_S = 7 * 86400.0  # then the server is probed again


class _Known(msgspec.Struct):
    eras: list[str]
    at: float


class EraMemory:
    """The eras that each server speaks, by the hash of its settings. Entries expire, because an unpinned package learns new things."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, _Known] = {}
        try:
            self._known = msgspec.json.decode(read_regular(path), type=dict[str, _Known])
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            logger.info("the saved protocol eras of servers cannot be read; they are detected again: %s", error)

    def eras(self, config_hash: str) -> frozenset[str]:
        """Returns `legacy`, `modern`, or both; empty if nothing is known."""
        known = self._known.get(config_hash)
        return frozenset(known.eras) if known and 0 <= time.time() - known.at < ERAS_KEPT_FOR_S else frozenset()

    def remember(self, config_hash: str, eras: frozenset[str]) -> bool:
        """Records the eras of a server. Returns whether this was a change, which must be saved."""
        if self.eras(config_hash) == eras:
            return False
        self._known[config_hash] = _Known(sorted(eras), time.time())
        return True

    def save(self) -> None:
        """Writes the file; not for the loop's thread. A file that cannot be written costs a probe at the next start."""
        try:
            write_atomically(self._path, msgspec.json.encode(self._known))
        except OSError as error:
            logger.info("the protocol eras of servers could not be saved: %s", error)
