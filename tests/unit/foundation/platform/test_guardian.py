"""The hub's parent, with real processes: what it passes on, what it says at the end, and what it leaves behind: nothing.

Each test runs a small program that calls `guardian.run`. Its hub says on standard output what it is and what it has started.
"""

import contextlib
import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tooltray.foundation.platform import guardian_linux, guardian_macos
from tooltray.foundation.platform.guardian import REPLACED
from tooltray.ui.shell import desktop

BOUND_S = 20.0  # for every wait
HEAD = """
import json, os, signal, subprocess, sys, threading, time
from tooltray.foundation.platform import guardian
{before}

def say(**told):
    sys.stdout.write(json.dumps(told) + "\\n")
    sys.stdout.flush()

def start(code, **options):
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)

def work():
{work}

sys.exit(guardian.run(work{files}))
"""
IGNORES = """
import os, signal, sys, threading
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"ready")
os.close(1)
threading.Event().wait()
"""
DAEMON = """
import os, sys, threading
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.write(1, b"%d" % os.getpid())
os.close(1)
threading.Event().wait()
"""
WAIT = "threading.Event().wait()"


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for(condition: Callable[[], object]) -> None:
    """Waits, bounded, for something of another process that gives no event."""
    until = time.monotonic() + BOUND_S
    pause = threading.Event()
    while not condition() and time.monotonic() < until:
        pause.wait(0.01)


class Guarded:
    """A program under a guardian; ended with all that came from it when the test ends."""

    def __init__(self, work: str, *, before: str = "", files: str = "", **options: Any) -> None:
        text = HEAD.format(work=textwrap.indent(textwrap.dedent(work), "    "), before=before, files=files)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        self.process = subprocess.Popen([sys.executable, "-c", text], **pipes)
        self.seen: set[psutil.Process] = set()

    def told(self) -> dict[str, Any]:
        """The next thing that the hub says."""
        assert self.process.stdout
        told = json.loads(self.process.stdout.readline())
        for pid in told.values():
            with contextlib.suppress(psutil.NoSuchProcess, TypeError):
                self.seen.add(psutil.Process(pid))
        return told

    def end(self) -> int:
        return self.process.wait(BOUND_S)

    def left(self) -> list[psutil.Process]:
        """Which of the processes that the hub told of live on. Those that are dead may wait for init to take note of it."""
        return [process for process in self.seen if is_alive(process)]

    def close(self) -> None:
        for process in [*self.seen, psutil.Process()]:
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.pid != os.getpid():
                    process.kill()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()


@pytest.fixture
def guarded() -> Iterator[Callable[..., Guarded]]:
    running: list[Guarded] = []

    def start(work: str, **options: Any) -> Guarded:
        running.append(Guarded(work, **options))
        return running[-1]

    yield start
    for each in running:
        each.close()


@pytest.mark.parametrize("code", [0, 1, 2, 3, 130, 143])
def test_the_exit_code_is_the_hubs(guarded: Callable[..., Guarded], code: int) -> None:
    assert guarded(f"return {code}").end() == code


def test_who_guarded_a_hub_whose_program_was_replaced_becomes_the_new_one(guarded: Callable[..., Guarded]) -> None:
    told = "import os, signal, sys; sys.stderr.write(f'{os.getpid()} {sorted(signal.pthread_sigmask(0, ()))}')"
    program = guarded(f"return {REPLACED}", files=f", successor=[sys.executable, '-c', {told!r}]")

    assert program.end() == 0
    assert program.process.stderr
    assert program.process.stderr.read().decode() == f"{program.process.pid} []"


def test_where_the_new_program_is_gone_too_the_hubs_code_remains(guarded: Callable[..., Guarded]) -> None:
    assert guarded(f"return {REPLACED}", files=", successor=['/nowhere/tooltray']").end() == REPLACED


def test_a_hub_that_ends_otherwise_is_not_started_anew(guarded: Callable[..., Guarded]) -> None:
    assert guarded("return 4", files=", successor=['/bin/false']").end() == 4


