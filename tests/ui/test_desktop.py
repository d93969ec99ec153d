"""The desktop's life: first the picture, then the engine; failures are shown, and every end is an orderly one with its exit code."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QFileOpenEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QSystemTrayIcon, QWidget
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.scenes.shown_files import DEPLOY
from tests.ui.seen import control, words

from tooltray import __version__
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ElicitationAsked, ProblemReported, ServerFilesChanged, ServerStarted
from tooltray.foundation.preferences import Preferences
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.clients import SessionSnapshot
from tooltray.foundation.snapshots.questions import ElicitationSnapshot, FeedbackSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.approval.prompts import ApprovalPrompt, ConfirmationPrompt
from tooltray.ui.feedback.feedback_windows import FeedbackWindows
from tooltray.ui.kit.destinations import Settings
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.link.link import EngineLink
from tooltray.ui.shell.app_links import OpenedAddresses
from tooltray.ui.shell.appearance import Appearance
from tooltray.ui.shell.desktop import Desktop, GarbageCollector, Start, Windows
from tooltray.ui.shell.hub_status import hub_words
from tooltray.ui.shell.main_window import MainWindow, QuitPanel, who
from tooltray.ui.shell.sidebar import NavItem
from tooltray.ui.shell.tray import Tray
from tooltray.ui.theme import Theme, system_mode
from tooltray.ui.widgets.toast import Toast
from tooltray.ui.zoom import zoom

FAILURE = Problem("the disk is full", "settings.json", "Free some space")


class FakeEngine:
    """An engine that does what a test says, in place of a thread."""

    def __init__(self, desktop: Desktop, *, ends_when_asked: bool) -> None:
        self.desktop, self._ends_when_asked = desktop, ends_when_asked
        self.presenter = FakePresenter([server("a")])
        self.asked_to_stop = ""

    def start(self) -> None:
        loop = asyncio.get_running_loop()

        def attach(link: EngineLink) -> None:
            link.attach(self.presenter.verbs, self.presenter.bus, loop)

        self.desktop.on_engine_started(attach)

    def fail(self, problem: Problem = FAILURE) -> None:
        self.desktop.on_engine_ended("failure", problem)

    def end(self, reason: str) -> None:
        self.desktop.on_engine_ended(reason, None)

    def request_stop(self, reason: str) -> None:
        self.asked_to_stop = reason
        if self._ends_when_asked:
            self.end(reason)


class Life:
    """A desktop that runs over fake engines."""

    def __init__(self, app: QApplication, theme: Theme, *, hidden: bool = False, ends_when_asked: bool = True, link: str = "") -> None:
        self.desk = Desk(FakePresenter(), theme)
        self.engines: list[FakeEngine] = []
        self._ends_when_asked = ends_when_asked
        self.tray = Tray(theme, self.desk.hub, self.desk.wishes, self.desk.tasks)
        self.window = self.desk.window
        self.approvals = ApprovalPrompt(theme, hub=self.desk.hub, tasks=self.desk.tasks)
        self.confirmations = ConfirmationPrompt(theme, hub=self.desk.hub, tasks=self.desk.tasks)
        self.feedback = FeedbackWindows(theme, hub=self.desk.hub, tasks=self.desk.tasks)
        self.seen_at_start: list[bool] = []
        self.said: list[str] = []  # what was to be said once
        self.may_build = asyncio.Event()
        self.may_build.set()
        start = Start(
            build_windows=self._build_windows,
            build_main=self._build_main,
            start_engine=self._start_engine,
            read_entry=lambda: "{the entry}",
            is_first=self._is_first,
            hidden=hidden,
            link=link,
        )
        desk = self.desk
        self.appearance = Appearance(app, theme, chosen=Preferences(language="en", theme="light"))
        self.appearance.follow(desk.hub, desk.tasks)
        parts = {"link": desk.link, "hub": desk.hub, "tasks": desk.tasks, "tray": self.tray}
        self.desktop = Desktop(app, appearance=self.appearance, start=start, **parts)
        self.code: asyncio.Future[int] = asyncio.ensure_future(self.desktop.run())

    async def _build_windows(self) -> Windows:
        await self.may_build.wait()
        return Windows(self.window, self.approvals, self.confirmations, self.feedback)

    def _build_main(self) -> MainWindow:
        self.window = self.desk.make_window()
        return self.window

    def _is_first(self, key: str) -> bool:
        self.said.append(key)
        return self.said.count(key) == 1

    def _start_engine(self, desktop: Desktop) -> FakeEngine:
        self.seen_at_start.append(self.window._is_painted)
        self.engines.append(FakeEngine(desktop, ends_when_asked=self._ends_when_asked))
        return self.engines[-1]

    @property
    def words(self) -> str:
        return "\n".join(label.text() for label in self.window.findChildren(QLabel) if label.isVisibleTo(self.window))

    async def running(self) -> FakeEngine:
        await until(lambda: self.engines)
        self.engines[-1].start()
        await until(lambda: "Tooltray is running" in self.words)
        await until(lambda: not len(self.desk.tasks))  # what is asked of an engine at first
        return self.engines[-1]


@pytest.fixture
async def live(app: QApplication, theme: Theme) -> AsyncIterator[Callable[..., Life]]:
    lives: list[Life] = []

    def make(**options: Any) -> Life:
        lives.append(Life(app, theme, **options))
        return lives[-1]

    yield make
    for life in lives:
        if not life.code.done():
            life.desktop._finish(0)
            await life.code


async def test_the_engine_starts_after_the_window_has_been_painted(live: Callable[..., Life]) -> None:
    life = live()
    await until(lambda: life.engines)
    assert life.window.isVisible()
    assert life.seen_at_start == [True]


async def test_the_tray_is_there_before_the_windows_and_quits_without_them(live: Callable[..., Life]) -> None:
    life = live()
    life.may_build.clear()
    await until(lambda: life.tray._icon.isVisible())
    life.tray.menu.quit_requested.emit()
    life.may_build.set()
    assert await life.code == 0
    assert not life.engines


async def test_a_click_before_there_is_a_window_shows_it_once_it_is_built(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))
    life = live(hidden=True)
    life.may_build.clear()
    await until(lambda: life.tray._icon.isVisible())
    life.tray.open_requested.emit()
    life.may_build.set()
    await until(lambda: life.engines)
    assert life.window.isVisible()


async def test_without_a_tray_the_window_says_what_closing_means_and_hidden_is_not_obeyed(live: Callable[..., Life]) -> None:
    life = live(hidden=True)
    await until(lambda: life.engines)
    assert life.window.isVisible()
    toasts = [(toast.tone, toast.text) for toast in life.window.findChildren(Toast)]
    assert toasts == [("warning", "This desktop has no tray. Closing the window ends Tooltray.")]


async def test_hidden_shows_no_window_where_there_is_a_tray(live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))
    life = live(hidden=True)
    await life.running()
    assert not life.window.isVisible()
    life.tray.open_requested.emit()
    assert life.window.isVisible()


async def test_quit_stops_the_engine_first_and_ends_with_0(live: Callable[..., Life]) -> None:
    life = live(ends_when_asked=False)
    engine = await life.running()
    life.tray.menu.quit_requested.emit()
    assert engine.asked_to_stop == "quit"
    await until(lambda: "Tooltray is ending" in life.words)
    assert not life.code.done()
    heard = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, heard.set)
    os.kill(os.getpid(), signal.SIGTERM)  # what came first decides
    os.kill(os.getpid(), signal.SIGUSR1)
    await heard.wait()
    asyncio.get_running_loop().remove_signal_handler(signal.SIGUSR1)
    assert engine.asked_to_stop == "quit"
    engine.end("quit")
    assert await life.code == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_signals_end_it_in_order_with_their_exit_code(live: Callable[..., Life], number: int, code: int) -> None:
    life = live()
    engine = await life.running()
    os.kill(os.getpid(), number)
    assert await life.code == code
    assert engine.asked_to_stop


async def test_a_signal_while_the_engine_starts_ends_it_too(live: Callable[..., Life]) -> None:
    life = live()
    await until(lambda: life.engines)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await life.code == 143


@pytest.mark.parametrize("reason", ["stop", "hand_over", "raised"])
async def test_an_engine_that_was_told_to_end_ends_the_app_with_0(live: Callable[..., Life], reason: str) -> None:
    life = live()
    engine = await life.running()
    engine.end(reason)
    assert await life.code == 0


async def test_an_engine_that_ends_for_no_known_reason_is_a_failure(live: Callable[..., Life]) -> None:
    life = live()
    engine = await life.running()
    engine.end("failure")
    assert await life.code == 1


async def test_an_engine_that_cannot_start_is_explained_and_can_be_tried_again(live: Callable[..., Life]) -> None:
    life = live()
    await until(lambda: life.engines)
    life.engines[0].fail()
    await until(lambda: "The disk is full" in life.words)
    assert "Tooltray is not running" in life.words
    next(each for each in life.window.findChildren(QPushButton) if each.text() == "Try again").click()
    assert len(life.engines) == 2
    await life.running()
    assert "The disk is full" not in life.words
    assert life.desk.page.server_list.cards


async def test_an_app_without_an_engine_ends_at_once(live: Callable[..., Life]) -> None:
    life = live()
    await until(lambda: life.engines)
    life.engines[0].fail()
    await until(lambda: "The disk is full" in life.words)
    life.window.quit_requested.emit()
    assert await life.code == 0


async def test_an_engine_that_fails_later_takes_its_servers_off_the_page(live: Callable[..., Life]) -> None:
    life = live()
    engine = await life.running()
    await until(lambda: life.desk.page.server_list.cards)
    engine.fail()
    await until(lambda: "The disk is full" in life.words)
    assert life.desk.servers.servers == ()


async def test_a_failure_behind_a_closed_window_is_told_by_the_tray(live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))
    monkeypatch.setattr(Tray, "notify", lambda _self, title, text: told.append((title, text)))
    life = live(hidden=True)
    await until(lambda: life.engines)
    life.engines[0].fail()
    await until(lambda: told)
    assert told[0][0] == "The disk is full"
    assert not life.window.isVisible()


async def test_a_question_shows_a_hidden_window_quietly_and_is_told_by_the_tray(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))
    monkeypatch.setattr(Tray, "notify", lambda _self, title, text: told.append((title, text)))
    life = live(hidden=True)
    await until(lambda: life.engines)
    engine = life.engines[0]
    engine.start()
    await until(lambda: life.desk.hub.snapshot and not len(life.desk.tasks))
    engine.presenter.bus.publish(ElicitationAsked(ElicitationSnapshot("1", "files", "form", "<b>Now</b>", 0.0)))
    await until(lambda: told)
    assert told == [("files asks you something", "Its question is in Tooltray's window.")]
    assert life.window.isVisible()
    assert life.window.sheet is not None
    assert not life.window.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)


async def test_taking_over_is_said(live: Callable[..., Life]) -> None:
    life = live()
    await until(lambda: life.engines)
    life.desktop.on_taking_over()
    await until(lambda: "Another Tooltray is quitting" in life.words)


async def test_a_second_start_raises_the_window(live: Callable[..., Life]) -> None:
    life = live()
    await life.running()
    life.window.hide()
    life.desktop.on_raise_window("")
    await until(life.window.isVisible)


async def test_an_address_that_is_opened_shows_its_server_and_changes_nothing(live: Callable[..., Life]) -> None:
    life = live()
    await life.running()
    calls = life.engines[-1].presenter.calls
    asked = len(calls)
    life.window.hide()
    life.window.open_page("settings")
    life.desktop.on_raise_window("tooltray://servers/a")
    await until(lambda: life.desk.page.details and life.desk.page.details.server.name == "a")
    assert life.window.isVisible()
    assert life.desk.page.isVisible()
    await until(lambda: not len(life.desk.tasks))
    assert all(call[0].startswith("get_") for call in calls[asked:])


async def test_an_address_with_which_it_was_started_waits_for_its_server(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))
    life = live(hidden=True, link="tooltray://servers/a")
    await life.running()
    await until(lambda: life.desk.page.details and life.desk.page.details.server.name == "a")
    assert life.window.isVisible()


@pytest.fixture
def hears_addresses(app: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on macOS; no event of a later test passes the filter."""
    monkeypatch.setattr("tooltray.ui.shell.desktop.HEARS_ADDRESSES", True)
    yield
    for each in app.findChildren(OpenedAddresses):
        app.removeEventFilter(each)


