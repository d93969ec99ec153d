"""server_starts.py: what starts without anybody asking."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tooltray.foundation.snapshots.servers import ServerState
from tooltray.sources.entries.server_starts import ServerStarts


class Hub:
    """Doubles of what decides; `done` is what was done, in order."""

    def __init__(self, *servers: "Server", is_enabled: bool = True, signed_in: str = "") -> None:
        self.done: list[Any] = []
        self.tasks: list[asyncio.Future[None]] = []
        self._servers = servers
        for server in servers:
            server.hub = self
        self.starts = ServerStarts(
            config=SimpleNamespace(settings=SimpleNamespace(mcp_enabled=is_enabled, secrets=SimpleNamespace(backend="memory"))),
            secrets=SimpleNamespace(use=lambda backend: self.done.append(f"use {backend}")),
            servers=self,
            tools=SimpleNamespace(list_unknown_servers=lambda: self.done.append("list")),
            registries=SimpleNamespace(start=lambda: self.done.append("measure")),
            sign_ins=SimpleNamespace(is_signed_in=lambda name: name == signed_in),
            spawn=lambda work, name: self.tasks.append(asyncio.ensure_future(work)),
        )

    def __iter__(self) -> Iterator["Server"]:
        return iter(self._servers)

    def find(self, name: str) -> "Server | None":
        return next((server for server in self._servers if server.name == name), None)

    def start_defaults(self, servers: Any = "all") -> None:
        self.done.append(("defaults", servers))


class Server:
    hub: Hub

    def __init__(self, name: str, state: ServerState = ServerState.ERROR, *, needs_secrets: bool = False) -> None:
        self.name, self.state, self.needs_secrets = name, state, needs_secrets
        self.status, self.end = self, asyncio.Event()

    @property
    def is_busy(self) -> bool:
        return self.state is ServerState.STARTING

    async def settled(self) -> None:
        await self.end.wait()

    def start(self) -> None:
        self.hub.done.append(f"start {self.name}")


async def test_with_the_hub_registries_are_measured_and_servers_started_and_listed() -> None:
    hub = Hub()
    await hub.starts.start_all()
    assert hub.done == ["measure", ("defaults", "all"), "list"]


async def test_a_paused_hub_starts_no_server() -> None:
    hub = Hub(is_enabled=False)
    await hub.starts.start_all()
    assert hub.done == ["measure"]


def test_of_new_servers_those_that_start_with_the_hub_are_started_and_all_are_listed_once() -> None:
    hub = Hub()
    hub.starts.start_new(["a"])
    assert hub.done == [("defaults", ["a"]), "list"]


@pytest.mark.parametrize("state", [ServerState.RUNNING, ServerState.STOPPED])
def test_only_what_gave_up_for_want_of_a_secret_gets_another_chance(state: ServerState) -> None:
    hub = Hub(
        Server("lacked", needs_secrets=True), Server("signed"), Server("broken"), Server("s", state, needs_secrets=True), signed_in="signed"
    )
    hub.starts.retry_failed()
    assert hub.done == ["start lacked", "start signed"]


@pytest.mark.parametrize(
    ("state", "is_there", "expected"),
    [(ServerState.ERROR, True, ["start s"]), (ServerState.RUNNING, True, []), (ServerState.ERROR, False, [])],
)
async def test_what_is_starting_without_the_secret_gets_another_chance_when_it_gives_up(
    state: ServerState, is_there: bool, expected: list[str]
) -> None:
    server = Server("s", ServerState.STARTING, needs_secrets=True)
    hub = Hub(server)
    hub.starts.retry_failed()
    await asyncio.sleep(0)
    assert hub.done == []
    server.state = state
    if not is_there:
        hub.find = lambda name: Server(name)  # type: ignore[method-assign]
    server.end.set()
    await asyncio.gather(*hub.tasks)
    assert hub.done == expected


def test_another_place_for_secrets_is_used_before_servers_are_tried_again() -> None:
    hub = Hub(Server("lacked", needs_secrets=True))
    hub.starts.use_secret_backend()
    assert hub.done == ["use memory", "start lacked"]
