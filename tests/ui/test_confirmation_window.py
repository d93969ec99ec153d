"""What a command wants to allow is asked in a window of its own, whose default is no; the answer goes to the engine, once."""

import time
from collections.abc import AsyncIterator, Callable

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfirmationAsked, ConfirmationEnded
from tooltray.foundation.snapshots.approvals import ConfirmationSnapshot
from tooltray.ui.approval.asking_window import ConfirmationWindow, fact_name, fact_value, origin
from tooltray.ui.approval.prompts import ConfirmationPrompt
from tooltray.ui.theme import Theme

WISH = ConfirmationSnapshot(
    id="1",
    what="Allowing tool calls",
    verb="add_grant",
    facts=(("server", "<b>files</b>"), ("odd_one", "x")),
    origin=("bash (42)", "claude (7)"),
    ai_client="Claude Code",
    ends_at=0.0,
)
LASTS = [
    ("expires_in_s", "3600.0", "for 1 hour"),
    ("expires_in_s", "28800", "for 8 hours"),
    ("expires_in_s", "60.0", "for 1 minute"),
    ("expires_in_s", "5400.0", "for 90 minutes"),
    ("expires_in_s", "86400.0", "for 1 day"),
    ("expires_in_s", "604800.0", "for 7 days"),
    ("duration_s", "1", "for 1 second"),
    ("duration_s", "61.0", "for 61 seconds"),
    ("expires_in_s", "0.0", "for 0 seconds"),
    ("expires_in_s", "soon", "soon"),
    ("until", "lock", "until the screen locks"),
    ("until", "revoked", "until you revoke it"),
]
LATE = TooltrayError("this no longer waits", "the command has ended")


class Asked:
    """A desk at which commands wait for a person."""

    def __init__(self, desk: Desk, prompt: ConfirmationPrompt) -> None:
        self.desk, self.engine, self.prompt = desk, desk.engine, prompt
        self.counts: list[int] = []
        prompt.waiting_changed.connect(lambda waiting: self.counts.append(len(waiting)))

    def ask(self, request: ConfirmationSnapshot = WISH) -> None:
        self.engine.bus.publish(ConfirmationAsked(replace(request, ends_at=time.time() + 60)))

    async def open(self, request: ConfirmationSnapshot = WISH) -> ConfirmationWindow:
        """The window, once it asks about this and takes an answer."""
        self.ask(request)
        await until(lambda: self.id == request.id)
        assert self.prompt.window is not None
        await until(lambda: self.prompt.window is not None and self.prompt.window.takes_answers)
        return self.prompt.window

    @property
    def id(self) -> str:
        window = self.prompt.window
        return window.request.id if window is not None and window.request is not None else ""

    @property
    def answers(self) -> list[tuple[object, ...]]:
        return [call[1:] for call in self.engine.calls if call[0] == "answer_confirmation"]


@pytest.fixture
async def ask(theme: Theme) -> AsyncIterator[Callable[..., Asked]]:
    desk = Desk(FakePresenter([server("files")]), theme)
    prompts: list[ConfirmationPrompt] = []

    def begin(guard_ms: int = 0) -> Asked:
        prompts.append(ConfirmationPrompt(theme, hub=desk.hub, tasks=desk.tasks, guard_ms=guard_ms))
        return Asked(desk, prompts[-1])

    async with desk:
        yield begin
        for prompt in prompts:
            prompt.close()


def button(window: ConfirmationWindow, text: str) -> QAbstractButton:
    return next(each for each in window.findChildren(QAbstractButton) if each.text() == text)


async def test_it_says_what_is_wanted_and_where_it_comes_from_as_plain_text(ask: Callable[..., Asked]) -> None:
    window = await ask().open()
    texts = [label.text().replace("\u200b", "") for label in window.findChildren(QLabel) if label.isVisible()]
    for wanted in ("Allowing tool calls.", "Server", "<b>files</b>", "odd_one", "It comes from Claude Code, an AI client"):
        assert wanted in texts, texts
    assert "It comes from bash (42), started by claude (7)." in texts
    assert "tool calls" in window.accessibleName()


