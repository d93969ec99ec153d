"""The order of Tab, the last use of the keyboard, the places that the focus is led to, text that Ctrl+Z takes back, and keys of sheets and
fields. Qt's own order of Tab is the order in which widgets were made: a row that is added later would be the last of the whole window."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from PySide6.QtCore import QEvent, QObject, QRegularExpression, QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QKeySequence, QRegularExpressionValidator, QShortcut, QTextCursor
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QLayout, QLineEdit, QPlainTextEdit, QScrollArea, QWidget
from shiboken6 import isValid

from tooltray.ui.theme import Theme

_after: WeakKeyDictionary[QWidget, QWidget] = WeakKeyDictionary()
Found = TypeVar("Found", bound=QObject)

ZOOM_KEYS = (("Ctrl++", 1), ("Ctrl+=", 1), ("Ctrl+-", -1), ("Ctrl+0", 0))
"""As in browsers: the keys, and by how many steps they zoom; 0: to the actual size. Qt takes those of the keypad for them, too."""


class InputWatch(QObject):
    """A filter that knows whether the last input of a window was a key; installed on its QWindow, which sees all input before the widgets
    do.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_keyboard = False

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress):
            self.is_keyboard = event.type() == QEvent.Type.KeyPress
        return False


last_input = InputWatch()


def with_parent(found: Found | None) -> Found | None:
    """Returns what `focusProxy`, `group` or `checkedButton` has returned, as the child of its real parent.

    PySide takes what such a method returns for a child of the object that returned it. A scroll area is the focus proxy of its viewport: it
    would be a child of its own child, belong to nothing else, and the garbage collector would delete both while they are shown.
    """
    if found is not None and (parent := found.parent()) is not None:
        found.setParent(parent)
    return found


def put_after(before: QWidget, control: QWidget) -> None:
    """Makes Tab move from one control to another that lies elsewhere, such as a button that floats over the window."""
    _after[control] = before


def move_focus(root: QWidget, *, forwards: bool) -> bool:
    """Moves the focus to the next control inside `root`, in the order of its layouts and round at the end.

    Qt also calls for it when the focused control is hidden or disabled. The focus then stays near: Enter must not press something far away.

    Returns:
        whether the focus moved.
    """
    focused = root.window().focusWidget()
    if focused is not None and root.isAncestorOf(focused) and not (focused.isVisible() and QWidget.isEnabled(focused)):
        _yield(focused)
        return True
    order = list(_walk(root, focused))
    for control in [each for each in order if each in _after]:
        if (before := _after[control]) in order:
            order.remove(control)
            order.insert(order.index(before) + 1, control)
    start = order.index(focused) if focused in order else -1 if forwards else 0
    turned = order[start + 1 :] + order[: start + 1] if forwards else (order[start:] + order[:start])[::-1]
    target = next((each for each in turned if _takes_tab(each) and each is not focused), None)
    if target is not None:
        target.setFocus(Qt.FocusReason.TabFocusReason if forwards else Qt.FocusReason.BacktabFocusReason)
        _scroll_to(target)  # Qt does so only if the focus was in the same area before
    return target is not None


def go_to(control: QWidget) -> None:
    """Moves the focus to a control, and scrolls to it once what was shown with it has its room."""
    control.setFocus(Qt.FocusReason.OtherFocusReason)
    QTimer.singleShot(0, control, partial(_scroll_to, control))


def _scroll_to(control: QWidget) -> None:
    for area in parents(control):
        if isinstance(area, QScrollArea):
            area.ensureWidgetVisible(control)


def replace_text(field: QLineEdit | QPlainTextEdit, text: str) -> None:
    """Replaces a field's text in such a way that Ctrl+Z takes it back; Qt's `setText` and `setPlainText` drop what could be undone.
    A QLineEdit emits nothing.
    """
    if isinstance(field, QLineEdit):
        with QSignalBlocker(field):  # the user has not edited it
            field.selectAll()
            field.insert(text)
    else:
        cursor = field.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)


