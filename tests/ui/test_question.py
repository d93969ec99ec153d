"""A server's question is shown one at a time, answers nothing by itself, and sends only what the person chose to send."""

import asyncio

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.browser import Browser
from tests.ui.seen import control, field, text_field, words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded
from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField, ElicitationOption, ElicitationSnapshot
from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.addresses import host_of
from tooltray.ui.approval.question import QuestionPanel, schema_of
from tooltray.ui.logs.log_view import LogSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import Choice, Option

COLOURS = (ElicitationOption("r", "Red"), ElicitationOption("g", "Green"))
K = AnswerKind
FORM = ElicitationSnapshot(
    id="1",
    server="files",
    mode="form",
    message="<b>Who</b> are you?",
    ends_at=1_700_000_000.0,
    fields=(
        ElicitationField("name", "Your name", K.TEXT, is_required=True),
        ElicitationField("age", "Age", K.INTEGER, default=40),
        ElicitationField("share", "Share", K.NUMBER, default=0.1),
        ElicitationField("colour", "Colour", K.CHOICE, options=COLOURS),
        ElicitationField("tints", "Tints", K.CHOICES, options=COLOURS, default=("g",)),
        ElicitationField("sure", "Are you sure", K.BOOLEAN, description="Think."),
    ),
)
PAGE = ElicitationSnapshot("2", "hub", "url", "Sign in", 1_700_000_000.0, url="https://sign-in.example.org:444/a?b=c")


def answers(desk: Desk) -> list[tuple[object, ...]]:
    """What was sent to servers; pages also ask for what they show."""
    return [call for call in desk.engine.calls if call[0] == "answer_elicitation"]


def ask(desk: Desk, question: ElicitationSnapshot = FORM) -> None:
    desk.engine.bus.publish(ElicitationAsked(question))


async def panel(desk: Desk, question: ElicitationSnapshot = FORM) -> QuestionPanel:
    ask(desk, question)
    await until(lambda: desk.window.sheet is not None)
    return shown(desk)


def shown(desk: Desk) -> QuestionPanel:
    assert desk.window.sheet is not None
    found = desk.window.sheet.panel
    assert isinstance(found, QuestionPanel)
    return found


def option(sheet: QuestionPanel, name: str) -> Option:
    return next(each for each in sheet.findChildren(Option) if each.text() == name)


async def test_a_form_says_who_asks_and_shows_the_server_s_words_as_plain_text(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk)
        assert "files asks you something" in words(sheet)
        assert "<b>Who</b> are you?" in words(sheet)
        assert all(label.textFormat() is Qt.TextFormat.PlainText for label in sheet.findChildren(QLabel))
        assert field(sheet, "Age").text() == "40"
        assert field(sheet, "Share").text() == "0.1"
        assert text_field(sheet, "Your name").toPlainText() == ""


async def test_what_was_filled_in_and_chosen_is_sent_and_the_rest_is_left_out(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk)
        text_field(sheet, "Your name").setPlainText("Ada")
        field(sheet, "Share").clear()
        option(sheet, "Red").click()
        sheet.findChildren(Switch)[0].click()
        assert "Yes" in words(sheet)
        control(sheet, "Send").click()
        await desk.asked("answer_elicitation", "1", "accept", {"name": "Ada", "age": 40, "tints": ["r", "g"], "sure": True})
        await until(lambda: desk.window.sheet is None)


async def test_one_of_several_is_chosen_and_has_to_be_where_it_is_required(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk, replace(FORM, fields=(replace(FORM.fields[3], is_required=True), FORM.fields[4])))
        control(sheet, "Send").click()
        assert "Required." in words(sheet)
        [choice] = sheet.findChildren(Choice)
        choice.choose("1")
        choice.chosen_changed.emit("1")
        option(sheet, "Green").click()
        control(sheet, "Send").click()
        await desk.asked("answer_elicitation", "1", "accept", {"colour": "g"})


