"""Pipes in the place of files of the home: nothing waits for their other end, and what ends a hub ends it."""

import os
import shutil
import signal
import sys

import psutil
import pytest
from tests.end2end.processes import World, wait_until

PLACES = [
    *("settings.json", "homes.json", "names.json", "eras.json", "clients.json", "api-tokens.json", "grants.json", "audit.jsonl"),
    *("audit.json", "trust.json", "skills.json", "stopped.json", "registries.json", "activity.db", "activity.db-wal", "registry.db"),
    *("window.json", "installs.json", "secrets.enc", "secret-names.json", "passphrase.json", "proposals.json", "environment.json"),
    *("catalogue", "results", "history", "feedback", "client-changes", "server-tasks.json", "logs/tooltray.jsonl", "told.json"),
    *("run/hub.lock", "run/start.lock", "run/hub.json", "run/desktop.json", "run/http-token", "run/socket-folder", "run/hub.sock"),
]


def put_pipes(world: World) -> None:
    for place in PLACES:
        path = world.root / place
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.mkfifo(path)


@pytest.mark.posix
def test_a_command_does_not_wait_for_pipes_in_the_place_of_files(world: World) -> None:
    for command in (("status",), ("tools", "list"), ("servers", "list"), ("audit",), ("secrets", "list"), ("doctor",)):
        put_pipes(world)
        ended = world.tooltray(*command, timeout_s=30.0)
        assert "Traceback" not in ended.stderr
        world.stop_hub()  # if it has started one
        shutil.rmtree(world.root)


@pytest.mark.posix
def test_a_hub_sets_pipes_aside_says_so_and_ends_at_sigterm(world: World) -> None:
    put_pipes(world)
    hub = world.start(sys.executable, "-m", "tooltray", "serve")
    hub.heeds_stdin = False
    wait_until((world.root / "run" / "hub.json").is_file, "the hub to listen")

    said = " ".join(notice["message"] for notice in world.ask("get_snapshot")["notices"])
    missing = [place for place in PLACES if f"{world.root / place}: it is not a file, but a pipe or a device" not in said]
    assert missing == []

    hub.signal(signal.SIGTERM)
    assert hub.wait() == 143


@pytest.mark.posix
def test_the_status_of_a_stopped_hub_says_that_it_does_not_answer(world: World) -> None:
    world.start_hub()
    stopped = psutil.Process(world.hub_pid())
    stopped.suspend()
    try:
        status = world.tooltray("status", timeout_s=20.0)
    finally:
        stopped.resume()
    assert status.returncode == 1
    assert "Tooltray does not respond" in status.stderr
    assert "hub/info took longer than 1.2 s" in status.stderr