@pytest.mark.usefixtures("hears_addresses")
async def test_macos_hands_over_addresses_while_it_runs_and_before_there_is_a_window(live: Callable[..., Life], app: QApplication) -> None:
    life = live()
    life.may_build.clear()
    await until(lambda: life.tray._icon.isVisible())
    opened = QUrl("tooltray://servers/a")
    QApplication.sendEvent(app, QFileOpenEvent(opened))
    life.may_build.set()
    await life.running()
    await until(lambda: life.desk.page.details and life.desk.page.details.server.name == "a")
    life.window.hide()
    QApplication.sendEvent(app, QFileOpenEvent(opened))
    assert life.window.isVisible()
    life.window.hide()
    QApplication.sendEvent(app, QFileOpenEvent(QUrl("file:///etc/passwd")))
    assert not life.window.isVisible()


@pytest.mark.usefixtures("hears_addresses")
async def test_macos_opens_the_app_again_and_it_shows_its_window(
    live: Callable[..., Life], app: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))
    life = live(hidden=True)
    life.may_build.clear()
    await until(lambda: life.tray._icon.isVisible())
    app.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)  # macOS does this at each start
    life.may_build.set()
    await life.running()
    assert not life.window.isVisible()
    app.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert life.window.isVisible()


async def test_the_entry_for_ai_clients_is_copied(live: Callable[..., Life]) -> None:
    life = live()
    await life.running()
    next(each for each in life.window.findChildren(QPushButton) if each.text() == "Copy entry for a client").click()
    assert QGuiApplication.clipboard().text() == "{the entry}"


