"""The base of the window's pages. A page owns its commands, its sheets and its refresh; the window shows it and knows nothing of them."""

from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.ui.kit.destinations import Destination
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View


class HubPhase(Enum):
    STARTING = "starting"
    TAKING_OVER = "taking over"  # from a hub without a window
    RUNNING = "running"
    FAILED = "failed"  # it could not start, or ended by itself
    ENDING = "ending"


class Page(QWidget, View):
    """A page of the window, or a tab of a page. It is refreshed whenever it is shown; a hidden page requests nothing from the hub.

    Attributes:
        header_actions: of a tab: the widget in the header of its page while the tab is shown.
    """

    need_person = Signal(int)  # so many things on it that a person should see to
    look_requested = Signal()  # it is shown, and wants to know how things are

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self.context = context
        self.setObjectName("Page")
        self.is_usable = False
        self.header_actions: Sequence[QWidget] = ()

    def set_phase(self, phase: HubPhase) -> None:
        """Sets the phase of the hub."""
        self.set_usable(phase is HubPhase.RUNNING)

    def set_usable(self, is_usable: bool) -> None:
        """Sets whether a hub can be used."""
        self.is_usable = is_usable
        self.enable(is_usable)
        self.look_again()

    def enable(self, is_usable: bool) -> None:
        """Enables or disables the controls that need a hub."""
        raise NotImplementedError

    def open_destination(self, destination: Destination) -> None:
        """Opens one of the places in the page, which is shown already."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Refreshes now if visible; a hidden page is refreshed when it is shown."""
        if self.is_usable and self.isVisible():
            self.look_requested.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look_again()