@pytest.mark.parametrize(("text", "is_yes"), [("No", False), ("Yes, allow it", True)])
async def test_an_answer_goes_to_the_engine_and_the_window_goes(ask: Callable[..., Asked], text: str, is_yes: bool) -> None:
    asked = ask()
    button(await asked.open(), text).click()
    await until(lambda: asked.prompt.window is None)
    assert asked.answers == [("1", is_yes)]
    assert asked.counts == [1, 0]


async def test_no_has_the_focus_enter_does_nothing_and_keys_answer(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    window.go_there()
    await until(lambda: QApplication.focusWidget() is button(window, "No") and not window._arrival.isActive())
    QTest.keyClick(window, Qt.Key.Key_Return)
    assert asked.answers == []
    QTest.keyClick(window, Qt.Key.Key_Escape)
    await until(lambda: asked.prompt.window is None)
    window = await asked.open(replace(WISH, id="2"))
    window.go_there()
    await until(lambda: QApplication.focusWidget() is button(window, "No") and not window._arrival.isActive())
    QTest.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: len(asked.answers) == 2)
    assert asked.answers == [("1", False), ("2", True)]


async def test_closing_it_is_a_no_and_a_hasty_click_is_none(ask: Callable[..., Asked]) -> None:
    hasty = ask(guard_ms=3_600_000)
    hasty.ask()
    await until(lambda: hasty.id == "1")
    assert hasty.prompt.window is not None
    assert not button(hasty.prompt.window, "Yes, allow it").isEnabled()
    hasty.prompt.window.close()
    assert hasty.answers == []
    asked = ask()
    (await asked.open()).close()
    await until(lambda: bool(asked.answers))
    assert asked.answers == [("1", False)]


async def test_several_are_asked_one_behind_the_other_and_those_that_end_go(ask: Callable[..., Asked]) -> None:
    asked = ask()
    await asked.open()
    asked.ask(replace(WISH, id="2"))
    asked.ask(replace(WISH, count=2))  # the same once more
    await until(lambda: asked.counts[-1:] == [2])
    assert asked.id == "1"
    asked.engine.bus.publish(ConfirmationEnded("1"))
    await until(lambda: asked.id == "2")
    asked.engine.bus.publish(ConfirmationEnded("2"))
    await until(lambda: asked.prompt.window is None)
    asked.prompt.go_there()
    assert asked.answers == []


async def test_an_answer_that_came_too_late_is_told_until_it_is_put_away(ask: Callable[..., Asked]) -> None:
    asked = ask()
    asked.engine.failures["answer_confirmation"] = LATE
    button(await asked.open(), "Yes, allow it").click()
    await until(lambda: asked.prompt.window is not None and asked.prompt.window.request is None)
    assert asked.prompt.window is not None
    await until(lambda: asked.prompt.window is not None and asked.prompt.window.takes_answers)
    button(asked.prompt.window, "Close").click()
    await until(lambda: asked.prompt.window is None)


async def test_what_waits_goes_with_the_engine(ask: Callable[..., Asked]) -> None:
    asked = ask()
    await asked.open()
    asked.desk.hub.forget()
    await until(lambda: asked.prompt.window is None)


def test_a_person_is_told_what_the_system_says_of_the_programs() -> None:
    assert origin(replace(WISH, origin=())) == "The system does not identify the program that asks."
    assert origin(replace(WISH, origin=("bash (1)",))) == "It comes from bash (1)."


@pytest.mark.parametrize(("name", "value", "words"), LASTS)
def test_how_long_something_lasts_is_said_in_words(name: str, value: str, words: str) -> None:
    assert (fact_name(name), fact_value(name, value)) == ("How long", words)
