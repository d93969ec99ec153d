"""The event loop of tests with widgets."""

import asyncio

from PySide6.QtWidgets import QApplication
from tests.ui.qt_loop import QtLoop


def test_what_comes_up_between_two_runs_finds_its_loop_running(qapp: QApplication) -> None:
    found = []
    with QtLoop(qapp) as loop:
        loop.call_soon(lambda: found.append(asyncio.get_running_loop()))
        qapp.processEvents()
    assert found == [loop]
    assert asyncio._get_running_loop() is None
