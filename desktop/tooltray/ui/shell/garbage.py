"""Garbage collection only on the window's thread.

Python collects cycles in whatever thread happens to allocate, and a widget in a cycle that is destroyed in the engine's thread takes Qt
down. So automatic collection is off, and a timer of this thread collects: young objects often, which takes microseconds, all objects
seldom, because that holds Python's lock for the engine's thread too."""

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_EVERY_MS = 1000
YOUNG_OBJECTS = 700  # as many as Python itself would wait for
FULL_EVERY = 120  # looks; two minutes


class GarbageCollector(QObject):
    """A collector that runs until it is destroyed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._looks = 0
        gc.disable()
        gc.freeze()  # what the start has made stays for good; no collection need look at it again
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collects if there is enough to collect."""
        self._looks += 1
        if self._looks % FULL_EVERY == 0:
            gc.collect()
        elif gc.get_count()[0] >= YOUNG_OBJECTS:
            gc.collect(1)
