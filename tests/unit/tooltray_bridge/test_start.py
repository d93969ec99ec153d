"""Starting a hub: how, where, once, and what is said when it does not start."""

import errno
import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest
from tests.fakes.bridge_process import BridgeProcess
from tests.fakes.fake_hub import FakeHub, request
from tests.fakes.startable_hub import StartableHub

from tooltray.foundation.home.home import Home
from tooltray_bridge import start, start_posix
from tooltray_bridge.start import HubStart

BOUND_S = 20.0
SERVE = ["serve", "--started-by-bridge"]
NOTIFICATION = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


@pytest.fixture
def startable(home: Path) -> Iterator[StartableHub]:
    with StartableHub(home / "installed") as startable:
        yield startable


@pytest.fixture
def root(home: Path) -> Path:
    """The person's own home of Tooltray."""
    return home / ".tooltray"


@pytest.fixture
def in_process(startable: StartableHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """For starting a hub from the test's own process."""
    monkeypatch.setattr(sys, "executable", str(startable.python))


def step_until(attempt: HubStart, is_enough: Callable[[], object]) -> str:
    """Steps until a reason or what is asked; bounded by the attempt itself."""
    pause = threading.Event()
    while not (reason := attempt.step()) and not is_enough():
        pause.wait(0.01)
    return reason


def test_the_first_request_starts_a_hub_and_is_answered_by_it(startable: StartableHub, home: Path, root: Path) -> None:
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize") + NOTIFICATION + request(1, "tools/list"))
        answers = [bridge.message(), bridge.message()]

        (hub,) = startable.starts()
        assert [answer["result"]["method"] for answer in answers] == ["initialize", "tools/list"]
        assert {answer["result"]["pid"] for answer in answers} == {hub["pid"]}
    assert stat.S_IMODE(root.stat().st_mode) == stat.S_IMODE((root / "run").stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "run" / "start.lock").stat().st_mode) == 0o600


