"""From words to exit codes: in this process, and as the real program."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.fakes.fake_control_hub import FakeControlHub, server_snapshot
from tests.unit.cli.conftest import BOUND_S, Tooltray

from tooltray import __version__
from tooltray.carriers.control.control_client import ControlClient
from tooltray.cli import arguments
from tooltray.cli import hubs as cli_hub
from tooltray.cli import run as cli_run
from tooltray.cli.hubs import any_hub
from tooltray.cli.run import has_display, outcome, run
from tooltray.foundation.home.home import Home
from tooltray.foundation.home.hub_place import HubLock

HEAVY = ("PySide6", "qasync", "pydantic", "keyring", "asyncio", "cryptography")


def no_desktop(home: Home, *, hidden: bool, link: str) -> int:
    pytest.fail("no desktop was asked for")


# in this process


def test_without_a_command_the_desktop_is_opened_where_a_display_is(hub_home: Home) -> None:
    opened: list[tuple[Home, bool, str]] = []

    def open_desktop(home: Home, *, hidden: bool, link: str) -> int:
        opened.append((home, hidden, link))
        return 5

    environ = dict(os.environ) | {"DISPLAY": ":7"}
    for words in ([], ["--home", "/h"], ["--background"], ["--home", "/h", "tooltray://servers/files"]):
        assert run(words, open_desktop=open_desktop, environ=environ) == 5
    elsewhere = Home(Path("/h"))
    assert opened == [(hub_home, False, ""), (elsewhere, False, ""), (hub_home, True, ""), (elsewhere, False, "tooltray://servers/files")]


def test_an_address_needs_a_display_and_is_no_wish_for_a_hub(hub_home: Home) -> None:
    assert run(["tooltray://open"], open_desktop=lambda home, *, hidden, link: 7, environ={}) == 7


@pytest.mark.parametrize("added", [["--home", "/elsewhere"], ["status"], ["tooltray://open"]])
def test_an_address_cannot_bring_options_along(hub_home: Home, capsys: pytest.CaptureFixture[str], added: list[str]) -> None:
    assert run(["tooltray://open", *added], open_desktop=no_desktop) == 2
    assert "no arguments may follow an address" in capsys.readouterr().err


def test_background_goes_without_a_command(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--background", "status"], open_desktop=no_desktop) == 2
    assert "--background goes without a command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("environ", "platform", "is_there"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "darwin", True),
        ({}, "win32", True),
    ],
)
def test_a_display_is_told_from_the_environment(environ: dict[str, str], platform: str, is_there: bool) -> None:
    assert has_display(environ, platform) is is_there


def test_wrong_usage_is_exit_code_2_in_words_and_in_json(tooltray: Tooltray) -> None:
    words = tooltray("fly")
    assert (words.code, words.out) == (2, "")
    assert words.err.startswith("usage: tooltray")
    in_json = tooltray("servers", "remove", "--json")
    assert in_json.code == 2
    assert in_json.error["hint"] == "See tooltray servers remove --help"


def test_json_after_the_double_dash_is_the_servers(tooltray: Tooltray) -> None:
    assert tooltray("servers", "add", "hub", "--", "x", "--json").err.startswith("tooltray: ")


def test_a_bug_is_told_with_its_trace_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise ZeroDivisionError("a bug")

    assert outcome(fail) == 1
    printed = capsys.readouterr().err
    assert "Traceback" in printed
    assert printed.splitlines()[-1] == "tooltray: Something unexpected went wrong. ZeroDivisionError: a bug"


def test_ctrl_c_is_exit_code_130_and_silent(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert outcome(interrupted) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "code", "last"),
    [
        (KeyboardInterrupt(), 130, ""),
        (ImportError("no module"), 1, "tooltray: Something unexpected went wrong. ImportError: no module\n"),
    ],
)
def test_a_command_whose_module_is_not_imported_ends_as_one_that_fails(
    tooltray: Tooltray, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, last: str
) -> None:
    def fail(_place: str) -> None:
        raise error

    monkeypatch.setattr("tooltray.cli.arguments.function_at", fail)
    arguments._parser.cache_clear()
    ended = tooltray("audit")
    arguments._parser.cache_clear()  # the parser of `audit` is half declared
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.endswith(last) if last else ended.err == ""


@pytest.mark.parametrize(("holder", "words"), [("{}", "starting or ending"), ('{"pid": 7, "host": "far"}', "on far. Stop it there")])
def test_nothing_can_be_edited_while_something_that_does_not_listen_holds_the_lock(
    tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch, holder: str, words: str
) -> None:
    monkeypatch.setattr(cli_hub, "LOCKED_TIMEOUT_S", 0.0)
    hub_home.prepare()
    hub_home.hub_json.write_text(holder)
    lock = HubLock(hub_home.lock)
    assert lock.try_take()
    result = tooltray("servers", "list")
    lock.release()
    assert result.code == 1
    assert words in result.err
    assert tooltray("servers", "list").code == 0


def test_a_hub_that_has_just_started_is_waited_for(hub_home: Home) -> None:
    hub_home.prepare()
    lock = HubLock(hub_home.lock)
    assert lock.try_take()
    with FakeControlHub(hub_home):
        found = any_hub(hub_home)
        assert found.is_running
        found.close()
    lock.release()


def test_a_lock_that_cannot_be_opened_is_told(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.lock.symlink_to("/proc/self/not there")
    result = tooltray("servers", "list")
    assert result.code == 1
    assert "hub.lock" in result.err


def test_the_lock_is_free_after_a_command_that_failed(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "remove", "nothing")
    lock = HubLock(hub_home.lock)
    assert lock.try_take()
    lock.release()


def test_a_hub_that_cannot_be_started_is_told(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    result = tooltray("tools", "list")
    assert result.code == 1
    assert "Tooltray is not running and could not be started" in result.err
    assert "/nowhere/python" in result.err


def test_an_output_that_is_not_utf8_still_shows_something(hub_home: Home, tooltray_process: Tooltray) -> None:
    with FakeControlHub(hub_home, {"get_secret_names": ["檔案"]}):
        result = tooltray_process(
            "secrets", "list", "--json", environ={"PYTHONIOENCODING": "ascii", "LC_ALL": "en_US.ISO-8859-1", "PYTHONUTF8": "0"}
        )
    assert result.code == 0
    assert json.loads(result.out) in (["檔案"], ["\\u6a94\\u6848"])


# the real program


@pytest.fixture
def hub_is_stopped(hub_home: Home) -> Iterator[None]:
    """Whatever hub the test leaves running is ended."""
    yield
    client = ControlClient.connect(hub_home)
    if client is not None:
        with client:
            client.stop()


def test_the_version_and_the_help_are_printed(tooltray_process: Tooltray) -> None:
    assert tooltray_process("--version").out == f"tooltray {__version__}\n"
    result = tooltray_process("servers", "add", "--help")
    assert result.code == 0
    assert "tooltray servers add NAME [options] -- COMMAND [ARGS ...]" in result.out


@pytest.mark.parametrize(
    ("words", "code"), [(["status"], 3), (["stop"], 0), (["fly"], 2), (["servers", "remove", "x"], 1), (["serve", "--server", "x"], 2)]
)
def test_exit_codes_of_the_program(tooltray_process: Tooltray, words: list[str], code: int) -> None:
    assert tooltray_process(*words).code == code


@pytest.mark.parametrize("words", [["--version"], ["status"]])
def test_quick_commands_import_nothing_heavy(hub_home: Home, words: list[str]) -> None:
    start = f"import sys; from tooltray.__main__ import main; sys.argv[1:] = {words!r}"
    code = start + "\ntry: main()\nexcept SystemExit: pass\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=BOUND_S, check=True)
    assert not {name for name in done.stdout.split() if name.partition(".")[0] in HEAVY}


def test_the_whole_command_line_can_be_imported_without_qt() -> None:
    folder = Path(cli_run.__file__).parent
    names = [f"tooltray.cli.{path.stem}" for path in folder.glob("*.py")]
    code = f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=BOUND_S, check=True)
    assert not {name for name in done.stdout.split() if name.partition(".")[0] in ("PySide6", "qasync", "shiboken6")}


def test_a_reader_that_has_seen_enough_ends_the_program_quietly(hub_home: Home) -> None:
    servers = {"get_snapshot": {"servers": [server_snapshot(f"server-{number}") for number in range(3_000)]}}
    with FakeControlHub(hub_home, servers):
        process = subprocess.Popen(
            [sys.executable, "-I", "-m", "tooltray", "servers", "list"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ),
        )
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"NAME")
        process.stdout.close()
        assert process.wait(BOUND_S) == 1
        assert process.stderr.read() == b""
        process.stderr.close()


@pytest.mark.parametrize(("words", "code"), [(["status"], 1), (["--version"], 0), (["servers", "list"], 1)])
def test_a_reader_that_is_gone_already_gets_no_complaint(hub_home: Home, words: list[str], code: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-I", "-m", "tooltray", *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=BOUND_S, env=dict(os.environ), check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.usefixtures("hub_is_stopped")
def test_a_hub_runs_until_it_is_stopped_and_says_what_to_paste(hub_home: Home, tooltray_process: Tooltray) -> None:
    process = subprocess.Popen([sys.executable, "-I", "-m", "tooltray", "serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    first = process.stdout.readline().decode()
    status = tooltray_process("status", "--json").json
    assert status["running"]
    assert f"(pid {status['pid']})" in first
    second = tooltray_process("serve")
    assert second.code == 3
    assert f"pid {status['pid']}" in second.err
    assert tooltray_process("stop", "--json").json == {"stopped": True, "pid": status["pid"]}
    entry = process.stdout.read().decode()
    assert "tooltray_bridge" in json.loads(entry[entry.index("{") : entry.rindex("}") + 1])["mcpServers"]["tooltray"]["args"][2]
    process.stdout.close()
    assert process.wait(BOUND_S) == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.usefixtures("hub_is_stopped")
def test_a_signal_to_the_started_command_ends_the_hub_with_its_code(hub_home: Home, number: int, code: int) -> None:
    process = subprocess.Popen([sys.executable, "-I", "-m", "tooltray", "serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(number)
    assert process.wait(BOUND_S) == code
    process.stdout.close()
    assert not hub_home.socket.exists()
    assert not hub_home.control_socket.exists()


@pytest.mark.usefixtures("hub_is_stopped")
def test_a_hub_is_replaced_on_request(hub_home: Home, tooltray_process: Tooltray) -> None:
    command = [sys.executable, "-I", "-m", "tooltray", "serve"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert first.stdout is not None
    assert first.stdout.readline()
    second = subprocess.Popen([*command, "--replace"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert second.stdout is not None
    line = second.stdout.readline().decode()
    assert first.wait(BOUND_S) == 0
    assert f"(pid {tooltray_process('status', '--json').json['pid']})" in line
    assert tooltray_process("stop").code == 0
    assert second.wait(BOUND_S) == 0
    first.stdout.close()
    second.stdout.close()


@pytest.mark.usefixtures("hub_is_stopped")
def test_a_command_that_needs_a_hub_starts_one_that_leaves_when_told(hub_home: Home, tooltray_process: Tooltray) -> None:
    tools = tooltray_process("tools", "list", "--json")
    assert (tools.code, tools.err) == (0, "")
    assert {tool["server"] for tool in tools.json} == {"hub"}
    status = tooltray_process("status", "--json").json
    hub = psutil.Process(status["pid"])
    assert "--started-by-bridge" in hub.cmdline()
    result = tooltray_process("tools", "call", "list_servers", "--json")
    assert result.code == 0
    assert tooltray_process("doctor").code == 0
    assert tooltray_process("stop").code == 0
    assert not hub.is_running() or hub.status() == psutil.STATUS_ZOMBIE


def test_on_stdio_the_end_of_input_ends_the_hub(hub_home: Home, tooltray_process: Tooltray) -> None:
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    first = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize})
    result = tooltray_process("serve", "--stdio", "--execution-id", "my-id", stdin=f"{first}\n{ping}")
    assert result.code == 0
    assert [json.loads(line)["id"] for line in result.out.splitlines()] == [0, 1]
    records = [json.loads(line) for line in result.err.splitlines()]
    assert {record["executionId"] for record in records} == {"my-id"}
    assert (records[-1]["event"], records[-1]["reason"]) == ("service_stopped", "stdin")
