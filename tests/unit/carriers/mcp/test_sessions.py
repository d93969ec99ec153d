"""All sessions of a hub: made for each connection, counted, ended together."""

import asyncio
import inspect
import subprocess
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.consents import consent_in
from tests.fakes.exchanges import exchange_of
from tests.fakes.fake_channel import FakeChannel, line
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.fake_core_presenter import FakeCorePresenter
from tests.fakes.kept_log import KeptLog

from tooltray.api.presenter.mcp_presenter import SessionClients, SessionServers
from tooltray.carriers.control.control_session import ControlSessions, HubControl
from tooltray.carriers.mcp.client_session import ClientSession
from tooltray.carriers.mcp.local_socket import LEAVE, Connection, Hello
from tooltray.carriers.mcp.sessions import LEADS_BACK, Sessions
from tooltray.foundation.events import EventBus, SessionsChanged
from tooltray.gateway.calls.notifications import Notifications
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import NOTHING, Envelope, dump, failure, load
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.client_limits import KnownLimits
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState, SessionStates
from tooltray.servers.upstream.elicitation_record import UrlQuestions
from tooltray.servers.upstream.handshake import Greeting
from tooltray.servers.upstream.managed_server import ServerNotified

NO_PROCESS = 2**22 + 1  # beyond the largest pid that Linux gives
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Hub:
    """Sessions without a socket."""

    def __init__(self) -> None:
        self.presenter, self.bus = FakeCorePresenter(), EventBus()
        self.counts: list[int] = []
        self.stops: list[str] = []
        control = HubControl(kind="serve", execution_id="e", stop=lambda: self.stops.append("stop"), hand_over=_nothing, raise_window=None)
        controls = ControlSessions(
            presenter=self.presenter,  # type: ignore[arg-type]
            bus=self.bus,
            deadlines=DeadlineWheel(),
            control=control,
            consent=consent_in(Path("/nowhere")),
        )
        self.log = KeptLog()
        self.sessions = Sessions(
            presenter=self.presenter,  # type: ignore[arg-type]
            states=SessionStates(bus=self.bus, deadlines=DeadlineWheel()),
            bus=self.bus,
            deadlines=DeadlineWheel(),
            log=self.log,  # type: ignore[arg-type]
            client_limits=KnownLimits(),
            control_sessions=controls,
        )
        self.bus.subscribe(SessionsChanged, lambda event: self.counts.append(event.session_count))

    @property
    def clients(self) -> Collection[ClientSession]:
        return self.sessions.clients

    def connect(
        self, role: str = "client", *, session: str = "", server: str | None = None, wants_events: bool = False, pid: int = 0, **more: str
    ) -> "Peer":
        hello = Hello(role, session, server, more.get("cwd", ""), wants_events, pid, more.get("profile", ""))
        return Peer(self.sessions.open(hello, Connection(on_hello=_no_hello)))


class Peer:
    """The other end of one session."""

    def __init__(self, dispatcher: RawDispatcher) -> None:
        self.dispatcher, self.channel = dispatcher, FakeChannel()
        dispatcher.attach(self.channel)

    def send(self, **message: Any) -> None:
        self.dispatcher.feed(line(**message))

    async def ask(self, method: str, id: Any = 1, **params: Any) -> dict[str, Any]:
        self.send(id=id, method=method, params=params)
        return await self.channel.reply(id)

    async def call(self, presenter: FakeCorePresenter, name: str, id: Any = 1) -> None:
        """Begins a call."""
        self.send(id=id, method="tools/call", params={"name": name})
        await presenter.relayed.wait(count=len(presenter.relayed.all) + 1)


async def _nothing() -> None:
    pass


def _no_hello(hello: Hello, connection: Connection) -> RawDispatcher:
    raise AssertionError("the hello was given already")


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@in_fake_time
async def test_ai_clients_are_counted_as_they_come_and_go_and_front_ends_are_not() -> None:
    hub = Hub()
    first, second, front_end = hub.connect(), hub.connect(), hub.connect("control")
    assert hub.sessions.count == 2
    first.dispatcher.connection_lost("gone")
    front_end.dispatcher.connection_lost("gone")
    await settled()
    assert hub.sessions.count == 1
    second.dispatcher.connection_lost("gone")
    await settled()
    assert (hub.sessions.count, hub.counts) == (0, [1, 2, 1, 0])


