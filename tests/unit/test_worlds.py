"""The look at what end-to-end tests leave behind: it finds what hides, and finds nothing where nothing is."""

import os
import sys

from tests.end2end.processes import World

HIDES = """
import os, subprocess, sys
child = subprocess.Popen(
    [sys.executable, "-I", "-c", "import signal; signal.pause()"], env={"HOME": os.environ["HOME"]}, start_new_session=True,
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(child.pid, flush=True)
"""
FORGETS = """
import os, pathlib, socket, sys
run = pathlib.Path.home() / ".tooltray" / "run"
run.mkdir(parents=True)
(run / "hub.lock").touch()
(run / "hub.json").write_text('{"pid": 0}')
socket.socket(socket.AF_UNIX).bind(str(run / "hub.sock"))
pathlib.Path(os.environ["TMPDIR"], "scratch").touch()
"""


def test_a_process_that_fled_into_a_session_and_environment_of_its_own_is_found_and_ended() -> None:
    world = World(end_s=0.2)
    pid = int(world.start(sys.executable, "-c", HIDES).read_line())

    (left,) = world.end()

    assert left.startswith(f"process {pid} (")
    assert world.processes() == []
    assert not world.home.exists()


def test_sockets_records_of_a_hub_and_temporary_files_are_found_and_locks_may_stay() -> None:
    world = World()
    world.start(sys.executable, "-c", FORGETS).wait()
    world.socket_fallback().mkdir()

    left = world.end()

    assert sorted(line.rpartition("/")[2] for line in left) == ["hub.json", "hub.sock", "scratch", world.socket_fallback().name]
    assert not world.socket_fallback().exists()


def test_of_programs_that_end_when_told_nothing_is_found() -> None:
    world = World()
    echo = world.start(sys.executable, "-c", "import sys; [print(line, end='', flush=True) for line in sys.stdin]")
    stubborn = world.start(sys.executable, "-c", "import signal; print('1', flush=True); signal.pause()")
    stubborn.heeds_stdin = False

    echo.send({"id": 1})
    assert echo.read() == {"id": 1}
    assert stubborn.read() == 1
    assert {process.pid for process in world.processes()} == {echo.pid, stubborn.pid}
    assert world.end() == []
    assert os.getpid() not in {process.pid for process in world.processes()}
