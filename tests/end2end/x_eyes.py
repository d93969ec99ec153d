"""A person at the window of the real desktop: sees what a screen reader would read out, presses real keys and real buttons.

x_input presses; clients/read_out_desktop.py only tells what is to be seen.
"""

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import msgspec
from tests.end2end.processes import Program, World, wait_until
from tests.end2end.x_display import XDisplay
from tests.end2end.x_input import XInput
from tests.end2end.x_windows import seen_windows

DESKTOP = Path(__file__).parent / "clients" / "read_out_desktop.py"
STILL = 5  # looks in which something must be the same: what has just come may still move
SOON_S = 30.0  # for what starts a server on a busy machine


class Element(msgspec.Struct, frozen=True):
    """Something on the screen. `place`: its middle."""

    role: str
    name: str
    value: str
    place: tuple[int, int]
    size: tuple[int, int]
    enabled: bool
    focused: bool
    checked: bool


class Person:
    """`with Person(world, display) as person:` starts the desktop and sits down at it."""

    def __init__(self, world: World, display: XDisplay) -> None:
        self._world, self._display = world, display
        self._path = world.home / "read-out.sock"
        self._hands = XInput(display.name)
        self._channel = socket.socket(socket.AF_UNIX)

    def __enter__(self) -> "Person":
        on_screen = {"QT_QPA_PLATFORM": "xcb", "DISPLAY": self._display.name, "READ_OUT": str(self._path), "LC_ALL": "C.UTF-8"}
        self.desktop: Program = self._world.start(sys.executable, str(DESKTOP), environ=on_screen)
        self.desktop.heeds_stdin = False
        self._world.wait_for(self.desktop)
        wait_until(lambda: seen_windows(self._display.name), "the window")
        self._channel.connect(str(self._path))
        self._lines = self._channel.makefile("rw", encoding="utf-8")
        self._hands.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self.picture("failed")
        self._hands.__exit__()
        self._lines.close()
        self._channel.close()

    # eyes

    def look(self) -> list[Element]:
        """All that is on the screen now."""
        self._lines.write("?\n")
        self._lines.flush()
        return msgspec.convert(json.loads(self._lines.readline()), list[Element])

    def sees(self, text: str) -> bool:
        return any(text in each.name or text in each.value for each in self.look())

    def read(self, text: str) -> Element:
        """Waits until something is to be seen that says this."""
        return self._wait(lambda each: text in each.name or text in each.value, text)

    def find(self, name: str, *roles: str) -> Element:
        """Waits for a control of this name that can be used and stands still."""
        return self._wait(lambda each: each.name == name and each.enabled and (not roles or each.role in roles), name)

    def _wait(self, is_it: Callable[[Element], bool], what: str) -> Element:
        looks: list[list[Element]] = []

        def found() -> Element | None:
            looks.append([each for each in self.look() if is_it(each)])
            stands_still = len(looks) >= STILL and all(look == looks[-1] for look in looks[-STILL:])
            return looks[-1][-1] if looks[-1] and stands_still else None  # the last one lies on top of the others

        try:
            return wait_until(found, what, SOON_S)  # type: ignore[no-any-return]
        except TimeoutError:
            names = sorted({f"{each.role} {each.name!r}" for each in self.look() if each.name})
            raise AssertionError(f"{what!r} is not to be seen; available: {', '.join(names)}") from None

    def picture(self, name: str) -> None:
        """Keeps a picture of the screen for people."""
        self._display.screenshot(self._path.with_suffix(".png")).keep_as(f"by-hand-{name}")

    # hands

    def click(self, name: str, *roles: str) -> Element:
        """Moves the mouse to a control and presses its left button."""
        element = self.find(name, *roles)
        self._hands.click(*element.place)
        return element

    def click_text(self, text: str) -> Element:
        """The same for whatever says this."""
        element = self.read(text)
        self._hands.click(*element.place)
        return element

    def type_into(self, name: str, text: str) -> None:
        """Clicks a field, empties it, and types."""
        self.click(name)
        self._hands.press("a", control=True)
        self._hands.type(text)

    def type(self, text: str) -> None:
        """Types where the keyboard is."""
        self._hands.type(text)

    def press(self, key: str, *, control: bool = False) -> None:
        self._hands.press(key, control=control)
