"""The link carries verbs to the engine's thread and news back, no more than the GUI can take, and nothing hangs when the engine goes."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt, QThread
from PySide6.QtWidgets import QApplication
from tests.fakes.desk import until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server

from tooltray.foundation.confirm_widening import confirm_widening
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ServerChanged, ServerRemoved, ServerStarted, ToolCallResult
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.tools import MCPToolResponse
from tooltray.ui.link.link import MOST_CALL_RESULTS, EngineLink

RESPONSE = MCPToolResponse(tool="t", server="a", client="c", outcome="ok", duration_s=0.0, argument_bytes=0, result_bytes=0)


class EngineThread:
    """A plain asyncio loop in a thread, and a fake presenter that belongs to it."""

    def __init__(self) -> None:
        self.presenter = FakePresenter([server("a"), server("b")])
        self.loop = asyncio.new_event_loop()
        self.links: list[EngineLink] = []  # a link outlives the loop that it was attached to
        self._thread = threading.Thread(target=self._run, name="engine")
        self._thread.start()

    def _run(self) -> None:
        self.loop.run_forever()
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def do(self, work: Callable[..., object], *arguments: object) -> None:
        self.loop.call_soon_threadsafe(work, *arguments)

    def end(self) -> None:
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
        self.links.clear()


@pytest.fixture
async def engine(app: QApplication) -> AsyncIterator[EngineThread]:
    engine = EngineThread()
    yield engine
    engine.end()


class Listener:
    """What came, delivery by delivery, and in which thread."""

    def __init__(self, link: EngineLink) -> None:
        self.deliveries: list[tuple[object, ...]] = []
        self.threads: set[object] = set()
        link.news_arrived.connect(self._on_news)

    def _on_news(self, news: tuple[object, ...]) -> None:
        self.deliveries.append(news)
        self.threads.add(threading.current_thread())

    @property
    def news(self) -> list[object]:
        return [item for delivery in self.deliveries for item in delivery]

    def of(self, kind: type) -> list[Any]:
        return [item for item in self.news if isinstance(item, kind)]


@pytest.fixture
async def link(engine: EngineThread) -> AsyncIterator[EngineLink]:
    link = EngineLink(news_every_s=0.0)
    yield link
    link.detach()


def attach(link: EngineLink, engine: EngineThread) -> Listener:
    listener = Listener(link)
    engine.links.append(link)
    link.attach(engine.presenter.verbs, engine.presenter.bus, engine.loop)
    return listener


async def test_the_first_news_is_the_whole_hub(link: EngineLink, engine: EngineThread) -> None:
    listener = attach(link, engine)
    await until(lambda: listener.news)
    assert listener.news[0] == engine.presenter.snapshot
    assert listener.threads == {threading.main_thread()}


async def test_a_verb_runs_in_the_engine_s_thread_and_its_result_comes_back(link: EngineLink, engine: EngineThread) -> None:
    attach(link, engine)

    async def where() -> threading.Thread:
        return threading.current_thread()

    engine.presenter.verbs["where"] = where
    assert (await link.run("where")).name == "engine"
    assert QThread.currentThread() is not None


async def test_what_the_window_asks_for_is_confirmed_by_the_person_at_it(link: EngineLink, engine: EngineThread) -> None:
    attach(link, engine)
    engine.presenter.verbs["widen"] = confirm_widening
    await link.run("widen", "This")


async def test_what_a_verb_raises_comes_back(link: EngineLink, engine: EngineThread) -> None:
    attach(link, engine)
    engine.presenter.failures["start_server"] = TooltrayError("no such command")
    with pytest.raises(TooltrayError, match="no such command"):
        await link.run("start_server", "a")


async def test_without_an_engine_a_verb_says_so(link: EngineLink) -> None:
    with pytest.raises(TooltrayError, match="not running"):
        await link.run("get_snapshot")


async def test_a_verb_that_waits_when_the_engine_goes_fails_instead_of_hanging(link: EngineLink, engine: EngineThread) -> None:
    attach(link, engine)
    begun = threading.Event()

    async def forever() -> None:
        begun.set()
        await asyncio.get_running_loop().create_future()

    engine.presenter.verbs["wait"] = forever
    waiting = asyncio.ensure_future(link.run("wait"))
    await until(begun.is_set)
    link.detach()
    with pytest.raises(TooltrayError, match="not running"):
        await waiting


async def test_a_verb_that_nobody_waits_for_any_more_is_cancelled_in_the_engine(link: EngineLink, engine: EngineThread) -> None:
    attach(link, engine)
    begun, cancelled = threading.Event(), threading.Event()

    async def forever() -> None:
        begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()

    engine.presenter.verbs["wait"] = forever
    waiting = asyncio.ensure_future(link.run("wait"))
    await until(begun.is_set)
    waiting.cancel()
    await until(cancelled.is_set)


async def test_a_loop_that_has_just_been_closed_is_no_hub(link: EngineLink, engine: EngineThread) -> None:
    attach(link, engine)
    engine.end()
    with pytest.raises(TooltrayError, match="not running"):
        await link.run("get_snapshot")


async def test_of_ten_thousand_changes_the_gui_sees_few_and_the_last(engine: EngineThread) -> None:
    link = EngineLink(news_every_s=0.05)
    listener = attach(link, engine)
    await until(lambda: listener.news)

    def flood() -> None:
        for count in range(10_000):
            engine.presenter.bus.publish(ServerChanged(server("a", calls_today=count)))

    engine.do(flood)
    await until(lambda: any(change.server.calls_today == 9_999 for change in listener.of(ServerChanged)))
    assert len(listener.of(ServerChanged)) < 100
    link.detach()


async def test_changes_of_one_server_do_not_hide_those_of_another(link: EngineLink, engine: EngineThread) -> None:
    listener = attach(link, engine)
    await until(lambda: listener.news)

    def change_both() -> None:
        for count in range(100):
            for name in "ab":
                engine.presenter.bus.publish(ServerChanged(server(name, calls_today=count)))

    engine.do(change_both)
    await until(lambda: {change.server.name for change in listener.of(ServerChanged) if change.server.calls_today == 99} == {"a", "b"})


async def test_news_keep_their_order(link: EngineLink, engine: EngineThread) -> None:
    listener = attach(link, engine)
    await until(lambda: listener.news)
    changed = ServerChanged(server("a", ServerState.STARTING))

    def tell() -> None:
        for event in (changed, ServerStarted("a"), ServerRemoved("a"), changed, ServerStarted("b")):
            engine.presenter.bus.publish(event)

    engine.do(tell)
    await until(lambda: ServerStarted("b") in listener.news)
    tail = [item for item in listener.news if not isinstance(item, HubSnapshot)]
    assert tail.index(ServerRemoved("a")) < len(tail) - 1 - tail[::-1].index(changed) < tail.index(ServerStarted("b"))


async def test_a_flood_of_calls_is_cut_to_what_a_list_can_show(link: EngineLink, engine: EngineThread) -> None:
    listener = attach(link, engine)
    await until(lambda: listener.news)

    def flood() -> None:
        for _ in range(10_000):
            engine.presenter.bus.publish(ToolCallResult(RESPONSE))
        engine.presenter.bus.publish(ServerStarted("done"))

    engine.do(flood)
    await until(lambda: ServerStarted("done") in listener.news)
    assert all(len(delivery) <= MOST_CALL_RESULTS + 1 for delivery in listener.deliveries)


async def test_a_busy_gui_finds_one_delivery_and_not_a_queue_of_them(link: EngineLink, engine: EngineThread) -> None:
    listener = attach(link, engine)
    await until(lambda: listener.news)
    before = len(listener.deliveries)
    wakeups: list[bool] = []
    link._announced.connect(lambda: wakeups.append(True), Qt.ConnectionType.QueuedConnection)
    finished = threading.Event()

    async def flood() -> None:
        for count in range(200):
            engine.presenter.bus.publish(ServerChanged(server("a", calls_today=count)))
            await asyncio.sleep(0)
        finished.set()

    engine.do(lambda: engine.loop.create_task(flood()))
    finished.wait(5)  # the GUI thread does nothing else meanwhile
    await until(lambda: listener.of(ServerChanged) and listener.of(ServerChanged)[-1].server.calls_today == 199)
    assert len(listener.deliveries) - before <= 2
    assert len(wakeups) <= 2


async def test_changed_settings_bring_a_whole_snapshot(link: EngineLink, engine: EngineThread) -> None:
    listener = attach(link, engine)
    await until(lambda: listener.news)
    await link.run("remove_mcp_server", "a")
    await until(lambda: [each for each in listener.of(HubSnapshot) if [s.name for s in each.servers] == ["b", "hub"]])


async def test_after_detaching_nothing_comes_any_more(link: EngineLink, engine: EngineThread) -> None:
    listener = attach(link, engine)
    await until(lambda: listener.news)
    link.detach()
    listener.deliveries.clear()
    told = threading.Event()
    engine.do(lambda: (engine.presenter.bus.publish(ServerStarted("late")), told.set()))
    await until(told.is_set)
    await asyncio.sleep(0)
    assert not listener.news


async def test_another_engine_can_be_attached_after_the_first(link: EngineLink, engine: EngineThread) -> None:
    attach(link, engine)
    link.detach()
    other = EngineThread()
    listener = attach(link, other)
    await until(lambda: listener.news)
    assert await link.run("get_mcp_default_servers") == []
    link.detach()
    other.end()