@in_fake_time
async def test_a_client_is_served_and_a_front_end_controls() -> None:
    hub = Hub()
    client, front_end = hub.connect(), hub.connect("control", wants_events=True)
    await settled()
    assert (await client.ask("ping"))["result"] == {}
    assert (await front_end.ask("hub/stop"))["result"] == {}
    assert hub.stops == ["stop"]
    hub.bus.publish(SessionsChanged(7))
    assert (await front_end.channel.notification("event"))["data"] == {"session_count": 7}
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_client_may_ask_for_one_server() -> None:
    hub = Hub()
    hub.presenter.servers["one"] = Greeting(Era.LEGACY, "2025-06-18", {}, None)
    hub.presenter.listings["one"] = b'{"tools":[]}'
    client = hub.connect(server="one")
    assert (await client.ask("tools/list"))["result"] == {"tools": []}
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_profile_that_is_not_there_is_told_with_every_answer_and_one_that_is_there_is_kept() -> None:
    hub = Hub()
    hub.presenter.profiles.add("work")
    client = hub.connect(profile="play")
    for method in ("initialize", "tools/list"):
        assert "no profile 'play'" in (await client.ask(method, id=method))["error"]["message"]
    assert "result" in await hub.connect(profile="work").ask("ping")
    assert {client.state.profile for client in hub.clients} == {"play", "work"}
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_server_that_is_not_there_is_told_with_every_answer() -> None:
    hub = Hub()
    client = hub.connect(server="one")
    error = (await client.ask("initialize"))["error"]
    assert (error["code"], "no server 'one'" in error["message"]) == (-32603, True)
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_server_that_only_sessions_of_a_project_have_is_found_by_the_first_request_that_may_have_it() -> None:
    hub = Hub()
    client = hub.connect(server="one")
    assert "error" in await client.ask("ping", id=1)
    hub.presenter.servers_of_projects.add("one")  # its project's file has been read
    assert "result" in await client.ask("ping", id=2)
    hub.presenter.servers_of_projects.clear()
    assert "result" in await client.ask("ping", id=3)
    await hub.sessions.close("ended", grace_s=0)


