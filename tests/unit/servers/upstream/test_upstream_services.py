"""upstream_services.py"""

import asyncio

from tests.fakes.heard import Record

from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.upstream.upstream_services import HELD_FOR_S, PLACES, StartGate


class Starting:
    """Servers that pass a gate and stay in it until they are let go."""

    def __init__(self, gate: StartGate) -> None:
        self._gate, self._keeper = gate, TaskKeeper()
        self.inside: Record[str] = Record()
        self.let_go: dict[str, asyncio.Event] = {}

    def begin(self, name: str) -> "asyncio.Task[None]":
        self.let_go[name] = asyncio.Event()
        return self._keeper.spawn(self._pass(name), name=name)

    async def _pass(self, name: str) -> None:
        async with self._gate.passage():
            self.inside.add(name)
            await self.let_go[name].wait()

    async def close(self) -> None:
        await self._keeper.close()


async def test_no_more_than_the_places_are_inside_at_once_and_a_place_is_taken_as_it_gets_free() -> None:
    starting = Starting(StartGate(places=2))
    for name in "abc":
        starting.begin(name)
    await starting.inside.wait(count=2)
    await asyncio.sleep(0)
    assert starting.inside.all == ["a", "b"]
    starting.let_go["a"].set()
    await starting.inside.wait(lambda name: name == "c")
    await starting.close()


async def test_a_place_that_is_held_for_long_is_given_to_the_next_and_only_once() -> None:
    starting = Starting(StartGate(places=1, held_for_s=0.3))
    slow, quick = starting.begin("slow"), starting.begin("quick")
    await starting.inside.wait(lambda name: name == "quick")
    assert not slow.done()
    for name, passing in (("slow", slow), ("quick", quick)):
        starting.let_go[name].set()
        await passing
    starting.begin("x")
    starting.begin("y")
    for _ in range(10):
        await asyncio.sleep(0)
    assert starting.inside.all == ["slow", "quick", "x"]
    await starting.close()


async def test_who_gives_up_inside_or_in_front_of_the_gate_leaves_its_place() -> None:
    starting = Starting(StartGate(places=1))
    inside, waiting = starting.begin("a"), starting.begin("b")
    await starting.inside.wait()
    waiting.cancel()
    inside.cancel()
    starting.begin("c")
    await starting.inside.wait(lambda name: name == "c")
    assert starting.inside.all == ["a", "c"]
    await starting.close()


def test_a_hub_starts_several_servers_at_once_and_waits_for_none_for_long() -> None:
    assert PLACES == 8
    assert HELD_FOR_S == 3.0
