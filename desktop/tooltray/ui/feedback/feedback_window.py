"""The feedback window: what a model did, one box to answer, ready answers, pictures and files. One window per report.

It is shown without being activated, so that it never takes the keyboard from another program. Its owner sends the answer, since that
continues when the window is closed."""

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout
from shiboken6 import isValid

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.questions import FeedbackSnapshot
from tooltray.ui import icons
from tooltray.ui.feedback.answer_box import AnswerBox, Attachment, has_sources, sources_of
from tooltray.ui.feedback.feedback_sheets import MOST_ENTRIES, HistorySheet, LinkQuestion, ReadyAnswers, ReadyAnswersSheet
from tooltray.ui.feedback.feedback_words import headline, place_words, window_title
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work, run_action, timer
from tooltray.ui.kit.page_context import Sheets
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import IconTile
from tooltray.ui.widgets.keyboard import add_zoom_keys
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.markdown_view import MarkdownView
from tooltray.ui.widgets.sheet import Sheet, SheetFrame
from tooltray.ui.widgets.surface import DialogWindow, Surface, column, divider, fill, row
from tooltray.ui.widgets.toast import NoteStack
from tooltray.ui.zoom import px

if TYPE_CHECKING:
    from tooltray.ui.feedback.feedback_windows import FeedbackWindows

SIZE, NARROWEST = (640, 580), 440
SUMMARY_LOWEST = 96  # px: three lines of a report stay in sight, however much is written below
SECOND_MS = 1000
SETTLING_MS = 700  # who was about to answer the report before must see that this is another one; as for calls that wait for a yes


