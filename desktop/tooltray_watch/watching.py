"""Starts a program under the tracer and ends as it ends: the same exit code, or the same signal.

stdin, stdout and stderr belong only to the program once it runs. It leads a session of its own, as without a tracer; SIGTERM and SIGINT are
passed on to it, and if this process is killed, the kernel kills all that it traces.
"""

import contextlib
import os
import resource
import signal
import sys
from collections.abc import Sequence

from tooltray_watch import machine, ptrace, seccomp_filter
from tooltray_watch.report import Report
from tooltray_watch.tracer import Tracer

CANNOT_WATCH, CANNOT_RUN = 125, 127  # as `env` and `timeout` report their own failure, and shells a missing program
USAGE = "usage: python __main__.py REPORT_FILE -- PROGRAM ARGS, or --check\n"
YAMA = "/proc/sys/kernel/yama/ptrace_scope"
HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if list(arguments) == ["--check"]:
        return watch(os.devnull, ["/bin/true"])
    if len(arguments) < 3 or arguments[1] != "--":
        sys.stderr.write(USAGE)
        return 2
    return watch(arguments[0], list(arguments[2:]))


def watch(report_file: str, command: list[str]) -> int:
    """Runs a program, and writes its actions into the file; returns its exit code.

    Args:
        command: the program's absolute path and its arguments.
    """
    processor = machine.name()
    if processor not in machine.CALLS:
        return _say(f"cannot watch on this processor ({processor})")
    ready, go = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover - no coverage is measured in the child
        os.close(go)
        _become(command, ready, processor)
    os.close(ready)
    try:
        ptrace.seize(pid)
    except OSError as error:
        os.close(go)
        os.waitpid(pid, 0)
        return _say(why_not(error))
    for number in HANDED_ON:
        signal.signal(number, lambda which, _: _hand_on(pid, which))
    os.write(go, b"!")
    os.close(go)
    report = Report(report_file)
    _leave_streams()
    status = Tracer(pid, report, processor).run()
    report.close()
    return _end_like(status)


def why_not(error: OSError) -> str:
    """Returns, in words, why the system does not let one program watch another."""
    scope = _yama_scope()
    if scope == "3":
        return "this system does not let programs watch others (kernel.yama.ptrace_scope is 3, until the next start)"
    if scope == "2":
        return "only an administrator's programs may watch others here (kernel.yama.ptrace_scope is 2; 1 is the usual value)"
    return f"this system does not let programs watch others: {error.strerror}; a container may need --cap-add=SYS_PTRACE"


def _yama_scope() -> str:
    with contextlib.suppress(OSError), open(YAMA) as file:
        return file.read().strip()
    return ""


def _become(command: list[str], ready: int, processor: str) -> None:  # pragma: no cover - as above
    """Waits, in the child, until it is traced, and becomes the program."""
    code = CANNOT_WATCH
    try:
        os.setsid()
        if os.read(ready, 1):
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, so that the program would ignore them, too
                signal.signal(number, signal.SIG_DFL)
            seccomp_filter.install(processor)
            code = CANNOT_RUN
            os.execve(command[0], command, _environment())
    except OSError as error:
        os.write(2, f"{command[0]} cannot be run: {error.strerror}\n".encode("utf-8", "surrogateescape"))
    finally:
        os._exit(code)


def _environment() -> dict[str, str]:  # pragma: no cover - as above
    """Returns this process's environment, without a variable that Python itself sets for a locale that it replaces."""
    env = dict(os.environ)
    if "LC_CTYPE" in env and not getattr(sys, "frozen", False):
        with open("/proc/self/environ", "rb") as file:
            if b"\0LC_CTYPE=" not in b"\0" + file.read():
                del env["LC_CTYPE"]
    return env


def _leave_streams() -> None:
    """Closes the streams here, so that readers of the program's output see its end when the program closes it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)


def _hand_on(pid: int, number: int) -> None:  # pragma: no cover - not seen when the signal comes while coverage looks at a file itself
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _end_like(status: int) -> int:
    """Ends by the same signal, or returns the same exit code."""
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the program's own core is written already, if one was wanted
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _say(words: str) -> int:
    sys.stderr.write(words + "\n")
    return CANNOT_WATCH
