"""A call that waits for a yes, on a real X server: its window takes no key typed elsewhere, and answers once the person is there."""

import json
import subprocess
import sys
from pathlib import Path

from tests.end2end.editor import Editor
from tests.end2end.processes import Program, World, wait_until
from tests.end2end.x_display import XDisplay
from tests.end2end.x_input import XInput
from tests.end2end.x_windows import place_of, seen_windows

NOTES = Path(__file__).parent / "servers" / "notes.py"
TITLE = "Tooltray asks"


def write_settings(world: World) -> None:
    description = world.home / "description"
    description.write_text("Saves a note.")
    notes = {"command": sys.executable, "args": ["-I", str(NOTES), str(description)], "autoApprove": []}
    settings = {"version": 1, "mcpServers": {"notes": notes}, "defaultServers": ["notes"], "autoDetectNpmRegistry": False}
    world.root.mkdir()
    (world.root / "settings.json").write_text(json.dumps(settings))


def connected(world: World) -> Program:
    bridge = world.start_bridge("--no-start")
    bridge.initialize()
    bridge.request("tools/list", id="list")
    return bridge


def ask(bridge: Program, id: int) -> None:
    params = {"name": "save_note", "arguments": {"text": f"note {id}"}}
    bridge.send_request("tools/call", params, id=id)


def user_time(display: str, window: int) -> str:
    """What the window manager is told about giving a new window the keyboard: 0 means not to."""
    command = ["xprop", "-display", display, "-id", hex(window), "_NET_WM_USER_TIME"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def go_there(display: XDisplay, hands: XInput, window: int) -> None:
    left, top, width, _ = place_of(display.name, window)

    def has_keyboard() -> bool:
        hands.click(left + width // 2, top + 12)  # beside every button; heeded once the window can be activated
        return hands.focus() == window

    wait_until(has_keyboard, "the window to get the keyboard")


def test_a_call_asks_without_taking_the_keyboard_and_enter_grants_nothing(world: World, display: XDisplay, tmp_path: Path) -> None:
    write_settings(world)
    on_screen = {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display.name}
    desktop = world.start(sys.executable, "-m", "tooltray", environ=on_screen)
    desktop.heeds_stdin = False
    world.wait_for(desktop)
    wait_until(lambda: seen_windows(display.name), "the main window")
    editor = Editor(world, display)
    bridge = connected(world)

    def gone(*keys: str, control: bool = False) -> bool:
        for key in keys:
            hands.press(key, control=control)  # heeded once the window takes answers
        return not seen_windows(display.name, TITLE)

    with XInput(display.name) as hands:
        editor.wait_for_keyboard()
        has_keyboard = hands.focus()
        ask(bridge, 1)
        [window] = wait_until(lambda: seen_windows(display.name, TITLE), "the window that asks")
        assert user_time(display.name, window).endswith("= 0")
        hands.press("Return")
        hands.press("Return", control=True)
        hands.press("Escape")
        hands.type("Hello")
        editor.wait_for(text="Hello")
        assert hands.focus() == has_keyboard
        assert seen_windows(display.name, TITLE) == [window]
        display.screenshot(tmp_path / "approval.png").keep_as("approval_window")
        go_there(display, hands, window)
        wait_until(lambda: gone("Return", "Escape"), "Not now")
        assert "declined" in bridge.reply_to(1)["error"]["message"]
        ask(bridge, 2)
        [window] = wait_until(lambda: seen_windows(display.name, TITLE), "the window of the next call")
        go_there(display, hands, window)
        wait_until(lambda: gone("Return", control=True), "Allow once")
        assert bridge.reply_to(2)["result"]["content"][0]["text"] == "saved note 2"
    editor.end()
    assert world.tooltray("stop").returncode == 0
    assert desktop.wait() == 0