def test_a_hub_that_fails_is_an_exit_code_of_one_with_its_trace(guarded: Callable[..., Guarded]) -> None:
    program = guarded("raise RuntimeError('why')")

    assert program.end() == 1
    assert program.process.stderr
    assert b"RuntimeError: why" in program.process.stderr.read()


def test_the_hub_is_the_child_and_has_the_pipes(guarded: Callable[..., Guarded]) -> None:
    program = guarded("say(pid=os.getpid(), parent=os.getppid(), asked=sys.stdin.readline()); return 0")
    assert program.process.stdin
    program.process.stdin.write(b"question\n")
    program.process.stdin.flush()

    told = program.told()
    assert told["pid"] != told["parent"] == program.process.pid
    assert told["asked"] == "question\n"
    assert program.end() == 0


def test_what_was_written_before_is_written_once(guarded: Callable[..., Guarded]) -> None:
    program = guarded("return 0", before="sys.stdout.write('once')")

    assert program.end() == 0
    assert program.process.stdout
    assert program.process.stdout.read() == b"once"


def test_the_guardian_keeps_no_pipe_open(guarded: Callable[..., Guarded]) -> None:
    program = guarded("say(pid=os.getpid()); os.close(0); os.close(1); sys.stderr.write('closed\\n'); " + WAIT)
    program.told()
    assert program.process.stdin
    assert program.process.stdout
    assert program.process.stderr
    assert program.process.stderr.readline() == b"closed\n"

    assert program.process.stdout.read() == b""  # it ends although both processes live
    with pytest.raises(BrokenPipeError):
        os.write(program.process.stdin.fileno(), b"x")
    assert program.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_passed_on(guarded: Callable[..., Guarded], number: int) -> None:
    program = guarded(f"""
        signal.pthread_sigmask(signal.SIG_BLOCK, [{number}])
        say(pid=os.getpid())
        return 40 + signal.sigwait([{number}])
    """)
    program.told()
    program.process.send_signal(number)

    assert program.end() == 40 + number


def test_ctrl_c_on_a_terminal_reaches_the_hub_once(guarded: Callable[..., Guarded]) -> None:
    ours, terminal = pty.openpty()
    with open(ours, "wb", buffering=0) as keyboard, open(terminal, "rb") as theirs:
        program = guarded(
            """
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
            os.kill(os.getppid(), signal.SIGSTOP)  # two at once would look like one
            say(pid=os.getpid())
            signal.sigwait([signal.SIGINT])
            os.kill(os.getppid(), signal.SIGTERM)  # comes back when the guardian is through with the SIGINT, whose number is lower
            os.kill(os.getppid(), signal.SIGCONT)
            signal.sigwait([signal.SIGTERM])
            return 40 + (signal.SIGINT in signal.sigpending())
            """,
            before="import fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)",
            stdin=theirs,
        )
        program.told()
        keyboard.write(b"\x03")

        assert program.end() == 40


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 1)])
def test_a_hub_that_a_passed_on_signal_ends_before_it_can_act_on_it_has_the_code_for_it(
    guarded: Callable[..., Guarded], number: int, code: int
) -> None:
    program = guarded(f"signal.signal({number}, signal.SIG_DFL); say(pid=os.getpid()); {WAIT}")
    program.told()
    program.process.send_signal(number)

    assert program.end() == code


def test_ctrl_c_before_the_hub_has_its_own_way_with_it_ends_it_without_a_trace(guarded: Callable[..., Guarded]) -> None:
    program = guarded("say(pid=os.getpid()); " + WAIT)
    program.told()
    program.process.send_signal(signal.SIGINT)

    assert program.end() == 130
    assert program.process.stderr
    assert program.process.stderr.read() == b""


