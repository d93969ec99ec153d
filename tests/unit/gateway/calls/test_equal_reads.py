"""equal_reads.py: equal reads at the same moment run once, each caller gets its own reply, and nothing else is shared."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client, HubParts, hub_parts, one_server, settled, started
from tests.fakes.scripted_server import ScriptedServer, error, text, tool

from tooltray.protocol.envelope import Envelope, dump

READS = {"annotations": {"readOnlyHint": True, "idempotentHint": True}}


class Reads:
    """A server whose tool `t` answers how often it was called, when the test lets it."""

    def __init__(self, **members: Any) -> None:
        self.program = ScriptedServer(tool("t", **(members or READS)))
        self.go_on = asyncio.Event()
        self.asks = ""
        self.program.calls["t"] = self._answer

    async def _answer(self, copy: Any, params: Any) -> Any:
        number = self.program.count("tools/call")
        await self.go_on.wait()
        if token := params.get("_meta", {}).get("progressToken"):
            copy.notify("notifications/progress", {"progressToken": token, "progress": 1})
        if self.asks and number == 1:
            for _ in range(2):
                await copy.ask("elicitation/create", {"message": self.asks})
        return text(f"{number}")


async def calls_of(parts: HubParts, *clients: Client, **params: Any) -> "list[asyncio.Task[Any]]":
    tasks = []
    for number, client in enumerate(clients):
        given = {"name": "t", "arguments": {"a": 1, "b": [{"c": 2, "d": 3}]}, **params}
        request = Envelope(id=dump(number + 1), method="tools/call", params=dump(given))
        tasks.append(asyncio.create_task(parts.calls.call(exchange_of(request, client))))
        await settled()
    return tasks


async def texts(tasks: "list[asyncio.Task[Any]]") -> list[str]:
    return [json.loads(bytes((await task).result))["content"][0]["text"] for task in tasks]


async def prepared(parts: HubParts) -> list[Client]:
    await started(parts)
    await parts.listed()
    return [parts.client(name=name) for name in "abc"]


async def test_equal_reads_run_once_however_they_are_written(tmp_path: Path) -> None:
    reads = Reads()
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        clients = await prepared(parts)
        tasks = await calls_of(parts, *clients)
        tasks += await calls_of(parts, clients[0], arguments={"b": [{"d": 3, "c": 2}], "a": 1})
        other = Raw(b'{ "name":"t", "arguments":{"a":1, "b":[{"c":2,"d":3}] } }')
        tasks.append(asyncio.create_task(parts.calls.call(exchange_of(Envelope(method="tools/call", params=other), clients[1]))))
        await settled()
        reads.go_on.set()
        assert await texts(tasks) == ["1"] * 5
        replies = [await task for task in tasks]
        assert len({id(reply) for reply in replies}) == 5
        assert await texts(await calls_of(parts, clients[0])) == ["2"]  # it is over: what comes later is a call of its own


@pytest.mark.parametrize(
    ("members", "fields", "others"),
    [
        (READS, {}, {}),
        ({"annotations": {"readOnlyHint": True}}, {"shareReads": True}, {}),
        ({"annotations": {"idempotentHint": True}}, {"shareReads": True}, {}),
        ({"description": "get"}, {"shareReads": True}, {}),
        (READS, {"shareReads": True, "isolation": "session"}, {}),
        (READS, {"shareReads": True}, {"arguments": {"a": 1.0, "b": [{"c": 2, "d": 3}]}}),
        (READS, {"shareReads": True}, {"_meta": {"traceparent": "00-1"}}),
        (READS, {"shareReads": True}, {"_meta": {"progressToken": 1}}),
    ],
)
async def test_all_else_runs_by_itself(tmp_path: Path, members: Any, fields: Any, others: Any) -> None:
    reads = Reads(**members)
    async with hub_parts(tmp_path, **one_server(reads.program, **fields)) as parts:
        clients = await prepared(parts)
        for client in clients[:2] if "isolation" in fields else ():
            await parts.servers.get("s").running(
                exchange_of(Envelope(params=dump({"name": "t"})), client).era, timeout_s=5.0, session=client
            )
        tasks = await calls_of(parts, clients[0]) + await calls_of(parts, clients[1], **others)
        reads.go_on.set()
        assert sorted(await texts(tasks)) == ["1", "2"]


@pytest.mark.parametrize("member", [{"task": {}}, {"requestState": "x"}, {"inputResponses": {"1": {}}}, {"padding": "x" * 2**17}])
async def test_calls_that_last_go_on_or_are_long_run_by_themselves(tmp_path: Path, member: Any) -> None:
    reads = Reads()
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        tasks = await calls_of(parts, *(await prepared(parts))[:2], **member)
        reads.go_on.set()
        assert sorted(await texts(tasks)) == ["1", "2"]


async def test_clients_that_know_resources_by_other_uris_share_no_reply(tmp_path: Path) -> None:
    reads = Reads()
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        one, other, _ = await prepared(parts)
        alone = asyncio.create_task(parts.call("t", one, server="s", arguments={"a": 1, "b": [{"c": 2, "d": 3}]}))
        await settled()
        tasks = await calls_of(parts, other)
        reads.go_on.set()
        assert ((await alone)["result"], await texts(tasks)) == (text("1"), ["2"])


@pytest.mark.parametrize("argument", [b'"a":' + b"[" * 900 + b"]" * 900, b'"a":1,"a":2'])
async def test_arguments_too_deep_to_compare_or_given_twice_are_not_compared(tmp_path: Path, argument: bytes) -> None:
    reads = Reads()
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        clients = await prepared(parts)
        params = Raw(b'{"name":"t","arguments":{%b}}' % argument)
        odd = asyncio.create_task(parts.calls.call(exchange_of(Envelope(method="tools/call", params=params), clients[0])))
        await settled()
        tasks = [odd, *await calls_of(parts, clients[1], arguments={"a": 2})]
        reads.go_on.set()
        assert await texts(tasks) == ["1", "2"]


async def test_each_hears_of_progress_under_its_own_token(tmp_path: Path) -> None:
    reads = Reads()
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        clients = await prepared(parts)
        tasks = [
            task
            for client, token in zip(clients, "xyz", strict=True)
            for task in await calls_of(parts, client, _meta={"progressToken": token})
        ]
        reads.go_on.set()
        assert await texts(tasks) == ["1"] * 3
        assert [client.told.all[0][1]["progressToken"] for client in clients] == ["x", "y", "z"]
        assert [client.abouts for client in clients] == [[1], [1], [1]]


async def test_one_that_is_cancelled_cancels_no_other_and_the_last_one_cancels_the_servers(tmp_path: Path) -> None:
    reads = Reads()
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        clients = await prepared(parts)
        first, second, third = await calls_of(parts, *clients)
        first.cancel()
        await settled()
        assert reads.program.cancelled.all == []
        reads.go_on.set()
        assert await texts([second, third]) == ["1", "1"]
        reads.go_on.clear()
        tasks = await calls_of(parts, *clients)
        for task in tasks:
            task.cancel()
        await reads.program.cancelled.wait(lambda _: True)
        assert reads.program.count("tools/call") == 2
        late = await calls_of(parts, clients[0])
        reads.go_on.set()
        assert await texts(late) == ["3"]


async def test_one_that_is_called_again_in_the_moment_of_its_cancellation_gets_its_own_reply(tmp_path: Path) -> None:
    reads = Reads()
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        clients = await prepared(parts)
        [first] = await calls_of(parts, clients[0])
        first.cancel()
        [again] = await calls_of(parts, clients[0])  # both lines came in one piece
        reads.go_on.set()
        assert await texts([again]) == ["2"]


async def test_where_the_server_asks_a_client_the_others_call_by_themselves(tmp_path: Path) -> None:
    reads = Reads()
    reads.asks = "which account?"
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        await prepared(parts)
        clients = [parts.client(name="a", capabilities={"elicitation": {}}, answer={"action": "accept"}), parts.client(name="b")]
        tasks = await calls_of(parts, *clients)
        reads.go_on.set()
        assert await texts(tasks) == ["1", "2"]
        assert [len(client.asked.all) for client in clients] == [2, 0]


async def test_while_one_is_asked_the_next_ones_share_another_call(tmp_path: Path) -> None:
    reads, answered = Reads(), asyncio.Event()
    reads.asks = "which account?"

    async def answer(method: str) -> Any:
        await answered.wait()
        return {"action": "accept"}

    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True)) as parts:
        await prepared(parts)
        asked = parts.client(name="a", capabilities={"elicitation": {}}, answer=answer)
        tasks = await calls_of(parts, asked)
        reads.go_on.set()
        await asked.asked.wait(lambda _: True)
        reads.go_on.clear()
        tasks += await calls_of(parts, parts.client(name="b"), parts.client(name="c"))
        answered.set()
        assert await texts(tasks[:1]) == ["1"]
        reads.go_on.set()
        assert await texts(tasks) == ["1", "2", "2"]


async def test_a_failure_is_everybodys_and_a_limit_holds_one_place_for_all(tmp_path: Path) -> None:
    reads = Reads()
    reads.program.calls["t"] = lambda copy, params: error(-1, "no")
    async with hub_parts(tmp_path, **one_server(reads.program, shareReads=True, maxCalls=1)) as parts:
        clients = await prepared(parts)
        tasks = await calls_of(parts, *clients)
        assert [bool((await task).error) for task in tasks] == [True] * 3
