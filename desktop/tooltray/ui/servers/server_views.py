"""The choice of how servers are shown: as cards or as a table, in which order, under which headings."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from tooltray.ui.i18n import tr
from tooltray.ui.kit.window_memory import WindowMemory
from tooltray.ui.servers.server_groups import GROUPINGS, Grouping, grouping
from tooltray.ui.servers.server_table import SORTS, ServerTable
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton, popup_below

MOST_CARDS = 11  # beyond that a table, unless a person wants cards: scanning beats looking, and no widget is built per server
CARDS, TABLE = "cards", "table"
VIEW, SORT, GROUP = "servers.view", "servers.sort", "servers.group"  # in the memory of the window


class ServerViews(IconButton):
    """A button whose menu has all views. `changed`: the user has chosen another one."""

    changed = Signal()

    def __init__(self, theme: Theme, memory: WindowMemory, table: ServerTable) -> None:
        super().__init__(theme, "layers", tr("How servers are shown"), small=True)
        self._memory, self._table = memory, table
        self._count = 0
        table.set_grouping(self.grouping)
        self._sort_as_remembered()
        table.sort_changed.connect(self._on_sorted)
        self.clicked.connect(self._on_clicked)

    @property
    def grouping(self) -> Grouping:
        return grouping(self._memory.text(GROUP))

    def is_table(self, count: int) -> bool:
        """Returns whether so many servers are shown as a table."""
        self._count = count
        chosen = self._memory.text(VIEW)
        return chosen == TABLE if chosen in (CARDS, TABLE) else count > MOST_CARDS

    def _sort_as_remembered(self) -> None:
        name, _, falls = self._memory.text(SORT).partition(" ")
        self._table.sort_by(SORTS.index(name) if name in SORTS[1:] else -1, bool(falls))

    def _on_sorted(self) -> None:
        by = self._table.sorted_by
        self._memory.remember(SORT, f"{SORTS[by[0]]} {'falls' if by[1] else ''}".strip() if by is not None else "")

    def _on_clicked(self) -> None:
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.setAccessibleName(self.accessibleName())
        menu.aboutToHide.connect(menu.deleteLater)
        is_table = self.is_table(self._count)
        self._add_choices(menu, tr("Show as"), [(tr("Cards"), CARDS), (tr("Table"), TABLE)], TABLE if is_table else CARDS, VIEW)
        if is_table:
            self._add_choices(menu, tr("Group by"), [(each.title(), each.name) for each in GROUPINGS], self.grouping.name, GROUP)
            self._add_choices(menu, tr("Sort by"), self._sorts(), self._memory.text(SORT).partition(" ")[0], SORT)
        popup_below(menu, self)

    def _sorts(self) -> list[tuple[str, str]]:
        titles = [column.title for column in self._table.columns]
        return [(tr("As added"), ""), *((titles[index], name) for index, name in enumerate(SORTS) if name)]

    def _add_choices(self, menu: QMenu, title: str, choices: Sequence[tuple[str, str]], chosen: str, name: str) -> None:
        if not menu.isEmpty():
            menu.addSeparator()
        menu.addAction(title).setEnabled(False)
        group = QActionGroup(menu)
        for words, value in choices:
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(value == chosen)
            group.addAction(action)
            action.triggered.connect(partial(self._on_chosen, name, value))

    def _on_chosen(self, name: str, value: str) -> None:
        if name == SORT:
            index = SORTS.index(value) if value else -1
            self._table.sort_by(index, self._table.columns[index].falls if value else False)
            self._on_sorted()
        else:
            self._memory.remember(name, value)
        if name == GROUP:
            self._table.set_grouping(self.grouping)
        self.changed.emit()