@pytest.mark.expected_warnings("seven", "nothing caught an error", "a handler failed")
async def test_a_bug_anywhere_is_logged_and_shown_once_and_the_rest_goes_on(live: Callable[..., Life]) -> None:
    life = live()
    await life.running()
    error = ZeroDivisionError("seven")
    sys.excepthook(ZeroDivisionError, error, None)
    asyncio.get_running_loop().call_exception_handler({"message": "seven", "exception": error})
    logging.getLogger("tooltray.foundation.tasks").error("a handler failed", exc_info=error)  # as the engine's thread does
    await until(lambda: "Tooltray hit a bug. Your servers keep running." in life.words)
    assert "ZeroDivisionError" not in life.words
    assert "more notice" not in life.words
    assert not life.code.done()
    control(life.window, "Copy report").click()
    report = QGuiApplication.clipboard().text()
    assert report.startswith(f"Tooltray {__version__}, Python ")
    assert "ZeroDivisionError: seven" in report


@pytest.mark.expected_warnings("expected")
async def test_what_was_to_be_expected_is_no_bug(live: Callable[..., Life]) -> None:
    life = live()
    await life.running()
    logging.getLogger("tooltray.foundation.tasks").error("expected", exc_info=TooltrayError("the disk is full"))
    logging.getLogger("tooltray.foundation.tasks").error("expected")
    await asyncio.sleep(0)
    assert "hit a bug" not in life.words


