"""A scene and the picture that is taken of it: of a desk's window, or of any widget."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget
from tests.fakes.desk import Desk

from tooltray.ui.theme import Theme


class Shot:
    """A picture to be taken of a desk's window, or of any widget."""

    def __init__(self, desk: Desk | None = None, widget: QWidget | None = None, size: tuple[int, int] | None = None) -> None:
        self.desk, self._widget, self._size = desk, widget, size

    @property
    def window(self) -> QWidget:
        """What is to be seen."""
        widget = self._widget or (self.desk.window if self.desk else None)
        assert widget is not None
        return widget

    async def close(self) -> None:
        """Takes it away without a picture."""
        if self._widget is not None:
            self._widget.hide()
        if self.desk:
            await self.desk.close()

    async def take(self, path: Path) -> None:
        widget = self.window
        if self._size:
            widget.resize(*self._size)
        elif self._widget:
            widget.adjustSize()
        for _ in range(20):
            await asyncio.sleep(0.005)
        widget.grab().save(str(path))
        if self.desk:
            await self.desk.close()


def shot_of(window: QWidget) -> Shot:
    """Of a window of its own, in the size that it has."""
    return Shot(widget=window, size=(window.width(), window.height()))


Scene = Callable[[Theme], Awaitable[Shot]]
