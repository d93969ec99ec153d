"""A report of a model gets a window of its own: it takes no keyboard, loses nothing that was written, and sends what a person wants."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QLocale, QMimeData, QPoint, QPointF, QRect, QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QLineEdit, QWidget
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.ui.browser import Browser
from tests.ui.seen import control, words
from tests.ui.test_accessibility import nameless, tab
from tests.ui.test_attachments import bomb, encoded

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.questions import FeedbackEntry, FeedbackSnapshot
from tooltray.ui.approval.approval_body import WIDTH as APPROVAL_WIDTH
from tooltray.ui.feedback.answer_box import AttachmentChip
from tooltray.ui.feedback.feedback_sheets import HistorySheet, ReadyAnswers
from tooltray.ui.feedback.feedback_window import SIZE, FeedbackWindow
from tooltray.ui.feedback.feedback_windows import GAP, MOST_DRAFTS, FeedbackWindows, place_for
from tooltray.ui.i18n import JsonTranslator
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.markdown_view import MarkdownView

NOW = time.time()
SHOP = FeedbackSnapshot("1", "claude-code", "/srv/code/shop", "shop", "# Done\n\nTotals are **fixed**.", NOW - 42, NOW + 86_400)
BLOG = replace(SHOP, id="2", project_path="/srv/code/blog", project_name="blog")
READY = ["Continue", "Show me the diff"]
CONTROL = Qt.KeyboardModifier.ControlModifier


class Feedback:
    """`async with Feedback(theme) as feedback:` has a hub, and the windows that its reports open."""

    def __init__(self, theme: Theme) -> None:
        self.engine = FakePresenter()
        self.engine.ready_answers = list(READY)
        self.desk = Desk(self.engine, theme)
        self.windows = FeedbackWindows(theme, hub=self.desk.hub, tasks=self.desk.tasks)
        self.told: list[FeedbackSnapshot] = []
        self.windows.asked.connect(self.told.append)

    async def ask(self, request: FeedbackSnapshot = SHOP) -> FeedbackWindow:
        self.engine.ask_feedback(request)
        await until(lambda: any(each.request == request and not each.has_ended for each in self.windows.windows))
        return self.of(request.id)

    def of(self, id: str) -> FeedbackWindow:
        return next(each for each in self.windows.windows if each.request.id == id)

    async def gone(self, window: FeedbackWindow) -> None:
        await until(lambda: not isValid(window))

    def asked(self, verb: str) -> list[tuple[object, ...]]:
        return [call for call in self.engine.calls if call[0] == verb]

    async def __aenter__(self) -> "Feedback":
        await self.desk.open()
        await self.desk.asked("get_feedback_requests")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.desk.close()
        left = self.windows.windows
        self.windows.close()
        await until(lambda: not any(isValid(window) for window in left))


@asynccontextmanager
async def asked(theme: Theme, request: FeedbackSnapshot = SHOP) -> AsyncIterator[tuple[Feedback, FeedbackWindow]]:
    async with Feedback(theme) as feedback:
        yield feedback, await feedback.ask(request)


def chips(window: QWidget) -> list[str]:
    return [chip.attachment.name for chip in window.findChildren(AttachmentChip) if chip.isVisibleTo(window)]


def write(window: FeedbackWindow, text: str) -> None:
    window.box.field.setPlainText(text)


async def paste(window: FeedbackWindow, data: QMimeData) -> None:
    QGuiApplication.clipboard().setMimeData(data)
    QTest.keyClick(window.box.field, Qt.Key.Key_V, CONTROL)
    await until(lambda: not window.box.is_reading)
    QGuiApplication.clipboard().clear()  # what Python made must not be on it when the process ends: Qt would destroy it after Python


def drop(target: QWidget, data: QMimeData) -> None:
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    enter = QDragEnterEvent(QPoint(5, 5), *how)
    QApplication.sendEvent(target, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(target, QDropEvent(QPointF(5, 5), *how))


async def come(window: FeedbackWindow) -> None:
    """The person goes to the window."""
    window.show_up()
    await until(window.isActiveWindow)


def picture(data: bytes) -> QMimeData:
    result = QMimeData()
    result.setData("image/png", data)
    return result


def files(*paths: Path) -> QMimeData:
    result = QMimeData()
    result.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return result


async def test_a_report_opens_a_window_that_says_who_and_where_and_renders_the_summary(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        assert window.windowTitle() == "Feedback for shop"
        assert "Claude Code has finished a step" in words(window)
        assert "Project shop · /srv/code/shop · waiting for " in words(window)
        summary = window.findChild(MarkdownView)
        assert summary is not None
        assert summary.toPlainText() == "Done\nTotals are fixed."
        assert feedback.told == [SHOP]


async def test_it_takes_no_keyboard_and_has_the_answer_ready_for_who_comes(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        assert window.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        assert feedback.desk.window.isActiveWindow() or not window.isActiveWindow()
        assert window.focusWidget() is window.box.field


async def test_an_answer_goes_out_by_ctrl_enter_with_its_picture_and_the_window_goes(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        QTest.keyClicks(window.box.field, "The date is cut off ")
        await paste(window, picture(encoded(b"png")))
        await come(window)
        QTest.keyClick(window, Qt.Key.Key_Return, CONTROL)
        await feedback.gone(window)
        [(_, id, text, attachments)] = feedback.asked("answer_feedback")
        assert (id, text) == ("1", "The date is cut off")
        assert [(each.name, each.mime_type) for each in attachments] == [("picture.png", "image/png")]
        assert base64.b64decode(attachments[0].data) == encoded(b"png")
        assert not feedback.asked("dismiss_feedback")


async def test_nothing_can_be_sent_while_there_is_nothing_to_send(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        send = control(window, "Send")
        assert not send.isEnabled()
        write(window, "  \n ")
        assert not send.isEnabled()
        window._on_send()
        assert not feedback.asked("answer_feedback")
        write(window, "x")
        assert send.isEnabled()


async def test_enter_writes_a_line_and_sends_nothing(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        QTest.keyClicks(window.box.field, "one")
        QTest.keyClick(window.box.field, Qt.Key.Key_Return)
        QTest.keyClicks(window.box.field, "two")
        await asyncio.sleep(0)
        assert window.box.text == "one\ntwo"
        assert not feedback.asked("answer_feedback")


async def test_a_ready_answer_goes_into_the_text_and_is_not_sent(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        await until(lambda: [each for each in window.findChildren(QAbstractButton) if each.text() == "Continue"])
        control(window, "Continue").click()
        control(window, "Show me the diff").click()
        assert window.box.text == "Continue\nShow me the diff"
        assert not feedback.asked("answer_feedback")


async def test_ready_answers_are_added_changed_and_removed_in_a_sheet(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        await until(lambda: [each for each in window.findChildren(QAbstractButton) if each.text() == "Continue"])
        await come(window)
        control(window, "Edit ready answers").click()
        assert window.sheet is not None
        panel = window.sheet.panel
        first, second = panel.findChildren(QLineEdit)
        assert (first.text(), second.text()) == tuple(READY)
        control(panel, "Remove this answer").click()
        second.setText("Run & test")
        control(panel, "Add an answer").click()
        panel.findChildren(QLineEdit)[-1].setText("Run & test")  # once is enough
        feedback.engine.ready_answers = ["Run & test"]
        QTest.keyClick(second, Qt.Key.Key_Return, CONTROL)
        await feedback.desk.asked("set_ready_answers", ["Run & test"])
        await until(lambda: window.sheet is None)
        await until(lambda: "Run && test" in [each.text() for each in window.findChildren(QAbstractButton)])


async def test_ready_answers_that_cannot_be_kept_leave_the_sheet_open_with_the_reason(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        feedback.engine.failures["set_ready_answers"] = TooltrayError("The settings cannot be written", "disk full")
        control(window, "Edit ready answers").click()
        assert window.sheet is not None
        panel = window.sheet.panel
        for _ in range(20):
            control(panel, "Add an answer").click()
        assert len(panel.findChildren(QLineEdit)) == 12
        control(panel, "Save").click()
        await until(lambda: "The settings cannot be written" in words(panel))
        assert control(panel, "Save").isEnabled()
        window.sheet.dismiss()
        assert window.sheet is None


async def test_files_are_dropped_anywhere_shown_as_chips_and_taken_out_again(theme: Theme, tmp_path: Path) -> None:
    async with asked(theme) as (_, window):
        small, large = tmp_path / "a.log", tmp_path / "large.bin"
        small.write_bytes(b"log")
        large.write_bytes(bytes(2**20 + 1))
        for target in (window, window.box.field.viewport()):
            what = files(small if target is window else large)
            drop(target, what)
            await until(lambda: not window.box.is_reading)
        assert chips(window) == ["a.log", "large.bin"]
        assert "1.0 MiB, sent as its path" in words(window)
        control(window, "Remove a.log").click()
        assert chips(window) == ["large.bin"]
        assert window.box.attachments[0].for_engine().path == str(large)


async def test_files_are_chosen_in_a_dialog_that_blocks_nothing(theme: Theme, tmp_path: Path) -> None:
    async with asked(theme) as (_, window):
        note = tmp_path / "note.txt"
        note.write_text("x")
        control(window, "Add a picture or file").click()
        dialog = window.findChild(QFileDialog)
        assert dialog is not None
        dialog.filesSelected.emit([str(note)])
        await until(lambda: chips(window) == ["note.txt"])
        dialog.close()


async def test_what_cannot_be_taken_is_refused_in_the_window_and_the_rest_stays(theme: Theme, tmp_path: Path) -> None:
    async with asked(theme) as (_, window):
        (tmp_path / "bomb.png").write_bytes(bomb())
        (tmp_path / "note.txt").write_text("x")
        write(window, "words")
        await paste(window, files(tmp_path / "bomb.png", tmp_path / "note.txt", tmp_path / "gone.txt"))
        assert "'bomb.png' is too large" in words(window)
        assert "'gone.txt' cannot be read" in words(window)
        assert chips(window) == ["note.txt"]
        assert window.box.text == "words"
        for _ in range(2):
            control(window, "Close this notice").click()
        assert "bomb.png" not in words(window)


async def test_a_pasted_picture_leaves_the_ready_answers_where_they_are(theme: Theme) -> None:
    async with asked(theme) as (_, window):
        ready = window.findChild(ReadyAnswers)
        assert isinstance(ready, ReadyAnswers)
        before, height = ready.geometry(), window.box.height()
        await paste(window, picture(encoded(b"png")))
        await until(lambda: window.box.height() > height)
        assert ready.geometry() == before


async def test_pasted_text_is_text_and_a_whole_log_is_cut(theme: Theme) -> None:
    async with asked(theme) as (_, window):
        text = QMimeData()
        text.setText("x" * 300_000)
        await paste(window, text)
        assert len(window.box.text) == 100_000


async def test_a_refused_answer_stays_with_the_reason_and_can_be_sent_again(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        feedback.engine.failures["answer_feedback"] = TooltrayError("The picture cannot be taken", "too odd", "Send it as a file")
        write(window, "here")
        control(window, "Send").click()
        await until(lambda: "The picture cannot be taken" in words(window))
        assert "Too odd. Send it as a file." in words(window)
        assert window.box.text == "here"
        feedback.engine.failures.clear()
        control(window, "Send").click()
        await feedback.gone(window)
        assert len(feedback.asked("answer_feedback")) == 2


async def test_a_window_closed_while_its_answer_fails_comes_back_with_it(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        feedback.engine.failures["answer_feedback"] = TooltrayError("No space left")
        write(window, "here")
        control(window, "Send").click()
        window.close()
        await until(lambda: "No space left" in words(window))
        assert window.isVisible()
        assert window.box.text == "here"
        assert not feedback.asked("dismiss_feedback")


async def test_a_window_closed_while_its_answer_is_sent_is_no_refusal_and_leaves_no_draft(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        write(window, "here")
        control(window, "Send").click()
        window.close()
        await feedback.gone(window)
        assert feedback.asked("answer_feedback")
        assert not feedback.asked("dismiss_feedback")
        assert (await feedback.ask(replace(SHOP, id="3"))).box.is_empty


async def test_closing_tells_the_model_and_keeps_what_was_written_for_its_next_report(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        assert 'Closing sends "no answer".' in words(window)
        await come(window)
        write(window, "half a thought")
        assert 'Closing sends "no answer". Your draft is kept for the next report while Tooltray runs.' in words(window)
        QTest.keyClick(window, Qt.Key.Key_W, CONTROL)
        await feedback.desk.asked("dismiss_feedback", "1")
        await feedback.gone(window)
        other = await feedback.ask(BLOG)
        assert other.box.is_empty
        again = await feedback.ask(replace(SHOP, id="3"))
        assert again.box.text == "half a thought"
        assert "Your unsent draft is restored." in words(again)


async def test_drafts_of_old_projects_are_forgotten_in_the_end(theme: Theme) -> None:
    async with Feedback(theme) as feedback:
        for number in range(MOST_DRAFTS + 1):
            window = await feedback.ask(replace(SHOP, id=f"{number}", project_path=f"/srv/{number}"))
            write(window, "x")
            window.close()
            await feedback.gone(window)
        assert (await feedback.ask(replace(SHOP, id="a", project_path="/srv/0"))).box.is_empty
        assert not (await feedback.ask(replace(SHOP, id="b", project_path="/srv/1"))).box.is_empty


async def test_the_same_report_asked_again_updates_its_window(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        write(window, "typed")
        assert await feedback.ask(replace(SHOP, summary="More was done")) is window
        assert len(feedback.windows.windows) == 1
        assert window.box.text == "typed"
        summary = window.findChild(MarkdownView)
        assert summary is not None
        assert summary.toPlainText() == "More was done"


async def test_a_newer_report_of_the_same_session_takes_over_the_window_and_what_was_written(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        write(window, "typed")
        feedback.engine.end_feedback("1")
        await until(lambda: "This report waits no longer." in words(window))
        assert not control(window, "Send").isEnabled()
        assert await feedback.ask(replace(SHOP, id="3", summary="Next")) is window
        assert "This report waits no longer." not in words(window)
        assert "This is a newer report" in words(window)
        assert "was not sent" in words(window)
        assert not control(window, "Send").isEnabled()  # who was about to answer the one before sees this first
        await until(control(window, "Send").isEnabled)
        control(window, "Send").click()
        await feedback.gone(window)
        assert feedback.asked("answer_feedback")[0][1:3] == ("3", "typed")


@pytest.mark.parametrize("is_empty", [True, False])
async def test_an_answer_sent_as_its_report_was_replaced_is_a_draft_for_the_newer_one(theme: Theme, is_empty: bool) -> None:
    async with asked(theme) as (feedback, window):
        write(window, "typed")
        feedback.engine.failures["answer_feedback"] = TooltrayError("This report has ended")
        control(window, "Send").click()
        feedback.engine.end_feedback("1")
        newer = await feedback.ask(replace(SHOP, id="3", summary="Next"))
        if not is_empty:
            write(newer, "mine")
            await until(lambda: window.has_ended)
            return
        await feedback.gone(window)
        assert newer.box.text == "typed"
        assert "was not sent" in words(newer)
        assert [call[1] for call in feedback.asked("answer_feedback")] == ["1"]


async def test_a_report_that_ends_takes_an_empty_window_with_it_and_dismisses_nothing(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        feedback.engine.end_feedback("1")
        await feedback.gone(window)
        assert not feedback.asked("dismiss_feedback")
        feedback.engine.end_feedback("unknown")


async def test_what_was_written_to_a_report_that_ended_is_a_draft_when_the_window_closes(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        write(window, "late")
        feedback.engine.end_feedback("1")
        await until(lambda: window.has_ended)
        window.end()  # told twice
        assert words(window).count("This report waits no longer.") == 1
        window.close()
        await feedback.gone(window)
        assert not feedback.asked("dismiss_feedback")
        assert (await feedback.ask(replace(SHOP, id="3"))).box.text == "late"


async def test_windows_of_several_projects_stand_side_by_side(theme: Theme) -> None:
    async with asked(theme) as (feedback, shop):
        blog = await feedback.ask(BLOG)
        assert shop.isVisible()
        assert blog.isVisible()
        assert {shop.windowTitle(), blog.windowTitle()} == {"Feedback for shop", "Feedback for blog"}
        feedback.windows.go_there()
        await until(shop.isActiveWindow)


def test_windows_open_beside_each_other_and_in_steps_where_there_is_no_room() -> None:
    size, screen = QSize(600, 500), QRect(0, 0, 1280, 800)
    places = [place_for(index, size, screen) for index in range(5)]
    assert len({(each.x(), each.y()) for each in places}) == 5
    assert not QRect(places[0], size).intersects(QRect(places[1], size))
    assert all(screen.contains(each) for each in places)
    assert place_for(3, size, QRect(0, 0, 400, 300)) == QPoint(0, 0)


@pytest.mark.parametrize("width", [1280, 1366, 1440, 1720, 1920, 2560])
def test_the_first_window_leaves_alone_the_place_of_a_call_that_waits_for_a_yes(width: int) -> None:
    screen, size = QRect(0, 0, width, 800), QSize(*SIZE)
    approval = QRect(screen.right() - APPROVAL_WIDTH - GAP, GAP, APPROVAL_WIDTH, 700)
    assert not QRect(place_for(0, size, screen), size).intersects(approval)


async def test_reports_that_waited_before_there_was_a_window_are_shown(theme: Theme) -> None:
    feedback = Feedback(theme)
    feedback.engine.feedback = [SHOP, BLOG]
    async with feedback:
        await until(lambda: len(feedback.windows.windows) == 2)


async def test_a_hub_that_goes_takes_the_windows_away_and_leaves_the_drafts(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        write(window, "kept")
        feedback.desk.link.detach()
        feedback.desk.hub.forget()
        await feedback.gone(window)
        assert not feedback.asked("dismiss_feedback")
        feedback.engine.feedback = []
        feedback.desk.attach()
        assert (await feedback.ask(replace(SHOP, id="3"))).box.text == "kept"


async def test_the_history_of_the_project_is_shown_in_a_sheet(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        answered = FeedbackEntry(
            "0", "/srv/code/shop", "shop", "claude-code", "# Step\n**one**", NOW - 90, "answered", "Continue", ("a.png",), NOW
        )
        outcomes = ("dismissed", "expired", "withdrawn", "replaced", "waiting", "odd")
        feedback.engine.feedback_history = [answered, *(replace(answered, outcome=each, text="", attachments=()) for each in outcomes)]
        control(window, "History").click()
        control(window, "History").click()  # once is enough
        await feedback.desk.asked("get_feedback_history", "/srv/code/shop", 50)
        assert window.sheet is not None
        panel = window.sheet.panel
        await until(lambda: "You answered" in words(panel))
        for text in (
            "Step\none",
            "Continue",
            "a.png",
            "You closed it without an answer",
            "The AI client gave up",
            "Waits for an answer",
            "odd",
        ):
            assert text in words(panel)
        assert len(feedback.asked("get_feedback_history")) == 1
        write(window, "x")
        window._on_send()
        assert not feedback.asked("answer_feedback")  # the sheet is in front
        QTest.keyClick(window.sheet, Qt.Key.Key_Escape)
        assert window.sheet is None


async def test_an_empty_history_says_so_and_one_that_cannot_be_read_is_not_said_to_be_empty(theme: Theme) -> None:
    async with asked(theme, replace(SHOP, project_name="", project_path="", client="")) as (feedback, window):
        assert "An AI client has finished a step" in words(window)
        assert "No project · waiting for" in words(window)
        control(window, "History").click()
        assert window.sheet is not None
        panel = window.sheet.panel
        await until(lambda: "No reports yet." in words(panel))
        window.sheet.dismiss()
        feedback.engine.failures["get_feedback_history"] = TooltrayError("The history cannot be read", "disk")
        control(window, "History").click()
        assert window.sheet is not None
        panel = window.sheet.panel
        await until(lambda: "The history cannot be read" in words(panel))
        assert "No reports yet." not in words(panel)


def test_the_history_names_days_in_the_language_of_the_window(theme: Theme) -> None:
    before, at = QLocale(), time.time() - 2 * 86_400
    QLocale.setDefault(QLocale("zh_TW"))
    try:
        sheet = HistorySheet(theme, "shop")
        sheet.show_entries([FeedbackEntry("0", "/srv/code/shop", "shop", "claude-code", "Step", at, "expired", "", (), at)])
        day = QLocale().dayName(datetime.fromtimestamp(at).isoweekday(), QLocale.FormatType.ShortFormat)
        assert any(each.text().startswith(f"{day} ") for each in sheet.findChildren(QLabel))
    finally:
        QLocale.setDefault(before)


@pytest.mark.parametrize("fails", [False, True])
async def test_a_window_closed_before_its_history_came_is_no_bug(theme: Theme, fails: bool) -> None:
    async with asked(theme) as (feedback, window):
        if fails:
            feedback.engine.failures["get_feedback_history"] = TooltrayError("The history cannot be read")
        control(window, "History").click()
        window.close()
        await feedback.gone(window)
        await until(lambda: not len(feedback.desk.tasks))


async def test_ready_answers_are_kept_though_the_window_was_closed_before_they_were(theme: Theme) -> None:
    async with asked(theme) as (feedback, window):
        await until(lambda: [each for each in window.findChildren(QAbstractButton) if each.text() == "Continue"])
        await come(window)
        control(window, "Edit ready answers").click()
        assert window.sheet is not None
        panel = window.sheet.panel
        await until(lambda: window.focusWidget() is panel.findChildren(QLineEdit)[0])
        control(panel, "Save").click()
        window.close()
        await feedback.gone(window)
        await until(lambda: not len(feedback.desk.tasks))
        assert feedback.asked("set_ready_answers") == [("set_ready_answers", READY)]


def choose_link(window: FeedbackWindow, address: str) -> None:
    summary = window.findChild(MarkdownView)
    assert summary is not None
    summary.link_chosen.emit(address)


async def test_a_link_opens_after_the_person_saw_where_it_leads(theme: Theme, browser: Browser) -> None:
    async with asked(theme) as (_, window):
        choose_link(window, "https://x.example:444/a?b=c")
        assert "This link leads to x.example:444" in words(window)
        assert "https://x.example:444/a?b=c" in words(window)
        assert browser.opened == []
        control(window, "Open page").click()
        assert browser.opened == ["https://x.example:444/a?b=c"]
        assert "This link leads" not in words(window)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://x.example/y",
        "smb://host/share",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "vnd.x:y",
        "relative/page",
        "https://x.example/" + "y" * 2000,
    ],
)
async def test_what_is_no_page_of_the_web_is_not_opened(theme: Theme, address: str) -> None:
    async with asked(theme) as (_, window):
        choose_link(window, address)
        assert "This link leads to no web page. It is not opened." in words(window)
        assert not [each for each in window.findChildren(QAbstractButton) if each.text() == "Open page"]
        control(window, "Copy the address").click()
        assert QGuiApplication.clipboard().text() == address


async def test_links_bring_at_most_three_notices_and_say_when_others_can_read_along(theme: Theme) -> None:
    async with asked(theme) as (_, window):
        for number in range(5):
            choose_link(window, f"http://x.example/{number}")
        await asyncio.sleep(0)
        assert words(window).count("This link leads to x.example") == 3
        assert "others can read along" in words(window)
        assert "http://x.example/4" in words(window)


async def test_a_browser_that_cannot_be_opened_is_said(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _: False)
    async with asked(theme) as (_, window):
        choose_link(window, "https://x.example")
        control(window, "Open page").click()
        await until(lambda: "No browser could be opened" in words(window))


async def test_everything_has_a_name_and_tab_reaches_it(theme: Theme) -> None:
    async with asked(theme) as (_, window):
        await paste(window, picture(encoded(b"png")))
        choose_link(window, "https://x.example/")
        await come(window)
        assert nameless(window) == []
        window.box.field.setFocus()
        path = {await tab(window) for _ in range(14)}
        assert {"History", "What was done", "Continue", "Edit ready answers", "Your answer", "Remove picture.png", "Send"} <= path
        control(window, "Edit ready answers").click()
        await asyncio.sleep(0)
        assert nameless(window) == []


async def test_a_switch_of_language_and_theme_reaches_an_open_window(theme: Theme, app: QApplication) -> None:
    async with asked(theme) as (_, window):
        await until(lambda: [each for each in window.findChildren(QAbstractButton) if each.text() == "Continue"])
        translator = JsonTranslator("zh_TW")
        app.installTranslator(translator)
        try:
            QApplication.sendEvent(window, QEvent(QEvent.Type.LanguageChange))
            assert window.windowTitle() == "shop 的回饋"
            assert control(window, "送出")
            assert control(window, "繼續")
        finally:
            app.removeTranslator(translator)
        theme.apply(app, "dark")
        window.grab()
        theme.apply(app, "light")


async def test_long_text_and_many_pictures_leave_the_report_in_sight_in_the_smallest_window(theme: Theme) -> None:
    async with asked(theme) as (_, window):
        write(window, "line\n" * 100)
        for _ in range(8):
            await paste(window, picture(encoded(b"png")))
        window.box.add([b"no picture"])
        await until(lambda: not window.box.is_reading)
        window.resize(window.minimumSize())
        await until(lambda: window.height() <= 640)
        summary = window.findChild(MarkdownView)
        assert summary is not None
        assert summary.height() >= 64
        bottom = control(window, "Send").mapTo(window, QPoint(0, 32)).y()
        assert bottom <= window.height()
