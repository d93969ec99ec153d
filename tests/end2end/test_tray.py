"""The real desktop on a real X server with a real tray protocol: what the icon says, what its menu does, and how desktops and hubs meet."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.end2end.processes import Program, World, wait_until
from tests.end2end.x_display import XDisplay
from tests.end2end.x_windows import close_window, seen_windows
from tests.fakes.status_notifier import Panel

SERVER = Path(__file__).parent / "servers" / "habits.py"


@pytest.fixture
def panel(tmp_path: Path) -> Iterator[Panel]:
    with Panel(tmp_path) as panel:
        yield panel


def start_desktop(world: World, display: XDisplay, panel: Panel | None = None, *words: str) -> Program:
    environ = {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display.name}
    if panel:
        environ["DBUS_SESSION_BUS_ADDRESS"] = panel.address
    desktop = world.start(sys.executable, "-m", "tooltray", *words, environ=environ)
    desktop.heeds_stdin = False
    return desktop


def started_desktop(world: World, display: XDisplay, panel: Panel) -> Program:
    desktop = start_desktop(world, display, panel)
    world.wait_for(desktop)
    wait_until(lambda: panel.items and "Tooltray is running" in panel.tooltip(), "the tray icon")
    return desktop


def texts(panel: Panel) -> list[str]:
    return [entry.text for entry in panel.menu()]


def kind(world: World) -> str:
    try:
        return str(json.loads((world.root / "run" / "hub.json").read_bytes())["kind"])
    except (OSError, ValueError):
        return ""


def test_one_life_of_a_desktop_by_its_icon(world: World, display: XDisplay, panel: Panel) -> None:
    """The icon says how the hub is, the menu stops and starts servers, a closed window comes back, and Quit ends all of it in order."""
    desktop = started_desktop(world, display, panel)
    pid = world.hub_pid()
    assert texts(panel)[0].startswith("Tooltray is running")
    app = ["Pause all servers", "Copy entry for a client", "Open Tooltray", "About Tooltray", "Quit"]
    assert [text for text in texts(panel) if text in app] == app
    wait_until(lambda: any(text.startswith("Tooltray: ") for text in texts(panel)), "what it needs of the computer")
    noted = json.loads((world.root / "run" / "desktop.json").read_bytes())
    assert noted["DISPLAY"] == display.name
    wait_until(lambda: ("org.gnome.desktop.interface", "enable-animations") in panel.questions, "the question for less motion")

    # servers
    assert world.tooltray("servers", "add", "habits", "--", sys.executable, str(SERVER)).returncode == 0
    wait_until(lambda: "habits · Connected" in texts(panel), "the server in the menu")
    well = panel.icon()
    panel.choose("habits", "Stop")
    wait_until(lambda: world.servers()["habits"]["state"] == "stopped", "the server to stop")
    wait_until(lambda: "habits · Stopped by you" in texts(panel), "the menu to follow")
    panel.choose("habits", "Start")
    wait_until(lambda: "habits · Connected" in texts(panel), "the server to run again")
    panel.choose("Pause all servers", "Pause for an hour")
    wait_until(lambda: "Paused until " in panel.tooltip(), "the tooltip to follow")
    wait_until(lambda: panel.icon() != well, "the icon to change its shape")
    wait_until(lambda: "Resume all servers" in texts(panel), "the menu to follow")
    panel.choose("Resume all servers")
    wait_until(lambda: panel.icon() == well, "the icon to be as before")

    # the window: a click on the icon, and a second start
    wait_until(lambda: seen_windows(display.name), "the window")
    for bring_back in (panel.click, lambda: start_desktop(world, display, panel).wait()):
        close_window(display.name)
        wait_until(lambda: not seen_windows(display.name), "the window to hide")
        assert world.hub_pid() == pid
        bring_back()
        wait_until(lambda: seen_windows(display.name), "the window to come back")
    assert world.hub_pid() == pid

    panel.choose("Quit")
    assert desktop.wait() == 0
    assert not panel.items
    reasons = [record["reason"] for record in world.records() if record["event"] == "service_stopped"]
    assert reasons == ["quit"]


def test_without_a_tray_closing_the_window_ends_the_app(world: World, display: XDisplay) -> None:
    desktop = start_desktop(world, display)
    world.wait_for(desktop)
    wait_until(lambda: seen_windows(display.name), "the window")
    close_window(display.name)
    assert desktop.wait() == 0


def test_started_in_the_background_it_shows_its_icon_alone_and_a_second_time_nothing(world: World, display: XDisplay, panel: Panel) -> None:
    desktop = start_desktop(world, display, panel, "--background")
    world.wait_for(desktop)
    wait_until(lambda: panel.items and "Tooltray is running" in panel.tooltip(), "the tray icon")
    assert start_desktop(world, display, panel, "--background").wait() == 0
    assert not seen_windows(display.name)
    assert start_desktop(world, display, panel, "tooltray://open").wait() == 0
    wait_until(lambda: seen_windows(display.name), "the window")


def test_two_desktops_started_at_once_are_one(world: World, display: XDisplay, panel: Panel) -> None:
    desktops = [start_desktop(world, display, panel) for _ in range(2)]
    wait_until(lambda: any(each.process.poll() is not None for each in desktops), "one of them to leave")
    assert sorted(str(each.process.poll()) for each in desktops) == ["0", "None"]
    wait_until(lambda: kind(world) == "desktop", "the other one's hub")


def test_a_desktop_takes_over_from_a_hub_without_a_window(world: World, display: XDisplay, panel: Panel) -> None:
    world.add_server("habits", sys.executable, str(SERVER))
    serve = world.start_hub()
    assert kind(world) == "serve"
    client = world.start_bridge()
    client.initialize()
    desktop = started_desktop(world, display, panel)
    assert serve.wait() == 0
    assert kind(world) == "desktop"
    result = client.request("tools/call", {"name": "echo", "arguments": {"text": "over"}}, id=2)["result"]
    assert result["content"][0]["text"] == "over"
    assert world.tooltray("stop").returncode == 0
    assert desktop.wait() == 0


def test_a_hub_that_does_not_answer_is_explained_in_the_window(world: World, display: XDisplay, panel: Panel) -> None:
    serve = world.start_hub()
    hub = world.hub_pid()
    assert hub is not None
    stopped = psutil.Process(hub)
    stopped.suspend()
    desktop = start_desktop(world, display, panel)
    try:
        wait_until(lambda: panel.items and "Tooltray is not running" in panel.tooltip(), "the failure in the tray")
        panel.choose("Quit")
        assert desktop.wait() == 0
    finally:
        stopped.resume()
    assert serve.process.poll() is None


def test_a_home_that_cannot_be_used_is_explained_in_the_window(world: World, display: XDisplay, panel: Panel) -> None:
    world.root.write_text("a file where the folder belongs")
    desktop = start_desktop(world, display, panel)
    wait_until(lambda: panel.items and "Tooltray is not running" in panel.tooltip(), "the failure in the tray")
    assert seen_windows(display.name)
    desktop.signal(signal.SIGINT)
    assert desktop.wait() == 130
