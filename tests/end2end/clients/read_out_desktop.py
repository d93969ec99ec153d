"""The desktop, and what a screen reader would know of it: started in the place of `python -m tooltray`, told where to listen by READ_OUT.

x_eyes.py asks over the socket; the program runs as it is, in this process. Nothing here changes or presses anything: a line that comes is
answered with all that can be seen now, as JSON: role, name, value, and where it is on the screen.
"""

import contextlib
import json
import os
import queue
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QObject, QRect, Qt, QThread, Signal
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication

from tooltray.__main__ import main
from tooltray.app import desktop as app

MOST_CHILDREN = 3000  # of one element; a table of thousands of rows shows some dozens
PATIENCE_S = 20.0  # for the window's thread; a bound, not a measure


def seen() -> list[dict[str, Any]]:
    """All elements that are on the screen, in the order in which they are read out."""
    found: list[dict[str, Any]] = []
    for window in QApplication.topLevelWidgets():
        if window.isVisible() and (root := QAccessible.queryAccessibleInterface(window)):
            found += _inside(root, root.rect())
    return found


def _inside(element: QAccessibleInterface, room: QRect) -> Iterator[dict[str, Any]]:
    place = element.rect().intersected(room)
    state = element.state()
    if place.isEmpty() or state.invisible:
        return
    yield {
        "role": element.role().name,
        "name": element.text(QAccessible.Text.Name),
        "value": element.text(QAccessible.Text.Value),
        "place": [place.center().x(), place.center().y()],
        "size": [place.width(), place.height()],
        "enabled": not state.disabled,
        "focused": bool(state.focused),
        "checked": bool(state.checked),
    }
    for index in range(min(element.childCount(), MOST_CHILDREN)):
        if (child := element.child(index)) is not None:
            yield from _inside(child, place)


class Reader(QObject):
    """Looks in the window's thread and answers in another one."""

    asked = Signal()

    def __init__(self, window_thread: QThread) -> None:
        super().__init__()
        self._answers: queue.Queue[str] = queue.Queue()
        self.moveToThread(window_thread)
        self.asked.connect(self._look, Qt.ConnectionType.QueuedConnection)

    def read_out(self) -> str:
        self.asked.emit()
        return self._answers.get(timeout=PATIENCE_S)

    def _look(self) -> None:
        QAccessible.setActive(True)  # as where a screen reader listens: else Qt does not follow what tables show
        self._answers.put(json.dumps(seen()))


def _serve(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    listener.close()
    os.unlink(os.environ["READ_OUT"])
    reader: Reader | None = None
    with connection, connection.makefile("rw", encoding="utf-8") as lines, contextlib.suppress(OSError):
        for _ in lines:
            window = QApplication.instance()
            if reader is None and window is not None:
                reader = Reader(window.thread())
            lines.write((reader.read_out() if reader else "[]") + "\n")
            lines.flush()


def run_here(*args: Any, **kwargs: Any) -> int:
    """In the process of the window, which is a child of the guardian."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.environ["READ_OUT"])
    listener.listen()
    threading.Thread(target=_serve, args=(listener,), name="read out", daemon=True).start()
    return app_as_it_is(*args, **kwargs)


if __name__ == "__main__":
    app_as_it_is, app.run_here = app.run_here, run_here
    sys.exit(main())
