"""Opens addresses and files outside of the hub's job, on Windows: Qt would start a browser as a child of this process, which ends
with it."""

import sys

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from tooltray.foundation.platform.win32.jobs import open_outside

assert sys.platform == "win32"

SCHEMES = ("http", "https", "file", "mailto")


class _Opener(QObject):
    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        if open_outside(url.toLocalFile() if url.isLocalFile() else url.toString(QUrl.ComponentFormattingOption.FullyEncoded)):
            return
        QDesktopServices.unsetUrlHandler(url.scheme())  # no job to leave: Qt's own way is as good
        QDesktopServices.openUrl(url)


def open_outside_of_job(parent: QObject) -> None:
    """Makes Qt open all addresses from now on outside of the job.

    Args:
        parent: lives as long as the app.
    """
    opener = _Opener(parent)
    for scheme in SCHEMES:
        QDesktopServices.setUrlHandler(scheme, opener, "open")  # type: ignore[arg-type]  # the stub says bytes, and Qt takes none