HANGS = """
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
say(pid=os.getpid())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_hub_that_does_not_obey_is_killed(guarded: Callable[..., Guarded], number: int) -> None:
    heeded = f"signal.signal({int(number)}, signal.SIG_DFL)"  # whoever runs the tests may ignore it, as nohup does
    program = guarded(HANGS + WAIT, before=heeded, files=", ends_within_s=0.1")
    program.told()
    program.process.send_signal(number)

    assert program.end() == 1
    assert program.left() == []


def test_a_signal_that_whoever_started_it_has_ignored_is_no_reason_to_end(guarded: Callable[..., Guarded]) -> None:
    program = guarded(
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
        say(pid=os.getpid())
        say(received=signal.sigwait([signal.SIGHUP]))
        start("").wait()  # a moment for a guardian that would kill it
        return 5
        """,
        before="signal.signal(signal.SIGHUP, signal.SIG_IGN)",
        files=", ends_within_s=0.0",
    )
    program.told()
    program.process.send_signal(signal.SIGHUP)
    program.told()

    assert program.end() == 5


def test_a_hub_that_somebody_else_ends_by_a_signal_has_failed(guarded: Callable[..., Guarded]) -> None:
    program = guarded("say(pid=os.getpid()); " + WAIT)
    os.kill(program.told()["pid"], signal.SIGTERM)

    assert program.end() == 1


@pytest.mark.parametrize("is_killed", [True, False])
def test_nothing_outlives_the_hub(guarded: Callable[..., Guarded], is_killed: bool) -> None:
    program = guarded(f"""
        deaf = start({IGNORES!r}, start_new_session=True)
        assert deaf.stdout.read() == b"ready"
        daemon = int(start({DAEMON!r}).stdout.read())
        child = start("import threading; threading.Event().wait()")
        say(pid=os.getpid(), deaf=deaf.pid, daemon=daemon, child=child.pid)
        if {is_killed}:
            threading.Event().wait()
        return 7
    """)
    told = program.told()
    if is_killed:
        os.kill(told["pid"], signal.SIGKILL)

    assert program.end() == (1 if is_killed else 7)
    assert len(program.seen) == 4
    assert program.left() == []


def test_what_a_dying_child_starts_is_ended_too(guarded: Callable[..., Guarded], tmp_path: Path) -> None:
    code = f"""
import os, signal, subprocess, sys, threading
def on_term(*_):
    heir = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"], start_new_session=True)
    open({str(tmp_path / "heir")!r}, "w").write(str(heir.pid))
    os._exit(0)
signal.signal(signal.SIGTERM, on_term)
os.write(1, b"ready")
threading.Event().wait()
"""
    program = guarded(f"""
        child = start({code!r}, start_new_session=True)
        assert child.stdout.read(5) == b"ready"
        say(pid=os.getpid(), child=child.pid)
        return 0
    """)
    program.told()

    assert program.end() == 0
    assert program.left() == []
    with contextlib.suppress(psutil.NoSuchProcess):
        assert not is_alive(psutil.Process(int((tmp_path / "heir").read_text())))


def test_jobs_that_were_there_before_are_left_alone(guarded: Callable[..., Guarded]) -> None:
    program = guarded(
        "say(job=job.pid); return 0",
        before="job = subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'], stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL)",
    )
    program.told()

    assert program.end() == 0
    (job,) = program.seen
    assert job.is_running()


def test_orphans_are_reaped_while_the_hub_runs(guarded: Callable[..., Guarded]) -> None:
    program = guarded(f"""
        daemon = int(start({DAEMON!r}).stdout.read())
        say(daemon=daemon)
        sys.stdin.read()
        return 0
    """)
    daemon = psutil.Process(program.told()["daemon"])
    assert daemon.ppid() == program.process.pid
    daemon.kill()

    daemon.wait(BOUND_S)  # it has gone, not only died
    assert program.process.stdin
    program.process.stdin.close()
    assert program.end() == 0


def test_when_the_guardian_is_killed_the_hub_is_asked_to_end(guarded: Callable[..., Guarded], tmp_path: Path) -> None:
    program = guarded(f"""
        ended = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: (open({str(tmp_path / "ended")!r}, "w").close(), os._exit(0)))
        say(pid=os.getpid())
        threading.Event().wait()
    """)
    program.told()
    program.process.kill()

    wait_for((tmp_path / "ended").exists)
    assert (tmp_path / "ended").exists()


