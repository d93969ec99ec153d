"""Notifies one AI client of the changes it wants to hear of, and of the progress of its calls.

Changes: never before the client's first answer, and not too often. Legacy clients get the notifications of their era; modern ones get the
notifications that their `subscriptions/listen` requests, marked with its id.

Progress: before a client's own time limit for a call ends, the hub reports that the call still runs; a server's own time-outs are not
changed by that. The values of progress must rise. The hub's own values are minimally above the last value that the client has seen, so a
server's next value, for example 0.1 of 1 after minutes, can still be passed on unchanged; only a server's value that the hub has overtaken
is raised.
"""

import asyncio
import math
import sys
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import NOTHING, dump
from tooltray.protocol.eras import SUBSCRIPTION_ID_KEY
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.client_limits import ClientLimits
from tooltray.protocol.sessions.exchange import Exchange

TOLD_AFTER_S = 0.05  # several changes of a list become one notification
TOLD_AGAIN_AFTER_S = 1.0  # to a client that does not read
MOST_EARLY = 64  # notifications that wait for an acknowledgement, which a slow server delays by seconds
NOTHING_ELSE: Mapping[str, object] = MappingProxyType({})
TOOLS_CHANGED = "notifications/tools/list_changed"
PROMPTS_CHANGED = "notifications/prompts/list_changed"
RESOURCES_CHANGED = "notifications/resources/list_changed"
RESOURCE_UPDATED = "notifications/resources/updated"
TASK_CHANGED = "notifications/tasks"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
LISTS = {
    "tools/list": TOOLS_CHANGED,
    "prompts/list": PROMPTS_CHANGED,
    "resources/list": RESOURCES_CHANGED,
    "resources/templates/list": RESOURCES_CHANGED,
}
PROGRESS = "notifications/progress"
PART_OF_PATIENCE = 0.75  # of a client's limit: messages need a moment, and clients start to count before the hub has the call
AT_PERSON_S = 15.0  # users may take minutes; the shortest time-outs of clients that progress resets are 30 s or more
LEAST_S = 1.0  # a limit of zero must not spin the timer
HAIR = 1e-6  # how much the hub's values exceed the last one; no server counts so finely
STILL_RUNNING, STARTING = "Still running", "The server is still starting"
WAITS_FOR_TURN = "Queued: {before} calls of this server are ahead"
WAITS_FOR_PERSON = "Waiting for the user to answer or to allow this call"


class Wanted(msgspec.Struct):
    """The `notifications` of a `subscriptions/listen`."""

    tools: bool = msgspec.field(name="toolsListChanged", default=False)
    prompts: bool = msgspec.field(name="promptsListChanged", default=False)
    resources: bool = msgspec.field(name="resourcesListChanged", default=False)
    uris: list[str] = msgspec.field(name="resourceSubscriptions", default_factory=list)
    tasks: list[str] = msgspec.field(name="taskIds", default_factory=list)

    @property
    def methods(self) -> frozenset[str]:
        """The notifications of the wanted list changes."""
        asked = {TOOLS_CHANGED: self.tools, PROMPTS_CHANGED: self.prompts, RESOURCES_CHANGED: self.resources}
        return frozenset(method for method, is_wanted in asked.items() if is_wanted)

    def offered(self, capabilities: dict[str, object]) -> "Wanted":
        """Returns the wanted changes that a server with these capabilities offers."""
        has = {name: name in capabilities for name in ("tools", "prompts", "resources")}
        uris = self.uris if has["resources"] else []
        lists = (self.tools and has["tools"], self.prompts and has["prompts"], self.resources and has["resources"])
        return Wanted(*lists, uris, self.tasks)

    def acknowledged(self) -> dict[str, object]:
        """Returns the `notifications` of the acknowledgement for the client."""
        lists = {"toolsListChanged": self.tools, "promptsListChanged": self.prompts, "resourcesListChanged": self.resources}
        named = {"resourceSubscriptions": self.uris, "taskIds": self.tasks}
        return {name: True for name, is_wanted in lists.items() if is_wanted} | {name: each for name, each in named.items() if each}


