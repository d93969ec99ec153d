"""The composition of `tooltray serve`, around an engine that follows a script."""

import asyncio
import io
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import BOUND_S

from tooltray.app.engine import HubFailed
from tooltray.cli import serving
from tooltray.cli.serving import Serving, project_folder, refuse_requests, run_engine, served_files
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import ANOTHER_HOME, Home
from tooltray.foundation.home.hub_place import HubLock, HubRunning
from tooltray.foundation.phrases import Phrase

INITIALIZE = b'{"jsonrpc":"2.0","id":"a-1","method":"initialize","params":{}}\n'


class FakeEngine:
    """Notes what is done to it. `on_serve` runs when it serves; without it, it serves until it is told to stop."""

    def __init__(
        self,
        *,
        start_error: Exception | None = None,
        on_start: Callable[[], None] | None = None,
        on_serve: Callable[[], None] | None = None,
        on_stdio: Callable[[], None] | None = None,
    ) -> None:
        self.did: list[str] = []
        self.said: tuple[str, ...] = ()
        self.stdio_server: str | None = "not asked"
        self.on_serve = on_serve
        self._start_error, self._on_start, self._on_stdio = start_error, on_start, on_stdio
        self._stopped: asyncio.Future[str] | None = None

    async def start(self) -> None:
        self._stopped = asyncio.get_running_loop().create_future()
        self.did.append("start")
        if self._on_start:
            self._on_start()
            await asyncio.sleep(0)
        if self._start_error:
            raise self._start_error

    async def serve(self) -> str:
        assert self._stopped is not None
        self.did.append("serve")
        if self.on_serve:
            self.on_serve()
        return await self._stopped

    async def serve_stdio(self, server: str | None) -> None:
        self.stdio_server = server
        if self._on_stdio:
            self._on_stdio()

    def request_stop(self, reason: str) -> None:
        assert self._stopped is not None
        if not self._stopped.done():
            self._stopped.set_result(reason)

    async def close(self) -> None:
        self.did.append("close")


def kill(number: int) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def fail(error: Exception) -> Callable[[], None]:
    def raise_it() -> None:
        raise error

    return raise_it


class Stdio:
    """Standard input and output as the AI client sees them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
        self._out = io.BytesIO()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sent)))
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(self._out))

    @property
    def replies(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._out.getvalue().splitlines()]


# the end, and what it means


@pytest.mark.parametrize(
    ("reason", "code"), [("stop", 0), ("hand_over", 0), ("idle", 0), ("stdin", 0), ("sigint", 130), ("sigterm", 143), ("else", 1)]
)
def test_the_exit_code_says_why_the_hub_ended(hub_home: Home, reason: str, code: int) -> None:
    engine = FakeEngine()
    engine.on_serve = lambda: engine.request_stop(reason)
    assert run_engine(Serving(hub_home, is_announced=False), lambda: engine) == code
    assert engine.did == ["start", "serve", "close"]


@pytest.fixture
def heeded() -> Iterator[None]:
    """Whoever started the tests may have asked them to ignore a hang-up, as nohup does."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 1)])
def test_a_signal_ends_the_hub_in_order(hub_home: Home, heeded: None, number: int, code: int) -> None:
    before = signal.getsignal(number)
    engine = FakeEngine(on_serve=kill(number))
    assert run_engine(Serving(hub_home, is_announced=False), lambda: engine) == code
    assert engine.did == ["start", "serve", "close"]
    assert signal.getsignal(number) == before


def test_a_signal_that_comes_while_the_hub_starts_is_not_lost(hub_home: Home) -> None:
    engine = FakeEngine(on_start=kill(signal.SIGTERM))
    assert run_engine(Serving(hub_home, is_announced=False), lambda: engine) == 143
    assert engine.did[-1] == "close"


@pytest.mark.expected_warnings("the hub failed")
def test_an_unexpected_failure_ends_the_hub_in_order_too(hub_home: Home) -> None:
    engine = FakeEngine(on_serve=fail(RuntimeError("a bug")))
    assert run_engine(Serving(hub_home, is_announced=False), lambda: engine) == 1
    assert engine.did == ["start", "serve", "close"]


def in_thread() -> None:
    thread = threading.Thread(target=fail(ZeroDivisionError("seven")), name="doomed")
    thread.start()
    thread.join()


def in_callback() -> None:
    asyncio.get_running_loop().call_soon(fail(ZeroDivisionError("seven")))


