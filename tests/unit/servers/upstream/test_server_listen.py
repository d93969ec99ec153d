"""server_listen.py"""

import asyncio
import itertools
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import Record
from tests.fakes.hub_parts import loaded, settled
from tests.fakes.modern_subscriptions import LISTENED, acknowledge, acknowledging, listenable, wanted
from tests.fakes.scripted_server import ScriptedServer, error, never

from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.handshake import DISCOVER_TIMEOUT_S, GreetingPlan
from tooltray.servers.upstream.idle_stop import Usage
from tooltray.servers.upstream.managed_server import InstanceOpened, ServerNotified
from tooltray.servers.upstream.mcp_client import Audience, McpClient
from tooltray.servers.upstream.server_listen import LONGEST_PAUSE_S, ServerListen, ServerListens

LISTS = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
NEWS = [(f"notifications/{kind}/list_changed", None) for kind in ("tools", "prompts", "resources")]


class World:
    """A server that runs, and what listens to it.

    Attributes:
        told: what the hub takes for said by the server although it did not say it.
    """

    def __init__(self, server: ScriptedServer) -> None:
        self.server, self.keeper = server, TaskKeeper()
        self.told: Record[tuple[str, Any]] = Record()
        self._is_servers_own = False
        self.bus = EventBus()
        self.listens = ServerListens(spawn=self.keeper.spawn, bus=self.bus)
        self.bus.subscribe(ServerNotified, self._on_notified)

    async def __aenter__(self) -> "World":
        await self.start()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.stop()
        await self.keeper.close()

    async def start(self) -> None:
        self.client = McpClient(
            name="s",
            transport=self.server(name="s"),
            deadlines=DeadlineWheel(),
            plan=GreetingPlan(Era.MODERN, False, None, DISCOVER_TIMEOUT_S),
            audience=Audience(),
            usage=Usage(),
            on_notification=self._notified,
        )
        await self.client.open(timeout_s=10)
        managed: Any = None  # it is the instance that counts
        self.bus.publish(InstanceOpened(managed, self.client))

    def _notified(self, client: McpClient, method: str, params: Raw) -> None:
        self._is_servers_own = True
        self.bus.publish(ServerNotified(client, method, params))
        self._is_servers_own = False

    def _on_notified(self, event: ServerNotified) -> None:
        if not self._is_servers_own:
            self.told.add((event.method, loaded(event.params)))

    async def stop(self) -> None:
        await self.client.close("stopped")

    @property
    def listen(self) -> ServerListen:
        found = self.listens.of(self.client)
        assert found
        return found

    async def listened(self, count: int = 1) -> Any:
        return await self.server.request(LISTENED, count=count)

    async def add(self, uri: str) -> Any:
        reply = await self.listen.add(uri)
        return loaded(reply.error) or loaded(reply.result)


@in_fake_time
async def test_a_modern_server_is_listened_to_from_its_start() -> None:
    async with World(listenable()) as world:
        await world.listened()
        assert wanted(world.server) == [LISTS]


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"tools": {"listChanged": True}, "prompts": {"listChanged": False}, "resources": {}}, [{"toolsListChanged": True}]),
        ({"tools": {}, "prompts": 5}, []),
    ],
)
def test_only_what_its_capabilities_offer_is_asked_for(capabilities: Any, expected: Any) -> None:
    @in_fake_time
    async def run() -> None:
        async with World(listenable(capabilities=capabilities)) as world:
            await settled()
            assert wanted(world.server) == expected

    run()


@in_fake_time
async def test_of_the_tasks_that_it_listens_for_those_that_the_server_reports_are_told() -> None:
    server = listenable(capabilities={})
    server.handlers[LISTENED] = acknowledging(lambda wanted: wanted | {"taskIds": ["a", "x"]})
    async with World(server) as world:
        assert await world.listen.listen_to_tasks(frozenset("ab")) == {"a"}
        server.handlers[LISTENED] = lambda copy, params: error(-1, "no")
        assert await world.listen.listen_to_tasks(frozenset("b")) == frozenset()


@in_fake_time
async def test_a_legacy_server_is_not_listened_to() -> None:
    async with World(ScriptedServer()) as world:
        await settled()
        assert world.server.count(LISTENED) == 0
        assert world.listens.of(world.client) is None


@in_fake_time
async def test_a_copy_that_starts_again_is_listened_to_again() -> None:
    async with World(listenable()) as world:
        first = world.client
        await world.listened()
        world.server.copy.die()
        await world.start()
        await world.listened(2)
        assert wanted(world.server) == [LISTS, LISTS]
        assert world.listens.of(first) is None  # what has ended is forgotten


