"""subscriptions.py"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import Client, HubParts, entry, hub_parts, opened, settled
from tests.fakes.modern_subscriptions import LISTENED, acknowledging, listenable, wanted
from tests.fakes.project_hub import project_hub
from tests.fakes.scripted_server import ScriptedServer, error, never

from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.gateway.calls.subscriptions import Subscriptions
from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.session_state import SessionMoved
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient

SUBSCRIBE, UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"


class World:
    """A hub with the servers `old` (legacy), `new` (modern), `both`, and `own`, which is legacy and has a copy for each session."""

    def __init__(self, parts: HubParts) -> None:
        self.parts = parts
        self.old, self.new, self.both = (parts.programs[name] for name in ("old", "new", "both"))

    @property
    def subscriptions(self) -> Subscriptions:
        return self.parts.subscriptions

    def managed(self, name: str) -> ManagedServer:
        return self.parts.servers.get(name)

    def copy_of(self, name: str, era: Era = Era.LEGACY, session: Client | None = None) -> McpClient:
        client = self.managed(name).client_for(era, session)
        assert client
        return client

    async def subscribe(self, session: Client, uri: str, server: str = "old") -> Any:
        return opened(await self.subscriptions.subscribe(session, self.managed(server), uri))

    async def unsubscribe(self, session: Client, uri: str, server: str = "old") -> Any:
        return opened(await self.subscriptions.unsubscribe(session, self.managed(server), uri))

    def hearers(self, uri: str, server: str = "old", **options: Any) -> list[tuple[Any, str]]:
        return self.subscriptions.hearers(self.copy_of(server, **options), uri)

    def asked(self, server: str = "old") -> list[tuple[str, str]]:
        """What was asked of a server about subscriptions, in order."""
        asked = [each for each in self.parts.programs[server].asked.all if each.method in (SUBSCRIBE, UNSUBSCRIBE)]
        return [(each.method.removeprefix("resources/"), each.params["uri"]) for each in asked]

    async def done(self) -> None:
        """Waits until everything that was begun has been done, but for listens, which stay open, and the servers' owners."""
        async with asyncio.timeout(PATIENCE_S):
            while tasks := [each for each in asyncio.all_tasks() if each.get_name().startswith("subscriptions of")]:
                await asyncio.wait(tasks)


def legacy() -> ScriptedServer:
    server = ScriptedServer()
    server.handlers |= {SUBSCRIBE: lambda copy, params: {}, UNSUBSCRIBE: lambda copy, params: {}}
    return server


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    both = listenable(eras=("legacy", "modern"))
    both.handlers |= {SUBSCRIBE: lambda copy, params: {}, UNSUBSCRIBE: lambda copy, params: {}}
    programs = {"old": legacy(), "new": listenable(), "both": both, "own": legacy()}
    servers = {name: entry(name) for name in programs}
    servers["own"]["isolation"] = "session"
    async with hub_parts(tmp_path, servers=servers, programs=programs) as parts:
        yield World(parts)


async def test_the_first_who_subscribes_asks_the_server_and_the_last_who_leaves_withdraws(world: World) -> None:
    first, second = Client(), Client()
    assert await world.subscribe(first, "x:/1") == {"result": {}}
    assert await world.subscribe(second, "x:/1") == {"result": {}}
    assert await world.subscribe(second, "x:/1") == {"result": {}}
    assert await world.unsubscribe(first, "x:/1") == {"result": {}}
    assert world.asked() == [("subscribe", "x:/1")]
    assert await world.unsubscribe(second, "x:/1") == {"result": {}}
    assert world.asked() == [("subscribe", "x:/1"), ("unsubscribe", "x:/1")]


async def test_who_subscribes_together_asks_once(world: World) -> None:
    sessions = [Client() for _ in range(5)]
    replies = await asyncio.gather(*(world.subscribe(session, "x:/1") for session in sessions))
    assert replies == [{"result": {}}] * 5
    assert world.asked() == [("subscribe", "x:/1")]
    assert {session for session, _ in world.hearers("x:/1")} == set(sessions)