@pytest.fixture(params=[{"start_new_session": True}, {"process_group": 0}], ids=["session", "group on macOS"])
def process_groups(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """Two processes, each the leader of a session or a group of its own, as servers are; ours may lie outside the container."""
    waiting = [subprocess.Popen(["cat"], stdin=subprocess.PIPE, **request.param) for _ in range(2)]
    yield waiting[0].pid, waiting[1].pid
    for process in waiting:
        process.communicate(timeout=20)  # ends with its input


@in_fake_time
async def test_a_bridge_inside_one_of_our_own_servers_is_refused(process_groups: tuple[int, int]) -> None:
    hub = Hub()
    server, stranger = process_groups
    hub.presenter.server_pids = frozenset({server})
    inside, outside, unknown, gone = (hub.connect(pid=pid) for pid in (server, stranger, 0, NO_PROCESS))
    assert (await inside.ask("initialize"))["error"] == {"code": -32603, "message": LEADS_BACK}
    for other in (outside, unknown, gone):
        assert "result" in await other.ask("ping")
    await hub.sessions.close("ended", grace_s=0)


class Copy:
    """A copy of a server as sessions see it: whose it is, and the calls in flight on it."""

    name = "one"

    def __init__(self, *, owner: Any = None, calls: Sequence[Exchange] = ()) -> None:
        self.owner, self._calls = owner, calls
        self.url_questions = UrlQuestions()

    def exchanges(self) -> list[Exchange]:
        return list(self._calls)


async def three_clients(hub: Hub) -> list["Peer"]:
    """Of all servers, of `one` and of `two`; each greeted and answered once."""
    for name in ("one", "two"):
        hub.presenter.servers[name] = Greeting(Era.LEGACY, "2025-06-18", {}, None)
    clients = [hub.connect(), hub.connect(server="one"), hub.connect(server="two")]
    for client in clients:
        await client.ask("initialize", protocolVersion="2025-06-18")
        client.send(method="notifications/initialized")
        await client.ask("ping", 2)
    return clients


def said(hub: Hub, copy: Copy, method: str, **params: Any) -> None:
    hub.bus.publish(ServerNotified(copy, method, dump(params)))  # type: ignore[arg-type]


def heard(clients: Sequence["Peer"]) -> list[list[tuple[str, Any]]]:
    return [[(each["method"], each.get("params")) for each in client.channel.messages if "method" in each] for client in clients]


@in_fake_time
async def test_what_a_server_says_outside_of_calls_goes_to_all_who_have_that_server() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    said(hub, Copy(), "notifications/vendor/news", elicitationId="e")
    news = [("notifications/vendor/news", {"elicitationId": "e"})]
    assert heard(clients) == [news, news, []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_that_a_person_is_done_with_a_page_is_told_to_the_client_that_was_sent_there() -> None:
    hub, copy = Hub(), Copy()
    clients = await three_clients(hub)
    (asked,) = (session for session in hub.clients if session.dispatcher is clients[1].dispatcher)
    done = "notifications/elicitation/complete"
    copy.url_questions.asked(dump({"elicitationId": "e"}), asked)
    for id in ("e", "e", "unknown"):
        said(hub, copy, done, elicitationId=id)
    assert heard(clients) == [[], [(done, {"elicitationId": "e"})], []]
    said(hub, Copy(owner=asked), done, elicitationId="own")
    assert heard(clients) == [[], [(done, {"elicitationId": "e"}), (done, {"elicitationId": "own"})], []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_client_that_has_connected_anew_hears_that_its_person_is_done() -> None:
    hub, copy = Hub(), Copy()
    hub.presenter.servers["one"] = Greeting(Era.LEGACY, "2025-06-18", {}, None)
    clients = []
    for _ in range(2):
        clients.append(client := hub.connect(session="same", server="one"))
        await client.ask("initialize", protocolVersion="2025-06-18")
        client.send(method="notifications/initialized")
        await client.ask("ping", 2)
    (asked,) = (session for session in hub.clients if session.dispatcher is clients[0].dispatcher)
    copy.url_questions.asked(dump({"elicitationId": "e"}), asked)
    clients[0].dispatcher.connection_lost("gone")
    await settled()
    said(hub, copy, "notifications/elicitation/complete", elicitationId="e")
    assert [each for each, _ in heard(clients)[1]] == ["notifications/elicitation/complete"]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_legacy_client_is_asked_for_its_roots_when_it_is_ready_and_when_they_have_changed() -> None:
    hub = Hub()
    client = hub.connect()
    await client.ask("initialize", protocolVersion="2025-06-18")
    assert hub.presenter.rooted == []
    for count, method in enumerate(("notifications/initialized", "notifications/roots/list_changed"), 1):
        client.send(method=method)
        await client.ask("ping", 1 + count)
        assert hub.presenter.rooted == [*hub.clients] * count
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_what_a_copy_for_a_project_says_goes_to_nobody_who_works_on_another() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    hub.presenter.elsewhere = [session for session in hub.clients if session.dispatcher is clients[0].dispatcher]
    said(hub, Copy(), "notifications/vendor/news", elicitationId="e")
    assert heard(clients) == [[], [("notifications/vendor/news", {"elicitationId": "e"})], []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_what_the_copy_of_one_client_says_goes_to_that_client_also_that_its_lists_changed() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    [owner] = [session for session in hub.clients if session.dispatcher is clients[1].dispatcher]
    said(hub, Copy(owner=owner), "notifications/message", level="info")
    said(hub, Copy(owner=owner), "notifications/prompts/list_changed", _meta={"io.modelcontextprotocol/subscriptionId": 3})
    await asyncio.sleep(1)
    assert heard(clients) == [[], [("notifications/message", {"level": "info"}), ("notifications/prompts/list_changed", None)], []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_what_belongs_to_a_listen_of_the_hub_is_not_told_as_such() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    mark = {"io.modelcontextprotocol/subscriptionId": 3}
    said(hub, Copy(), "notifications/subscriptions/acknowledged", notifications={}, _meta=mark)
    said(hub, Copy(), "notifications/other", a=1, _meta=mark)
    said(hub, Copy(), "notifications/other", of="a client's listen for an extension", _meta=mark)
    assert heard(clients) == [[("notifications/other", {"a": 1})], [("notifications/other", {"a": 1})], []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_what_a_server_says_of_an_extension_goes_to_those_who_may_hear_it_and_to_the_one_modern_client_that_calls() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    hub.presenter.deaf = [session for session in hub.clients if session.dispatcher is clients[0].dispatcher]
    told: list[tuple[str, Any, Raw]] = []

    class Calling:
        def __init__(self, name: str) -> None:
            self.session = SimpleNamespace(identity=name)

        def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
            told.append((method, load(params), about))

    modern, legacy = (Envelope(id=Raw(b"1"), params=dump(params)) for params in ({"_meta": META}, {}))
    it, other, deaf = Calling("it"), Calling("other"), Calling("deaf")
    hub.presenter.deaf.append(deaf.session)  # type: ignore[arg-type]
    for calls in ([(modern, it)], [(modern, deaf)], [(legacy, it)], [(modern, it), (modern, other)]):
        said(hub, Copy(calls=[exchange_of(*call) for call in calls]), "notifications/foo", a=1)  # type: ignore[arg-type]
    said(hub, Copy(calls=[exchange_of(modern, it)]), "notifications/roots/list_changed", b=1)  # type: ignore[arg-type]
    assert told == [("notifications/foo", {"a": 1}, Raw(b"1"))]
    news = [*[("notifications/foo", {"a": 1})] * 4, ("notifications/roots/list_changed", {"b": 1})]
    assert heard(clients) == [[], news, []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_list_change_of_a_shared_copy_is_told_when_the_hub_has_listed_it_and_not_before() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    said(hub, Copy(), "notifications/tools/list_changed")
    await settled()
    assert heard(clients) == [[], [], []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_log_message_goes_to_the_one_client_that_calls_with_the_call_it_belongs_to() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    told: list[tuple[str, Any, Raw]] = []

    class Calling:
        session = SimpleNamespace(identity="it")

        def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
            told.append((method, load(params), about))

    caller = Calling()
    copy = Copy(calls=[exchange_of(Envelope(id=Raw(id)), caller) for id in (b"1", b"2")])
    said(hub, copy, "notifications/message", level="info")
    said(hub, copy, "notifications/message", level="debug")
    assert told == [("notifications/message", {"level": "info"}, Raw(b"2"))]
    assert heard(clients) == [[], [], []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_log_message_that_several_may_have_caused_goes_to_all_who_want_its_level() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    said(hub, Copy(), "notifications/message", level="info")
    said(hub, Copy(), "notifications/message", level="debug")
    news = [("notifications/message", {"level": "info"})]
    assert heard(clients) == [news, news, []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_an_update_goes_to_those_who_subscribed_with_the_uri_that_they_know() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    sessions = {session.dispatcher: session for session in hub.clients}
    hub.presenter.hearing = [(sessions[client.dispatcher], "x://1") for client in clients[:2]]
    hub.presenter.uris["one", "x://1"] = "tooltray://one/x"
    said(hub, Copy(), "notifications/resources/updated", uri="x://1", later=1, _meta={"io.modelcontextprotocol/subscriptionId": 3})
    updated = "notifications/resources/updated"
    assert heard(clients) == [
        [(updated, {"uri": "tooltray://one/x", "later": 1})],
        [(updated, {"uri": "x://1", "later": 1})],
        [],
    ]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_nobody_hears_anything_of_a_server_that_the_profile_does_not_have() -> None:
    hub = Hub()
    clients = await three_clients(hub)
    hub.presenter.excluded.add("one")
    hub.presenter.hearing = [(session, "x://1") for session in hub.clients]
    copy = Copy()
    for method in ("notifications/resources/updated", "notifications/message", "notifications/vendor/news"):
        said(hub, copy, method, uri="x://1", level="error", elicitationId="e")
    copy.owner = next(iter(hub.clients))
    said(hub, copy, "notifications/tools/list_changed")
    hub.presenter.excluded.clear()
    hub.presenter.hidden.add("one")  # the session sees nothing of the list that has changed
    said(hub, copy, "notifications/prompts/list_changed")
    await asyncio.sleep(1)
    assert heard(clients) == [[], [], []]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_request_without_a_token_stands_for_itself() -> None:
    hub = Hub()
    one = hub.sessions.open_client(None, is_lasting=False)
    named, lasting = hub.sessions.open_client(None, is_lasting=False, client="laptop"), hub.sessions.open_client(None)
    assert [session.state.is_passing for session in (one, named, lasting)] == [True, False, False]
    await hub.sessions.close("ended", grace_s=0)


async def test_what_is_refused_over_http_without_a_session_is_recorded_and_counted() -> None:
    hub = Hub()
    hub.sessions.note_refusal(Raw(b"3"), failure(-32600, "no"))
    await settled()
    assert hub.log.errors == [("http", b"3", -32600, "no")]
    assert hub.sessions.request_count == 1
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_requests_are_counted_also_those_of_clients_that_have_left() -> None:
    hub = Hub()
    client, other = hub.connect(), hub.connect()
    for id in range(3):
        await client.ask("ping", id)
    await other.ask("ping")
    client.dispatcher.connection_lost("gone")
    await settled()
    assert hub.sessions.request_count == 4
    await hub.sessions.close("ended", grace_s=0)
    assert hub.sessions.request_count == 4


@in_fake_time
async def test_closing_tells_every_open_call_why_and_ends_every_session() -> None:
    hub = Hub()
    client, front_end = hub.connect(), hub.connect("control")
    await client.call(hub.presenter, "hang", "c")
    await hub.sessions.close("Tooltray has ended", grace_s=0.5)
    assert (await client.channel.reply("c"))["error"] == {"code": -32000, "message": "Tooltray has ended"}
    assert hub.presenter.cancelled.all == [b'"c"']
    assert (client.channel.is_closed, front_end.channel.is_closed, hub.sessions.count) == (True, True, 0)


@in_fake_time
async def test_closing_without_sessions_is_done_at_once() -> None:
    hub = Hub()
    await hub.sessions.close("ended", grace_s=0.5)
    await hub.sessions.finish_calls(within_s=10)


@in_fake_time
async def test_calls_may_finish_before_a_hand_over() -> None:
    hub, loop = Hub(), asyncio.get_running_loop()
    client = hub.connect()
    hub.presenter.may_list.clear()
    client.send(id=1, method="tools/list")
    begun = loop.time()
    loop.call_later(3, hub.presenter.may_list.set)
    await hub.sessions.finish_calls(within_s=10)
    assert 3 <= loop.time() - begun < 10
    assert "result" in client.channel.replies[1]
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_calls_that_do_not_finish_are_not_waited_for_longer_than_was_said() -> None:
    hub, loop = Hub(), asyncio.get_running_loop()
    client = hub.connect()
    await client.call(hub.presenter, "hang")
    begun = loop.time()
    await hub.sessions.finish_calls(within_s=10)
    assert 10 <= loop.time() - begun < 11
    await hub.sessions.close("ended", grace_s=0)
    assert client.channel.replies[1]["error"]["message"] == "ended"


@in_fake_time
async def test_a_bridge_that_leaves_when_it_is_asked_to_is_asked_and_waited_for() -> None:
    hub = Hub()
    sent = list[bytes]()

    class Bridge(Connection):
        def write(self, data: bytes | memoryview) -> None:
            sent.append(bytes(data))

    hello = Hello("client", "s", None, "", False, 0, leaves=True)
    peer = Peer(hub.sessions.open(hello, Bridge(on_hello=_no_hello)))
    other = hub.connect()
    finishing = asyncio.create_task(hub.sessions.finish_calls(within_s=10))
    await settled()
    assert sent == [LEAVE]
    assert "result" in await peer.ask("ping", 2), "what the bridge had sent before"
    assert not finishing.done()

    peer.dispatcher.connection_lost("left")
    await finishing
    assert other.channel.replies == {}
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_open_subscriptions_are_no_calls_that_must_finish() -> None:
    hub, loop = Hub(), asyncio.get_running_loop()
    client = hub.connect()
    client.send(id=1, method="subscriptions/listen", params={"notifications": {"toolsListChanged": True}, "_meta": META})
    await client.channel.message()
    begun = loop.time()
    await hub.sessions.finish_calls(within_s=10)
    await hub.sessions.close("ended", grace_s=10)
    assert loop.time() == begun
    assert client.channel.replies == {}


@in_fake_time
async def test_a_client_on_standard_input_is_a_session_like_any_other() -> None:
    hub = Hub()
    peer = Peer(hub.sessions.open_client(None).dispatcher)
    assert "result" in await peer.ask("ping")
    assert hub.sessions.count == 1
    await hub.sessions.close("ended", grace_s=0)


@pytest.mark.parametrize("name", ["published_uri", "open_server", "has_server", "finds_server"])
def test_the_presenter_of_these_tests_is_called_like_the_real_one(name: str) -> None:
    assert_same_signature(name, SessionServers)


@pytest.mark.parametrize("name", ["end_session", "name_client", "declare", "take_roots"])
def test_it_knows_clients_as_the_real_one_does(name: str) -> None:
    assert_same_signature(name, SessionClients)


@pytest.mark.parametrize("name", ["take", "concerns", "reaches", "hearers", "wants_log_message"])
def test_so_are_their_notifications(name: str) -> None:
    assert_same_signature(name, Notifications)


def assert_same_signature(name: str, kind: type) -> None:
    fake, real = (inspect.signature(getattr(each, name)) for each in (FakeCorePresenter, kind))
    assert list(fake.parameters) == list(real.parameters)
    assert [each.kind for each in fake.parameters.values()] == [each.kind for each in real.parameters.values()]


@in_fake_time
async def test_a_request_that_stands_for_itself_is_served_and_not_counted_as_a_client() -> None:
    hub = Hub()
    session = hub.sessions.open_client(None, is_lasting=False, client="laptop")
    assert (hub.sessions.count, hub.counts, session.identity) == (0, [], ("token", "laptop"))
    peer = Peer(session.dispatcher)
    await peer.ask("initialize", protocolVersion="2025-06-18")
    session.dispatcher.connection_lost("answered")
    await settled()
    assert (hub.sessions.count, hub.counts, hub.sessions.request_count) == (0, [], 1)
    lasting = hub.sessions.open_client(None)
    assert lasting.identity is lasting
    await hub.sessions.close("ended", grace_s=0)


def state_of(hub: Hub, peer: Peer) -> SessionState:
    return next(session.state for session in hub.clients if session.dispatcher is peer.dispatcher)


@in_fake_time
async def test_a_bridge_that_connects_again_finds_its_session_and_another_one_does_not() -> None:
    hub = Hub()
    first = hub.connect(session="5e55", cwd="/p")
    state_of(hub, first).activated.add("s")
    first.dispatcher.connection_lost("gone")
    await settled()
    again, other, alone = (hub.connect(session="5e55"), hub.connect(session="0the"), hub.connect(session="5e55", server="one"))
    assert (state_of(hub, again).activated, state_of(hub, again).folder) == ({"s"}, "/p")
    assert (state_of(hub, other).activated, state_of(hub, alone).activated) == (set(), set())
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_client_without_a_session_of_its_own_has_nothing_in_common_with_the_next() -> None:
    hub = Hub()
    assert state_of(hub, hub.connect()) is not state_of(hub, hub.connect())
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_requests_of_one_token_to_one_place_have_one_state() -> None:
    hub = Hub()
    one, two = (hub.sessions.open_client(None, is_lasting=False, client="laptop") for _ in range(2))
    elsewhere = hub.sessions.open_client("one", is_lasting=False, client="laptop")
    foreign = hub.sessions.open_client(None, is_lasting=False, client="phone")
    assert one.state is two.state
    assert len({id(each.state) for each in (one, elsewhere, foreign)}) == 3
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_each_request_that_stands_for_itself_says_who_sends_it() -> None:
    hub = Hub()
    for name in ("one", "other"):
        peer = Peer(hub.sessions.open_client(None, is_lasting=False, client="laptop").dispatcher)
        await peer.ask("tools/list", _meta={**META, "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}})
        assert state_of(hub, peer).client == name
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_a_session_knows_its_client_by_the_name_that_it_gives_itself() -> None:
    hub = Hub()
    peer = hub.connect()
    await peer.ask("initialize", protocolVersion="2025-06-18", clientInfo={"name": "claude-code", "version": "2.1"})
    assert (state_of(hub, peer).client, state_of(hub, peer).version) == ("claude-code", "2.1")
    await hub.sessions.close("ended", grace_s=0)


@in_fake_time
async def test_only_a_bridges_session_that_is_served_has_its_first_answers_kept() -> None:
    hub = Hub()
    facts = {
        hub.connect(session="a", cwd="/work"): b"\0\0/work",
        hub.connect(cwd="/work"): b"",
        hub.connect(session="b", server="nowhere"): b"",
    }
    found = {id(session.dispatcher): session._facts for session in hub.clients}
    assert {peer: found[id(peer.dispatcher)] for peer in facts} == facts
    for peer in facts:
        peer.dispatcher.connection_lost("gone")
    await settled()
