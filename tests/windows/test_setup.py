"""The installer: installs for one person without a word, updates over an app that runs, and leaves what it should."""

import ctypes
import os
import subprocess
import threading
import winreg
from collections.abc import Callable, Iterator
from ctypes import wintypes
from pathlib import Path

import psutil
import pytest
from tests.windows.world import PATIENCE_S, Client, World

pytestmark = pytest.mark.timeout(600)  # a setup takes a minute on a busy machine, and a test that takes too long ends all others
SETUP, NEWER_SETUP = os.environ["TOOLTRAY_SETUP"], os.environ["TOOLTRAY_NEWER_SETUP"]
UNINSTALL = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\Tooltray"
RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
SUPERSEDED = "superseded.txt"
CALLS = 500
NEWER = Path(NEWER_SETUP).name.split("-")[1]
FAILED, ALREADY_RUNNING = 2, 1618  # exit codes of NSIS, and of Windows' own installer (ERROR_INSTALL_ALREADY_RUNNING)
WM_COMMAND, IDOK = 0x0111, 1  # winuser.h; NSIS gives the number to the button Install, and to Finish


class Installed(World):
    """What the installer has made for a person."""

    def __init__(self, user: Path) -> None:
        self.folder = user / "AppData" / "Local" / "Programs" / "Tooltray"
        self.install()
        (self.first,) = (path for path in self.folder.iterdir() if path.is_dir())
        self.version = self.first
        super().__init__(user, self.version)

    def install(self, setup: str = SETUP) -> None:
        assert self.start_setup(setup, "/S").wait(5 * PATIENCE_S) == 0

    def start_setup(self, setup: str, *options: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(f'"{setup}" {" ".join((*options, f"/D={self.folder}"))}')  # NSIS wants the last option as it is

    def uninstall(self, *options: str, code: int = 0) -> None:
        # `_?=` keeps it from running as a copy of itself, so that it can be waited for
        command = f'"{self.folder / "uninstall.exe"}" {" ".join(("/S", *options))} _?={self.folder}'
        assert subprocess.run(command, timeout=5 * PATIENCE_S).returncode == code

    def newer(self) -> Path:
        """The folder of the newer version, once setup has made it."""
        return next((path for path in self.folder.iterdir() if path.is_dir() and path != self.first), self.first)

    def switch(self, version: Path) -> None:
        """Uses the commands of a version from now on."""
        self.version = version
        super().__init__(self.user, version)

    def start_app(self) -> None:
        subprocess.Popen([self.version / "tooltray-app.exe", "--background"])
        self.until("the hub runs", (self.home / "run" / "hub.json").exists)


def value(key: str, name: str = "") -> object:
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
            return winreg.QueryValueEx(opened, name)[0]
    except FileNotFoundError:
        return None


@pytest.fixture
def installed(user: Path) -> Iterator[Installed]:
    before = {process.pid for process in psutil.process_iter()}
    installed = Installed(user)
    yield installed
    if (installed.version / "tooltray.exe").exists():
        installed.close()
        installed.uninstall()
    assert installed.left(before) == [], "processes are left"


def test_it_installs_for_one_person_and_says_so_in_the_registry(installed: Installed) -> None:
    assert {"tooltray.exe", "tooltray-app.exe", "tooltray-bridge.exe", "install.json", "LICENCES.txt"} <= set(os.listdir(installed.version))
    assert value(UNINSTALL, "InstallLocation") == str(installed.folder)
    shown = {name: value(UNINSTALL, name) for name in ("DisplayName", "DisplayVersion", "Publisher", "Comments")}
    assert shown == {
        "DisplayName": "Tooltray",
        "DisplayVersion": installed.version.name,
        "Publisher": "The developers of Tooltray",
        "Comments": "One home for your MCP servers",
    }
    assert "tooltray-app.exe" in str(value(r"Software\Classes\tooltray\shell\open\command"))
    assert value(RUN, "Tooltray") is None
    assert "Windows installer" in installed.run("bridge", "show") or installed.run("--version").startswith("tooltray")


def test_ai_clients_get_the_launcher_which_an_update_leaves_alone(installed: Installed) -> None:
    installed.start_app()
    launcher = installed.home / "bin" / "tooltray-bridge.exe"
    installed.until("the launcher is there", launcher.exists)
    installed.add_echo()
    client = installed.client(bridge=launcher).start()
    assert client.call("echo", text="by the launcher") == "by the launcher"
    first = installed.hub_pid()

    installed.install()

    installed.until("the new app runs", lambda: (installed.home / "run" / "hub.json").exists() and installed.hub_pid() != first)
    assert client.call("echo", text="after the update") == "after the update"
    assert client.leave() == 0


def test_a_launcher_that_is_killed_takes_its_bridge_along(installed: Installed) -> None:
    installed.start_app()
    launcher = installed.home / "bin" / "tooltray-bridge.exe"
    installed.until("the launcher is there", launcher.exists)
    client = installed.client(bridge=launcher).start()
    (bridge,) = psutil.Process(client.process.pid).children()

    client.process.kill()

    installed.until("the bridge ends", lambda: not bridge.is_running())


def test_start_at_login_is_what_the_registry_says(installed: Installed) -> None:
    installed.run("autostart", "on")
    assert str(value(RUN, "Tooltray")).endswith("--background")

    installed.run("autostart", "off")
    assert value(RUN, "Tooltray") is None


def test_uninstalling_ends_the_app_and_keeps_the_home(installed: Installed) -> None:
    installed.start_app()
    installed.add_echo()

    installed.uninstall()

    assert not list(installed.folder.glob("*/tooltray.exe"))
    assert value(UNINSTALL, "InstallLocation") is None
    assert value(r"Software\Classes\tooltray\shell\open\command") is None
    assert "echo" in (installed.home / "settings.json").read_text()


def test_without_any_installation_the_launcher_answers_with_what_to_do(installed: Installed) -> None:
    installed.start_app()
    launcher = installed.home / "bin" / "tooltray-bridge.exe"
    installed.until("the launcher is there", launcher.exists)
    installed.uninstall()

    client = installed.client(bridge=launcher)
    reply = client.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={})

    assert "tooltray doctor" in reply["error"]["message"]
    assert client.leave() == 0


