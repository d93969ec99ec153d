"""The first tab of an opened server says how it is, and each of its buttons asks for what it says."""

from datetime import datetime

import pytest
from msgspec.structs import replace
from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.journal_in_memory import JournalInMemory, entry
from tests.fakes.server_snapshots import BUILTIN, STARTED_AT, TRUSTED, server
from tests.ui.seen import control, drawn
from tests.ui.seen import words as seen_words

from tooltray.foundation.errors import SECRET_MISSING, Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.activity.activity_words import at
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.server_pane.server_overview import ServerOverview
from tooltray.ui.server_pane.server_view import PaneState
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.split_view import MARGIN, PANE

S = ServerState
WAITING = server("a", S.NEEDS_SIGN_IN, has_sign_in_page=True)


def words(widget: QWidget) -> list[str]:
    return [label.accessibleName() or label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]


def controls(widget: QWidget) -> dict[str, QAbstractButton]:
    shown = (each for each in widget.findChildren(QAbstractButton) if each.isVisibleTo(widget))
    return {each.accessibleName() or each.text(): each for each in shown}


def heard(wish: SignalInstance) -> list[tuple[object, ...]]:
    said: list[tuple[object, ...]] = []
    wish.connect(lambda *values: said.append(values))
    return said


@pytest.fixture
def wishes() -> ServerWishes:
    return ServerWishes()


def test_processes_that_were_saved_are_said_and_none_are_not(theme: Theme, wishes: ServerWishes) -> None:
    details = ServerOverview(theme, server("a", saved_processes=2), wishes)
    assert "Started directly: 2 processes saved" not in words(details)
    controls(details)["Details"].click()
    assert "Started directly: 2 processes saved" in words(details)
    details.show_state(PaneState(server("a", saved_processes=1)))
    assert "Started directly: 1 process saved" in words(details)
    details.show_state(PaneState(server("a")))
    assert not [each for each in words(details) if "Started directly" in each]


@pytest.mark.parametrize(
    ("shown", "button", "wish"),
    [
        (server("a"), "Stop", "stop_requested"),
        (server("a", S.STOPPED), "Start", "start_requested"),
        (server("a", S.ERROR), "Try again", "restart_requested"),
        (server("a", S.STARTING), "Cancel", "stop_requested"),
        (server("a", S.NEEDS_SIGN_IN), "Sign in", "sign_in_requested"),
        (WAITING, "Cancel", "sign_in_cancel_requested"),
        (WAITING, "Open the sign-in page of a again", "sign_in_requested"),
        (WAITING, "Copy the sign-in address of a", "sign_in_address_requested"),
        (server("a", S.ERROR), "Why does a not run?", "diagnosis_requested"),
    ],
)
def test_each_button_asks_for_what_it_says(theme: Theme, wishes: ServerWishes, shown: ServerSnapshot, button: str, wish: str) -> None:
    details = ServerOverview(theme, shown, wishes)
    said = heard(getattr(wishes, wish))
    controls(details)[button].click()
    assert said == [("a",)]


def test_a_server_without_a_next_step_has_no_button_for_one(theme: Theme, wishes: ServerWishes) -> None:
    for shown in (server("a", S.STOPPING), BUILTIN):
        assert not {"Stop", "Start", "Cancel"} & controls(ServerOverview(theme, shown, wishes)).keys()


def test_the_page_s_buttons_are_there_while_the_browser_is_waited_for_and_no_longer(theme: Theme, wishes: ServerWishes) -> None:
    details = ServerOverview(theme, WAITING, wishes)
    badge = details.findChild(StateBadge)
    assert isinstance(badge, StateBadge)
    assert badge.accessibleName() == "Waiting"
    details.show_state(PaneState(WAITING, Problem("no browser could be opened")))
    assert "Why does a not run?" not in controls(details)
    details.show_state(PaneState(server("a")))
    assert badge.accessibleName() == "Connected"
    assert controls(details).keys() == {"Stop", "Details", "Change what a may do"}
    assert "No browser could be opened" not in words(details)


def test_an_error_is_said_whole_and_a_sign_in_only_as_far_as_its_button_does_not_say_it(theme: Theme, wishes: ServerWishes) -> None:
    problem = Problem("it ended", "exit code 1", "Look at its log")
    details = ServerOverview(theme, server("a", S.ERROR, problem=problem, detail="next attempt in 60 s"), wishes)
    assert "Exit code 1. Look at its log. Next attempt in 60 s." in words(details)
    details.show_state(
        PaneState(server("a", S.NEEDS_SIGN_IN, problem=Problem("'a' wants you to sign in", "the sign-in has expired", "Press it")))
    )
    assert "The sign-in has expired." in words(details)


def menu_actions(menu: QMenu) -> dict[str, object]:
    return {action.text(): action for action in menu.actions() if action.text()}


def test_the_menu_offers_to_sign_out_only_where_somebody_is_signed_in(theme: Theme, wishes: ServerWishes) -> None:
    parent = QWidget()
    said = heard(wishes.sign_out_requested)
    assert "Sign out" not in menu_actions(ServerMenu(theme, server("a"), wishes, parent))
    menu_actions(ServerMenu(theme, server("a", is_signed_in=True), wishes, parent))["Sign out"].trigger()  # type: ignore[attr-defined]
    assert said == [("a",)]