class Listening:
    """The subscriptions of one session."""

    def __init__(self, dispatcher: RawDispatcher, *, on_tools_told: Callable[[], None] = lambda: None) -> None:
        """
        Args:
            on_tools_told: called when the client was notified that its tools have changed.
        """
        self._dispatcher, self._on_tools_told = dispatcher, on_tools_told
        self._open: dict[bytes, tuple[Wanted, Raw, Raw]] = {}  # by the request's id: the wanted notifications, its `_meta`, the id
        self._early: dict[bytes, deque[tuple[str, Raw]]] = {}  # by the request's id: sent before it was acknowledged
        self._news: dict[str, set[str]] = {}  # notifications to send, and those sent whose list the client has not requested since
        self._changes: dict[str, int] = {}  # number of changes by notification
        self._unheard: set[str] = set()  # notifications for a client that cannot get any yet
        self._updates: dict[str, Raw] = {}  # updates of resources, kept while the client does not read
        self._telling: asyncio.TimerHandle | None = None
        self.is_legacy = False  # the client has sent `notifications/initialized`
        self.has_answered = False  # a notification before the first reply breaks some clients

    def initialized(self) -> None:
        """Records that the client has sent `notifications/initialized`."""
        self.is_legacy = True
        self._tell_unheard()

    # subscriptions/listen

    def open(self, id: Raw, wanted: Wanted, of_extensions: Mapping[str, object] = NOTHING_ELSE) -> None:
        """Begins one stream of notifications; sends its acknowledgement first, as the specification requires.

        Args:
            of_extensions: the acknowledged members for servers' extensions.
        """
        meta = dump({SUBSCRIPTION_ID_KEY: id})
        told: dict[str, object] = {**of_extensions, **wanted.acknowledged()}
        params = dump({"notifications": told, "_meta": meta})
        self._dispatcher.send_notification(ACKNOWLEDGED, params, about=id)
        self._open[bytes(id)] = wanted, meta, id
        self.has_answered = True  # the acknowledgement; the request itself stays open
        for method, early in self._early.pop(bytes(id), ()):
            self.tell(id, method, early)
        self._tell_unheard()

    def end(self, id: Raw) -> None:
        self._open.pop(bytes(id), None)
        self._early.pop(bytes(id), None)

    # news

    def tell(self, id: Raw, method: str, params: Raw) -> None:
        """Sends a server's unchanged notification of an extension on one stream, after the acknowledgement of the stream."""
        if bytes(id) not in self._open:
            self._early.setdefault(bytes(id), deque(maxlen=MOST_EARLY)).append((method, params))
        elif not self._dispatcher.is_congested:
            _, meta, _ = self._open[bytes(id)]
            self._dispatcher.send_notification(method, _with_subscription(params, meta), about=id)

    def changes(self, method: str) -> int:
        """Returns how often the requested list has changed until now."""
        return self._changes.get(LISTS.get(method, ""), 0)

    def seen(self, method: str, changes: int) -> None:
        """Marks the list that the client has requested as seen: earlier changes are not notified.

        Args:
            changes: of the list, when the client requested it; later changes may not be in the answer, except in the very first answer,
                which waits for its servers.
        """
        if self.has_answered and self.changes(method) != changes:
            return
        if self._news and (unseen := self._news.get(news := LISTS.get(method, ""))):
            unseen.discard(method)
            if not unseen:
                del self._news[news]

    def answered(self) -> None:
        """Records that the client has its first reply."""
        self.has_answered = True
        if self._news:
            self._tell_in(TOLD_AFTER_S)

    def list_changed(self, method: str) -> None:
        """Records that a list has changed; `method` is the notification for it."""
        self._changes[method] = self._changes.get(method, 0) + 1
        if self.is_legacy or self._open:
            self._news[method] = {lists for lists, news in LISTS.items() if news == method}
            self._tell_in(TOLD_AFTER_S)

    def answered_otherwise(self, method: str) -> None:
        """Records that the client has an outdated list, from before this session; it is notified as soon as it can be."""
        self._unheard.add(LISTS[method])
        if self.is_legacy or self._open:
            self._tell_unheard()

    def _tell_unheard(self) -> None:
        unheard, self._unheard = self._unheard, set()
        for method in unheard:
            self.list_changed(method)

    def updated(self, uri: str, params: Raw) -> None:
        """Notifies the client of a change of a resource that it subscribed to.

        Args:
            uri: the URI that the client subscribed to.
            params: of the notification, with the URI that the client knows.
        """
        if self._dispatcher.is_congested:
            self._updates[uri] = params  # the last of several is enough
            self._tell_in(TOLD_AGAIN_AFTER_S)
        else:
            self._tell_update(uri, params)

    def task_changed(self, id: str, params: Raw) -> None:
        """Notifies the client of a change of a task that it listens for; the notification is dropped if the client does not read.

        Args:
            id: as the client knows it.
            params: of the notification.
        """
        for wanted, meta, about in self._open.values():
            if id in wanted.tasks and not self._dispatcher.is_congested:
                self._dispatcher.send_notification(TASK_CHANGED, eras.with_members(params, _meta=meta), about=about)

    def close(self) -> None:
        if self._telling:
            self._telling.cancel()

    def _tell_update(self, uri: str, params: Raw) -> None:
        for wanted, meta, id in self._open.values():
            if uri in wanted.uris:
                self._dispatcher.send_notification(RESOURCE_UPDATED, eras.with_members(params, _meta=meta), about=id)
        if self.is_legacy:
            self._dispatcher.send_notification(RESOURCE_UPDATED, params)

    def _tell_in(self, seconds: float) -> None:
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(seconds, self._tell_news)

    def _tell_news(self) -> None:
        self._telling = None
        if not self.has_answered:
            return  # the first reply calls `answered`, which tries again
        if self._dispatcher.is_congested:
            self._tell_in(TOLD_AGAIN_AFTER_S)
            return
        updates, self._updates = self._updates, {}
        for uri, params in updates.items():
            self._tell_update(uri, params)
        news, self._news = sorted(self._news), {}
        for method in news:
            if self._tell(method) and method == TOOLS_CHANGED:
                self._on_tools_told()

    def _tell(self, method: str) -> bool:
        """Sends a notification if the client wants it; returns whether it does."""
        listens = [(meta, id) for wanted, meta, id in self._open.values() if method in wanted.methods]
        for meta, id in listens:
            self._dispatcher.send_notification(method, dump({"_meta": meta}), about=id)
        if self.is_legacy:
            self._dispatcher.send_notification(method)
        return self.is_legacy or bool(listens)


def _with_subscription(params: Raw, meta: Raw) -> Raw:
    """Returns params with the id of the client's stream instead of the server's; the rest of `_meta` stays."""
    members = opened(params)
    return closed({**members, "_meta": closed({**opened(members["_meta"]), **opened(meta)})})


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
