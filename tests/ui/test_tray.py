"""The tray says how the hub is, by a shape and in words, and its menu acts on the servers."""

import itertools
from datetime import datetime
from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded
from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow, CallNow
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.hub import HubSnapshot, ProgramLoad, ReleaseNews
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.kit.destinations import Destination, OpenEntry, Servers, Settings
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.shell.hub_status import HOUR_S, TrayState, hub_words, summary, tray_state, until_tomorrow_s
from tooltray.ui.shell.tray import SIZES, Tray, tray_icon
from tooltray.ui.shell.tray_menu import (
    LONGEST_LINE,
    SHOWN_SERVERS,
    ServerEntry,
    TrayMenu,
    TrayReadings,
    call_line,
    can_answer,
    load_line,
    short,
)
from tooltray.ui.theme import Theme

S = ServerState
FAILED = server("bad", S.ERROR, problem=Problem("x"))


def hub(*states: ServerState, is_paused: bool = False, sessions: int = 0) -> HubSnapshot:
    servers = [server(f"s{index}", state) for index, state in enumerate(states)]
    return FakePresenter(servers, is_paused=is_paused, session_count=sessions).snapshot


@pytest.mark.parametrize(
    ("phase", "snapshot", "state"),
    [
        (HubPhase.STARTING, None, TrayState.WORKING),
        (HubPhase.RUNNING, None, TrayState.WORKING),
        (HubPhase.FAILED, None, TrayState.ATTENTION),
        (HubPhase.ENDING, hub(S.RUNNING), TrayState.WORKING),
        (HubPhase.RUNNING, hub(S.RUNNING, S.ON_DEMAND, S.STOPPED), TrayState.WELL),
        (HubPhase.RUNNING, hub(S.RUNNING, S.INSTALLING), TrayState.WORKING),
        (HubPhase.RUNNING, hub(S.RESTARTING, S.ERROR), TrayState.ATTENTION),
        (HubPhase.RUNNING, hub(S.RUNNING, is_paused=True), TrayState.PAUSED),
        (HubPhase.RUNNING, hub(S.ERROR, is_paused=True), TrayState.ATTENTION),
    ],
)
def test_the_worst_state_wins(phase: HubPhase, snapshot: HubSnapshot | None, state: TrayState) -> None:
    assert tray_state(phase, snapshot) is state


@pytest.mark.parametrize(
    ("snapshot", "text"),
    [
        (hub(S.RUNNING, sessions=2), "Tooltray is running · 1 server running · 2 open sessions"),
        (hub(S.ERROR, S.ERROR, sessions=1), "Tooltray is running · 1 open session · 2 need you"),
        (hub(S.RUNNING, is_paused=True), "Tooltray is paused · No open sessions"),
    ],
)
def test_the_hub_s_state_in_one_line(snapshot: HubSnapshot, text: str) -> None:
    assert summary(HubPhase.RUNNING, snapshot) == text


@pytest.mark.parametrize("phase", HubPhase)
def test_every_phase_has_a_word(phase: HubPhase) -> None:
    assert hub_words(phase, hub())[0].word
    assert summary(phase, None)


@pytest.mark.parametrize("scheme", Qt.ColorScheme)
@pytest.mark.parametrize("state", TrayState)
def test_every_icon_is_there_in_all_sizes_and_is_not_empty(app: QApplication, state: TrayState, scheme: Qt.ColorScheme) -> None:
    icon = tray_icon(state, scheme)
    for size in SIZES:
        image = icon.pixmap(size, size).toImage()
        assert image.size() == QSize(size, size)
        assert any(image.pixelColor(x, y).alpha() for x in range(size) for y in range(size))


def test_the_icons_of_different_states_differ_by_shape_and_not_by_colour_alone(app: QApplication) -> None:
    shapes = set()
    for state in TrayState:
        image = tray_icon(state, Qt.ColorScheme.Dark).pixmap(16, 16).toImage()
        shapes.add(tuple(image.pixelColor(x, y).alpha() > 128 for x in range(16) for y in range(16)))
    assert len(shapes) == len(TrayState)


def approval(id: str, **fields: Any) -> ApprovalSnapshot:
    known = {"server": "files", "tool": "read_file", "client": "claude-code", "category": "read", "arguments": "{}", "why": "it asks"}
    return ApprovalSnapshot(**{"id": id, **known, "ends_at": 0.0, "choices": ("once",), **fields})


@pytest.fixture
def menu(theme: Theme) -> TrayMenu:
    return TrayMenu(theme, ServerWishes())


