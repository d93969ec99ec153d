"""A server that waits for a project says so and can be given one; lazy ones say so; what tools cost stands on the servers."""

from datetime import datetime

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QPlainTextEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, words

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import SessionListChanged, ToolListChanged
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.servers import ProjectCopySnapshot, ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.server_pane.server_overview import ServerOverview
from tooltray.ui.server_pane.server_view import PaneState
from tooltray.ui.server_words import Action, button_face, foot
from tooltray.ui.servers.server_filter import TokenSummary
from tooltray.ui.servers.server_sheets import OptionsSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import Option

S = ServerState
NOW = datetime(2026, 11, 21, 12, 0)
WHY = "2 AI clients are connected, none names a folder"
SINCE = datetime(2026, 11, 21, 9, 5).timestamp()
WAITING = server("serena", S.WAITING, is_deferred=True, detail=WHY, since=SINCE)
COPIES = (
    ProjectCopySnapshot("/srv/shop", "shop", S.RUNNING, 2, "serena --project /srv/shop"),
    ProjectCopySnapshot("/srv/site", "site", S.ERROR, 1, "", Problem("it ended", "exit code 1")),
    ProjectCopySnapshot("/srv/old", "old", S.STOPPING),
)
COSTS = ToolCosts("o200k", 6_600, 210, (ServerCost("serena", 6_480, 90, ()), ServerCost("b", 120, 120, ())))


def pick(desk: Desk, text: str) -> None:
    menu = ServerMenu(desk.theme, WAITING, desk.wishes, desk.window)
    next(action for action in menu.actions() if action.text() == text).trigger()


async def options(desk: Desk, name: str = "a") -> OptionsSheet:
    desk.wishes.options_requested.emit(name)
    assert desk.window.sheet is not None
    panel = desk.window.sheet.panel
    assert isinstance(panel, OptionsSheet)
    await desk.asked("get_server_entry", name)
    return panel


def test_a_waiting_server_says_since_when_and_why_and_wants_a_folder() -> None:
    shown = foot(WAITING, None, NOW)
    assert (shown.headline, shown.detail, shown.explanation) == ("Waits since 09:05", WHY, WHY)
    assert button_face(shown.action) == ("Choose folder", "folder")
    unknown = foot(server("a", S.WAITING), None, NOW)
    assert unknown.headline == "It starts when a project is known"
    assert unknown.detail == "No AI client has reported which folder it works on."
    assert foot(WAITING, Problem("no such folder"), NOW).action is Action.CHOOSE_FOLDER


