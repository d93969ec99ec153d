"""client_notices.py: notifications of changes, and of the progress of calls."""

import asyncio
import json
import sys
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.conversation import CHANGED, LONG_S, META, PREFIX, Conversation, listen
from tests.fakes.exchanges import exchange_of
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import Client

from tooltray.carriers.mcp.client_notices import HAIR, STARTING, WAITS_FOR_PERSON, LiveCalls
from tooltray.foundation.events import PromptListChanged, ResourceListChanged
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.sessions.client_limits import ClientLimits

# news of the tool list


@in_fake_time
async def test_a_legacy_client_is_told_once_of_several_changes() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        for _ in range(5):
            client.change()
        await client.channel.notification(CHANGED)
        await asyncio.sleep(LONG_S)
        assert client.news == [None]
        client.change()
        await client.channel.notification(CHANGED, count=2)


@in_fake_time
async def test_nothing_is_told_before_the_first_request_is_answered_and_then_it_is() -> None:
    async with Conversation() as client:
        await client.greet()
        client.change()
        await asyncio.sleep(LONG_S)
        assert client.news == []
        await client.result("ping")
        await client.channel.notification(CHANGED)


@in_fake_time
async def test_nothing_is_told_to_a_client_that_is_not_initialized() -> None:
    async with Conversation() as client:
        await client.result("initialize", {"protocolVersion": "2025-06-18"})
        await client.result("ping")
        client.change()
        await asyncio.sleep(LONG_S)
        assert client.news == []


@in_fake_time
async def test_a_change_that_the_client_has_listed_already_is_no_news() -> None:
    async with Conversation() as client:
        await client.greet()
        client.change()
        await client.result("tools/list")
        await asyncio.sleep(LONG_S)
        assert client.news == []


@in_fake_time
async def test_a_change_while_a_list_is_made_is_news_if_it_comes_behind_it() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("tools/list")
        client.change()
        await client.channel.notification(CHANGED)


@in_fake_time
async def test_news_is_not_lost_for_a_client_that_does_not_read_for_a_while() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        client.session.dispatcher.pause_writing()
        client.change()
        await asyncio.sleep(LONG_S)
        client.change()
        assert client.news == []
        client.session.dispatcher.resume_writing()
        await client.channel.notification(CHANGED)
        await asyncio.sleep(LONG_S)
        assert client.news == [None]


@in_fake_time
async def test_a_client_that_is_gone_is_told_nothing_more() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        client.change()
    client.change()
    await asyncio.sleep(LONG_S)
    assert client.news == []


# subscriptions of modern clients


@pytest.mark.parametrize("id", ["s-1", 7, 2**60, "\ud83d"])
@in_fake_time
async def test_a_subscription_is_acknowledged_first_and_told_of_changes_under_its_id(id: Any) -> None:
    async with Conversation() as client:
        meta = {PREFIX + "subscriptionId": id}
        assert await listen(client, id, toolsListChanged=True) == {"notifications": {"toolsListChanged": True}, "_meta": meta}
        client.change()
        client.change()
        assert await client.channel.notification(CHANGED) == {"_meta": meta}
        await asyncio.sleep(LONG_S)
        assert client.news == [{"_meta": meta}]
        assert client.channel.replies == {}


@in_fake_time
async def test_only_what_is_offered_is_acknowledged() -> None:
    async with Conversation() as client:
        meta = {PREFIX + "subscriptionId": 1}
        acknowledged = await listen(client, 1, promptsListChanged=True, toolsListChanged=False, later=True)
        assert acknowledged == {"notifications": {"promptsListChanged": True}, "_meta": meta}
        client.change()
        await asyncio.sleep(LONG_S)
        assert client.news == []
        assert client.channel.replies == {}


