"""What a bridge has answered before there was a hub: the hub compares, and notifies a client whose list is outdated; and what the hub
publishes of its own answers for the next time.
"""

import asyncio

from msgspec import Raw
from tests.fakes.conversation import CHANGED, LONG_S, META, Conversation, listen, one_server
from tests.fakes.fake_clock import in_fake_time

from tooltray.carriers.mcp.client_session import FirstAnswered
from tooltray.carriers.mcp.first_answers_file import checksum
from tooltray.carriers.mcp.local_socket import Hello
from tooltray_bridge.lines import AHEAD_ID

LISTING = b'{"tools":[{"name":"echo","later":1e400}]}'
INFO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def ahead(result: bytes) -> str:
    return (AHEAD_ID % (checksum(result), 1)).decode().strip('"')


@in_fake_time
async def test_a_client_whose_list_was_another_one_is_notified_once_it_is_initialized() -> None:
    async with Conversation() as client:
        await client.ask("initialize", INFO)
        await client.ask("tools/list", id=ahead(b"another"))
        await asyncio.sleep(LONG_S)
        assert client.news == []

        client.send(method="notifications/initialized")
        await asyncio.sleep(LONG_S)
        assert client.news == [None]


@in_fake_time
async def test_a_client_that_has_the_right_list_hears_nothing() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.ask("tools/list", id=ahead(LISTING))
        await client.ask("prompts/list", id="tooltray-replay-1")
        await asyncio.sleep(LONG_S)
        assert client.news == []

        await client.ask("tools/list", id=ahead(b"another"))
        await asyncio.sleep(LONG_S)
        assert client.news == [None]


@in_fake_time
async def test_a_modern_client_is_notified_when_it_listens() -> None:
    async with Conversation() as client:
        listing = (await client.ask("tools/list", {"_meta": META}, id="probe"))["result"]
        assert listing["tools"]
        await client.ask("tools/list", {"_meta": META}, id=ahead(b"another"))
        await asyncio.sleep(LONG_S)
        await listen(client, 7, toolsListChanged=True)
        await asyncio.sleep(LONG_S)

        assert client.news == [{"_meta": {"io.modelcontextprotocol/subscriptionId": 7}}]
        assert {message.get("method") for message in client.channel.messages} >= {CHANGED}


class Noted:
    """A conversation with a bridge's session, and what it publishes."""

    def __init__(self, client: Conversation) -> None:
        client.session._facts = b"facts"
        self.events: list[FirstAnswered] = []
        client.bus.subscribe(FirstAnswered, self.events.append)

    def take(self) -> list[tuple[str, bytes, bytes]]:
        events, self.events[:] = [*self.events], []
        assert {event.facts for event in events} <= {b"facts"}
        return [(event.method, bytes(event.params), bytes(event.result)) for event in events]


@in_fake_time
async def test_the_first_answers_of_a_bridges_session_are_published_and_with_a_list_its_present_greeting() -> None:
    async with Conversation() as client:
        noted = Noted(client)
        await client.greet()
        ((method, params, greeting),) = noted.take()
        assert (method, client.session.introduction) == ("initialize", Raw(params))
        assert b'"protocolVersion":"2025-11-25"' in greeting

        client.presenter.instructions = lambda state: "Now."  # type: ignore[method-assign]
        await client.ask("tools/list", {})
        (again, listed) = noted.take()
        assert again[:2] == ("initialize", params)
        assert b'"instructions":"Now."' in again[2]
        assert b'"protocolVersion":"2025-11-25"' in again[2]
        assert listed == ("tools/list", b"{}", LISTING)

        await client.ask("tools/call", {"name": "none"})
        await client.ask("initialize", {})
        assert noted.take() == []


@in_fake_time
async def test_a_discovery_is_published_too() -> None:
    async with Conversation() as client:
        noted = Noted(client)
        await client.ask("server/discover", {"_meta": META})
        await client.ask("tools/list", {"_meta": META})

        assert [each[0] for each in noted.take()] == ["server/discover", "server/discover", "tools/list"]


@in_fake_time
async def test_the_greeting_of_one_server_is_published_as_it_was_given() -> None:
    async with Conversation(server="one") as client:
        one_server(client)
        noted = Noted(client)
        await client.greet()
        await client.ask("server/discover", {"_meta": META})
        await client.ask("tools/list", {})

        assert [each[0] for each in noted.take()] == ["initialize", "server/discover", "tools/list"]


@in_fake_time
async def test_other_sessions_publish_nothing() -> None:
    async with Conversation() as client:
        noted = Noted(client)
        client.session._facts = b""
        await client.greet()
        await client.ask("tools/list", {})

        assert noted.take() == []


def test_bridges_are_alike_by_server_profile_and_folder() -> None:
    hello = Hello("client", "session", "s", "/work/\udcff", False, 1, "p")
    assert hello.facts == b"s\0p\0/work/\xed\xb3\xbf"
    assert Hello("client", "", None, "", True, 2).facts == b"\0\0"
