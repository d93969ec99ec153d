"""Notifications: of the kinds that a person wants, not the same twice, with nothing in them that is nobody's business; a click leads on."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.test_tray import approval

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ElicitationAsked, GrantsChanged, ProblemReported, ReleaseNewsChanged, ServerStarted
from tooltray.foundation.snapshots.approvals import ConfirmationSnapshot, ToolChange
from tooltray.foundation.snapshots.discovery import RegistryUpdate
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.foundation.snapshots.questions import ElicitationSnapshot, FeedbackSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.kit.destinations import Destination, OpenServer, Settings
from tooltray.ui.shell.news_teller import LONGEST_TEXT, SAME_WITHIN_S, NewsTeller, Notifications
from tooltray.ui.theme import Theme


class Panel(QObject):
    """Stands for the tray: what the desktop was given to show."""

    message_clicked = Signal()
    open_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[tuple[str, str]] = []
        self.opened = 0
        self.open_requested.connect(self._on_open)

    def notify(self, title: str, text: str) -> None:
        self.shown.append((title, text))

    tell = notify

    def _on_open(self) -> None:
        self.opened += 1


class Windows:
    """Where notifications lead."""

    def __init__(self) -> None:
        self.looks = False
        self.went: list[Destination | str] = []

    def is_in_front(self) -> bool:
        return self.looks

    def go(self, destination: Destination) -> None:
        self.went.append(destination)

    def show_approvals(self) -> None:
        self.went.append("approvals")

    def show_confirmations(self) -> None:
        self.went.append("confirmations")

    def show_feedback(self) -> None:
        self.went.append("feedback")


class Told:
    def __init__(self, desk: Desk) -> None:
        self.panel, self.windows, self.said = Panel(), Windows(), set[str]()
        self.chosen: Mapping[str, bool] = {}
        self.now = 0.0
        self.notifications = Notifications(self.panel, chosen=lambda: self.chosen, now=lambda: self.now)  # type: ignore[arg-type]
        self.teller = NewsTeller(self.notifications, self.windows, hub=desk.hub, tasks=desk.tasks, is_first=self._is_first)

    def _is_first(self, key: str) -> bool:
        is_first = key not in self.said
        self.said.add(key)
        return is_first

    async def next(self) -> str:
        """The title of the next one."""
        await until(lambda: self.panel.shown)
        return self.panel.shown.pop(0)[0]

    def click(self) -> Destination | str:
        self.panel.message_clicked.emit()
        return self.windows.went.pop()


BAD = server("bad", ServerState.ERROR, problem=Problem("x"))


async def test_each_kind_says_whose_it_is_and_a_click_leads_there(theme: Theme) -> None:
    engine = FakePresenter([server("git"), server("linear", ServerState.NEEDS_SIGN_IN)])
    engine.registry_updates = [RegistryUpdate("git", "io.example/git", "1.0", "1.1")]
    async with Desk(engine, theme) as desk:
        told = Told(desk)
        told.teller.begin()
        assert await told.next() == "Update available: git"
        assert told.click() == OpenServer("git")
        printed = Problem("'git' ended with exit code 1", "last line: token=s3cret", "Look at its log")
        engine.bus.publish(ProblemReported(printed, "git"))
        await until(lambda: told.panel.shown)
        assert told.panel.shown == [("'git' ended with exit code 1", "Look at its log.")]
        told.panel.shown.clear()
        assert told.click() == OpenServer("git")
        engine.bus.publish(ProblemReported(Problem("401"), "linear"))
        assert await told.next() == "linear wants you to sign in"
        told.teller.on_approvals([approval("1", project="/srv/shop", arguments='{"path": "/etc/passwd"}')])
        assert told.panel.shown == [("Claude Code wants to use read_file", "files · shop")]
        assert told.click() == "approvals"
        told.panel.shown.clear()
        told.teller.on_approvals([approval("1", project="/srv/shop"), approval("2", is_quiet=True)])
        assert told.panel.shown == []  # the last questions of its client were not answered
        engine.bus.publish(ElicitationAsked(ElicitationSnapshot("q", "files", "form", "Your password?", 0.0)))
        assert await told.next() == "files asks you something"
        told.panel.message_clicked.emit()
        assert told.panel.opened == 1
        told.teller.on_confirmations([ConfirmationSnapshot("c", "A yes", "add_grant", (), (), "", 0.0)])
        told.teller.on_confirmations([ConfirmationSnapshot("c", "A yes", "add_grant", (), (), "", 0.0, count=2)])
        assert await told.next() == "A command asks for permission"
        assert (told.click(), told.panel.shown) == ("confirmations", [])
        told.teller.on_feedback_asked(FeedbackSnapshot("f", "Codex", "", "", "", 0.0, 0.0))
        assert await told.next() == "Codex has finished a step"
        assert told.click() == "feedback"


async def test_a_tool_that_changes_is_told_once_and_those_that_had_changed_before_are_not(theme: Theme) -> None:
    engine = FakePresenter([server("git")])
    engine.tool_changes = [ToolChange("git", "old", ())]
    async with Desk(engine, theme) as desk:
        told = Told(desk)
        told.teller.begin()
        await desk.asked("get_tool_changes")
        await until(lambda: not len(desk.tasks))
        engine.tool_changes.append(ToolChange("git", "push", ()))
        engine.bus.publish(GrantsChanged())
        assert await told.next() == "push of git has changed"
        engine.bus.publish(GrantsChanged())
        await until(lambda: sum(call[0] == "get_tool_changes" for call in engine.calls) >= 3)
        await until(lambda: not len(desk.tasks))
        assert not told.panel.shown


async def test_who_looks_at_the_window_is_told_by_it_and_a_failure_is_told_again_once_it_had_run(theme: Theme) -> None:
    engine = FakePresenter([BAD])
    async with Desk(engine, theme) as desk:
        told = Told(desk)
        told.windows.looks = True
        told.teller.on_approvals([approval("1")])
        engine.bus.publish(ProblemReported(Problem("a"), "bad"))
        await until(lambda: told.teller._told)
        assert not told.panel.shown
        told.windows.looks = False
        engine.bus.publish(ServerStarted("bad"))
        engine.bus.publish(ProblemReported(Problem("a"), "bad"))
        assert await told.next() == "bad: A"


async def test_the_same_is_not_told_twice_within_a_minute_and_never_what_a_person_does_not_want(theme: Theme) -> None:
    async with Desk(FakePresenter([]), theme) as desk:
        told = Told(desk)
        for told.now in (0.0, SAME_WITHIN_S - 1, SAME_WITHIN_S + 1):
            told.notifications.send("failed", "t", "x")
        assert len(told.panel.shown) == 2
        told.chosen = {"failed": False}
        told.notifications.send("failed", "other", "x")
        told.notifications.send("", "the hub is gone", "x")
        assert told.panel.shown[2:] == [("the hub is gone", "x")]


async def test_texts_of_servers_are_one_line_of_plain_text(theme: Theme) -> None:
    async with Desk(FakePresenter([]), theme) as desk:
        told = Told(desk)
        told.notifications.send("failed", "<b>bold</b>\u202e\x1b[31m", "line\n" * 500)
        title, text = told.panel.shown[0]
        assert title == "‹b>bold‹/b>  [31m"
        assert "\n" not in text
        assert len(text) == LONGEST_TEXT


@pytest.mark.parametrize("count", [1, 2])
async def test_calls_that_wait_are_told_once_each(theme: Theme, count: int) -> None:
    async with Desk(FakePresenter([]), theme) as desk:
        told = Told(desk)
        for _ in range(2):
            told.teller.on_approvals([approval(str(number)) for number in range(count)])
        assert len(told.panel.shown) == 1


async def test_a_newer_version_and_a_withdrawn_one_are_notified_once_each(theme: Theme) -> None:
    newer = ReleaseNews("https://releases.example/releases.json", True, version="1.3.0", update="Run: pip install it")
    async with Desk(FakePresenter([server("git")]), theme) as desk:
        told = Told(desk)
        desk.engine.bus.publish(ReleaseNewsChanged(newer))
        assert await told.next() == "Tooltray 1.3.0 is available"
        assert told.click() == Settings("about")
        told.now += SAME_WITHIN_S
        desk.engine.bus.publish(ReleaseNewsChanged(replace(newer, checked_at=1.0)))
        desk.engine.bus.publish(ReleaseNewsChanged(replace(newer, checked_at=2.0, withdrawn="It loses settings")))
        await until(lambda: told.panel.shown)
        version = desk.hub.snapshot.version
        assert told.panel.shown == [(f"Tooltray {version} was withdrawn", "It loses settings")]
        told.panel.shown.clear()
        told.now += SAME_WITHIN_S
        desk.engine.bus.publish(ReleaseNewsChanged(replace(newer, checked_at=3.0, withdrawn="It loses settings")))
        desk.engine.bus.publish(ReleaseNewsChanged(replace(newer, checked_at=3.0, version="1.4.0", withdrawn="It loses settings")))
        assert await told.next() == "Tooltray 1.4.0 is available"
        assert told.panel.shown == []
        desk.hub.forget()
