"""The page of AI clients shows what each sees and why, and hands on what a person chooses for it."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import cells, words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import SessionListChanged
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.foundation.snapshots.tools import ToolCosts
from tooltray.ui.clients.client_details import ClientDetails, ResultLimit, SessionDetails
from tooltray.ui.clients.connected_tab import ConnectedTab
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.choice import Option

SHOP = SessionProject("/srv/projects/shop", "shop", "folder")
FIRST = SessionSnapshot("s1", "claude-code", "2.4", mode="lazy", reason="It obeys.", project=SHOP, activated=("serena",))
LEFT = SessionSnapshot("s2", "cursor-7", profile="coding", is_connected=False, server="files")
KINDS = [
    ClientModeSnapshot("claude-code", "Claude Code", "lazy", "lazy", "You chose it.", is_seen=True),
    ClientModeSnapshot("cursor-*", "Cursor", "", "everything", "Nothing is lazy.", "coding", auto_approve=("read_*",)),
    ClientModeSnapshot("", "", "", "everything", "Nothing is lazy."),
]
PROFILES = [ProfileSnapshot("coding", None, {}), ProfileSnapshot("web", ("web",), {})]


def press(widget: QWidget | None, name: str) -> None:
    assert widget is not None
    found = [
        each for each in widget.findChildren(QAbstractButton) if each.isVisibleTo(widget) and name in (each.text(), each.accessibleName())
    ]
    assert found, f"no control {name!r}"
    found[0].click()


def engine(sessions: tuple[SessionSnapshot, ...] = (FIRST, LEFT)) -> FakePresenter:
    fake = FakePresenter([server("a")])
    fake.sessions, fake.client_modes, fake.profiles = list(sessions), list(KINDS), list(PROFILES)
    return fake


async def opened(desk: Desk) -> ConnectedTab:
    desk.window.open_page("clients")
    page = desk.clients
    await until(lambda: page.kinds.rows and len(page.sessions.rows) == len(desk.engine.sessions))
    return page


async def kind(desk: Desk, client: str) -> ClientDetails:
    page = await opened(desk)
    page.show_tab(1)
    page.kinds.row_chosen.emit(next(each for each in page.kinds.rows if each.client == client))
    assert isinstance(page.details, ClientDetails)
    return page.details


def ticked(details: QWidget | None) -> list[str]:
    assert details is not None
    return [option.text() for option in details.findChildren(Option) if option.isChecked()]


async def choose_folder(desk: Desk, folder: str) -> None:
    """Chooses the folder of the session in the details."""
    press(desk.clients.details, "Choose folder")
    dialog = desk.window.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(folder)
    dialog.close()
    await until(lambda: not desk.window.findChildren(QFileDialog))


async def test_sessions_say_who_they_are_and_what_they_see_and_those_that_left_come_last(theme: Theme) -> None:
    async with Desk(engine((LEFT, FIRST)), theme) as desk:
        page = await opened(desk)
        table = page.sessions.model()
        rows = [[table.index(row, column).data() for column in range(6)] for row in range(2)]
        assert rows[0] == ["claude-code", "Connected", "Compact", "shop", "", "serena"]
        assert rows[1] == ["cursor-7", "Has left", "Full", "Not known", "coding", ""]
        assert table.index(0, 2).data(Qt.ItemDataRole.ToolTipRole) == "It obeys."
        assert "1 connected" in words(page)


async def test_without_a_session_the_page_says_how_to_get_one(theme: Theme) -> None:
    async with Desk(engine(()), theme) as desk:
        wanted: list[bool] = []
        desk.window.context.links.entry_copy_requested.connect(lambda: wanted.append(True))
        page = await opened(desk)
        assert "No AI client is connected" in words(page)
        press(page, "Copy the entry for an AI client. Paste it into Claude Code, Cursor or another client")
        assert wanted


async def test_news_of_sessions_are_shown_and_nothing_is_asked_by_a_page_that_nobody_sees(theme: Theme) -> None:
    async with Desk(engine((FIRST,)), theme) as desk:
        page = await opened(desk)
        page.sessions.row_chosen.emit(FIRST)
        desk.engine.sessions = [replace(FIRST, activated=("serena", "web"))]
        desk.engine.bus.publish(SessionListChanged())
        await until(lambda: "serena, web" in words(page.details))
        desk.engine.sessions = []
        desk.engine.bus.publish(SessionListChanged())
        await until(lambda: page.details is None)
        desk.window.open_page("servers")
        desk.engine.calls.clear()
        desk.engine.bus.publish(SessionListChanged())
        desk.engine.set_sessions(7)
        await until(lambda: desk.hub.snapshot is not None and desk.hub.snapshot.session_count == 7)
        assert ("get_sessions",) not in desk.engine.calls


async def test_a_session_s_details_say_why_and_where_from(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.sessions.row_chosen.emit(FIRST)
        for text in ("Compact", "It obeys.", "/srv/projects/shop", "The client was started there.", "None: it gets everything"):
            assert text in words(page.details)
        page.sessions.row_chosen.emit(LEFT)
        for text in ("It has only the server files.", "Not known", "coding"):
            assert text in words(page.details)
        assert isinstance(badge := page.details.findChild(StateBadge), StateBadge)
        assert badge.accessibleName() == "Has left"


async def test_a_folder_is_chosen_for_a_session(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.sessions.row_chosen.emit(FIRST)
        await choose_folder(desk, "/srv/projects/site")
        await desk.asked("set_session_project", "s1", "/srv/projects/site")


async def test_a_folder_that_cannot_be_a_project_is_refused_in_words_until_another_works(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.engine.failures["set_session_project"] = TooltrayError(
            "this folder cannot be a project", "it is the home folder", "choose another"
        )
        page.sessions.row_chosen.emit(FIRST)
        await choose_folder(desk, "/srv")
        await until(lambda: "This folder cannot be a project" in words(page))
        desk.engine.failures.clear()
        await choose_folder(desk, "/srv/projects")
        await until(lambda: "This folder cannot be a project" not in words(page))


async def test_a_session_leads_to_the_choices_of_its_kind_of_client_also_where_that_is_a_pattern(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        for session, client in ((FIRST, "claude-code"), (LEFT, "cursor-*")):
            page.show_tab(0)
            page.sessions.row_chosen.emit(session)
            press(page.details, "Change what it sees")
            assert isinstance(page.details, ClientDetails)
            assert page.details.client.client == client


@pytest.mark.parametrize(("name", "mode"), [("Full", "everything"), ("Search", "search"), ("Automatic", "automatic"), ("Default", "")])
async def test_how_tools_are_shown_is_chosen_for_a_kind_of_client(theme: Theme, name: str, mode: str) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "claude-code")
        assert ticked(details)[0] == "Compact"
        press(details, name)
        await desk.asked("set_client_mode", "claude-code", mode)


async def test_a_profile_is_chosen_for_a_kind_of_client_and_taken_back(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "cursor-*")
        assert ticked(details) == ["Default", "coding", "Use these rules instead"]
        press(details, "web")
        await desk.asked("set_client_profile", "cursor-*", "web")
        press(details, "None: it gets everything")
        await desk.asked("set_client_profile", "cursor-*", "")


async def test_a_choice_that_cannot_be_saved_is_put_back_and_explained(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "claude-code")
        for verb in ("set_client_mode", "set_client_profile"):
            desk.engine.failures[verb] = TooltrayError(f"{verb}: the disk is full")
        for name in ("Search", "web"):
            press(details, name)
        await until(lambda: ticked(details)[:2] == ["Compact", "None: it gets everything"])
        await until(lambda: "the disk is full" in words(desk.clients))


async def test_the_choice_for_all_others_comes_first_and_is_made_for_no_name(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "")
        assert [client.client for client in desk.clients.kinds.rows] == ["", "claude-code", "cursor-*"]
        press(details, "Compact")
        await desk.asked("set_client_mode", "", "lazy")


async def test_a_kind_of_client_says_what_tools_cost_it(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.engine.costs = ToolCosts("o200k", 36_650, 3_190, ())
        details = await kind(desk, "claude-code")
        await desk.asked("get_tool_costs", "claude-code")
        await until(lambda: "3,190 of 36,650 tokens in its context" in words(details))


async def test_a_profile_that_is_chosen_shows_at_once_what_it_saves(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "claude-code")
        await desk.asked("get_tool_costs", "claude-code")
        desk.engine.costs = ToolCosts("o200k", 36_650, 425, ())
        desk.engine.client_modes = [
            replace(each, profile="web") if each.client == "claude-code" else each for each in desk.engine.client_modes
        ]
        press(details, "web")
        await until(lambda: "425 of 36,650 tokens in its context" in words(details))


async def test_a_client_that_is_connected_is_seen_now(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        await kind(desk, "claude-code")
        rows = desk.clients.kinds.rows
        seen = [cells(desk.clients.kinds, row)[-1] for row in range(len(rows))]
        assert dict(zip([each.client for each in rows], seen, strict=True))["claude-code"] == "Now"


async def test_new_profiles_can_be_chosen_at_once_and_a_kind_that_is_gone_is_closed(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        await kind(desk, "claude-code")
        page = desk.clients
        desk.engine.profiles.append(ProfileSnapshot("new", None, {}))
        desk.clients.look_again()
        await until(lambda: isinstance(page.details, ClientDetails) and "new" in page.details.profiles)
        desk.engine.client_modes = KINDS[1:]
        desk.clients.look_again()
        await until(lambda: page.details is None)


async def test_the_page_is_used_by_keyboard_alone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.sessions.setFocus(Qt.FocusReason.TabFocusReason)
        page.sessions.selectRow(0)
        QTest.keyClick(page.sessions, Qt.Key.Key_Return)
        assert isinstance(page.details, SessionDetails)
        QTest.keyClick(page.sessions, Qt.Key.Key_Escape)
        assert page.details is None
        assert QApplication.focusWidget() is page.sessions
        page.sessions.row_chosen.emit(FIRST)
        press(page.details, "Close details")
        assert page.details is None


async def test_a_hub_that_does_not_answer_is_said_on_the_page(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.engine.failures["get_sessions"] = TooltrayError("sessions are nowhere to be found")
        desk.window.open_page("clients")
        await until(lambda: "Sessions are nowhere to be found" in words(desk.clients))
        desk.engine.failures.clear()
        desk.clients.look_again()
        await until(lambda: "Sessions are nowhere to be found" not in words(desk.clients))


async def test_a_hundred_sessions_and_news_of_them_are_asked_for_a_few_times_only(theme: Theme) -> None:
    async with Desk(engine(tuple(replace(FIRST, id=str(number)) for number in range(100))), theme) as desk:
        page = await opened(desk)
        desk.engine.calls.clear()
        for _ in range(50):
            page.look_again()
        await until(lambda: ("get_sessions",) in desk.engine.calls and not len(desk.tasks))
        assert desk.engine.calls.count(("get_sessions",)) <= 2
        assert len(page.sessions.rows) == 100


# calls that go through unasked


def rules_field(details: ClientDetails) -> QLineEdit:
    field = details.findChild(QLineEdit)
    assert field is not None
    return field


async def test_rules_of_a_client_are_written_and_saved_or_left_to_the_servers(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "claude-code")
        field = rules_field(details)
        assert "Default (each server's rules)" in ticked(details)
        assert not field.isVisibleTo(details)
        press(details, "Use these rules instead")
        assert field.isVisibleTo(details)
        assert not [call for call in desk.engine.calls if call[0] == "set_client_auto_approve"]
        field.setText("read, names:get_* ,")
        desk.engine.client_modes[0] = replace(KINDS[0], auto_approve=("read", "names:get_*"))
        QTest.keyClick(field, Qt.Key.Key_Return)
        await desk.asked("set_client_auto_approve", "claude-code", ["read", "names:get_*"])
        await until(lambda: details.client.auto_approve and field.text() == "read, names:get_*")
        press(details, "Default (each server's rules)")
        await desk.asked("set_client_auto_approve", "claude-code", None)


async def test_how_much_of_a_result_a_client_gets_is_written_and_saved(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "claude-code")
        limit = details.findChild(ResultLimit)
        assert limit is not None
        field, save = limit.findChild(QLineEdit), limit.findChild(Button)
        assert field is not None
        assert save is not None
        QTest.keyClicks(field, "+2,5")
        assert (field.text(), save.isEnabled()) == ("25", False)
        QTest.keyClicks(field, "000")
        desk.engine.client_modes[0] = replace(KINDS[0], result_limit=25_000)
        QTest.keyClick(field, Qt.Key.Key_Return)
        await desk.asked("set_result_limit", 25_000, None, None, "claude-code")
        await until(lambda: details.client.result_limit == 25_000 and not save.isEnabled())
        field.clear()
        desk.engine.client_modes[0] = KINDS[0]
        save.click()
        await desk.asked("set_result_limit", None, None, None, "claude-code")
        await until(lambda: details.client.result_limit is None)


async def test_no_rule_at_all_can_be_saved_too_and_means_that_every_call_asks(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "cursor-*")
        assert rules_field(details).text() == "read_*"
        rules_field(details).clear()
        press(details, "Save")
        await desk.asked("set_client_auto_approve", "cursor-*", [])


async def test_rules_that_cannot_be_used_are_refused_in_words_and_what_was_written_stays(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "cursor-*")
        desk.engine.failures["set_client_auto_approve"] = TooltrayError("'raed' is no rule")
        rules_field(details).setText("raed")
        press(details, "Save")
        await until(lambda: "'raed' is no rule" in words(desk.clients))
        assert rules_field(details).text() == "raed"
        press(details, "Default (each server's rules)")
        await until(lambda: "Use these rules instead" in ticked(details))


async def test_every_other_client_has_a_mode_and_neither_a_profile_nor_rules(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await kind(desk, "")
        assert "Every other client" in words(details)
        assert "Profile" not in words(details).splitlines()
        assert details.findChild(QLineEdit) is None
        press(details, "Compact")
        await desk.asked("set_client_mode", "", "lazy")
