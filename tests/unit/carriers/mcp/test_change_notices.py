"""change_notices.py in a session: which changes one AI client hears of, and how each era is told."""

import asyncio
from typing import Any

import pytest
from tests.fakes.conversation import CHANGED, LONG_S, META, PREFIX, Conversation, listen
from tests.fakes.fake_clock import in_fake_time

from tooltray.foundation.events import PromptListChanged, ResourceListChanged
from tooltray.protocol.envelope import dump

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
