"""Real programs under the tracer: what it sees of them, and that it is not seen itself."""

import errno
import os
import runpy
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.unit.tooltray_watch.own_memory import facts

from tooltray_watch import machine, ptrace, seccomp_filter, watching
from tooltray_watch.report import Report
from tooltray_watch.tracer import Tracer

MAIN = Path(watching.__file__).with_name("__main__.py")


def watched(report: Path, *command: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, str(MAIN), str(report), "--", *command]
    return subprocess.run(line, input=given, capture_output=True, text=True, timeout=50, check=False)


def script(tmp_path: Path, text: str) -> str:
    file = tmp_path / "deeds.py"
    file.write_text(textwrap.dedent(text))
    return str(file)


def test_what_a_program_does_is_in_the_report(tmp_path: Path, report_file: Path) -> None:
    deeds = script(
        tmp_path,
        """
        import os, socket, subprocess, sys, threading
        where = os.path.dirname(__file__)
        os.chdir(where)
        open("new", "w").close()
        subprocess.run(["/bin/sh", "-c", ": > of_child"])
        with socket.socket(type=socket.SOCK_DGRAM) as udp:
            udp.connect(("127.0.0.1", 9))
            udp.send(b"x")
        with socket.socket() as tcp:
            tcp.setblocking(False)
            tcp.connect_ex(("127.0.0.1", 9))
        print(sys.stdin.read(), flush=True)
        shell = "(kill -STOP $$; sleep 0.1; kill -CONT $$) & wait; echo second; exit 7"
        thread = threading.Thread(target=lambda: os.execv("/bin/sh", ["sh", "-c", shell]))
        thread.start()
        thread.join()
        """,
    )
    done = watched(report_file, sys.executable, "-I", "-S", deeds, given="first")
    assert (done.stdout, done.stderr, done.returncode) == ("first\nsecond\n", "", 7)
    told = facts(report_file)
    where = os.path.realpath(tmp_path)
    assert {("read", deeds), ("create", f"{where}/new"), ("create", f"{where}/of_child"), ("exec", os.path.realpath("/bin/sh"))} <= {*told}
    assert {("dgram", "127.0.0.1:9"), ("connect", "127.0.0.1:9")} <= {*told}


def test_a_program_that_traces_and_one_that_wants_io_uring_go_on_without(tmp_path: Path, report_file: Path) -> None:
    deeds = script(
        tmp_path,
        f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.ptrace(0, 0, 0, 0), ctypes.get_errno())
        print(libc.syscall({machine.CALLS[machine.name()]["io_uring_setup"]}, 1, 0), ctypes.get_errno())
        """,
    )
    done = watched(report_file, sys.executable, "-I", "-S", deeds)
    assert done.stdout.split() == ["-1", str(errno.EPERM), "-1", str(errno.ENOSYS)]
    assert ("ptrace", os.path.realpath(sys.executable)) in facts(report_file)


def test_it_ends_as_the_program_ends(report_file: Path) -> None:
    assert watched(report_file, "/bin/sh", "-c", "kill -KILL $$").returncode == -signal.SIGKILL
    gone = watched(report_file, "/nonexistent")
    assert (gone.returncode, gone.stderr) == (watching.CANNOT_RUN, "/nonexistent cannot be run: No such file or directory\n")


@pytest.mark.parametrize(("number", "said", "code"), [(signal.SIGTERM, "ending\n", 3), (signal.SIGKILL, "", -signal.SIGKILL)])
def test_a_signal_goes_on_to_the_program_and_nothing_outlives_the_tracer(
    report_file: Path, number: signal.Signals, said: str, code: int
) -> None:
    shell = "trap 'kill $!; echo ending; exit 3' TERM; sleep 50 & echo $!; wait"
    line = [sys.executable, str(MAIN), str(report_file), "--", "/bin/sh", "-c", shell]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        child = int(process.stdout.readline())
        process.send_signal(number)
        assert process.stdout.read() == said  # until nobody has it open any more: the child is gone, too
        assert process.wait() == code
    assert not Path(f"/proc/{child}/exe").exists()


def test_whether_it_can_is_tried_by_watching_a_program(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert subprocess.run([sys.executable, str(MAIN), "--check"], timeout=50, check=False).returncode == 0
    monkeypatch.setattr(sys, "argv", [str(MAIN), "report"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module("tooltray_watch", run_name="tooltray_watch.__main__")
    assert "usage: " in capfd.readouterr().err


@pytest.mark.parametrize(
    ("scope", "says"),
    [("3", "does not let programs"), ("2", "only an administrator"), ("1", "not permitted; a container may need"), (None, "container")],
)
def test_why_it_cannot_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str | None, says: str) -> None:
    if scope:
        (tmp_path / "scope").write_text(scope + "\n")
    monkeypatch.setattr(watching, "YAMA", str(tmp_path / "scope"))
    assert says in watching.why_not(OSError(errno.EPERM, "Operation not permitted"))


def test_where_it_cannot_the_program_is_not_run(
    report_file: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(pid: int) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(watching.ptrace, "seize", refuse)
    assert watching.watch(str(report_file), ["/bin/echo", "ran"]) == watching.CANNOT_WATCH
    monkeypatch.setattr(machine.platform, "machine", lambda: "riscv64")
    assert watching.watch(str(report_file), ["/bin/echo", "ran"]) == watching.CANNOT_WATCH
    said = capfd.readouterr()
    assert said.out == ""
    assert "does not let programs watch others" in said.err
    assert "this processor (riscv64)" in said.err


def test_it_ends_by_the_signal_that_ended_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(watching.os, "kill", lambda pid, number: sent.append(number))
    assert watching._end_like(signal.SIGKILL) == 128 + signal.SIGKILL
    assert sent == [signal.SIGKILL]


def test_what_the_kernel_refuses_is_an_error_or_nothing() -> None:
    gone = 2**22 + 1
    for refused in (lambda: ptrace.seize(gone), lambda: ptrace.set_option(-1, 0), lambda: ptrace.copy_of_file(-1, 0, 0)):
        with pytest.raises(OSError):
            refused()
    assert ptrace.syscall_stop(gone) is None
    assert ptrace.event_message(gone) == 0


def test_a_thread_that_is_killed_while_it_is_looked_at_is_forgotten(report_file: Path) -> None:
    report = Report(str(report_file))
    tracer = Tracer(1, report, machine.name())
    tracer._on_stop(2**22 + 1, ptrace.EVENT_SECCOMP << 16 | signal.SIGTRAP << 8 | 0x7F)
    report.close()
    assert facts(report_file) == []


def test_both_processors_have_a_filter_with_all_calls_that_they_have() -> None:
    for processor, numbers in machine.CALLS.items():
        code = seccomp_filter.program(processor)
        assert len(code) % 8 == 0
        assert {name for name in seccomp_filter.STOPS if name in numbers} >= {"openat", "execve", "connect", "renameat2"}
