"""The script that runs all tests in batches."""

import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("run_tests", ROOT / "scripts" / "run_tests.py")
assert spec
assert spec.loader
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)

PYTEST = "import sys; print('.....  [100%]'); print(sys.argv[1]); sys.exit(sys.argv[1].startswith('1 failed'))"


def batch(words: str) -> object:
    """Of a pytest that ends with these words."""
    return script.Batch("unit", ["-c", PYTEST], [words])


def test_every_file_of_tests_is_in_one_batch() -> None:
    paths = [ROOT / path for batch in script.batches(ROOT) for path in batch.paths]
    files = [file for path in paths for file in (path.rglob("test_*.py") if path.is_dir() else [path])]
    wanted = [file for room in ("unit", "contract", "ui", "end2end") for file in (ROOT / "tests" / room).rglob("test_*.py")]
    assert sorted(files) == sorted(wanted)


def test_all_but_the_end_to_end_tests_are_measured_on_request() -> None:
    measured = {(batch.kind, "coverage" in batch.python) for batch in script.batches(ROOT, has_coverage=True)}
    assert measured == {("unit", True), ("ui", True), ("end2end", False)}
    assert not any("coverage" in batch.python for batch in script.batches(ROOT))


def test_what_is_large_is_spread_over_the_batches(tmp_path: Path) -> None:
    files = [tmp_path / f"test_{number}.py" for number in range(5)]
    for file, length in zip(files, (7, 5, 4, 3, 1), strict=True):
        file.write_text("x" * length)
    assert script.split(files, 2) == [[files[0], files[3]], [files[1], files[2], files[4]]]
    assert script.split(files[:1], 3) == [[files[0]]]


@pytest.mark.parametrize(
    ("said", "code", "shown"),
    [
        (["3 passed in 2.00s", "4 passed, 1 skipped in 1.00s"], 0, ["3 passed in", "4 passed, 1 skipped in", "7 passed, 1 skipped"]),
        (["3 passed in 2.00s", "1 failed, 2 passed in 1.00s"], 1, ["3 passed in", ".....", "1 failed, 2 passed in", "5 passed, 1 failed"]),
        (
            ["1 failed in a.py\nFAILED a.py::b - no\n1 failed in 1.00s", "3 passed in 2.00s"],
            1,
            [".....", "1 failed in a.py", "FAILED a.py::b", "1 failed in 1.00s", "3 passed in", "FAILED a.py::b", "1 failed, 3 passed"],
        ),
    ],
)
def test_what_became_of_each_batch_is_shown_and_of_a_failed_one_all_words(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, said: Sequence[str], code: int, shown: Sequence[str]
) -> None:
    assert script.run([batch(words) for words in said], script.Runner(tmp_path)) == code
    lines = capfd.readouterr().out.splitlines()
    assert all(words in line for words, line in zip(shown, lines, strict=True)), lines


def test_a_batch_that_crashes_after_its_last_test_says_by_which_signal(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    crashes = script.Batch("ui", ["-c", "import os; print('3 passed in 2.00s', flush=True); os.kill(os.getpid(), 9)"], [])
    assert script.run([crashes], script.Runner(tmp_path)) == 9
    assert "ui: ended by SIGKILL" in capfd.readouterr().out


def test_when_it_is_ended_what_runs_is_interrupted_and_nothing_more_begins(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "runs")
    runner, ended = script.Runner(tmp_path), list[int]()
    # a signal between the check for signals and one long pause would be lost, so the program pauses often
    waits = script.Batch("unit", ["-c", "import time; open('runs', 'w').close()\nwhile 1: time.sleep(0.01)"], [])
    thread = threading.Thread(target=lambda: ended.append(runner(waits)[0]))
    thread.start()
    (tmp_path / "runs").read_bytes()  # until it has been opened at the other end, and closed
    runner.end()
    thread.join()
    assert ended[0] != 0
    assert runner(waits)[:2] == (1, "not run")
