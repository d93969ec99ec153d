"""The desktop app as `tooltray` runs it; prints when its tray icon is there and when its window has been painted, on the monotonic clock.

Usage: observed_desktop.py [--busy]     with --busy the window works for 200 ms of each second, in Python, as drawing a large list does
"""

import sys
import time
from typing import Any

from tooltray.__main__ import main
from tooltray.app import desktop

WORK_S, EVERY_MS = 0.2, 1000
IS_BUSY = "--busy" in sys.argv

run_desktop = desktop.run_here


def run_observed(*arguments: Any, **options: Any) -> int:
    from tooltray.ui.shell.tray import Tray

    show_icon = Tray.show

    def show_and_print(tray: Tray) -> None:
        show_icon(tray)
        print("tray", time.perf_counter(), flush=True)
        observe_window()

    Tray.show = show_and_print  # type: ignore[method-assign]
    return run_desktop(*arguments, **options)


def observe_window() -> None:
    """Watches the main window, which is imported once the icon is there."""
    from PySide6.QtCore import QTimer

    from tooltray.ui.shell.main_window import MainWindow

    build = MainWindow.__init__

    def build_and_watch(window: MainWindow, *arguments: Any, **options: Any) -> None:
        build(window, *arguments, **options)
        window.painted.connect(lambda: QTimer.singleShot(0, lambda: print("window", time.perf_counter(), flush=True)))
        if IS_BUSY:
            timer = QTimer(window)
            timer.timeout.connect(work)
            timer.start(EVERY_MS)

    MainWindow.__init__ = build_and_watch  # type: ignore[method-assign]


def work() -> None:
    until = time.perf_counter() + WORK_S
    while time.perf_counter() < until:
        sorted(str(number) for number in range(100))


desktop.run_here = run_observed
sys.argv[1:] = []
sys.exit(main())