def test_the_foot_says_every_phase() -> None:
    words = {phase: hub_words(phase, None)[0].word for phase in HubPhase}
    assert words[HubPhase.FAILED] == "Tooltray is not running"
    assert words[HubPhase.ENDING] == "Tooltray is ending"
    assert words[HubPhase.STARTING] == words[HubPhase.TAKING_OVER] == words[HubPhase.RUNNING] == "Tooltray is starting"


# what is told while nobody looks


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Titles and texts of notifications."""
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))
    monkeypatch.setattr(Tray, "notify", lambda _self, title, text: found.append((title, text)))
    return found


async def hidden(live: Callable[..., Life]) -> tuple[Life, FakePresenter]:
    """A desktop whose window is hidden, with its engine's servers."""
    life = live(hidden=True)
    await until(lambda: life.engines)
    life.engines[0].start()
    await until(lambda: life.desk.hub.snapshot and not len(life.desk.tasks))
    return life, life.engines[0].presenter


MISSING = Problem("command 'npx' not found", "looked in /bin", "Install Node.js")


async def test_a_failed_launch_is_told_with_its_server_and_what_to_do(live: Callable[..., Life], told: list[tuple[str, str]]) -> None:
    _, presenter = await hidden(live)
    presenter.bus.publish(ProblemReported(MISSING, "a"))
    await until(lambda: told)
    assert told == [("a: Command 'npx' not found", "Install Node.js.")]


