"""The report of a bug, which the user can send to the developers, and the log handler that notices bugs. Knows no widget."""

import contextlib
import logging
import platform
import traceback
from collections.abc import Callable

from PySide6.QtCore import qVersion

from tooltray import __version__
from tooltray.foundation.errors import TooltrayError


def bug_report(error: BaseException) -> str:
    """Returns versions and the trace, without anything from the settings."""
    where = f"Tooltray {__version__}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
    return f"{where}\n\n{''.join(traceback.format_exception(error))}"


class BugWatch(logging.Handler):
    """A log handler that reports the first bug, from any thread; later ones are only in the log."""

    def __init__(self, show: Callable[[str], object]) -> None:
        super().__init__(logging.ERROR)
        self._show: Callable[[str], object] | None = show

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        show = self._show
        if show is not None and error is not None and not isinstance(error, TooltrayError):
            self._show = None
            with contextlib.suppress(RuntimeError):  # the window has just been closed
                show(bug_report(error))
