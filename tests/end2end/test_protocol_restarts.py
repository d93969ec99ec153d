"""What clients have set up outlives a kill -9 of their servers, and one of the hub."""

import os
import signal

import pytest
from tests.end2end.processes import new_world, wait_until
from tests.end2end.steered import Refused, SteeredClient, add_featured, start_and_wait

ERAS = {"dual": "both", "newer": "modern", "older": "legacy"}


@pytest.fixture(scope="module")
def world():
    """A hub with servers of every era; one after the other is killed."""
    with new_world() as world:
        for name, era in ERAS.items():
            add_featured(world, name, era)
        start_and_wait(world)
        yield world


@pytest.fixture(scope="module")
def clients(world):
    """Clients of both eras that hear of a resource of each server; the legacy one has set a log level."""
    clients = [SteeredClient(world, mode) for mode in ("legacy", "auto")]
    for client in clients:
        client.do("watch", uris=[f"note://{name}" for name in ERAS])
    clients[0].do("set_logging_level", level="error")
    yield clients
    for client in clients:
        client.end()


def kill_servers(world):
    for server in world.servers().values():
        for pid in server["pids"]:
            os.kill(pid, signal.SIGKILL)


def kill_hub(world):
    world.kill_hub()


def is_update_heard(client, name):
    """Whether the client hears of an update now; the first calls that a server answers may be before it knows of subscriptions again."""
    client.call(f"{name}_update", uri=f"note://{name}")
    return {"event": "updated", "uri": f"note://{name}"} in client.do("seen")


@pytest.mark.parametrize("kill", [kill_servers, kill_hub])
def test_subscriptions_listens_and_levels_are_there_again_after_a_kill_and_no_call_hangs(world, clients, kill):
    for client in clients:
        for name in ERAS:
            client.start_call(name, f"{name}_wait")
            client.hear(event="progress")
    kill(world)
    for client in clients:
        for name in ERAS:
            with pytest.raises(Refused):
                client.do("outcome", key=name)
    for name in ERAS:
        for client in clients:
            wait_until(lambda client=client, name=name: is_update_heard(client, name), f"an update of '{name}' to be heard")
        legacy = clients[0]
        if ERAS[name] != "modern":  # a modern server is told with each call
            wait_until(lambda legacy=legacy, name=name: legacy.told(f"{name}_heard")["level"] == "error", "the level to be set")
        legacy.do("seen")
        legacy.call(f"{name}_log")
        assert [event["level"] for event in legacy.do("seen") if event["event"] == "log"] == ["error"]
