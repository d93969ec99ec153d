"""A tool call asks in a window of its own, which takes no keyboard and no hasty answer, and sends only what the person chose."""

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QPlainTextEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.approvals import ApprovalForm, ApprovalSnapshot, JudgedCall, OfferedRule, RulePreview
from tooltray.ui.approval import call_view
from tooltray.ui.approval.call_view import ApprovalWindow
from tooltray.ui.approval.prompts import ApprovalPrompt
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.code_view import LONGEST, DiffView
from tooltray.ui.widgets.sheet import GUARD_MS

AN_HOUR_MS = 3_600_000  # longer than any test
WRITE = ApprovalSnapshot(
    id="1",
    server="files",
    tool="edit_file",
    client="<b>Cursor</b>",
    category="write",
    arguments='{\n  "path": "a.txt"\n}',
    why="The server marks it as one that writes.",
    ends_at=0.0,
    choices=("once", "like", "session", "hour", "day", "lock", "always", "reads"),
    like_for_s=30,
    project="/somewhere/shop",
    description="Changes lines.",
    diff=(" same", "-old", "+new"),
)
LATE = TooltrayError("this call no longer waits", "its client is gone")


class Asked:
    """A desk to which calls come that wait for a person."""

    def __init__(self, desk: Desk, prompt: ApprovalPrompt) -> None:
        self.desk, self.engine, self.prompt = desk, desk.engine, prompt

    async def shown(self, request: ApprovalSnapshot = WRITE) -> ApprovalWindow:
        """The window, once it asks about this call."""
        self.engine.ask_approval(replace(request, ends_at=time.time() + 60))
        await until(lambda: self.prompt.window is not None and self.id == request.id)
        assert self.prompt.window is not None
        return self.prompt.window

    async def open(self, request: ApprovalSnapshot = WRITE) -> ApprovalWindow:
        """The same, once it takes an answer."""
        window = await self.shown(request)
        await until(lambda: window.takes_answers)
        return window

    @property
    def id(self) -> str:
        window = self.prompt.window
        return window.request.id if window is not None and window.request is not None else ""

    @property
    def answers(self) -> list[tuple[object, ...]]:
        return [call[1:] for call in self.engine.calls if call[0] == "answer_approval"]


@pytest.fixture
async def ask(theme: Theme) -> AsyncIterator[Callable[..., Asked]]:
    desk = Desk(FakePresenter([server("files")]), theme)
    prompts: list[ApprovalPrompt] = []

    def begin(guard_ms: int = 0) -> Asked:
        prompts.append(ApprovalPrompt(theme, hub=desk.hub, tasks=desk.tasks, guard_ms=guard_ms))
        return Asked(desk, prompts[-1])

    async with desk:
        yield begin
        for prompt in prompts:
            prompt.close()


def heard(window: ApprovalWindow) -> list[str]:
    """What it answers from now on, at once."""
    answers: list[str] = []
    window.answered.connect(lambda _, answer: answers.append(answer[0]))
    return answers


def words(widget: QWidget) -> str:
    texts = [label.accessibleName() or label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]
    return "\n".join(texts + [view.toPlainText() for view in widget.findChildren(QPlainTextEdit) if view.isVisibleTo(widget)])


def button(widget: QWidget, name: str) -> QAbstractButton:
    return next(each for each in widget.findChildren(QAbstractButton) if each.text() == name and each.isVisibleTo(widget))


def buttons(window: ApprovalWindow) -> list[str]:
    return [each.text() for each in window.view.buttons if each.isVisibleTo(window)]


def choices(window: ApprovalWindow) -> QMenu:
    """The menu of answers that last, opened."""
    button(window, "Allow for…").click()
    menu: QMenu = window.findChildren(QMenu)[-1]
    return menu


def choose(window: ApprovalWindow, text: str) -> None:
    menu = choices(window)
    next(each for each in menu.actions() if each.text() == text).trigger()
    menu.close()


