"""Tasks of servers, at a real hub whose servers have none."""

from tests.end2end.verbs.hub_at_work import Checks


async def tasks(hub):
    assert await hub("get_server_tasks") == []
    assert "no task 's:1'" in await hub.refusal("cancel_server_task", id="s:1")


CHECKS: Checks = {"get_server_tasks": tasks, "cancel_server_task": tasks}
