"""A report of a model goes round: by a real bridge to a window on a real X server, and back with what a person typed and pasted there."""

import base64
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

from tests.end2end.editor import Editor
from tests.end2end.processes import Program, World, wait_until
from tests.end2end.x_display import XDisplay
from tests.end2end.x_input import XInput
from tests.end2end.x_windows import close_window, place_of, seen_windows

TITLE = "Feedback for shop"
SUMMARY = "# Totals are fixed\n\n- `invoice.py` sums the **net** amounts\n- the footer shows the tax rate\n\nOnly new invoices?"
WIDTH, HEIGHT = 64, 48


def red_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    lines = (b"\0" + b"\xff\0\0" * WIDTH) * HEIGHT
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def connected_bridge(world: World) -> tuple[Program, str]:
    """A bridge, and the name under which it offers the tool."""
    bridge = world.start_bridge()
    bridge.initialize()
    tools = bridge.request("tools/list", id=2)["result"]["tools"]
    return bridge, next(tool["name"] for tool in tools if tool["name"].endswith("collect_feedback"))


def ask(bridge: Program, tool: str, id: int, folder: Path) -> None:
    arguments = {"work_summary": SUMMARY, "project_name": "shop", "project_path": str(folder)}
    bridge.send_request("tools/call", {"name": tool, "arguments": arguments}, id=id)


def answer(bridge: Program, id: int) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = bridge.reply_to(id)["result"]["content"]
    return content


def test_a_report_is_answered_with_text_and_a_pasted_picture_and_takes_no_keyboard(world: World, display: XDisplay, tmp_path: Path) -> None:
    picture, folder = tmp_path / "red.png", tmp_path / "shop"
    picture.write_bytes(red_png())
    folder.mkdir()
    on_screen = {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display.name}
    desktop = world.start(sys.executable, "-m", "tooltray", environ=on_screen)
    desktop.heeds_stdin = False
    world.wait_for(desktop)
    wait_until(lambda: seen_windows(display.name), "the main window")
    editor = Editor(world, display, picture=picture)
    bridge, tool = connected_bridge(world)
    with XInput(display.name) as hands:
        editor.wait_for_keyboard()
        hands.type("I am typ")
        editor.wait_for(text="I am typ")
        has_keyboard = hands.focus()
        ask(bridge, tool, 3, folder)
        [window] = wait_until(lambda: seen_windows(display.name, TITLE), "the feedback window")
        hands.type("ing here")
        editor.wait_for(text="I am typing here")
        assert hands.focus() == has_keyboard
        left, top, width, _ = place_of(display.name, window)
        hands.click(left + width // 2, top + 30)
        wait_until(lambda: hands.focus() != has_keyboard, "the window to get the keyboard")
        hands.type("Only new ones. See the Picture")
        hands.press("v", control=True)
        display.screenshot(tmp_path / "feedback.png").keep_as("feedback_window")

        def is_sent() -> bool:
            hands.press("Return", control=True)  # heeded once the picture has been read
            return not seen_windows(display.name, TITLE)

        wait_until(is_sent, "the answer to be sent")
    content = answer(bridge, 3)
    texts = [block["text"] for block in content if block["type"] == "text"]
    assert any("Only new ones. See the Picture" in text for text in texts)
    assert not any("typing here" in text for text in texts)
    [image] = [block for block in content if block["type"] == "image"]
    sent = base64.b64decode(image["data"])
    assert image["mimeType"] == "image/png"
    assert struct.unpack_from(">II", sent, 16) == (WIDTH, HEIGHT)
    ask(bridge, tool, 4, folder)
    wait_until(lambda: seen_windows(display.name, TITLE), "the window of the next report")
    close_window(display.name, TITLE)
    assert "without an answer" in str(answer(bridge, 4))
    editor.end()
    assert world.tooltray("stop").returncode == 0
    assert desktop.wait() == 0
