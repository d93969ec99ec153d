"""The command palette with a real keyboard on a real X server: a person pauses everything, and goes on, without the mouse."""

import json
import sys

from tests.end2end.processes import Program, World, wait_until
from tests.end2end.x_display import XDisplay
from tests.end2end.x_input import XInput
from tests.end2end.x_windows import seen_windows


def is_paused(world: World) -> bool:
    document = json.loads((world.root / "settings.json").read_bytes()) if (world.root / "settings.json").exists() else {}
    return document.get("mcpEnabled") is False and "pausedUntil" in document


def started(world: World, display: XDisplay) -> Program:
    desktop = world.start(sys.executable, "-m", "tooltray", environ={"QT_QPA_PLATFORM": "xcb", "DISPLAY": display.name})
    desktop.heeds_stdin = False
    return desktop


def test_what_is_typed_is_done_and_the_keyboard_is_where_it_was(world: World, display: XDisplay) -> None:
    desktop = started(world, display)
    world.wait_for(desktop)
    wait_until(lambda: seen_windows(display.name), "the window")
    assert started(world, display).wait() == 0  # a second start gives the window the keyboard; there is no window manager that would
    with XInput(display.name) as hands:
        wait_until(lambda: hands.focus() in seen_windows(display.name), "the window to have the keyboard")
        for words, is_done in (("pause for hour", lambda: is_paused(world)), ("resume", lambda: not is_paused(world))):
            hands.press("k", control=True)
            hands.type(words)
            hands.press("Return")
            wait_until(is_done, words)
        hands.press("q", control=True)
    assert desktop.wait() == 0
