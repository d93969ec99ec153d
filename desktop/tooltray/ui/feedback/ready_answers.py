"""Answers that a person gives often, as buttons; one puts its text into the answer and sends nothing.

Above it: the feedback window. Below it: the theme.
"""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.ui.feedback.feedback_words import ready_answer_words
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.flow_layout import FlowArea
from tooltray.ui.widgets.surface import column, row

LONGEST_SHOWN = 40  # characters; the tooltip has all
TWO_LINES = 58  # logical pixels; more are scrolled to


class ReadyAnswers(QWidget):
    chosen = Signal(str)
    edit_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._answers: tuple[str, ...] = ()
        line = row(self, spacing=6)
        self._area = FlowArea(TWO_LINES)
        holder = QWidget()  # keeps the button at the right while there is no answer
        column(holder).addWidget(self._area)
        line.addWidget(holder, 1)
        self._edit = IconButton(theme, "edit", "", small=True)
        self._edit.clicked.connect(self.edit_requested)
        line.addWidget(self._edit, 0, Qt.AlignmentFlag.AlignTop)
        self.retranslate()

    @property
    def answers(self) -> list[str]:
        """As they are shown."""
        return [ready_answer_words(answer) for answer in self._answers]

    def set_answers(self, answers: Sequence[str]) -> None:
        self._answers = tuple(answers)
        self.retranslate()

    def retranslate(self) -> None:
        self._edit.set_name(tr("Edit ready answers"))
        self._area.clear()
        for answer in self.answers:
            shown = answer if len(answer) <= LONGEST_SHOWN else f"{answer[: LONGEST_SHOWN - 1]}…"
            button = Button(self._theme, shown.replace("&", "&&"), small=True)
            button.setToolTip(answer)
            button.setAccessibleName(answer)
            button.clicked.connect(partial(self.chosen.emit, answer))
            self._area.add(button)