async def test_it_says_who_wants_what_with_which_arguments_and_why_as_plain_text(ask: Callable[..., Asked]) -> None:
    window = await ask().open()
    shown = words(window)
    for text in (
        "Edit a.txt?",
        "<b>Cursor</b> · edit_file · files · /somewhere/shop",
        '"path": "a.txt"',
        WRITE.why,
    ):
        assert text in shown
    assert "Changes lines." not in shown  # the server's own words are folded
    button(window, "Server's description").click()
    assert "Changes lines." in words(window)
    assert "- old\n+ new" in shown
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in window.findChildren(QLabel))


async def test_an_overwrite_shows_the_lines_that_go(ask: Callable[..., Asked]) -> None:
    asked = ask()
    asked.engine.disk_diffs["1"] = (" title", "-what goes", "+what comes")
    window = await asked.open(replace(WRITE, tool="write_file", diff=("+title", "+what comes")))
    await until(lambda: "- what goes\n+ what comes" in words(window))
    asked.engine.failures["get_approval_diff"] = TooltrayError("the hub has ended")
    asked.engine.end_approval("1")
    assert "+ only" in words(await asked.open(replace(WRITE, id="2", diff=("+only",))))


async def test_what_is_odd_and_what_has_changed_in_the_definition_is_pointed_out(ask: Callable[..., Asked]) -> None:
    odd = replace(WRITE, diff=(), arguments="{}", warnings=("Hidden characters",), definition_diff=("-before", "+after"))
    shown = words(await ask().open(odd))
    for text in ("Look closely at this tool", "Hidden characters", "has changed", "- before\n+ after"):
        assert text in shown
    assert "{}" not in shown


@pytest.mark.parametrize(
    ("fields", "question"),
    [
        ({"tool": "write_file", "arguments": '{"path": "/srv/n0.md"}'}, "Write n0.md?"),
        ({"tool": "write_file", "arguments": '{"path": "/srv/n0.md"}', "diff": (" a", "-b")}, "Overwrite n0.md?"),
        ({"tool": "edit_file", "arguments": '{"path": "/srv/n0.md"}', "diff": ("-b",)}, "Edit n0.md?"),
        ({"tool": "deleteFile", "arguments": r'{"filePath": 1, "file": "C:\\notes\\a.txt"}'}, "Delete a.txt?"),
        ({"tool": "create_directory", "arguments": '{"path": "/srv/new"}'}, "Create new?"),
        ({"tool": "makeDir", "arguments": '{"path": "new"}'}, "Create new?"),
        ({"tool": "create_file", "arguments": '{"path": "/srv/n0.md"}'}, "Write n0.md?"),
        ({"tool": "move_file", "arguments": '{"source": "/", "destination": "/b"}'}, "Move /?"),
        ({"tool": "run_command", "arguments": '{"command": "make test"}'}, "Run make test?"),
        ({"tool": "run_command", "arguments": json.dumps({"command": "x" * 90})}, f"Run {'x' * 24}…{'x' * 24}?"),
        ({"tool": "read_file", "category": "read", "arguments": '{"path": "n0.md"}'}, "Read n0.md?"),
        ({"tool": "list_directory", "category": "read", "arguments": '{"path": "src/"}'}, "List src?"),
        ({"tool": "read_file", "arguments": '{"path": "n0.md"}'}, "Run read_file?"),
        ({"tool": "write_file", "arguments": '{"path": "\\u202etxt.n"}'}, "Run write_file?"),
        ({"tool": "write_file", "arguments": '{"path": "a\\nb"}'}, "Run write_file?"),
        ({"tool": "write_file", "arguments": '{"path": "/srv/n0.m'}, "Run write_file?"),
        ({"tool": "write_file", "arguments": "[]"}, "Run write_file?"),
        ({"tool": "say_allow_is_safe", "arguments": '{"path": "n0.md"}'}, "Run say_allow_is_safe?"),
        ({"tool": "look", "category": "read", "arguments": "{}"}, "Run look?"),
        ({"tool": "delete_entities", "title": "Delete Entities", "arguments": "{}"}, "Run delete_entities (“Delete Entities”)?"),
        ({"tool": "look", "title": "Look", "arguments": "{}"}, "Run look?"),
        ({"tool": "look", "title": "a\u202eb", "arguments": "{}"}, "Run look?"),
        ({"tool": "change", "diff": ("+x",), "arguments": "{}"}, "Let Cursor make this change?"),
    ],
)
async def test_the_title_is_the_question(ask: Callable[..., Asked], fields: dict[str, Any], question: str) -> None:
    window = await ask().open(replace(WRITE, **{"client": "Cursor", "diff": (), **fields}))
    assert window.accessibleName() == question
    assert question in words(window)