async def test_the_servers_error_is_the_clients_and_the_next_asks_again(world: World) -> None:
    world.old.handlers[SUBSCRIBE] = lambda copy, params: error(-32002, "Resource not found", {"uri": "x:/1"})
    client = Client()
    for _ in range(2):
        reply = await world.subscribe(client, "x:/1")
        assert reply == {"error": {"code": -32002, "message": "Resource not found", "data": {"uri": "x:/1"}}}
    assert len(world.asked()) == 2
    assert world.hearers("x:/1") == []


async def test_the_servers_reply_to_the_last_who_leaves_is_his(world: World) -> None:
    world.old.handlers[UNSUBSCRIBE] = lambda copy, params: error(-32603, "no")
    client = Client()
    await world.subscribe(client, "x:/1")
    assert (await world.unsubscribe(client, "x:/1"))["error"]["message"] == "no"
    assert world.hearers("x:/1") == []


async def test_a_server_that_cannot_be_started_is_an_error(world: World) -> None:
    world.old.fails_to_open = OSError("out of files")
    await world.parts.servers.stop("old")
    assert "server 'old' is stopped" in (await world.subscribe(Client(), "x:/1"))["error"]["message"]


async def test_what_nobody_subscribed_to_is_left_in_peace(world: World) -> None:
    client = Client()
    assert await world.unsubscribe(client, "x:/1") == {"result": {}}  # it does not even run
    await world.subscribe(client, "x:/1")
    assert await world.unsubscribe(client, "x:/2") == {"result": {}}
    assert await world.unsubscribe(Client(), "x:/1") == {"result": {}}
    assert world.asked() == [("subscribe", "x:/1")]


async def test_who_subscribes_while_the_last_one_leaves_is_subscribed_in_the_end(world: World) -> None:
    first, second = Client(), Client()
    await world.subscribe(first, "x:/1")
    go_on = world.old.hold(UNSUBSCRIBE)
    leaving = world.parts.keeper.spawn(world.unsubscribe(first, "x:/1"), name="leave")
    await world.old.request(UNSUBSCRIBE)
    coming = world.parts.keeper.spawn(world.subscribe(second, "x:/1"), name="come")
    await settled()
    go_on.set()
    await asyncio.gather(leaving, coming)
    assert [what for what, _ in world.asked()] == ["subscribe", "unsubscribe", "subscribe"]
    assert world.hearers("x:/1") == [(second, "x:/1")]


async def test_a_client_that_cancels_its_subscription_hears_nothing(world: World) -> None:
    world.old.handlers[SUBSCRIBE] = never
    client = Client()
    subscribing = world.parts.keeper.spawn(world.subscribe(client, "x:/1"), name="subscribe")
    await world.old.request(SUBSCRIBE)
    subscribing.cancel()
    await world.old.cancelled.wait()
    assert world.hearers("x:/1") == []


async def test_the_clients_subscriptions_end_with_it(world: World) -> None:
    first, second = Client(), Client()
    for uri in ("x:/1", "x:/2"):
        await world.subscribe(first, uri)
    await world.subscribe(second, "x:/2")
    world.subscriptions.end(first)
    world.subscriptions.end(Client())
    await world.done()
    assert world.asked()[2:] == [("unsubscribe", "x:/1")]
    assert world.hearers("x:/2") == [(second, "x:/2")]


async def test_a_copy_that_starts_again_is_asked_again(world: World) -> None:
    first, second = Client(), Client()
    await world.subscribe(first, "x:/1")
    await world.subscribe(second, "x:/2")
    world.old.copy.die()
    await world.old.request(SUBSCRIBE, count=4)
    await world.done()
    assert world.asked()[2:] == [("subscribe", "x:/1"), ("subscribe", "x:/2")]
    await world.unsubscribe(first, "x:/1")
    assert world.asked()[-1] == ("unsubscribe", "x:/1")


