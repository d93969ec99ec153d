"""task_listens.py: modern clients that listen for tasks, and what servers are asked to tell for their sake."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import MODERN_META, HubParts, hub_parts, one_server, settled, started
from tests.fakes.modern_subscriptions import LISTENED, acknowledging, wanted
from tests.fakes.scripted_server import error
from tests.fakes.task_server import EXTENSION, KNOWS_TASKS, TaskClient, TaskServer, begun

from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY

MODERN = {"_meta": {**MODERN_META, CLIENT_CAPABILITIES_KEY: KNOWS_TASKS}}
KEY = Raw(b"7")


@asynccontextmanager
async def listened_hub(root: Path, program: TaskServer, clients: list[TaskClient]) -> AsyncIterator[HubParts]:
    async with hub_parts(root, **one_server(program), waits={"connected": lambda: clients}) as parts:
        await started(parts)
        yield parts


async def test_a_server_is_asked_for_the_tasks_that_somebody_listens_for_and_its_news_come_through(tmp_path: Path) -> None:
    program, client, other = TaskServer(eras=("modern",)), TaskClient("A"), TaskClient("B")
    program.handlers[LISTENED] = acknowledging()
    async with listened_hub(tmp_path, program, [client, other]) as parts:
        id = await begun(parts, client, **MODERN)
        assert await parts.client_listens.to_tasks(client, KEY, [id, "s:no such", "task-1"]) == [id]
        assert await parts.client_listens.to_tasks(other, KEY, [id]) == []
        assert wanted(program) == [{"taskIds": ["task-1"]}]
        declared = program.asked.all[-1].params["_meta"][CLIENT_CAPABILITIES_KEY]
        assert declared["extensions"] == {EXTENSION: {}}
        program.copy.notify("notifications/tasks", program.state("task-1") | {"_meta": {"io.modelcontextprotocol/subscriptionId": 1}})
        await client.told.wait(lambda told: told == (id, program.state("task-1") | {"taskId": id}))
        assert not other.told.all
        parts.client_listens.end(client, KEY)
        await program.cancelled.wait(lambda asked: asked.method == LISTENED)
        parts.client_listens.end(client, KEY)


@pytest.mark.parametrize("answers", [acknowledging(lambda wanted: {}), lambda copy, params: error(-32021, "no")])
async def test_nothing_is_promised_where_the_server_tells_nothing(tmp_path: Path, answers: Any) -> None:
    program, client = TaskServer(eras=("modern",)), TaskClient("A")
    program.handlers[LISTENED] = answers
    async with listened_hub(tmp_path, program, [client]) as parts:
        ids = [await begun(parts, client, **MODERN) for _ in range(2)]
        for id in ids:
            assert await parts.client_listens.to_tasks(client, KEY, [id]) == []


async def test_a_legacy_servers_task_and_one_that_has_ended_are_not_listened_for(tmp_path: Path) -> None:
    program, client = TaskServer(), TaskClient("A", server="s")
    async with listened_hub(tmp_path, program, [client]) as parts:
        assert await begun(parts, client, server="s") == "task-1"
        assert await parts.client_listens.to_tasks(client, KEY, ["task-1"]) == []
        parts.task_book.of("A")[0].status = "completed"
        assert await parts.client_listens.to_tasks(client, KEY, ["task-1"]) == []
        program.copy.die()
        parts.task_book.of("A")[0].status = "working"
        assert await parts.client_listens.to_tasks(client, KEY, ["task-1"]) == []
        parts.client_listens.end(client, KEY)
        await settled()
        assert program.count(LISTENED) == 0
