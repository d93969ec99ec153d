"""Rows with one setting each, in groups, and parts that are folded: the form of a settings page."""

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QLineEdit, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, fill, row
from tooltray.ui.zoom import px

HEIGHT, HEIGHT_WITH_TEXT = 46, 56
WORDS_MARGIN = 8  # px above and below the words, at least
WORDS_SHARE, VALUE_SHARE = 2, 3  # of a row's width, where a long value stands beside its words


def heading(theme: Theme, title: str, text: QWidget | None = None, *actions: QWidget) -> QHBoxLayout:
    """Makes a section's heading: its name, one sentence below it, and actions at the right."""
    words = fill(column(spacing=2), Label(theme, title, "heading"), *([text] if text is not None else []))
    line = fill(row(), (words, 1))
    for action in actions:
        line.addWidget(action, 0, Qt.AlignmentFlag.AlignBottom)
    return line


def card_section(theme: Theme, body: QBoxLayout, name: str, text: str, content: QWidget) -> QWidget:
    """Adds a section with one card to a page's body; hidden until it has content."""
    widget, box = QWidget(), Surface(theme)
    fill(column(box, margins=(16, 1, 16, 1)), content)
    fill(column(widget, spacing=10), heading(theme, name, ElidedLabel(theme, text, "caption", "muted")), box)
    widget.hide()
    body.addWidget(widget)
    return widget


def setting_row(theme: Theme, title: str, text: str | Label, *controls: QWidget) -> QWidget:
    """Makes a row for one setting: its name, a sentence, and its controls; an ElidedLabel shares the space with the words. The row is
    higher where the sentence needs a second line; a sentence that changes is a label.
    """
    widget = QWidget()
    widget.setMinimumHeight(px(HEIGHT_WITH_TEXT) if text else px(HEIGHT))
    words = fill(column(margins=(0, WORDS_MARGIN, 0, WORDS_MARGIN)), 1, ElidedLabel(theme, title, "label"))
    if text:
        words.addWidget(Label(theme, text, "caption", "muted", wrap=True) if isinstance(text, str) else text)
    words.addStretch(1)
    shares = ((control, VALUE_SHARE if isinstance(control, ElidedLabel) else 0) for control in controls)
    fill(row(widget, spacing=8), (words, WORDS_SHARE), *shares)
    return widget


def text_line(theme: Theme, name: str, placeholder: str = "", *, style: str = "body", is_secret: bool = False) -> QLineEdit:
    """Makes a line to type into.

    Args:
        name: for screen readers.
        is_secret: what is typed is covered.
    """
    line = QLineEdit()
    line.setFont(theme.font(style))
    line.setFixedHeight(theme.size("control"))
    line.setAccessibleName(name)
    line.setPlaceholderText(placeholder)
    if is_secret:
        line.setEchoMode(QLineEdit.EchoMode.Password)
    return line


def group(theme: Theme, *rows: QWidget) -> Surface:
    """Returns a box with settings that belong together."""
    box = Surface(theme)
    add_lines(column(box, margins=(16, 0, 16, 0)), rows)
    return box


def lines_box(theme: Theme, lines: Iterable[QWidget | QLayout], ground: str = "surface", margin: int = 0) -> Surface:
    """Returns a box in a sheet with lines; `margin`: px above the first and below the last one."""
    box = Surface(theme, ground, "border", "m")
    add_lines(column(box, margins=(14, margin, 14, margin)), lines)
    return box


def add_lines(layout: QBoxLayout, lines: Iterable[QWidget | QLayout]) -> None:
    """Adds lines to a layout, with a hairline between two of them."""
    for index, line in enumerate(lines):
        fill(layout, *([divider()] if index else []), line)


class Fold(QWidget):
    """A part that is folded until the user wants to see it; `body` is the layout for the content. `folded`: the user folded it."""

    folded = Signal()

    def __init__(self, theme: Theme, title: str, *, spacing: int = 8) -> None:
        super().__init__()
        self._button = Button(theme, title, "link", "chevron-right", small=True, on_click=self._on_pressed)
        self._content = QWidget()
        self.body = column(self._content, spacing=spacing)
        fill(column(self, spacing=spacing), self._button, self._content)
        self.set_open(False)

    @property
    def is_open(self) -> bool:
        return not self._content.isHidden()

    def set_open(self, is_open: bool) -> None:
        self._content.setVisible(is_open)
        self._button.set_face(self._button.text(), "chevron-down" if is_open else "chevron-right")
        self._button.setAccessibleDescription(tr("Unfolded") if is_open else tr("Folded"))

    def _on_pressed(self) -> None:
        self.set_open(not self.is_open)
        if not self.is_open:
            self.folded.emit()

    def set_title(self, title: str) -> None:
        self._button.setText(title)
