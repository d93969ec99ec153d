"""A card says how its server is and what to do next, in every state, and hands on what a person wants."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import BUILTIN, server, tool
from tests.ui.seen import cells, control, drawn, words

from tooltray.foundation.errors import SECRETS_UNREACHABLE, Problem, TooltrayError
from tooltray.foundation.snapshots.approvals import ToolPermission
from tooltray.foundation.snapshots.servers import AWAITS_KEYRING, LEFT_OUT, MENDED, ServerSnapshot, ServerState
from tooltray.ui.approval.permission_words import ToolRow, applies_now
from tooltray.ui.kit.destinations import Destination, OpenServer
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.server_pane.server_tools import KIND_WIDTH, LEAST_KIND, ToolTable
from tooltray.ui.server_words import Action, flaw_words, flaws_in_full, foot, milliseconds, sign, stopped, traffic
from tooltray.ui.servers.server_card import HEIGHT, ServerCard
from tooltray.ui.state_language import server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.card_grid import CardGrid
from tooltray.ui.widgets.cell_delegate import CHIP_EDGES, PADDING, TWO_LINES_HEIGHT
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.zoom import px

MakeCard = Callable[[ServerSnapshot], ServerCard]
NOW = datetime(2026, 11, 21, 12, 0)
PROBLEM = Problem("command not found", "looked in /bin", "Install it")


@pytest.fixture
def make_card(theme: Theme, wishes: ServerWishes, qtbot: QtBot) -> Callable[[ServerSnapshot], ServerCard]:
    def make(snapshot: ServerSnapshot) -> ServerCard:
        card = ServerCard(theme, snapshot, wishes)
        qtbot.addWidget(card)
        card.resize(460, HEIGHT)
        card.show()
        return card

    return make


class Heard:
    """What a card asked for."""

    def __init__(self, wishes: ServerWishes) -> None:
        self.wishes: list[tuple[object, ...]] = []
        for name in ("start", "stop", "restart", "log", "copy", "removal", "tools"):
            getattr(wishes, f"{name}_requested").connect(self._hear(name))
        wishes.default_requested.connect(lambda name, on: self.wishes.append(("default", name, on)))

    def _hear(self, wish: str):  # type: ignore[no-untyped-def]
        return lambda name: self.wishes.append((wish, name))


@pytest.fixture
def wishes(app: QApplication) -> ServerWishes:
    return ServerWishes()


@pytest.mark.parametrize(
    ("state", "action", "text"),
    [
        (ServerState.RUNNING, Action.EXPAND, "Command not found"),
        (ServerState.ON_DEMAND, Action.EXPAND, "No calls today"),
        (ServerState.STARTING, Action.CANCEL, "Waiting for the server to respond"),
        (ServerState.INSTALLING, Action.CANCEL, "Downloading packages…"),
        (ServerState.RESTARTING, Action.CANCEL, "Command not found"),
        (ServerState.STOPPING, Action.NONE, "Stopping…"),
        (ServerState.ERROR, Action.RETRY, "Command not found"),
        (ServerState.STOPPED, Action.START, "You stopped it"),
    ],
)
def test_every_state_has_its_words_and_its_next_step(state: ServerState, action: Action, text: str) -> None:
    shown = foot(server("a", state, problem=PROBLEM), None, NOW)
    assert shown.action is action
    assert text in (shown.headline, shown.detail)


def test_a_restart_that_a_person_asked_for_is_no_death() -> None:
    asked_for = server("a", ServerState.RESTARTING)
    assert (server_look(asked_for).word, foot(asked_for, None, NOW).headline) == ("Restarting", "Restarting…")


def test_a_server_that_a_person_stopped_says_who_did_and_one_that_is_switched_off_does_not() -> None:
    assert server_look(server("a", ServerState.STOPPED)).word == "Stopped by you"
    assert server_look(server("a", ServerState.STOPPED, is_disabled=True)).word == "Stopped"


def test_a_state_that_needs_it_is_explained_at_its_badge(make_card: MakeCard) -> None:
    sleeping = "Its process is not running; the next call starts it."
    cases = (
        (server("a", ServerState.ON_DEMAND, is_default=False), sleeping),
        (server("a", ServerState.ON_DEMAND, is_default=False, idle_stop_s=300), f"{sleeping} Stops after 5 min without a call"),
        (server("a", ServerState.STOPPED), "It stays stopped until you start it, also when Tooltray restarts."),
        (server("a", ServerState.RUNNING), ""),
    )
    for shown, meaning in cases:
        card = make_card(shown)
        badge = card.findChild(StateBadge)
        assert (badge.toolTip(), badge.accessibleDescription()) == (meaning, meaning)
        assert card.controls()[0].accessibleDescription().startswith(meaning or "Enter opens it")


def test_words_of_a_server_that_look_like_html_load_nothing_in_a_tooltip(make_card: MakeCard) -> None:
    picture = '<img src="https://x.example/seen.png">'
    folder = f"/srv/{picture.replace('/', '-')}"
    card = make_card(server("a", description=picture, label="<b>work", origin="project", project=folder, file=f"{folder}/.mcp.json"))
    tips = [tip for each in card.findChildren(QWidget) if (tip := each.toolTip())]
    assert sum("&lt;" in tip for tip in tips) >= 3  # its name, its label, its file
    assert not any("<" in tip for tip in tips)


def test_a_server_that_runs_and_lists_too_much_says_so_as_a_warning() -> None:
    shown = foot(server("a", ServerState.RUNNING, problem=PROBLEM), None, NOW)
    assert (shown.headline, shown.detail, shown.tone) == ("Command not found", "Install it. Looked in /bin.", "warning")
    assert foot(server("a", ServerState.RUNNING), None, NOW).tone == "primary"


def test_a_card_says_how_many_definitions_are_mended_or_left_out(make_card: MakeCard) -> None:
    flaws = ("tool 'odd': title is null (left out)", "tool 2 of the list is left out", "tool 3 of the list is left out")
    card = make_card(server("a", flaws=flaws, flaw_counts={LEFT_OUT: 2, MENDED: 1}))
    assert card._flaws.isVisible()
    assert card._flaws.accessibleName().splitlines()[0].endswith(": 2 left out · 1 mended")
    assert card._flaws.toolTip().splitlines()[1:] == list(flaws)
    card.set_server(server("a", flaws=flaws[:1], flaw_counts={MENDED: 1}))  # AI clients get all of it
    assert not card._flaws.isVisible()
    assert flaw_words(server("a", flaw_counts={MENDED: 3})) == "3 mended"
    assert flaws_in_full(server("a", flaws=("x",) * 10, flaw_counts={MENDED: 10})).endswith("x\nand 2 more")
    card.set_server(server("a"))
    assert not card._flaws.isVisible()


def test_an_error_says_what_happened_and_what_to_do_and_has_the_rest_as_explanation() -> None:
    shown = foot(server("a", ServerState.ERROR, problem=PROBLEM), None, NOW)
    assert (shown.headline, shown.detail, shown.tone) == ("Command not found", "Install it. Looked in /bin.", "error")
    assert shown.explanation == "Command not found. Looked in /bin. Install it."


def test_a_remote_server_in_error_says_when_it_is_tried_again_and_what_to_do(app: QApplication) -> None:
    shown = foot(server("a", ServerState.ERROR, problem=PROBLEM, detail="Retrying in 60 s"), None, NOW)
    assert (shown.detail, shown.tone) == ("Retrying in 60 s.", "error")
    assert shown.explanation == "Command not found. Looked in /bin. Install it. Retrying in 60 s."


@pytest.mark.parametrize(
    ("left_s", "state", "words"),
    [
        (300, ServerState.ERROR, "Retrying in 5 minutes."),
        (241, ServerState.ERROR, "Retrying in 5 minutes."),
        (119, ServerState.ERROR, "Retrying in 119 s."),
        (0, ServerState.ERROR, "Retrying now."),
        (130, ServerState.RESTARTING, "Restarting in 3 minutes"),
        (3, ServerState.RESTARTING, "Restarting in 3 s"),
        (-2, ServerState.RESTARTING, "Restarting now"),
    ],
)
def test_when_a_server_is_tried_again_is_counted_down(app: QApplication, left_s: int, state: ServerState, words: str) -> None:
    failed = server("a", state, problem=PROBLEM, detail="Retrying in 300 s", retry_at=NOW.timestamp() + left_s)
    assert foot(failed, None, NOW).detail == words


async def test_the_countdown_on_a_card_moves(theme: Theme) -> None:
    failed = server("a", ServerState.ERROR, problem=PROBLEM, retry_at=time.time() + 600)
    async with Desk(FakePresenter([failed]), theme) as desk:
        await until(lambda: "Retrying in 10 minutes." in words(desk.card("a")))
        card = desk.card("a")
        card.server = replace(failed, retry_at=time.time() - 1)  # as if that time had come
        card._clock.timeout.emit()
        assert "Retrying now." in words(card)
        desk.engine.set_state("a", ServerState.RUNNING, retry_at=0.0)
        await until(lambda: not card._clock.isActive())


def test_a_card_says_what_a_sleeping_server_waits_for(make_card: MakeCard) -> None:
    card = make_card(server("a", ServerState.ON_DEMAND))
    assert "Sleeping\nStarts when used" in drawn(card)
    card.set_paused(True)
    assert "Starts when used" not in drawn(card)


def test_a_slow_start_says_so_on_the_card(make_card: MakeCard) -> None:
    card = make_card(server("a", ServerState.STARTING, detail="Slow: no answer for 45 s"))
    assert "Slow: no answer for 45 s" in drawn(card)


def test_locked_secrets_have_their_button_and_no_command(make_card: MakeCard) -> None:
    locked = Problem(
        "The secrets are locked", "secrets.enc needs its passphrase", "Unlock them: tooltray secrets unlock", SECRETS_UNREACHABLE
    )
    made = [make_card(server("a", ServerState.ERROR, problem=locked)), make_card(server("a", ServerState.ERROR))]
    for card in made:
        if card is not made[0]:
            card.show_problem(locked)
        assert "The secrets are locked" in drawn(card)
        assert "secrets.enc needs its passphrase" in drawn(card).casefold()
        assert "tooltray secrets" not in drawn(card) + words(card)
    assert foot(server("a", ServerState.ERROR, problem=locked), None, NOW).action is Action.UNLOCK


def test_a_start_that_waits_for_the_keyring_says_so_on_the_card(make_card: MakeCard) -> None:
    for state in (ServerState.STARTING, ServerState.INSTALLING):
        shown = drawn(make_card(server("a", state, detail=AWAITS_KEYRING)))
        assert "Unlock your keyring to continue" in shown
        assert "Waiting for the server" not in shown


def test_a_remote_server_s_card_names_its_host(make_card: MakeCard) -> None:
    card = make_card(server("a", transport="sse", target="https://example.org/sse"))
    assert "example.org" in [label.accessibleName() for label in card.findChildren(QLabel)]


def test_a_refused_wish_stands_before_the_state() -> None:
    shown = foot(server("a", ServerState.STOPPED), Problem("the disk is full"), NOW)
    assert (shown.headline, shown.action) == ("The disk is full", Action.START)


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (timedelta(hours=1), "You stopped it at 11:00"),
        (timedelta(days=4), "You stopped it on Tuesday at 12:00"),
        (timedelta(days=40), "You stopped it on Monday, October 12, 2026"),
    ],
)
def test_when_a_server_was_stopped_is_said_as_people_do(app: QApplication, ago: timedelta, text: str) -> None:
    QLocale.setDefault(QLocale("en_US"))
    assert stopped(server("a", ServerState.STOPPED, since=(NOW - ago).timestamp()), NOW) == text


def test_a_server_that_the_settings_switched_off_says_that() -> None:
    assert "settings" in stopped(server("a", ServerState.STOPPED, is_disabled=True), NOW)


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [
        (server("filesystem"), ("folder", "")),
        (server("my-git-server"), ("branch", "")),
        (server("acme"), ("", "A")),
        (server("acme", icon="🧠"), ("", "🧠")),
        (server("acme", icon="https://example.org/icon.png"), ("", "A")),
        (BUILTIN, ("server", "")),
    ],
)
def test_the_tile_shows_the_server_s_own_sign_or_one_that_fits(snapshot: ServerSnapshot, expected: tuple[str, str]) -> None:
    assert sign(snapshot) == expected


@pytest.mark.parametrize("state", ServerState)
def test_a_card_is_equally_high_in_every_state(make_card: MakeCard, wishes: ServerWishes, state: ServerState) -> None:
    card = make_card(server("a", state, problem=PROBLEM))
    assert card.layout().minimumSize().height() <= card.minimumHeight() == HEIGHT


def test_what_is_wrong_has_two_lines_and_all_of_it_is_in_the_tooltip(make_card: MakeCard, theme: Theme) -> None:
    long = "Looked in " + ", ".join(f"/usr/local/lib/node-{number}/bin" for number in range(20))
    card = make_card(server("a", ServerState.ERROR, problem=Problem("command not found", long)))
    card.grab()
    assert card.minimumHeight() == HEIGHT + theme.line("caption")
    detail = next(each for each in card.findChildren(QLabel) if "Looked in" in each.text())
    assert len(detail.text().split("\n")) == 2
    assert "node-19" in "".join(detail.toolTip().split())
    grid, other = CardGrid("servers"), make_card(server("b"))
    grid.set_cards([card, other])
    grid.resize(1000, 400)
    grid.show()
    assert card.height() == other.height() == card.minimumHeight()
    card.set_server(server("a"))
    assert card.minimumHeight() == HEIGHT
    grid.set_cards([])
    for each in (card, other):
        each.setParent(None)
    grid.close()
    grid.deleteLater()


def test_a_card_that_is_never_shown_goes_with_its_grid(make_card: MakeCard) -> None:
    grid, card = CardGrid("servers"), make_card(server("a"))
    grid.watch(card)
    assert grid.isAncestorOf(card)
    assert card.isHidden()
    card.setParent(None)
    grid.deleteLater()


def test_a_card_changes_its_words_with_its_server(make_card: MakeCard, wishes: ServerWishes) -> None:
    card = make_card(server("a", calls_today=3, p50_ms=8.2))
    assert drawn(card).splitlines()[1:] == ["Connected", "3 calls today · 8 ms"]
    card.set_server(server("a", ServerState.ERROR, problem=PROBLEM))
    assert drawn(card).splitlines()[1:] == ["Command not found", "Install it. Looked in /bin."]
    assert card.accessibleName() == "a, Error"


@pytest.mark.parametrize(
    ("state", "text", "wish"),
    [(ServerState.ERROR, "Try again", "restart"), (ServerState.STARTING, "Cancel", "stop")],
)
def test_the_button_asks_for_the_next_step(make_card: MakeCard, wishes: ServerWishes, state: ServerState, text: str, wish: str) -> None:
    heard = Heard(wishes)
    card = make_card(server("a", state, problem=PROBLEM))
    control(card, text).click()
    assert heard.wishes == [(wish, "a")]


def test_the_second_half_of_a_double_click_does_not_cancel_what_the_first_one_started(
    make_card: MakeCard, wishes: ServerWishes, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Heard(wishes)
    card = make_card(server("a", ServerState.ERROR, problem=PROBLEM))
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    card.set_server(server("a", ServerState.STARTING))
    control(card, "Cancel").click()
    assert heard.wishes == []
    monkeypatch.setattr(time, "monotonic", lambda: now + 1.0)
    control(card, "Cancel").click()
    assert heard.wishes == [("stop", "a")]


def test_the_keyboard_stays_on_the_card_when_its_button_becomes_another(make_card: MakeCard, wishes: ServerWishes) -> None:
    card = make_card(server("a", ServerState.STARTING))
    control(card, "Cancel").setFocus()
    card.set_server(server("a", ServerState.RUNNING))
    assert card.focusWidget() is control(card, "a, Connected")


def test_the_switch_stays_where_a_person_put_it_until_the_server_follows(make_card: MakeCard, wishes: ServerWishes) -> None:
    heard = Heard(wishes)
    card = make_card(server("a", ServerState.STOPPED))
    switch = card.findChild(Switch)
    assert isinstance(switch, Switch)
    switch.click()
    card.set_server(server("a", ServerState.STOPPED, calls_today=1))
    assert switch.isChecked()
    assert heard.wishes == [("start", "a")]
    card.set_server(server("a", ServerState.STARTING))
    assert switch.isChecked()


async def test_a_refused_start_puts_the_switch_back_and_says_why_on_the_card(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.STOPPED)]), theme) as desk:
        desk.engine.failures["start_server"] = TooltrayError("command 'npx' not found", "", "Install Node.js")
        await until(lambda: desk.page.server_list.cards)
        card = desk.card("a")
        switch = card.findChild(Switch)
        assert isinstance(switch, Switch)
        QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
        assert switch.isChecked()
        await until(lambda: "Command 'npx' not found" in drawn(card))
        assert "Install Node.js" in drawn(card)
        assert not switch.isChecked()


def test_the_built_in_server_has_no_switch_and_cannot_be_removed(make_card: MakeCard, wishes: ServerWishes) -> None:
    card = make_card(BUILTIN)
    switch = card.findChild(Switch)
    assert isinstance(switch, Switch)
    assert not switch.isVisible()
    control(card, "More for hub").click()
    assert menu_texts(card) == ["Log"]


def menu(card: ServerCard) -> QMenu:
    found = card.findChild(QMenu)
    assert isinstance(found, QMenu)
    return found


def menu_texts(card: ServerCard) -> list[str]:
    texts = [action.text() for action in menu(card).actions() if action.text()]
    menu(card).close()
    return texts


def test_the_menu_offers_what_can_be_done_with_a_server(make_card: MakeCard, wishes: ServerWishes) -> None:
    heard = Heard(wishes)
    card = make_card(server("a", is_default=True, tool_count=2))
    control(card, "More for a").click()
    for action in menu(card).actions():
        action.trigger()
    assert heard.wishes == [("restart", "a"), ("log", "a"), ("stop", "a"), ("removal", "a")]
    assert menu_texts(card) == ["Restart", "Edit…", "Log", "Try a tool…", "Stop", "Remove"]
    whole = ServerMenu(card._theme, card.server, wishes, card)
    assert {"Open", "Rename…", "Duplicate…", "Options…", "Copy settings entry"} < {action.text() for action in whole.actions()}


async def test_a_server_that_the_settings_switched_off_is_switched_on_and_started(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.STOPPED, is_disabled=True)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.card("a").findChild(Switch).click()
        await desk.asked("start_server", "a")
        assert ("update_mcp_server", "a", {"command": "npx", "disable": False}) in desk.engine.calls


async def test_the_switch_of_a_server_that_stops_because_nobody_uses_it_stays_on(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", idle_stop_s=300)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        for state in (ServerState.STOPPING, ServerState.ON_DEMAND):
            desk.engine.set_state("a", state)
            await until(lambda state=state: desk.card("a").server.state is state)
            assert desk.card("a").findChild(Switch).isChecked()


async def test_the_switch_of_a_server_that_was_stopped_elsewhere_follows_in_the_end(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        for state in (ServerState.STOPPING, ServerState.STOPPED):
            desk.engine.set_state("a", state)
        await until(lambda: desk.card("a").server.state is ServerState.STOPPED)
        assert not desk.card("a").findChild(Switch).isChecked()


def test_of_a_server_that_a_program_wants_only_looking_and_refusing_is_offered(make_card: MakeCard, wishes: ServerWishes) -> None:
    asked: list[tuple[str, str]] = []
    wishes.trust_requested.connect(lambda name: asked.append(("trust", name)))
    wishes.refusal_requested.connect(lambda name: asked.append(("refuse", name)))
    card = make_card(replace(server("a"), state=ServerState.WAITING, origin="proposal", waiting=True, tool_count=0))
    control(card, "Look, a").click()
    menu = ServerMenu(card._theme, card.server, wishes, card)
    assert [action.text() for action in menu.actions()] == ["Look at what waits…", "Decline"]
    for action in menu.actions():
        action.trigger()
    assert asked == [("trust", "a"), ("trust", "a"), ("refuse", "a")]


def test_a_running_server_with_a_change_that_waits_offers_to_look_at_it(make_card: MakeCard) -> None:
    card = make_card(replace(server("a"), waiting=True, tool_count=3))
    assert foot(replace(server("a"), waiting=True), None, NOW).action is Action.TRUST
    assert control(card, "Look, a").isVisible()


def test_the_keyboard_switches_a_card_opens_it_and_opens_its_menu(make_card: MakeCard, wishes: ServerWishes) -> None:
    heard, card, opened = Heard(wishes), make_card(server("a")), list[Destination]()
    wishes.place_requested.connect(opened.append)
    name = control(card, "a, Connected")
    QTest.keyClick(name, Qt.Key.Key_Space)
    assert (heard.wishes, opened) == ([("stop", "a")], [])
    QTest.keyClick(name, Qt.Key.Key_Return)
    assert opened == [OpenServer("a")]
    QTest.keyClick(name, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    assert "Restart" in menu_texts(card)
    card.findChild(QMenu).deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QApplication.sendEvent(name, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(1, 1), QPoint(1, 1)))
    assert "Restart" in menu_texts(card)


async def test_a_card_that_has_the_keyboard_has_a_ring_around_it(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        card = desk.card("a")
        control(card, "a, Connected").setFocus(Qt.FocusReason.TabFocusReason)
        assert card.grab().toImage().pixelColor(card.width() // 2, 1) == theme.color("accent")
        control(card, "Use a").setFocus(Qt.FocusReason.TabFocusReason)
        assert card.grab().toImage().pixelColor(card.width() // 2, 1) != theme.color("accent")


def test_a_server_that_runs_and_failed_at_something_shows_the_failure_with_its_shape(make_card: MakeCard) -> None:
    card = make_card(server("a"))
    card.show_problem(PROBLEM)
    assert drawn(card).splitlines()[1:] == ["Command not found", "Install it. Looked in /bin."]
    assert card._badge._look.icon == "state-error"
    card.set_server(server("a", problem=PROBLEM, calls_today=1))
    card.show_problem(None)
    assert card._badge._look.icon == "state-waiting"


def test_how_much_a_server_is_used_is_said_in_calls_and_the_usual_time() -> None:
    assert traffic(server("a", calls_today=1)) == "1 call today"
    assert traffic(server("a", calls_today=1200, p50_ms=0.4)) == "1,200 calls today · < 1 ms"


@pytest.mark.parametrize(("value", "text"), [(0.4, "< 1"), (1.0, "1"), (2.04, "2"), (12.3, "12"), (1234.5, "1,234")])
def test_durations_are_whole_milliseconds(value: float, text: str) -> None:
    assert milliseconds(value) == text


def test_a_card_names_the_package_and_has_the_whole_command_as_its_tooltip(make_card: MakeCard) -> None:
    card = make_card(server("a", target="npx -y @scope/pkg"))
    label = next(each for each in card.findChildren(QLabel) if "pkg" in each.accessibleName())
    assert (label.accessibleName(), label.toolTip()) == ("@scope/pkg", "stdio · npx -y @scope/pkg")


def test_tools_that_ask_say_so(theme: Theme) -> None:
    table = ToolTable(theme, "a")
    table.set_tools([tool("delete", "a", category="write", is_approved=False), tool("write", "a", category="write"), tool("read", "a")])
    assert [cells(table.table, row)[1] for row in range(3)] == ["Asks first", "Writes", "Reads"]


def test_tools_that_ask_say_what_applies_now_as_access_does(theme: Theme) -> None:
    table = ToolTable(theme, "a")
    table.set_tools([tool("delete", "a", category="write", is_approved=False)])
    by_rule = ToolRow("a", ToolPermission("delete", "write", "default", False, "", call_rules=("delete, where x is 1",)), True)
    table.set_approvals({by_rule.key: by_rule})
    assert cells(table.table, 0)[1] == applies_now(by_rule)[0] == "Asks, except by a rule"


def test_the_column_of_kinds_is_as_wide_as_its_widest_word_so_that_names_have_the_rest(theme: Theme) -> None:
    tools = ToolTable(theme, "a")
    tools.set_tools([tool("read", "a"), tool("delete", "a", category="write", is_approved=False)])
    asks = theme.metrics("caption_strong").horizontalAdvance("Asks first")
    assert asks + px(CHIP_EDGES) < tools.table.columnWidth(1) < asks + px(CHIP_EDGES + 2 * PADDING)
    by_rule = ToolRow("a", ToolPermission("delete", "write", "default", False, "", call_rules=("delete, where x is 1",)), True)
    tools.set_approvals({by_rule.key: by_rule})  # its words are longer: they are not cut
    longer = theme.metrics("caption_strong").horizontalAdvance("Asks, except by a rule")
    assert longer + px(CHIP_EDGES) <= tools.table.columnWidth(1) <= px(KIND_WIDTH)
    tools.set_tools([tool("read", "a")])
    assert tools.table.columnWidth(1) == px(LEAST_KIND)


def test_the_pointer_lights_the_whole_row(theme: Theme) -> None:
    tools = ToolTable(theme, "a")
    tools.set_tools([tool("one", "a"), tool("two", "a")])
    table = tools.table
    table.resize(600, 2 * TWO_LINES_HEIGHT)
    plain = table.grab().toImage()
    QApplication.sendEvent(table.viewport(), moved(table.visualRect(table.model().index(1, 0)).center()))
    assert table.hovered_row == 1
    lit = table.grab().toImage()
    changed = {x for x in range(plain.width()) if plain.pixel(x, TWO_LINES_HEIGHT + 2) != lit.pixel(x, TWO_LINES_HEIGHT + 2)}
    assert len(changed) > table.viewport().width() * 0.9
    QApplication.sendEvent(table.viewport(), QEvent(QEvent.Type.Leave))
    assert table.hovered_row == -1


def moved(to: QPoint) -> QMouseEvent:
    place = QPointF(to)
    return QMouseEvent(
        QEvent.Type.MouseMove, place, place, Qt.MouseButton.NoButton, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    )


def test_a_click_anywhere_on_a_card_opens_its_server_and_one_on_a_control_does_not(make_card: MakeCard, wishes: ServerWishes) -> None:
    card, opened = make_card(server("a", ServerState.STOPPED)), list[Destination]()
    wishes.place_requested.connect(opened.append)
    inside, left = QPoint(200, HEIGHT - 12), Qt.MouseButton.LeftButton
    QTest.mouseClick(card, left, pos=inside)
    assert opened == [OpenServer("a")]
    QTest.mouseClick(card, Qt.MouseButton.RightButton, pos=inside)
    QTest.mousePress(card, left, pos=inside)
    QTest.mouseRelease(card, left, pos=QPoint(200, HEIGHT + 40))
    QTest.mouseClick(card._switch, left)
    assert opened == [OpenServer("a")]
