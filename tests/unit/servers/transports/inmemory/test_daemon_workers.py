"""server_thread.py: blocking calls: results and errors come back, only so many run at once, and none that never ends is waited for."""

import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest
from tests.fakes.heard import PATIENCE_S

from tooltray.servers.transports.inmemory.server_thread import MOST_WORKERS, DaemonWorkers

mark: ContextVar[str] = ContextVar("mark", default="")


def test_results_errors_and_the_context_come_along() -> None:
    workers = DaemonWorkers("x")
    mark.set("mine")
    assert workers.submit(lambda a, *, b: (a, b, mark.get(), threading.current_thread().daemon), 1, b=2).result(PATIENCE_S) == (
        1,
        2,
        "mine",
        True,
    )
    with pytest.raises(SystemExit):
        workers.submit(sys.exit).result(PATIENCE_S)
    workers.shutdown()


def test_further_calls_wait_for_a_worker_and_may_be_cancelled_meanwhile() -> None:
    workers, gate, begun = DaemonWorkers("x"), threading.Event(), threading.Semaphore(0)

    def work() -> bool:
        begun.release()
        return gate.wait(PATIENCE_S)

    running = [workers.submit(work) for _ in range(MOST_WORKERS)]
    for _ in running:
        assert begun.acquire(timeout=PATIENCE_S)
    late, cancelled = workers.submit(work), workers.submit(work)
    assert not late.running()
    assert cancelled.cancel()
    gate.set()
    assert all(each.result(PATIENCE_S) for each in [*running, late])
    for thread in threading.enumerate():
        if thread.name == "worker of 'x'":
            thread.join(PATIENCE_S)


def test_a_call_that_never_ends_keeps_no_process_from_ending() -> None:
    program = (
        "import threading; from tooltray.servers.transports.inmemory.server_thread import DaemonWorkers\n"
        "begun = threading.Event()\n"
        "DaemonWorkers('x').submit(lambda: (begun.set(), threading.Event().wait()))\n"
        "begun.wait(); print('over')"
    )
    ended = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, timeout=PATIENCE_S)
    assert (ended.returncode, ended.stdout.strip()) == (0, b"over")
