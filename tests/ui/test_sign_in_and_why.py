"""A server that wants a sign-in offers it on its card; one that does not run says why, and what can be done."""

import pytest
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter, server

from tooltray.errors import Problem, TooltrayError
from tooltray.events import ServerState
from tooltray.servers.diagnosis import Diagnosis, Remedy
from tooltray.ui.server_words import Action, foot, saved_processes, stops_after
from tooltray.ui.theme import Theme

WAITING = server("a", ServerState.NEEDS_SIGN_IN, problem=Problem("sign in to 'a'"))
PAGE = "https://sign.in.example/a"
FULL_PATH = Remedy("use_absolute_path", "use the full path of npx", "/opt/npx", True)


def words(widget: QWidget) -> str:
    return "\n".join(label.accessibleName() or label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


def control(widget: QWidget, name: str) -> QAbstractButton:
    for each in widget.findChildren(QAbstractButton):
        if each.isVisibleTo(widget) and name in (each.text(), each.accessibleName()):
            return each
    raise AssertionError(f"no control {name!r}")


async def test_the_button_opens_the_page_and_waits_for_the_outcome(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(lambda url: shown.append(url.toString()) or True))
    async with Desk(FakePresenter([WAITING]), theme) as desk:
        await until(lambda: desk.window.page.cards)
        control(desk.card("a"), "Sign in").click()
        await desk.asked("finish_sign_in", "a", None)
        assert shown == [PAGE]


async def test_without_a_browser_the_card_says_so_and_the_address_can_be_copied(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(lambda url: False))
    async with Desk(FakePresenter([WAITING]), theme) as desk:
        await until(lambda: desk.window.page.cards)
        desk.engine.failures["finish_sign_in"] = TooltrayError("nobody answered")
        desk.commands.page_wanted.emit("a", PAGE)
        assert "No browser could be opened" in words(desk.card("a"))
        desk.engine.set_state("a", ServerState.NEEDS_SIGN_IN, has_sign_in_page=True)
        await until(lambda: desk.card("a").server.has_sign_in_page)
        control(desk.card("a"), "Copy the sign-in address of a").click()
        await until(lambda: QGuiApplication.clipboard().text() == PAGE)


async def test_while_the_browser_is_waited_for_the_card_offers_to_cancel(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.NEEDS_SIGN_IN, has_sign_in_page=True)]), theme) as desk:
        await until(lambda: desk.window.page.cards)
        assert "Waiting for the browser" in words(desk.card("a"))
        control(desk.card("a"), "Cancel").click()
        await desk.asked("cancel_sign_in", "a")


async def test_signing_out_is_said(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", is_signed_in=True)]), theme) as desk:
        await until(lambda: desk.window.page.cards)
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
    assert (shown.action, shown.tone, shown.headline) == (Action.SIGN_IN, "warning", "Sign in to 'a'")


async def test_why_shows_what_was_found_and_carries_a_remedy_out(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", ServerState.ERROR, problem=Problem("not found"))]), theme) as desk:
        found = Diagnosis(
            "a", False, "stdio", "error", command=("npx", "-y", "x"), searched=("/bin",), exit_code=127, remedies=(FULL_PATH,)
        )
        desk.engine.diagnoses = [found]
        await until(lambda: desk.window.page.cards)
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
        await until(lambda: desk.window.page.cards)
        desk.window.open_why("a")
        panel = desk.window.sheet.panel
        await until(lambda: "/opt/npx" in words(panel))
        control(panel, "Use the full path").click()
        await until(lambda: "The settings cannot be written" in words(panel))
        assert control(panel, "Use the full path").isEnabled()
