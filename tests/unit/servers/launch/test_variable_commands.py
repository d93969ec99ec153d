import asyncio
import os
from pathlib import Path

import pytest
from tests.fakes.process_end import end_of

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.launch.variable_commands import MOST_OUTPUT_BYTES, first_word, values_of

pytestmark = pytest.mark.posix  # shells of POSIX

ENVIRON = {"PATH": "/usr/bin:/bin", "GREETING": "hello"}
SECRET = "hunter2-is-a-secret"


async def failure(command: str, *, cwd: str = "/", timeout_s: float = 30.0) -> str:
    with pytest.raises(TooltrayError) as caught:
        await values_of({"VALUE": command}, environ=ENVIRON, cwd=cwd, timeout_s=timeout_s)
    return str(caught.value)


async def given_up(command: str, *, when: Path) -> None:
    """A command that takes too long is given up when it has written a file; on a busy machine that takes it a longer limit."""
    for timeout_s in (0.3, 3.0, 30.0):
        assert f"it took more than {timeout_s:g} s" in await failure(command, timeout_s=timeout_s)
        if when.exists() and when.read_text():
            return
    raise AssertionError(f"it has not written {when}")


async def test_each_variable_has_what_its_command_prints_without_the_space_around_it() -> None:
    commands = {"ONE": "printf '\\n  a b \\n\\n'", "TWO": "echo second", "NOTHING": "true"}
    assert await values_of(commands, environ=ENVIRON, cwd="/") == {"ONE": "a b", "TWO": "second", "NOTHING": ""}


async def test_a_command_is_a_shells_in_the_persons_environment_and_the_files_folder(tmp_path: Path) -> None:
    os.environ["TOOLTRAY_OF_THE_HUB"] = "x"
    try:
        found = await values_of({"V": 'echo "$GREETING $TOOLTRAY_OF_THE_HUB$(pwd)" | tr h H'}, environ=ENVIRON, cwd=str(tmp_path))
    finally:
        del os.environ["TOOLTRAY_OF_THE_HUB"]
    assert found == {"V": f"hello {tmp_path}".replace("h", "H")}


async def test_a_command_that_fails_is_named_by_its_first_word_alone() -> None:
    message = await failure(f"false --token {SECRET}")
    assert message.startswith("The command 'false' gave no value for a variable: it ended with code 1")
    assert SECRET not in message


async def test_what_a_failing_command_prints_stands_in_no_error() -> None:
    assert SECRET not in await failure(f"echo {SECRET}; echo {SECRET} >&2; exit 3")


@pytest.mark.parametrize("command", [f"head -c {MOST_OUTPUT_BYTES + 1} /dev/zero | tr '\\0' x", "printf 'a\\0b'"])
async def test_what_no_variable_can_hold_is_refused(command: str) -> None:
    assert "it printed what no variable can hold" in await failure(command)


async def test_a_command_that_takes_too_long_ends_with_all_that_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    await given_up(f"sleep 600 & echo $! $$ > {pids}; wait", when=pids)
    for pid in pids.read_text().split():
        await end_of(int(pid))


async def test_what_a_shell_leaves_behind_and_holds_its_output_open_ends_too(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    await given_up(f"sleep 600 & echo $! > {pid}", when=pid)
    await end_of(int(pid.read_text()))


async def test_a_start_that_is_given_up_ends_its_command(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    command = f"echo $$ > {ready}; exec sleep 600"
    async with asyncio.TaskGroup() as group:
        work = group.create_task(values_of({"V": command}, environ=ENVIRON, cwd="/"))
        pid = int(await asyncio.to_thread(ready.read_text))
        work.cancel()
    await end_of(pid)


async def test_a_folder_that_is_not_there_is_said() -> None:
    assert "No such file or directory" in await failure("true", cwd="/nowhere/at/all")


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (f"op read op://vault/{SECRET}", "op"),
        (f"TOKEN={SECRET} /usr/bin/pass show x", "pass"),
        ("'my tool' x", "my tool"),
        (f"echo '{SECRET}", "echo"),
        ("", ""),
        ("a\x1b[31m b", "a[31m"),
    ],
)
def test_a_command_is_recognised_by_its_first_word(command: str, word: str) -> None:
    assert first_word(command) == word
