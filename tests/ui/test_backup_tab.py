"""The tab of backups asks before it changes much."""

import json
import stat
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, drawn

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.ui.settings.backup_tab import LONGEST_FILE, change_look, does_something, subject
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.table import Table
from tooltray.ui.widgets.toast import Toast

ADDED = SetupChange("add", "server", "github")


async def opened(desk: Desk) -> QWidget:
    desk.open_settings("backup")
    await until(lambda: not len(desk.tasks))
    return desk.backup


def accepted(desk: Desk, path: Path) -> None:
    """Chooses a file in the dialog that is open."""
    dialog = desk.window.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.setDirectory(str(path.parent))
    dialog.selectFile(path.name)
    dialog.accept()


async def chosen(desk: Desk, name: str, path: Path) -> None:
    """Presses a button and chooses a file, which need not be there any more."""
    control(desk.backup, name).click()
    dialog = desk.window.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.reject()
    await until(lambda: not desk.window.findChildren(QFileDialog))


async def test_default_servers_come_back_only_after_a_look_and_a_yes(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [ADDED]
        page = await opened(desk)
        control(page, "Restore starter servers…").click()
        await until(lambda: desk.window.sheet is not None)
        assert ("reset_to_default_servers",) not in desk.engine.calls
        control(desk.window.sheet.panel, "Restore").click()
        await desk.asked("reset_to_default_servers")
        await until(lambda: desk.window.sheet is None)


async def test_where_nothing_changes_there_is_nothing_to_confirm(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [SetupChange("keep", "server", "a")]
        control(await opened(desk), "Restore starter servers…").click()
        await until(lambda: desk.window.sheet is not None)
        assert not control(desk.window.sheet.panel, "Restore").isEnabled()


async def test_an_import_is_previewed_again_when_servers_are_to_be_replaced(theme: Theme, tmp_path: Path) -> None:
    setup = {"mcpServers": {"x": {"command": "y"}}}
    (tmp_path / "setup.json").write_text(json.dumps(setup))
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [ADDED]
        await opened(desk)
        await chosen(desk, "Import…", tmp_path / "setup.json")
        await until(lambda: desk.window.sheet is not None)
        panel = desk.window.sheet.panel
        control(panel, "Replace servers of the same name").click()
        await desk.asked("preview_import", setup, True)
        await until(lambda: control(panel, "Import").isEnabled())
        control(panel, "Import").click()
        await desk.asked("import_setup", setup, True)
        await until(lambda: desk.window.sheet is None)


async def test_a_file_that_is_no_set_up_is_refused_in_words(theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1")
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        await chosen(desk, "Import…", tmp_path / "x.json")
        await until(lambda: "This file is not a backup" in drawn(page))
        await chosen(desk, "Import…", tmp_path / "missing.json")
        await until(lambda: "The file could not be read" in drawn(page))


async def test_an_export_is_a_file_for_its_owner_alone(theme: Theme, tmp_path: Path) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        path = tmp_path / "out.json"
        await opened(desk)
        await chosen(desk, "Export…", path)
        await until(path.exists)
        assert json.loads(path.read_text()) == {}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_the_export_goes_into_the_file_that_was_chosen(theme: Theme, tmp_path: Path) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        control(await opened(desk), "Export…").click()
        dialog = desk.window.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        assert (dialog.acceptMode(), dialog.defaultSuffix()) == (QFileDialog.AcceptMode.AcceptSave, "json")
        accepted(desk, tmp_path / "mine.json")
        await until((tmp_path / "mine.json").exists)
        await until(lambda: any(toast.text == "Exported to mine.json" for toast in desk.window.findChildren(Toast)))
        await until(lambda: not desk.window.findChildren(QFileDialog))


async def test_a_dialog_that_is_cancelled_changes_nothing(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        for name in ("Export…", "Import…"):
            control(page, name).click()
            dialog = desk.window.findChild(QFileDialog)
            assert isinstance(dialog, QFileDialog)
            dialog.reject()
            await until(lambda: not desk.window.findChildren(QFileDialog))
        assert not {"export_setup", "preview_import"} & {call[0] for call in desk.engine.calls}


async def test_the_file_that_was_chosen_is_previewed(theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "setup.json").write_text('{"mcpServers": {}}')
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [ADDED]
        control(await opened(desk), "Import…").click()
        accepted(desk, tmp_path / "setup.json")
        await until(lambda: desk.window.sheet is not None)
        assert "This is what changes. Nothing is done yet." in drawn(desk.window.sheet.panel)
        await desk.asked("preview_import", {"mcpServers": {}}, False)


async def test_an_export_that_fails_says_so_on_the_page(theme: Theme, tmp_path: Path) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        await chosen(desk, "Export…", tmp_path / "missing" / "x.json")
        await until(lambda: "The file could not be written" in drawn(page))


async def test_a_preview_waits_until_no_other_sheet_is_in_its_way(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [ADDED]
        control(desk.open_network(), "Add registry").click()
        control(await opened(desk), "Restore starter servers…").click()
        await desk.asked("preview_reset")
        await until(lambda: desk.backup._waiting is not None)
        control(desk.window.sheet.panel, "Cancel").click()
        await until(lambda: desk.window.sheet is not None)
        control(desk.window.sheet.panel, "Restore").click()
        await desk.asked("reset_to_default_servers")
        await until(lambda: desk.window.sheet is None)


async def test_a_preview_of_something_else_does_not_change_what_is_confirmed(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await opened(desk)
        desk.backup.show_changes(None, (ADDED,))
        panel = desk.window.sheet.panel
        desk.backup.show_changes({"mcpServers": {}}, (SetupChange("remove", "server", "mine"),))
        assert [row.name for row in panel.findChild(Table).rows] == ["github"]
        control(panel, "Cancel").click()
        await until(lambda: desk.window.sheet is not None)
        assert [row.name for row in desk.window.sheet.panel.findChild(Table).rows] == ["mine"]


async def test_of_two_previews_the_one_counts_for_which_the_switch_stands(theme: Theme) -> None:
    setup = {"mcpServers": {"x": {"command": "y"}}}
    replaced = SetupChange("replace", "server", "x")
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.engine.setup_changes = [SetupChange("keep", "server", "x")]
        desk.backup.show_changes(setup, desk.engine.setup_changes)
        panel = desk.window.sheet.panel
        desk.engine.setup_changes = [replaced]
        control(panel, "Replace servers of the same name").click()
        desk.backup.show_changes(setup, (ADDED,))  # late, of before
        assert not control(panel, "Import").isEnabled()
        await until(lambda: control(panel, "Import").isEnabled())
        assert panel.findChild(Table).rows == [replaced]


async def test_what_cannot_be_imported_or_put_back_stays_in_the_sheet_with_the_reason(theme: Theme) -> None:
    setup = {"mcpServers": {"x": {"command": "y"}}}
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.backup.show_changes(setup, (ADDED,))
        panel = desk.window.sheet.panel
        desk.engine.failures["import_setup"] = TooltrayError("the disk is full")
        control(panel, "Import").click()
        assert not control(panel, "Importing…").isEnabled()
        await until(lambda: "The disk is full" in drawn(panel))
        assert control(panel, "Import").isEnabled()
        desk.engine.failures["preview_import"] = TooltrayError("the file is gone")
        control(panel, "Replace servers of the same name").click()
        await until(lambda: "The file is gone" in drawn(panel))


async def test_a_file_that_is_far_too_large_is_no_set_up(theme: Theme, tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(LONGEST_FILE + 1)
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        await chosen(desk, "Import…", tmp_path / "huge.json")
        await until(lambda: "This file is not a backup" in drawn(page))


@pytest.mark.parametrize(
    ("kind", "of", "words"),
    [
        ("add", "server", ("Server", "Is added")),
        ("replace", "server", ("Server", "Is replaced")),
        ("remove", "server", ("Server", "Is removed")),
        ("keep", "setting", ("Setting", "Stays")),
        ("add", "secret", ("Secret", "To be given")),
        ("add", "default", ("Start", "Is changed")),
        ("remove", "default", ("Start", "Is changed")),
    ],
)
def test_a_change_of_the_set_up_in_words(app: QApplication, kind: str, of: str, words: tuple[str, str]) -> None:
    change = SetupChange(kind, of, "x")
    assert (subject(change), change_look(change).word) == words


def test_secrets_to_be_given_are_no_change_by_themselves() -> None:
    assert not does_something([SetupChange("keep", "server", "a"), SetupChange("add", "secret", "TOKEN")])
    assert does_something([SetupChange("remove", "default", "a")])
