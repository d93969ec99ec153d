"""The zoom of all windows: lengths of the design in pixels of the zoomed window, and what changes in widgets when the user zooms."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import overload

from PySide6.QtCore import QMargins, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QGridLayout,
    QHeaderView,
    QLabel,
    QLayout,
    QMainWindow,
    QTableView,
    QWidget,
)

from tooltray.foundation.preferences import ACTUAL_SIZE, ZOOM_STEPS

HAIRLINE = 1  # px; borders and dividers keep it at every zoom
UNLIMITED = 2**24 - 1  # Qt's QWIDGETSIZE_MAX: no maximum was set


class _Zoom:
    """The zoom of this process, as Qt has one font and one style sheet for all windows of an application."""

    percent = ACTUAL_SIZE


def zoom() -> int:
    """Returns the zoom in per cent."""
    return _Zoom.percent


def set_zoom(percent: int) -> None:
    """Sets the zoom in per cent for what is built and painted from now on; `Theme.set_zoom` also changes what is shown."""
    _Zoom.percent = percent


def next_zoom(percent: int, steps: int) -> int:
    """Returns the zoom that is so many steps larger, or smaller with a negative number; the last one at either end."""
    nearest = min(ZOOM_STEPS, key=lambda step: abs(step - percent))
    return ZOOM_STEPS[min(max(ZOOM_STEPS.index(nearest) + steps, 0), len(ZOOM_STEPS) - 1)]


@overload
def px(length: int) -> int: ...
@overload
def px(length: float) -> float: ...
def px(length: float) -> float:
    """Returns a length of the design, in pixels at 100 %, in pixels at the current zoom; whole pixels of a whole number."""
    return _zoomed(length, _Zoom.percent) if isinstance(length, int) else length * _Zoom.percent / ACTUAL_SIZE


def _zoomed(length: int, percent: int) -> int:
    return length if percent == ACTUAL_SIZE or abs(length) <= HAIRLINE else round(length * percent / ACTUAL_SIZE)


class Rezoom:
    """The change of shown widgets from one zoom to another one, without building them again, so that nothing typed is lost.

    Args:
        before: the zoom in per cent at which the widgets have their present lengths.
        after: the new one.
    """

    def __init__(self, before: int, after: int) -> None:
        self._before, self._after = before, after
        self._widgets: list[QWidget] = []
        self._changes: list[Callable[[], object]] = []

    def length(self, length: int) -> int:
        """Returns a length at the new zoom; 0 and Qt's sign for none, -1, stay."""
        return length if abs(length) <= HAIRLINE else _zoomed(round(length * ACTUAL_SIZE / self._before), self._after)

    def read(self, widgets: Iterable[QWidget]) -> None:
        """Reads fonts, fixed sizes, margins and distances of these widgets, before any of them is changed; but for spacers, in whose place
        `surface.add_gap` adds margins: PySide may delete what a layout's item returns.
        """
        self._widgets = list(widgets)
        for widget in self._widgets:
            self._add_font(widget)
            self._add_limits(widget)
            if isinstance(widget, QLabel):
                self._changes.append(partial(widget.setContentsMargins, self._margins(widget.contentsMargins())))
            if isinstance(widget, QTableView):
                self._add_table(widget)
            if (layout := widget.layout()) is not None:
                for each in (layout, *layout.findChildren(QLayout)):
                    self._add_layout(each)

    def apply(self) -> None:
        """Changes all that was read. The new style sheet comes first: Qt gives widgets their former fonts with it."""
        for change in self._changes:
            change()
        for widget in self._widgets:
            if isinstance(widget, QAbstractItemView):
                widget.scheduleDelayedItemsLayout()
            if isinstance(widget, QLabel):
                widget.setIndent(widget.indent())  # else it keeps its size hint, which has its former least size in it
            widget.updateGeometry()
            if (layout := widget.layout()) is not None:
                layout.invalidate()
            QApplication.postEvent(widget, QResizeEvent(widget.size(), widget.size()))  # lengths that are computed from the width
            widget.update()

    def _margins(self, margins: QMargins) -> QMargins:
        return QMargins(*(self.length(each) for each in (margins.left(), margins.top(), margins.right(), margins.bottom())))

    def _add_font(self, widget: QWidget) -> None:
        font = widget.font()
        if font.pixelSize() > 0 and widget.testAttribute(Qt.WidgetAttribute.WA_SetFont):
            font.setPixelSize(self.length(font.pixelSize()))
            font.setLetterSpacing(font.letterSpacingType(), font.letterSpacing() * self._after / self._before)
            self._changes.append(partial(widget.setFont, font))

    def _add_limits(self, widget: QWidget) -> None:
        if isinstance(widget, QMainWindow):
            return  # its least size is that of a small screen
        least, most = widget.minimumSize(), widget.maximumSize()
        wide, high = (each if each >= UNLIMITED else self.length(each) for each in (most.width(), most.height()))
        set_least = partial(widget.setMinimumSize, self.length(least.width()), self.length(least.height()))
        if (wide, high) != (UNLIMITED, UNLIMITED):
            lift = partial(widget.setMaximumSize, UNLIMITED, UNLIMITED)  # so that neither limit moves the other one
            self._changes += [lift, set_least, partial(widget.setMaximumSize, wide, high)]
        elif not least.isNull():
            self._changes.append(set_least)

    def _add_table(self, table: QTableView) -> None:
        rows, columns = table.verticalHeader(), table.horizontalHeader()
        self._changes.append(partial(rows.setMinimumSectionSize, self.length(rows.minimumSectionSize())))
        self._changes.append(partial(rows.setDefaultSectionSize, self.length(rows.defaultSectionSize())))
        self._changes.append(partial(columns.setMinimumSectionSize, self.length(columns.minimumSectionSize())))
        for column in range(columns.count()):
            if columns.sectionResizeMode(column) is QHeaderView.ResizeMode.Fixed and (width := columns.sectionSize(column)):
                self._changes.append(partial(columns.resizeSection, column, self.length(width)))

    def _add_layout(self, layout: QLayout) -> None:
        self._changes.append(partial(layout.setContentsMargins, self._margins(layout.contentsMargins())))
        if isinstance(layout, QGridLayout):
            self._changes.append(partial(layout.setHorizontalSpacing, self.length(layout.horizontalSpacing())))
            self._changes.append(partial(layout.setVerticalSpacing, self.length(layout.verticalSpacing())))
        else:
            self._changes.append(partial(layout.setSpacing, self.length(layout.spacing())))
