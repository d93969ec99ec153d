"""Tests of the window and the tray: asyncio runs on Qt's event loop, as in the app, without a screen."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping

import pytest
import qasync
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tooltray.ui.theme import Theme


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"qt": lambda: qasync.QEventLoop(QApplication.instance() or QApplication([]))}


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    """The application as app.py sets it up, in English."""
    qapp.setQuitOnLastWindowClosed(False)
    QLocale.setDefault(QLocale("en_US"))
    return qapp


@pytest.fixture
def theme(app: QApplication) -> Theme:
    """The light theme, without motion."""
    theme = Theme("light", reduced_motion=True)
    theme.apply(app)
    return theme
