"""notifications.py, offer_requests.py, listens.py, subscriptions.py: what legacy clients share, and sessions get and send."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.everything_server import answered, server_with
from tests.fakes.hub_parts import entry, hub_parts, one_server, settled
from tests.fakes.lazy_hub import ready_parts
from tests.fakes.scripted_server import never, tool

from tooltray.protocol.envelope import Envelope, dump, success
from tooltray.protocol.eras import Era


async def test_a_subscription_goes_to_the_server_of_the_resource_and_ends_there(tmp_path: Path) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client()
        assert "result" in await answered(parts, "resources/subscribe", client, uri="x://1")
        [running] = parts.servers.running_clients()
        assert parts.notifications.hearers(running, dump({"uri": "x://1"})) == ("x://1", [(client, "x://1")])
        assert "result" in await answered(parts, "resources/unsubscribe", client, uri="x://1")
        assert parts.notifications.hearers(running, dump({"uri": "x://1"}))[1] == []
        assert [asked.params["uri"] for asked in program.asked.all if "subscribe" in asked.method] == ["x://1", "x://1"]


@pytest.mark.parametrize("params", [{}, {"uri": 5}])
async def test_a_subscription_to_nothing_is_refused(tmp_path: Path, params: dict[str, Any]) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        assert "error" in await answered(parts, "resources/subscribe", **params)


async def test_a_subscription_where_no_server_has_resources_is_refused(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with({"tools": {}}))) as parts:
        assert (await answered(parts, "resources/subscribe", uri="x://1"))["error"]["code"] == -32002


@pytest.mark.parametrize("method", ["logging/setLevel", "resources/subscribe"])
async def test_a_server_without_such_a_thing_says_so_itself(tmp_path: Path, method: str) -> None:
    program = server_with({"tools": {}, "resources": {}})
    program.handlers[method] = lambda copy, params: Envelope(error=dump({"code": -1, "message": "its own words"}))
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert (await answered(parts, method, server="s", level="info", uri="x://1"))["error"]["message"] == "its own words"


async def test_a_subscription_without_a_resource_is_the_servers_to_refuse(tmp_path: Path) -> None:
    program = server_with()
    program.handlers["resources/subscribe"] = lambda copy, params: Envelope(error=dump({"code": -1, "message": "to what?"}))
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert (await answered(parts, "resources/subscribe", server="s"))["error"]["message"] == "to what?"
        assert program.asked.all[-1].params == {}


async def test_a_modern_server_without_subscriptions_is_not_asked_in_the_words_of_another_era(tmp_path: Path) -> None:
    program = server_with({"tools": {}, "resources": {}}, eras=("modern",))
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        await answered(parts, "resources/subscribe", server="s", uri="x://1")
        assert program.count("resources/subscribe") == 0


async def test_a_level_and_a_subscription_of_one_server_are_kept_for_its_next_start(tmp_path: Path) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client()
        assert (await answered(parts, "logging/setLevel", client, server="s", level="debug"))["result"] == {}
        assert (await answered(parts, "resources/subscribe", client, server="s", uri="x://9"))["result"] == {"subscribed": 1}
        program.copy.die()
        level = await program.asked.wait(lambda asked: asked.method == "logging/setLevel", count=2)
        again = await program.asked.wait(lambda asked: asked.method == "resources/subscribe", count=2)
        assert (level.params, again.params) == ({"level": "debug"}, {"uri": "x://9"})


async def test_a_modern_server_takes_the_level_of_a_legacy_client_without_a_request(tmp_path: Path) -> None:
    program = server_with(eras=("modern",))
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert (await answered(parts, "logging/setLevel", server="s", level="debug"))["result"] == {}
        assert program.count("logging/setLevel") == 0


async def test_what_clients_share_is_refused_while_paused_and_when_the_server_does_not_run(tmp_path: Path) -> None:
    program = server_with()
    program.handlers["initialize"] = lambda copy, params: copy.die()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        assert "out of cheese" in (await answered(parts, "logging/setLevel", server="s", level="info"))["error"]["message"]
        await parts.conf.set_enabled(False)
        assert "paused" in (await answered(parts, "logging/setLevel", server="s", level="info"))["error"]["message"]


async def test_what_a_modern_client_listens_to_is_asked_of_the_servers_before_it_is_told_so(tmp_path: Path) -> None:
    program = server_with()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client()
        await parts.client_listens.to_resources(client, Raw(b"7"), ["x://1", "x://t/2"], server=None)
        assert sorted(asked.params["uri"] for asked in program.asked.all if asked.method == "resources/subscribe") == ["x://1", "x://t/2"]
        parts.client_listens.end(client, Raw(b"7"))
        await program.asked.wait(lambda asked: asked.method == "resources/unsubscribe", count=2)
        await parts.client_listens.to_resources(client, Raw(b"8"), ["x://5"], server="s")
        assert program.asked.all[-1].params == {"uri": "x://5"}
        await parts.client_listens.to_resources(client, Raw(b"9"), [], server="s")


async def test_listening_where_nobody_has_resources_asks_nobody(tmp_path: Path) -> None:
    program = server_with({"tools": {}})
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        await parts.client_listens.to_resources(parts.client(), Raw(b"7"), ["x://1"], server=None)
        assert program.count("resources/subscribe") == 0
        await parts.client_listens.to_resources(parts.client(), Raw(b"8"), ["x://1"], server="gone")
        assert program.count("resources/subscribe") == 0


@pytest.mark.parametrize("server", [None, "s"])
async def test_a_modern_client_learns_of_which_resources_it_will_hear_nothing(tmp_path: Path, server: str | None) -> None:
    program = server_with()
    refused = Envelope(error=dump({"code": -1, "message": "no"}))
    program.handlers["resources/subscribe"] = lambda copy, params: refused if params["uri"] == "x://t/2" else {}
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client, listen = parts.client(), parts.client_listens.to_resources
        assert await listen(client, Raw(b"7"), ["x://1", "x://t/2"], server=server) == ["x://1"]
        program.handlers["resources/subscribe"] = lambda copy, params: {}
        assert await listen(client, Raw(b"8"), ["x://t/2"], server=server) == ["x://t/2"]


async def test_what_nobody_has_is_not_listened_to(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with({"tools": {}}))) as parts:
        assert await parts.client_listens.to_resources(parts.client(), Raw(b"7"), ["x://1"], server=None) == []


async def test_a_client_hears_the_log_messages_of_the_level_that_it_has_set_and_above(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(server_with())) as parts:
        client = parts.client()
        await answered(parts, "logging/setLevel", client, level="error")
        wanted = [parts.notifications.wants_log_message(client, dump({"level": level})) for level in ("alert", "error", "info")]
        assert wanted == [True, True, False]


async def test_changed_roots_are_told_to_every_legacy_server_that_the_client_reaches(tmp_path: Path) -> None:
    one_program, other = server_with(), server_with()
    servers = {"s": entry("program"), "o": entry("other")}
    async with ready_parts(tmp_path, servers=servers, programs={"program": one_program, "other": other}) as parts:
        await parts.servers.start("o")
        parts.notifications.take(parts.client(), "notifications/roots/list_changed", Raw(b""), server=None)
        for program in (one_program, other):
            await program.told.wait(lambda told: told.method == "notifications/roots/list_changed")
        parts.notifications.take(parts.client(), "notifications/roots/list_changed", Raw(b""), server="o")
        await other.told.wait(lambda told: told.method == "notifications/roots/list_changed", count=2)
        assert sum(told.method == "notifications/roots/list_changed" for told in one_program.told.all) == 1


async def test_a_server_that_the_profile_does_not_have_hears_nothing_of_the_client(tmp_path: Path) -> None:
    one_program, other = server_with(), server_with()
    options = {"servers": {"s": entry("program"), "o": entry("other")}, "settings": {"profiles": {"p": {"servers": ["o"]}}}}
    async with ready_parts(tmp_path, **options, programs={"program": one_program, "other": other}) as parts:
        await parts.servers.start("o")
        client = parts.client()
        client.state.profile = "p"
        await answered(parts, "logging/setLevel", client, level="debug")
        parts.notifications.take(client, "notifications/roots/list_changed", Raw(b""), server=None)
        await other.told.wait(lambda told: told.method == "notifications/roots/list_changed")
        assert "notifications/roots/list_changed" not in [told.method for told in one_program.told.all]
        listened = [await parts.client_listens.to_resources(client, Raw(b"7"), ["x://1"], server=server) for server in ("s", "o")]
        assert listened == [[], ["x://1"]]
        assert (one_program.count("logging/setLevel"), other.count("logging/setLevel")) == (0, 1)
        seen = [parts.notifications.concerns(client, server, "notifications/tools/list_changed") for server in ("s", "o")]
        assert seen == [False, True]


async def test_progress_on_a_question_goes_to_the_server_that_asked_it_and_to_no_other(tmp_path: Path) -> None:
    program, other = server_with(), server_with()
    servers = {"s": entry("program"), "o": entry("other")}
    async with ready_parts(tmp_path, servers=servers, programs={"program": program, "other": other}) as parts:
        await parts.servers.start("o")
        client = parts.client(capabilities={"elicitation": {}}, answer=lambda method: never(program.copy, None))
        program.tools.append(tool("hang"))
        calling = parts.keeper.spawn(answered(parts, "later/method", client, server="s"), name="call")
        program.handlers["later/method"] = never
        await program.request("later/method")
        asking = parts.keeper.spawn(program.copy.ask("elicitation/create"), name="ask")
        await client.asked.wait()
        parts.notifications.take(client, "notifications/progress", Raw(b'{"progressToken":1,"progress":1}'), server=None)
        told = await program.told.wait(lambda told: told.method == "notifications/progress")
        assert told.params == {"progressToken": 1, "progress": 1}
        assert not any(told.method == "notifications/progress" for told in other.told.all)
        for task in (asking, calling):
            task.cancel()


@pytest.mark.parametrize("method", ["notifications/tasks", "notifications/tasks/status"])
async def test_the_state_of_a_clients_task_is_told_to_the_server_that_it_was_begun_for(tmp_path: Path, method: str) -> None:
    program, other = server_with(), server_with()
    servers = {"s": entry("program"), "o": entry("other")}
    async with ready_parts(tmp_path, servers=servers, programs={"program": program, "other": other}) as parts:
        await parts.servers.start("o")
        client = parts.client()
        [running] = [each for each in parts.servers.running_clients() if each.name == "s"]
        begun = {
            "taskId": "1",
            "status": "working",
            "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z",
            "ttl": None,
        }
        running.client_tasks.noted(client, success({"task": begun}))
        for id in ("1", "2"):
            parts.notifications.take(client, method, dump({"taskId": id, "status": "completed"}), server=None)
        await settled()
        told = [[each.params for each in each_program.told.all if each.method == method] for each_program in (program, other)]
        assert told == [[{"taskId": "1", "status": "completed"}], []]


async def test_what_else_a_client_says_goes_to_its_one_server_in_its_era_or_to_nobody(tmp_path: Path) -> None:
    program = server_with(eras=("legacy", "modern"))
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        legacy, modern = parts.client(introduction=Raw(b"{}")), parts.client()
        own = await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        assert own.era is Era.LEGACY
        parts.notifications.take(legacy, "notifications/later", Raw(b"{}"), server="s")
        assert (await program.told.wait(lambda told: told.method == "notifications/later")).copy is own.transport
        parts.notifications.take(modern, "notifications/later", Raw(b"{}"), server="s")
        assert (await program.told.wait(lambda told: told.method == "notifications/later", count=2)).copy is not own.transport
        for server in (None, "gone"):
            parts.notifications.take(legacy, "notifications/later", Raw(b"{}"), server=server)
        await settled()
        assert sum(told.method == "notifications/later" for told in program.told.all) == 2