def in_main_thread() -> None:
    sys.excepthook(ZeroDivisionError, ZeroDivisionError("seven"), None)


@pytest.mark.parametrize("happen", [in_thread, in_callback, in_main_thread])
@pytest.mark.expected_warnings("seven", "doomed", "nothing caught", "callback")
def test_what_nobody_caught_is_logged_and_ends_the_hub_in_order_with_1(
    hub_home: Home, caplog: pytest.LogCaptureFixture, happen: Callable[[], None]
) -> None:
    engine = FakeEngine(on_serve=happen)
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    assert run_engine(Serving(hub_home, is_announced=False), lambda: engine) == 1
    assert engine.did == ["start", "serve", "close"]
    assert "ZeroDivisionError: seven" in caplog.text
    assert hooks == (sys.excepthook, threading.excepthook, sys.unraisablehook)


@pytest.mark.expected_warnings("seven", "callback")
def test_what_nobody_caught_while_the_hub_starts_ends_it_too(hub_home: Home) -> None:
    engine = FakeEngine(on_start=in_callback)
    assert run_engine(Serving(hub_home, is_announced=False), lambda: engine) == 1
    assert engine.did == ["start", "close"]


def test_a_bug_before_the_hubs_own_log_is_there_is_on_record_all_the_same(
    hub_home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdio = Stdio(monkeypatch, INITIALIZE)
    serving = Serving(hub_home, is_stdio=True, is_announced=False, execution_id="run-7")
    assert run_engine(serving, lambda: FakeEngine(start_error=ZeroDivisionError("seven"))) == 1
    [file] = hub_home.logs.iterdir()
    record = json.loads(file.read_text())
    assert (record["event"], record["level"], record["executionId"]) == ("error", "error", "run-7")
    assert "ZeroDivisionError: seven" in record["stack"]
    assert "tooltray: Tooltray has failed. ZeroDivisionError: seven. See the log for details" in capsys.readouterr().err
    assert "Tooltray has failed" in stdio.replies[0]["error"]["message"]


@pytest.mark.parametrize("is_stdio", [False, True])
def test_a_hub_that_cannot_go_on_ends_in_order_and_says_why(
    hub_home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_stdio: bool
) -> None:
    stdio = Stdio(monkeypatch, INITIALIZE)
    engine = FakeEngine(on_serve=fail(HubFailed("'fetch' does not start", "command 'x' not found", "Install it")))
    assert run_engine(Serving(hub_home, is_stdio=is_stdio, is_announced=False), lambda: engine) == 1
    assert engine.did == ["start", "serve", "close"]
    assert "'fetch' does not start: command 'x' not found" in capsys.readouterr().err
    assert stdio.replies == []  # an AI client has been answered by the hub itself


# files and folders to serve


def test_configs_are_absolute_and_each_is_served_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").touch()
    (tmp_path / "b.json").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    found = (str(tmp_path / "b.json"), str(tmp_path / "a.json"))
    assert served_files(["b.json", "./a.json", "~/b.json", str(tmp_path / "a.json")]) == found
    assert served_files([]) == ()


def test_a_config_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(TooltrayError, match=r"file .*gone\.json not found"):
        served_files([str(tmp_path / "gone.json")])


def test_a_project_is_the_folder_as_it_is_really_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to("shop")
    monkeypatch.chdir(tmp_path)
    assert project_folder("link") == os.path.realpath(tmp_path / "shop")
    assert project_folder(".") == os.path.realpath(tmp_path)


@pytest.mark.parametrize("typed", ["", "gone", "file"])
def test_a_project_that_is_no_folder_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TooltrayError, match=r"folder (''|\S*/(gone|file)) not found"):
        project_folder(typed)


# what is said


