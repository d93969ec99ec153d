"""A server that wants a sign-in offers it on its card; one that does not run says why, and what can be done."""

import asyncio

import pytest
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPlainTextEdit, QWidget
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import ANSWERS, FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, words

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.diagnosis import Diagnosis, Remedy
from tooltray.foundation.snapshots.questions import SignInSnapshot
from tooltray.foundation.snapshots.servers import DID_NOT_START, ServerSnapshot, ServerState
from tooltray.ui.logs.log_view import LogSheet
from tooltray.ui.server_words import Action, foot, saved_processes, stops_after
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.chip import StateBadge

WAITING = server("a", ServerState.NEEDS_SIGN_IN, problem=Problem("sign in to 'a'"))
PAGE = "https://sign.in.example/a"
FULL_PATH = Remedy("use_absolute_path", "use the full path of npx", "/opt/npx", True)


def badge(desk: Desk) -> str:
    return str(desk.card("a").findChild(StateBadge).accessibleName())


async def test_the_button_opens_the_page_and_waits_for_the_outcome(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(lambda url: shown.append(url.toString()) or True))
    async with Desk(FakePresenter([WAITING]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.card("a"), "Sign in").click()
        await desk.asked("finish_sign_in", "a", None)
        assert shown == [PAGE]


async def test_without_a_browser_the_card_says_so_and_the_address_can_be_copied(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(lambda url: False))
    async with Desk(FakePresenter([WAITING]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.failures["finish_sign_in"] = TooltrayError("no answer")
        desk.page.verbs.show_sign_in_address("a", PAGE)
        assert "No browser could be opened" in words(desk.card("a"))
        desk.engine.set_state("a", ServerState.NEEDS_SIGN_IN, has_sign_in_page=True)
        await until(lambda: desk.card("a").server.has_sign_in_page)
        control(desk.card("a"), "Copy the sign-in address of a").click()
        await until(lambda: QGuiApplication.clipboard().text() == PAGE)


class SigningIn(FakePresenter):
    """One in which a sign-in to "a" goes on until it is finished or cancelled."""

    def __init__(self, *servers: ServerSnapshot) -> None:
        super().__init__(servers)
        self.over = asyncio.Event()
        self.error: TooltrayError | None = None

    async def begin_sign_in(self, name: str) -> SignInSnapshot:
        self.set_state(name, ServerState.NEEDS_SIGN_IN, has_sign_in_page=True)
        return ANSWERS["begin_sign_in"](self, name)

    async def finish_sign_in(self, name: str, callback_url: str | None = None) -> None:
        if name == "a":
            await self.over.wait()
        self.set_state(name, ServerState.NEEDS_SIGN_IN, has_sign_in_page=False)
        if self.error:
            raise self.error

    async def cancel_sign_in(self, name: str) -> None:
        self.end(TooltrayError("the sign-in to 'a' was cancelled"))

    def end(self, error: TooltrayError | None = None) -> None:
        self.error = error
        self.over.set()


@pytest.fixture
def shown_pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that a browser was asked to show."""
    shown: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(lambda url: shown.append(url.toString()) or True))
    return shown


async def begun(desk: Desk) -> None:
    await until(lambda: desk.page.server_list.cards)
    control(desk.card("a"), "Sign in").click()
    await desk.asked("finish_sign_in", "a", None)
    await until(lambda: desk.card("a").server.has_sign_in_page)


async def test_a_sign_in_that_runs_is_cancelled_without_a_word_of_failure(theme: Theme, shown_pages: list[str]) -> None:
    async with Desk(SigningIn(WAITING), theme) as desk:
        await begun(desk)
        assert "Waiting for the browser" in words(desk.card("a"))
        assert badge(desk) == "Waiting"
        desk.wishes.sign_in_cancel_requested.emit("a")  # as by Cancel, which does not hear the second half of a double click
        await until(lambda: not desk.card("a").server.has_sign_in_page)
        await until(lambda: not len(desk.tasks))
        assert badge(desk) == "Sign in"
        assert "cancelled" not in words(desk.card("a"))
        assert "Signed in" not in words(desk.window)


async def test_a_sign_in_that_works_is_said_and_one_that_fails_says_why_on_the_card(theme: Theme, shown_pages: list[str]) -> None:
    async with Desk(SigningIn(WAITING), theme) as desk:
        await begun(desk)
        desk.engine.end(TooltrayError("the page refused", "access_denied"))
        await until(lambda: "The page refused" in words(desk.card("a")))
        desk.engine.over.clear()
        desk.wishes.sign_in_requested.emit("a")
        await until(lambda: len(shown_pages) == 2)
        desk.engine.end()
        await until(lambda: "Signed in to a" in words(desk.window))


async def test_a_sign_in_that_cannot_begin_says_why_on_the_card(theme: Theme) -> None:
    async with Desk(FakePresenter([WAITING]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.failures["begin_sign_in"] = TooltrayError("the server names no page")
        control(desk.card("a"), "Sign in").click()
        await until(lambda: "The server names no page" in words(desk.card("a")))


async def test_the_page_is_shown_again_or_its_address_copied_without_a_second_sign_in(theme: Theme, shown_pages: list[str]) -> None:
    async with Desk(SigningIn(WAITING), theme) as desk:
        await begun(desk)
        control(desk.card("a"), "Open the sign-in page of a again").click()
        await until(lambda: shown_pages == [PAGE, PAGE])
        control(desk.card("a"), "Copy the sign-in address of a").click()
        await until(lambda: QGuiApplication.clipboard().text() == PAGE)
        desk.engine.end()
        await until(lambda: not len(desk.tasks))
        assert desk.engine.calls.count(("finish_sign_in", "a", None)) == 1


async def test_an_address_that_is_copied_begins_a_sign_in_whose_end_is_told(theme: Theme) -> None:
    async with Desk(SigningIn(WAITING), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.sign_in_address_requested.emit("a")
        await desk.asked("finish_sign_in", "a", None)
        desk.engine.end()
        await until(lambda: "Signed in to a" in words(desk.window))


async def test_without_a_browser_the_address_is_there_at_once_until_the_sign_in_is_over(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(lambda url: False))
    async with Desk(SigningIn(WAITING, server("b")), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.card("a"), "Sign in").click()
        await until(lambda: desk.window.sheet is not None)
        panel = desk.window.sheet.panel
        assert panel.findChild(QLineEdit).text() == PAGE
        control(panel, "Copy address").click()
        assert QGuiApplication.clipboard().text() == PAGE
        desk.wishes.sign_in_requested.emit("b")  # another server
        await until(lambda: "Signed in to b" in words(desk.window))
        assert desk.window.sheet is not None
        desk.engine.end()
        await until(lambda: desk.window.sheet is None)


async def test_where_another_sheet_is_open_the_card_has_the_address(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(lambda url: False))
    async with Desk(SigningIn(WAITING), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.open_network(), "Add registry").click()
        desk.window.open_page("servers")
        sheet = desk.window.sheet
        desk.wishes.sign_in_requested.emit("a")
        await until(lambda: "No browser could be opened" in words(desk.card("a")))
        assert desk.window.sheet is sheet
        sheet.dismiss()
        await until(lambda: desk.card("a").server.has_sign_in_page)
        assert control(desk.card("a"), "Copy the sign-in address of a")


async def test_while_the_browser_is_waited_for_the_card_offers_to_cancel(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.NEEDS_SIGN_IN, has_sign_in_page=True)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        assert "Waiting for the browser" in words(desk.card("a"))
        control(desk.card("a"), "Cancel").click()
        await desk.asked("cancel_sign_in", "a")


async def test_signing_out_is_said(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", is_signed_in=True)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.sign_out_requested.emit("a")
        await desk.asked("sign_out", "a")
        await until(lambda: "Signed out of a" in words(desk.window))


def test_an_on_demand_server_says_when_it_stops_and_a_default_one_does_not() -> None:
    assert stops_after(server("a", ServerState.ON_DEMAND, idle_stop_s=300)) == "Stops after 5 min without a call"
    assert stops_after(server("a", ServerState.ON_DEMAND, idle_stop_s=30)) == "Stops after 30 s without a call"
    assert stops_after(server("a", idle_stop_s=30, is_default=True)) == stops_after(server("a")) == ""
    assert saved_processes(server("a", saved_processes=2)) == "Started directly: 2 processes saved"


def test_a_sign_in_is_no_error_and_its_button_says_what_to_do() -> None:
    from datetime import datetime

    shown = foot(WAITING, None, datetime(2026, 11, 22))
    assert (shown.action, shown.tone, shown.headline) == (Action.SIGN_IN, "warning", "a wants you to sign in")
    assert shown.detail == "It requires a sign-in."
    ended = server("a", ServerState.NEEDS_SIGN_IN, problem=Problem("x", "the sign-in has expired", "Press it"))
    assert foot(ended, None, datetime(2026, 11, 22)).detail == "The sign-in has expired."


def test_a_card_says_what_its_server_wrote_and_not_its_name_again() -> None:
    from datetime import datetime

    problem = Problem(DID_NOT_START.filled(name="files", words="error: the folder is not there"), "It ended with exit code 1")
    assert (
        foot(server("files", ServerState.ERROR, problem=problem), None, datetime(2026, 11, 22)).headline == "Error: the folder is not there"
    )


async def test_why_shows_what_was_found_and_carries_a_remedy_out(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.ERROR, problem=Problem("not found"))]), theme) as desk:
        found = Diagnosis(
            "a", False, "stdio", "error", command=("npx", "-y", "x"), searched=("/bin",), exit_code=127, remedies=(FULL_PATH,)
        )
        desk.engine.diagnoses = [found]
        await until(lambda: desk.page.server_list.cards)
        control(desk.card("a"), "Why?").click()
        panel = desk.window.sheet.panel
        await until(lambda: "npx -y x" in words(panel))
        assert {"/bin", "127", "/opt/npx"} <= set(words(panel).split("\n"))
        control(panel, "Use the full path").click()
        await desk.asked("apply_remedy", "a", "use_absolute_path", "/opt/npx")
        await until(lambda: "Done" in words(panel))


async def test_a_remedy_that_fails_says_so_in_the_sheet(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.ERROR, problem=Problem("not found"))]), theme) as desk:
        desk.engine.diagnoses = [Diagnosis("a", False, "stdio", "error", remedies=(FULL_PATH,))]
        desk.engine.failures["apply_remedy"] = TooltrayError("the settings cannot be written")
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.diagnosis_requested.emit("a")
        panel = desk.window.sheet.panel
        await until(lambda: "/opt/npx" in words(panel))
        control(panel, "Use the full path").click()
        await until(lambda: "The settings cannot be written" in words(panel))
        assert control(panel, "Use the full path").isEnabled()


FAILED = server("a", ServerState.ERROR, problem=Problem("not found"))


async def why(desk: Desk, *found: Diagnosis) -> QWidget:
    """The sheet, with what was found."""
    desk.engine.diagnoses = list(found)
    await until(lambda: desk.page.server_list.cards)
    desk.wishes.diagnosis_requested.emit("a")
    panel: QWidget = desk.window.sheet.panel
    await until(lambda: "\n" in words(panel) and "Looking into it…" not in words(panel))
    return panel


async def test_why_says_what_is_wrong_and_the_server_s_last_lines_or_that_nothing_is(theme: Theme) -> None:
    async with Desk(FakePresenter([FAILED]), theme) as desk:
        problem = Problem("command 'x' not found", "looked in /bin")
        panel = await why(
            desk, Diagnosis("a", False, "stdio", "error", problem=problem, stderr=("first", "sh: x: not found"), noise_lines=3)
        )
        assert {"Command 'x' not found", "3 on its output are not MCP messages"} <= set(words(panel).split("\n"))
        assert panel.findChild(QPlainTextEdit).toPlainText() == "first\nsh: x: not found"
        desk.window.sheet.dismiss()
        panel = await why(desk, Diagnosis("a", True, "stdio", "running"))
        assert "Nothing is wrong with it now" in words(panel)
        desk.window.sheet.dismiss()
        remark, flaws = "it usually needs API_KEY; add it with --secret API_KEY", ("tool 'a': title is null, not a string (left out)", "b")
        panel = await why(desk, Diagnosis("a", True, "stdio", "running", remark=remark, flaws=flaws))
        assert "It usually needs API_KEY; add it with --secret API_KEY." in words(panel)
        assert "\n".join(flaws) in words(panel)
        desk.window.sheet.dismiss()
        assert "No cause found." in words(await why(desk))


async def test_a_diagnosis_that_fails_says_so_and_looks_no_longer(theme: Theme) -> None:
    async with Desk(FakePresenter([FAILED]), theme) as desk:
        desk.engine.failures["diagnose"] = TooltrayError("the hub is busy")
        assert "The hub is busy" in words(await why(desk))


@pytest.mark.parametrize(("remedy", "variant"), [(Remedy("start", "try again", "", True), "primary"), (FULL_PATH, "secondary")])
async def test_where_only_another_entry_helps_edit_stands_out(theme: Theme, remedy: Remedy, variant: str) -> None:
    async with Desk(FakePresenter([server("a", ServerState.ERROR)]), theme) as desk:
        found = Diagnosis("a", False, "stdio", "error", problem=Problem("The folder does not exist"), remedies=(remedy,))
        assert control(await why(desk, found), "Edit").property("variant") == variant


async def test_remedies_for_a_person_s_own_hands_can_be_copied_and_advice_has_no_button(theme: Theme) -> None:
    async with Desk(FakePresenter([FAILED]), theme) as desk:
        remedies = (Remedy("install_runtime", "install uv", "pipx install uv"), Remedy("advice", "look whether it still exists"))
        panel = await why(desk, Diagnosis("a", False, "stdio", "error", remedies=remedies))
        assert "Look whether it still exists" in words(panel)
        control(panel, "Copy, Install uv").click()
        assert QGuiApplication.clipboard().text() == "pipx install uv"
        names = [each.accessibleName() or each.text() for each in panel.findChildren(QAbstractButton) if each.isVisibleTo(panel)]
        assert sorted(names) == ["Close", "Close", "Copy, Install uv", "Edit a", "Show log"]


async def test_a_remedy_of_a_kind_that_nobody_knew_can_be_carried_out_too(theme: Theme) -> None:
    async with Desk(FakePresenter([FAILED]), theme) as desk:
        panel = await why(desk, Diagnosis("a", False, "stdio", "error", remedies=(Remedy("new_kind", "do the new thing", "", True),)))
        control(panel, "Do it").click()
        await desk.asked("apply_remedy", "a", "new_kind", "")


async def test_why_leads_to_the_sign_in_and_to_the_log(theme: Theme, shown_pages: list[str]) -> None:
    async with Desk(FakePresenter([FAILED]), theme) as desk:
        panel = await why(desk, Diagnosis("a", False, "http", "error", remedies=(Remedy("sign_in", "sign in to a"),)))
        control(panel, "Sign in").click()
        await until(lambda: shown_pages == [PAGE])
        assert desk.window.sheet is None
        panel = await why(desk, Diagnosis("a", False, "http", "error"))
        control(panel, "Show log").click()
        await until(lambda: isinstance(desk.window.sheet.panel, LogSheet))


class Slow(FakePresenter):
    """One whose diagnoses and remedies take until a test lets them end."""

    def __init__(self, *servers: ServerSnapshot) -> None:
        super().__init__(servers)
        self.may_end = asyncio.Event()
        self.ended: list[str] = []
        self.error: TooltrayError | None = None

    async def diagnose(self, server: str | None = None, wait_s: float = 0.0) -> list[Diagnosis]:
        await self.may_end.wait()
        self.ended.append("diagnose")
        return [Diagnosis("a", False, "stdio", "error", remedies=(FULL_PATH,))]

    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        await self.may_end.wait()
        self.ended.append("apply_remedy")
        if self.error:
            raise self.error
        return "done"


async def closed(desk: Desk) -> None:
    """The sheet is closed, and gone for good."""
    panel = desk.window.sheet.panel
    desk.window.sheet.dismiss()
    await until(lambda: not isValid(panel))


async def test_a_diagnosis_that_ends_after_its_sheet_was_closed_is_for_nobody(theme: Theme) -> None:
    async with Desk(Slow(FAILED), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.diagnosis_requested.emit("a")
        await desk.asked("diagnose", "a")
        await closed(desk)
        desk.engine.may_end.set()
        await until(lambda: not len(desk.tasks))


@pytest.mark.parametrize("fails", [False, True])
async def test_a_remedy_that_ends_after_its_sheet_was_closed_is_for_nobody(theme: Theme, fails: bool) -> None:
    async with Desk(Slow(FAILED), theme) as desk:
        desk.engine.may_end.set()
        panel = await why(desk)
        desk.engine.may_end.clear()
        if fails:
            desk.engine.error = TooltrayError("the settings cannot be written")
        control(panel, "Use the full path").click()
        await desk.asked("apply_remedy", "a", FULL_PATH.kind, FULL_PATH.value)
        assert not control(panel, "Use the full path").isEnabled()
        await closed(desk)
        desk.engine.may_end.set()
        await until(lambda: not len(desk.tasks))
        assert desk.engine.ended[-1] == "apply_remedy"
