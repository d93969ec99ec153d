"""Which message may leave when."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.fakes.fake_clock import in_fake_time

from tooltray.tasks import TaskKeeper
from tooltray.transports.http.post_order import INITIALIZED, WAIT_S, PostOrder


class Messages:
    """Messages that arrive when the test lets them."""

    def __init__(self) -> None:
        self.left: list[str] = []
        self.may_arrive = asyncio.Event()
        self.keeper = TaskKeeper()
        self.order = PostOrder(self.keeper.spawn)

    def message(self, name: str) -> Callable[[], Awaitable[None]]:
        async def send() -> None:
            self.left.append(name)
            await self.may_arrive.wait()

        return send

    def notify(self, name: str) -> None:
        self.order.notify(name, self.message(name))

    def start(self, name: str) -> asyncio.Task[None]:
        return self.order.start(name, self.message(name))


async def a_moment() -> None:
    await asyncio.sleep(0.1)


@in_fake_time
async def test_requests_leave_together_before_and_after_the_opening() -> None:
    messages = Messages()
    messages.start("first")
    messages.start("second")
    await a_moment()
    assert messages.left == ["first", "second"]
    await messages.keeper.close()


@in_fake_time
async def test_nothing_leaves_before_the_opening_has_arrived() -> None:
    messages = Messages()
    messages.notify(INITIALIZED)
    messages.start("request")
    messages.notify("notification")
    await a_moment()
    assert messages.left == [INITIALIZED]
    messages.may_arrive.set()
    await a_moment()
    assert sorted(messages.left) == sorted([INITIALIZED, "request", "notification"])


@in_fake_time
async def test_a_server_that_never_takes_the_opening_is_not_waited_for_for_ever() -> None:
    messages = Messages()
    messages.notify(INITIALIZED)
    messages.start("request")
    await asyncio.sleep(WAIT_S + 1)
    assert messages.left == [INITIALIZED, "request"]
    await messages.keeper.close()


@in_fake_time
async def test_notifications_leave_one_after_the_other_and_hold_up_no_request() -> None:
    messages = Messages()
    messages.notify("first")
    messages.notify("second")
    messages.start("request")
    await a_moment()
    assert messages.left == ["first", "request"]
    messages.may_arrive.set()
    await a_moment()
    assert messages.left == ["first", "request", "second"]


@in_fake_time
async def test_what_is_cancelled_before_its_turn_never_leaves() -> None:
    messages = Messages()
    messages.notify(INITIALIZED)
    messages.start("request").cancel()
    messages.may_arrive.set()
    await a_moment()
    assert messages.left == [INITIALIZED]
