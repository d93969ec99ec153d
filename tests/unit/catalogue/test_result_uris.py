"""result_uris.py"""

import json
import threading
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import Client

from tooltray.catalogue.result_uris import LOOKED_AT, READ_AT_ONCE_BYTES, LinkedCaller, linked, may_change, published
from tooltray.protocol.envelope import Envelope, dump

LINK = {"type": "resource_link", "uri": "x://1", "name": "n"}
EMBEDDED = {"type": "resource", "resource": {"uri": "x://1", "text": "x://1"}}
KNOWN = "tooltray://s/x"


def publish(uri: str) -> str:
    return {"x://1": KNOWN, "ui://view": "ui://s/view"}.get(uri, uri)


def of(result: Any) -> Any:
    return json.loads(bytes(published(dump(result), publish)))


def with_known(value: Any) -> Any:
    """What is to come of it."""
    return json.loads(json.dumps(value).replace('"uri": "x://1"', f'"uri": "{KNOWN}"'))


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "text", "text": "x://1"}, LINK, EMBEDDED], "isError": False},
        {"messages": [{"role": "user", "content": EMBEDDED}, {"role": "user", "content": [LINK, {"type": "text", "text": "hi"}]}]},
        {"contents": [{"uri": "x://1", "text": "a"}, {"uri": "x://2", "text": "b"}]},
        {"inputRequests": {"1": {"method": "sampling/createMessage", "params": {"messages": [{"role": "user", "content": LINK}]}}}},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "toolUseId": "1", "content": [LINK]}]}]},
    ],
)
def test_uris_of_links_embedded_resources_and_what_was_read_are_those_that_clients_know(result: Any) -> None:
    assert of(result) == with_known(result)
    assert may_change(json.dumps(result).encode(), publish)


def test_the_view_of_an_app_follows_too() -> None:
    assert of({"content": [], "_meta": {"ui": {"resourceUri": "ui://view", "x": 1}, "ui/resourceUri": "ui://view", "y": 2}})["_meta"] == {
        "ui": {"resourceUri": "ui://s/view", "x": 1},
        "ui/resourceUri": "ui://s/view",
        "y": 2,
    }
    assert may_change(b'{"_meta":{"ui/resourceUri" : "ui:\\/\\/view"}}', publish)


@pytest.mark.parametrize(
    "result",
    [
        b'{ "content":[{"type":"text","text":"x://1"}],  "structuredContent":{"uri":"x://1"}}',
        b'{"content":[{"type":"text","uri":"x://1"},{"type":5,"uri":"x://1"},{"uri":"x://1"},7],"n":1e400}',
        b'{"content":[{"type":"resource_link","uri":["x://1"]},{"type":"resource","resource":"x://1"},{"type":"resource"}]}',
        b'{"content":[{"type":"resource_link","uri":"x://2"}]}',
        b'{"content":{"a":"x://1"},"messages":"x://1","contents":5,"inputRequests":[1],"_meta":{"ui":"x://1"}}',
        b'{"inputRequests":{"1":5,"2":{"params":"x://1"}},"contents":[5],"messages":[[]]}',
        b'["x://1"]',
        b"5",
    ],
)
def test_what_is_no_uri_of_a_resource_stays_byte_for_byte(result: bytes) -> None:
    assert bytes(published(Raw(result), publish)) == result


def test_blocks_within_blocks_are_followed_to_a_depth_that_the_protocol_has() -> None:
    block: Any = LINK
    for _ in range(5):
        block = {"type": "tool_result", "content": [block]}
    assert of({"content": [block]}) == {"content": [block]}


def test_results_that_name_nothing_contested_are_not_taken_apart() -> None:
    assert not may_change(b'{"content":[{"type":"text","text":"\\"uri\\":\\"x://1\\" and \\"uri"}],"uri":5,"u":"uri"}', publish)
    assert not may_change(b'{"content":[{"type":"resource_link","uri":"x://2"},{"type":"resource_link","uri":"x://2"}]}', publish)
    many = [{"type": "resource_link", "uri": f"y://{number}"} for number in range(LOOKED_AT + 1)]
    assert may_change(json.dumps(many).encode(), publish)
    assert not may_change(json.dumps(many[1:]).encode(), publish)


async def test_a_large_reply_is_linked_like_a_small_one_beside_the_event_loop_and_an_error_stays() -> None:
    linked_in: list[threading.Thread] = []

    def noting(uri: str) -> str:
        linked_in.append(threading.current_thread())
        return publish(uri)

    for length, is_beside in ((READ_AT_ONCE_BYTES, True), (1, False)):
        long = {"type": "text", "text": "a" * length}
        reply = await linked(Envelope(result=dump({"content": [long, LINK]})), noting)
        assert json.loads(bytes(reply.result)) == {"content": [long, with_known(LINK)]}
        assert (linked_in[-1] is not threading.main_thread()) is is_beside
    failed = await linked(Envelope(error=dump({"code": 1, "message": "m", "data": {"uri": "x://1"}})), publish)
    assert json.loads(bytes(failed.error))["data"] == {"uri": "x://1"}


async def test_questions_carry_known_uris_to_the_client_and_nothing_else_changes() -> None:
    client = Client(capabilities={"sampling": {}}, answer={"role": "assistant", "content": LINK})
    caller = LinkedCaller(client, publish)
    question = {"messages": [{"role": "user", "content": [EMBEDDED, LINK]}], "maxTokens": 5}
    answer = await caller.ask("sampling/createMessage", dump(question), about=Raw(b"7"))
    assert client.asked.all == [("sampling/createMessage", with_known(question))]
    assert client.abouts == [7]
    assert json.loads(bytes(answer.result))["content"] == LINK
    form = {"message": "m", "content": [LINK], "uri": "x://1"}
    await caller.ask("elicitation/create", dump(form))
    await caller.ask("sampling/createMessage", dump({"messages": []}))
    assert client.asked.all[1:] == [("elicitation/create", form), ("sampling/createMessage", {"messages": []})]
    assert (caller.session, bytes(caller.capabilities)) == (client, b'{"sampling":{}}')
    assert caller.can_answer("sampling/createMessage")
    caller.tell("notifications/progress", dump({"progressToken": 1}))
    assert client.told.all == [("notifications/progress", {"progressToken": 1})]
