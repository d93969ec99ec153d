"""The base of the window's pages. A page owns its commands, its sheets and its refresh; the window shows it and knows nothing of them."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.ui.pages.hub_phase import HubPhase


class Page(QWidget):
    """`need_person` says how much of the page a person should see to."""

    need_person = Signal(int)

    def set_phase(self, phase: HubPhase) -> None:
        """Says how far the hub is."""
        self.set_usable(phase is HubPhase.RUNNING)

    def set_usable(self, is_usable: bool) -> None:
        """Says whether there is a hub that could be asked for anything."""
        raise NotImplementedError
