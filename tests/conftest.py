"""What holds for every test: a home and a temporary folder of its own, a bound on its time, and nothing left behind.

A test fails if it leaves an asyncio task, a thread, a child process, a listening socket or a temporary file, or if a record of WARNING or
above is logged that it did not expect. What it does expect it says by text: `@pytest.mark.expected_warnings("set aside", ...)`.
"""

import asyncio
import contextlib
import gc
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import hypothesis
import pytest
import pytest_asyncio
from tests import leaks
from tests.leaks import Possessions, RecordKeeper
from tests.portable import is_for_windows

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before anything imports Qt; tests of a real window start their program with xcb

EXAMPLES = 40 if sys.platform != "win32" else 8  # of a property; the cases that have gone wrong before stand as @example beside it
OUTSIDE = (
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "TOOLTRAY_HOME",
    "TOOLTRAY_EXECUTION_ID",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
)
"""Ways from a test into the desktop, the keyring and the hub of the person who runs the tests."""

SHORT_TMP = "/tmp" if os.name == "posix" else None  # a unix socket's path has to stay under 100 bytes

watches = pytest.StashKey["Watch"]()
real_environ = pytest.StashKey[dict[str, str]]()
lasting = Possessions()
"""What fixtures of a wider scope than one test hold; it may outlive a test."""


class Watch:
    """What is there before a test, and the records logged during it.

    During a test with widgets no thread collects garbage, and afterwards this one does: widgets destroyed in another crash or hang Qt.
    """

    def __init__(self, *, uses_qt: bool) -> None:
        self.uses_qt = uses_qt
        if uses_qt:
            gc.disable()
            gc.freeze()  # so that collecting looks at what this test made, and is quick
        self.before = Possessions.now()
        self.children = signal.getsignal(signal.SIGCHLD) if sys.platform != "win32" else None
        self.keeper = RecordKeeper()
        logging.getLogger().addHandler(self.keeper)

    def end(self, expected: tuple[str, ...]) -> list[str]:
        windows = []
        if self.uses_qt:
            gc.collect()
            gc.enable()
            windows = leaks.end_windows()
        logging.getLogger().removeHandler(self.keeper)
        if self.children is not None:  # who starts a hub leaves its end to the system; then no later test learns how its programs ended
            signal.signal(signal.SIGCHLD, self.children)
        self.before.add(lasting)
        return [f"left behind: {what}" for what in [*windows, *leaks.left_since(self.before)]] + [
            f"logged unexpectedly: {line}" for line in self.keeper.unexpected(expected)
        ]


def pytest_configure(config: pytest.Config) -> None:
    config.stash[real_environ] = dict(os.environ)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell; programs that tests start would ignore it too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # no test is about time; in CI the examples are the same each time
    parent = hypothesis.settings.get_profile("ci" if "CI" in os.environ else "default")
    untimed = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile("house", parent, deadline=None, max_examples=EXAMPLES, suppress_health_check=untimed)
    hypothesis.settings.load_profile("house")
    os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.gettempdir()  # tmp_path stays where pytest keeps it for a look afterwards
    for name in OUTSIDE:
        os.environ.pop(name, None)
    folder = tempfile.mkdtemp(prefix="tt-", dir=SHORT_TMP)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    home = Path(folder, "home")
    home.mkdir()
    os.environ["HOME"] = str(home)


def pytest_unconfigure(config: pytest.Config) -> None:
    folder = tempfile.gettempdir()
    os.environ.clear()
    os.environ.update(config.stash[real_environ])
    tempfile.tempdir = None
    shutil.rmtree(folder, ignore_errors=True)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    is_left_out = sys.platform == "win32" and collection_path.suffix == ".py" and not is_for_windows(collection_path)
    return is_left_out or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if sys.platform == "win32":
        of_posix = [item for item in items if item.get_closest_marker("posix")]
        items[:] = [item for item in items if item not in set(of_posix)]
        config.hook.pytest_deselected(items=of_posix)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> Iterator[None]:
    if fixturedef.scope == "function":
        return (yield)
    before = Possessions.now()
    try:
        return (yield)
    finally:
        lasting.add(Possessions.now().minus(before))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    item.stash[watches] = Watch(uses_qt="qapp" in getattr(item, "fixturenames", ()))
    if sys.platform != "win32":  # pytest-timeout raises once, perhaps in a task or a callback, where it is lost: then again
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        signal.setitimer(signal.ITIMER_REAL, left, left)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    _bound_teardown(item)
    expected = tuple(text for marker in item.iter_markers("expected_warnings") for text in marker.args)
    try:
        result = yield
    except BaseException as error:
        for line in item.stash[watches].end(expected):
            error.add_note(line)
        raise
    if found := item.stash[watches].end(expected):
        pytest.fail("\n".join(found), pytrace=False)
    return result


def _bound_teardown(item: pytest.Item) -> None:
    """Gives the teardown of a test the time of a test: pytest-timeout gives it none once the test has failed, and what was not closed then
    may be waited for. The plugin ends this timer with its own.
    """
    if sys.platform == "win32":
        return
    marker = item.get_closest_marker("timeout")
    seconds = float(marker.args[0] if marker else item.config.getini("timeout"))

    def stuck(*_: object) -> None:
        with contextlib.suppress(RuntimeError):  # no loop runs
            for task in asyncio.all_tasks():
                task.print_stack()
        pytest.fail(f"its teardown takes more than {seconds:.0f} s")

    signal.signal(signal.SIGALRM, stuck)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)  # once more for each that hangs


class Heartbeat:
    """Wakes the running loop now and then: under Wine 8 a thread does so in vain once in a thousand times, and what it brought waits."""

    EVERY_S = 0.2

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._beat()

    def _beat(self) -> None:
        self._timer = self._loop.call_later(self.EVERY_S, self._beat)

    def stop(self) -> None:
        self._timer.cancel()


@pytest.fixture(autouse=True)
def _no_task_is_left(request: pytest.FixtureRequest) -> None:
    """Set up before the other fixtures of an async test, so that it is torn down after them, with the loop still there."""
    if pytest_asyncio.is_async_test(request.node):
        request.getfixturevalue("_task_watch")


@pytest.fixture
async def _task_watch() -> AsyncIterator[None]:
    heartbeat = Heartbeat() if sys.platform == "win32" else None
    yield
    if heartbeat:
        heartbeat.stop()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        _, left = await asyncio.wait(left, timeout=leaks.GRACE_S)
    if left:
        pytest.fail("left behind: " + ", ".join(f"task {task.get_name()!r} {task.get_coro()}" for task in left), pytrace=False)


@pytest.fixture(scope="session")
def outer_environ(pytestconfig: pytest.Config) -> dict[str, str]:
    """The environment in which the tests were started, for tools that need their caches and configuration, as pip does."""
    return dict(pytestconfig.stash[real_environ])


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary HOME, in the environment too, with a path short enough for a socket. Tooltray's own home is `.tooltray` in it."""
    folder = Path(tempfile.mkdtemp(prefix="h", dir=tempfile.gettempdir()))
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("TOOLTRAY_HOME", str(folder / ".tooltray"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    for name, place in {"CONFIG": ".config", "DATA": ".local/share", "STATE": ".local/state", "CACHE": ".cache"}.items():
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / place))
    yield folder
    shutil.rmtree(folder)
