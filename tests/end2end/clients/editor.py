"""Another program of the same person: one line to type into, and a picture on the clipboard.

Each line of stdout is what stands in it now, as JSON; the first one, empty, says that it has the keyboard. The picture is read from a PNG
file. Ends with SIGTERM.

Usage: editor.py PICTURE
"""

import json
import signal
import sys

from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QLineEdit


def tell(text):
    print(json.dumps(text), flush=True)


def tell_focus(window):
    if window is not None:
        tell("")


signal.signal(signal.SIGTERM, signal.SIG_DFL)
app = QApplication(["editor"])
app.focusWindowChanged.connect(tell_focus)
line = QLineEdit()
line.setWindowTitle("Editor")
line.setGeometry(20, 20, 300, 40)
line.textChanged.connect(tell)
QGuiApplication.clipboard().setImage(QImage(sys.argv[1]))
line.show()
line.activateWindow()
app.exec()
