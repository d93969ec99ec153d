"""Progress notifications for AI clients while they wait: before a client's own time limit ends, the hub reports that the call still runs.

The module knows no server; a server's own time-outs are not changed by these notifications.

The values of progress must rise. The hub's own values are minimally above the last value that the client has seen, so a server's next
value, for example 0.1 of 1 after minutes, can still be passed on unchanged; only a server's value that the hub has overtaken is raised.
"""

import asyncio
import math
import sys
from collections.abc import Callable
from functools import partial

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import NOTHING, dump
from tooltray.protocol.sessions.client_limits import ClientLimits
from tooltray.protocol.sessions.exchange import Exchange

PROGRESS = "notifications/progress"
PART_OF_PATIENCE = 0.75  # of a client's limit: messages need a moment, and clients start to count before the hub has the call
AT_PERSON_S = 15.0  # users may take minutes; the shortest time-outs of clients that progress resets are 30 s or more
LEAST_S = 1.0  # a limit of zero must not spin the timer
HAIR = 1e-6  # how much the hub's values exceed the last one; no server counts so finely
STILL_RUNNING, STARTING = "Still running", "The server is still starting"
WAITS_FOR_TURN = "Waiting for its turn: {before} of the server's calls are before it"
WAITS_FOR_PERSON = "Waiting for a person to answer or to allow this call"


class _Progress(msgspec.Struct):
    progress: float
    total: float | None = None


class LiveCall:
    """One request, from its arrival until it is answered."""

    __slots__ = ("_began_at", "_deadline", "_deadlines", "_exchange", "_heard_at", "_last", "_patience_s", "_said", "_tell", "_theirs")

    def __init__(self, exchange: Exchange, patience_s: float, deadlines: DeadlineWheel, tell: Callable[[Raw, Raw], None]) -> None:
        """
        Args:
            patience_s: how long the client may get no notification.
            tell: takes the params of a progress notification, and the id of the request.
        """
        self._exchange, self._patience_s, self._deadlines, self._tell = exchange, patience_s, deadlines, tell
        self._began_at = self._heard_at = asyncio.get_running_loop().time()
        self._last = NOTHING  # the server's latest progress, not decoded until the hub has to send its own
        self._theirs: float | None = None  # the server's last decoded value
        self._said: float | None = None  # the highest value that the hub has made
        self._deadline: Deadline = deadlines.add(min(patience_s, AT_PERSON_S), self._look)

    def end(self) -> None:
        self._deadline.cancel()

    def passes(self, params: Raw) -> Raw:
        """Returns a server's progress params as they are passed on to the client."""
        self._heard_at, self._last = asyncio.get_running_loop().time(), params
        if self._said is None or (news := _read(params)) is None:
            return params
        before, self._theirs = self._theirs, news.progress
        if news.progress > self._said or (before is not None and news.progress <= before):  # above the hub's value; or never rising
            return params
        self._said = _above(self._said)
        return eras.with_members(params, progress=dump(self._said))

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        patience_s = min(self._patience_s, AT_PERSON_S) if self._exchange.timings.waits_for == "person" else self._patience_s
        if now - self._heard_at >= patience_s:
            self._speak(now)
        rest_s = self._patience_s - (now - self._heard_at)
        self._deadline = self._deadlines.add(max(min(rest_s, AT_PERSON_S), LEAST_S), self._look)

    def _speak(self, now: float) -> None:
        news = _read(self._last) if self._last else None
        if news:
            self._theirs = news.progress
        known = [value for value in (self._said, self._theirs) if value is not None]
        self._said = value = _above(max(known)) if known else 0.0
        params: dict[str, object] = {"progressToken": self._exchange.head.meta.progress_token, "progress": value}
        if news and news.total is not None and value <= news.total:
            params["total"] = news.total
        self._heard_at = now
        self._tell(dump(params | {"message": f"{self._words}, {now - self._began_at:.0f} s"}), self._exchange.request.id)

    @property
    def _words(self) -> str:
        waits_for = self._exchange.timings.waits_for
        if waits_for == "turn":
            return WAITS_FOR_TURN.format(before=self._exchange.timings.before())
        return WAITS_FOR_PERSON if waits_for == "person" else STARTING if waits_for == "start" else STILL_RUNNING


class LiveCalls:
    """The calls of one session that have a progress token."""

    def __init__(self, *, deadlines: DeadlineWheel, tell: Callable[[Raw, Raw], None]) -> None:
        """
        Args:
            tell: see LiveCall.
        """
        self._begin = partial(LiveCall, deadlines=deadlines, tell=tell)
        self._calls: dict[bytes, LiveCall] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def begin(self, exchange: Exchange, limits: ClientLimits) -> None:
        """Adds a request with a progress token."""
        self._calls[bytes(exchange.request.id)] = self._begin(exchange, max(PART_OF_PATIENCE * limits.call_s, LEAST_S))

    def end(self, id: Raw) -> None:
        """Removes a request that is answered or cancelled."""
        self._calls.pop(bytes(id)).end()

    def passes(self, params: Raw, about: Raw) -> Raw:
        """Returns a server's progress of a request as it is passed on to the client."""
        call = self._calls.get(bytes(about))
        return call.passes(params) if call else params


def _above(value: float) -> float:
    return min(value + max(HAIR, math.ulp(value)), sys.float_info.max)  # JSON has no infinity


def _read(params: Raw) -> _Progress | None:
    """Decodes progress params; None if they are invalid."""
    try:
        return msgspec.json.decode(params, type=_Progress)
    except (ValueError, RecursionError):
        return None