@pytest.mark.parametrize(
    ("asked", "schema"),
    [
        (
            ElicitationField("x", "X", K.TEXT, format="date", least=1.0, most=3.0, default="a"),
            {"type": "string", "format": "date", "minLength": 1, "maxLength": 3, "default": "a"},
        ),
        (ElicitationField("x", "X", K.INTEGER, least=0.0, default=40.0), {"type": "integer", "minimum": 0, "default": 40}),
        (ElicitationField("x", "X", K.NUMBER, most=0.5, default=0.1), {"type": "number", "maximum": 0.5, "default": 0.1}),
        (ElicitationField("x", "X", K.BOOLEAN), {"type": "boolean", "default": False}),
        (ElicitationField("x", "X", K.BOOLEAN, default=True), {"type": "boolean", "default": True}),
        (ElicitationField("x", "X", K.CHOICE, options=COLOURS[:1]), {"oneOf": [{"const": "r", "title": "Red"}]}),
        (
            ElicitationField("x", "X", K.CHOICES, options=COLOURS[:1], least=1.0, default=("r",)),
            {"type": "array", "items": {"oneOf": [{"const": "r", "title": "Red"}]}, "uniqueItems": True, "minItems": 1, "default": ["r"]},
        ),
    ],
)
def test_a_field_becomes_the_schema_of_its_answer(asked: ElicitationField, schema: dict[str, object]) -> None:
    assert schema_of([asked]) == {"type": "object", "properties": {"x": {"title": "X", **schema}}, "required": []}
    assert schema_of([replace(asked, is_required=True)])["required"] == ["x"]


