"""When the screen locks is heard from each platform in its own way, and the hub is told while it runs."""

import asyncio
import contextlib
import ctypes
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.fakes.set_clock import SetClock

from tooltray.foundation.errors import TooltrayError
from tooltray.ui.shell import screen_lock_macos as macos
from tooltray.ui.shell import screen_lock_windows as windows
from tooltray.ui.shell.screen_lock_watch import ScreenLockWatch, Told
from tooltray.ui.theme import Theme

CONFIG = """<busconfig><type>session</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""
ANSWER_S = 10.0


# the watch


async def test_the_hub_is_told_of_each_change_while_it_runs_and_a_new_one_of_what_is_so(theme: Theme) -> None:
    fake = FakePresenter([server("a")])
    tellers: list[Told] = []

    def make(told: Told) -> None:
        tellers.append(told)
        told(None)
        told(False)

    async with Desk(fake, theme) as desk:
        watch = ScreenLockWatch(hub=desk.hub, tasks=desk.tasks)
        watch.begin(make)
        desk.hub.snapshot_changed.emit()
        await desk.asked("tell_screen_lock", False)
        assert desk.hub.hears_lock
        for is_locked in (False, True, True):
            tellers[0](is_locked)
        await desk.asked("tell_screen_lock", True)
        assert not desk.hub.hears_lock
        fake.failures["tell_screen_lock"] = TooltrayError("the hub has ended")
        tellers[0](False)
        await until(lambda: [call[1:] for call in fake.calls if call[0] == "tell_screen_lock"] == [(False,), (True,), (False,)])


# Windows and macOS, by what their systems send


def test_what_windows_says_of_a_session_and_of_a_sleep(app: QApplication) -> None:
    told: list[bool | None] = []
    source = windows.ScreenLockSource(told.append)
    w = windows
    for message, detail in (
        (w.SESSION_CHANGE, w.LOCK),
        (w.POWER, w.SUSPEND),
        (w.POWER, w.RESUME),
        (w.SESSION_CHANGE, w.UNLOCK),
        (w.POWER, w.SUSPEND),
        (w.POWER, w.RESUME),
        (w.SESSION_CHANGE, w.REMOTE_DISCONNECT),
        (w.SESSION_CHANGE, 0x5),
        (0x000F, w.LOCK),
    ):
        source.on_message(message, detail)
    assert told == [False, True, True, True, False, True, False, True]


class CoreFoundation:
    """What the login window of macOS sends."""

    def __init__(self) -> None:
        self._names: dict[int, bytes] = {}
        self._observers: dict[bytes, tuple[Any, int]] = {}

    def CFNotificationCenterGetDistributedCenter(self) -> int:
        return 7

    def CFStringCreateWithCString(self, _allocator: None, name: bytes, _encoding: int) -> int:
        self._names[len(self._names) + 1] = name
        return len(self._names)

    def CFNotificationCenterAddObserver(self, center: int, observer: int, callback: Any, name: int, _of: None, _how: int) -> None:
        assert center == 7
        self._observers[self._names[name]] = (callback, observer)

    def send(self, name: bytes) -> None:
        callback, observer = self._observers[name]
        callback(ctypes.c_void_p(7), ctypes.c_void_p(observer), None, None, None)


def test_what_macos_says_and_what_its_clocks_say_of_a_sleep(app: QApplication) -> None:
    told: list[bool | None] = []
    library, wall, steady = CoreFoundation(), SetClock(), SetClock()
    source = macos.ScreenLockSource(told.append, library=library, wall=wall, steady=steady)
    library.send(b"com.apple.screenIsLocked")
    wall.now += 3600.0  # asleep while it is locked
    source.look()
    library.send(b"com.apple.screenIsUnlocked")
    wall.now, steady.now = wall.now + 30.0, steady.now + 30.0
    source.look()
    assert told == [False, True, False]
    wall.now += macos.SLEPT_S + 1
    source.look()
    assert told == [False, True, False, True, False]


# Linux, over a bus of its own


@contextlib.contextmanager
def bus(folder: Path) -> Iterator[str]:
    socket, config = folder / "bus", folder / "bus.conf"
    config.write_text(CONFIG.format(socket=socket))
    command = ["dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile", "--nosyslog", "--print-address"]
    daemon = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert daemon.stdout
    try:
        daemon.stdout.readline()  # it listens
        yield f"unix:path={socket}"
    finally:
        daemon.kill()
        daemon.wait()
        daemon.stdout.close()


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("dbus-daemon"), reason="needs a D-Bus daemon")
async def test_what_a_linux_desktop_says_of_its_screen_saver_and_logind_of_a_sleep(app: QApplication, tmp_path: Path) -> None:
    from jeepney import DBusAddress, MessageType, new_method_return, new_signal
    from jeepney.bus_messages import message_bus
    from jeepney.io.blocking import open_dbus_connection
    from PySide6.QtDBus import QDBusConnection

    from tooltray.ui.shell.screen_lock_linux import SAVERS, ScreenLockSource

    told: list[bool | None] = []
    with bus(tmp_path) as address, open_dbus_connection(address) as saver:
        name, path = SAVERS[1]

        def answer(value: bool) -> None:
            while (question := saver.receive(timeout=ANSWER_S)).header.message_type is not MessageType.method_call:
                pass
            saver.send(new_method_return(question, "b", (value,)))

        connection = QDBusConnection.connectToBus(address, "screen lock test")
        source: QObject = ScreenLockSource(told.append, session=connection, system=connection)
        await until(lambda: told == [None] * len(SAVERS))
        saver.send_and_get_reply(message_bus.RequestName(name), timeout=ANSWER_S)
        await asyncio.to_thread(answer, False)
        await until(lambda: told[-1] is False)
        said = DBusAddress(path, interface=name)
        saver.send(new_signal(said, "ActiveChanged", "b", (True,)))
        await until(lambda: told[-1] is True)
        saver.send(new_signal(said, "ActiveChanged", "b", (False,)))
        await until(lambda: told[-1] is False)
        saver.send_and_get_reply(message_bus.RequestName("org.freedesktop.login1"), timeout=ANSWER_S)
        logind = DBusAddress("/org/freedesktop/login1", interface="org.freedesktop.login1.Manager")
        saver.send(new_signal(logind, "PrepareForSleep", "b", (True,)))
        await until(lambda: told[-1] is True)
        saver.send(new_signal(logind, "PrepareForSleep", "b", (False,)))
        await asyncio.to_thread(answer, False)
        await until(lambda: told[-1] is False)
        session = DBusAddress("/org/freedesktop/login1/session/_32", interface="org.freedesktop.login1.Session")
        saver.send(new_signal(session, "Lock"))
        await until(lambda: told[-1] is True)
        await asyncio.to_thread(answer, True)
        saver.send_and_get_reply(message_bus.ReleaseName(name), timeout=ANSWER_S)
        await until(lambda: told[-1] is None)
        source.deleteLater()
        QDBusConnection.disconnectFromBus("screen lock test")


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("dbus-daemon"), reason="needs a D-Bus daemon")
async def test_a_locker_that_tells_logind_is_heard_from_its_first_lock_on(app: QApplication, tmp_path: Path) -> None:
    from jeepney import DBusAddress, MessageType, new_method_return, new_signal
    from jeepney.bus_messages import message_bus
    from jeepney.io.blocking import open_dbus_connection
    from PySide6.QtDBus import QDBusConnection

    from tooltray.ui.shell.screen_lock_linux import SAVERS, ScreenLockSource

    told: list[bool | None] = []
    with bus(tmp_path) as address, open_dbus_connection(address) as logind:

        def answer(signature: str, value: object) -> None:
            while (question := logind.receive(timeout=ANSWER_S)).header.message_type is not MessageType.method_call:
                pass
            logind.send(new_method_return(question, signature, (value,)))

        def change(is_locked: bool) -> None:
            logind.send(new_signal(properties, "PropertiesChanged", "sa{sv}as", ("s", {}, ["LockedHint"])))
            answer("v", ("b", is_locked))

        logind.send_and_get_reply(message_bus.RequestName("org.freedesktop.login1"), timeout=ANSWER_S)
        properties = DBusAddress("/org/freedesktop/login1/session/_32", interface="org.freedesktop.DBus.Properties")
        connection = QDBusConnection.connectToBus(address, "locked hint test")
        source: QObject = ScreenLockSource(told.append, session=connection, system=connection)
        await asyncio.to_thread(answer, "o", properties.object_path)
        await asyncio.to_thread(answer, "v", ("b", False))
        await asyncio.to_thread(change, False)
        await until(lambda: told == [None] * len(SAVERS))
        await asyncio.to_thread(change, True)
        await until(lambda: told[-1] is True)
        await asyncio.to_thread(change, False)
        await until(lambda: told == [*[None] * len(SAVERS), True, False])
        source.deleteLater()
        QDBusConnection.disconnectFromBus("locked hint test")
