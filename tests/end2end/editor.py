"""Another program of the same person, with the keyboard, while Tooltray's windows come and go; it shows what is typed into it.

Tests of windows start it; its window is clients/editor.py.
"""

import signal
import sys
from pathlib import Path

from tests.end2end.processes import World
from tests.end2end.x_display import XDisplay

PROGRAM = Path(__file__).parent / "clients" / "editor.py"


class Editor:
    """Starts it on a screen.

    Args:
        picture: a PNG file, for the clipboard.
    """

    def __init__(self, world: World, display: XDisplay, *, picture: Path | None = None) -> None:
        environ = {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display.name}
        self._program = world.start(sys.executable, str(PROGRAM), str(picture or "no picture"), environ=environ)
        self._program.heeds_stdin = False

    def wait_for_keyboard(self) -> None:
        self.wait_for(text="")

    def wait_for(self, *, text: str) -> None:
        """Waits until this text, and no other, stands in it."""
        while self._program.read() != text:
            pass

    def end(self) -> None:
        self._program.signal(signal.SIGTERM)
        self._program.wait()