class Draft(msgspec.Struct, frozen=True):
    """An answer that was not sent."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()


class FeedbackWindow(DialogWindow):
    """A window for one report.

    Args:
        owner: sends the answer, and hears that the window was closed.

    Attributes:
        request: the report.
        has_ended: it waits no longer, although its window is still open.
        box: takes the answer.
    """

    def __init__(self, owner: "FeedbackWindows", request: FeedbackSnapshot) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.setObjectName("Window")
        self._owner, self._theme, self.request = owner, owner.theme, request
        self.has_ended = self._is_sending = False
        self.sheets = Sheets(self._theme, self)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowIcon(icons.app_icon())
        self.setAcceptDrops(True)
        self.resize(px(SIZE[0]), px(SIZE[1]))
        self.setMinimumWidth(px(NARROWEST))
        self._notes = NoteStack(self._theme)
        self._summary = MarkdownView(self._theme, "")
        self._summary.link_chosen.connect(self._on_link)
        self.box = AnswerBox(self._theme, owner.tasks.spawn, changed=self._draw, refused=self._show_error)
        self._ready = ReadyAnswers(self._theme, choose=self.box.append, edit=self._on_edit_ready)
        self._clock = timer(self, SECOND_MS, self._tick, repeats=True)
        self._settling = timer(self, SETTLING_MS, self._draw)
        fill(column(self), self._head(), divider(), (self._body(), 1), divider(), self._foot())
        self._send_keys = [QShortcut(QKeySequence(keys), self, self._on_send) for keys in ("Ctrl+Return", "Ctrl+Enter")]
        QShortcut(QKeySequence("Ctrl+W"), self, self.close)
        add_zoom_keys(self, self._theme)
        self.retranslate()
        self.show_request(request)

    @property
    def draft(self) -> Draft:
        return Draft(self.box.text, tuple(self.box.attachments))

    @property
    def sheet(self) -> Sheet | None:
        return self.sheets.sheet

    def show_request(self, request: FeedbackSnapshot) -> None:
        """Shows a report, the first or a newer one; what the user has written stays."""
        if request.id != self.request.id:
            self._on_replaced()
        self.request, self.has_ended = request, False
        self._summary.set_markdown(request.summary)
        self._name_it()
        self._draw()

    def take_over(self, draft: Draft) -> None:
        """Takes over the draft of the previous report, which ended before its answer arrived."""
        self.box.set_content(draft.text, draft.attachments)
        self._on_replaced()
        self._draw()

    def set_draft(self, draft: Draft) -> None:
        """Restores a draft, and shows that it was restored."""
        self.box.set_content(draft.text, draft.attachments)
        self._notes.add_banner("info", tr("Your unsent draft is restored."))

    def set_ready_answers(self, answers: Sequence[str]) -> None:
        self._ready.set_answers(answers)

    def show_problem(self, problem: Problem) -> None:
        """Shows that the answer could not be sent."""
        self._is_sending = False
        self._show_error(problem)
        self._draw()

    def end(self) -> None:
        """Marks the report as ended. A window with a draft stays open."""
        if self.has_ended:
            return
        self.has_ended = True
        if self.box.is_empty and not self.box.is_reading:
            QTimer.singleShot(0, self, self._close_if_ended)  # a newer report of the same news takes the window over
        else:
            text = tr("What you wrote stays here for its next report.")
            self._notes.add_banner("warning", tr("This report waits no longer."), text)
        self._draw()

    def show_up(self) -> None:
        """Shows the window in front."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    # what it is made of

    def _head(self) -> QHBoxLayout:
        theme = self._theme
        self._title = ElidedLabel(theme, "", "heading")
        self._place = ElidedLabel(theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        self._history = Button(theme, "", "ghost", "clock", small=True, on_click=self._on_history)
        words, tile = fill(column(), self._title, self._place), IconTile(theme, "message", tone="accent")
        return fill(row(margins=(24, 14, 16, 14), spacing=12), tile, (words, 1), self._history)

    def _body(self) -> QVBoxLayout:
        """Makes what is between the lines. The ready answers are below the box, which grows upwards and must not move them under the
        pointer."""
        box = Surface(self._theme)
        box.setMinimumHeight(px(SUMMARY_LOWEST))
        fill(column(box, margins=(18, 14, 8, 8)), self._summary)
        return fill(column(margins=(24, 16, 24, 16), spacing=12), self._notes, (box, 1), self.box, self._ready)

    def _foot(self) -> QHBoxLayout:
        self._hint = Label(self._theme, "", "caption", "muted", wrap=True)
        self._send = Button(self._theme, "", "primary", "send", heeds_enter=False, on_click=self._on_send)
        self._send.setToolTip("Ctrl+Enter")
        return fill(row(margins=(24, 12, 24, 12), spacing=16), (self._hint, 1), self._send)

    # what it says

    def retranslate(self) -> None:
        """Updates all texts to the current language."""
        self._summary.setAccessibleName(tr("What was done"))
        self._history.setText(tr("History"))
        self._ready.retranslate()
        self.box.retranslate()
        self._name_it()
        self._draw()

    def _name_it(self) -> None:
        self.setWindowTitle(window_title(self.request))
        self._title.set_text(headline(self.request))
        self._tick()

    def _tick(self) -> None:
        self._place.set_text(place_words(self.request, time.time()))

    def _draw(self) -> None:
        self._send.setText(tr("Sending…") if self._is_sending else tr("Send"))
        is_busy = self._is_sending or self._settling.isActive() or self.box.is_reading
        self._send.setEnabled(not (is_busy or self.has_ended or self.box.is_empty))
        self._hint.setText(self._hint_words())

    def _hint_words(self) -> str:
        if self.box.is_reading:
            return tr("Reading what you added…")
        if self.has_ended:
            return tr("Closing the window keeps what you wrote for the next report of this project, while Tooltray runs.")
        if self.box.is_empty:
            return tr('Closing sends "no answer".')
        return tr('Closing sends "no answer". Your draft is kept for the next report while Tooltray runs.')

    def _on_replaced(self) -> None:
        """Shows that a newer report has replaced the one that the user was reading."""
        self._notes.clear()
        text = "" if self.box.is_empty else tr("What you wrote is still here, and was not sent.")
        self._notes.add_banner("info", tr("This is a newer report, in the place of the one before."), text)
        self._settling.start()

    # what a person does

    def _on_send(self) -> None:
        if self._send.isEnabled() and self.sheet is None:
            self._notes.clear()
            self._is_sending = True
            self._draw()
            self._owner.answer(self, self.box.text.strip(), [each.for_engine() for each in self.box.attachments])

    def _show_error(self, problem: Problem) -> None:
        self._notes.add_banner("error", title(problem), sentences(problem))

    def _on_link(self, address: str) -> None:
        self._notes.add(LinkQuestion(self._theme, address, show_error=self._show_error, close=self._notes.remove))

    def _on_history(self) -> None:
        sheet = HistorySheet(self._theme, self.request.project_name)
        if self._open(sheet):
            self._run(partial(self._read_history, sheet), sheet)

    async def _read_history(self, sheet: HistorySheet) -> None:
        entries = await self._owner.hub.feedback.get_feedback_history(self.request.project_path, MOST_ENTRIES)
        if isValid(sheet):
            sheet.show_entries(entries)

    def _on_edit_ready(self) -> None:
        self._open(ReadyAnswersSheet(self._theme, self._ready.answers, self._on_save_ready))

    def _on_save_ready(self, sheet: ReadyAnswersSheet, answers: list[str]) -> None:
        self._run(partial(self._save_ready, sheet, answers), sheet)

    async def _save_ready(self, sheet: ReadyAnswersSheet, answers: list[str]) -> None:
        await self._owner.hub.feedback.set_ready_answers(answers)
        if isValid(sheet):
            sheet.close_requested.emit()
        await self._owner.read_ready_answers()

    def _open(self, panel: SheetFrame) -> bool:
        """Opens a sheet unless another one is open. Disables the sending keys meanwhile: a sheet has the same keys for its own button, and
        Qt would deliver them to neither.
        """
        if (sheet := self.sheets.show(panel)) is None:
            return False
        self._enable_keys(False)
        sheet.closed.connect(partial(self._enable_keys, True))
        return True

    def _enable_keys(self, is_enabled: bool) -> None:
        for shortcut in self._send_keys:
            shortcut.setEnabled(is_enabled)

    def _run(self, work: Work, sheet: SheetFrame) -> None:
        """Awaits the work of a sheet, which shows a failure unless it was closed meanwhile."""

        def show(problem: Problem | None) -> None:
            if isValid(sheet):
                sheet.show_problem(problem)

        run_action(self._owner.tasks, work, show, name="feedback")

    def _close_if_ended(self) -> None:
        if self.has_ended:
            self.close()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if has_sources(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if sources := sources_of(event.mimeData()):
            event.acceptProposedAction()
            self.box.add(sources)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._clock.start()
        self._tick()
        if self.focusWidget() is None:
            self.box.field.setFocus(Qt.FocusReason.OtherFocusReason)  # for the moment when the person comes here

    def event(self, event: QEvent) -> bool:
        is_done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize) and (layout := self.layout()) is not None:
            self.setMinimumHeight(layout.totalMinimumHeightForWidth(self.width()))  # by itself Qt forgets that text wraps
        return is_done

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self._owner.take_closed(self)