async def test_only_choices_that_make_sense_are_offered(ask: Callable[..., Asked]) -> None:
    asked = ask()
    assert buttons(await asked.open()) == ["Decline", "Allow", "Allow for…"]
    asked.engine.end_approval("1")
    assert buttons(await asked.open(replace(WRITE, id="2", choices=("once",)))) == ["Decline", "Allow"]


@pytest.mark.parametrize(("press", "answer"), [("Allow", "once"), ("Decline", "refuse")])
async def test_a_button_answers_and_the_window_goes(ask: Callable[..., Asked], press: str, answer: str) -> None:
    asked = ask()
    button(await asked.open(), press).click()
    await until(lambda: asked.prompt.window is None)
    assert asked.answers == [("1", answer)]


@pytest.mark.parametrize(
    ("place", "answer", "text"),
    [
        (0, "like", "Allow edit_file for 30 seconds, whatever it is called with"),
        (1, "session", "Allow edit_file for this session"),
        (2, "hour", "Allow edit_file for an hour"),
        (3, "day", "Allow edit_file for a day"),
        (4, "lock", "Allow edit_file until the screen locks"),
        (5, "always", "Always allow edit_file for <b>Cursor</b>"),
        (6, "reads", "Always allow everything of files that reads, for <b>Cursor</b>"),
    ],
)
async def test_what_lasts_is_chosen_from_a_menu_in_words(ask: Callable[..., Asked], place: int, answer: str, text: str) -> None:
    asked = ask()
    menu = choices(await asked.open())
    assert asked.answers == []
    assert text in menu.actions()[place].text()
    menu.actions()[place].trigger()
    menu.close()
    await until(lambda: asked.answers == [("1", answer)])


