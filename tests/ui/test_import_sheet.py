"""The sheet that moves servers here shows what there is, asks what is missing, says what happens to keys, and how it went."""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.found_clients import EDITS, IMPORTED, PLAN, SCAN, many_candidates
from tests.fakes.server_snapshots import server
from tests.ui.seen import cells, control, field, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ImportProgressed, KeyringAwaited
from tooltray.foundation.snapshots.ai_clients import ClientChange, ImportedServer, ImportPlan, ImportSource
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot
from tooltray.ui.clients import import_tables as said
from tooltray.ui.clients.client_files import EditsSheet
from tooltray.ui.clients.import_sheet import ImportSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.table import Table
from tooltray.ui.widgets.toast import Toast

GITHUB, LINEAR, SEARCH, SHOP, FILES, MEMORY, ODD = PLAN.candidates
NAMES = {client.id: client.name for client in SCAN.clients}
NO_PROBLEMS = replace(PLAN, problems=())


def engine(plan: ImportPlan = PLAN) -> FakePresenter:
    fake = FakePresenter([server("a")])
    fake.client_scan, fake.import_plan, fake.imported = SCAN, plan, list(IMPORTED)
    return fake


async def opened(desk: Desk) -> ImportSheet:
    desk.window.open_page("clients")
    await until(lambda: desk.window.context.scans.scan is not None and not len(desk.tasks))
    control(desk.clients, "Import servers…").click()
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, ImportSheet)
    await until(lambda: not len(desk.tasks))
    return panel


def show_group(panel: ImportSheet, index: int) -> None:
    panel.findChildren(FilterTab)[index].click()