def texts(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if action.text() and action.isVisible()]


def action(menu: QMenu, text: str) -> QAction:
    return next(each for each in menu.actions() if each.text() == text)


def test_the_menu_says_the_state_first_and_offers_the_app_last(menu: TrayMenu) -> None:
    menu.show_hub(HubPhase.RUNNING, hub(S.RUNNING))
    assert texts(menu) == [
        "Tooltray is running · 1 server running · No open sessions",
        "s0 · Connected",
        "Pause all servers",
        "Copy entry for a client",
        "One moment…",
        "Open Tooltray",
        "Settings",
        "About Tooltray",
        "Quit",
    ]
    assert not menu.actions()[0].isEnabled()


def test_servers_that_need_a_person_come_first_and_eight_at_most(menu: TrayMenu) -> None:
    menu.show_hub(HubPhase.RUNNING, hub(*[S.RUNNING] * 20, S.ERROR))
    shown = [text for text in texts(menu) if text.startswith("s") and " · " in text]
    assert shown[0] == "s20 · Error"
    assert len(shown) == SHOWN_SERVERS
    asked: list[Destination] = []
    menu.place_requested.connect(asked.append)
    action(menu, "13 more servers…").trigger()
    assert asked == [Servers()]
    menu.show_hub(HubPhase.RUNNING, hub(*[S.RUNNING] * (SHOWN_SERVERS + 1)))
    assert "1 more server…" in texts(menu)


def test_no_two_lines_stand_behind_each_other_whoever_draws_the_menu(menu: TrayMenu) -> None:
    def lines() -> list[bool]:
        return [each.isSeparator() for each in menu.actions() if each.isVisible()]

    for states, requests in (((), []), ((S.RUNNING,), []), ((S.RUNNING,), [approval("1")]), ((), [approval("1")])):
        menu.show_hub(HubPhase.RUNNING, hub(*states))
        menu.show_waiting(requests, [])
        assert (True, True) not in set(itertools.pairwise(lines()))


def test_the_built_in_server_is_not_in_the_menu(menu: TrayMenu) -> None:
    menu.show_hub(HubPhase.RUNNING, hub())
    assert not [text for text in texts(menu) if text.startswith("hub")]


def test_a_changed_state_changes_the_entry_in_place(menu: TrayMenu) -> None:
    menu.show_hub(HubPhase.RUNNING, hub(S.RUNNING, S.RUNNING))
    before = [each.menu() for each in menu.actions() if each.menu()]
    menu.show_hub(HubPhase.RUNNING, hub(S.RUNNING, S.STOPPED))
    assert [each.menu() for each in menu.actions() if each.menu()] == before
    assert "s1 · Stopped by you" in texts(menu)


def test_a_long_name_loses_its_middle(menu: TrayMenu) -> None:
    snapshot = FakePresenter([server("a-name-that-is-much-too-long-for-any-menu-anywhere")]).snapshot
    menu.show_hub(HubPhase.RUNNING, snapshot)
    assert texts(menu)[1] == "a-name-that-is-m…ny-menu-anywhere · Connected"


@pytest.mark.parametrize(
    ("state", "enabled"),
    [
        (S.RUNNING, ["Restart", "Log", "Stop"]),
        (S.ON_DEMAND, ["Start", "Log", "Stop"]),
        (S.STOPPED, ["Start", "Log"]),
        (S.ERROR, ["Start", "Restart", "Log", "Stop"]),
        (S.STARTING, ["Restart", "Log", "Stop"]),
    ],
)
def test_a_server_s_entry_offers_what_makes_sense(menu: TrayMenu, state: ServerState, enabled: list[str]) -> None:
    menu.show_hub(HubPhase.RUNNING, hub(state))
    entry = next(each.menu() for each in menu.actions() if each.menu())
    assert isinstance(entry, QMenu)
    assert [each.text() for each in entry.actions() if each.isEnabled()] == enabled


def test_entries_and_actions_ask_for_what_they_say(theme: Theme) -> None:
    wishes = ServerWishes()
    menu = TrayMenu(theme, wishes)
    asked: list[object] = []
    wishes.start_requested.connect(lambda name: asked.append(("start", name)))
    wishes.stop_requested.connect(lambda name: asked.append(("stop", name)))
    wishes.restart_requested.connect(lambda name: asked.append(("restart", name)))
    wishes.log_requested.connect(lambda name: asked.append(("log", name)))
    menu.pause_requested.connect(lambda on: asked.append(("pause", on)))
    for name in ("entry_copy", "open", "quit"):
        getattr(menu, f"{name}_requested").connect(lambda name=name: asked.append(name))
    menu.show_hub(HubPhase.RUNNING, hub(S.ERROR))
    entry = next(each.menu() for each in menu.actions() if each.menu())
    assert isinstance(entry, QMenu)
    for each in entry.actions():
        each.trigger()
    for text in ("Copy entry for a client", "Open Tooltray", "Quit"):
        action(menu, text).trigger()
    assert asked == [("start", "s0"), ("restart", "s0"), ("log", "s0"), ("stop", "s0"), "entry_copy", "open", "quit"]


