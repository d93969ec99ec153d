"""The base class of the sections of the tab Confinement."""

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.servers import ServerSnapshot


class ConfinementSection(QWidget):
    def set_server(self, server: ServerSnapshot) -> None:
        """Shows a newer snapshot."""