async def test_a_copy_that_no_longer_knows_a_resource_is_asked_for_the_others(world: World) -> None:
    client = Client()
    for uri in ("x:/1", "x:/2"):
        await world.subscribe(client, uri)
    world.old.handlers[SUBSCRIBE] = lambda copy, params: error(-32002, "gone \u00e9") if params["uri"] == "x:/1" else {}
    world.old.copy.die()
    await world.old.request(SUBSCRIBE, count=4)
    await world.done()
    await world.unsubscribe(client, "x:/1")
    await world.unsubscribe(client, "x:/2")
    assert world.asked()[4:] == [("unsubscribe", "x:/2")]


@pytest.mark.parametrize(
    ("subscribed", "updated", "heard"),
    [
        ({"file:///a"}, "file:///a", "file:///a"),
        ({"file:///a", "file:///a/b"}, "file:///a/b", "file:///a/b"),
        ({"file:///a", "file:///a/b"}, "file:///a/b/c", "file:///a/b"),
        ({"file:///a/"}, "file:///a/b", "file:///a/"),
        ({"file:///a"}, "file:///ab", None),
        ({"file:///a/b"}, "file:///a", None),
    ],
)
async def test_an_update_concerns_who_asked_for_it_or_for_what_it_is_a_part_of(
    world: World, subscribed: set[str], updated: str, heard: str | None
) -> None:
    client = Client()
    for uri in subscribed:
        await world.subscribe(client, uri)
    assert world.hearers(updated) == ([(client, heard)] if heard else [])


async def test_what_one_server_updates_is_not_told_to_who_asked_another(world: World) -> None:
    client = Client()
    await world.subscribe(client, "x:/1", "both")
    await world.subscribe(Client(), "x:/1", "old")
    assert world.hearers("x:/1", "both") == [(client, "x:/1")]
    assert world.hearers("x:/1", "both", era=Era.MODERN) == []


async def test_nobody_hears_of_a_server_that_was_removed(world: World) -> None:
    await world.subscribe(Client(), "x:/1")
    copy = world.copy_of("old")
    await world.parts.conf.remove_server("old")
    assert world.subscriptions.hearers(copy, "x:/1") == []


# modern clients and servers


async def test_what_a_modern_client_listens_for_starts_its_server_and_is_part_of_our_own_listen(world: World) -> None:
    client = Client()
    world.subscriptions.set_listened(client, b"1", {"new": frozenset({"x:/1", "x:/2"})})
    await world.new.asked.until(lambda: "x:/1" in str(wanted(world.new)))
    await world.done()
    assert wanted(world.new)[-1]["resourceSubscriptions"] == ["x:/1", "x:/2"]
    assert world.hearers("x:/2", "new", era=Era.MODERN) == [(client, "x:/2")]
    world.subscriptions.set_listened(client, b"1", {})
    await world.done()
    assert "resourceSubscriptions" not in wanted(world.new)[-1]
    assert world.hearers("x:/2", "new", era=Era.MODERN) == []


async def test_two_listens_of_one_client_are_counted(world: World) -> None:
    client = Client()
    world.subscriptions.set_listened(client, b"1", {"old": frozenset({"x:/1"})})
    world.subscriptions.set_listened(client, b"2", {"old": frozenset({"x:/1", "x:/2"})})
    await world.done()
    world.subscriptions.set_listened(client, b"1", {})
    world.subscriptions.set_listened(client, b"unknown", {})
    await world.done()
    assert sorted(world.asked()) == [("subscribe", "x:/1"), ("subscribe", "x:/2")]
    world.subscriptions.set_listened(client, b"2", {})
    await world.done()
    assert sorted(world.asked())[2:] == [("unsubscribe", "x:/1"), ("unsubscribe", "x:/2")]


async def test_a_listen_for_a_server_that_is_stopped_counts_from_its_start(world: World) -> None:
    await world.parts.servers.stop("old")
    client = Client()
    world.subscriptions.set_listened(client, b"1", {"old": frozenset({"x:/1"}), "there is none": frozenset({"x:/2"})})
    await world.done()
    assert world.asked() == []
    await world.parts.servers.start("old")
    await world.old.request(SUBSCRIBE)
    await world.done()
    assert world.asked() == [("subscribe", "x:/1")]


