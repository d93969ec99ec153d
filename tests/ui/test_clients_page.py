"""The page of AI clients shows each once, with what it sees, and hands on what a person chooses for it."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit, QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.found_clients import CHANGES, SCAN
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import cells, control, drawn, field, words
from tests.ui.test_profile_sheet import table, tick

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import SessionListChanged
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.foundation.snapshots.tools import ToolCosts
from tooltray.ui.clients.client_pane import ClientPane
from tooltray.ui.clients.client_table import BUTTON, CONTEXT, NAME, NARROW, NEW, PROFILE, STATE, WIDTHS, ClientDelegate, OtherClients
from tooltray.ui.clients.clients_page import ClientsPage, ImportBanner
from tooltray.ui.clients.profile_sheet import ProfileSheet, ProfilesSheet
from tooltray.ui.kit.destinations import Clients, OpenClient, Profiles
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import PADDING
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.toast import Toast
from tooltray.ui.zoom import px

SHOP = SessionProject("/srv/projects/shop", "shop", "folder")
FIRST = SessionSnapshot("s1", "claude-code", "2.4", mode="lazy", project=SHOP, activated=("serena",), kind="claude-code")
LEFT = SessionSnapshot("s2", "cursor-7", profile="coding", is_connected=False, server="files")
KINDS = [
    ClientModeSnapshot("claude-code", "Claude Code", "lazy", "lazy", "It obeys.", is_seen=True),
    ClientModeSnapshot("cursor-*", "Cursor", "", "everything", "Nothing is lazy.", "coding", auto_approve=("read_*",)),
    ClientModeSnapshot("", "", "", "everything", "Nothing is lazy."),
]
PROFILES = [ProfileSnapshot("coding", None, {}), ProfileSnapshot("web", ("web",), {})]


def engine(sessions: tuple[SessionSnapshot, ...] = (FIRST, LEFT), scan: ClientScan = SCAN) -> FakePresenter:
    fake = FakePresenter([server("a")])
    fake.sessions, fake.client_modes, fake.profiles, fake.client_scan = list(sessions), list(KINDS), list(PROFILES), scan
    fake.costs = ToolCosts("o200k", 36_650, 3_190, ())
    return fake


async def opened(desk: Desk) -> ClientsPage:
    desk.window.open_page("clients")
    await until(lambda: desk.window.context.scans.scan is not None and not len(desk.tasks))
    return desk.clients


def place(page: ClientsPage, name: str) -> int:
    return next(place for place, row in enumerate(page.table.rows) if not isinstance(row, OtherClients) and row.name == name)


async def pane(desk: Desk, name: str) -> ClientPane:
    page = await opened(desk)
    page.table.selectRow(place(page, name))
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    assert page.pane is not None
    return page.pane


def choice(shown: ClientPane, name: str) -> Choice:
    return next(each for each in shown.findChildren(Choice) if each.accessibleName().startswith(f"{name}:"))


async def picked(shown: ClientPane, name: str, value: str) -> None:
    """Chooses as a person does: the menu passes what was chosen."""
    choice(shown, name).click()
    menu = shown.findChild(QMenu)
    next(action for action in menu.actions() if action.data() == value).trigger()
    menu.close()


def row_menu(page: ClientsPage, name: str) -> QMenu:
    """Opens the menu of a row by a click on its profile."""
    cell = page.table.visualRect(page.table.model().index(place(page, name), PROFILE)).center()
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    menu = page.table.findChild(QMenu)
    assert isinstance(menu, QMenu)
    return menu


def choose(menu: QMenu, text: str) -> None:
    next(action for action in menu.actions() if action.text() == text).trigger()
    menu.close()


async def undo(desk: Desk) -> str:
    await until(lambda: [each for each in desk.window.findChildren(Toast) if each.isVisible()])
    toast = [each for each in desk.window.findChildren(Toast) if each.isVisible()][-1]
    control(toast, "Undo").click()
    await until(lambda: not len(desk.tasks))
    return toast.text


# the list


async def test_each_client_is_one_row_with_its_state_its_tokens_and_its_profile(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        rows = {row[NAME]: row for row in (cells(page.table, number) for number in range(len(page.table.rows)))}
        assert list(rows)[:4] == ["Claude Code", "Zed", "Codex", "Cursor"]
        assert rows["Claude Code"] == ["Claude Code", "Connected", "3,190 · 1 per server", "Everything", ""]
        assert rows["Cursor"] == ["Cursor", "Set up", "3,190 · in full", "coding", "Disconnect"]  # who left is not connected
        assert rows["Gemini CLI"] == ["Gemini CLI", "Not set up", "", "", "Connect"]
        assert list(rows)[-1] == "Other clients (2)"
        tip = page.table.model().index(0, CONTEXT).data(Qt.ItemDataRole.ToolTipRole)
        assert tip == "3,190 of 36,650 tokens in its context\nThe client is given one small tool per server; using it loads the rest."
        assert "1 connected" in words(page)


async def test_a_row_says_how_its_client_gets_the_tools_also_where_it_has_what_any_other_gets(theme: Theme) -> None:
    fake = engine(())
    fake.client_modes = [replace(KINDS[0], mode="", shown_mode="everything"), replace(KINDS[2], shown_mode="search")]
    async with Desk(fake, theme) as desk:
        table = (await opened(desk)).table
        shown = {name: cells(table, place(desk.clients, name))[CONTEXT] for name in ("Claude Code", "Cursor")}
        assert shown == {"Claude Code": "3,190 · in full", "Cursor": "3,190 · search"}
        longest = theme.metrics("body", tabular=True).horizontalAdvance("11,987 · 1 per server")
        assert longest <= px(ClientDelegate.bar_words)
        assert longest <= px(NARROW[CONTEXT] - 2 * PADDING)


async def test_the_default_of_all_clients_and_the_size_are_two_choices_that_say_which_is_which(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Cursor")
        assert choice(shown, "Tool listing").accessibleName() == "Tool listing: Default for all clients"
        control(desk.clients, "Defaults…").click()
        await until(lambda: desk.window.context.sheets.panel is not None and not len(desk.tasks))
        sheet = desk.window.context.sheets.panel
        names = {each.accessibleName() for each in sheet.findChildren(QAbstractButton)}
        assert {"As each server is set", "Automatic, by size"} <= names
        assert "Default for all clients" not in names


async def test_bars_compare_what_clients_read_though_servers_of_a_project_make_more_of_all_tools(theme: Theme) -> None:
    fake = engine((FIRST,))
    costs = {"s1": ToolCosts("o200k", 4_000, 4_000, ())}
    fake.costs = ToolCosts("o200k", 2_000, 2_000, ())
    fake.get_tool_costs = lambda client, session: costs.get(session, fake.costs)
    async with Desk(fake, theme) as desk:
        table = (await opened(desk)).table
        shares = {
            name: table.model().index(place(desk.clients, name), CONTEXT).data(Qt.ItemDataRole.UserRole)[0]
            for name in ("Claude Code", "Cursor")
        }
        assert shares == {"Claude Code": 1.0, "Cursor": 0.5}


async def test_clients_that_are_not_installed_are_folded(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        table, count = page.table, len(page.table.rows)
        table.selectRow(count - 1)
        QTest.keyClick(table, Qt.Key.Key_Right)
        assert [cells(table, row)[:2] for row in range(count, count + 2)] == [["Jan", "Not installed"], ["Warp", "Not installed"]]
        table.selectRow(count)
        QTest.keyClick(table, Qt.Key.Key_Return)
        copied: list[bool] = []
        desk.window.context.links.entry_copy_requested.connect(lambda: copied.append(True))
        control(page.pane, "Copy the entry for an AI client").click()
        assert copied
        table.selectRow(count - 1)
        QTest.keyClick(table, Qt.Key.Key_Left)
        assert len(table.rows) == count
        QTest.keyClick(table, Qt.Key.Key_Left)  # it is folded already
        assert len(table.rows) == count


async def test_a_profile_gets_the_room_of_buttons_that_no_row_has(theme: Theme) -> None:
    for scan, has_buttons in ((SCAN, True), (ClientScan(()), False)):
        async with Desk(engine(scan=scan), theme) as desk:
            page = await opened(desk)
            page.table.resize(560, 500)
            assert page.table.isColumnHidden(BUTTON) is not has_buttons
            assert (page.table.columnWidth(PROFILE) == WIDTHS[PROFILE]) is not has_buttons


async def test_without_a_client_here_the_supported_ones_are_shown_on_demand(theme: Theme) -> None:
    scan = ClientScan(tuple(AiClient(f"c{number}", f"Client {number}", is_installed=False) for number in range(43)))
    fake = engine((), scan)
    fake.client_modes = [KINDS[2]]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        assert "No supported client found" in words(page)
        control(page, "Show supported clients. None of them is installed on this computer").click()
        assert len(page.table.rows) == 44
        assert page.table.isVisible()
        page.table.selectRow(0)
        QTest.keyClick(page.table, Qt.Key.Key_Left)
        assert "No supported client found" in words(page)


async def test_what_a_client_reads_is_one_figure_in_the_list_and_in_its_pane(theme: Theme) -> None:
    """All clients have profiles, which leave servers out: the figure for all tools is still that of all servers."""
    fake = engine()
    fake.client_modes, fake.sessions = [replace(KINDS[0], profile="web"), KINDS[2]], []
    fake.cost_of["claude-code"] = ToolCosts("o200k", 500, 425, ())
    async with Desk(fake, theme) as desk:
        shown = await pane(desk, "Claude Code")
        cell = desk.clients.table.model().index(place(desk.clients, "Claude Code"), CONTEXT)
        assert cell.data() == "425 · 1 per server"
        assert cell.data(Qt.ItemDataRole.ToolTipRole).startswith("425 of 36,650 tokens in its context\n")
        assert "425 of 36,650 tokens in its context" in words(shown)


async def test_what_a_connected_client_reads_is_what_its_largest_session_lists(theme: Theme) -> None:
    """One session works in a project with servers of its own; one of them ends while its cost is asked for."""
    fake = engine((replace(FIRST, id="gone", activated=("web",)), replace(FIRST, id="s3", project=None), FIRST))
    costs = {None: fake.costs, "s3": ToolCosts("o200k", 36_650, 4_000, ()), "s1": ToolCosts("o200k", 40_000, 5_000, ())}

    def cost(client: str | None, session: str | None) -> ToolCosts:
        if session == "gone":
            raise NotFound("session not found")
        return costs[session]

    fake.get_tool_costs = cost
    async with Desk(fake, theme) as desk:
        shown = await pane(desk, "Claude Code")
        assert cells(desk.clients.table, place(desk.clients, "Claude Code"))[CONTEXT] == "5,000 · 1 per server"
        assert "5,000 of 40,000 tokens in its context" in words(shown)


async def test_news_of_sessions_are_shown_and_nothing_is_asked_by_a_page_that_nobody_sees(theme: Theme) -> None:
    async with Desk(engine((FIRST,)), theme) as desk:
        shown = await pane(desk, "Claude Code")
        desk.engine.calls.clear()
        desk.engine.sessions = [replace(FIRST, version="2.5")]
        desk.engine.bus.publish(SessionListChanged())
        await until(lambda: "2.5" in words(shown) and not len(desk.tasks))
        assert not [call for call in desk.engine.calls if call[0] == "get_tool_costs"]  # what it sees is the same
        desk.engine.sessions = [replace(FIRST, activated=("serena", "web"))]
        desk.engine.bus.publish(SessionListChanged())
        await until(lambda: "Loaded: serena, web" in words(shown) and not len(desk.tasks))
        assert ("get_tool_costs", None, "s1") in desk.engine.calls
        desk.engine.sessions = []
        desk.engine.bus.publish(SessionListChanged())
        await until(lambda: cells(desk.clients.table, place(desk.clients, "Claude Code"))[STATE] == "Not set up")
        assert "Loaded" not in words(shown)
        desk.window.open_page("servers")
        desk.engine.calls.clear()
        desk.engine.bus.publish(SessionListChanged())
        desk.engine.set_sessions(7)
        await until(lambda: desk.hub.snapshot is not None and desk.hub.snapshot.session_count == 7)
        assert ("get_sessions",) not in desk.engine.calls


async def test_a_hub_that_does_not_answer_is_said_on_the_page(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.engine.failures["get_sessions"] = TooltrayError("sessions are nowhere to be found")
        desk.window.open_page("clients")
        await until(lambda: "Sessions are nowhere to be found" in words(desk.clients))
        desk.engine.failures.clear()
        desk.clients.look_again()
        await until(lambda: "Sessions are nowhere to be found" not in words(desk.clients))


async def test_a_hundred_sessions_and_news_of_them_are_asked_for_a_few_times_only(theme: Theme) -> None:
    async with Desk(engine(tuple(replace(FIRST, id=str(number)) for number in range(100))), theme) as desk:
        page = await opened(desk)
        desk.engine.calls.clear()
        for _ in range(50):
            page.look_again()
        await until(lambda: ("get_sessions",) in desk.engine.calls and not len(desk.tasks))
        assert desk.engine.calls.count(("get_sessions",)) <= 2
        assert desk.engine.calls.count(("get_tool_costs", "claude-code")) <= 2
        assert "100 sessions are open." in page.table.model().index(0, STATE).data(Qt.ItemDataRole.ToolTipRole)


async def test_tokens_are_asked_for_once_for_clients_that_see_the_same(theme: Theme) -> None:
    fake = engine()
    fake.client_modes = [replace(KINDS[0], client=f"c{number}", title=f"C{number}") for number in range(30)]
    async with Desk(fake, theme) as desk:
        await opened(desk)
        asked = [call for call in fake.calls if call[0] == "get_tool_costs" and call[1]]
        assert len(asked) <= 2


# a profile for one client


async def test_a_profile_is_chosen_in_the_row_and_the_number_moves_at_once(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.engine.costs = ToolCosts("o200k", 36_650, 425, ())
        desk.engine.client_modes = [replace(KINDS[0], profile="web"), *KINDS[1:]]
        desk.engine.sessions = [replace(FIRST, profile="web")]
        choose(row_menu(page, "Claude Code"), "web")
        await desk.asked("set_client_profile", "claude-code", "web")
        await until(lambda: cells(page.table, 0)[CONTEXT : PROFILE + 1] == ["425 · 1 per server", "web"])
        assert page.pane is None  # the click was for the choice
        assert await undo(desk) == "Claude Code gets the profile web"
        assert ("set_client_profile", "claude-code", "") in desk.engine.calls


async def test_the_choice_in_a_row_is_opened_by_keys_and_the_same_profile_changes_nothing(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        page.table.selectRow(place(page, "Cursor"))
        QTest.keyClick(page.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        menu = page.table.findChild(QMenu)
        assert [action.text() for action in menu.actions() if action.isChecked()] == ["coding"]
        choose(menu, "coding")
        page.table.selectRow(place(page, "LM Studio"))  # nothing can be chosen for it
        QTest.keyClick(page.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        assert not [call for call in desk.engine.calls if call[0] == "set_client_profile"]


async def test_fewer_tools_for_one_client_are_three_clicks(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.engine.tools.append(tool("run", "a"))
        choose(row_menu(page, "Claude Code"), "Choose tools for Claude Code…")
        panel = desk.window.context.sheets.panel
        assert isinstance(panel, ProfileSheet)
        assert "Tools for Claude Code" in words(panel)
        assert "A profile is a named set of tools; a client that has it sees only those and Tooltray's own." in words(panel)
        assert field(panel, "Name").text() == "Claude Code's tools"
        assert "For Claude Code" in words(panel)
        assert field(panel, "Search servers and tools").hasFocus()
        await until(lambda: ("a", "run") in [choice.key for choice in table(panel).rows])  # in sight at once
        tick(panel, "a", "run")
        control(panel, "Save").click()
        await desk.asked("set_client_profile", "claude-code", "Claude Code's tools")
        assert ("set_profile", "Claude Code's tools", {"servers": ["a"], "tools": {}}) in desk.engine.calls
        await until(lambda: desk.window.sheet is None)


async def test_without_any_profile_the_choice_leads_to_the_tools_at_once(theme: Theme) -> None:
    fake = engine()
    fake.profiles, fake.client_modes = [], [replace(kind, profile="") for kind in KINDS]
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        page.table.selectRow(place(page, "Claude Code"))
        QTest.keyClick(page.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
        assert page.table.findChild(QMenu) is None
        assert "Tools for Claude Code" in words(desk.window.context.sheets.panel)


@pytest.mark.parametrize(("profile", "is_said"), [("web", True), ("coding", False)])
async def test_a_profile_of_some_servers_says_that_later_ones_are_not_in_it(theme: Theme, profile: str, is_said: bool) -> None:
    fake = engine()
    fake.client_modes[1] = replace(KINDS[1], profile=profile)
    async with Desk(fake, theme) as desk:
        shown = await pane(desk, "Cursor")
        assert ("A server that is allowed later, such as a project's" in words(shown)) is is_said


async def test_a_session_names_the_servers_of_its_project_that_its_profile_leaves_out(theme: Theme) -> None:
    project = SessionProject("/p", "p", "folder")
    fake = engine((replace(FIRST, profile="web", project=project),))
    fake.profiles = [ProfileSnapshot("web", ("a",), {})]
    async with Desk(fake, theme) as desk:
        shown = await pane(desk, "Claude Code")
        assert "not in its profile" not in words(shown)
        fake.tell(server("db", origin="project", project="/p"))
        fake.tell(server("far", origin="project", project="/other"))
        fake.bus.publish(SessionListChanged())
        await until(lambda: "It does not see db of this project: not in its profile web." in words(shown))
        fake.profiles = [ProfileSnapshot("web", ("a", "db"), {})]
        fake.bus.publish(SessionListChanged())
        await until(lambda: "not in its profile" not in words(shown))


async def test_a_client_s_own_profile_is_changed_when_its_tools_are_chosen_again(theme: Theme) -> None:
    fake = engine()
    fake.profiles.append(ProfileSnapshot("Cursor's tools", ("a",), {}))
    async with Desk(fake, theme) as desk:
        shown = await pane(desk, "Cursor")
        assert "A profile is a named set of tools; a client that has it sees only those and Tooltray's own." in words(shown)
        await picked(shown, "Profile", NEW)
        panel = desk.window.context.sheets.panel
        assert isinstance(panel, ProfileSheet)
        await until(lambda: table(panel).rows and not len(desk.tasks))
        tick(panel, "a")
        control(panel, "Save").click()
        await desk.asked("set_client_profile", "cursor-*", "Cursor's tools")
        assert ("set_profile", "Cursor's tools", {"servers": [], "tools": {}}) in fake.calls


async def test_a_choice_that_cannot_be_saved_is_put_back_and_explained(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Claude Code")
        for verb, name, value in (("set_client_mode", "Tool listing", "search"), ("set_client_profile", "Profile", "web")):
            desk.engine.failures[verb] = TooltrayError(f"{verb}: the disk is full")
            await picked(shown, name, value)
        await until(lambda: "the disk is full" in words(desk.clients))
        assert (choice(shown, "Tool listing").chosen, choice(shown, "Profile").chosen) == ("lazy", "")


async def test_the_pane_chooses_a_profile_and_opens_its_sheet(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Cursor")
        control(shown, "Edit the profile").click()
        panel = desk.window.context.sheets.panel
        assert isinstance(panel, ProfileSheet)
        assert field(panel, "Name").text() == "coding"
        desk.window.sheet.dismiss()
        await picked(shown, "Profile", "")
        await desk.asked("set_client_profile", "cursor-*", "")
        assert await undo(desk) == "Cursor gets everything"


# what it sees, and its sessions


@pytest.mark.parametrize("mode", ["everything", "search", "automatic", ""])
async def test_how_tools_are_listed_is_chosen_for_a_client(theme: Theme, mode: str) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Claude Code")
        assert "It obeys." in words(shown)
        await picked(shown, "Tool listing", mode)
        await desk.asked("set_client_mode", "claude-code", mode)


async def test_the_pane_says_what_tools_cost_and_how_they_are_listed_now(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Cursor")
        assert "3,190 of 36,650 tokens in its context" in words(shown)
        assert "Now: Full. Nothing is lazy. The client is given the whole list: every tool that it may see." in words(shown)
        assert "Tool listing" in words(shown).splitlines()


async def test_a_client_s_open_sessions_say_since_when_and_where(theme: Theme) -> None:
    session = replace(FIRST, connected_at=1.0)
    odd = SessionSnapshot("s3", "claude-code", profile="web", server="files", kind="claude-code")
    async with Desk(engine((session, odd, LEFT)), theme) as desk:
        shown = await pane(desk, "Claude Code")
        for text in ("shop", "/srv/projects/shop", "The client was started there.", "Version 2.4", "Loaded: serena", "since "):
            assert text in words(shown)
        for text in ("Project not known", "It has only the server files.", "It requested the profile web."):
            assert text in words(shown)
        page = desk.clients
        page.table.row_chosen.emit(page.table.rows[place(page, "Cursor")])
        assert page.pane is not None
        assert "Sessions" not in words(page.pane).splitlines()


@pytest.mark.parametrize(("connected_at", "is_told"), [(1_700_000_200.0, True), (1_700_000_400.0, False)])
async def test_what_a_client_needs_is_said_after_a_change_that_it_has_not_seen(theme: Theme, connected_at: float, is_told: bool) -> None:
    fake = engine((replace(FIRST, connected_at=connected_at),))
    fake.client_changes = list(CHANGES)  # Claude Code's file was changed at 1,700,000,300
    async with Desk(fake, theme) as desk:
        shown = await pane(desk, "Claude Code")
        assert ("Restart it after connecting." in words(shown)) is is_told


async def choose_folder(desk: Desk, folder: str) -> None:
    """Chooses the folder of the session in the pane."""
    control(desk.clients.pane, "Choose folder").click()
    dialog = desk.window.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(folder)
    dialog.close()
    await until(lambda: not desk.window.findChildren(QFileDialog))


async def test_a_folder_is_chosen_for_a_session_and_a_bad_one_is_refused_in_words(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        await pane(desk, "Claude Code")
        desk.engine.failures["set_session_project"] = TooltrayError("this folder cannot be a project", "", "choose another")
        await choose_folder(desk, "/srv")
        await until(lambda: "This folder cannot be a project" in words(desk.clients))
        desk.engine.failures.clear()
        await choose_folder(desk, "/srv/projects/site")
        await desk.asked("set_session_project", "s1", "/srv/projects/site")
        await until(lambda: "This folder cannot be a project" not in words(desk.clients))


async def test_a_client_of_unknown_name_gets_its_choices_once_it_has_connected(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Codex")
        assert "Its profile and approval can be chosen once it has connected." in words(shown)
        desk.engine.client_modes.append(ClientModeSnapshot("codex-mcp", "Codex", "", "everything", "", is_seen=True))
        desk.clients.look_again()
        await until(lambda: desk.clients.pane is not shown and not len(desk.tasks))
        assert choice(desk.clients.pane, "Profile").chosen == ""


async def test_a_pane_goes_with_its_client_and_the_keyboard_comes_back(theme: Theme) -> None:
    async with Desk(engine((SessionSnapshot("1", "odd"),)), theme) as desk:
        page = await opened(desk)
        page.table.setFocus(Qt.FocusReason.TabFocusReason)
        page.table.selectRow(0)
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        QTest.keyClick(page.table, Qt.Key.Key_Escape)
        assert page.pane is None
        assert QApplication.focusWidget() is page.table
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        control(page.pane, "Close details").click()
        assert page.pane is None
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        desk.engine.sessions = []
        desk.engine.bus.publish(SessionListChanged())
        await until(lambda: page.pane is None and not len(desk.tasks))


# approval


async def test_what_runs_without_asking_is_chosen_and_undone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Claude Code")
        name = "What runs without asking for Claude Code"
        assert choice(shown, name).chosen == ""
        await picked(shown, name, "reads")
        await desk.asked("set_client_auto_approve", "claude-code", ["read"])
        assert await undo(desk) == "What runs without asking for Claude Code is changed"
        assert ("set_client_auto_approve", "claude-code", None) in desk.engine.calls


async def test_rules_of_a_client_are_written_and_saved_or_left_to_the_servers(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Claude Code")
        line, name = field(shown, "Rules, with commas between"), "What runs without asking for Claude Code"
        assert not line.isVisibleTo(shown)
        await picked(shown, name, "own")
        assert line.isVisibleTo(shown)
        assert not [call for call in desk.engine.calls if call[0] == "set_client_auto_approve"]
        line.setText("read, names:get_* ,")
        desk.clients.look_again()
        await until(lambda: not len(desk.tasks))
        assert line.text() == "read, names:get_* ,"  # what is typed stays
        desk.engine.client_modes[0] = replace(KINDS[0], auto_approve=("read", "names:get_*"))
        QTest.keyClick(line, Qt.Key.Key_Return)
        await desk.asked("set_client_auto_approve", "claude-code", ["read", "names:get_*"])
        await until(lambda: line.text() == "read, names:get_*")
        await picked(shown, name, "")
        await desk.asked("set_client_auto_approve", "claude-code", None)


async def test_no_rule_at_all_can_be_saved_too_and_means_that_every_call_asks(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Cursor")
        line = field(shown, "Rules, with commas between")
        assert line.text() == "read_*"
        line.clear()
        control(shown, "Save").click()
        await desk.asked("set_client_auto_approve", "cursor-*", [])


async def test_rules_that_cannot_be_used_are_refused_in_words_and_what_was_written_stays(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Cursor")
        desk.engine.failures["set_client_auto_approve"] = TooltrayError("'raed' is no rule")
        field(shown, "Rules, with commas between").setText("raed")
        control(shown, "Save").click()
        await until(lambda: "'raed' is no rule" in words(desk.clients))
        assert field(shown, "Rules, with commas between").text() == "raed"
        await picked(shown, "What runs without asking for Cursor", "")
        await until(lambda: not len(desk.tasks))
        assert choice(shown, "What runs without asking for Cursor").chosen == "own"


async def test_rules_on_arguments_are_told_and_the_flow_guard_is_chosen(theme: Theme) -> None:
    fake = engine()
    fake.client_modes[0] = replace(KINDS[0], call_rules=("ls, where path is in /p; no other arguments",), flow_guard=False)
    fake.client_modes[1] = replace(KINDS[1], call_rules=())
    async with Desk(fake, theme) as desk:
        shown = await pane(desk, "Claude Code")
        assert "Runs without asking: ls, where path is in /p; no other arguments." in words(shown)
        assert choice(shown, "Flow guard for Claude Code").chosen == "off"
        assert "Once a session has read the web, mail or issues, calls that send or publish ask first." in words(shown)
        await picked(shown, "Flow guard for Claude Code", "")
        await desk.asked("change_settings", {"publish": {"clients": {"claude-code": {"flowGuard": None}}}}, "")
        assert await undo(desk) == "The flow guard for Claude Code is changed"
        assert ("change_settings", {"publish": {"clients": {"claude-code": {"flowGuard": False}}}}, "") in fake.calls
        assert "No rule on arguments counts for it." in words(await pane(desk, "Cursor"))


async def test_how_much_of_a_result_a_client_gets_is_written_and_saved(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = await pane(desk, "Claude Code")
        line = field(shown, "Longest result, in tokens")
        save = control(line.parentWidget(), "Save")
        QTest.keyClicks(line, "+2,5")
        assert (line.text(), save.isEnabled()) == ("25", False)
        QTest.keyClicks(line, "000")
        desk.engine.client_modes[0] = replace(KINDS[0], result_limit=25_000)
        QTest.keyClick(line, Qt.Key.Key_Return)
        await desk.asked("set_result_limit", 25_000, None, None, "claude-code")
        await until(lambda: not save.isEnabled() and not len(desk.tasks))
        line.clear()
        desk.engine.client_modes[0] = KINDS[0]
        save.click()
        await desk.asked("set_result_limit", None, None, None, "claude-code")


async def test_the_form_of_tables_is_chosen_for_a_client(theme: Theme) -> None:
    fake = engine()
    fake.client_modes[0] = replace(KINDS[0], csv_tables=False)
    async with Desk(fake, theme) as desk:
        shown = await pane(desk, "Claude Code")
        assert choice(shown, "Tables in results").chosen == "false"
        await picked(shown, "Tables in results", "true")
        await desk.asked("set_csv_tables", True, None, None, "claude-code")
        assert choice(shown, "Tables in results").chosen == "false"  # the hub has not changed it
        fake.client_modes[0] = KINDS[0]
        await picked(shown, "Tables in results", "")
        await desk.asked("set_csv_tables", None, None, None, "claude-code")
        await until(lambda: choice(shown, "Tables in results").chosen == "" and not len(desk.tasks))
        await picked(await pane(desk, "Cursor"), "Tables in results", "false")
        await desk.asked("set_csv_tables", False, None, None, KINDS[1].client)


# defaults


async def test_the_defaults_of_all_clients_are_chosen_in_their_sheet(theme: Theme) -> None:
    fake = engine()
    fake.settings = {"approvals": {"flowGuard": True, "sameForSeconds": 45}}
    async with Desk(fake, theme) as desk:
        page = await opened(desk)
        control(page, "Defaults…").click()
        panel = desk.window.context.sheets.panel
        await until(lambda: "Nothing is lazy." in words(panel) and not len(desk.tasks))
        control(panel, "Compact").click()
        await desk.asked("set_client_mode", "", "lazy")
        switch, seconds = control(panel, "Flow guard"), panel.findChild(Choice)
        assert (switch.isChecked(), seconds.chosen) == (True, "45")
        switch.click()
        await desk.asked("change_settings", {"approvals": {"flowGuard": False}}, "")
        assert await undo(desk) == "When calls ask is changed"
        assert ("change_settings", {"approvals": {"flowGuard": True}}, "") in fake.calls
        fake.failures["change_settings"] = TooltrayError("the disk is full")
        seconds.chosen_changed.emit("10")
        await until(lambda: "The disk is full" in words(panel))


# links


async def test_in_the_smallest_window_no_column_is_cut_by_the_pane(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        page = await opened(desk)
        desk.window.resize(900, 600)
        page.table.row_chosen.emit(page.rows[0])
        await until(lambda: page.pane is not None and page.table.isColumnHidden(PROFILE))
        assert page.table.mapTo(page, page.table.rect().topRight()).x() < page.pane.mapTo(page, QPoint(0, 0)).x()
        assert page.table.horizontalHeader().length() <= page.table.viewport().width()
        page.pane.close_requested.emit()
        await until(lambda: not page.table.isColumnHidden(PROFILE))


async def test_links_lead_to_a_client_its_profiles_and_the_import(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.window.go(OpenClient("cursor-7"))  # before anything is read
        await until(lambda: desk.clients.pane is not None and not len(desk.tasks))
        assert desk.clients.pane.client.name == "Cursor"
        desk.window.go(Clients())
        desk.window.go(Profiles())
        assert isinstance(desk.window.context.sheets.panel, ProfilesSheet)
        assert not [each for each in desk.clients.findChildren(QLineEdit) if each.hasFocus()]


@pytest.mark.parametrize(
    ("new", "words"), [(0, "All 2 are in Tooltray already."), (2, "2 servers in their settings."), (1, "1 is not in Tooltray yet.")]
)
async def test_an_import_is_offered_as_long_as_a_server_is_not_in_tooltray(theme: Theme, new: int, words: str) -> None:
    async with Desk(engine(scan=replace(SCAN, servers=2, different_servers=2, new_servers=new)), theme) as desk:
        banner = (await opened(desk)).findChild(ImportBanner)
        assert isinstance(banner, ImportBanner)
        assert (banner.take.text(), banner.take.property("variant")) == (
            ("Import servers…", "primary") if new else ("Remove them there…", "secondary")
        )
        assert words in drawn(banner)
        assert ("already" in drawn(banner)) is (not new)


async def test_nothing_is_offered_where_what_is_in_tooltray_cannot_be_removed_from_a_file(theme: Theme) -> None:
    file = SCAN.clients[0].files[0]
    for kept in (replace(file, project="/home/ada/shop"), replace(file, is_version_controlled=True), replace(file, servers=())):
        scan = ClientScan((replace(SCAN.clients[0], files=(kept,)),), 1, 1)
        async with Desk(engine(scan=scan), theme) as desk:
            banner = (await opened(desk)).findChild(ImportBanner)
            assert isinstance(banner, ImportBanner)
            assert "It is in Tooltray already." in drawn(banner)
            assert not banner.take.isVisible()


async def test_an_import_is_offered_only_from_clients_that_are_installed(theme: Theme) -> None:
    for scan, is_offered in ((ClientScan(servers=2, different_servers=2), False), (SCAN, True)):
        async with Desk(engine(scan=scan), theme) as desk:
            page = await opened(desk)
            banner = page.findChild(ImportBanner)
            assert isinstance(banner, ImportBanner)
            assert banner.isVisible() is is_offered