@in_fake_time
async def test_a_subscription_that_is_cancelled_is_told_nothing_more_and_never_answered() -> None:
    async with Conversation() as client:
        await listen(client, "a", toolsListChanged=True)
        await listen(client, "b", toolsListChanged=True)
        client.send(method="notifications/cancelled", params={"requestId": "a"})
        await client.result("tools/list", {"_meta": META})
        client.change()
        await client.channel.notification(CHANGED)
        await asyncio.sleep(LONG_S)
        assert client.news == [{"_meta": {PREFIX + "subscriptionId": "b"}}]
        assert list(client.channel.replies) == [100]


@in_fake_time
async def test_a_subscription_is_not_answered_when_the_hub_ends_so_that_the_bridge_renews_it() -> None:
    async with Conversation() as client:
        await listen(client, "a", toolsListChanged=True)
        client.send(id="c", method="tools/call", params={"name": "hang"})
        await client.presenter.relayed.wait()
        await client.session.dispatcher.close("Tooltray has ended", grace_s=1)
        assert list(client.channel.replies) == ["c"]


@pytest.mark.parametrize("params", [{}, {"notifications": 5}, {"notifications": {"toolsListChanged": "yes"}}, {"notifications": None}])
@in_fake_time
async def test_a_subscription_that_cannot_be_read_is_refused(params: dict[str, Any]) -> None:
    async with Conversation() as client:
        assert (await client.error("subscriptions/listen", {**params, "_meta": META}))["code"] == -32602


UPDATED = "notifications/resources/updated"


def updates(client: Conversation) -> list[Any]:
    return [message["params"] for message in client.channel.messages if message.get("method") == UPDATED]


@in_fake_time
async def test_a_client_hears_of_the_resources_that_it_listens_to_under_the_id_of_each_listen() -> None:
    async with Conversation() as client:
        first = await listen(client, 1, resourceSubscriptions=["x://1", "x://2"])  # type: ignore[arg-type]
        await listen(client, 2, resourceSubscriptions=["x://2"])  # type: ignore[arg-type]
        assert first["notifications"] == {"resourceSubscriptions": ["x://1", "x://2"]}
        assert client.presenter.listened == {b"1": (["x://1", "x://2"], None), b"2": (["x://2"], None)}
        client.session.listening.updated("x://2", dump({"uri": "x://2", "later": 1}))
        assert updates(client) == [{"uri": "x://2", "later": 1, "_meta": {PREFIX + "subscriptionId": id}} for id in (1, 2)]
        client.send(method="notifications/cancelled", params={"requestId": 1})
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert client.presenter.listened == {b"2": (["x://2"], None)}
        client.session.listening.updated("x://1", dump({"uri": "x://1"}))
        assert len(updates(client)) == 2


@in_fake_time
async def test_only_what_servers_tell_is_acknowledged() -> None:
    async with Conversation() as client:
        client.presenter.untold = {"x://2"}
        assert (await listen(client, 1, resourceSubscriptions=["x://2"]))["notifications"] == {}  # type: ignore[arg-type]
        client.session.listening.updated("x://2", dump({"uri": "x://2"}))
        assert updates(client) == []


@in_fake_time
async def test_an_update_is_not_lost_for_a_client_that_does_not_read_for_a_while() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        client.session.dispatcher.pause_writing()
        for number in range(3):
            client.session.listening.updated("x://1", dump({"uri": "x://1", "number": number}))
        client.session.listening.updated("x://2", dump({"uri": "x://2"}))
        await asyncio.sleep(LONG_S)
        assert updates(client) == []
        client.session.dispatcher.resume_writing()
        await asyncio.sleep(LONG_S)
        assert updates(client) == [{"uri": "x://1", "number": 2}, {"uri": "x://2"}]


@in_fake_time
async def test_other_lists_that_change_are_told_as_tools_are_and_only_to_who_listens_for_them() -> None:
    async with Conversation() as client:
        await listen(client, 1, promptsListChanged=True)
        client.bus.publish(PromptListChanged("one"))
        client.bus.publish(ResourceListChanged("one"))
        await asyncio.sleep(LONG_S)
        changes = [message["method"] for message in client.channel.messages if "list_changed" in message.get("method", "")]
        assert changes == ["notifications/prompts/list_changed"]