def test_it_can_be_installed_again_while_a_bridge_of_before_still_runs(installed: Installed) -> None:
    installed.start_app()
    installed.add_echo()
    client = installed.client().start()
    installed.uninstall()
    assert client.process.poll() is None

    installed.install()

    assert (installed.first / "tooltray.exe").exists()
    installed.start_app()
    assert installed.client().start().call("echo", text="after both") == "after both"


def test_with_purge_nothing_is_left(installed: Installed) -> None:
    installed.start_app()
    installed.add_echo()

    installed.uninstall("/PURGE")

    assert not installed.home.exists()
    assert not list(installed.folder.glob("*/tooltray.exe"))


class Calls(threading.Thread):
    """An AI client that calls all the time."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self.count, self.failures = 0, list[str]()
        self._client, self._is_ending = client, threading.Event()
        self._between: Callable[[], None] | None = None

    def run(self) -> None:
        while not self._is_ending.is_set():
            if between := self._between:
                between()
                self._between = None
            text = f"call {self.count}"
            if (answer := self._client.call("echo", text=text)) != text:
                self.failures.append(answer)
            self.count += 1

    def between_two(self, work: Callable[[], None]) -> None:
        """Does something while no call is under way."""
        self._between = work
        while self._between is not None and self.is_alive():
            threading.Event().wait(0.01)

    def end(self) -> None:
        self._is_ending.set()
        self.join(PATIENCE_S)


def press(process: subprocess.Popen[bytes]) -> None:
    """Presses the button Install, Next or Finish of a setup."""
    for window in windows_of(process):
        ctypes.WinDLL("user32").PostMessageW(wintypes.HWND(window), WM_COMMAND, IDOK, 0)


def windows_of(process: subprocess.Popen[bytes]) -> list[int]:
    """Returns the visible windows of a process."""
    user32 = ctypes.WinDLL("user32")
    found = []

    @ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.HWND, wintypes.LPARAM)
    def look(window: int, _: int) -> bool:
        owner = wintypes.DWORD()
        user32.GetWindowThreadProcessId(wintypes.HWND(window), ctypes.byref(owner))
        if owner.value == process.pid and user32.IsWindowVisible(wintypes.HWND(window)):
            found.append(window)
        return True

    user32.EnumWindows(look, 0)
    return found


def update_silently(installed: Installed, calls: Calls) -> None:
    installed.install(NEWER_SETUP)


def update_with_the_page_open(installed: Installed, calls: Calls) -> None:
    setup = installed.start_setup(NEWER_SETUP)

    def installs() -> bool:
        press(setup)
        return installed.newer() != installed.first

    def is_closed() -> bool:
        press(setup)
        return setup.poll() is not None

    installed.until("setup installs", installs)
    installed.until("the page Finish is open", (installed.first / SUPERSEDED).exists)
    seen = calls.count
    installed.until("calls while the page is open", lambda: calls.count >= seen + CALLS // 2)
    assert setup.poll() is None
    installed.until("setup is closed", is_closed)


def update_while_hubs_are_killed(installed: Installed, calls: Calls) -> None:
    def kill() -> None:
        hub = psutil.Process(installed.hub_pid())
        hub.kill()
        hub.wait(PATIENCE_S)

    setup = installed.start_setup(NEWER_SETUP, "/S")
    installed.until("files are copied", lambda: installed.newer() != installed.first)
    calls.between_two(kill)
    assert setup.wait(5 * PATIENCE_S) == 0
    installed.until("a hub of the newer version", lambda: installed.hub().get("version") == installed.newer().name)
    calls.between_two(kill)


@pytest.mark.parametrize("update", [update_silently, update_with_the_page_open, update_while_hubs_are_killed])
def test_no_call_fails_over_an_update_and_the_old_version_goes_afterwards(
    installed: Installed, update: Callable[[Installed, Calls], None]
) -> None:
    installed.start_app()
    launcher = installed.home / "bin" / "tooltray-bridge.exe"
    installed.until("the launcher is there", launcher.exists)
    installed.add_echo()
    client = installed.client(bridge=launcher).start()
    old = set(installed.first.rglob("*"))
    calls = Calls(client)
    calls.start()

    update(installed, calls)

    newer = installed.newer()
    installed.until("the newer version serves", lambda: installed.hub().get("version") == newer.name)
    at_update = calls.count
    installed.until("all calls", lambda: calls.count >= max(CALLS, at_update + 50))
    calls.end()
    print(f"{update.__name__}: {len(calls.failures)} of {calls.count} calls failed")
    assert calls.failures == []
    assert set(installed.first.rglob("*")) == old | {installed.first / SUPERSEDED}, "its bridge still runs"

    assert client.leave() == 0
    installed.switch(newer)
    installed.run("stop")
    installed.start_app()
    installed.until("the old version goes", lambda: not installed.first.exists())
    assert (newer / "tooltray-bridge.exe").exists()


def test_an_older_version_takes_over_from_a_newer_one(installed: Installed) -> None:
    installed.start_app()
    launcher = installed.home / "bin" / "tooltray-bridge.exe"
    installed.until("the launcher is there", launcher.exists)
    installed.add_echo()
    installed.install(NEWER_SETUP)
    newer = installed.newer()
    installed.until("the newer version serves", lambda: installed.hub().get("version") == newer.name)
    client = installed.client(bridge=launcher).start()
    calls = Calls(client)
    calls.start()

    installed.install()

    installed.until("the older version serves", lambda: installed.hub().get("version") == installed.first.name)
    at_update = calls.count
    installed.until("all calls", lambda: calls.count >= max(CALLS, at_update + 50))
    calls.end()
    print(f"downgrade: {len(calls.failures)} of {calls.count} calls failed")
    assert len(calls.failures) <= 1, "a newer hub is stopped, which the call under way may notice"
    assert client.leave() == 0
    installed.run("stop")
    installed.start_app()
    installed.until("the newer version goes", lambda: not newer.exists())
    assert (installed.first / "tooltray-bridge.exe").exists()
    assert not (installed.first / SUPERSEDED).exists()


@pytest.mark.parametrize("file", [NEWER, f"{NEWER}/_contents/PySide6"])
def test_a_setup_that_cannot_write_a_file_changes_nothing(installed: Installed, file: str) -> None:
    installed.start_app()
    installed.add_echo()
    client = installed.client().start()
    hub = installed.hub_pid()
    old = set(installed.first.rglob("*"))
    in_the_way = installed.folder / file
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    in_the_way.touch()

    assert installed.start_setup(NEWER_SETUP, "/S").wait(5 * PATIENCE_S) == FAILED

    assert not (installed.folder / NEWER).is_dir(), "what it could write is removed"
    assert value(UNINSTALL, "DisplayVersion") == installed.first.name
    assert set(installed.first.rglob("*")) == old, "it is not marked"
    assert client.call("echo", text="still there") == "still there"
    assert installed.hub_pid() == hub
    in_the_way.unlink(missing_ok=True)
    installed.install(NEWER_SETUP)
    installed.until("the newer version serves", lambda: installed.hub().get("version") == NEWER)


def test_a_second_setup_and_an_uninstaller_are_refused_while_a_setup_runs(installed: Installed) -> None:
    setup = installed.start_setup(NEWER_SETUP)
    installed.until("its window is open", lambda: windows_of(setup))

    assert installed.start_setup(NEWER_SETUP, "/S").wait(PATIENCE_S) == ALREADY_RUNNING
    installed.uninstall(code=ALREADY_RUNNING)

    setup.kill()
    setup.wait(PATIENCE_S)
    assert value(UNINSTALL, "DisplayVersion") == installed.first.name
    assert installed.newer() == installed.first