async def test_a_problem_that_says_whose_it_is_is_not_told_with_the_name_twice(
    live: Callable[..., Life], told: list[tuple[str, str]]
) -> None:
    _, presenter = await hidden(live)
    presenter.bus.publish(ProblemReported(Problem("'a' did not answer"), "a"))
    await until(lambda: told)
    assert told == [("'a' did not answer", "The Tooltray window has the details.")]


async def test_the_same_problem_is_told_once_until_the_server_has_run_again(live: Callable[..., Life], told: list[tuple[str, str]]) -> None:
    _, presenter = await hidden(live)
    other = Problem("it ended with exit code 1")
    for event in (
        ProblemReported(MISSING, "a"),
        ProblemReported(MISSING, "a"),
        ProblemReported(MISSING, "b"),
        ProblemReported(other, "a"),
        ServerStarted("a"),
        ProblemReported(other, "a"),  # within a minute
        ServerStarted("a"),
        ProblemReported(Problem("it hangs"), "a"),
    ):
        presenter.bus.publish(event)
    await until(lambda: len(told) >= 4)
    names = ["a: Command 'npx' not found", "b: Command 'npx' not found", "a: It ended with exit code 1", "a: It hangs"]
    assert [title for title, _ in told] == names


async def test_a_sign_in_that_is_needed_is_told_as_one(live: Callable[..., Life], told: list[tuple[str, str]]) -> None:
    _, presenter = await hidden(live)
    problem = Problem("'a' lets nobody in", "the sign-in has expired", "Press 'Sign in'")
    presenter.set_state("a", ServerState.NEEDS_SIGN_IN, problem=problem)
    presenter.bus.publish(ProblemReported(problem, "a"))
    await until(lambda: told)
    assert told == [("a wants you to sign in", "Press 'Sign in'.")]


async def test_what_happens_before_a_person_s_eyes_is_not_told_again(live: Callable[..., Life], told: list[tuple[str, str]]) -> None:
    life, presenter = await hidden(live)
    life.window.show_up()
    await until(life.window.isActiveWindow)
    presenter.bus.publish(ProblemReported(MISSING, "a"))
    presenter.bus.publish(ProblemReported(Problem("the disk is full")))
    await until(lambda: "The disk is full" in life.words)
    life.window.hide()
    await until(lambda: not life.window.isActiveWindow())
    presenter.bus.publish(ProblemReported(MISSING, "a"))  # still the same
    presenter.bus.publish(ProblemReported(MISSING, "b"))
    await until(lambda: told)
    assert [title for title, _ in told] == ["b: Command 'npx' not found"]


