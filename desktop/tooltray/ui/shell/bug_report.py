"""What a person can send to who mends a bug of Tooltray.

Above it: the desktop's life, which notices bugs. Below it: the standard library. Knows no widget.
"""

import platform
import traceback

from PySide6.QtCore import qVersion

from tooltray import __version__


def bug_report(error: BaseException) -> str:
    """Returns what who mends a bug wants to know; lines of the program, and none of the settings."""
    where = f"Tooltray {__version__}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
    return f"{where}\n\n{''.join(traceback.format_exception(error))}"
