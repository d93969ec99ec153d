"""A project's server waits for a yes in the real window: it is told there without taking the keyboard, and starts when a person says so."""

import json
import sys
from pathlib import Path

from PySide6.QtGui import QImage
from tests.end2end.processes import BRIDGE, Program, World, wait_until
from tests.end2end.x_display import XDisplay
from tests.end2end.x_input import XInput
from tests.end2end.x_windows import seen_windows

from tooltray.foundation.programs import resource

NOTES = Path(__file__).parent / "servers" / "notes.py"
SETTINGS = {"version": 1, "secrets": {"backend": "memory"}, "autoDetectNpmRegistry": False, "publish": {"feedback": False}}
BANNER_HEIGHT = 60  # px, at most
BANNER_WIDTH, BUTTON_WIDTH, LEAST_BUTTON = 300, 100, 30  # px in one colour, side by side
INSIDE = 10  # px from the edge of a button to what is surely in it
RING = 4  # px, at most
BYTES = 4  # of a pixel
Place = tuple[int, int]


class Screen:
    """Where on the screen something is, by the colours of the light theme."""

    def __init__(self, display: XDisplay, folder: Path) -> None:
        self._display, self._path = display, folder / "screen.png"
        self._colours = json.loads(resource("themes", "tokens.json").read_text("utf-8"))["color"]["light"]

    def _look(self) -> range:
        """Takes a picture and returns the rows of its pixels."""
        self.picture = self._display.screenshot(self._path)
        self._image = QImage(str(self._path)).convertToFormat(QImage.Format.Format_RGBX8888)
        return range(self._image.height())

    def _line(self, y: int, colour: str, length: int) -> int | None:
        """Where the middle of a line of one colour is in a row."""
        row = bytes(self._image.constScanLine(y))
        found = row.find(bytes.fromhex(self._colours[colour][1:] + "FF") * length)
        return None if found < 0 else found // BYTES + length // 2

    def banner_button(self) -> Place | None:
        """The button in the banner."""
        rows = [y for y in self._look() if self._line(y, "info.subtle", BANNER_WIDTH) is not None]
        return next(((x, y + INSIDE) for y in rows if (x := self._line(y, "surface", BUTTON_WIDTH)) is not None), None)

    def primary_button(self, below: int) -> Place | None:
        """The lowest button in the colour of a yes that can be pressed; none while it moves.

        Args:
            below: which row of the screen.
        """
        first, second = (self._lowest(self._look()[below:]) for _ in range(2))
        return first if first == second else None

    def _lowest(self, rows: range) -> Place | None:
        """The ring around what has the keyboard has that colour, too, but is thin."""
        ends = (y for y in reversed(rows) if self._line(y, "accent", LEAST_BUTTON))
        return next(((x, y - INSIDE) for y in ends if (x := self._line(y - RING, "accent", LEAST_BUTTON))), None)


def bridge_in(world: World, folder: Path) -> Program:
    client = world.start(sys.executable, "-I", "-S", str(BRIDGE), "--no-start", cwd=folder)
    client.initialize()
    return client


def tools_of(client: Program) -> set[str]:
    return {each["name"] for each in client.request("tools/list", id="list")["result"]["tools"]}


def trusted(world: World) -> list[str]:
    return [each["entry"] for each in json.loads(world.tooltray("trust", "list", "--json").stdout)]


def test_a_project_s_server_starts_when_a_person_has_seen_it_and_said_yes(world: World, display: XDisplay, tmp_path: Path) -> None:
    folder, said = world.home / "shop", world.home / "description"
    folder.mkdir()
    said.write_text("Saves a note.")
    notes = {"command": sys.executable, "args": ["-I", str(NOTES), str(said)]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"notes": notes}}))
    world.root.mkdir()
    (world.root / "settings.json").write_text(json.dumps(SETTINGS))
    desktop = world.start(sys.executable, "-m", "tooltray", environ={"QT_QPA_PLATFORM": "xcb", "DISPLAY": display.name})
    desktop.heeds_stdin = False
    world.wait_for(desktop)
    wait_until(lambda: seen_windows(display.name), "the window")
    screen = Screen(display, tmp_path)
    with XInput(display.name) as hands:
        has_keyboard = hands.focus()
        client = bridge_in(world, folder)
        assert "save_note" not in tools_of(client)
        look = wait_until(screen.banner_button, "the banner")
        sheet = look[1] + BANNER_HEIGHT
        assert hands.focus() == has_keyboard
        assert len(seen_windows(display.name)) == 1

        hands.click(*look)
        go = wait_until(lambda: screen.primary_button(sheet), "the sheet to take a yes")
        screen.picture.keep_as("trust_sheet")
        hands.press("Return")
        assert trusted(world) == []  # a key that was meant for something else is no yes
        assert screen.primary_button(sheet) == go

        hands.click(*go)
        wait_until(lambda: "save_note" in tools_of(client), "the server's tool")
        wait_until(lambda: screen.banner_button() is None, "the banner to go")
    assert trusted(world) == ["notes"]
    client.close_stdin()
    assert client.wait() == 0
    assert world.tooltray("stop").returncode == 0
    assert desktop.wait() == 0
