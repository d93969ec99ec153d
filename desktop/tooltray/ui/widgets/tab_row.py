"""A row of tabs in a narrow place: the tabs that do not fit are in a menu at its end."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QLayout, QMenu, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.menus import popup_below
from tooltray.ui.widgets.surface import row

GAP = 4


class TabRow(QWidget):
    """A row of tabs. `chosen` carries the index of the tab that the user chose.

    Args:
        titles: of the tabs; the first is on.
        name: of the row, for screen readers.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme, titles: Sequence[str], *, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._theme = theme
        line = row(self, spacing=GAP)
        line.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # it hides what does not fit
        group = QButtonGroup(self)
        self._tabs = [FilterTab(theme, title, has_count=False) for title in titles]
        for index, tab in enumerate(self._tabs):
            group.addButton(tab, index)
            line.addWidget(tab)
        self._more = IconButton(theme, "more", tr("More tabs"), small=True)
        self._more.clicked.connect(self._on_more)
        line.addWidget(self._more)
        line.addStretch(1)
        self._tabs[0].setChecked(True)
        group.idClicked.connect(self._on_chosen)

    @property
    def current(self) -> int:
        """The index of the current tab."""
        return next(index for index, tab in enumerate(self._tabs) if tab.isChecked())

    def choose(self, index: int) -> None:
        """Switches a tab on, without `chosen`."""
        self._tabs[index].setChecked(True)
        self._fit()

    def focus_current(self) -> None:
        self._tabs[self.current].setFocus()

    def minimumSizeHint(self) -> QSize:
        return QSize(max(tab.width() for tab in self._tabs) + GAP + self._more.width(), self._more.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Shows the tabs that fit, in their order; the current one is always among them."""
        widths = [tab.width() + GAP for tab in self._tabs]
        is_whole = sum(widths) - GAP <= self.width()
        room = self.width() if is_whole else self.width() - self._more.width() - widths[self.current]
        for index, tab in enumerate(self._tabs):
            fits = is_whole or tab.isChecked() or room >= widths[index]
            if not tab.isChecked():
                room = room - widths[index] if fits else 0  # those behind one without room have none either
            tab.setVisible(fits)
        self._more.setVisible(not is_whole)

    def _on_chosen(self, index: int) -> None:
        self._fit()
        self.chosen.emit(index)

    def _on_more(self) -> None:
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.setAccessibleName(self._more.accessibleName())
        menu.aboutToHide.connect(menu.deleteLater)
        for index, tab in enumerate(self._tabs):
            if tab.isHidden():
                menu.addAction(tab.text()).setData(index)
        menu.triggered.connect(self._on_triggered)
        popup_below(menu, self._more)

    def _on_triggered(self, action: QAction) -> None:
        self._tabs[int(action.data())].click()