async def test_a_choice_from_a_menu_that_was_opened_for_something_else_is_none(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    menu, answers = choices(window), heard(window)
    await asked.shown(replace(WRITE, arguments='{"path": "other"}'))
    await until(lambda: "other" in words(window) and window.takes_answers)
    menu.actions()[0].trigger()
    menu.close()
    assert answers == []


async def test_enter_grants_nothing_since_not_now_has_the_focus(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    window.go_there()
    await until(lambda: QApplication.focusWidget() is button(window, "Decline"))
    answers = heard(window)
    await until(lambda: not window._arrival.isActive())
    QTest.keyClick(button(window, "Decline"), Qt.Key.Key_Return)
    assert answers == []


@pytest.mark.parametrize(
    ("key", "modifier", "answer"),
    [
        (Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier, "once"),
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier, "refuse"),
        (Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, "refuse"),
    ],
)
async def test_keys_answer(ask: Callable[..., Asked], key: Qt.Key, modifier: Qt.KeyboardModifier, answer: str) -> None:
    asked = ask()
    window = await asked.open()
    window.go_there()
    await until(lambda: QApplication.focusWidget() is button(window, "Decline") and not window._arrival.isActive())
    QTest.keyClick(button(window, "Decline"), key, modifier)
    await until(lambda: asked.answers == [("1", answer)])


async def test_closing_the_window_refuses(ask: Callable[..., Asked]) -> None:
    asked = ask()
    (await asked.open()).close()
    await until(lambda: asked.answers == [("1", "refuse")])


async def test_nothing_answers_while_it_is_guarded(ask: Callable[..., Asked]) -> None:
    asked = ask(AN_HOUR_MS)
    window = await asked.shown()
    window.activateWindow()
    assert not window.takes_answers
    assert not any(each.isEnabled() for each in window.view.buttons)
    answers = heard(window)
    QTest.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    window.close()
    assert window.isVisible()
    assert answers == []


def test_the_guard_is_as_long_as_it_takes_to_notice_a_window() -> None:
    assert GUARD_MS == 700


async def test_each_change_of_what_it_asks_is_guarded_anew(ask: Callable[..., Asked], theme: Theme) -> None:
    window = await ask().open()
    window.ask(replace(WRITE, arguments='{"path": "b.txt"}'), 1)
    assert not window.takes_answers
    await until(lambda: window.takes_answers)
    assert window.request is not None
    window.ask(window.request, 2)
    assert window.takes_answers  # that another one waits behind it changes nothing of it
    assert "1 of 2" in words(window)


async def test_keys_that_come_with_the_activation_are_no_answer(ask: Callable[..., Asked], theme: Theme) -> None:
    desk = ask().desk
    window = ApprovalWindow(theme, hub=desk.hub, tasks=desk.tasks, guard_ms=0)
    window._arrival.setInterval(AN_HOUR_MS)
    answers = heard(window)
    window.ask(replace(WRITE, ends_at=time.time() + 60), 1)
    window.show()
    await until(lambda: window.takes_answers)
    window.go_there()
    await until(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert answers == []
    button(window, "Allow").click()
    assert answers == ["once"]
    window.hide()
    window.deleteLater()


async def test_it_is_shown_without_taking_the_keyboard_and_can_be_gone_to_once_it_takes_answers(ask: Callable[..., Asked]) -> None:
    asked = ask(AN_HOUR_MS)
    window = await asked.shown()
    assert window.isVisible()
    assert window.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert window.windowHandle().flags() & Qt.WindowType.WindowDoesNotAcceptFocus
    assert window.windowHandle().flags() & Qt.WindowType.WindowStaysOnTopHint
    window._guard.setInterval(0)
    window.show_problem(Problem("something"))  # begins the guard anew
    await until(lambda: window.takes_answers)
    assert not window.windowHandle().flags() & Qt.WindowType.WindowDoesNotAcceptFocus
    assert window.isVisible()
    asked.prompt.go_there()
    await until(window.isActiveWindow)


async def test_several_calls_are_asked_one_at_a_time_the_oldest_first(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    asked.engine.ask_approval(replace(WRITE, id="2", tool="second"))
    asked.engine.ask_approval(replace(WRITE, id="3", tool="third"))
    await until(lambda: "1 of 3" in words(window))
    button(window, "Decline").click()
    await until(lambda: asked.id == "2")
    assert not window.takes_answers
    assert "1 of 2" in words(window)
    asked.engine.end_approval("3")
    await until(lambda: "1 of 2" not in words(window))
    assert asked.prompt.window is window


async def test_it_goes_by_itself_when_the_call_waits_no_longer(ask: Callable[..., Asked]) -> None:
    asked = ask()
    await asked.open()
    asked.engine.end_approval("1")
    await until(lambda: asked.prompt.window is None)
    assert asked.answers == []


async def test_an_answer_is_given_once(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    for _ in range(3):
        button(window, "Allow").click()
    await until(lambda: asked.prompt.window is None)
    assert asked.answers == [("1", "once")]


async def test_an_answer_that_comes_too_late_says_why_until_it_is_put_away(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    asked.engine.failures["answer_approval"] = LATE
    button(window, "Allow").click()
    asked.engine.end_approval("1")
    await until(lambda: buttons(window) == ["Close"] and "This call no longer waits" in words(window))
    await until(lambda: window.takes_answers)
    button(window, "Close").click()
    await until(lambda: asked.prompt.window is None)
    assert len(asked.answers) == 1


async def test_an_answer_that_comes_too_late_is_told_above_the_next_call(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    asked.engine.ask_approval(replace(WRITE, id="2", tool="second"))
    asked.engine.failures["answer_approval"] = LATE
    button(window, "Allow").click()
    asked.engine.end_approval("1")
    await until(lambda: asked.id == "2" and "This call no longer waits" in words(window))
    asked.engine.failures.clear()
    await until(lambda: window.takes_answers)
    button(window, "Allow").click()
    await until(lambda: asked.prompt.window is None)
    assert asked.answers == [("1", "once"), ("2", "once")]


async def test_a_new_call_takes_the_place_of_what_has_ended(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    asked.engine.failures["answer_approval"] = LATE
    button(window, "Allow").click()
    asked.engine.end_approval("1")
    await until(lambda: buttons(window) == ["Close"])
    await asked.open(replace(WRITE, id="2"))
    assert buttons(window) == ["Decline", "Allow", "Allow for…"]


async def test_a_call_waits_on_where_the_answer_could_not_be_kept(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open()
    asked.engine.failures["answer_approval"] = TooltrayError("the disk is full", "grants.json", "Free some space")
    for _ in range(2):
        choose(window, "Allow edit_file for this session")
        await until(lambda: "The disk is full" in words(window) and window.takes_answers)
    asked.engine.failures.clear()
    button(window, "Allow").click()
    await until(lambda: asked.prompt.window is None)
    assert asked.answers == [("1", "session"), ("1", "session"), ("1", "once")]


async def test_the_questions_end_with_the_engine(ask: Callable[..., Asked]) -> None:
    asked = ask()
    await asked.open()
    asked.desk.link.detach()
    asked.desk.hub.forget()
    await until(lambda: asked.prompt.window is None)


async def test_a_call_that_waited_before_the_window_listened_is_asked(theme: Theme) -> None:
    desk = Desk(FakePresenter(), theme)
    desk.engine.approvals = [WRITE]
    prompt = ApprovalPrompt(theme, hub=desk.hub, tasks=desk.tasks, guard_ms=0)
    counts: list[int] = []
    prompt.waiting_changed.connect(lambda waiting: counts.append(len(waiting)))
    async with desk:
        await until(lambda: prompt.window is not None)
        assert counts == [1]
        prompt.close()


async def test_an_engine_that_leaves_before_it_has_told_asks_nothing(theme: Theme) -> None:
    desk = Desk(FakePresenter(), theme)
    desk.engine.failures["get_approvals"] = TooltrayError("Tooltray is not running")
    prompt = ApprovalPrompt(theme, hub=desk.hub, tasks=desk.tasks, guard_ms=0)
    async with desk:
        await desk.asked("get_approvals")
        prompt.go_there()
        assert prompt.window is None


async def test_the_time_that_is_left_is_said(ask: Callable[..., Asked]) -> None:
    window = await ask().shown()
    assert any(f"Declines in {left}" in words(window) for left in ("1:00", "0:59", "0:58"))


async def test_a_long_call_scrolls_between_its_edges_and_the_buttons_stay_on_the_screen(ask: Callable[..., Asked]) -> None:
    window = await ask().open(replace(WRITE, definition_diff=("+x" * 400,) * 50, warnings=("Odd. " * 400,), arguments="a\n" * 900))
    screen = window.screen().availableGeometry()
    assert screen.contains(window.geometry())
    assert window.rect().contains(button(window, "Decline").geometry())


async def test_it_follows_the_theme(ask: Callable[..., Asked], theme: Theme, app: QApplication) -> None:
    window = await ask().open()
    view = window.findChild(DiffView)
    before = [selection.format.background().color() for selection in view.extraSelections()]
    theme.apply(app, "dark")
    after = [selection.format.background().color() for selection in view.extraSelections()]
    assert before != after
    assert theme.color("diff.remove") in after


def test_a_diff_marks_whole_lines_and_says_what_it_leaves_out(theme: Theme) -> None:
    view = DiffView(theme, ["+a", " b", "-c", *("+more",) * LONGEST], "Changes", width=400)
    assert view.toPlainText().startswith("+ a\n  b\n- c\n+ more")
    assert view.toPlainText().endswith("… and 3 more lines")
    filled = {selection.cursor.blockNumber() for selection in view.extraSelections()[:9]}
    assert filled == {0, 2, 3}


def test_long_lines_of_a_diff_are_wrapped_since_what_is_hidden_may_be_what_matters(theme: Theme) -> None:
    short, long = (DiffView(theme, [f"+{text}"], "Changes", width=400) for text in ("a", "word " * 60))
    assert long.height() > short.height()
    assert not long.horizontalScrollBar().isVisibleTo(long)
    assert DiffView(theme, ["+" + "word " * 60_000], "Changes", width=400).height() < 400


async def test_a_call_that_waits_quietly_opens_no_window_until_a_person_goes_there(ask: Callable[..., Asked]) -> None:
    asked = ask()
    waiting: list[int] = []
    asked.prompt.waiting_changed.connect(lambda calls: waiting.append(len(calls)))
    asked.engine.ask_approval(replace(WRITE, is_quiet=True, ends_at=time.time() + 60))
    await until(lambda: waiting == [1])
    assert asked.prompt.window is None
    asked.prompt.go_there()
    assert asked.id == "1"
    asked.engine.end_approval("1")
    await until(lambda: asked.prompt.window is None)
    asked.engine.ask_approval(replace(WRITE, id="2", is_quiet=True, ends_at=time.time() + 60))
    await until(lambda: waiting[-1:] == [1] and len(waiting) == 3)
    assert asked.prompt.window is None


async def test_after_any_answer_what_waits_quietly_is_asked_too_and_a_loud_call_goes_before(ask: Callable[..., Asked]) -> None:
    asked = ask()
    asked.engine.ask_approval(replace(WRITE, is_quiet=True, ends_at=time.time() + 60))
    window = await asked.open(replace(WRITE, id="2", client="Zed"))
    button(window, "Decline").click()
    await until(lambda: asked.id == "1")
    assert asked.answers == [("2", "refuse")]


async def test_a_loud_call_that_nobody_answered_leaves_the_quiet_ones_quiet(ask: Callable[..., Asked]) -> None:
    asked = ask()
    asked.engine.ask_approval(replace(WRITE, is_quiet=True, ends_at=time.time() + 60))
    await asked.open(replace(WRITE, id="2", client="Zed"))
    asked.engine.end_approval("2")
    await until(lambda: asked.prompt.window is None)


async def test_a_call_after_a_read_of_strangers_says_so_on_top_and_not_twice(ask: Callable[..., Asked]) -> None:
    flow = "it has read evil.example with fetch of web, and now wants to send with mail_send"
    window = await ask().open(replace(WRITE, flow=flow, why=flow, choices=("once", "session")))
    said = [label.text() for label in window.findChildren(QLabel)]
    assert sum("evil.example" in text for text in said) == 1
    assert "It has read what strangers may have written" in said
    assert buttons(window) == ["Decline", "Allow", "Allow for…"]


RULES = tuple(OfferedRule(f"rule-{number}", f"short {number}", f"whole words {number}", {"tool": str(number)}) for number in (1, 2))
PREVIEW = RulePreview("w", {}, cautions=("mind this one",), calls=(JudgedCall(0.0, "t", "c", "{}", is_covered=True),), unknown=3)


async def test_a_rule_is_read_in_whole_with_what_it_would_have_covered_before_it_is_made(ask: Callable[..., Asked]) -> None:
    asked = ask()
    asked.engine.rule_preview = PREVIEW
    window = await asked.open(replace(WRITE, rules=RULES))
    choose(window, "Make a rule…")
    await until(lambda: window.takes_answers and "Matches the only recent call." in words(window))
    assert buttons(window) == ["Back", "Allow, and make the rule"]
    assert "Runs without asking: whole words 1." in words(window)
    button(window, "short 2").click()
    await until(lambda: "whole words 2" in words(window) and "3 more could not be checked" in words(window))
    await until(lambda: "Mind this one." in words(window))
    button(window, "Allow, and make the rule").click()
    await until(lambda: asked.answers == [("1", "rule-2")])
    assert [call for call in asked.engine.calls if call[0] == "preview_rule"][-1] == ("preview_rule", "files", {"tool": "2"})


async def test_back_shows_the_call_and_allows_nothing(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await asked.open(replace(WRITE, rules=RULES))
    height = window.height()
    choose(window, "Make a rule…")
    await until(lambda: window.takes_answers and window.height() < height)
    asked.engine.ask_approval(replace(WRITE, id="2", ends_at=time.time() + 60))  # another call changes nothing of what is chosen
    button(window, "Back").click()
    await until(lambda: window.takes_answers and "Edit a.txt?" in words(window))
    await until(lambda: window.height() == height)  # all of it is to be seen again
    assert "Allow" in buttons(window)
    assert asked.answers == []


async def test_a_call_of_which_no_rule_can_be_made_offers_none(ask: Callable[..., Asked]) -> None:
    menu = choices(await ask().open())
    assert "Make a rule…" not in [each.text() for each in menu.actions()]
    menu.close()


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "count": {"type": "integer"}}, "required": ["path"]}
EDITABLE = replace(WRITE, is_editable=True, rules=RULES)


async def editing(asked: Asked, arguments: dict[str, Any] | None = None) -> ApprovalWindow:
    """The window with the arguments in a form."""
    asked.engine.approval_form = ApprovalForm(SCHEMA, {"path": "a.txt"} if arguments is None else arguments)
    window = await asked.open(EDITABLE)
    button(window, "Edit arguments…").click()
    await until(lambda: "Edit arguments" in words(window) and window.takes_answers)
    return window


def text_field(window: ApprovalWindow, name: str) -> QPlainTextEdit:
    return next(each for each in window.findChildren(QPlainTextEdit) if each.accessibleName() == name and each.isVisibleTo(window))


async def test_the_arguments_can_be_changed_before_the_call_is_allowed(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await editing(asked)
    assert buttons(window) == ["Back", "Allow", "Allow for…"]
    assert "<b>Cursor</b> learns what you changed." in words(window)
    path = text_field(window, "path")
    await until(lambda: window.focusWidget() is path)  # and the guard took it from nobody who types
    path.setPlainText("")
    button(window, "Allow").click()
    assert "Required." in words(window)
    assert asked.answers == []
    text_field(window, "path").setPlainText("b.txt")
    button(window, "Allow").click()
    await until(lambda: asked.answers == [("1", "once", {"path": "b.txt"})])


async def test_what_is_typed_survives_the_way_back_and_news_of_the_same_call_and_counts_only_in_sight(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await editing(asked)
    text_field(window, "path").setPlainText("b.txt")
    asked.prompt._on_asked(replace(asked.prompt._requests["1"], diff=("-disk",)))
    assert text_field(window, "path").toPlainText() == "b.txt"
    button(window, "Back").click()
    await until(lambda: "Edit a.txt?" in words(window) and "- disk" in words(window) and window.takes_answers)
    button(window, "Edit arguments…").click()
    await until(lambda: window.takes_answers and text_field(window, "path").toPlainText() == "b.txt")
    button(window, "Back").click()
    await until(lambda: window.takes_answers)
    button(window, "Allow").click()  # what is shown is what the client sent
    await until(lambda: asked.answers == [("1", "once")])


async def test_a_form_in_which_nothing_was_changed_sends_no_arguments(ask: Callable[..., Asked]) -> None:
    asked = ask()
    choose(await editing(asked), "Allow edit_file for an hour")
    await until(lambda: asked.answers == [("1", "hour")])


async def test_a_rule_of_changed_arguments_is_read_and_made_and_back_leads_to_the_form(ask: Callable[..., Asked]) -> None:
    asked = ask()
    asked.engine.changed_call = replace(EDITABLE, rules=(OfferedRule("rule-1", "changed", "whole changed words", {"tool": "x"}),))
    window = await editing(asked)
    text_field(window, "path").setPlainText("")
    choose(window, "Make a rule…")
    assert "Required." in words(window)
    text_field(window, "path").setPlainText("b.txt")
    choose(window, "Make a rule…")
    await until(lambda: "whole changed words" in words(window) and window.takes_answers)
    button(window, "Back").click()
    await until(lambda: window.takes_answers and text_field(window, "path").toPlainText() == "b.txt")
    choose(window, "Make a rule…")
    await until(lambda: "whole changed words" in words(window) and window.takes_answers)
    button(window, "Allow, and make the rule").click()
    await until(lambda: asked.answers == [("1", "rule-1", {"path": "b.txt"})])


async def test_arguments_that_the_schema_does_not_name_are_in_sight(ask: Callable[..., Asked]) -> None:
    asked = ask()
    window = await editing(asked, {"path": "a.txt", "hidden": True})
    code = text_field(window, "Arguments as JSON")
    assert '"hidden": true' in code.toPlainText()
    code.setPlainText('{"path": "a.txt"}')
    button(window, "Allow").click()
    await until(lambda: asked.answers == [("1", "once", {"path": "a.txt"})])


async def test_a_call_whose_arguments_cannot_be_read_says_why_and_waits_on(ask: Callable[..., Asked]) -> None:
    asked = ask()
    asked.engine.failures["get_approval_form"] = TooltrayError("The arguments of this call cannot be changed")
    window = await asked.open(EDITABLE)
    button(window, "Edit arguments…").click()
    await until(lambda: "The arguments of this call cannot be changed" in words(window))
    assert buttons(window) == ["Decline", "Allow", "Allow for…"]


async def test_a_call_waits_for_longer_while_it_is_edited_and_what_is_typed_stays(ask: Callable[..., Asked]) -> None:
    asked = ask()
    asked.engine.latest_end = time.time() + 590
    window = await editing(asked)
    await asked.desk.asked("keep_approval_open", "1")
    await until(lambda: "Declines in 9:" in words(window))
    text_field(window, "path").setPlainText("b.txt")
    menu = choices(window)
    asked.engine.ask_approval(replace(EDITABLE, ends_at=time.time() + 115))  # the engine lets it wait for longer
    await until(lambda: window.request is not None and window.request.ends_at > time.time() + 100)
    assert text_field(window, "path").toPlainText() == "b.txt"
    menu.actions()[2].trigger()
    menu.close()
    await until(lambda: asked.answers == [("1", "hour", {"path": "b.txt"})])


async def test_the_engine_learns_that_editing_goes_on(ask: Callable[..., Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_view, "KEEP_OPEN_MS", 1)
    asked = ask()
    asked.engine.latest_end = time.time() + 590
    window = await editing(asked)
    kept = ("keep_approval_open", "1")
    await until(lambda: asked.engine.calls.count(kept) > 2)
    asked.engine.ask_approval(replace(EDITABLE, ends_at=time.time() + 115))
    button(window, "Back").click()
    await until(lambda: "Declines in 1:" in words(window))
    await until(lambda: not len(asked.desk.tasks))
    count = asked.engine.calls.count(kept)
    button(window, "Edit arguments…").click()
    asked.engine.failures["keep_approval_open"] = LATE  # it has just ended, which is shown by the news of it
    await until(lambda: asked.engine.calls.count(kept) > count and window.takes_answers)
    assert "no longer waits" not in words(window)
    button(window, "Back").click()


async def test_a_call_that_was_declined_already_says_what_an_answer_is_for(ask: Callable[..., Asked]) -> None:
    window = await ask().open(replace(WRITE, is_declined=True))
    assert "Your answer counts for the next identical call." in words(window)
    assert "An answer counts for" in words(window)
    assert "Declines in" not in words(window)
    assert not [each for each in window.findChildren(QAbstractButton) if each.text() == "Edit arguments…"]


async def test_another_call_takes_the_place_of_a_form(ask: Callable[..., Asked]) -> None:
    asked = ask()
    await editing(asked)
    asked.engine.end_approval("1")
    window = await asked.open(replace(EDITABLE, id="2", is_editable=False))
    assert "Edit arguments" not in words(window)
    assert not [each for each in window.findChildren(QAbstractButton) if each.text() == "Edit arguments…" and each.isVisibleTo(window)]
