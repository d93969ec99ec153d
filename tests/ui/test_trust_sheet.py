"""Servers of a project's file run only after a person has seen what they start; a yes is for what was on the screen, and nothing else."""

import asyncio

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.scenes.shown_files import DB, DEPLOY, REQUESTS, SHOP, SITE, THIEF, many_requests
from tests.ui.seen import button, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.events import ServerFilesChanged
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.projects.trust_sheet import MOST_ENTRIES, TrustSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch

GO = ("Allow", "Allow 2 servers")


def engine(requests: list[TrustRequest]) -> FakePresenter:
    fake = FakePresenter([server("a")])
    fake.trust_requests = list(requests)
    return fake


def switch(panel: QWidget, name: str) -> Switch:
    return next(each for each in panel.findChildren(Switch) if each.accessibleName() == f"Allow {name}" and each.isVisibleTo(panel))


async def waiting(desk: Desk) -> None:
    await until(lambda: desk.projects.waiting)


async def asked(desk: Desk, project: str = SHOP, *, is_guarded: bool = False) -> TrustSheet:
    """Opens the sheet of a project; when it takes answers unless `is_guarded`."""
    await waiting(desk)
    desk.projects.open_trust(project)
    assert desk.window.sheet is not None
    panel = desk.window.sheet.panel
    assert isinstance(panel, TrustSheet)
    if not is_guarded:
        panel._guard.setInterval(0)
        await until(lambda: not panel._guard.isActive())
        await asyncio.sleep(0)
    return panel


async def test_the_sheet_names_the_clients_whose_profile_will_not_have_the_servers(theme: Theme) -> None:
    fake = engine([DEPLOY])
    fake.profiles = [ProfileSnapshot("work", ("a",), {}), ProfileSnapshot("all", None, {})]
    fake.client_modes = [
        ClientModeSnapshot("claude-code", "Claude Code", "", "everything", "", profile="work"),
        ClientModeSnapshot("codex", "Codex", "", "everything", "", profile="all"),
    ]
    here, there = (SessionProject(path, "", "folder") for path in (SHOP, SITE))
    fake.sessions = (
        SessionSnapshot("1", "cursor", profile="work", project=here),
        SessionSnapshot("2", "zed", profile="work", project=there),
    )
    async with Desk(fake, theme) as desk:
        panel = await asked(desk)
        text = "Not seen by Claude Code (profile work), cursor (profile work) until you add it to the profile, in Clients."
        await until(lambda: text in words(panel))
        fake.profiles = [ProfileSnapshot("work", ("a", "deploy"), {})]
        await panel._read_profiles()
        assert "Not seen by" not in words(panel)
        fake.failures["get_profiles"] = TooltrayError("the settings cannot be read")
        await panel._read_profiles()
        assert "cannot be read" not in words(panel)


async def again(desk: Desk, requests: list[TrustRequest]) -> None:
    """Something else waits now."""
    desk.engine.trust_requests = list(requests)
    desk.engine.bus.publish(ServerFilesChanged())
    await until(lambda: list(desk.projects._requests) == requests and not len(desk.tasks))