async def test_a_new_engine_s_problems_are_told_anew(live: Callable[..., Life], told: list[tuple[str, str]]) -> None:
    life, presenter = await hidden(live)
    presenter.bus.publish(ProblemReported(MISSING, "a"))
    await until(lambda: told)
    life.engines[0].fail()
    await until(lambda: len(told) == 2)
    life.window.retry_requested.emit()
    life.engines[1].start()
    await until(lambda: life.desk.hub.snapshot and not len(life.desk.tasks))
    life.engines[1].presenter.bus.publish(ProblemReported(MISSING, "a"))
    await until(lambda: len(told) == 3)
    assert told[0] == told[2]


async def test_a_click_on_what_was_told_opens_the_window(live: Callable[..., Life], told: list[tuple[str, str]]) -> None:
    life, _ = await hidden(live)
    icon = life.tray.findChild(QSystemTrayIcon)
    assert isinstance(icon, QSystemTrayIcon)
    icon.messageClicked.emit()
    await until(life.window.isVisible)


async def test_a_call_that_waits_for_a_yes_has_its_own_window_to_which_the_tray_leads(live: Callable[..., Life]) -> None:
    life = live()
    engine = await life.running()
    engine.presenter.ask_approval(ApprovalSnapshot("1", "a", "write", "Cursor", "write", "{}", "It writes.", 0.0, ("once",)))
    await until(lambda: life.approvals.window is not None and "1 call waits" in life.tray._icon.toolTip())
    life.tray.open_requested.emit()
    assert life.approvals.window is not None
    await until(life.approvals.window.isActiveWindow)
    life.desktop._end("quit")
    await until(life.code.done)
    assert life.approvals.window is None


async def test_servers_of_a_project_that_wait_are_told_once_and_the_tray_stays_with_them(
    live: Callable[..., Life], told: list[tuple[str, str]]
) -> None:
    life, presenter = await hidden(live)
    presenter.trust_requests = [DEPLOY]
    presenter.bus.publish(ServerFilesChanged())
    await until(lambda: told)
    text = "A project's own servers run only after you have seen what they start."
    assert told == [("shop brings the server deploy. Allow it?", text)]
    assert "1 server is not allowed yet" in life.tray._icon.toolTip()
    await until(lambda: not len(life.desk.tasks))
    asked = presenter.calls.count(("get_trust_requests", ""))
    presenter.bus.publish(ServerFilesChanged())
    await until(lambda: presenter.calls.count(("get_trust_requests", "")) > asked and not len(life.desk.tasks))
    assert len(told) == 1
    life.desk.projects.put_off()
    assert "not allowed yet" not in life.tray._icon.toolTip()


