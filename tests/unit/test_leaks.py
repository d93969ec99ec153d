"""The watch over every test is itself watched: what a test leaves behind, and what it logs, fails it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.end2end.processes import ROOT

UNTIDY = """
import asyncio, gc, logging, socket, subprocess, sys, tempfile, threading
import pytest
from tests import leaks

leaks.GRACE_S = 0.5  # nothing here goes by itself
kept, gone = [], []

def test_leaves_things():
    kept.append(tempfile.mkdtemp(prefix="forgotten"))
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    kept.append(listener)
    local = socket.socket(socket.AF_UNIX)
    local.bind(kept[0] + "/s")
    local.listen()
    kept.append(local)
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
    kept.append(threading.Event())
    threading.Thread(target=kept[-1].wait, name="forgotten thread", daemon=True).start()
    logging.getLogger("product").warning("nobody expected this")

async def test_leaves_a_task():
    kept.append(asyncio.get_running_loop().create_task(asyncio.Event().wait(), name="forgotten task"))

@pytest.mark.expected_warnings("half a line")
def test_says_what_it_expects():
    logging.getLogger("product").error("dropped half a line of %s", "server")

@pytest.fixture(scope="module")
def lasting():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.communicate()

def test_uses_what_the_module_holds(lasting):
    assert lasting.poll() is None

def test_makes_a_cycle_of_qt_objects(qapp):
    from PySide6.QtCore import QObject
    gone.clear()
    thing = QObject()
    thing.itself = thing
    thing.destroyed.connect(lambda: gone.append(threading.current_thread()))
    assert not gc.isenabled()

def test_the_cycle_was_collected_in_the_thread_of_the_gui():
    assert gone == [threading.main_thread()]
    assert gc.isenabled()

async def test_is_tidy(home):
    import pathlib, os
    assert pathlib.Path.home() == home and len(os.fsencode(home / ".tooltray/run/hub.sock")) < 100
    await asyncio.to_thread(sum, [1])
    await asyncio.get_running_loop().create_task(asyncio.sleep(0))
"""


def test_a_test_that_leaves_something_or_logs_a_warning_fails_and_tidy_ones_pass(tmp_path: Path) -> None:
    (tmp_path / "test_untidy.py").write_text(UNTIDY)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "tests.conftest"]
    run = subprocess.run(
        [*command, "-rfE", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "7 passed, 2 errors" in run.stdout, run.stdout + run.stderr
    for left in ("temporary file forgotten", "port ", "unix ", "child process", "thread 'forgotten thread'", "task 'forgotten task'"):
        assert left in run.stdout, run.stdout
    assert "logged unexpectedly: WARNING product: nobody expected this" in run.stdout
