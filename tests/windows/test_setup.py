"""The installer: installs for one person without a word, updates over an app that runs, and leaves what it should."""

import os
import subprocess
import winreg
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.windows.world import PATIENCE_S, World

SETUP = os.environ["TOOLTRAY_SETUP"]
UNINSTALL = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\Tooltray"
RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"


class Installed(World):
    """What the installer has made for a person."""

    def __init__(self, user: Path) -> None:
        self.folder = user / "AppData" / "Local" / "Programs" / "Tooltray"
        self.install()
        (self.version,) = (path for path in self.folder.iterdir() if path.is_dir())
        super().__init__(user, self.version)

    def install(self) -> None:
        subprocess.run(f'"{SETUP}" /S /D={self.folder}', check=True, timeout=5 * PATIENCE_S)  # NSIS wants the last option as it is

    def uninstall(self, *options: str) -> None:
        # `_?=` keeps it from running as a copy of itself, so that it can be waited for
        command = f'"{self.folder / "uninstall.exe"}" {" ".join(("/S", *options))} _?={self.folder}'
        subprocess.run(command, check=True, timeout=5 * PATIENCE_S)

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


def test_with_purge_nothing_is_left(installed: Installed) -> None:
    installed.start_app()
    installed.add_echo()

    installed.uninstall("/PURGE")

    assert not installed.home.exists()
    assert not list(installed.folder.glob("*/tooltray.exe"))
