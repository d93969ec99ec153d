"""The actions on all servers that are selected in the table."""

from functools import partial

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_actions import can
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.servers.many_servers import ON_DEMAND, REMOVE, RESTART, START, STOP
from tooltray.ui.servers.server_table import ServerTable
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import add_gap, row
from tooltray.ui.zoom import px

ROOM_FOR_ALL = 760  # px; below that Ctrl+A alone selects all


class ManyBar(QWidget):
    """A bar with the actions for the selected servers; hidden while only one is selected.

    Args:
        head: shows the bar in the place of its first widget.
    """

    def __init__(self, theme: Theme, wishes: ServerWishes, table: ServerTable, head: QStackedWidget) -> None:
        super().__init__()
        self._theme, self._wishes, self._table, self._head = theme, wishes, table, head
        line = row(self, margins=(24, 10, 24, 10), spacing=4)
        self._words = ElidedLabel(theme, "", "label", hugs=True)
        self._words.setFont(theme.font("label", tabular=True))
        line.addWidget(self._words)
        add_gap(line, 6)
        faces = (
            (START, tr("Start"), "play", "secondary"),
            (STOP, tr("Stop"), "stop", "secondary"),
            (RESTART, tr("Restart"), "refresh", "secondary"),
            (ON_DEMAND, tr("Sleep"), "clock", "secondary"),
            (REMOVE, tr("Remove"), "trash", "danger"),
        )
        self._buttons: dict[str, Button] = {}
        for what, text, icon, variant in faces:
            button = self._buttons[what] = Button(theme, text, variant, icon, small=True)
            button.clicked.connect(partial(self._on_pressed, what))
            line.addWidget(button)
        self._buttons[ON_DEMAND].setToolTip(tr("They start when a client needs them, not with Tooltray."))
        line.addStretch(1)
        self._all = Button(theme, tr("Select all"), "ghost", small=True)
        self._all.clicked.connect(table.selectAll)
        line.addWidget(self._all)
        clear = IconButton(theme, "x", tr("Select none"), small=True)
        clear.clicked.connect(table.clearSelection)
        line.addWidget(clear)
        table.picked_changed.connect(self.look)
        head.addWidget(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._all.setVisible(self.width() >= px(ROOM_FOR_ALL))

    def look(self) -> None:
        """Updates the bar to the selection and the servers' states."""
        picked = self._table.picked_servers
        self._head.setCurrentIndex(self._head.indexOf(self) if len(picked) > 1 else 0)
        self._words.set_text(tr("{count} selected", count=len(picked)))
        for what, button in self._buttons.items():
            count = sum(can(what, server) for server in picked)
            button.setEnabled(count > 0)
            button.setAccessibleName(tr("{action}: {count} servers", action=button.text(), count=count))

    def _on_pressed(self, what: str) -> None:
        self._wishes.many_requested.emit(what, [server.name for server in self._table.picked_servers])