async def test_a_report_that_waits_is_told_by_the_tray_and_has_its_own_window(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(Tray, "notify", lambda _self, title, text: told.append((title, text)))
    life = live()
    engine = await life.running()
    engine.presenter.ask_feedback(FeedbackSnapshot("1", "Cursor", "/srv/shop", "shop", "Done", 0.0, 0.0))
    await until(lambda: told)
    assert told == [("Cursor has finished a step", "shop: it waits for your answer.")]
    life.tray.open_requested.emit()
    [window] = life.feedback.windows
    await until(window.isActiveWindow)
    life.desktop._end("quit")
    await until(life.code.done)
    assert life.feedback.windows == []


# closing and quitting


async def test_the_first_closing_says_where_the_window_goes_and_later_ones_do_not(live: Callable[..., Life]) -> None:
    life = live()
    await life.running()
    told: list[str] = []
    life.tray.tell = lambda title, text: told.append(f"{title}. {text}")  # type: ignore[method-assign]
    for _ in range(2):
        life.window.close()
        assert not life.window.isVisible()
        life.window.show_up()
    assert told == ["Tooltray stays in the tray. Your servers keep running. To end it, choose Quit in the tray's menu."]
    assert life.said == ["closed", "closed"]


async def connected(life: Life, *clients: str) -> FakeEngine:
    engine = await life.running()
    engine.presenter.sessions = [SessionSnapshot(str(place), client) for place, client in enumerate(clients)]
    engine.presenter.sessions.append(SessionSnapshot("gone", "left long ago", is_connected=False))
    engine.presenter.set_sessions(len(clients))
    await until(lambda: life.desk.hub.snapshot is not None and life.desk.hub.snapshot.session_count == len(clients))
    return engine


async def test_quitting_while_clients_are_connected_says_who_and_asks(live: Callable[..., Life]) -> None:
    life = live()
    engine = await connected(life, "claude-code", "cursor", "cursor")
    life.window.hide()
    life.tray.menu.quit_requested.emit()
    await until(lambda: life.window.sheet is not None)
    assert life.window.isVisible()
    assert "Claude Code, cursor are connected." in life.words
    assert not engine.asked_to_stop
    control(life.window.sheet, "Keep running").click()
    await until(lambda: life.window.sheet is None)
    assert not engine.asked_to_stop
    life.window.quit_requested.emit()
    await until(lambda: life.window.sheet is not None)
    control(life.window.sheet, "Quit").click()
    assert await life.code == 0


async def test_whoever_wants_to_quit_twice_is_not_asked_again(live: Callable[..., Life]) -> None:
    life = live()
    engine = await connected(life, "claude-code")
    life.window.quit_requested.emit()
    await until(lambda: life.window.sheet is not None)
    assert "Claude Code is connected." in life.words
    life.window.quit_requested.emit()
    assert engine.asked_to_stop == "quit"
    assert await life.code == 0


async def test_a_question_to_quit_that_was_closed_is_asked_again(live: Callable[..., Life]) -> None:
    life = live()
    engine = await connected(life, "claude-code")
    for _ in range(2):
        life.window.quit_requested.emit()
        await until(lambda: life.window.sheet is not None)
        life.window.sheet.dismiss()
        await until(lambda: not life.desktop._is_asking_to_quit)
    assert not engine.asked_to_stop


async def test_without_clients_quitting_asks_nothing(live: Callable[..., Life]) -> None:
    life = live()
    await life.running()
    life.window.quit_requested.emit()
    assert await life.code == 0


async def test_an_engine_that_cannot_say_who_is_connected_keeps_nobody_from_quitting(live: Callable[..., Life]) -> None:
    life = live()
    engine = await connected(life, "claude-code")
    engine.presenter.failures["get_sessions"] = TooltrayError("it is ending")
    life.window.quit_requested.emit()
    assert await life.code == 0


@pytest.mark.parametrize(
    ("clients", "text"),
    [
        (["a"], "a is connected."),
        (["a", "b", "a"], "a, b are connected."),
        ([*"abcdefgh"], "a, b, c, d, e, f and 2 more are connected."),
    ],
)
def test_many_clients_are_counted(clients: list[str], text: str) -> None:
    assert who(clients) == text


def test_the_calls_of_one_client_are_its_own(theme: Theme) -> None:
    assert "Its calls end now. Its next call starts Tooltray again." in words(QuitPanel(theme, ["a", "a"]))
    assert "Their calls end now. Their next call starts Tooltray again." in words(QuitPanel(theme, ["a", "b"]))


async def in_english_again(life: Life, engine: FakeEngine) -> None:
    before = life.window
    engine.presenter.change_settings({"language": "en"})
    await until(lambda: life.window is not before and not len(life.desk.tasks))


async def in_chinese(life: Life, engine: FakeEngine) -> None:
    before = life.window
    engine.presenter.change_settings({"language": "zh_TW"})
    await until(lambda: life.window is not before and not len(life.desk.tasks))


async def test_another_language_is_spoken_at_once_in_the_same_place(live: Callable[..., Life]) -> None:
    life = live()
    engine = await life.running()
    before = life.window
    life.window.go(Settings("general"))
    life.window.resize(1000, 700)
    await until(before.isActiveWindow)
    engine.presenter.change_settings({"language": "zh_TW"})
    await until(lambda: life.window is not before and life.window.isVisible())
    await until(life.window.isActiveWindow)
    assert life.window.page("settings").current == "general"
    assert life.window.size().toTuple() == (1000, 700)
    assert life.window.page("settings").is_usable
    assert "伺服器" in [each.text() for each in life.window.findChildren(NavItem)]
    await until(lambda: not isValid(before))
    life.window.hide()
    next(each for each in life.tray.menu.actions() if each.text() == "開啟 Tooltray").trigger()
    await until(life.window.isVisible)
    await in_english_again(life, engine)
    assert "Servers" in [each.text() for each in life.window.findChildren(NavItem)]


async def test_a_window_that_goes_before_its_pages_are_built_leaves_them(live: Callable[..., Life]) -> None:
    life = live()
    await life.running()
    first = life.window
    life.appearance.language_changed.emit()
    await until(lambda: life.window is not first)
    second = life.window
    life.appearance.language_changed.emit()
    await until(lambda: not isValid(second) and not len(life.desk.tasks))


async def test_after_a_change_of_language_an_action_runs_once(live: Callable[..., Life]) -> None:
    life = live()
    engine = await life.running()
    gc.freeze()  # as the program does: what a window leaves behind is not collected
    try:
        await in_chinese(life, engine)
        await in_english_again(life, engine)
    finally:
        gc.unfreeze()
    life.window.context.wishes.restart_requested.emit("a")
    await until(lambda: not len(life.desk.tasks))
    assert engine.presenter.calls.count(("restart_server", "a")) == 1


async def test_windows_that_were_replaced_leave_nothing_behind(live: Callable[..., Life], app: QApplication) -> None:
    life = live()
    engine = await life.running()
    collector = GarbageCollector()  # as the program has it: cycles are collected only now and then
    widgets = list[int]()
    try:
        for _ in range(3):
            await in_chinese(life, engine)
            await in_english_again(life, engine)
            gc.collect()
            await until(lambda: not len(life.desk.tasks))
            widgets.append(len(app.allWidgets()))
    finally:
        collector.deleteLater()
        gc.unfreeze()
        gc.enable()
    assert widgets[1] == widgets[2]


async def test_a_person_at_work_in_a_sheet_keeps_it_and_the_language_changes_afterwards(live: Callable[..., Life]) -> None:
    life = live()
    engine = await life.running()
    before = life.window
    before.context.sheets.open(QWidget())
    engine.presenter.change_settings({"language": "zh_TW"})
    await until(lambda: life.appearance.language == "zh_TW")
    assert life.window is before
    before.sheet.dismiss()
    await until(lambda: life.window is not before)
    await in_english_again(life, engine)


async def test_a_zoom_by_keys_is_shown_said_and_saved(live: Callable[..., Life], app: QApplication, theme: Theme) -> None:
    life = live()
    engine = await life.running()
    for _ in range(2):
        theme.zoom_requested.emit(1)
    assert zoom() == 125
    assert [toast.text for toast in life.window.findChildren(Toast) if toast.isVisible()] == ["Zoom: 125 %"]
    await until(lambda: engine.presenter.get_settings().settings.get("window", {}).get("size") == 125)
    assert zoom() == 125
    engine.presenter.change_settings({"window": {"size": 100}})
    await until(lambda: zoom() == 100)


async def test_the_theme_is_the_chosen_one_whatever_the_system_says(live: Callable[..., Life], app: QApplication, theme: Theme) -> None:
    life = live()
    engine = await life.running()
    engine.presenter.change_settings({"window": {"theme": "dark"}})
    await until(lambda: theme.mode == "dark")
    app.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.mode == "dark"
    engine.presenter.change_settings({"window": {"theme": None}})
    await until(lambda: theme.mode == system_mode(app))
    theme.apply(app, "light")