def test_what_runs_and_what_to_paste_is_said_on_standard_output(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    engine = FakeEngine()
    engine.on_serve = lambda: engine.request_stop("stop")
    run_engine(Serving(hub_home), lambda: engine)
    printed = capsys.readouterr()
    assert f"is running (pid {os.getpid()}) in {hub_home.root}." in printed.out
    entry = printed.out[printed.out.index("{") : printed.out.rindex("}") + 1]
    assert list(json.loads(entry)["mcpServers"]) == ["tooltray"]
    assert "tooltray stop" in printed.out
    assert printed.err == ""


def test_where_configs_are_served_is_said_too(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    engine = FakeEngine()
    engine.said = ("Serves config.json at:", "  http://127.0.0.1:9090/fetch/")
    engine.on_serve = lambda: engine.request_stop("stop")
    run_engine(Serving(hub_home), lambda: engine)
    assert "Serves config.json at:\n  http://127.0.0.1:9090/fetch/\n" in capsys.readouterr().out


def test_a_hub_that_a_bridge_started_says_nothing(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    engine = FakeEngine()
    engine.on_serve = lambda: engine.request_stop("idle")
    run_engine(Serving(hub_home, is_announced=False), lambda: engine)
    assert capsys.readouterr() == ("", "")


def test_on_stdio_nothing_is_said_where_only_programs_listen(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    run_engine(Serving(hub_home, is_stdio=True), FakeEngine)
    assert capsys.readouterr() == ("", "")


def test_on_stdio_a_person_at_standard_error_is_told(
    hub_home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = pty.openpty()
    with open(writer, "w", encoding="utf-8") as terminal, monkeypatch.context() as patch:
        patch.setattr("sys.stderr", terminal)
        run_engine(Serving(hub_home, is_stdio=True), FakeEngine)
        shown = os.read(reader, 100).decode()
    os.close(reader)
    assert shown.startswith("Tooltray ")
    assert capsys.readouterr().out == ""


def test_a_hub_runs_on_where_nobody_reads_what_it_says(hub_home: Home) -> None:
    code = (
        "import sys; from tooltray.cli.serving import Serving, announce\n"
        "from tooltray.foundation.home.home import Home; from pathlib import Path\n"
        "announce(Serving(Home(Path('/h')))); print('more'); print('still here', file=sys.stderr)"
    )
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-I", "-c", code], stdout=writer, stderr=subprocess.PIPE, timeout=BOUND_S, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"still here\n")


# another hub


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Does not wait for a hub that holds the lock and does not listen, which may be starting or ending."""
    monkeypatch.setattr(serving, "REPLACE_TIMEOUT_S", 0.0)


@pytest.mark.usefixtures("no_wait")
def test_another_hub_is_named_by_its_pid(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_engine(Serving(hub_home), lambda: FakeEngine(start_error=HubRunning(4711))) == 3
    printed = capsys.readouterr()
    hint = "Take over from it with `tooltray serve --replace`, or stop it with `tooltray stop`"
    assert printed.err == f"tooltray: Another Tooltray is running (pid 4711) in {hub_home.root}. {hint}\n"
    assert printed.out == ""


@pytest.mark.usefixtures("no_wait")
def test_another_hub_whose_pid_nobody_knows_is_still_told(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_engine(Serving(hub_home), lambda: FakeEngine(start_error=HubRunning(0))) == 3
    assert f"Another Tooltray is running in {hub_home.root}." in capsys.readouterr().err


def test_a_hub_on_another_machine_is_named_as_no_command_here_can_stop_it(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_engine(Serving(hub_home), lambda: FakeEngine(start_error=HubRunning(4711, "far"))) == 3
    said = f"tooltray: Another Tooltray is running in {hub_home.root}, on far. Stop it there. {ANOTHER_HOME}\n"
    assert capsys.readouterr().err == said


def test_a_hub_that_is_replaced_hands_over_first_and_no_bridge_starts_one_in_between(hub_home: Home) -> None:
    last = FakeEngine()
    last.on_serve = lambda: last.request_stop("stop")
    engines = [FakeEngine(start_error=HubRunning(1)), FakeEngine(start_error=HubRunning(1)), last]
    could_start: list[bool] = []

    def make_engine() -> FakeEngine:
        could_start.append(can_take(hub_home))
        return engines.pop(0)

    with FakeControlHub(hub_home) as hub:
        assert run_engine(Serving(hub_home, is_replacing=True, is_announced=False), make_engine) == 0
    assert hub.methods() == ["hub/info", "hub/hand_over"]
    assert could_start == [True, False, False]
    assert can_take(hub_home)


def can_take(home: Home) -> bool:
    lock = HubLock(home.start_lock)
    is_free = lock.try_take()
    lock.release()
    return is_free


def test_a_hub_that_never_leaves_is_given_up(hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(serving, "REPLACE_TIMEOUT_S", 0.0)
    hub_home.prepare()
    assert run_engine(Serving(hub_home, is_replacing=True), lambda: FakeEngine(start_error=HubRunning(7))) == 3
    assert "pid 7" in capsys.readouterr().err


def test_a_hub_that_refuses_to_hand_over_is_an_error(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeControlHub(hub_home, {"hub/hand_over": fail(TooltrayError("Not now"))}):
        assert run_engine(Serving(hub_home, is_replacing=True), lambda: FakeEngine(start_error=HubRunning(7))) == 1
    assert capsys.readouterr().err == "tooltray: Not now\n"


# one AI client on standard input and output


def test_the_end_of_standard_input_is_the_end(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    engine = FakeEngine()
    assert run_engine(Serving(hub_home, is_stdio=True, server="files"), lambda: engine) == 0
    assert engine.stdio_server == "files"
    assert engine.did == ["start", "serve", "close"]


@pytest.mark.expected_warnings("serving standard input failed")
def test_a_session_that_fails_ends_the_hub_with_1(hub_home: Home) -> None:
    engine = FakeEngine(on_stdio=fail(RuntimeError("a bug")))
    assert run_engine(Serving(hub_home, is_stdio=True), lambda: engine) == 1
    assert engine.did[-1] == "close"


def test_a_hub_that_cannot_start_tells_the_first_request_why(
    hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdio = Stdio(monkeypatch, INITIALIZE)
    error = TooltrayError("The home cannot be used", "it is full", "Free some space")
    assert run_engine(Serving(hub_home, is_stdio=True), lambda: FakeEngine(start_error=error)) == 1
    assert stdio.replies == [
        {
            "jsonrpc": "2.0",
            "id": "a-1",
            "error": {
                "code": -32603,
                "message": "The home cannot be used: it is full. Free some space",
                "data": {"title": "The home cannot be used", "message": "it is full", "hint": "Free some space"},
            },
        }
    ]
    assert "it is full" in capsys.readouterr().err


@pytest.mark.usefixtures("no_wait")
def test_another_hub_is_told_to_the_first_request_too(hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    stdio = Stdio(monkeypatch, INITIALIZE)
    assert run_engine(Serving(hub_home, is_stdio=True), lambda: FakeEngine(start_error=HubRunning(4711))) == 3
    assert stdio.replies[0]["error"]["code"] == -32603
    assert "pid 4711" in stdio.replies[0]["error"]["message"]


def test_a_server_that_does_not_exist_is_told_to_the_first_request(hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    stdio = Stdio(monkeypatch, INITIALIZE)
    engine = FakeEngine(on_stdio=fail(TooltrayError("server 'x' not found")))
    assert run_engine(Serving(hub_home, is_stdio=True, server="x"), lambda: engine) == 1
    assert engine.did[-1] == "close"
    assert stdio.replies[0]["error"]["message"] == "server 'x' not found"


def refused(sent: bytes) -> list[bytes]:
    out = io.BytesIO()
    refuse_requests(TooltrayError("No"), io.BytesIO(sent), out)
    return out.getvalue().splitlines()


def test_each_request_is_answered_and_its_id_is_echoed_byte_for_byte() -> None:
    sent = b'\n{"jsonrpc":"2.0","method":"notifications/x"}\n{"id":1180591620717411303424,"method":"ping","jsonrpc":"2.0"}\n' + INITIALIZE
    replies = refused(sent)
    assert len(replies) == 2
    assert replies[0].startswith(b'{"jsonrpc":"2.0","id":1180591620717411303424,"error":{"code":-32603,')
    assert replies[1].startswith(b'{"jsonrpc":"2.0","id":"a-1","error":{"code":-32603,')


def test_a_reason_that_is_translated_elsewhere_is_answered_in_english() -> None:
    out = io.BytesIO()
    problem = TooltrayError(Phrase("{name} is gone", name="x"), Phrase("why"), Phrase("how to fix it"))
    refuse_requests(problem, io.BytesIO(INITIALIZE), out)
    assert json.loads(out.getvalue())["error"]["data"] == {"title": "x is gone", "message": "why", "hint": "how to fix it"}


def test_what_is_no_request_is_called_that_and_the_next_line_is_read() -> None:
    replies = [json.loads(line) for line in refused(b"garbage\n[]\n" + INITIALIZE)]
    assert [(reply["id"], reply["error"]["code"]) for reply in replies] == [(None, -32700), (None, -32600), ("a-1", -32603)]


def test_a_client_that_leaves_without_a_word_gets_none() -> None:
    assert refused(b"") == []


def test_a_client_that_does_not_read_is_no_error() -> None:
    class Gone(io.BytesIO):
        def write(self, data: Any) -> int:
            raise BrokenPipeError

    refuse_requests(TooltrayError("No"), io.BytesIO(INITIALIZE), Gone())