HUB = HubSnapshot(1, "1.2.0", False, 0, 0.0, ())
NEWER = ReleaseNews(version="1.3.0", changes=("Tabs & cards", "x" * 500), update="Run: pip install it")


def test_a_newer_version_and_a_withdrawn_one_are_in_the_menu_and_lead_to_about(menu: TrayMenu) -> None:
    places: list[object] = []
    menu.place_requested.connect(places.append)
    before = texts(menu)
    menu.show_hub(HubPhase.RUNNING, replace(HUB, release=replace(NEWER, withdrawn="It loses settings")))
    newer, withdrawn = action(menu, "Tooltray 1.3.0 is available").menu(), action(menu, "Tooltray 1.2.0 was withdrawn").menu()
    assert isinstance(newer, QMenu)
    assert isinstance(withdrawn, QMenu)
    tabs, cut, install = texts(newer)
    assert (tabs, len(cut), install) == ("Tabs && cards", LONGEST_LINE + 1, "Run: pip install it")
    assert not action(newer, tabs).isEnabled()
    assert texts(withdrawn) == ["It loses settings", "About Tooltray"]
    action(newer, install).trigger()
    action(withdrawn, "About Tooltray").trigger()
    assert places == [Settings("about")] * 2
    menu.show_hub(HubPhase.RUNNING, replace(HUB, version="1.3.0"))
    assert not [text for text in texts(menu) if "1.3.0" in text or "withdrawn" in text]
    assert "About Tooltray" in before


def test_another_language_shows_a_newer_version_again(menu: TrayMenu) -> None:
    snapshot = replace(HUB, release=NEWER)
    menu.show_hub(HubPhase.RUNNING, snapshot)
    menu.retranslate()
    menu.show_hub(HubPhase.RUNNING, snapshot)
    menu.show_hub(HubPhase.RUNNING, snapshot)
    assert texts(menu).count("Tooltray 1.3.0 is available") == 1


def test_before_there_is_a_hub_only_the_app_can_be_asked(menu: TrayMenu) -> None:
    menu.show_hub(HubPhase.STARTING, None)
    assert not action(menu, "Pause all servers").isEnabled()
    assert action(menu, "Quit").isEnabled()
    menu.show_hub(HubPhase.ENDING, None)
    assert not action(menu, "Quit").isEnabled()