def test_a_hub_gets_nothing_of_the_client_that_happened_to_start_it(startable: StartableHub, home: Path) -> None:
    environ = {"HOME": str(home), "API_KEY": "secret", "PATH": "/odd", "LANG": "de_DE.UTF-8", "PYTHONPATH": "/odd", "LD_PRELOAD": ""}
    folder = home / "project"
    folder.mkdir()
    leaked, other = os.pipe()
    with BridgeProcess(environ=environ, python=startable.python, cwd=folder, pass_fds=[other]) as bridge:
        os.close(leaked)
        os.close(other)
        bridge.send(request(0, "initialize"))
        bridge.message()
        (hub,) = startable.starts()

        user = pwd.getpwuid(os.getuid())
        expected = {
            "HOME": str(home),
            "USER": user.pw_name,
            "LOGNAME": user.pw_name,
            "SHELL": user.pw_shell,
            "LANG": "de_DE.UTF-8",
            "PATH": start_posix.DEFAULT_PATH,
        }
        from_session = {"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "LC_CTYPE"}  # if this user has one; Python may add the last
        assert {name: value for name, value in hub["environ"].items() if name not in from_session} == expected
        assert hub["arguments"] == SERVE
        assert hub["cwd"] == str(home)
        assert hub["session"] == hub["pid"] != os.getsid(bridge.process.pid)
        assert hub["open"] == [os.devnull] * 3
        assert not any("pipe" in file for file in hub["others"])


def test_many_bridges_at_once_start_one_hub(startable: StartableHub, home: Path) -> None:
    bridges = [BridgeProcess(environ={"HOME": str(home)}, python=startable.python) for _ in range(4)]
    try:
        for bridge in bridges:
            bridge.send(request(0, "initialize"))
        pids = {bridge.message()["result"]["pid"] for bridge in bridges}
    finally:
        for bridge in bridges:
            bridge.__exit__(None, None, None)

    (hub,) = startable.starts()
    assert pids == {hub["pid"]}


def test_the_hub_lives_on_when_the_bridge_has_gone(startable: StartableHub, home: Path) -> None:
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        bridge.message()
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        bridge.message()

    assert len(startable.starts()) == 1


def test_a_hub_that_died_is_started_again_by_the_next_request_and_leaves_no_zombie(startable: StartableHub, home: Path) -> None:
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        first = bridge.message()["result"]["pid"]
        os.kill(first, signal.SIGKILL)
        bridge.send(request(1, "tools/list"))

        answer = bridge.message()
        if "error" in answer:  # it was faster than the end of the hub
            bridge.send(request(1, "tools/list"))
            answer = bridge.message()
        assert "result" in answer, answer
        assert answer["result"]["pid"] == startable.starts()[1]["pid"] != first
        until(lambda: children_of(bridge.process.pid) == [])


def test_a_hub_is_no_descendant_of_the_ai_client_once_it_serves(startable: StartableHub, home: Path) -> None:
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        hub = bridge.message()["result"]["pid"]
        until(lambda: children_of(bridge.process.pid) == [])
        assert os.getsid(hub) == hub


def test_a_bridge_that_is_killed_while_a_hub_starts_leaves_nothing_between_them(startable: StartableHub, home: Path) -> None:
    startable.do("hang")
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        startable.started(1)
        [between] = children_of(bridge.process.pid)
        [hub] = children_of(between)
        bridge.process.kill()
        until(lambda: not Path(f"/proc/{between}").exists())
        os.kill(hub, 0)


def children_of(pid: int) -> list[int]:
    """Those that have ended and were not waited for, too."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def until(is_so: Callable[[], object]) -> None:
    """Waits until something is so that nobody tells; bounded."""
    pause, give_up_at = threading.Event(), monotonic() + BOUND_S
    while not is_so():
        assert monotonic() < give_up_at
        pause.wait(0.01)


def test_a_hub_that_was_stopped_stays_so_until_somebody_needs_it(startable: StartableHub, home: Path, root: Path) -> None:
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize") + request(1, "subscriptions/listen"))
        bridge.message()
        pid = bridge.message()["result"]["pid"]
        os.kill(pid, signal.SIGTERM)
        bridge.send(NOTIFICATION)

        with FakeHub(root / "run" / "hub.sock") as hub:  # the bridge has looked for one in between
            assert hub.accept().hello()["tooltray"] == 1
    assert len(startable.starts()) == 1


def test_a_home_that_was_removed_is_not_made_again_by_a_bridge_that_had_a_hub_there(
    startable: StartableHub, home: Path, root: Path
) -> None:
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        os.kill(bridge.message()["result"]["pid"], signal.SIGKILL)
        shutil.rmtree(root)
        bridge.send(request(1, "tools/list"))
        bridge.message()  # perhaps it was still sent to the one that is gone
        bridge.send(request(2, "tools/list"))
        assert f"Tooltray was removed: {root} is gone" in bridge.message()["error"]["message"]
    assert (root.exists(), len(startable.starts())) == (False, 1)


def test_a_bridge_starts_nothing_in_a_home_that_was_uninstalled_until_something_is_installed(
    startable: StartableHub, home: Path, root: Path
) -> None:
    root.mkdir(mode=0o700)
    mark = root / "removed"
    mark.touch()
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        assert f"Tooltray was removed: {mark} tells when" in bridge.message()["error"]["message"]
    assert (os.listdir(root), startable.starts()) == (["removed"], [])

    os.utime(mark, (0, 0))  # the bridge's own file was changed since
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        assert "result" in bridge.message()


def test_a_bridge_that_waits_for_its_turn_sees_the_mark(startable: StartableHub, in_process: None, root: Path) -> None:
    (root / "run").mkdir(parents=True, mode=0o700)
    uninstall = start_posix.try_lock(str(root / "run" / "start.lock"))
    assert uninstall
    attempt = HubStart(str(root), str(root), is_restart=True)
    assert [attempt.step(), attempt.step()] == ["", ""]
    (root / "removed").touch()
    os.close(uninstall)
    assert "Tooltray was removed" in attempt.step()
    attempt.close()
    assert startable.starts() == []


def test_a_removed_run_folder_is_made_again(startable: StartableHub, in_process: None, root: Path) -> None:
    root.mkdir(mode=0o700)
    attempt = HubStart(str(root), str(root), is_restart=True)
    assert step_until(attempt, startable.starts) == ""
    attempt.close()


def test_a_home_that_the_person_has_listed_may_be_used_and_is_told_to_the_hub(startable: StartableHub, home: Path, root: Path) -> None:
    other = home / "other"
    root.mkdir(mode=0o700)
    (root / "homes.json").write_text(json.dumps([str(other)]))
    with BridgeProcess("--home", str(other), environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))

        assert bridge.message()["result"]["pid"] == startable.starts()[0]["pid"]
        assert startable.starts()[0]["environ"]["TOOLTRAY_HOME"] == str(other)


def test_a_hub_that_cannot_start_is_told_with_its_last_words(startable: StartableHub, home: Path) -> None:
    startable.do("fail")
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))

        error = bridge.message()["error"]
        assert error["code"] == -32603
        assert "ended with exit code 1: ModuleNotFoundError: No module named 'something'" in error["message"]
        assert f"{startable.python} -I -m tooltray serve" in error["message"]
        assert len(startable.starts()) == 2  # once more, to hear why

        startable.do("run")
        while "error" in (answer := ask(bridge)):
            assert "ModuleNotFoundError" in answer["error"]["message"]
        assert answer["result"]["pid"] == startable.starts()[2]["pid"]


def ask(bridge: BridgeProcess) -> dict[str, object]:
    bridge.send(request(1, "tools/list"))
    return bridge.message()


@pytest.mark.parametrize(("mode", "words"), [("silent", "exit code 1: no output"), ("crash", "was ended by signal 9")])
def test_a_hub_that_ends_without_a_word_is_told_by_how_it_ended(startable: StartableHub, home: Path, mode: str, words: str) -> None:
    startable.do(mode)
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))

        assert words in bridge.message()["error"]["message"]


def test_a_second_start_that_works_is_as_good_as_the_first_however_much_it_says(startable: StartableHub, home: Path) -> None:
    startable.do("silent", "loud")
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))

        assert bridge.message()["result"]["pid"] == startable.starts()[1]["pid"]


def test_a_hub_that_leaves_because_of_another_one_is_started_again_if_there_is_none(startable: StartableHub, home: Path) -> None:
    startable.do("other", "run")
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))

        assert bridge.message()["result"]["pid"] == startable.starts()[1]["pid"]


def test_a_client_that_leaves_while_the_hub_starts_ends_the_bridge(startable: StartableHub, home: Path) -> None:
    startable.do("hang")
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        startable.started(1)
        bridge.close_output()

        assert (bridge.end(), bridge.errors()) == (0, b"")


def test_a_request_that_is_taken_back_while_the_hub_starts_needs_no_hub(startable: StartableHub, home: Path, root: Path) -> None:
    startable.do("hang")
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))
        startable.started(1)
        bridge.send(
            request("cancel", "tools/call")[:0] + b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}\n'
        )
        bridge.close_input()

        assert (bridge.rest(), bridge.end()) == (b"", 0)


def test_a_home_that_is_a_file_is_told(startable: StartableHub, home: Path, root: Path) -> None:
    root.write_text("")
    with BridgeProcess(environ={"HOME": str(home)}, python=startable.python) as bridge:
        bridge.send(request(0, "initialize"))

        assert str(root) in bridge.message()["error"]["message"]


def test_a_home_of_two_hundred_characters_is_served_through_a_folder_elsewhere(home: Path) -> None:
    long = home / ("x" * 200)
    (long / ".tooltray").mkdir(parents=True, mode=0o700)
    theirs = Home(long / ".tooltray")
    theirs.prepare()
    folder = theirs.socket.parent
    try:
        with FakeHub(folder / "hub.sock") as hub, BridgeProcess("--no-start", environ={"HOME": str(long)}) as bridge:
            connection = hub.accept()
            connection.hello()
            bridge.send(request(1, "ping"))
            assert connection.line() == request(1, "ping")
            hub.die()

            folder.chmod(0o777)  # somebody else might be listening there now
            hub.listen()
            bridge.send(request(2, "ping"))
            assert bridge.message()["id"] == 1
            assert "Tooltray is not running, and --no-start" in bridge.message()["error"]["message"]
    finally:
        folder.chmod(0o700)
        theirs.remove_sockets()


def test_a_hub_that_does_not_get_ready_is_told_after_a_bounded_time(
    startable: StartableHub, in_process: None, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    startable.do("hang")
    monkeypatch.setattr(start, "START_WITHIN_S", 0.5)
    attempt = HubStart(str(root), str(root))

    reason = step_until(attempt, lambda: False)
    attempt.close()

    assert "was not ready within" in reason
    assert "-m tooltray serve" in reason


def test_while_another_bridge_starts_the_hub_nothing_is_started(startable: StartableHub, in_process: None, root: Path) -> None:
    (root / "run").mkdir(parents=True, mode=0o700)
    with open(root / "run" / "start.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        attempt = HubStart(str(root), str(root))
        assert [attempt.step() for _ in range(5)] == [""] * 5
        assert startable.starts() == []
    step_until(attempt, startable.starts)
    attempt.close()
    attempt.close()

    assert len(startable.starts()) == 1


def test_a_lock_that_cannot_be_had_is_told(in_process: None, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    attempt = HubStart(str(root), str(root))

    assert os.strerror(errno.ENOLCK) in attempt.step()


def test_an_interpreter_that_has_gone_is_told(in_process: None, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/gone/python")
    attempt = HubStart(str(root), str(root))
    reason = step_until(attempt, lambda: False)
    attempt.close()

    assert reason == "Tooltray was removed: /gone/python is gone. Remove its entry from this AI client, or start Tooltray again"
    assert not root.exists()


def test_the_desktop_app_is_started_on_the_display_it_had_and_else_the_hub_alone(
    startable: StartableHub, in_process: None, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screens = home / "screens"
    screens.mkdir()
    monkeypatch.setattr(start_posix, "X11_SOCKETS", str(screens))
    (root / "run").mkdir(parents=True, mode=0o700)
    (root / "run" / "desktop.json").write_text(json.dumps({"DISPLAY": ":7.0", "XAUTHORITY": "/x", "WAYLAND_DISPLAY": "gone", "odd": 1}))
    startable.do("fail", "run")
    with socket.socket(socket.AF_UNIX) as screen:
        screen.bind(str(screens / "X7"))
        screen.listen()
        attempt = HubStart(str(root), str(root))
    step_until(attempt, lambda: len(startable.starts()) == 2)
    attempt.close()

    app, serve = startable.starts()
    assert (app["arguments"], serve["arguments"]) == (["--background"], SERVE)
    assert {name: app["environ"].get(name) for name in start_posix.DISPLAY_VARIABLES} == {
        "DISPLAY": ":7.0",
        "XAUTHORITY": "/x",
        "WAYLAND_DISPLAY": None,
    }
    assert "DISPLAY" not in serve["environ"]


@pytest.mark.parametrize(
    "noted",
    [
        "null",
        "[]",
        "{}",
        '{"DISPLAY": 7}',
        '{"DISPLAY": ":8"}',  # has gone
        '{"DISPLAY": "elsewhere:7"}',  # of a connection from another machine
        '{"DISPLAY": ":x"}',
        '{"WAYLAND_DISPLAY": "gone"}',
        '{"XAUTHORITY": "/x"}',
    ],
)
def test_a_display_that_is_not_there_is_no_display(home: Path, noted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_posix, "X11_SOCKETS", str(home))
    with socket.socket(socket.AF_UNIX) as screen:
        screen.bind(str(home / "X7"))
        screen.listen()

        assert start_posix.desktop_variables(json.loads(noted)) is None


def test_a_wayland_display_is_looked_for_in_the_users_runtime_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = home / str(os.getuid())
    runtime.mkdir(mode=0o700)
    monkeypatch.setattr(start_posix, "RUNTIME_FOLDERS", str(home))
    with socket.socket(socket.AF_UNIX) as screen:
        screen.bind(str(runtime / "wayland-0"))
        screen.listen()

        assert start_posix.desktop_variables({"WAYLAND_DISPLAY": "wayland-0"}) == {"WAYLAND_DISPLAY": "wayland-0"}


def test_the_sessions_folder_and_bus_are_given_if_they_are_the_users(home: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_posix, "RUNTIME_FOLDERS", str(home))
    assert "XDG_RUNTIME_DIR" not in start_posix.fresh_environment(str(root.parent))

    runtime = home / str(os.getuid())
    runtime.mkdir(mode=0o700)
    environment = start_posix.fresh_environment(str(root.parent))
    assert environment["XDG_RUNTIME_DIR"] == str(runtime)
    assert "DBUS_SESSION_BUS_ADDRESS" not in environment

    (runtime / "bus").touch()
    assert start_posix.fresh_environment(str(root.parent))["DBUS_SESSION_BUS_ADDRESS"] == f"unix:path={runtime}/bus"

    runtime.chmod(0o777)
    assert "XDG_RUNTIME_DIR" not in start_posix.fresh_environment(str(root.parent))


def test_a_user_without_an_entry_in_the_database_and_without_a_language_gets_what_there_is(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("LANG", raising=False)
    monkeypatch.setattr(start_posix, "RUNTIME_FOLDERS", str(home))

    assert start_posix.fresh_environment(str(root.parent)) == {"HOME": str(home), "LANG": "C.UTF-8", "PATH": start_posix.DEFAULT_PATH}


def test_a_hub_whose_user_has_no_folder_runs_in_the_root_folder(in_process: None, startable: StartableHub, home: Path, root: Path) -> None:
    (root / "run").mkdir(parents=True, mode=0o700)
    attempt = HubStart(str(root), str(home / "gone" / ".tooltray"))
    step_until(attempt, startable.starts)
    attempt.close()

    assert startable.starts()[0]["cwd"] == "/"


def test_a_frozen_bridge_starts_the_program_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/tooltray/tooltray-bridge")

    assert start.program() == ["/opt/tooltray/tooltray"]


def test_a_bridge_of_a_version_that_was_replaced_starts_the_version_in_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old, newer = tmp_path / "0.1.0", tmp_path / "0.2.0"
    for folder in (old, newer):
        folder.mkdir()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(old / "tooltray-bridge.exe"))
    (old / start.SUPERSEDED).write_text("0.2.0")

    assert start.program() == [str(old / "tooltray.exe")], "the newer one has no program"
    (newer / "tooltray.exe").touch()
    assert start.program() == [str(newer / "tooltray.exe")]
    (old / start.SUPERSEDED).write_bytes(b"\x00\xff")
    assert start.program() == [str(old / "tooltray.exe")]


@pytest.mark.parametrize("newest", ["2.0", "removed"])
def test_a_bridge_of_an_older_or_removed_version_starts_only_the_newest(monkeypatch: pytest.MonkeyPatch, root: Path, newest: str) -> None:
    programs, own = root.with_name("programs"), root.with_name("programs") / "1.0"
    for version in ("1.0", "2.0"):
        (programs / version).mkdir(parents=True)
        (programs / version / "tooltray").touch()
    (programs / "current").symlink_to(newest)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(own / "tooltray-bridge"))
    assert start.program() == [str(programs / "current" / "tooltray")]

    if newest == "removed":
        attempt = HubStart(str(root), str(root))
        assert attempt.step().startswith(f"Tooltray was removed: {programs / 'current' / 'tooltray'} is gone. ")
        attempt.close()
        assert not root.exists()


@pytest.mark.parametrize(
    ("listed", "is_allowed"),
    [
        ('["{other}"]', True),
        ('["{other}/."]', True),
        ('["{link}"]', True),
        ('["relative", 5, "/elsewhere"]', False),
        ('{"other": 1}', False),
        ("broken", False),
        (None, False),
    ],
)
def test_another_home_may_be_used_if_it_is_listed(home: Path, root: Path, listed: str | None, is_allowed: bool) -> None:
    other, link = home / "other", home / "link"
    root.mkdir(mode=0o700)
    other.mkdir(mode=0o700)
    link.symlink_to(other)
    if listed is not None:
        (root / "homes.json").write_text(listed.replace("{other}", str(other)).replace("{link}", str(link)))

    assert (start.why_not(str(other), str(root)) == "") is is_allowed


def test_a_list_that_others_can_write_counts_for_nothing(home: Path, root: Path) -> None:
    root.mkdir()
    root.chmod(0o777)
    (home / "other").mkdir(mode=0o700)
    (root / "homes.json").write_text(json.dumps([str(home / "other")]))

    assert start.why_not(str(home / "other"), str(root))


def test_a_run_folder_that_others_can_write_to_is_refused(root: Path) -> None:
    (root / "run").mkdir(parents=True)
    (root / "run").chmod(0o777)

    assert f"{root}/run" in start.why_not(str(root), str(root))


def test_a_home_that_cannot_be_looked_at_is_refused(home: Path) -> None:
    (home / "file").touch()

    assert start.why_not(str(home / "file" / "x"), str(home / "file" / "x"))


@pytest.mark.parametrize("name", [start.HOMES_JSON, start.DESKTOP_JSON])
@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir])
def test_a_start_does_not_wait_for_what_is_in_the_place_of_a_file(name: str, put: Callable[[Path], None], home: Path, root: Path) -> None:
    (root / "run").mkdir(parents=True)
    put(root / name)
    assert "a bridge starts it only in" in start.why_not(str(home / "other"), str(root))
    start.HubStart(str(root), str(root)).close()
