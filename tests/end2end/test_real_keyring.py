"""SecretStore in front of a real gnome-keyring on a D-Bus session of its own."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.processes import World

# the argument is a list of calls; each line of stdout is a call's result, or the name of its error's class
PROGRAM = """
import asyncio, json, sys
from tooltray.foundation.home.home import find_home
from tooltray.config.secrets.secrets import SecretStore
from tooltray.foundation.errors import TooltrayError

async def main():
    home = find_home()
    home.prepare()
    store = SecretStore(home)
    for line in json.loads(sys.argv[1]):
        method, *arguments = line
        try:
            answer = {"result": await getattr(store, method)(*arguments)}
        except TooltrayError as error:
            answer = {"error": type(error).__name__}
        print(json.dumps(answer), flush=True)
    await store.close()

asyncio.run(main())
"""
UNLOCKED = 'printf test | gnome-keyring-daemon --unlock --components=secrets > /dev/null && exec "$@"'
LOCKED = 'exec "$@"'
VALUE = "swordfish-swordfish"


def ask(world: World, runtime: Path, session: str | None, *calls: list[str]) -> list[Any]:
    """Runs calls in a session bus of their own, or without one, and returns what each gave."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(calls)]
    if session is not None:
        command = ["dbus-run-session", "--", "bash", "-c", session, "bash", *command]
    program = world.start(*command, environ={"XDG_RUNTIME_DIR": str(runtime)})
    answers = [program.read() for _ in calls]
    assert program.wait() == 0
    world.wait_until_empty()
    return [answer.get("result", answer.get("error")) for answer in answers]


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    return folder


def test_an_unlocked_keyring_keeps_lists_and_forgets_and_no_file_shows_a_value(world: World, runtime: Path) -> None:
    calls = [["set", "files/KEY", VALUE], ["get", "files/KEY"], ["get", "other"], ["names"]]
    assert ask(world, runtime, UNLOCKED, *calls) == [None, VALUE, "SecretMissing", ["files/KEY"]]
    files = [path for path in world.home.rglob("*") if path.is_file()]
    assert any(path.suffix == ".keyring" for path in files)
    assert not [path for path in files if VALUE.encode() in path.read_bytes()]
    assert ask(world, runtime, UNLOCKED, ["get", "files/KEY"], ["remove", "files/KEY"], ["names"]) == [VALUE, None, []]


def test_a_locked_keyring_that_cannot_ask_says_so(world: World, runtime: Path) -> None:
    ask(world, runtime, UNLOCKED, ["set", "files/KEY", VALUE])
    calls = [["get", "files/KEY"], ["set", "b", "1"], ["remove", "files/KEY"], ["names"]]
    assert ask(world, runtime, LOCKED, *calls) == ["SecretsLocked", "SecretsLocked", "SecretsLocked", ["files/KEY"]]
    assert ask(world, runtime, UNLOCKED, ["get", "files/KEY"]) == [VALUE]


def test_a_keyring_that_was_never_made_and_cannot_ask_is_locked(world: World, runtime: Path) -> None:
    assert ask(world, runtime, LOCKED, ["set", "a", VALUE], ["names"]) == ["SecretsLocked", []]


def test_without_a_session_bus_there_is_no_keyring(world: World, runtime: Path) -> None:
    assert ask(world, runtime, None, ["set", "a", VALUE], ["get", "a"], ["names"]) == ["SecretsAbsent", "SecretsAbsent", []]
    assert not [path for path in world.home.rglob("*") if path.is_file() and VALUE.encode() in path.read_bytes()]


def test_uninstalling_takes_the_secrets_out_of_the_keyring(world: World, runtime: Path) -> None:
    ask(world, runtime, UNLOCKED, ["set", "files/KEY", VALUE])
    command = ["dbus-run-session", "--", "bash", "-c", UNLOCKED, "bash", sys.executable, "-m", "tooltray", "uninstall", "--yes"]
    program = world.start(*command, environ={"XDG_RUNTIME_DIR": str(runtime)})
    assert program.wait() == 0
    world.wait_until_empty()
    assert [file.name for file in (world.home / ".tooltray").iterdir()] == ["removed"]  # the mark for bridges
    assert ask(world, runtime, UNLOCKED, ["get", "files/KEY"]) == ["SecretMissing"]
