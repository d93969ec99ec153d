"""Cycles of widgets are collected in the window's thread, never in another."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tooltray.ui.shell.desktop import FULL_EVERY, GarbageCollector


@pytest.fixture
def collector(qtbot: QtBot) -> Iterator[GarbageCollector]:
    made = GarbageCollector()
    yield made
    made.deleteLater()
    gc.unfreeze()
    gc.enable()


class Knot(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.itself = self


def test_another_thread_that_makes_much_garbage_collects_no_widget(collector: GarbageCollector) -> None:
    knot = weakref.ref(Knot())

    def make_garbage() -> None:
        for _ in range(100_000):
            cycle: list[object] = []
            cycle.append(cycle)

    thread = threading.Thread(target=make_garbage)
    thread.start()
    thread.join()
    assert knot() is not None
    collector.look()
    assert knot() is None


def test_what_is_left_over_is_collected_after_a_while_even_if_it_is_little(collector: GarbageCollector) -> None:
    gc.collect()
    knot = weakref.ref(Knot())
    for _ in range(FULL_EVERY):
        collector.look()
    assert knot() is None
