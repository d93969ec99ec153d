"""`tooltray tasks list|cancel`."""

from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home

TASK = {
    "id": "s:abc",
    "server": "s",
    "tool": "slow",
    "client": "one\x1b[1m",
    "status": "input_required",
    "created_at": 1.0,
    "ttl_s": 60.0,
}


def test_tasks_are_listed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_server_tasks": [TASK, TASK | {"client": "", "status": "made up"}]}):
        lines = tooltray("tasks", "list").out.splitlines()
        assert lines[1].startswith("s:abc  s       slow  one     waits for an answer  19")
        assert "-       made up" in lines[2]
        assert tooltray("tasks", "list", "--json").json[0] == TASK
    with FakeControlHub(hub_home, {"get_server_tasks": []}):
        assert tooltray("tasks", "list").out == "No server has a task of an AI client.\n"


def test_one_is_cancelled(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"cancel_server_task": None}) as hub:
        assert tooltray("tasks", "cancel", "s:abc").out == "The server has heard that nobody wants s:abc any more.\n"
        assert hub.calls[-1] == ("cancel_server_task", {"id": "s:abc"})