def test_the_menu_has_a_sign_in_and_its_address_where_they_make_sense(theme: Theme, wishes: ServerWishes) -> None:
    parent = QWidget()
    copied, begun = heard(wishes.sign_in_address_requested), heard(wishes.sign_in_requested)
    assert not {"Sign in", "Copy sign-in address"} & menu_actions(ServerMenu(theme, server("a"), wishes, parent)).keys()
    assert "Copy sign-in address" not in menu_actions(ServerMenu(theme, server("a", S.NEEDS_SIGN_IN), wishes, parent))
    actions = menu_actions(ServerMenu(theme, WAITING, wishes, parent))
    actions["Copy sign-in address"].trigger()  # type: ignore[attr-defined]
    actions["Sign in"].trigger()  # type: ignore[attr-defined]
    assert (copied, begun) == ([("a",)], [("a",)])


def test_a_server_of_which_a_change_waits_is_still_stopped_and_started_here(theme: Theme, wishes: ServerWishes) -> None:
    details = ServerOverview(theme, server("a", waiting=True), wishes)
    assert "A program wants to change this server" in words(details)
    said = heard(wishes.stop_requested)
    controls(details)["Stop"].click()
    assert said == [("a",)]
    details.show_state(PaneState(server("a", S.WAITING, origin="proposal", waiting=True)))
    looked = heard(wishes.trust_requested)
    controls(details)["Look"].click()
    assert looked == [("a",)]
    assert "Start anyway" not in controls(details)


def test_what_there_is_to_know_is_said_in_words(theme: Theme, wishes: ServerWishes) -> None:
    shown = server("a", isolation="session", projects=("/srv/x",), label="work", is_default=True)
    details = ServerOverview(theme, shown, wishes)
    controls(details)["Details"].click()
    for text in ("With Tooltray", "Reads run. Changes ask.", "One for each AI client", "/srv/x"):
        assert text in words(details)
    details.show_state(PaneState(server("a", access=replace(TRUSTED, choice=None, runs="nothing"))))
    assert "Every call asks first." in words(details)
    said = heard(wishes.place_requested)
    controls(details)["Change what a may do"].click()
    assert said == [(OpenServer("a", "access"),)]
    assert "One for each AI client" not in words(details)
    details.show_state(PaneState(server("a", is_deferred=True)))
    assert "When a project is known" in words(details)


def test_the_buttons_of_a_server_that_lacks_a_secret_fit_into_the_narrowest_pane(theme: Theme, wishes: ServerWishes) -> None:
    problem = Problem(Phrase("Secret '{name}' not found", name="a/TOKEN"), code=SECRET_MISSING)
    details = ServerOverview(theme, server("a", S.ERROR, problem=problem), wishes)
    details.resize(PANE, 600)
    details.show()
    shown = [each for each in details.findChildren(QAbstractButton) if each.isVisible()]
    assert [each.text() for each in shown][:2] == ["Enter the secret", "Why?"]
    assert all(each.mapTo(details, each.rect().topRight()).x() < PANE - MARGIN for each in shown)


async def test_the_last_calls_are_shown_and_lead_to_all_of_them(theme: Theme) -> None:
    journal = [entry(place, tool=f"t{place}") for place in range(1, 8)]
    journal += [entry(8, tool="other", server="b"), entry(9, tool="gone", outcome="error", touched="/srv/a.md")]
    journal += [entry(10, kind="stop", tool=""), entry(11, tool="given_up", outcome="cancelled", duration_s=0.0007)]
    async with Desk(JournalInMemory([server("fs"), server("b")], journal=journal), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        details = desk.open_server("fs")
        await until(lambda: "gone" in drawn(details))
        for text in ("t7", "t5", "Failed", "Cancelled"):
            assert text in drawn(details)
        for text in ("t3", "other", "0.7 ms"):
            assert text not in drawn(details)
        ended_at = STARTED_AT + 12
        began_at = ended_at - 2 * 86400
        desk.engine.write(entry(12, tool="waited", at=began_at, ended_at=ended_at))  # type: ignore[attr-defined]
        await until(lambda: "waited" in drawn(details))
        assert at(ended_at, datetime.now()) in drawn(details), "as in the list of all calls"
        assert at(began_at, datetime.now()) not in drawn(details)
        assert "/srv/a.md" in seen_words(details)
        desk.engine.write(entry(11, tool="new"))  # type: ignore[attr-defined]
        await until(lambda: "new" in drawn(details))
        control(details, "All calls of fs").click()
        await until(lambda: desk.activity.calls.list.filter.servers == ("fs",))


async def test_a_server_that_was_never_called_and_a_journal_that_cannot_be_read_are_told_apart(theme: Theme) -> None:
    async with Desk(JournalInMemory([server("fs")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        details = desk.open_server("fs")
        await until(lambda: "No calls yet" in drawn(details))
        desk.engine.failures["get_activity"] = TooltrayError("the disk is full")
        desk.engine.write(entry(1))  # type: ignore[attr-defined]
        await until(lambda: "Not known: the journal could not be read." in drawn(details))
        desk.engine.failures.clear()
        desk.engine.write(entry(2))  # type: ignore[attr-defined]
        await until(lambda: "read_file" in drawn(details))
        reads = [call[0] for call in desk.engine.calls].count("get_activity")
        desk.open_server("fs", "tools")
        desk.engine.write(entry(3))  # type: ignore[attr-defined]
        await until(lambda: not len(desk.tasks))
        assert [call[0] for call in desk.engine.calls].count("get_activity") == reads
