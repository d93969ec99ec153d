"""api.py: a person sees which tasks servers have, and ends them."""

from pathlib import Path

import pytest
from tests.fakes.everything_server import answered
from tests.fakes.hub_parts import MODERN_META, hub_parts, one_server, started
from tests.fakes.scripted_server import error, raw
from tests.fakes.task_server import EXTENSION, KNOWS_TASKS, TaskClient, TaskServer, begun

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY


async def test_tasks_are_listed_the_latest_first_and_one_is_cancelled(tmp_path: Path) -> None:
    program = TaskServer()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        ids = [await begun(parts, TaskClient(owner)) for owner in ("A", "B")]
        api = parts.server_tasks_api
        assert [(task.id, task.server, task.tool, task.client, task.status) for task in await api.get_server_tasks()] == [
            (ids[1], "s", "slow", "test", "working"),
            (ids[0], "s", "slow", "test", "working"),
        ]
        await api.cancel_server_task(ids[0])
        assert program.states == {"task-1": "cancelled", "task-2": "working"}
        assert [task.status for task in await api.get_server_tasks()] == ["working", "cancelled"]
        with pytest.raises(TooltrayError, match="has ended"):
            await api.cancel_server_task(ids[0])
        with pytest.raises(NotFound, match="no task"):
            await api.cancel_server_task("task-2")


@pytest.mark.parametrize(("refusal", "message"), [(error(-1, "not now"), "not now"), (raw(b"7"), None)])
async def test_a_server_may_refuse_or_say_nothing(tmp_path: Path, refusal: object, message: str | None) -> None:
    program = TaskServer()
    program.handlers["tasks/cancel"] = lambda copy, params: refusal
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        id = await begun(parts, TaskClient("A"))
        if message:
            with pytest.raises(TooltrayError, match=message):
                await parts.server_tasks_api.cancel_server_task(id)
        else:
            await parts.server_tasks_api.cancel_server_task(id)
            assert [task.status for task in await parts.server_tasks_api.get_server_tasks()] == ["cancelled"]


async def test_a_modern_server_is_told_in_its_way_also_by_the_next_hub(tmp_path: Path) -> None:
    program = TaskServer(eras=("modern",))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        modern = {"_meta": {**MODERN_META, CLIENT_CAPABILITIES_KEY: KNOWS_TASKS}}
        id = str((await parts.call("slow", TaskClient("A"), **modern))["result"]["taskId"])
    async with hub_parts(tmp_path, programs={"program": program}) as parts:
        await parts.server_tasks_api.cancel_server_task(id)
        asked = await program.request("tasks/cancel")
        assert asked.params["taskId"] == "task-1"
        assert asked.params["_meta"][CLIENT_CAPABILITIES_KEY]["extensions"] == {EXTENSION: {}}
        await parts.conf.remove_server("s")
        with pytest.raises(NotFound):
            await parts.server_tasks_api.cancel_server_task(id)
        assert (await answered(parts, "tasks/get", TaskClient("A"), taskId=id, **modern))["error"]["code"] == -32602
