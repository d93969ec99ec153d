"""What happened, in order, to wait on: a test waits for the thing itself and never for some time to pass."""

import asyncio
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from tooltray.foundation.events import EventBus, ServerChanged

PATIENCE_S = 20.0  # far beyond what anything here takes; a test that waits so long fails
T = TypeVar("T")


class Record(Generic[T]):
    """A list that grows. Belongs to one event loop."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def add(self, item: T) -> None:
        self.all.append(item)
        self.look()

    def look(self) -> None:
        """Lets go whoever has seen enough."""
        for is_enough, waiter in self._waiting:
            if not waiter.done() and is_enough():
                waiter.set_result(None)

    async def until(self, is_enough: Callable[[], bool]) -> None:
        """Waits until something is so; it is looked at whenever something is added."""
        if is_enough():
            return
        entry = (is_enough, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await entry[1]
        finally:
            self._waiting.remove(entry)

    async def wait(self, is_it: Callable[[T], bool] = lambda item: True, *, count: int = 1) -> T:
        """The item that is wanted, for the `count`-th time."""
        await self.until(lambda: sum(map(is_it, self.all)) >= count)
        return [item for item in self.all if is_it(item)][count - 1]


class Heard(Record[Any]):
    """Every event of a bus."""

    def __init__(self, bus: EventBus) -> None:
        super().__init__()
        bus.subscribe_all(self.add)

    def of(self, *kinds: type) -> list[Any]:
        """Those of some kinds, in their order."""
        return [event for event in self.all if isinstance(event, kinds)]

    async def event(self, kind: type, *, count: int = 1, **fields: Any) -> Any:
        """The event with these fields, for the `count`-th time."""
        wanted = fields.items()
        return await self.wait(
            lambda event: type(event) is kind and all(getattr(event, key) == value for key, value in wanted), count=count
        )

    async def state(self, server: str, state: Any, *, count: int = 1) -> None:
        """Waits until a card would have shown a state, for the `count`-th time."""
        await self.wait(
            lambda event: isinstance(event, ServerChanged) and (event.server.name, event.server.state) == (server, state), count=count
        )