async def test_the_icon_and_its_tooltip_follow_the_hub(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        tray = Tray(theme, desk.hub, desk.wishes, desk.tasks)
        tray.set_phase(HubPhase.RUNNING)
        well = tray._icon.icon().pixmap(22, 22).toImage()
        desk.engine.tell(FAILED)
        await until(lambda: "1 needs you" in tray._icon.toolTip())
        assert tray._icon.icon().pixmap(22, 22).toImage() != well


async def test_a_server_that_waits_for_a_sign_in_offers_it_in_the_menu(theme: Theme) -> None:
    wishes = ServerWishes()
    menu = TrayMenu(theme, wishes)
    said: list[str] = []
    wishes.sign_in_requested.connect(said.append)
    servers = [server("a", S.NEEDS_SIGN_IN, problem=Problem("x")), server("b", S.NEEDS_SIGN_IN, has_sign_in_page=True), server("c")]
    menu.show_hub(HubPhase.RUNNING, FakePresenter(servers).snapshot)
    entries = {entry.title(): entry for entry in menu.findChildren(ServerEntry)}
    assert entries.keys() == {"a · Sign in", "b · Waiting", "c · Connected"}
    offers = {title: [action.text() for action in entry.actions() if action.isVisible()] for title, entry in entries.items()}
    assert "Sign in" in offers["a · Sign in"]
    assert "Sign in" not in offers["c · Connected"]
    next(action for action in entries["a · Sign in"].actions() if action.text() == "Sign in").trigger()
    assert said == ["a"]


async def test_a_server_that_runs_again_offers_no_sign_in(theme: Theme) -> None:
    menu = TrayMenu(theme, ServerWishes())
    for state in (S.NEEDS_SIGN_IN, S.RUNNING):
        menu.show_hub(HubPhase.RUNNING, FakePresenter([server("a", state)]).snapshot)
    (entry,) = menu.findChildren(ServerEntry)
    assert "Sign in" not in [action.text() for action in entry.actions() if action.isVisible()]


async def test_what_a_server_offers_follows_its_state_also_while_everything_is_paused(theme: Theme) -> None:
    menu = QMenu()
    entry = ServerEntry(theme, ServerWishes(), menu)
    for state in (S.RUNNING, S.ON_DEMAND):
        entry.set_server(server("a", state), is_paused=True)
    assert {action.text() for action in entry.actions() if action.isEnabled()} >= {"Start"}


async def test_a_call_that_waits_for_a_yes_makes_the_tray_ask_for_a_person(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        tray = Tray(theme, desk.hub, desk.wishes, desk.tasks)
        tray.set_phase(HubPhase.RUNNING)
        well = tray._icon.icon().cacheKey()
        tray.set_approvals([approval("1"), approval("2")])
        assert tray._icon.toolTip().endswith("2 calls wait for your answer")
        assert tray._icon.icon().cacheKey() != well
        tray.set_approvals([])
        assert "wait for" not in tray._icon.toolTip()


async def test_servers_that_wait_for_a_yes_make_the_icon_ask_for_attention(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        tray = Tray(theme, desk.hub, desk.wishes, desk.tasks)
        tray.set_phase(HubPhase.RUNNING)
        assert tray._shown[0] is TrayState.WELL
        tray.set_waiting_entries(2)
        assert tray._shown[0] is TrayState.ATTENTION
        assert "2 servers are not allowed yet" in tray._icon.toolTip()
        tray.set_waiting_entries(0)
        assert tray._shown[0] is TrayState.WELL


def submenu(menu: QMenu, title: str) -> QMenu:
    return next(each.menu() for each in menu.actions() if each.menu() and each.text() == title)


def test_everything_is_paused_for_an_hour_until_tomorrow_or_until_somebody_resumes(menu: TrayMenu) -> None:
    asked: list[tuple[bool, object]] = []
    menu.pause_requested.connect(lambda is_paused, for_s: asked.append((is_paused, for_s)))
    menu.show_hub(HubPhase.RUNNING, hub(S.RUNNING))
    ways = submenu(menu, "Pause all servers").actions()
    assert [each.text() for each in ways] == ["Pause for an hour", "Pause until tomorrow", "Pause until I resume"]
    for each in ways:
        each.trigger()
    assert asked[0] == (True, HOUR_S)
    assert asked[1][1] == pytest.approx(until_tomorrow_s(), abs=5.0)
    assert asked[2] == (True, None)
    menu.show_hub(HubPhase.RUNNING, hub(S.RUNNING, is_paused=True))
    assert "Pause all servers" not in [each.text() for each in menu.actions() if each.isVisible()]
    action(menu, "Resume all servers").trigger()
    assert asked[3] == (False, None)


@pytest.mark.parametrize(("hour", "hours"), [(22, 10), (0, 32), (7, 25), (9, 23)])
def test_tomorrow_begins_in_the_morning(hour: int, hours: int) -> None:
    assert until_tomorrow_s(datetime(2027, 1, 15, hour)) == hours * 3600


@pytest.mark.parametrize(
    ("fields", "can"),
    [
        ({}, True),
        ({"category": "write"}, False),
        ({"warnings": ("odd",)}, False),
        ({"definition_diff": ("+x",)}, False),
        ({"choices": ("session",)}, False),
    ],
)
def test_only_what_can_be_judged_unseen_is_allowed_from_the_menu(menu: TrayMenu, fields: dict[str, Any], can: bool) -> None:
    request = approval("1", **fields)
    assert can_answer(request) is can
    answers: list[tuple[str, str]] = []
    menu.answered.connect(lambda id, answer: answers.append((id, answer)))
    menu.show_waiting([request], [])
    entry = submenu(menu, "read_file of files, for Claude Code")
    assert [each.text() for each in entry.actions()] == ["Look at it…", *(["Allow once"] if can else []), "Decline"]
    entry.actions()[-1].trigger()
    assert answers == [("1", "refuse")]


async def test_a_question_counts_until_it_has_ended_and_the_dot_has_the_number(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        tray = Tray(theme, desk.hub, desk.wishes, desk.tasks)
        tray.set_phase(HubPhase.RUNNING)
        tray.set_approvals([approval("1")])
        one = tray._icon.icon().pixmap(32, 32).toImage()
        desk.engine.bus.publish(ElicitationAsked(ElicitationSnapshot("q", "files", "form", "Now?", 0.0)))
        await until(lambda: tray.waiting == 2)
        assert "files asks you something" in texts(tray.menu)
        assert tray._icon.icon().pixmap(32, 32).toImage() != one
        desk.engine.bus.publish(ElicitationEnded("q"))
        await until(lambda: tray.waiting == 1)


async def test_who_works_and_what_failed_is_read_while_the_menu_is_open(theme: Theme) -> None:
    engine = FakePresenter([server("a")])
    engine.calls_now = [CallNow("claude-code", "1", "", "git", "log", 0.0, "person")] * 5
    failed = ActivityEntry(id=7, kind="call", at=datetime.now().timestamp(), outcome="error", server="git", tool="push")
    engine.activity = [ActivityRow(failed, 1, 7, failed.at)]
    async with Desk(engine, theme) as desk:
        tray = Tray(theme, desk.hub, desk.wishes, desk.tasks)
        tray.set_phase(HubPhase.RUNNING)
        assert not [call for call in desk.engine.calls if call[0] == "get_activity"]
        tray.menu.aboutToShow.emit()
        await until(lambda: "Last failures" in texts(tray.menu))
        assert texts(tray.menu).count("Claude Code · log (git) · waits for you") == 3
        assert "2 more calls are under way" in texts(tray.menu)
        assert "Tooltray: 212 MB, 1 % of a processor · servers: 1,480 MB" in texts(tray.menu)
        asked: list[Destination] = []
        tray.menu.place_requested.connect(asked.append)
        line = submenu(tray.menu, "Last failures").actions()[0]
        assert line.text().endswith("push (git)")
        line.trigger()
        assert asked == [OpenEntry(7)]
        tray.menu.aboutToHide.emit()
        assert not tray._timer.isActive()


async def test_a_hub_that_cannot_say_what_happens_leaves_the_rest_of_the_menu(theme: Theme) -> None:
    engine = FakePresenter([server("a")])
    engine.failures["get_activity"] = engine.failures["get_calls_now"] = TooltrayError("the journal is damaged")
    async with Desk(engine, theme) as desk:
        tray = Tray(theme, desk.hub, desk.wishes, desk.tasks)
        tray.set_phase(HubPhase.RUNNING)
        tray.menu.aboutToShow.emit()
        await until(lambda: any(text.startswith("Tooltray: ") for text in texts(tray.menu)))
        assert "Last failures" not in texts(tray.menu)
        tray.menu.aboutToHide.emit()


def test_a_menu_that_grows_while_it_is_open_stays_on_the_screen(menu: TrayMenu) -> None:
    menu.show_hub(HubPhase.RUNNING, hub(*[S.RUNNING] * 12))
    screen = menu.screen().availableGeometry()
    menu.popup(screen.bottomRight())
    shown = menu.height()
    calls = [CallNow("claude-code", str(each), "", "git", "log", 0.0, "person") for each in range(5)]
    menu.show_readings(TrayReadings(calls, (), ProgramLoad(212_000_000, 0.01, 0, 0)))
    assert menu.height() > shown
    assert screen.contains(menu.geometry())
    quit_line = menu.actionGeometry(action(menu, "Quit"))
    assert menu.rect().contains(quit_line)
    menu.show_waiting([approval(str(each)) for each in range(3)], ["a", "b", "c"])
    assert screen.contains(menu.geometry())
    for number in range(60):
        menu.addAction(str(number))
    menu.show_hub(HubPhase.RUNNING, hub(*[S.RUNNING] * 2))
    assert screen.contains(menu.geometry())
    assert menu.sizeHint().height() > screen.height()
    menu.close()


def test_lines_of_the_menu() -> None:
    assert call_line(CallNow("c&d", "1", "", "s", "t", 100.0), 165.0) == "c&&d · t (s) · 1 min"
    assert call_line(CallNow("", "1", "", "s", "t", 100.0, "start"), 101.0) == "A client · t (s) · waits for its server"
    assert load_line(ProgramLoad(1_000_000, 0.5, 0, 0)) == "Tooltray: 1 MB, 50 % of a processor"
    assert short("\u202eevil" + "x" * 300) == " evil" + "x" * 11 + "…" + "x" * 16


def test_a_paused_hub_s_servers_are_not_said_to_be_ready(menu: TrayMenu) -> None:
    menu.show_hub(HubPhase.RUNNING, hub(S.RUNNING, is_paused=True))
    assert "s0 · Paused" in texts(menu)
