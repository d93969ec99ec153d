"""Tests of the window and the tray: asyncio runs on Qt's event loop, as in the app, without a screen."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QCursor, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication
from tests.ui.browser import Browser
from tests.ui.qt_loop import QtLoop

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from tooltray.ui.theme import Theme


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"qt": lambda: QtLoop(QApplication.instance() or QApplication([]))}


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    """The application as app.py sets it up, in English: nothing is on the clipboard or stays there, and the pointer is in a corner."""
    qapp.setQuitOnLastWindowClosed(False)
    QLocale.setDefault(QLocale("en_US"))
    QGuiApplication.clipboard().clear()
    QCursor.setPos(0, 0)
    yield qapp
    QGuiApplication.clipboard().clear()


@pytest.fixture
def theme(app: QApplication) -> Theme:
    """The light theme, without motion."""
    theme = Theme("light", reduced_motion=True)
    theme.apply(app)
    return theme


@pytest.fixture
def browser() -> Iterator[Browser]:
    """Addresses of https go there."""
    browser = Browser()
    QDesktopServices.setUrlHandler("https", browser, "visit")
    yield browser
    QDesktopServices.unsetUrlHandler("https")