def test_whoever_started_it_may_have_the_end_of_children_ignored(guarded: Callable[..., Guarded]) -> None:
    program = guarded(
        "return subprocess.run([sys.executable, '-c', 'import sys; sys.exit(5)']).returncode",
        before="signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    )

    assert program.end() == 5


def test_in_lists_of_processes_the_guardian_has_a_name_of_its_own(guarded: Callable[..., Guarded]) -> None:
    program = guarded("sys.stdin.read(); return 0")
    name = Path(f"/proc/{program.process.pid}/comm")
    wait_for(lambda: name.read_text() == "tooltray-guard\n")

    assert name.read_text() == "tooltray-guard\n"


class Files:
    """A hub's lock and files, and how a program is told of them."""

    def __init__(self, folder: Path) -> None:
        self.lock, self.socket, self.json = folder / "hub.lock", folder / "hub.sock", folder / "hub.json"
        self.arguments = f", lock={str(self.lock)!r}, files=[{str(self.socket)!r}, {str(self.json)!r}]"
        self.hold = f"""
        import fcntl
        lock = open({str(self.lock)!r}, "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        open({str(self.json)!r}, "w").close()
        open({str(self.socket)!r}, "w").close()
        say(pid=os.getpid())
        """


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_the_files_of_a_killed_hub_are_removed(guarded: Callable[..., Guarded], files: Files) -> None:
    program = guarded(f"{files.hold}\n        {WAIT}", files=files.arguments)
    os.kill(program.told()["pid"], signal.SIGKILL)

    assert program.end() == 1
    assert (files.socket.exists(), files.json.exists(), files.lock.exists()) == (False, False, True)


def test_files_that_are_not_all_there_are_removed_as_far_as_they_are(guarded: Callable[..., Guarded], files: Files) -> None:
    program = guarded(f"{files.hold}\n        os.unlink({str(files.socket)!r})\n        {WAIT}", files=files.arguments)
    os.kill(program.told()["pid"], signal.SIGKILL)

    assert program.end() == 1
    assert not files.json.exists()


def test_the_files_of_a_new_hub_stay(guarded: Callable[..., Guarded], files: Files) -> None:
    program = guarded(f"say(pid=os.getpid()); {WAIT}", files=files.arguments)
    files.json.touch()
    with open(files.lock, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.kill(program.told()["pid"], signal.SIGKILL)

        assert program.end() == 1
    assert files.json.exists()


def test_without_a_lock_file_there_was_no_hub_and_nothing_is_removed(guarded: Callable[..., Guarded], files: Files) -> None:
    files.json.touch()

    assert guarded("return 0", files=files.arguments).end() == 0
    assert files.json.exists()


# The macOS variant uses nothing but POSIX, so its functions are tried here as well.

ON_MACOS = "from tooltray.foundation.platform import guardian_macos; guardian.platform = guardian_macos"


def test_on_macos_what_is_in_the_hubs_session_is_ended_after_a_kill(guarded: Callable[..., Guarded]) -> None:
    program = guarded(
        f"""
        deaf = start({IGNORES!r}, process_group=0)
        assert deaf.stdout.read() == b"ready"
        say(pid=os.getpid(), deaf=deaf.pid)
        {WAIT}
        """,
        before=ON_MACOS,
    )
    os.kill(program.told()["pid"], signal.SIGKILL)

    assert program.end() == 1
    assert program.left() == []


def test_on_macos_signals_are_passed_on_and_the_code_is_the_hubs(guarded: Callable[..., Guarded]) -> None:
    program = guarded(
        "signal.signal(signal.SIGTERM, lambda *_: os._exit(9)); say(pid=os.getpid()); " + WAIT,
        before=ON_MACOS,
    )
    program.told()
    program.process.terminate()

    assert program.end() == 9


def test_on_macos_the_hub_is_asked_to_end_when_the_guardian_is_killed(guarded: Callable[..., Guarded], tmp_path: Path) -> None:
    program = guarded(
        f"""
        signal.signal(signal.SIGTERM, lambda *_: (open({str(tmp_path / "ended")!r}, "w").close(), os._exit(0)))
        say(pid=os.getpid())
        {WAIT}
        """,
        before=ON_MACOS,
    )
    program.told()
    program.process.kill()

    wait_for((tmp_path / "ended").exists)
    assert (tmp_path / "ended").exists()


OPENED = f"{ON_MACOS}; os.setsid()"  # without a terminal, as launchd starts it


def test_on_macos_an_app_that_was_opened_is_the_process_that_was_started(guarded: Callable[..., Guarded]) -> None:
    program = guarded("say(pid=os.getpid(), asked=sys.stdin.readline()); return 6", before=OPENED, files=", is_app=True")
    assert program.process.stdin
    program.process.stdin.write(b"question\n")
    program.process.stdin.flush()

    assert program.told() == {"pid": program.process.pid, "asked": "question\n"}
    assert program.end() == 6


def test_on_macos_an_app_that_a_shell_has_started_is_a_child(guarded: Callable[..., Guarded]) -> None:
    ours, terminal = pty.openpty()
    with open(ours, "wb", buffering=0), open(terminal, "rb") as theirs:
        program = guarded(
            "say(parent=os.getppid()); return 0",
            before=f"{OPENED}; import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)",
            files=", is_app=True",
            stdin=theirs,
        )
        assert program.told() == {"parent": program.process.pid}
        assert program.end() == 0


@pytest.mark.parametrize("is_killed", [True, False])
def test_on_macos_nothing_outlives_an_app(guarded: Callable[..., Guarded], files: Files, is_killed: bool) -> None:
    program = guarded(
        f"""
        {files.hold.strip()}
        deaf = start({IGNORES!r}, process_group=0)
        assert deaf.stdout.read() == b"ready"
        say(deaf=deaf.pid)
        if {is_killed}:
            {WAIT}
        return 7
        """,
        before=OPENED,
        files=f"{files.arguments}, is_app=True",
    )
    program.told()
    program.told()
    if is_killed:
        program.process.kill()

    assert program.end() == (-signal.SIGKILL if is_killed else 7)
    wait_for(lambda: not program.left() and not files.json.exists())
    assert program.left() == []
    assert not files.json.exists()


def test_on_macos_files_are_removed_only_once_the_app_has_let_go_of_them(guarded: Callable[..., Guarded], files: Files) -> None:
    of_guardian = "int(each) > 2 and 'pipe:' in os.path.realpath('/proc/self/fd/' + each)"
    program = guarded(
        f"""
        {files.hold.strip()}
        [os.close(int(each)) for each in os.listdir("/proc/self/fd") if {of_guardian}]
        say(closed=True)
        {WAIT}
        """,
        before=OPENED,
        files=f"{files.arguments}, is_app=True",
    )
    program.told()
    program.told()
    program.process.kill()
    assert program.end() == -signal.SIGKILL
    wait_for(lambda: not program.left() and not files.json.exists())
    assert not files.json.exists()


def test_on_macos_a_replaced_app_becomes_the_new_one_which_its_guardian_leaves_alone(guarded: Callable[..., Guarded]) -> None:
    told = "import os, sys; print(os.getpid(), os.waitstatus_to_exitcode(os.wait()[1]))"  # its only child is the guardian
    program = guarded(f"return {REPLACED}", before=OPENED, files=f", is_app=True, successor=[sys.executable, '-c', {told!r}]")

    assert program.end() == 0
    assert program.process.stdout
    assert program.process.stdout.read().decode() == f"{program.process.pid} 0\n"


def test_both_platforms_have_the_same_functions() -> None:
    def functions(module: object) -> set[str]:
        return {
            name
            for name, value in vars(module).items()
            if callable(value) and not name.startswith("_") and value.__module__ == module.__name__
        }

    assert (
        functions(guardian_linux) - {"Tie"}
        == functions(guardian_macos) - {"Tie"}
        == {"must_be_first", "tie", "follow", "take_name", "next_signal", "remaining"}
    )


def test_the_desktop_ends_with_the_same_code() -> None:
    assert desktop.EXIT_CODES["replaced"] == REPLACED