@in_fake_time
async def test_a_uri_is_added_and_the_old_listen_ends_only_when_the_new_one_is_acknowledged() -> None:
    async with World(listenable()) as world:
        first = await world.listened()
        world.server.handlers[LISTENED] = never
        adding = world.keeper.spawn(world.add("x:/1"), name="add")
        second = await world.listened(2)
        await settled()
        assert world.server.cancelled.all == []
        acknowledge(world.server.copy, second.params["notifications"], second.id)
        assert await adding == {}
        assert (await world.server.cancelled.wait()).id == first.id
        assert wanted(world.server)[-1] == {**LISTS, "resourceSubscriptions": ["x:/1"]}


@in_fake_time
async def test_what_belongs_to_another_listen_acknowledges_nothing() -> None:
    async with World(listenable()) as world:
        first = await world.listened()
        world.server.handlers[LISTENED] = never
        adding = world.keeper.spawn(world.add("x:/1"), name="add")
        second = await world.listened(2)
        for id in (first.id, "nobody's"):
            acknowledge(world.server.copy, {}, id)
        world.server.copy.notify("notifications/tools/list_changed")
        await settled()
        assert not adding.done()
        acknowledge(world.server.copy, {"resourceSubscriptions": ["x:/1"]}, second.id)
        assert await adding == {}
        acknowledge(world.server.copy, {}, second.id)  # a second time, which changes nothing


@in_fake_time
async def test_uris_that_come_while_a_listen_is_opened_go_into_one_more() -> None:
    async with World(listenable(capabilities={})) as world:
        assert await asyncio.gather(*(world.add(f"x:/{number}") for number in range(5))) == [{}] * 5
        assert wanted(world.server)[1:] == [{"resourceSubscriptions": [f"x:/{number}" for number in range(5)]}]


@in_fake_time
async def test_a_uri_is_taken_out_again_and_with_the_last_one_the_listen_ends() -> None:
    async with World(listenable(capabilities={})) as world:
        await world.add("x:/1")
        await world.add("x:/2")
        for uri in ("x:/1", "x:/2"):
            assert bytes((await world.listen.remove(uri)).result) == b"{}"
        await world.server.cancelled.wait(count=3)
        assert [each["resourceSubscriptions"] for each in wanted(world.server)] == [["x:/1"], ["x:/1", "x:/2"], ["x:/2"]]


@in_fake_time
async def test_a_uri_that_the_server_does_not_honor_is_an_error_and_asked_for_no_more() -> None:
    server = listenable(capabilities={})
    server.handlers[LISTENED] = acknowledging(
        lambda wanted: {"resourceSubscriptions": [u for u in wanted["resourceSubscriptions"] if u != "x:/no"]}
    )
    async with World(server) as world:
        assert (await world.add("x:/no"))["message"] == "server 's' does not send updates of x:/no"
        assert await world.add("x:/yes") == {}
        assert wanted(server)[-1] == {"resourceSubscriptions": ["x:/yes"]}


@in_fake_time
async def test_a_server_that_refuses_a_uri_is_listened_to_as_before() -> None:
    async with World(listenable()) as world:
        await world.listened()
        world.server.handlers[LISTENED] = lambda copy, params: error(-32602, "no such resource")
        assert (await world.add("x:/no"))["message"] == "no such resource"
        await asyncio.sleep(100)
        assert world.server.count(LISTENED) == 2
        assert world.server.cancelled.all == []
        assert world.told.all == []


@in_fake_time
async def test_a_server_that_forgets_to_acknowledge_is_believed_after_a_while() -> None:
    async with World(listenable(capabilities={})) as world:
        world.server.handlers[LISTENED] = never
        assert await world.add("x:/1") == {}


@in_fake_time
async def test_an_acknowledgement_that_cannot_be_read_is_one_all_the_same() -> None:
    server = listenable(capabilities={})
    server.handlers[LISTENED] = acknowledging(lambda wanted: 5)
    async with World(server) as world:
        assert await world.add("x:/1") == {}


def end_listen(server: ScriptedServer, *, back: int = 1) -> None:
    """The server ends a listen of its own accord; `back`: the how manieth from the last."""
    server.copy.say(b'{"jsonrpc":"2.0","id":%d,"result":{}}' % server.asked.all[-back].id)


@in_fake_time
async def test_a_listen_that_the_server_cancels_is_opened_again_too() -> None:
    async with World(listenable()) as world:
        ours = (await world.listened()).id
        world.server.copy.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}' % ours)
        await world.listened(count=2)
        assert wanted(world.server) == [LISTS, LISTS]
        await settled()
        assert all(told.method != "notifications/cancelled" for told in world.server.told.all)


