"""What a person finds in a widget: the words that are read out or drawn there, and the controls by their names.

Only what is visible counts, unless a function states otherwise.
"""

from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPlainTextEdit, QScrollArea, QWidget

from tooltray.ui.widgets.banner import FaultArea
from tooltray.ui.widgets.table import Table


def _labels(widget: QWidget) -> list[QLabel]:
    """The visible labels; a tab's own notice belongs to it, although it is in the header of the page."""
    lines = [area.line for area in widget.findChildren(FaultArea) if area.line is not None and not widget.isAncestorOf(area.line)]
    return [label for part in (widget, *lines) for label in part.findChildren(QLabel) if label.isVisibleTo(part)]


def words(widget: QWidget | None) -> str:
    """What its labels say to a screen reader, a line for each."""
    assert widget is not None
    return "\n".join(label.accessibleName() or label.text() for label in _labels(widget))


def drawn(widget: QWidget) -> str:
    """What its labels show, a line for each."""
    return "\n".join(label.text() for label in _labels(widget))


def control(widget: QWidget | None, name: str) -> QAbstractButton:
    """The button or switch that has this text or is read out by this name."""
    assert widget is not None
    for each in widget.findChildren(QAbstractButton):
        if each.isVisibleTo(widget) and name in (each.text(), each.accessibleName()):
            return each
    raise AssertionError(f"no control {name!r}")


def button(widget: QWidget, *texts: str) -> QAbstractButton:
    """The button on which this, or one of these, is written."""
    for each in widget.findChildren(QAbstractButton):
        if each.isVisibleTo(widget) and each.text() in texts:
            return each
    raise AssertionError(f"no button {texts}")


def field(widget: QWidget, name: str) -> QLineEdit:
    """The line to type into, visible or not."""
    return next(each for each in widget.findChildren(QLineEdit) if each.accessibleName() == name)


def text_field(widget: QWidget, name: str) -> QPlainTextEdit:
    """The field for a text of any length, visible or not."""
    return next(each for each in widget.findChildren(QPlainTextEdit) if each.accessibleName() == name)


def table(widget: QWidget, name: str) -> Table:
    """A table, visible or not."""
    return next(each for each in widget.findChildren(Table) if each.accessibleName() == name)


def cells(shown: Table, row: int = 0) -> list[str]:
    """The texts of a row."""
    model = shown.model()
    return [model.index(row, column).data() for column in range(model.columnCount())]


def is_in_sight(widget: QWidget) -> bool:
    """Whether a widget has the focus and is not scrolled away."""
    area = widget.parentWidget()
    while not isinstance(area, QScrollArea):
        area = area.parentWidget()
    has_focus = widget.window().focusWidget() is widget
    return has_focus and area.viewport().rect().contains(widget.mapTo(area.viewport(), widget.rect().center()))