async def test_a_listen_that_ends_before_its_server_has_started_asks_nothing(world: World) -> None:
    client = Client()
    world.subscriptions.set_listened(client, b"1", {"old": frozenset({"x:/1"})})
    world.subscriptions.set_listened(client, b"1", {})
    await world.done()
    assert world.asked() == []
    assert world.old.copies.all == []


async def test_a_legacy_client_subscribes_at_a_server_that_is_modern_only(world: World) -> None:
    client, other = Client(), Client()
    assert await world.subscribe(client, "x:/1", "new") == {"result": {}}
    world.subscriptions.set_listened(other, b"1", {"new": frozenset({"x:/1"})})
    await world.done()
    assert world.hearers("x:/1", "new") == [(client, "x:/1"), (other, "x:/1")]
    assert await world.unsubscribe(client, "x:/1", "new") == {"result": {}}
    assert wanted(world.new)[-1]["resourceSubscriptions"] == ["x:/1"]
    world.subscriptions.end(other)
    await world.done()
    assert "resourceSubscriptions" not in wanted(world.new)[-1]


async def test_what_a_modern_server_does_not_honor_is_the_clients_error(world: World) -> None:
    world.new.handlers[LISTENED] = acknowledging(lambda wanted: {})
    assert "does not send updates" in (await world.subscribe(Client(), "x:/1", "new"))["error"]["message"]
    assert world.hearers("x:/1", "new") == []


async def test_a_server_of_both_eras_is_asked_in_each_clients_own_and_both_again_after_a_restart(world: World) -> None:
    old, new = Client(), Client()
    await world.subscribe(old, "x:/old", "both")
    world.subscriptions.set_listened(new, b"1", {"both": frozenset({"x:/new"})})
    await world.done()
    await world.parts.servers.restart("both")
    await world.both.request(SUBSCRIBE, count=2)
    await world.both.asked.until(lambda: len([each for each in wanted(world.both) if "resourceSubscriptions" in each]) == 2)
    assert world.asked("both") == [("subscribe", "x:/old")] * 2
    assert wanted(world.both)[-1]["resourceSubscriptions"] == ["x:/new"]
    assert world.hearers("x:/old", "both") == [(old, "x:/old")]
    assert world.hearers("x:/new", "both", era=Era.MODERN) == [(new, "x:/new")]


async def test_a_client_with_a_copy_of_its_own_subscribes_there(world: World) -> None:
    info = dump({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
    first, second = Client(introduction=info), Client(introduction=info)
    await world.subscribe(first, "x:/1", "own")
    await world.subscribe(second, "x:/1", "own")
    assert world.asked("own") == [("subscribe", "x:/1")] * 2
    assert world.hearers("x:/1", "own", session=first) == [(first, "x:/1")]
    first_copy = next(each.copy for each in world.parts.programs["own"].asked.all if each.method == SUBSCRIBE)
    first_copy.die()
    await world.parts.programs["own"].request(SUBSCRIBE, count=3)
    await world.done()
    assert world.hearers("x:/1", "own", session=second) == [(second, "x:/1")]
    await world.parts.servers.end_session(first)
    await world.parts.servers.end_session(second)


async def test_a_client_that_moves_to_another_project_is_subscribed_there_and_no_longer_where_it_was(tmp_path: Path) -> None:
    async with project_hub(tmp_path, program=legacy()) as hub:
        client, two = await hub.session(hub.folder("one")), hub.folder("two")
        await hub.parts.subscriptions.subscribe(client, hub.server, "x:/1")
        client.state.projects["folder"] = SessionProject(two, "two", "folder")
        hub.parts.bus.publish(SessionMoved(client.state))
        left, came = await hub.program.request(UNSUBSCRIBE), await hub.program.request(SUBSCRIBE, count=2)
        assert [two in each.copy.launch.args for each in (left, came)] == [False, True]