def show_text(field: QLineEdit | QPlainTextEdit, text: str) -> None:
    """Shows another text in a field; what the user has typed there can still be had by Ctrl+Z."""
    show: Callable[[str], None]
    if isinstance(field, QLineEdit):
        before, can_undo, show = field.text(), field.isUndoAvailable(), field.setText
    else:
        before, can_undo, show = field.toPlainText(), field.document().isUndoAvailable(), field.setPlainText
    if text != before:
        replace_text(field, text) if can_undo else show(text)


def _yield(control: QWidget) -> None:
    """Removes the focus from a control that was hidden or disabled: after a key a neighbour gets it, after a click the common parent."""
    boxes = [each for each in parents(control) if each.isVisible() and each.isEnabled()]
    for box in boxes if last_input.is_keyboard else ():
        order = [each for each in _walk(box, control) if each is control or _takes_tab(each)]
        if len(order) > 1:
            index = order.index(control)
            go_to(order[index - 1 if index else 1])
            return
    boxes[0].setFocus(Qt.FocusReason.OtherFocusReason)


def parents(widget: QWidget) -> Iterator[QWidget]:
    """Yields the parents of a widget, the nearest one first."""
    parent = widget.parentWidget()
    while parent is not None:
        yield parent
        parent = parent.parentWidget()


def _takes_tab(widget: QWidget) -> bool:
    """Returns whether Tab stops at a widget. Of exclusive buttons only the checked one takes it; Qt would take the one that had the focus
    last.
    """
    is_usable = widget.isVisible() and widget.isEnabled() and with_parent(widget.focusProxy()) is None
    group = with_parent(widget.group()) if isinstance(widget, QAbstractButton) else None
    chosen = with_parent(group.checkedButton()) if group is not None and group.exclusive() else None
    if chosen is not None and chosen.isVisible():
        return is_usable and widget is chosen
    return is_usable and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def _walk(root: QWidget, focused: QWidget | None) -> Iterator[QWidget]:
    """Yields all visible widgets below one, and the focused widget even while it is being hidden."""
    for child in _children(root):
        has_focus = focused is not None and (child is focused or child.isAncestorOf(focused))
        if not child.isWindow() and (child.isVisible() or has_focus):
            yield child
            yield from _walk(child, focused)


def _children(widget: QWidget) -> list[QWidget]:
    """Returns the widgets of the layout in their order, then the ones without a layout, from the top."""
    layout = widget.layout()
    placed = list(_placed(layout)) if layout is not None else []
    known = set(placed)
    free = [each for each in widget.children() if isinstance(each, QWidget) and isValid(each) and each not in known]
    return placed + sorted(free, key=lambda each: (each.y(), each.x()))


def _placed(layout: QLayout) -> Iterator[QWidget]:
    order: Sequence[int] = range(layout.count())
    if isinstance(layout, QGridLayout):
        order = sorted(order, key=lambda index: cast("tuple[int, ...]", layout.getItemPosition(index)))
    for item in filter(None, map(layout.itemAt, order)):
        if (widget := item.widget()) is not None:
            yield widget
        elif (inner := item.layout()) is not None:
            yield from _placed(inner)


def add_accept_keys(widget: QWidget, act: Callable[[], object]) -> None:
    """Makes Ctrl+Enter, with either Enter key, press a sheet's first button while something in the sheet has the focus."""
    for keys in ("Ctrl+Return", "Ctrl+Enter"):
        shortcut = QShortcut(QKeySequence(keys), widget, act)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)


def take_digits(field: QLineEdit, most: int) -> None:
    """Lets only digits be typed; a QIntValidator also takes signs, and commas between thousands.

    Args:
        most: the largest useful number; longer input cannot be typed.
    """
    field.setValidator(QRegularExpressionValidator(QRegularExpression(f"[0-9]{{0,{len(str(most))}}}"), field))


def add_zoom_keys(window: QWidget, theme: Theme) -> None:
    """Makes a window and the sheets over it request another zoom by keys."""
    for keys, steps in ZOOM_KEYS:
        QShortcut(QKeySequence(keys), window, partial(theme.zoom_requested.emit, steps))