async def test_a_folder_is_chosen_on_the_card_and_the_server_starts_for_it(theme: Theme) -> None:
    async with Desk(FakePresenter([WAITING]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.card("serena"), "Choose folder, serena").click()
        dialog = desk.window.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        assert dialog.fileMode() is QFileDialog.FileMode.Directory
        dialog.fileSelected.emit("/srv/shop")
        await desk.asked("start_for_project", "serena", "/srv/shop")
        dialog.close()


async def test_a_folder_that_is_refused_says_so_on_the_card(theme: Theme) -> None:
    async with Desk(FakePresenter([WAITING]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.failures["start_for_project"] = TooltrayError("this folder cannot be a project", "it is the home folder")
        desk.page.verbs.start_for("serena", "/srv")
        await until(lambda: "This folder cannot be a project" in words(desk.card("serena")))


async def test_the_menu_starts_it_anyway_chooses_a_folder_and_resets(theme: Theme) -> None:
    async with Desk(FakePresenter([WAITING]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        pick(desk, "Start anyway")
        await desk.asked("start_without_project", "serena")
        pick(desk, "Reset projects")
        await desk.asked("reset_deferred_state")
        pick(desk, "Choose folder…")
        dialog = desk.window.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        dialog.close()


@pytest.mark.parametrize(
    ("shown", "there", "absent"),
    [
        (WAITING, {"Choose folder…", "Start anyway", "Reset projects", "Options…"}, {"Restart", "Start", "Start with Tooltray"}),
        (server("a", is_deferred=True), {"Choose folder…", "Reset projects", "Restart"}, {"Start anyway", "Start with Tooltray"}),
        (server("a"), {"Options…", "Start with Tooltray"}, {"Choose folder…", "Start anyway", "Reset projects"}),
    ],
)
def test_the_menu_has_what_fits_the_server(theme: Theme, shown: ServerSnapshot, there: set[str], absent: set[str]) -> None:
    parent = QWidget()
    texts = {action.text() for action in ServerMenu(theme, shown, ServerWishes(), parent).actions()}
    assert there <= texts
    assert not absent & texts


async def test_a_running_server_lists_the_projects_it_runs_for_when_it_is_opened(theme: Theme) -> None:
    running = server("serena", is_deferred=True, copies=COPIES)
    async with Desk(FakePresenter([running], [tool("x", "serena")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        assert "shop" not in words(desk.card("serena"))
        details = desk.open_server("serena")
        await until(lambda: "shop" in words(details))
        said = words(details)
        for text in ("shop", "/srv/shop", "2 AI clients", "1 AI client", "No AI client", "It ended. Exit code 1."):
            assert text in said
        control(details, "Reset projects").click()
        await desk.asked("reset_deferred_state")
        desk.engine.set_state("serena", S.RUNNING, copies=COPIES[:1])
        await until(lambda: "site" not in words(details))


async def test_a_server_without_copies_says_nothing_of_projects(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        assert "Runs for" not in words(desk.open_server("a"))


def test_the_details_have_the_same_and_the_way_without_a_project(theme: Theme) -> None:
    wishes = ServerWishes()
    said: list[str] = []
    wishes.start_anyway_requested.connect(lambda name: said.append(f"anyway {name}"))
    wishes.folder_requested.connect(lambda name: said.append(f"folder {name}"))
    wishes.projects_reset_requested.connect(lambda: said.append("reset"))
    details = ServerOverview(theme, WAITING, wishes)
    control(details, "Start serena anyway").click()
    control(details, "Choose folder").click()
    details.show_state(PaneState(server("serena", is_deferred=True, is_lazy=True, copies=COPIES)))
    control(details, "Reset projects").click()
    assert said == ["anyway serena", "folder serena", "reset"]
    assert [chip.accessibleName() for chip in details.findChildren(Chip) if chip.isVisibleTo(details)] == ["Compact tool listing"]
    details.show_state(PaneState(server("serena", is_deferred=True, is_lazy=True, copies=COPIES), cost=COSTS.servers[0]))
    assert "90 of 6,480 tokens" in words(details)
    assert not [each for each in details.findChildren(QAbstractButton) if "anyway" in each.accessibleName() and each.isVisibleTo(details)]


async def test_the_page_says_what_all_tools_cost_and_a_card_does_not(theme: Theme) -> None:
    fake = FakePresenter([server("serena", tool_count=29, is_lazy=True), server("b", tool_count=1)])
    fake.costs = COSTS
    async with Desk(fake, theme) as desk:
        await until(lambda: "210 of 6,600 tokens unless listed in full for a client with all tools" in words(desk.page))
        assert "tokens" not in words(desk.card("serena"))


async def test_a_cost_has_its_thousands_apart_like_the_saving_beside_it_in_every_locale(theme: Theme) -> None:
    before = QLocale()
    QLocale.setDefault(QLocale.c())
    fake = FakePresenter([server("b", tool_count=1)])
    fake.costs = ToolCosts("o200k", 2677, 2677, ())
    async with Desk(fake, theme) as desk:
        await until(lambda: "2,677 tokens for a client with all tools" in words(desk.page))
    QLocale.setDefault(before)


async def test_tokens_that_could_not_be_counted_do_not_look_as_if_they_were(theme: Theme) -> None:
    fake = FakePresenter([server("b", tool_count=1)])
    fake.costs = ToolCosts("estimate", 2677, 2677, ())
    async with Desk(fake, theme) as desk:
        await until(lambda: "about 2,677 tokens for a client with all tools" in words(desk.page).lower())
        assert "estimated by size: they could not be counted" in desk.page.findChild(TokenSummary).toolTip()


@pytest.mark.parametrize(
    ("mode", "head"), [("everything", ""), ("lazy", "Default listing: compact · "), ("search", "Default listing: search · ")]
)
async def test_the_head_line_says_how_tools_are_listed_and_where_to_change_it(theme: Theme, mode: str, head: str) -> None:
    fake = FakePresenter([server("b", tool_count=1, is_lazy=mode == "lazy")])
    fake.costs = COSTS
    listing = ClientModeSnapshot("", "", "", mode, "", summary="AI clients get these.")
    fake.client_modes = [ClientModeSnapshot("claude-code", "Claude Code", "", "everything", ""), listing]
    async with Desk(fake, theme) as desk:
        end = {"lazy": "210 of 6,600 tokens unless listed in full", "search": "6,600 tokens if listed in full"}
        shown = end.get(mode, "210 of 6,600 tokens unless listed in full for a client with all tools")
        await until(lambda: f"{head}{shown}" in words(desk.page))
        tip = desk.page.findChild(TokenSummary).toolTip()
        listed, counted = (
            "AI clients get these. Change it in Clients > Defaults….",
            "A client with a profile or its own tool listing gets others: see Clients.\nTokens of tool definitions",
        )
        assert tip.startswith(f"{listed}\n{counted} ")


async def test_the_head_line_names_the_clients_that_get_all_tools_all_the_same(theme: Theme) -> None:
    fake = FakePresenter([server("b", tool_count=1)])
    fake.costs = COSTS
    claude, unseen = (
        ClientModeSnapshot(name, title, "", "everything", "") for name, title in (("claude-code", "Claude Code"), ("q", "Qwen"))
    )
    fake.client_modes = [claude, unseen, ClientModeSnapshot("", "", "", "search", "")]
    async with Desk(fake, theme) as desk:
        head = "Default listing: search · 6,600 tokens if listed in full"
        await until(lambda: head in words(desk.page) and "as for" not in words(desk.page))
        fake.client_modes[0] = replace(claude, is_seen=True)
        fake.bus.publish(SessionListChanged())
        await until(lambda: f"{head}, as for Claude Code" in words(desk.page))
        fake.client_modes[1] = replace(unseen, is_seen=True)
        fake.bus.publish(SessionListChanged())
        await until(lambda: f"{head}, as for Claude Code and 1 more" in words(desk.page))
        assert "Listed in full for Claude Code, Qwen." in desk.page.findChild(TokenSummary).toolTip()
        fake.client_modes[0] = replace(claude, is_seen=True, profile="web")  # it has not all tools
        fake.bus.publish(SessionListChanged())
        await until(lambda: f"{head}, as for Qwen" in words(desk.page))
        assert "Claude Code" not in desk.page.findChild(TokenSummary).toolTip()


async def test_costs_are_asked_for_when_tools_or_laziness_change_and_only_while_somebody_looks(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await desk.asked("get_tool_costs", None)
        desk.engine.calls.clear()
        desk.engine.tell(server("a", calls_today=5))
        await until(lambda: desk.servers.find("a").calls_today == 5)
        assert ("get_tool_costs", None) not in desk.engine.calls
        desk.engine.tell(server("a", is_lazy=True))
        await desk.asked("get_tool_costs", None)
        desk.window.open_page("clients")
        desk.engine.calls.clear()
        desk.engine.bus.publish(ToolListChanged("a"))
        desk.engine.tell(server("a", calls_today=6))
        await until(lambda: desk.servers.find("a").calls_today == 6)
        assert ("get_tool_costs", None) not in desk.engine.calls
        desk.window.open_page("servers")
        await desk.asked("get_tool_costs", None)


async def test_tokens_that_cannot_be_counted_are_said_to_be_so(theme: Theme) -> None:
    fake = FakePresenter([server("a", tool_count=2)])
    fake.failures["get_tool_costs"] = TooltrayError("no tokenizer", "it is not installed")
    async with Desk(fake, theme) as desk:
        await until(lambda: "Tokens could not be counted" in words(desk.page))


async def test_many_servers_have_their_cost_in_the_table_and_the_details(theme: Theme) -> None:
    fake = FakePresenter([server(f"s{number}") for number in range(30)])
    fake.costs = ToolCosts("o200k", 500, 20, (ServerCost("s1", 500, 20, ()),))
    async with Desk(fake, theme) as desk:
        table = desk.page.server_list.table
        await until(lambda: table.isVisible() and table.model().index(1, 5).data() == "20")
        assert table.model().index(1, 5).data(3) == "20 of 500 tokens unless listed in full"
        assert (table.model().index(2, 5).data(), table.model().index(2, 5).data(3)) == ("–", "Not known: they have not been counted yet")
        table.row_chosen.emit(desk.servers.find("s1"))
        assert "20 of 500 tokens" in words(desk.page.details)
        desk.engine.costs = ToolCosts("o200k", 500, 500, (ServerCost("s1", 500, 500, ()),))
        desk.wishes.costs_requested.emit()
        await until(lambda: "500 tokens" in words(desk.page.details) and "20 of" not in words(desk.page.details))


async def test_servers_that_wait_have_a_filter_of_their_own(theme: Theme) -> None:
    async with Desk(FakePresenter([WAITING, server("b")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.page, "Waiting, 1").click()
        await until(lambda: desk.card("serena").isVisible() and not desk.card("b").isVisible())


# the sheet of options


async def test_switches_apply_at_once_and_stand_where_the_server_does(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        panel = await options(desk)
        await until(control(panel, "Compact").isEnabled)
        assert control(panel, "Default (full)").isChecked()
        control(panel, "Compact").click()
        await desk.asked("set_lazy_load", True, "a")
        await until(control(panel, "Wait for a project").isEnabled)
        control(panel, "Wait for a project").click()
        await desk.asked("set_deferred", "a", True, None)
        desk.engine.set_state("a", S.WAITING, is_deferred=True, is_lazy=True)
        await until(lambda: "Arguments for a project, one on each line" in words(panel))
        desk.engine.set_state("a", S.RUNNING, is_deferred=False, is_lazy=False)
        await until(lambda: not control(panel, "Wait for a project").isChecked())
        assert "Arguments for a project, one on each line" not in words(panel)


async def test_a_switch_that_fails_goes_back_and_says_why(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        panel = await options(desk)
        desk.engine.failures["set_lazy_load"] = TooltrayError("the disk is full")
        choice = control(panel, "Compact")
        await until(choice.isEnabled)
        choice.click()
        await until(lambda: "The disk is full" in words(panel))
        assert not choice.isChecked()
        assert control(panel, "Default (full)").isChecked()
        desk.engine.failures.clear()
        choice.click()
        await until(lambda: "The disk is full" not in words(panel))


@pytest.mark.parametrize(
    ("entry", "chosen"),
    [
        ({}, "Default (compact)"),
        ({"lazyLoad": True}, "Compact"),
        ({"lazyLoad": False, "options": {"lazyLoad": True}}, "Full"),
        ({"options": {"lazyLoad": True}}, "Compact"),
        ({"lazyLoad": "odd", "options": 1}, "Default (compact)"),
    ],
)
async def test_what_counts_for_all_servers_is_a_choice_of_its_own(entry: dict[str, object], chosen: str, theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", is_lazy=True)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.entries["a"] = {"command": "npx", **entry}
        panel = await options(desk)
        await until(lambda: [each.text() for each in panel.findChildren(Option) if each.isChecked()] == [chosen])
        next(each for each in panel.findChildren(Option) if each.text().startswith("Default")).click()
        await desk.asked("set_lazy_load", None, "a")


async def test_the_options_say_what_the_tool_listing_in_effect_means(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        panel = await options(desk)
        assert "Clients see all its tools from the start." in words(panel)
        desk.engine.tell(server("a", is_lazy=True))
        await until(lambda: "Clients see one small tool; using it loads the rest." in words(panel))


async def test_a_choice_leaves_alone_what_is_being_written_on_the_sheet(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", is_deferred=True)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        panel = await options(desk)
        await until(control(panel, "Compact").isEnabled)
        field = panel.findChild(QPlainTextEdit)
        field.setPlainText("{project_path}")
        desk.engine.entries["a"] = {"command": "npx", "lazyLoad": True}
        control(panel, "Compact").click()
        await until(lambda: desk.engine.calls.count(("get_server_entry", "a")) > 1 and control(panel, "Compact").isChecked())
        assert field.toPlainText() == "{project_path}"


async def test_arguments_for_a_project_are_one_on_a_line_and_saved_when_a_person_says_so(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", S.WAITING, is_deferred=True)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.entries["a"] = {"command": "uvx", "args": ["serena", "a b"]}
        panel = await options(desk)
        field = panel.findChild(QPlainTextEdit)
        await until(lambda: field.toPlainText() == "serena\na b")
        assert "Nothing in them names the project yet." in words(panel)
        save = control(panel, "Save arguments")
        assert not save.isEnabled()
        field.setPlainText("serena\n\n--project\n{project_path}\na b\n")
        assert "One argument per line, without quotes." in words(panel)
        save.click()
        await desk.asked("set_deferred", "a", True, ["serena", "--project", "{project_path}", "a b"])


async def test_a_template_goes_before_the_arguments_and_what_is_saved_counts_as_such(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", is_deferred=True)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.entries["a"] = {"command": "uvx", "args": ["x"], "startupArgsTemplate": ["y", "{project_name}"]}
        panel = await options(desk)
        field = panel.findChild(QPlainTextEdit)
        await until(lambda: field.toPlainText() == "y\n{project_name}")
        field.setPlainText("z")
        desk.engine.entries["a"]["startupArgsTemplate"] = ["z"]
        control(panel, "Save arguments").click()
        await until(lambda: not control(panel, "Save arguments").isEnabled())


async def test_a_template_is_kept_while_the_server_does_not_wait(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", is_deferred=True)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.entries["a"] = {"command": "uvx", "args": ["x"], "startupArgsTemplate": ["{project_name}"]}
        panel = await options(desk)
        switch = control(panel, "Wait for a project")
        await until(switch.isEnabled)
        switch.click()
        await desk.asked("set_deferred", "a", False, None)
        switch.click()
        await desk.asked("set_deferred", "a", True, ["{project_name}"])


async def test_a_remote_server_has_no_arguments_and_is_told_where_the_project_can_stand(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a", is_deferred=True, transport="http")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.engine.entries["a"] = {"url": "http://127.0.0.1:1/{project_name}"}
        panel = await options(desk)
        await until(lambda: "Its URL and headers can have these in them:" in words(panel))
        assert "Arguments for a project, one on each line" not in words(panel)


async def test_the_sheet_says_what_the_server_costs_now_and_goes_with_the_server(theme: Theme) -> None:
    fake = FakePresenter([server("serena"), server("b")])
    fake.costs = COSTS
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page._costs)
        panel = await options(desk, "serena")
        assert "90 of 6,480 tokens unless listed in full for a client with all tools of this server." in words(panel)
        desk.engine.costs = ToolCosts("o200k", 1, 1, ())
        desk.wishes.costs_requested.emit()
        await until(lambda: "for a client with all tools" not in words(panel))
        desk.wishes.options_requested.emit("b")
        assert desk.window.sheet.panel is panel
        desk.wishes.removal_requested.emit("b")
        desk.wishes.removal_requested.emit("serena")
        await until(lambda: desk.window.sheet is None)
        desk.wishes.options_requested.emit("serena")
        assert desk.window.sheet is None
