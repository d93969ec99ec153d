"""What one AI client wants to hear of changes, and how it is told: each in its own way, never before its first answer, and not too often.

Above it: client_session. Below it: its dispatcher. Legacy clients get the notifications of their era, modern ones those that they opened a
`subscriptions/listen` for, marked with its id.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import SUBSCRIPTION_ID_KEY
from tooltray.protocol.member_scanner import closed, opened

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


class Wanted(msgspec.Struct):
    """The `notifications` of a `subscriptions/listen`."""

    tools: bool = msgspec.field(name="toolsListChanged", default=False)
    prompts: bool = msgspec.field(name="promptsListChanged", default=False)
    resources: bool = msgspec.field(name="resourcesListChanged", default=False)
    uris: list[str] = msgspec.field(name="resourceSubscriptions", default_factory=list)
    tasks: list[str] = msgspec.field(name="taskIds", default_factory=list)

    @property
    def methods(self) -> frozenset[str]:
        """The notifications that tell of what is wanted."""
        asked = {TOOLS_CHANGED: self.tools, PROMPTS_CHANGED: self.prompts, RESOURCES_CHANGED: self.resources}
        return frozenset(method for method, is_wanted in asked.items() if is_wanted)

    def offered(self, capabilities: dict[str, object]) -> "Wanted":
        """As much of it as there is."""
        has = {name: name in capabilities for name in ("tools", "prompts", "resources")}
        uris = self.uris if has["resources"] else []
        lists = (self.tools and has["tools"], self.prompts and has["prompts"], self.resources and has["resources"])
        return Wanted(*lists, uris, self.tasks)

    def acknowledged(self) -> dict[str, object]:
        """What the client is told that it will hear of."""
        lists = {"toolsListChanged": self.tools, "promptsListChanged": self.prompts, "resourcesListChanged": self.resources}
        named = {"resourceSubscriptions": self.uris, "taskIds": self.tasks}
        return {name: True for name, is_wanted in lists.items() if is_wanted} | {name: each for name, each in named.items() if each}


class Listening:
    """Of one session."""

    def __init__(self, dispatcher: RawDispatcher, *, on_tools_told: Callable[[], None] = lambda: None) -> None:
        """
        Args:
            on_tools_told: called when the client has been told that its tools have changed.
        """
        self._dispatcher, self._on_tools_told = dispatcher, on_tools_told
        self._open: dict[bytes, tuple[Wanted, Raw, Raw]] = {}  # by the request's id: what is wanted, its `_meta`, the id
        self._early: dict[bytes, deque[tuple[str, Raw]]] = {}  # by the request's id: said before it was acknowledged
        self._news: dict[str, set[str]] = {}  # what is to be told, and which of its lists the client has not asked for since
        self._changes: dict[str, int] = {}  # by notification
        self._updates: dict[str, Raw] = {}  # of resources, which a client that does not read is told later
        self._telling: asyncio.TimerHandle | None = None
        self.is_legacy = False  # it has said `notifications/initialized`
        self.has_answered = False  # a notification before the first reply breaks some clients

    # subscriptions/listen

    def open(self, id: Raw, wanted: Wanted, of_extensions: Mapping[str, object] = NOTHING_ELSE) -> None:
        """Begins one stream of news; acknowledged first, as the specification asks.

        Args:
            of_extensions: what servers tell besides.
        """
        meta = dump({SUBSCRIPTION_ID_KEY: id})
        told: dict[str, object] = {**of_extensions, **wanted.acknowledged()}
        params = dump({"notifications": told, "_meta": meta})
        self._dispatcher.send_notification(ACKNOWLEDGED, params, about=id)
        self._open[bytes(id)] = wanted, meta, id
        self.has_answered = True  # the acknowledgement; the request itself stays open
        for method, early in self._early.pop(bytes(id), ()):
            self.tell(id, method, early)

    def end(self, id: Raw) -> None:
        self._open.pop(bytes(id), None)
        self._early.pop(bytes(id), None)

    # news

    def tell(self, id: Raw, method: str, params: Raw) -> None:
        """What a server says of an extension on one stream, as it says it; nothing of it comes before the stream is acknowledged."""
        if bytes(id) not in self._open:
            self._early.setdefault(bytes(id), deque(maxlen=MOST_EARLY)).append((method, params))
        elif not self._dispatcher.is_congested:
            _, meta, _ = self._open[bytes(id)]
            self._dispatcher.send_notification(method, _with_subscription(params, meta), about=id)

    def changes(self, method: str) -> int:
        """How often the list that a request asks for has changed by now."""
        return self._changes.get(LISTS.get(method, ""), 0)

    def seen(self, method: str, changes: int) -> None:
        """The client has listed: what changed before that is no news to it.

        Args:
            changes: of the list, when it asked; what has changed since may not be in the answer, but for the first one of all, which waits
                for what it tells.
        """
        if self.has_answered and self.changes(method) != changes:
            return
        if self._news and (unseen := self._news.get(news := LISTS.get(method, ""))):
            unseen.discard(method)
            if not unseen:
                del self._news[news]

    def answered(self) -> None:
        """The client has its first reply."""
        self.has_answered = True
        if self._news:
            self._tell_in(TOLD_AFTER_S)

    def list_changed(self, method: str) -> None:
        """A list has changed; `method` is the notification that says so."""
        self._changes[method] = self._changes.get(method, 0) + 1
        if self.is_legacy or self._open:
            self._news[method] = {lists for lists, news in LISTS.items() if news == method}
            self._tell_in(TOLD_AFTER_S)

    def updated(self, uri: str, params: Raw) -> None:
        """A resource that this client subscribed to has changed.

        Args:
            uri: what the client subscribed to.
            params: of the notification, with the URI that the client knows.
        """
        if self._dispatcher.is_congested:
            self._updates[uri] = params  # of several the last one says it all
            self._tell_in(TOLD_AGAIN_AFTER_S)
        else:
            self._tell_update(uri, params)

    def task_changed(self, id: str, params: Raw) -> None:
        """A task that this client listens for has changed; not kept for one that does not read.

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
            return  # the reply brings us back
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
        """Returns whether the client wants to hear of it."""
        listens = [(meta, id) for wanted, meta, id in self._open.values() if method in wanted.methods]
        for meta, id in listens:
            self._dispatcher.send_notification(method, dump({"_meta": meta}), about=id)
        if self.is_legacy:
            self._dispatcher.send_notification(method)
        return self.is_legacy or bool(listens)


def _with_subscription(params: Raw, meta: Raw) -> Raw:
    """With the id of the client's stream in the place of the server's; what else stands in `_meta` stays."""
    members = opened(params)
    return closed({**members, "_meta": closed({**opened(members["_meta"]), **opened(meta)})})
