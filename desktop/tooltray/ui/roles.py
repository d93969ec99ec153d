"""Roles for screen readers, by class, of widgets that Qt knows no role of: tabs, and lists of cards."""

from functools import cache
from weakref import ref

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractButton, QAccessibleWidget, QWidget

Role = QAccessible.Role
ROLES = {"FilterTabs": Role.PageTabList, "CardList": Role.List, "GridCard": Role.ListItem}


class TabInterface(QAccessibleWidget):
    """A tab: selected or not, and pressed to select it."""

    def __init__(self, tab: QAbstractButton) -> None:
        super().__init__(tab, Role.PageTab)
        self._tab = ref(tab)  # the interface must not keep its widget

    def state(self) -> QAccessible.State:
        state = super().state()
        tab = self._tab()
        state.selectable, state.selected = True, tab is not None and tab.isChecked()
        return state

    def actionNames(self) -> list[str]:
        return [self.pressAction(), *super().actionNames()]

    def doAction(self, name: str) -> None:
        if name != self.pressAction():
            super().doAction(name)
        elif (tab := self._tab()) is not None:
            tab.click()


@cache
def add_roles() -> None:
    """Makes Qt use these roles in the application; called before such a widget is made."""
    QAccessible.installFactory(_interface)


def _interface(name: str, widget: QObject) -> QAccessibleInterface | None:
    """Returns the interface of a widget by the name of its class or of one that this derives from; None: Qt's own."""
    if name == "FilterTab" and isinstance(widget, QAbstractButton):
        return TabInterface(widget)
    if name in ROLES and isinstance(widget, QWidget):
        return QAccessibleWidget(widget, ROLES[name])
    return None
