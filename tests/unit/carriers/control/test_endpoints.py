"""endpoints.py: commands find the hub by its control socket, and hubs of versions without one."""

import os
import socket

import pytest
from tests.fakes.fake_control_hub import FakeControlHub

from tooltray.carriers.control.control_client import ControlClient
from tooltray.carriers.copilot.hub_calls import HubCalls
from tooltray.foundation.home.home import Home

pytestmark = pytest.mark.posix  # sockets of POSIX; tests/windows has the pipes


def version_found(home: Home) -> str | None:
    client = ControlClient.connect(home)
    if client is None:
        return None
    with client:
        return str(client.call("hub/info")["version"])


def test_a_hub_has_a_socket_for_commands(hub_home: Home) -> None:
    with FakeControlHub(hub_home), FakeControlHub(hub_home, {"hub/info": {"version": "of bridges"}}, is_old=True):
        assert version_found(hub_home) == "9.9.9"


@pytest.mark.parametrize("is_left", [False, True])
async def test_a_hub_of_a_version_without_a_control_socket_is_found_also_beside_one_that_a_killed_hub_left(
    hub_home: Home, is_left: bool
) -> None:
    hub_home.prepare()
    if is_left:
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(os.fspath(hub_home.control_socket))
    with FakeControlHub(hub_home, {"get_secret_names": ["s/KEY"]}, is_old=True):
        assert version_found(hub_home) == "9.9.9"
        assert await HubCalls(hub_home, may_start=False).within(10).secrets.get_secret_names() == ["s/KEY"]
    assert version_found(hub_home) is None