async def test_candidates_stand_in_groups_and_each_says_where_it_is_and_what_is_to_be_known(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await opened(desk)
        counts = {tab.text(): tab.count for tab in panel.findChildren(FilterTab)}
        assert counts == {"New": 4, "Different": 1, "Same": 1, "Broken": 1}
        assert panel.table.model().headerData(0, Qt.Orientation.Horizontal) == "Select", "it may also copy or remove"
        assert cells(panel.table, 0) == [
            "Ticked",
            "github\nnpx -y @modelcontextprotocol/server-github",
            "Claude Code, Cursor, Codex",
            "1 key",
        ]
        assert cells(panel.table, 3)[::3] == ["Not ticked", "Only if you tick it"]
        assert cells(panel.table, 3)[2] == ".mcp.json of shop"
        assert "Zed's settings cannot be read" in words(panel)
        show_group(panel, 2)
        assert cells(panel.table)[::3] == ["Not ticked", "Already added"]
        show_group(panel, 3)
        assert cells(panel.table)[::3] == ["", "Cannot be used"]


async def test_it_says_where_the_keys_go(theme: Theme) -> None:
    fake = FakePresenter([server("a")], secret_backend="file")
    fake.client_scan, fake.import_plan = SCAN, PLAN
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        panel.table.selectRow(0)
        await until(lambda: "GITHUB_TOKEN goes to the encrypted file: it has the name of a secret." in words(panel))
        assert "1 key goes to the encrypted file: GITHUB_TOKEN" in words(panel)


async def test_a_list_without_notes_has_no_column_for_them_and_what_runs_has_the_room(theme: Theme) -> None:
    plan = ImportPlan(tuple(replace(each, asks=(), secrets=()) for each in PLAN.candidates[:2]))
    async with Desk(engine(plan), theme) as desk:
        table = (await opened(desk)).table
        assert table.isColumnHidden(3)
        assert table.columnWidth(1) > theme.metrics("caption").horizontalAdvance(plan.candidates[0].target)


async def test_where_nothing_can_be_imported_no_button_offers_it(theme: Theme) -> None:
    of_project = replace(MEMORY, sources=SHOP.sources)
    async with Desk(engine(ImportPlan((of_project,))), theme) as desk:
        panel = await opened(desk)
        shown = [each.text() for each in panel.findChildren(QPushButton) if each.isVisibleTo(panel)]
        assert "Close" in shown
        assert not [text for text in shown if text.startswith(("Copy", "Move", "Remove"))]
        assert cells(panel.table)[0] == ""


async def test_what_is_in_tooltray_already_is_removed_from_its_clients(theme: Theme) -> None:
    fake = engine(replace(NO_PROBLEMS, candidates=(GITHUB, MEMORY)))
    gone = ClientChange("r1", "cursor", "remove", "/home/ada/.cursor.json", 1.0, ("memory",))
    fake.imported = [ImportedServer("6", "memory", "listed", 9, (gone,))]
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        reached = "AI clients still reach them there without Tooltray's approvals."
        assert reached not in words(panel)
        show_group(panel, 2)
        assert reached in words(panel)
        assert not control(panel, "Remove 0 servers from their clients").isEnabled()
        panel.table.switched.emit(MEMORY, True)
        assert "Cursor: memory from /home/ada/.cursor.json" in words(panel)
        assert "Then remove them from those clients" not in words(panel)
        assert "1 key goes to the keyring: GITHUB_TOKEN." not in words(panel)
        control(panel, "Remove 1 server from its clients").click()
        await desk.asked("import_servers", ["6"], {"6": "memory"}, {}, True, [], "", "")
        await until(lambda: "Changes of AI clients' files are in the details of each client, with Undo." in words(panel))
        assert not any(text.startswith("Not connected") for text in words(panel)), "Cursor has Tooltray"


async def test_after_an_import_the_clients_that_are_not_connected_can_be_connected_in_the_next_sheet(theme: Theme) -> None:
    fake = engine(replace(NO_PROBLEMS, candidates=(GITHUB,)))
    fake.imported, fake.client_edits = [IMPORTED[0]], [EDITS[0]]
    fake.profiles = [ProfileSnapshot("Work", ("a",), {})]
    fake.client_modes = [ClientModeSnapshot("cursor-*", "Cursor", "", "lazy", "", "Work")]
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        assert control(panel, "Then connect Claude Code").isChecked()
        assert not any(text.startswith("Not connected") for text in words(panel))
        control(panel, "Copy 1 server").click()
        await desk.asked("preview_connect", ["claude-code"])
        await until(lambda: isinstance(desk.window.context.sheets.panel, EditsSheet))
        unseen = "Not seen by Cursor (profile Work) until you add it to the profile, in Clients."
        assert [toast.text for toast in desk.window.findChildren(Toast) if toast.isVisible()] == [f"It works here now.\n{unseen}"]


async def test_where_nothing_is_new_what_can_be_removed_from_its_clients_is_ticked(theme: Theme) -> None:
    fake = engine(replace(NO_PROBLEMS, candidates=(MEMORY,)))
    fake.client_scan = replace(SCAN, new_servers=0)
    async with Desk(fake, theme) as desk:
        desk.window.open_page("clients")
        await until(lambda: desk.window.context.scans.scan is not None and not len(desk.tasks))
        control(desk.clients, "Remove them there…").click()
        panel = desk.window.context.sheets.panel
        await until(lambda: not len(desk.tasks))
        assert panel.accessibleName() == "Remove servers from their clients"
        control(panel, "Remove 1 server from its clients").click()
        await desk.asked("import_servers", ["6"], {"6": "memory"}, {}, True, [], "", "")


async def test_a_client_that_loses_servers_without_being_connected_is_named_before_and_can_be_connected_after(theme: Theme) -> None:
    fake = engine(replace(NO_PROBLEMS, candidates=(GITHUB,)))
    fake.imported, fake.client_edits = [IMPORTED[0]], [EDITS[0]]
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        before = "Not connected to Tooltray: Claude Code. Until you connect, removed servers are missing there."
        control(panel, "Then remove them from those clients").click()
        assert before not in words(panel)
        control(panel, "Then connect Claude Code").click()
        assert before in words(panel)
        control(panel, "Move 1 server").click()
        await until(lambda: "Not connected to Tooltray: Claude Code" in words(panel) and not len(desk.tasks))
        control(panel, "Connect").click()
        await desk.asked("preview_connect", ["claude-code"])
        await until(lambda: isinstance(desk.window.context.sheets.panel, EditsSheet))


async def test_an_outcome_that_has_to_be_read_stays_and_offers_to_connect(theme: Theme) -> None:
    fake = engine(replace(NO_PROBLEMS, candidates=(GITHUB, LINEAR)))
    fake.imported = list(IMPORTED[:2])
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        control(panel, "Copy 2 servers").click()
        await until(lambda: "Not connected to Tooltray: Claude Code" in words(panel))
        assert "1 work here now, 1 wait, 0 failed." in words(panel)
        control(panel, "Connect").click()
        await desk.asked("preview_connect", ["claude-code"])


async def test_a_client_that_tooltray_cannot_connect_is_only_named(theme: Theme) -> None:
    of_zed = replace(GITHUB, sources=(ImportSource("zed", "/home/ada/.config/zed/settings.json", "github"),))
    fake = engine(replace(NO_PROBLEMS, candidates=(of_zed,)))
    fake.imported = [IMPORTED[0]]
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        assert not any(text.startswith("Then connect") for text in words(panel))
        control(panel, "Copy 1 server").click()
        await until(lambda: "Not connected to Tooltray: Zed" in words(panel))
        assert "Connect" not in [each.text() for each in panel.findChildren(QPushButton) if each.isVisibleTo(panel)]


async def test_clients_whose_profile_leaves_a_new_server_out_are_named(theme: Theme) -> None:
    fake = engine(replace(NO_PROBLEMS, candidates=(LINEAR,)))
    fake.imported = [IMPORTED[1]]
    fake.profiles = [ProfileSnapshot("Work", ("a",), {})]
    fake.client_modes = [ClientModeSnapshot("cursor-*", "Cursor", "", "lazy", "", "Work")]
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        control(panel, "Copy 1 server").click()
        await until(lambda: "Not seen by Cursor (profile Work) until you add it to the profile, in Clients." in words(panel))


async def test_what_is_looked_at_is_told_in_full(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await opened(desk)
        panel.table.selectRow(0)
        shown = words(panel)
        assert "GITHUB_TOKEN goes to the keyring: it has the name of a secret." in shown
        assert "Codex · /home/ada/.codex.json · gh" in shown
        panel.table.selectRow(3)
        await until(lambda: "DATABASE_URI goes to the keyring: its value has the form of a secret." in words(panel))
        assert ".mcp.json of shop · /home/ada/shop/.mcp.json · db" in words(panel)
        show_group(panel, 1)
        panel.table.selectRow(0)
        await until(lambda: "files already exists and runs something else. This one is added as files-2." in words(panel))
        assert nameless(desk.window) == []


async def test_only_what_is_ticked_is_moved_and_what_is_missing_is_asked_for_first(theme: Theme) -> None:
    async with Desk(engine(NO_PROBLEMS), theme) as desk:
        panel = await opened(desk)
        assert "Values for search" in words(panel)
        panel.table.switched.emit(LINEAR, False)
        control(panel, "Copy 3 servers").click()
        assert "Required." in words(panel)
        assert not any(call[0] == "import_servers" for call in desk.engine.calls)
        field(panel, "API key").setText("not-a-real-key")
        control(panel, "Copy 3 servers").click()
        names = {"1": "github", "3": "search", "5": "files-2"}
        await desk.asked("import_servers", ["1", "3", "5"], names, {"3": {"api_key": "not-a-real-key"}}, False, [], "", "")


async def test_the_keyboard_alone_ticks_and_moves(theme: Theme) -> None:
    async with Desk(engine(replace(NO_PROBLEMS, candidates=(GITHUB, LINEAR))), theme) as desk:
        panel = await opened(desk)
        panel.table.setFocus(Qt.FocusReason.TabFocusReason)
        panel.table.selectRow(1)
        QTest.keyClick(panel.table, Qt.Key.Key_Space)
        assert cells(panel.table, 1)[0] == "Not ticked"
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("import_servers", ["1"], {"1": "github"}, {}, False, [], "", "")


async def test_a_value_is_asked_for_as_long_as_its_server_is_ticked(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await opened(desk)
        panel.table.switched.emit(SEARCH, False)
        assert "Values for search" not in words(panel)
        panel.table.switched.emit(SEARCH, True)
        assert "Values for search" in words(panel)


async def test_all_of_a_group_are_ticked_or_none(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        panel = await opened(desk)
        control(panel, "Select all").click()
        assert [cells(panel.table, row)[0] for row in range(4)] == ["Ticked"] * 4
        assert control(panel, "Copy 5 servers").isEnabled()
        control(panel, "Select none").click()
        assert control(panel, "Copy 1 server").isEnabled()  # the one of another group


async def test_which_entries_would_leave_which_files_is_shown_before(theme: Theme) -> None:
    async with Desk(engine(replace(NO_PROBLEMS, candidates=(GITHUB, LINEAR))), theme) as desk:
        panel = await opened(desk)
        assert "Cursor: github and linear" not in words(panel)
        assert control(panel, "Copy 2 servers").isEnabled()
        control(panel, "Then remove them from those clients").click()
        assert "Cursor: github and linear from /home/ada/.cursor.json" in words(panel)
        assert "Codex: gh from /home/ada/.codex.json" in words(panel)
        control(panel, "Move 2 servers").click()
        await desk.asked("import_servers", ["1", "2"], {"1": "github", "2": "linear"}, {}, True, [], "", "")


async def test_how_it_went_stands_at_each_server_and_what_changed_can_be_undone(theme: Theme) -> None:
    async with Desk(engine(replace(NO_PROBLEMS, candidates=(GITHUB, LINEAR, replace(SEARCH, asks=())))), theme) as desk:
        panel = await opened(desk)
        control(panel, "Copy 3 servers").click()
        await until(lambda: "1 work here now, 1 wait, 1 failed." in words(panel))
        outcome = next(each for each in panel.findChildren(Table) if each.accessibleName() == "Imported servers")
        assert [cells(outcome, row)[1] for row in range(3)] == ["Works", "Added", "Failed"]
        assert cells(outcome, 0)[2] == "38 tools listed. It left Claude Code."
        await until(lambda: "search: npx ended with exit code 1" in words(panel))
        assert "The package is not there. Correct its name." in words(panel)
        outcome.row_chosen.emit(outcome.rows[2])
        assert "search: npx ended with exit code 1. The package is not there. Correct its name." in words(panel)
        assert nameless(desk.window) == []
        control(panel, "Close").click()
        assert desk.window.sheet is None


async def test_what_failed_can_be_tried_again_where_it_is_said(theme: Theme) -> None:
    locked = Problem("The keyring is locked", "its prompt was closed", "Try again and enter its password")
    answers = [
        [ImportedServer("1", "github", "failed", problem=locked), ImportedServer("2", "linear", "listed", 3)],
        [ImportedServer("1", "github", "failed", problem=Problem("It is broken"))],
        [ImportedServer("1", "github", "listed", 2)],
    ]
    fake = engine(replace(NO_PROBLEMS, candidates=(GITHUB, LINEAR)))
    asked: list[object] = []

    async def run(**given: Any) -> list[ImportedServer]:
        asked.append(given["choices"])
        return answers[len(asked) - 1]

    fake.import_servers = run
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        control(panel, "Copy 2 servers").click()
        await until(lambda: "github: The keyring is locked" in words(panel))
        assert "Its prompt was closed. Try again and enter its password." in words(panel)
        control(panel, "Try again").click()
        await until(lambda: "github: It is broken" in words(panel))
        control(panel, "Try again").click()
        await desk.asked("preview_connect", ["claude-code"])
        assert asked == [["1", "2"], ["1"], ["1"]]


async def test_an_import_can_be_cancelled_and_says_what_was_done(theme: Theme) -> None:
    fake, answer = engine(replace(NO_PROBLEMS, candidates=(GITHUB, LINEAR))), asyncio.Event()
    asked: list[Mapping[str, object]] = []

    async def run(**given: object) -> list[ImportedServer]:
        asked.append(given)
        await answer.wait()
        return [IMPORTED[0], ImportedServer("2", "linear", "cancelled")]

    fake.import_servers = run
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        control(panel, "Copy 2 servers").click()
        await until(lambda: asked)
        assert "Importing 2 servers…" in words(panel)
        fake.bus.publish(ImportProgressed(0, 2, "", "unlocking"))
        fake.bus.publish(KeyringAwaited(is_awaited=True))
        await until(lambda: "If it asks for its password, answer there; its window may be behind this one." in words(panel))
        fake.bus.publish(ImportProgressed(1, 2, "github", "failed"))
        outcome = next(each for each in panel.findChildren(Table) if each.accessibleName() == "Imported servers")
        await until(lambda: [cells(outcome, row)[1] for row in range(2)] == ["Failed", "Importing…"])
        assert "Unlock your keyring to continue" not in words(panel)
        QTest.keyClick(desk.window.sheet, Qt.Key.Key_Escape)
        assert desk.window.sheet is not None  # it goes on, and must not go out of sight
        control(panel, "Cancel").click()
        await desk.asked("cancel_import")
        answer.set()
        await until(lambda: "Cancelled. 1 work here, 0 wait, 0 failed." in words(panel))


async def test_a_refused_import_brings_the_choice_back(theme: Theme) -> None:
    fake = engine(replace(NO_PROBLEMS, candidates=(GITHUB,)))
    fake.failures["import_servers"] = TooltrayError("Servers are being imported already", "", "Wait")
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        control(panel, "Copy 1 server").click()
        await until(lambda: "Servers are being imported already" in words(panel))
        assert panel.table.isVisible()
        assert control(panel, "Copy 1 server").isEnabled()


async def test_nothing_to_move_is_said_and_only_closes(theme: Theme) -> None:
    async with Desk(engine(ImportPlan()), theme) as desk:
        panel = await opened(desk)
        assert "No servers to import." in words(panel)
        control(panel, "Close").click()


async def test_servers_of_a_file_come_in_place_of_the_clients_own(theme: Theme) -> None:
    fake = engine(ImportPlan())
    async with Desk(fake, theme) as desk:
        panel = await opened(desk)
        fake.import_plan = replace(NO_PROBLEMS, candidates=(LINEAR,))
        control(panel, "From a file…").click()
        dialog = desk.window.findChild(QFileDialog)
        assert dialog is not None
        dialog.fileSelected.emit("/home/ada/mcp.json")
        dialog.reject()
        await desk.asked("preview_client_import", [], "", "/home/ada/mcp.json")
        await until(lambda: not len(desk.tasks))
        control(panel, "Copy 1 server").click()
        await desk.asked("import_servers", ["2"], {"2": "linear"}, {}, False, [], "", "/home/ada/mcp.json")


async def test_two_hundred_candidates_are_lines_of_one_table(theme: Theme) -> None:
    async with Desk(engine(many_candidates(200)), theme) as desk:
        panel = await opened(desk)
        assert len(panel.table.rows) == 200
        assert control(panel, "Copy 200 servers").isEnabled()


def test_keys_are_counted_and_named_once(theme: Theme) -> None:
    assert said.keys_text([LINEAR], "the keyring") == ""
    assert said.keys_text([GITHUB], "the keyring") == "1 key goes to the keyring: GITHUB_TOKEN."
    assert (
        said.keys_text([GITHUB, replace(GITHUB, id="x"), SHOP], "the keyring") == "3 keys go to the keyring: GITHUB_TOKEN and DATABASE_URI."
    )


def test_what_was_given_as_a_text_has_a_name_too(theme: Theme) -> None:
    assert said.source_line(ImportSource("", "/home/ada/x.json", "a"), NAMES) == "What was given · /home/ada/x.json · a"
    assert said.leaving([replace(GITHUB, sources=(ImportSource("", "/x", "a"),)), SHOP], NAMES) == [], "files of projects stay"


def test_all_that_works_is_said_in_one_sentence(theme: Theme) -> None:
    assert said.outcome_title([IMPORTED[0]]) == "It works here now."
    assert said.outcome_title([IMPORTED[0], IMPORTED[0]]) == "All 2 work here now."
    assert said.outcome_text(replace(IMPORTED[0], removed_from=(), tools=1), NAMES) == "1 tool listed."
    assert said.outcome_text(IMPORTED[1], NAMES) == "It waits for your approval, a sign-in or its first use, and stays in its clients."
    assert said.outcome_text(ImportedServer("1", "x", "cancelled"), NAMES) == "It was not imported."