@in_fake_time
async def test_a_client_of_both_eras_is_told_in_both() -> None:
    async with Conversation() as client:
        await client.greet()
        await listen(client, "a", toolsListChanged=True)
        client.change()
        await client.channel.notification(CHANGED, count=2)
        assert client.news == [{"_meta": {PREFIX + "subscriptionId": "a"}}, None]


# what one session sees


@in_fake_time
async def test_a_list_that_changed_for_this_session_alone_is_told_in_the_way_of_each_era() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        [tell] = client.presenter.followers
        tell(CHANGED)
        tell("notifications/prompts/list_changed")
        assert await client.channel.notification("notifications/prompts/list_changed") is None
        await client.channel.notification(CHANGED)
        assert client.presenter.told == [client.session]
    assert client.presenter.followers == []
    async with Conversation() as client:
        await listen(client, "a", toolsListChanged=True)
        client.presenter.followers[0](CHANGED)
        assert await client.channel.notification(CHANGED) == {"_meta": {PREFIX + "subscriptionId": "a"}}
        assert client.presenter.told == [client.session]


@in_fake_time
async def test_a_change_of_what_the_session_does_not_see_is_no_news() -> None:
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        client.presenter.hidden.add("lazy")
        client.change("lazy")
        await asyncio.sleep(LONG_S)
        assert client.news == []
        client.change("open")
        await client.channel.notification(CHANGED)


@in_fake_time
async def test_a_client_that_wants_to_hear_of_other_lists_alone_counts_as_told_of_none() -> None:
    async with Conversation() as client:
        await listen(client, "a", promptsListChanged=True)
        client.presenter.followers[0](CHANGED)
        client.presenter.followers[0]("notifications/prompts/list_changed")
        await client.channel.notification("notifications/prompts/list_changed")
        assert client.presenter.told == []


@in_fake_time
async def test_who_has_seen_one_of_two_lists_is_told_that_they_have_changed() -> None:
    changed = "notifications/resources/list_changed"
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        for methods in (["resources/list"], ["resources/list", "resources/templates/list"]):
            client.presenter.followers[0](changed)
            for method in methods:
                client.session.listening.seen(method, client.session.listening.changes(method))
            await asyncio.sleep(LONG_S)
            assert [message["method"] for message in client.channel.messages if "method" in message] == [changed]


@in_fake_time
async def test_what_changes_while_a_list_is_made_is_told_since_the_list_may_not_have_it() -> None:
    changed = "notifications/resources/list_changed"
    async with Conversation() as client:
        await client.greet()
        await client.result("ping")
        listening = client.session.listening
        before = listening.changes("resources/list")
        client.presenter.followers[0](changed)
        for method in ("resources/list", "resources/templates/list"):
            listening.seen(method, before)
        await asyncio.sleep(LONG_S)
        assert [message["method"] for message in client.channel.messages if "method" in message] == [changed]


# what extensions tell


@in_fake_time
async def test_what_an_extension_tells_comes_on_the_stream_that_asks_for_it_and_not_before_that_is_acknowledged() -> None:
    async with Conversation() as client:
        client.presenter.honored = {"fooIds": ["1"]}
        said = ("notifications/foo", dump({"x": 1, "_meta": {"y": 2, PREFIX + "subscriptionId": 99}}))
        client.presenter.early = [said]
        assert (await listen(client, "l", toolsListChanged=True))["notifications"] == {"fooIds": ["1"], "toolsListChanged": True}
        client.presenter.tell_extension(*said)
        await client.channel.notification("notifications/foo", count=2)
        told = [message for message in client.channel.messages if message.get("method", "").startswith("notifications/")]
        assert [message["method"] for message in told[:2]] == ["notifications/subscriptions/acknowledged", "notifications/foo"]
        assert told[1]["params"] == {"x": 1, "_meta": {"y": 2, PREFIX + "subscriptionId": "l"}}
        client.session.dispatcher.is_congested = True
        client.presenter.tell_extension(*said)
        client.send(method="notifications/cancelled", params={"requestId": "l"})
        await asyncio.sleep(LONG_S)
        assert client.presenter.unheard == [b'"l"']
        assert sum(message.get("method") == "notifications/foo" for message in client.channel.messages) == 2


