"""`tooltray stop`."""

from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.errors import TooltrayError
from tooltray.home.home import Home


def test_nothing_to_stop_is_what_was_wanted(tooltray: Tooltray) -> None:
    result = tooltray("stop")
    assert result.code == 0
    assert "not running" in result.out
    assert tooltray("stop", "--json").json == {"stopped": False, "reason": "not running"}


def test_a_running_hub_is_stopped(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home) as hub:
        result = tooltray("stop")
    assert (result.code, result.out) == (0, f"Tooltray has stopped (pid {hub.pid}).\n")
    assert hub.methods() == ["hub/info", "hub/stop"]


def test_a_stopped_hub_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home) as hub:
        assert tooltray("stop", "--json").json == {"stopped": True, "pid": hub.pid}


def test_a_hub_that_refuses_is_told(tooltray: Tooltray, hub_home: Home) -> None:
    def refuse() -> None:
        raise TooltrayError("It will not", "because", "Ask again")

    with FakeControlHub(hub_home, {"hub/stop": refuse}):
        result = tooltray("stop")
    assert (result.code, result.out, result.err) == (1, "", "tooltray: It will not: because. Ask again\n")