async def test_fields_keep_their_order_and_formats_are_checked(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        mail = ElicitationField("mail", "E-mail", K.TEXT, format="email")
        sheet = await panel(desk, replace(FORM, fields=(mail, FORM.fields[0])))
        assert words(sheet).index("E-mail") < words(sheet).index("Your name")
        text_field(sheet, "E-mail").setPlainText("nobody")
        text_field(sheet, "Your name").setPlainText("Ada")
        control(sheet, "Send").click()
        assert "Write it as in name@example.org" in words(sheet)
        assert answers(desk) == []
        text_field(sheet, "E-mail").setPlainText("ada@example.org")
        control(sheet, "Send").click()
        await desk.asked("answer_elicitation", "1", "accept", {"mail": "ada@example.org", "name": "Ada"})


async def test_a_form_without_fields_is_sent_as_it_is(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        control(await panel(desk, replace(FORM, fields=())), "Send").click()
        await desk.asked("answer_elicitation", "1", "accept", {})


async def test_what_is_missing_is_said_at_its_field_and_nothing_is_sent(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk)
        field(sheet, "Age").setText("x")
        QTest.keyClick(sheet, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert "Required." in words(sheet)
        assert "This must be a number." in words(sheet)
        await until(text_field(sheet, "Your name").hasFocus)
        text_field(sheet, "Your name").setPlainText("Ada")
        assert "Required" not in words(sheet)
        assert answers(desk) == []


@pytest.mark.parametrize(("press", "action"), [("Decline", "decline"), ("Close without an answer", "cancel")])
async def test_declining_and_closing_send_no_values(theme: Theme, press: str, action: str) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk)
        text_field(sheet, "Your name").setPlainText("Ada")
        control(sheet, press).click()
        await desk.asked("answer_elicitation", "1", action, None)
        await until(lambda: desk.window.sheet is None)
        assert len(answers(desk)) == 1


async def test_typing_enter_or_a_click_beside_it_answers_nothing_and_escape_is_no_answer(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk)
        await until(sheet.hasFocus)
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_A):
            QTest.keyClick(QApplication.focusWidget(), key)
        assert desk.window.sheet is not None
        QTest.mouseClick(desk.window.sheet, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
        assert desk.window.sheet is not None
        assert answers(desk) == []
        assert text_field(sheet, "Your name").toPlainText() == ""
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        await desk.asked("answer_elicitation", "1", "cancel", None)


async def test_the_keyboard_reaches_every_control_and_brings_it_into_view(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.window.resize(900, 600)
        sheet = await panel(desk)
        await until(sheet.hasFocus)
        met = []
        for _ in range(12):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            now = QApplication.focusWidget()
            met.append(now.accessibleName() or now.text())  # type: ignore[attr-defined]
            await until(lambda now=now: not now.visibleRegion().isEmpty())
        assert {"Your name", "Age", "Red", "Green", "Are you sure", "Decline", "Send"} <= set(met)


async def test_a_fault_that_is_out_of_sight_is_brought_into_view(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.window.resize(900, 600)
        last = ElicitationField("last", "The last one", K.TEXT, is_required=True)
        sheet = await panel(
            desk, replace(FORM, fields=(*FORM.fields[1:], *(replace(each, name=f"{each.name}2") for each in FORM.fields[1:]), last))
        )
        await until(lambda: "The last one" in words(sheet))
        assert text_field(sheet, "The last one").visibleRegion().isEmpty()
        control(sheet, "Send").click()
        await until(lambda: not text_field(sheet, "The last one").visibleRegion().isEmpty())


async def test_questions_wait_in_line_behind_each_other_and_behind_other_sheets(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.add("uvx x")
        ask(desk)
        ask(desk, PAGE)
        ask(desk, replace(PAGE, id="3"))
        await asyncio.sleep(0)
        assert desk.window.sheet is not None
        assert isinstance(desk.window.sheet.panel, AddServerSheet)
        desk.window.sheet.dismiss()
        await until(lambda: desk.window.sheet is not None)
        assert "2 more questions wait" in words(shown(desk))
        control(shown(desk), "Decline").click()
        await until(lambda: desk.window.sheet is not None and shown(desk).question.id == "2")
        assert "1 more question waits" in words(shown(desk))


async def test_a_question_that_ends_is_taken_away_without_an_answer(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        await panel(desk)
        ask(desk, PAGE)
        desk.engine.bus.publish(ElicitationEnded("1"))
        await until(lambda: desk.window.sheet is not None and shown(desk).question.id == "2")
        desk.engine.bus.publish(ElicitationEnded("2"))
        await until(lambda: desk.window.sheet is None)
        assert answers(desk) == []


async def test_the_questions_end_with_the_engine(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        await panel(desk)
        desk.link.detach()
        desk.hub.forget()
        await until(lambda: desk.window.sheet is None)
        assert answers(desk) == []


async def test_the_log_of_a_server_puts_the_question_off_and_does_not_answer_it(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await panel(desk)
        desk.wishes.log_requested.emit("a")
        assert desk.window.sheet is not None
        assert isinstance(desk.window.sheet.panel, LogSheet)
        desk.window.sheet.dismiss()
        await until(lambda: desk.window.sheet is not None)
        assert shown(desk).question.id == "1"
        assert all(call[0] != "answer_elicitation" for call in desk.engine.calls)


async def test_an_answer_that_comes_too_late_is_told(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.engine.failures["answer_elicitation"] = TooltrayError("this question has ended")
        control(await panel(desk), "Decline").click()
        await until(lambda: "This question has ended" in words(desk.window))
        assert desk.window.sheet is None


async def test_a_page_is_opened_by_the_person_alone_and_its_host_stands_out(theme: Theme, browser: Browser) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk, PAGE)
        assert {"sign-in.example.org:444", PAGE.url} <= set(words(sheet).splitlines())
        assert "not encrypted" not in words(sheet)
        assert browser.opened == []
        control(sheet, "Open page").click()
        assert browser.opened == [PAGE.url]
        await desk.asked("answer_elicitation", "2", "accept", None)


@pytest.mark.parametrize(("url", "is_warned"), [("https://www.xn--pple-43d.com/", True), ("https://xn.example.org/xn--", False)])
async def test_a_name_that_can_look_like_another_is_pointed_out(theme: Theme, url: str, is_warned: bool) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        assert ("look like others" in words(await panel(desk, replace(PAGE, url=url)))) is is_warned


@pytest.mark.parametrize(("url", "is_warned"), [("http://example.org/", True), ("http://localhost:8/", False)])
async def test_a_page_that_others_can_read_is_pointed_out(theme: Theme, url: str, is_warned: bool) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        assert ("not encrypted" in words(await panel(desk, replace(PAGE, url=url)))) is is_warned


async def test_without_a_browser_the_address_can_be_copied(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk, replace(PAGE, url="https://example.org/x"))
        sheet.show_no_browser()
        sheet.show_no_browser()
        await until(lambda: words(sheet).count("No browser could be opened") == 1)
        control(sheet, "Copy and continue").click()
        assert QGuiApplication.clipboard().text() == "https://example.org/x"
        await desk.asked("answer_elicitation", "2", "accept", None)


async def test_a_question_that_has_ended_is_answered_no_more(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = await panel(desk)
        sheet.settle()
        control(sheet, "Decline").click()
        sheet.on_closed()
        assert answers(desk) == []


@pytest.mark.parametrize(
    ("url", "host"), [("https://аpple.com/", "xn--pple-43d.com"), ("https://a.b:8/c", "a.b:8"), ("https://a.b", "a.b")]
)
def test_a_host_is_shown_so_that_no_letter_can_be_mistaken(url: str, host: str) -> None:
    assert host_of(QUrl(url)) == host
