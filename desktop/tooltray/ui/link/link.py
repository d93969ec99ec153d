"""The link between the GUI thread and the engine's loop: verbs go out, news come back. The only module of ui that knows either. It holds no
rule and no state, and carries no more than the GUI can process."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from tooltray.foundation.confirm_widening import PERSON, Asker, set_asker, set_call
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import FOR_THE_WINDOW, ConfigChanged, EventBus, ServerChanged, ToolCallResult
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.foundation.verbs import Verb
from tooltray.ui.i18n import tr

NEWS_EVERY_S = 0.1  # faster than a person reads; a server that changes 10,000 times a second costs the GUI ten drawings
MOST_CALL_RESULTS = 200  # per delivery; a list on the screen shows fewer, and the whole history is kept by the engine


class EngineLink(QObject):
    """The link that carries calls of the engine's verbs to it, and its news to the GUI.

    Made and used in the GUI thread; `attach` and `detach` connect it to the engine, which runs in a loop of its own (in tests: in the same
    loop). It has to outlive that loop: a task in that loop may hold the last reference to it, and Qt does not bear a QObject that is
    destroyed in another thread. `news_arrived` carries a tuple of HubSnapshot and events in the order in which they were published: whole
    snapshots first and whenever settings changed, of each server's changes only the latest.
    """

    news_arrived = Signal(object)
    _announced = Signal()

    def __init__(self, *, news_every_s: float = NEWS_EVERY_S) -> None:
        super().__init__()
        self._news_every_s = news_every_s
        self._verbs: Mapping[str, Verb] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asker: Asker = PERSON
        self._ended: asyncio.Future[None] | None = None
        self._unsubscribe: Callable[[], object] = _nothing
        # what waits for the GUI; shared by both threads
        self._lock = threading.Lock()
        self._waiting: dict[object, object] = {}
        self._results: list[object] = []
        self._is_announced = False
        # of the engine's thread
        self._announced_at = 0.0
        self._is_fetching = self._has_to_fetch = False
        self._tasks = TaskKeeper()
        self._announced.connect(self._on_announced, Qt.ConnectionType.QueuedConnection)

    def attach(self, verbs: Mapping[str, Verb], bus: EventBus, loop: asyncio.AbstractEventLoop, asker: Asker = PERSON) -> None:
        """Connects to a running engine; the first message is a whole HubSnapshot.

        Args:
            verbs: the engine's, by name; called in `loop`.
            bus: the engine's event bus; used in `loop` only.
            loop: the engine's loop, running.
            asker: the user at the window, as the engine knows them.
        """
        self.detach()
        self._verbs, self._loop, self._asker = verbs, loop, asker
        self._ended = asyncio.get_running_loop().create_future()
        loop.call_soon_threadsafe(self._subscribe, bus)

    def detach(self) -> None:
        """Disconnects from the engine; waiting calls fail with an error. May be called twice, and after the engine's loop has ended."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._on_detached)
        self._verbs = self._loop = None
        with self._lock:
            self._waiting.clear()
            self._results.clear()
            self._is_announced = False

    async def run(self, verb: str, /, *args: object, **kwargs: object) -> Any:
        """Calls a verb of the engine in the engine's loop and returns its result.

        Args:
            verb: its name; the arguments after it are the verb's own.

        Raises:
            TooltrayError: what the verb raised, or no engine runs, or the engine ended during the call.
        """
        if self._verbs is None or self._loop is None or self._ended is None:
            raise _no_hub()
        ended = self._ended
        work = _call(self._asker, self._verbs, verb, args, kwargs)
        try:
            call = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))
        except RuntimeError:  # the loop has just been closed
            work.close()
            raise _no_hub() from None
        waited_for: set[asyncio.Future[Any]] = {call, ended}
        try:
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not call.done():
                call.cancel()
            elif not call.cancelled():
                call.exception()  # it counts as seen, also if the caller was cancelled at the same time
        if not call.done() or (call.cancelled() and ended.done()):
            raise _no_hub()
        return call.result()

    # in the engine's thread

    def _subscribe(self, bus: EventBus) -> None:
        ends = [bus.subscribe_all(self._on_event), *(bus.subscribe(kind, self._on_event) for kind in FOR_THE_WINDOW)]
        self._unsubscribe = lambda: [end() for end in ends]
        self._fetch_snapshot()

    def _on_detached(self) -> None:
        self._unsubscribe()
        self._unsubscribe = _nothing

    def _on_event(self, event: object) -> None:
        kind = type(event)
        with self._lock:
            if kind is ToolCallResult:
                self._results.append(event)
                if len(self._results) > 2 * MOST_CALL_RESULTS:
                    del self._results[:-MOST_CALL_RESULTS]
            else:
                key = event.server.name if isinstance(event, ServerChanged) else object()
                self._waiting.pop(key, None)  # so that the latest stands where it belongs in the order
                self._waiting[key] = event
        if kind is ConfigChanged:
            self._fetch_snapshot()
        self._announce()

    def _fetch_snapshot(self) -> None:
        """Adds a whole snapshot to the stream; later events follow it."""
        if self._is_fetching:
            self._has_to_fetch = True
            return
        self._is_fetching = self._has_to_fetch = True
        self._tasks.spawn(self._put_snapshots(), name="snapshot for the GUI")

    async def _put_snapshots(self) -> None:
        try:
            while self._has_to_fetch and (verbs := self._verbs) is not None:
                self._has_to_fetch = False
                snapshot = await verbs["get_snapshot"]()
                with self._lock:  # first in the stream: an event that waits may be older, but then a newer one of its server waits too
                    self._waiting.pop(HubSnapshot, None)
                    self._waiting = {HubSnapshot: snapshot, **self._waiting}
                self._announce()
        finally:
            self._is_fetching = False

    def _announce(self) -> None:
        """Notifies the GUI that news waits, once per delivery."""
        with self._lock:
            if self._is_announced:
                return
            self._is_announced = True
        loop = asyncio.get_running_loop()
        wait_s = self._announced_at + self._news_every_s - loop.time()
        if wait_s <= 0:
            self._emit_announced()
        else:
            loop.call_later(wait_s, self._emit_announced)

    def _emit_announced(self) -> None:
        self._announced_at = asyncio.get_running_loop().time()
        self._announced.emit()

    # in the GUI thread

    def _on_announced(self) -> None:
        with self._lock:
            news = (*self._results[-MOST_CALL_RESULTS:], *self._waiting.values())
            self._waiting.clear()
            self._results.clear()
            self._is_announced = False
        if news and self._verbs is not None:
            self.news_arrived.emit(news)


async def _call(person: Asker, verbs: Mapping[str, Verb], verb: str, args: Iterable[object], kwargs: Mapping[str, object]) -> Any:
    """Calls a verb on behalf of the user at the window, who has seen what it changes before a verb that widens something is called."""
    set_asker(person)
    set_call(verb)
    return await verbs[verb](*args, **kwargs)


def _nothing() -> None: ...


def _no_hub() -> TooltrayError:
    return TooltrayError(tr("Tooltray is not running"), "", tr("Wait until it has started, or start Tooltray again."))