async def test_it_shows_what_each_server_starts_and_where_and_what_it_gets(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        said = words(await asked(desk))
        for text in (DEPLOY.target, SHOP, "deploy/KEY", "STAGE", "calls that only read", "line 14", "all calls, also those that write"):
            assert text in said
        assert "your whole environment" in said
        assert "collect.example.net" not in said  # another project's


async def test_of_each_variable_it_says_whether_it_is_set_now(theme: Theme) -> None:
    wants = replace(DEPLOY, variables=("A", "B", "C"), variable_states=("set", "default", "missing"))
    async with Desk(engine([wants]), theme) as desk:
        panel = await asked(desk)
        said = words(panel)
        for text in ("A: is set now", "B: is not set; its default counts", "C: is not set; without it the server cannot start"):
            assert text in said
        is_on = switch(panel, "deploy").isChecked()
        await again(desk, [replace(wants, variable_states=("set", "default", "set"))])
        assert "C: is set now" in words(panel)
        assert "It has changed while you looked at it" not in words(panel)
        assert switch(panel, "deploy").isChecked() is is_on
        await again(desk, [replace(wants, variable_states=())])  # of a hub that does not know it
        assert "A\nB\nC" in words(panel)


async def test_a_server_elsewhere_shows_its_host_apart_and_its_warnings_and_is_off(theme: Theme) -> None:
    async with Desk(engine([THIEF]), theme) as desk:
        panel = await asked(desk, SITE)
        said = words(panel)
        for text in (
            "collect.example.net",
            THIEF.target,
            "github/TOKEN, linear/KEY, openai/KEY",
            "It asks for every secret that you have.",
        ):
            assert text in said
        assert not switch(panel, "lint").isChecked()
        assert not button(panel, *GO).isEnabled()


async def test_a_changed_one_shows_its_difference_and_that_its_program_lies_in_the_project_is_marked(theme: Theme) -> None:
    async with Desk(engine([DB, DEPLOY]), theme) as desk:
        panel = await asked(desk)
        difference = next(each for each in panel.findChildren(QPlainTextEdit) if each.accessibleName() == "What is different in db")
        assert "@example/postgres-mcp@3" in difference.toPlainText()
        assert any(each.accessibleName() == "Lies in the project" for each in panel.findChildren(QWidget) if each.isVisibleTo(panel))


async def test_a_yes_carries_the_digests_of_what_was_chosen_alone(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        panel = await asked(desk)
        assert not button(panel, *GO).isEnabled()  # of several, a person chooses each
        switch(panel, "deploy").click()
        button(panel, *GO).click()
        await desk.asked("trust_entries", SHOP, {"deploy": DEPLOY.digest})
        await until(lambda: desk.window.sheet is None)
        assert [request.entry for request in desk.projects.waiting] == ["lint"]  # what was looked at is not brought up again


async def test_both_at_once(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        panel = await asked(desk)
        switch(panel, "deploy").click()
        switch(panel, "db").click()
        button(panel, "Allow 2 servers").click()
        await desk.asked("trust_entries", SHOP, {"deploy": DEPLOY.digest, "db": DB.digest})


async def test_for_a_moment_after_it_is_shown_it_takes_no_yes(theme: Theme) -> None:
    async with Desk(engine([DEPLOY]), theme) as desk:
        panel = await asked(desk, is_guarded=True)
        assert switch(panel, "deploy").isChecked()
        assert not button(panel, *GO).isEnabled()
        assert panel._guard.interval() >= 700
        panel._guard.setInterval(0)  # as if the moment were over
        panel._guard.start()
        await until(lambda: button(panel, *GO).isEnabled())


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
@pytest.mark.parametrize("modifier", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier])
async def test_enter_grants_nothing(theme: Theme, key: Qt.Key, modifier: Qt.KeyboardModifier) -> None:
    async with Desk(engine([DEPLOY]), theme) as desk:
        panel = await asked(desk)
        assert button(panel, "Not now").hasFocus()
        for widget in (button(panel, "Not now"), switch(panel, "deploy"), panel, desk.window.sheet):
            QTest.keyClick(widget, key, modifier)
        await asyncio.sleep(0)
        assert desk.window.sheet is not None
        assert not any(call[0] == "trust_entries" for call in desk.engine.calls)


async def test_an_entry_that_changes_while_it_is_looked_at_is_another_question(theme: Theme) -> None:
    async with Desk(engine([DEPLOY]), theme) as desk:
        panel = await asked(desk)
        changed = replace(DEPLOY, digest="9" * 64, target="./tools/deploy-server --all")
        panel._guard.setInterval(3_600_000)
        await again(desk, [changed])
        assert "./tools/deploy-server --all" in words(panel)
        assert DEPLOY.target not in words(panel)
        assert "It has changed while you looked at it" in words(panel)
        assert not switch(panel, "deploy").isChecked()
        switch(panel, "deploy").click()
        assert not button(panel, *GO).isEnabled()  # its moment begins anew
        panel._guard.stop()
        panel._draw()
        button(panel, *GO).click()
        await desk.asked("trust_entries", SHOP, {"deploy": "9" * 64})


async def test_what_did_not_change_keeps_its_switch(theme: Theme) -> None:
    async with Desk(engine([DEPLOY, DB]), theme) as desk:
        panel = await asked(desk)
        switch(panel, "db").click()
        await again(desk, [replace(DEPLOY, digest="9" * 64), DB])
        assert switch(panel, "db").isChecked()
        assert [request.entry for request in panel.shown] == ["deploy", "db"]


async def test_a_yes_that_comes_too_late_says_so_and_shows_what_is_there_now(theme: Theme) -> None:
    fake = engine([DEPLOY])
    fake.failures["trust_entries"] = Conflict("'deploy' has changed meanwhile")
    async with Desk(fake, theme) as desk:
        panel = await asked(desk)
        fake.trust_requests = [replace(DEPLOY, digest="9" * 64)]  # nobody has told of it yet
        button(panel, *GO).click()
        await until(lambda: "'deploy' has changed meanwhile" in words(panel))
        assert panel.shown[0].digest == "9" * 64
        assert not switch(panel, "deploy").isChecked()


async def test_it_closes_when_nothing_of_its_project_waits_any_more(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        await asked(desk)
        await again(desk, [THIEF])
        assert desk.window.sheet is None


async def test_not_now_and_escape_grant_nothing_and_are_not_asked_again(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        button(await asked(desk), "Not now").click()
        assert desk.window.sheet is None
        await asked(desk, SITE)
        QTest.keyClick(desk.window.sheet, Qt.Key.Key_Escape)
        assert desk.window.sheet is None
        assert desk.projects.waiting == []
        assert "Allow them?" not in words(desk.page)
        assert not any(call[0] == "trust_entries" for call in desk.engine.calls)


async def test_a_hundred_are_asked_a_dozen_at_a_time(theme: Theme) -> None:
    async with Desk(engine(many_requests(100)), theme) as desk:
        panel = await asked(desk)
        assert len(panel.shown) == MOST_ENTRIES
        assert "88 more wait. They are asked after these." in words(panel)
        switch(panel, "server-0").click()
        button(panel, *GO).click()
        await until(lambda: desk.window.sheet is None)
        await until(lambda: len(desk.projects.waiting) == 100 - MOST_ENTRIES)


async def test_a_very_long_command_is_there_in_full(theme: Theme) -> None:
    target = "npx " + "x" * 5000 + " --the-end"
    async with Desk(engine([replace(DEPLOY, target=target)]), theme) as desk:
        panel = await asked(desk)
        view = next(each for each in panel.findChildren(QPlainTextEdit) if each.accessibleName() == "What deploy starts")
        assert view.toPlainText() == target


async def test_everything_in_it_has_a_name_and_tab_stays_inside(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        desk.window.resize(900, 600)
        panel = await asked(desk)
        assert nameless(desk.window) == []
        for _ in range(12):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            assert panel.isAncestorOf(QApplication.focusWidget())


async def test_its_file_can_be_opened(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtGui import QDesktopServices

    found: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: found.append(url.toLocalFile()) or True)
    async with Desk(engine(REQUESTS), theme) as desk:
        button(await asked(desk), "Open the file").click()
        assert found == [DEPLOY.file]


# how a person learns of it


async def test_the_servers_page_says_what_waits_and_leads_there(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        await waiting(desk)
        assert "2 projects bring 3 servers. Allow them?" in words(desk.window)
        button(desk.window, "See what they start").click()
        assert isinstance(desk.window.sheet.panel, TrustSheet)


async def test_what_was_put_away_comes_back_when_it_is_another_one(theme: Theme) -> None:
    async with Desk(engine([DEPLOY]), theme) as desk:
        await waiting(desk)
        assert "shop brings the server deploy. Allow it?" in words(desk.window)
        next(each for each in desk.window.findChildren(QAbstractButton) if each.accessibleName() == "Dismiss this notice").click()
        assert "Allow it?" not in words(desk.window)
        await again(desk, [replace(DB, is_change=True)])
        assert "shop brings the server db. Allow it?" in words(desk.window)
        assert "they run as you allowed them before" in words(desk.window)


async def test_the_page_of_files_lists_what_waits_by_project_and_leads_there_also_after_not_now(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        await waiting(desk)
        desk.projects.put_off()
        desk.open_projects()
        page = desk.projects
        rows = page._folders.rows
        assert [(row.path, len(row.requests)) for row in rows] == [(SHOP, 2), (SITE, 1)]
        model = page._folders.model()
        assert [model.index(row, 2).data() for row in range(2)] == ["New", "Look closely"]
        page._folders.row_chosen.emit(rows[1])
        assert [request.entry for request in desk.window.sheet.panel.shown] == ["lint"]


async def test_when_the_engine_is_gone_nothing_waits(theme: Theme) -> None:
    async with Desk(engine(REQUESTS), theme) as desk:
        await waiting(desk)
        desk.link.detach()
        desk.hub.forget()
        assert desk.projects.waiting == []


# what programs have proposed

ADDED = replace(DEPLOY, project="", file="/h/settings.json", entry="added", digest="5" * 64, asked_by="ci", is_inside=False)
CHANGED = replace(DB, project="", file="/h/settings.json", entry="changed", digest="6" * 64, asked_by="ci")


async def test_a_program_that_wants_something_is_named_and_a_yes_goes_the_same_way(theme: Theme) -> None:
    async with Desk(engine([ADDED, DEPLOY]), theme) as desk:
        panel = await asked(desk, "")
        assert "the program with the token ci" in words(panel)
        assert "A program wants to add or change servers" in words(panel)
        assert [each.entry for each in panel.shown] == ["added"]
        button(panel, "Allow").click()
        await desk.asked("trust_entries", "", {"added": ADDED.digest})


async def test_what_a_program_wants_is_refused_as_far_as_it_is_not_switched_on(theme: Theme) -> None:
    async with Desk(engine([ADDED, CHANGED]), theme) as desk:
        panel = await asked(desk, "")
        switch(panel, "added").click()
        button(panel, "Decline").click()
        await desk.asked("distrust_entries", "", "changed")
        await until(lambda: desk.window.sheet is None)
        assert ("distrust_entries", "", "added") not in desk.engine.calls


async def test_a_card_says_what_a_program_wants_of_it_and_leads_to_the_sheet(theme: Theme) -> None:
    new = replace(server("added"), state=ServerState.WAITING, origin="proposal", waiting=True, tool_count=0)
    async with Desk(FakePresenter([new, replace(server("b"), waiting=True)]), theme) as desk:
        desk.engine.trust_requests = [ADDED]
        desk.engine.bus.publish(ServerFilesChanged())
        await waiting(desk)
        assert "A program wants to add this server" in words(desk.window)
        assert "A program wants to change this server" in words(desk.window)
        desk.wishes.trust_requested.emit("added")
        await until(lambda: desk.window.sheet is not None)
        assert isinstance(desk.window.sheet.panel, TrustSheet)
        desk.wishes.refusal_requested.emit("added")
        await desk.asked("distrust_entries", "", "added")


async def test_a_refusal_of_a_card_that_fails_is_said_above_the_pages(theme: Theme) -> None:
    async with Desk(engine([]), theme) as desk:
        assert desk.projects.waiting == []
        desk.engine.failures["distrust_entries"] = TooltrayError("the disk is full")
        desk.wishes.refusal_requested.emit("added")
        await until(lambda: "The disk is full" in words(desk.window))