# tasks of servers


@in_fake_time
async def test_a_task_is_told_of_on_the_streams_that_ask_for_it_and_to_clients_that_know_tasks_alone() -> None:
    async with Conversation() as client:
        wanted = {"notifications": {"taskIds": ["own 1", "other"]}, "_meta": META}
        assert (await client.error("subscriptions/listen", wanted))["code"] == -32021
        declared = {PREFIX + "clientCapabilities": {"extensions": {PREFIX + "tasks": {}}}}
        client.send(id="l", method="subscriptions/listen", params={**wanted, "_meta": {**META, **declared}})
        acknowledged = await client.channel.notification("notifications/subscriptions/acknowledged")
        assert acknowledged["notifications"] == {"taskIds": ["own 1"]}
        for id in ("own 1", "other"):
            client.session.tell_task_news(id, dump({"taskId": id, "status": "completed"}))
        told = await client.channel.notification("notifications/tasks")
        assert told == {"taskId": "own 1", "status": "completed", "_meta": {PREFIX + "subscriptionId": "l"}}
        client.session.dispatcher.is_congested = True
        client.session.tell_task_news("own 1", dump({}))
        await asyncio.sleep(LONG_S)
        assert sum(message.get("method") == "notifications/tasks" for message in client.channel.messages) == 1


PROGRESS = "notifications/progress"


class Live:
    """One call, and what its client hears of it: by a server through `passes`, and by the hub."""

    def __init__(self, call_s: float = 60.0) -> None:
        self.heard: list[dict[str, Any]] = []
        self.wheel = DeadlineWheel()
        self.calls = LiveCalls(deadlines=self.wheel, tell=lambda params, about: self.heard.append(json.loads(bytes(params))))
        request = Envelope(id=dump(7), method="tools/call", params=dump({"name": "x", "_meta": {"progressToken": "t"}}))
        self.exchange = exchange_of(request, Client())
        self.calls.begin(self.exchange, ClientLimits(call_s=call_s))

    def passes(self, **news: Any) -> None:
        sent = dump({"progressToken": "t", **news})
        self.heard.append(json.loads(bytes(self.calls.passes(sent, dump(7)))))

    @property
    def values(self) -> list[float]:
        return [each["progress"] for each in self.heard]


@pytest.mark.parametrize(("call_s", "after_s"), [(60.0, 45), (600.0, 450), (8.0, 6)])
@in_fake_time
async def test_of_a_silent_server_the_client_hears_in_time_for_its_own_limit(call_s: float, after_s: int) -> None:
    live = Live(call_s)
    await asyncio.sleep(after_s - 1)
    assert live.heard == []
    await asyncio.sleep(2.5)
    assert live.heard == [{"progressToken": "t", "progress": 0.0, "message": f"Still running, {after_s} s"}]
    await asyncio.sleep(after_s)
    assert live.values == [0.0, HAIR]
    live.calls.end(dump(7))
    assert (len(live.wheel), bool(live.calls)) == (0, False)


@in_fake_time
async def test_a_server_that_speaks_is_heard_as_it_speaks_and_nothing_is_added() -> None:
    live = Live()
    for value in (0, 1, 2):
        await asyncio.sleep(30)
        live.passes(progress=value, total=10)
    assert live.heard == [{"progressToken": "t", "progress": value, "total": 10} for value in (0, 1, 2)]
    live.calls.end(dump(7))


