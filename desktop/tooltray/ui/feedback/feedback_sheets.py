"""The sheets of a feedback window: earlier reports, and the ready answers, which the window offers as buttons; and its question before a
link is opened."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.questions import FeedbackEntry
from tooltray.ui.addresses import LOOPBACK, can_follow, host_of
from tooltray.ui.client_names import shown_client
from tooltray.ui.feedback.feedback_words import outcome_words, ready_answer_words
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.card_grid import FlowArea
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.markdown_view import harmless, words_of
from tooltray.ui.widgets.setting_rows import text_line
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, column, fill, row

HISTORY_WIDTH, READY_WIDTH = 600, 480
MOST_ENTRIES = 50  # that are asked for
LONGEST_SHOWN = 600  # characters of a report or an answer; the window that it came in had all
MOST_ANSWERS = 12  # more buttons than that are read more slowly than an answer is written
LONGEST_ANSWER = 200  # characters
LONGEST_BUTTON = 40  # characters; the tooltip has all
TWO_LINES = 58  # logical pixels; more are scrolled to


class HistorySheet(SheetFrame):
    """A sheet with the project's history, which `show_entries` fills; until then it shows that it is loading."""

    def __init__(self, theme: Theme, project: str) -> None:
        super().__init__(theme, tr("History of {project}", project=project) if project else tr("History"), HISTORY_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.set_first_focus(self)
        self._state = Label(theme, tr("Reading…"), "body", "muted", wrap=True)
        self.body.addWidget(self._state)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the history could not be read."""
        super().show_problem(problem)
        if problem is not None:
            self._state.hide()

    def show_entries(self, entries: Sequence[FeedbackEntry]) -> None:
        self._state.setText(tr("No reports yet. Reports that you answer or close are listed here."))
        self._state.setVisible(not entries)
        for entry in entries[:MOST_ENTRIES]:
            self.body.addWidget(self._entry(entry))

    def _entry(self, entry: FeedbackEntry) -> QWidget:
        theme = self._theme
        client = ElidedLabel(theme, shown_client(entry.client) or tr("An AI client"), "strong")
        when = Label(theme, moment(entry.asked_at, datetime.now()), "caption", "muted", tabular=True)
        outcome = Label(theme, outcome_words(entry), "caption_strong", "accent" if entry.outcome == "answered" else "muted")
        box = Surface(theme, "surface", "border", "m")
        lines = column(box, margins=(14, 10, 14, 10), spacing=6)
        fill(lines, fill(row(spacing=12), (client, 1), when), _text(theme, words_of(entry.summary), "secondary"), outcome)
        if entry.text:
            lines.addWidget(_text(theme, entry.text, "primary"))
        if entry.attachments:
            lines.addWidget(Label(theme, harmless(", ".join(entry.attachments)), "caption", "muted", wrap=True))
        return box


def _text(theme: Theme, text: str, tone: str) -> Label:
    shown = harmless(text).strip()
    label = Label(theme, shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…", "body", tone, wrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


class ReadyAnswersSheet(SheetFrame):
    """A sheet that edits the ready answers.

    Args:
        save: saves the edited answers; it closes the sheet, or calls `show_problem`.
    """

    def __init__(self, theme: Theme, answers: Sequence[str], save: Callable[["ReadyAnswersSheet", list[str]], None]) -> None:
        super().__init__(theme, tr("Ready answers"), READY_WIDTH)
        self._save_answers = save
        self._fields: list[QLineEdit] = []
        text = Label(theme, tr("A click puts one into your answer. Nothing is sent by it."), "body", "secondary", wrap=True)
        self._lines = column(spacing=8)
        self._more = Button(theme, tr("Add an answer"), "ghost", "plus", small=True, on_click=self._on_more)
        fill(self.body, text, self._lines, self._more)
        for answer in answers:
            self._add(answer)
        self.add_button(tr("Cancel"), self.leave)
        self._save = self.add_button(tr("Save"), self._on_save, "primary")
        self._save.setToolTip("Ctrl+Enter")
        add_accept_keys(self, self._on_save)
        self.set_first_focus(self._fields[0] if self._fields else self._more)

    @property
    def answers(self) -> list[str]:
        """The texts of the fields, without empty ones and repetitions."""
        return list(dict.fromkeys(text for field in self._fields if (text := field.text().strip())))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the answers were not saved; what was typed stays."""
        super().show_problem(problem)
        self._save.setEnabled(True)

    def _add(self, answer: str) -> QLineEdit:
        field = text_line(self._theme, tr("Ready answer {number}", number=len(self._fields) + 1))
        field.setMaxLength(LONGEST_ANSWER)
        field.setText(answer)
        line = QWidget()
        remove = partial(self._on_remove, line, field)
        fill(row(line), (field, 1), IconButton(self._theme, "trash", tr("Remove this answer"), small=True, on_click=remove))
        self._fields.append(field)
        self._lines.addWidget(line)
        self._more.setEnabled(len(self._fields) < MOST_ANSWERS)
        return field

    def _on_more(self) -> None:
        self._add("").setFocus(Qt.FocusReason.TabFocusReason)

    def _on_remove(self, line: QWidget, field: QLineEdit) -> None:
        self._fields.remove(field)
        self._lines.removeWidget(line)
        line.hide()
        line.deleteLater()
        self._more.setEnabled(True)
        self._more.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self._save.setEnabled(False)
            self._save_answers(self, self.answers)


class ReadyAnswers(QWidget):
    """The ready answers as buttons.

    Args:
        choose: gets the one that was pressed.
        edit: opens the sheet that changes them.
    """

    def __init__(self, theme: Theme, *, choose: Callable[[str], object], edit: Callable[[], object]) -> None:
        super().__init__()
        self._theme, self._choose = theme, choose
        self._answers: tuple[str, ...] = ()
        self._area = FlowArea(TWO_LINES)
        holder = QWidget()  # keeps the button at the right while there is no answer
        fill(column(holder), self._area)
        self._edit = IconButton(theme, "edit", "", small=True, on_click=edit)
        fill(row(self, spacing=6), (holder, 1)).addWidget(self._edit, 0, Qt.AlignmentFlag.AlignTop)
        self.retranslate()

    @property
    def answers(self) -> list[str]:
        """The answers as shown."""
        return [ready_answer_words(answer) for answer in self._answers]

    def set_answers(self, answers: Sequence[str]) -> None:
        self._answers = tuple(answers)
        self.retranslate()

    def retranslate(self) -> None:
        self._edit.set_name(tr("Edit ready answers"))
        self._area.clear()
        for answer in self.answers:
            shown = answer if len(answer) <= LONGEST_BUTTON else f"{answer[: LONGEST_BUTTON - 1]}…"
            button = Button(self._theme, shown.replace("&", "&&"), small=True, on_click=partial(self._choose, answer))
            button.setToolTip(answer)
            button.setAccessibleName(answer)
            self._area.add(button)


LONGEST_ADDRESS = 2000  # characters of an address; longer ones are cut, and not opened


class LinkQuestion(Surface):
    """A question before a link is opened.

    Args:
        show_error: gets why the link could not be opened.
        close: removes the question.
    """

    def __init__(self, theme: Theme, address: str, *, show_error: Callable[[Problem], object], close: Callable[[QWidget], object]) -> None:
        url = QUrl(address)
        can_open = can_follow(url) and len(address) <= LONGEST_ADDRESS
        super().__init__(theme, "info.subtle" if can_open else "warning.subtle", None, "m")
        self._address, self._show_error, self._close = address, show_error, close
        tone = "info" if can_open else "warning"
        title = tr("This link leads to {host}", host=host_of(url)) if can_open else tr("This link leads to no web page. It is not opened.")
        shown = address[:LONGEST_ADDRESS]
        self.setAccessibleName(f"{title} {shown}")
        words = column(spacing=2)
        fill(words, Label(theme, title, "caption_strong", tone, wrap=True), CodeLabel(theme, shown, "secondary"))
        if can_open and url.scheme() == "http" and url.host() not in LOOPBACK:
            words.addWidget(Label(theme, tr("The connection is not encrypted: others can read along."), "caption", tone, wrap=True))
        line = row(self, margins=(12, 8, 8, 8), spacing=10)
        line.addWidget(Icon(theme, "globe" if can_open else "alert", 16, f"{tone}.text"), 0, Qt.AlignmentFlag.AlignTop)
        line.addLayout(words, 1)
        for button in (
            *([Button(theme, tr("Open page"), small=True, on_click=self._on_open)] if can_open else []),
            IconButton(theme, "copy", tr("Copy the address"), small=True, on_click=self._on_copy),
            IconButton(theme, "x", tr("Close"), small=True, on_click=lambda: close(self)),
        ):
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def _on_open(self) -> None:
        if not QDesktopServices.openUrl(QUrl(self._address)):
            self._show_error(Problem(tr("No browser could be opened"), "", tr("Copy the address and open it yourself.")))
        self._close(self)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._address)
        self._close(self)
