"""Programs are let in by a switch; their token is shown only while a person looks at it, and is made anew after a question."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.toast import Toast

OPEN = HttpStatus(True, True, "http://127.0.0.1:7717/mcp")
LET_IN = replace(OPEN, is_api_enabled=True, api_url="http://127.0.0.1:7717/api/mcp")
CONTROL, DECIDE = "Let programs control Tooltray", "Let it decide in your place"
SAYS_YES, ASKED = "The holder of this token can approve in your place", "Shall a program decide in your place?"


def engine(http: HttpStatus) -> FakePresenter:
    fake = FakePresenter([server("a")])
    fake.http = http
    return fake


def words(widget: QWidget) -> str:
    labels = [label for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]
    return "\n".join(f"{label.accessibleName()}\n{label.text()}" for label in labels)


def names(widget: QWidget) -> str:
    return "\n".join(button.accessibleName() for button in widget.findChildren(QAbstractButton) if button.isVisibleTo(widget))


def field(panel: QWidget) -> QLineEdit:
    return panel.findChildren(QLineEdit)[0]


def chosen(panel: QWidget, name: str) -> Choice:
    return next(each for each in panel.findChildren(Choice) if each.accessibleName().startswith(name))


async def opened(desk: Desk) -> QWidget:
    tab = desk.open_network()
    await until(lambda: tab.http.status == desk.engine.http and not len(desk.tasks))
    return tab.api


async def test_programs_are_let_in_and_out_by_a_switch(theme: Theme) -> None:
    async with Desk(engine(OPEN), theme) as desk:
        section = await opened(desk)
        assert "Token" not in words(section)
        control(section, CONTROL).click()
        await desk.asked("set_api_enabled", True, None)
        await until(lambda: "http://127.0.0.1:7717/api/mcp" in words(section))
        assert nameless(desk.window) == []
        control(section, CONTROL).click()
        await desk.asked("set_api_enabled", False, None)
        await until(lambda: "Token" not in words(section))


async def test_a_switch_that_fails_stands_as_before_and_says_why(theme: Theme) -> None:
    fake = engine(OPEN)
    fake.failures["set_api_enabled"] = TooltrayError("the address cannot be opened", "port 7717 is taken", "Choose another port")
    async with Desk(fake, theme) as desk:
        section = await opened(desk)
        control(section, CONTROL).click()
        await until(lambda: "The address cannot be opened" in words(section))
        await until(lambda: not control(section, CONTROL).isChecked())
        fake.failures.clear()
        control(section, CONTROL).click()
        await until(lambda: "The address cannot be opened" not in words(section))


async def test_a_token_for_a_program_is_made_with_a_name_a_scope_and_an_end_and_shown_once(theme: Theme) -> None:
    async with Desk(engine(LET_IN), theme) as desk:
        section = await opened(desk)
        control(section, "New token, Further tokens").click()
        panel = desk.window.sheet.panel
        assert not control(panel, "Make token").isEnabled()
        field(panel).setText("ci")
        chosen(panel, "What it may").choose("read")
        chosen(panel, "Ends").choose("30")
        assert nameless(panel) == []
        control(panel, "Make token").click()
        await desk.asked("create_api_token", "ci", "read", 30 * 86400.0, False)
        await until(lambda: "api token of ci" in words(panel))
        control(panel, "Copy the token").click()
        await until(lambda: QGuiApplication.clipboard().text() == "api token of ci")
        control(panel, "Done").click()
        await until(lambda: desk.window.sheet is None)
        assert "api token of ci" not in words(desk.window)
        await until(lambda: "Looks · until" in words(section))
        control(section, "Revoke the token ci").click()
        await desk.asked("revoke_api_token", "ci")
        await until(lambda: "Looks · until" not in words(section))


async def test_a_token_that_decides_in_a_person_s_place_is_made_below_a_warning(theme: Theme) -> None:
    async with Desk(engine(LET_IN), theme) as desk:
        section = await opened(desk)
        control(section, "New token, Further tokens").click()
        panel = desk.window.sheet.panel
        field(panel).setText("boss")
        assert SAYS_YES not in words(panel)
        control(panel, DECIDE).click()
        await until(lambda: SAYS_YES in words(panel))
        chosen(panel, "What it may").choose("call")
        chosen(panel, "What it may").chosen_changed.emit("call")
        assert SAYS_YES not in words(panel)
        chosen(panel, "What it may").choose("manage")
        control(panel, "Make token").click()
        await desk.asked("create_api_token", "boss", "manage", None, True)
        await until(lambda: "Decides in your place" in words(section))


async def test_a_token_that_cannot_be_made_is_told_in_the_sheet_and_what_was_typed_stays(theme: Theme) -> None:
    fake = engine(LET_IN)
    fake.failures["create_api_token"] = TooltrayError("'x' cannot be the name of a token", "", "Choose another name.")
    async with Desk(fake, theme) as desk:
        section = await opened(desk)
        control(section, "New token, Further tokens").click()
        panel = desk.window.sheet.panel
        field(panel).setText("x")
        control(panel, "Make token").click()
        await until(lambda: "cannot be the name of a token" in words(panel))
        assert (field(panel).text(), control(panel, "Make token").isEnabled()) == ("x", True)


async def test_an_ai_client_gets_a_token_of_its_own_with_an_entry_to_paste(theme: Theme) -> None:
    async with Desk(engine(OPEN), theme) as desk:
        await opened(desk)
        page = desk.open_network()
        control(page, "New token, Clients with a token").click()
        panel = desk.window.sheet.panel
        field(panel).setText("cursor")
        assert "What it may" not in words(panel)
        control(panel, "Make token").click()
        await desk.asked("create_client_token", "cursor")
        await until(lambda: "token of cursor" in words(panel))
        QTest.mouseClick(desk.window.sheet, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))  # beside it: the token is shown this once
        assert desk.window.sheet.panel is panel
        control(panel, "Copy the entry").click()
        copied = QGuiApplication.clipboard().text()
        assert (OPEN.url in copied, "Bearer token of cursor" in copied) == (True, True)
        control(panel, "Done").click()
        await until(lambda: "Revoke the token cursor" in names(page))
        control(page, "Revoke the token cursor").click()
        await desk.asked("remove_client_token", "cursor")
        await until(lambda: "Revoke the token cursor" not in names(page))
        await until(lambda: desk.window.findChildren(Toast))
        control(desk.window.findChildren(Toast)[-1], "Undo").click()
        await until(lambda: "Revoke the token cursor" in names(page))


async def test_an_old_setting_that_trusts_all_programs_is_asked_about_once(theme: Theme) -> None:
    async with Desk(engine(replace(LET_IN, is_trust_asked=True)), theme) as desk:
        section = await opened(desk)
        assert ASKED in words(section)
        control(section, "New trusted token").click()
        panel = desk.window.sheet.panel
        assert control(panel, DECIDE).isChecked()
        control(panel, "Cancel").click()
        control(section, "No").click()
        await desk.asked("set_api_enabled", True, False)
        await until(lambda: ASKED not in words(section))


async def test_the_token_is_asked_for_only_when_a_person_wants_to_see_it_and_hidden_with_the_page(theme: Theme) -> None:
    async with Desk(engine(LET_IN), theme) as desk:
        section = await opened(desk)
        assert ("get_api_token",) not in desk.engine.calls
        control(section, "Show").click()
        await until(lambda: desk.engine.api_token in words(section))
        control(section, "Hide").click()
        assert desk.engine.api_token not in words(section)
        control(section, "Show").click()
        await until(lambda: desk.engine.api_token in words(section))
        desk.window.open_page("servers")
        desk.window.open_page("settings")
        assert desk.engine.api_token not in "".join(label.text() + label.accessibleName() for label in section.findChildren(QLabel))


async def test_address_and_token_are_copied_without_being_shown(theme: Theme) -> None:
    async with Desk(engine(LET_IN), theme) as desk:
        section = await opened(desk)
        control(section, "Copy the programs' address").click()
        assert QGuiApplication.clipboard().text() == LET_IN.api_url
        control(section, "Copy the token").click()
        await until(lambda: QGuiApplication.clipboard().text() == desk.engine.api_token)
        assert desk.engine.api_token not in words(desk.window)


async def test_a_token_that_cannot_be_read_is_told(theme: Theme) -> None:
    fake = engine(LET_IN)
    fake.failures["get_api_token"] = TooltrayError("the token cannot be read", "no permission")
    async with Desk(fake, theme) as desk:
        section = await opened(desk)
        control(section, "Show").click()
        await until(lambda: "The token cannot be read" in words(section))


async def test_another_token_is_made_after_a_question_of_which_enter_is_no_yes(theme: Theme) -> None:
    async with Desk(engine(LET_IN), theme) as desk:
        section, before = await opened(desk), desk.engine.api_token
        control(section, "Make another…").click()
        await until(lambda: desk.window.sheet is not None)
        panel = desk.window.sheet.panel
        assert panel.accessibleName() == "Make another token?"
        assert control(panel, "Keep it").hasFocus()
        control(panel, "Keep it").click()
        assert desk.window.sheet is None
        assert desk.engine.api_token == before
        control(section, "Make another…").click()
        await until(lambda: desk.window.sheet is not None)
        control(desk.window.sheet.panel, "Make another").click()
        await until(lambda: desk.engine.api_token in words(section))
        assert desk.engine.api_token != before
        assert desk.window.sheet is None


async def test_while_http_is_off_the_address_says_so(theme: Theme) -> None:
    async with Desk(engine(HttpStatus(is_api_enabled=True)), theme) as desk:
        section = await opened(desk)
        await until(lambda: "Not open: HTTP access is switched off" in words(section))
        with pytest.raises(AssertionError):
            control(section, "Copy the programs' address")