@in_fake_time
async def test_a_listen_that_ends_is_opened_again_after_growing_pauses() -> None:
    clock, opened_at = asyncio.get_running_loop(), []

    async def end(copy: Any, params: Any) -> Any:
        opened_at.append(clock.time())
        return error(-1, "busy")

    async with World(listenable()) as world:
        await world.listened()
        world.server.handlers[LISTENED] = end
        end_listen(world.server)
        await asyncio.sleep(820)
        assert [round(later - earlier) for earlier, later in itertools.pairwise(opened_at)] == [
            2,
            4,
            8,
            16,
            32,
            64,
            128,
            256,
            LONGEST_PAUSE_S,
        ]
        assert world.told.all == []


@in_fake_time
async def test_what_may_have_changed_while_nobody_listened_is_told() -> None:
    async with World(listenable()) as world:
        await world.add("x:/1")
        end_listen(world.server)
        await world.told.wait(count=4)
        assert world.told.all == [*NEWS, ("notifications/resources/updated", {"uri": "x:/1"})]


@in_fake_time
async def test_what_was_not_listened_to_is_not_told() -> None:
    async with World(listenable(capabilities={"prompts": {"listChanged": True}})) as world:
        await world.listened()
        end_listen(world.server)
        await world.told.wait()
        assert world.told.all == NEWS[1:2]


@in_fake_time
async def test_a_listen_that_ends_while_another_is_being_opened_is_replaced_by_that_one() -> None:
    async with World(listenable()) as world:
        await world.listened()
        world.server.handlers[LISTENED] = never
        adding = world.keeper.spawn(world.add("x:/1"), name="add")
        second = await world.listened(2)
        end_listen(world.server, back=2)
        await settled()
        acknowledge(world.server.copy, second.params["notifications"], second.id)
        assert await adding == {}
        await asyncio.sleep(100)
        assert world.server.count(LISTENED) == 2


@in_fake_time
async def test_if_both_end_one_is_opened_again() -> None:
    async with World(listenable()) as world:
        await world.listened()
        world.server.handlers[LISTENED] = never
        adding = world.keeper.spawn(world.add("x:/1"), name="add")
        await world.listened(2)
        end_listen(world.server, back=2)
        end_listen(world.server)
        assert (await adding)["message"] == "server 's' has ended its subscriptions"
        world.server.handlers[LISTENED] = acknowledging()
        await asyncio.sleep(100)
        assert wanted(world.server)[2:] == [LISTS]


@in_fake_time
async def test_who_no_longer_waits_for_an_acknowledgement_takes_the_listen_along() -> None:
    async with World(listenable()) as world:
        await world.listened()
        world.server.handlers[LISTENED] = never
        adding = world.keeper.spawn(world.add("x:/1"), name="add")
        second = await world.listened(2)
        adding.cancel()
        assert (await world.server.cancelled.wait()).id == second.id


@in_fake_time
async def test_a_listen_that_was_open_for_long_is_opened_again_soon() -> None:
    async with World(listenable()) as world:
        clock, opened_at, ended_at = asyncio.get_running_loop(), [], []

        async def end_later(copy: Any, params: Any) -> Any:
            opened_at.append(clock.time())
            acknowledge(copy, params["notifications"], copy.server.asked.all[-1].id)
            await asyncio.sleep(70)
            ended_at.append(clock.time())
            return {}

        world.server.handlers[LISTENED] = end_later
        await world.add("x:/1")
        await asyncio.sleep(220)
        assert [round(opened - ended) for ended, opened in zip(ended_at, opened_at[1:], strict=False)] == [1, 1, 1]


@in_fake_time
async def test_a_server_without_the_method_is_left_in_peace() -> None:
    server = listenable()
    server.handlers[LISTENED] = lambda copy, params: error(-32601, "Method not found")
    async with World(server) as world:
        await world.listened()
        await settled()
        assert len(world.keeper) == 0
        assert (await world.add("x:/1"))["code"] == -32601
        assert server.count(LISTENED) == 1
        assert world.told.all == []


@in_fake_time
async def test_nothing_is_asked_of_a_server_that_has_ended() -> None:
    async with World(listenable()) as world:
        listen = world.listen
        await world.listened()
        await world.stop()
        assert "code" in loaded((await listen.add("x:/1")).error)
        assert world.server.count(LISTENED) == 1


@in_fake_time
async def test_a_server_that_ends_in_the_pause_is_not_asked_again() -> None:
    async with World(listenable()) as world:
        await world.listened()
        world.server.copy.say(b'{"jsonrpc":"2.0","id":%d,"result":{}}' % world.server.asked.all[-1].id)
        await settled()
        world.server.copy.die()
        await asyncio.sleep(900)
        assert world.server.count(LISTENED) == 1
