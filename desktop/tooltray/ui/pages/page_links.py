"""What rooms tell each other, and the tray, without knowing one another. What a person asks of one server is in ServerWishes."""

from PySide6.QtCore import QObject, Signal


class PageLinks(QObject):
    entry_copy_requested = Signal()  # of what an AI client's settings need to use this hub
    projects_changed = Signal(object)  # list[str]: folders whose own files are in use
    entries_waiting_changed = Signal(object)  # list[TrustRequest] that nobody has looked at
    entries_asked = Signal(object)  # list[TrustRequest] that nobody was told of before