@in_fake_time
async def test_the_values_rise_whatever_the_server_says_after_the_hub() -> None:
    live = Live()
    await asyncio.sleep(46)
    live.passes(progress=0, total=1, message="theirs")
    live.passes(progress=0.1, total=1)
    await asyncio.sleep(46)
    live.passes(progress=1, total=1)
    await asyncio.sleep(46)
    live.passes(progress=2**60)
    await asyncio.sleep(46)
    assert live.values == sorted(set(live.values))
    assert [each.get("total") for each in live.heard] == [None, 1, 1, 1, 1, None, None, None]
    assert live.heard[1] == {"progressToken": "t", "progress": HAIR, "total": 1, "message": "theirs"}
    assert live.heard[2]["progress"] == 0.1
    live.calls.end(dump(7))


@in_fake_time
async def test_a_server_that_breaks_the_rule_itself_is_not_mended_and_what_cannot_be_read_goes_on() -> None:
    live = Live()
    await asyncio.sleep(46)
    live.passes(progress=5)
    live.passes(progress=4)
    live.passes(progress=4)
    live.passes(progress="much")
    assert live.values == [0.0, 5, 4, 4, "much"]
    await asyncio.sleep(46)
    assert live.values[-1] == 4 + HAIR
    assert live.calls.passes(Raw(b"[]"), dump(8)) == Raw(b"[]")  # of a call that is none of these
    live.calls.end(dump(7))


@in_fake_time
async def test_no_value_becomes_more_than_json_can_say() -> None:
    live = Live()
    await asyncio.sleep(46)
    live.passes(progress=sys.float_info.max)
    await asyncio.sleep(46)
    assert live.values[-1] == sys.float_info.max
    live.calls.end(dump(7))


@in_fake_time
async def test_while_a_person_has_it_the_client_hears_sooner_and_why_it_waits() -> None:
    live = Live(600.0)
    with live.exchange.timings.at_person():
        await asyncio.sleep(32)
    assert [each["message"] for each in live.heard] == [f"{WAITS_FOR_PERSON}, 15 s", f"{WAITS_FOR_PERSON}, 30 s"]
    with live.exchange.timings.at_start():
        await asyncio.sleep(460)
    assert live.heard[-1]["message"].startswith(STARTING)
    live.calls.end(dump(7))


def told(client: Conversation) -> list[Any]:
    return [each["params"] for each in client.channel.messages if each.get("method") == PROGRESS]


@pytest.mark.parametrize("is_modern", [False, True])
@in_fake_time
async def test_a_session_of_either_era_hears_of_calls_with_a_token_and_of_no_other(is_modern: bool) -> None:
    envelope = META if is_modern else {}
    async with Conversation() as client:
        if not is_modern:
            await client.greet()
        client.send(id=1, method="tools/call", params={"name": "hang", "_meta": envelope | {"progressToken": "a"}})
        client.send(id=2, method="tools/call", params={"name": "hang", "_meta": envelope})
        await asyncio.sleep(50)
        assert [each["progressToken"] for each in told(client)] == ["a"]
        client.session.tell(PROGRESS, dump({"progressToken": "a", "progress": 0}), about=dump(1))
        await asyncio.sleep(0)
        assert told(client)[-1] == {"progressToken": "a", "progress": HAIR}
        client.send(method="notifications/cancelled", params={"requestId": 1})
        await asyncio.sleep(50)
        assert len(told(client)) == 2


@in_fake_time
async def test_a_client_that_does_not_read_is_told_nothing() -> None:
    async with Conversation() as client:
        client.send(id=1, method="tools/call", params={"name": "hang", "_meta": {"progressToken": "a"}})
        await asyncio.sleep(1)
        client.session.dispatcher.pause_writing()
        await asyncio.sleep(50)
        assert told(client) == []
