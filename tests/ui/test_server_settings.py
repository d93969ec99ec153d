"""A server's settings: form and JSON follow each other, nothing is overwritten, and a test says how it goes."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, is_in_sight

from tooltray.foundation.errors import SECRET_MISSING, Conflict, Problem, SecretsUnreachable, TooltrayError
from tooltray.foundation.events import SecretsChanged, ServerTestOutput
from tooltray.foundation.files.json_text import revision_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import NextStep, ServerTest, ToolSize
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.server_pane.entry_json import SaveSheet
from tooltray.ui.server_pane.server_settings import ServerSettings
from tooltray.ui.servers.server_sheets import SecretSheet
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.toast import Toast

ENTRY: dict[str, Any] = {"command": "npx", "args": ["-y", "x"], "env": {"A_TOKEN": "${secret:a/A_TOKEN}"}, "x-note": 1}
WORKED = ServerTest("a", True, 1.84, (ToolSize("read", 100), ToolSize("write", 3446)), 3546)


def words(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]


@asynccontextmanager
async def opened(theme: Theme, entry: dict[str, Any] = ENTRY, **fields: Any) -> AsyncIterator[tuple[Desk, ServerSettings]]:
    fake = FakePresenter([server("a", revision=revision_of(entry), **fields), server("b")], [tool("t", "a")])
    fake.entries["a"] = dict(entry)
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        view = cast(ServerSettings, desk.open_server("a", "settings").view("settings"))
        await until(lambda: view.form.entry == entry)
        yield desk, view


async def press(widget: QWidget, name: str) -> None:
    """Presses a button as soon as it is to be seen."""
    await until(
        lambda: any(name in (each.accessibleName(), each.text()) and each.isVisible() for each in widget.findChildren(QAbstractButton))
    )
    control(widget, name).click()


def typed(view: ServerSettings, entry: dict[str, Any] | str) -> None:
    """A person writes into the JSON."""
    code = view.json.code
    code.selectAll()
    code.insertPlainText(entry if isinstance(entry, str) else json.dumps(entry, indent=2))
    view._read_text()


async def test_a_field_changes_the_json_and_the_json_the_field_and_what_nobody_knows_stays(theme: Theme) -> None:
    async with opened(theme) as (_, view):
        assert not view.can_save
        line = cast(Any, view.form.field("command").control)
        line.selectAll()
        QTest.keyClicks(line, "node")
        assert json.loads(view.json.text) == {**ENTRY, "command": "node"}
        assert view.can_save
        typed(view, {**ENTRY, "args": ["a b"], "isolation": "session"})
        assert view.form.field("args").value == ["a b"]
        assert view.form.field("isolation").value == "session"
        typed(view, ENTRY)
        assert not view.can_save


async def test_broken_json_is_marked_in_its_line_and_the_form_waits(theme: Theme) -> None:
    async with opened(theme) as (_, view):
        typed(view, '{\n "command": "a"\n "args": []\n}')
        assert list(view.json.marked_lines) == [3]
        assert not view.form.isEnabled()
        assert not view.can_save
        await press(view, "Line 3: ',' is missing")
        assert view.json.code.textCursor().blockNumber() == 2
        typed(view, '{\n "command": "a",\n "command": "b"\n}')
        assert list(view.json.marked_lines) == [3]
        assert not view.can_save
        typed(view, "x" * 300_000)
        assert not view.can_save


async def test_a_slip_is_said_at_its_field(theme: Theme) -> None:
    async with opened(theme) as (_, view):
        typed(view, {**ENTRY, "idleStop": -1})
        assert "Must be more than 0" in words(view.form.field("idleStop"))
        assert not control(view, "Test").isEnabled()


def shown(view: ServerSettings) -> list[str]:
    return [each.field.key for each in view.form.rows if each.isVisibleTo(view)]


@pytest.mark.parametrize(
    ("entry", "fields"),
    [
        (ENTRY, ["command", "args", "env", "cwd", "callTimeout"]),
        ({"url": "https://a.example/mcp"}, ["baseUrl", "customHeaders", "callTimeout"]),
        ({"type": "http", "url": "https://a.example/mcp", "command": "npx"}, ["command", "baseUrl", "customHeaders", "callTimeout"]),
    ],
)
async def test_few_fields_are_in_sight_and_a_url_server_has_none_of_a_program(
    theme: Theme, entry: dict[str, Any], fields: list[str]
) -> None:
    async with opened(theme, entry) as (_, view):
        assert shown(view) == fields
        advanced = next(each for each in view.findChildren(QAbstractButton) if each.text().startswith("Advanced"))
        advanced.click()
        assert len(shown(view)) > 25
        advanced.click()
        assert shown(view) == fields


async def test_advanced_says_how_many_fields_differ_and_keeps_what_is_typed_there(theme: Theme) -> None:
    entry = {**ENTRY, "label": "work", "isolation": "shared", "directStart": True, "autoApprove": ["read"], "oauth": {"redirectPort": 0}}
    async with opened(theme, entry) as (_, view):
        control(view, "Advanced (1 changed)").click()
        QTest.keyClicks(cast(Any, view.form.field("idleStop").control), "60")
        control(view, "Advanced (2 changed)").click()
        assert view.form.entry == {**entry, "idleStop": 60}
        control(view, "Discard").click()
        control(view, "Advanced (1 changed)").click()


async def test_the_group_approval_leads_to_access_and_what_was_typed_stays(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        QTest.keyClicks(cast(Any, view.form.field("callTimeout").control), "60")
        control(view, "Advanced").click()
        control(view, "Sandbox and approval: Access").click()
        details = desk.page.details
        await until(lambda: details.tab == "access")
        assert json.loads(details.unsaved)["callTimeout"] == 60
        assert control(details, "Edit a").text() == "Unsaved changes"


async def test_a_slip_in_a_folded_field_unfolds_it_and_it_stays_open_until_it_is_right(theme: Theme) -> None:
    async with opened(theme) as (_, view):
        typed(view, {**ENTRY, "args": "x y"})
        assert "idleStop" not in shown(view)
        typed(view, {**ENTRY, "idleStop": -1})
        assert "idleStop" in shown(view)
        control(view, "Advanced (1 changed)").click()
        assert "idleStop" in shown(view)
        typed(view, {**ENTRY, "idleStop": 1})
        control(view, "Advanced (1 changed)").click()
        assert "idleStop" not in shown(view)


async def test_what_is_typed_in_a_number_s_field_is_no_number_yet(theme: Theme) -> None:
    async with opened(theme) as (_, view):
        line = cast(Any, view.form.field("callTimeout").control)
        QTest.keyClicks(line, "x")
        assert "This must be a number." in words(view.form.field("callTimeout"))
        assert not view.can_save
        line.selectAll()
        QTest.keyClicks(line, "30")
        assert json.loads(view.json.text)["callTimeout"] == 30


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({**ENTRY, "callTimeout": -1}, "callTimeout"),
        ({**ENTRY, "resultLimit": 3}, "resultLimit"),
        ({**ENTRY, "callTimeout": -1, "idleStop": -1}, "callTimeout"),
    ],
)
async def test_a_save_with_a_fault_leads_to_the_first_field_that_has_one(theme: Theme, entry: dict[str, Any], field: str) -> None:
    async with opened(theme) as (desk, view):
        height = view.height()
        desk.window.resize(1180, 640)
        await until(lambda: view.height() < height)
        typed(view, entry)
        view.json.code.setFocus()
        await press(view, "Save")
        await until(lambda: is_in_sight(view.form.field(field).control))
        assert desk.engine.entries["a"] == ENTRY


async def test_a_save_with_a_name_twice_or_broken_json_leads_there(theme: Theme) -> None:
    async with opened(theme) as (_, view):
        pairs = view.form.field("env").pairs
        assert pairs is not None
        control(view, "Add to Environment").click()
        QTest.keyClicks(view.focusWidget(), "A_TOKEN")
        await press(view, "Save")
        await until(lambda: is_in_sight(pairs.target))
        typed(view, {**ENTRY, "args": "x y"})
        await press(view, "Save")
        assert view.window().focusWidget() is view.json.code
        assert view.json.code.textCursor().blockNumber() == 2
        view.form.setFocus()
        typed(view, '{\n "command": "a"\n "args": []\n}')
        await press(view, "Save")
        assert view.window().focusWidget() is view.json.code
        assert view.json.code.textCursor().blockNumber() == 2


async def test_enter_in_a_line_saves_and_in_a_text_makes_a_line(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        command, arguments = (cast(Any, view.form.field(name).control) for name in ("command", "args"))
        for widget in (command, arguments):
            widget.setFocus()
            QTest.keyClick(widget, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(arguments, Qt.Key.Key_Return)
        QTest.keyClicks(arguments, "y")
        assert desk.engine.entries["a"] == ENTRY
        command.setFocus()
        QTest.keyClick(command, Qt.Key.Key_Return)
        await until(lambda: desk.engine.entries["a"] == {**ENTRY, "args": ["-y", "x", "y"]})


async def test_ctrl_z_takes_back_what_was_typed_and_what_changed_a_field_from_elsewhere(theme: Theme) -> None:
    def undo(widget: QWidget) -> None:
        QTest.keyClick(widget, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)

    async with opened(theme) as (_, view):
        command, arguments = (cast(Any, view.form.field(name).control) for name in ("command", "args"))
        for widget, shown in ((command, command.text), (arguments, arguments.toPlainText)):
            before = shown()
            QTest.keyClicks(widget, "z")
            undo(widget)
            assert shown() == before
            undo(widget)
            assert shown() == before
            QTest.keyClicks(widget, "z")
            mine = shown()
            typed(view, {**ENTRY, "command": "node", "args": ["b"]})
            assert shown() in ("node", "b")
            undo(widget)
            assert shown() == mine
        assert view.form.entry["args"] == mine.splitlines()
        for _ in range(20):
            undo(view.json.code)
        view._read_text()
        assert view.form.entry == ENTRY


async def test_what_is_no_number_yet_stays_while_another_field_is_edited_and_goes_with_discard(theme: Theme) -> None:
    async with opened(theme) as (_, view):
        timeout, command = (cast(Any, view.form.field(name).control) for name in ("callTimeout", "command"))
        QTest.keyClicks(timeout, "3x")
        QTest.keyClicks(command, "z")
        assert "This must be a number." in words(view.form.field("callTimeout"))
        assert not view.can_save
        control(view, "Discard").click()
        assert timeout.text() == ""


async def test_a_number_that_is_not_valid_can_be_discarded_though_the_entry_is_the_same_and_save_leads_to_it(theme: Theme) -> None:
    async with opened(theme, {**ENTRY, "callTimeout": 90}) as (desk, view):
        timeout = cast(QLineEdit, view.form.field("callTimeout").control)
        timeout.end(False)
        QTest.keyClicks(timeout, "abc")
        assert (timeout.text(), view.unsaved) == ("90abc", "")
        control(view, "Save").click()
        assert desk.window.focusWidget() is timeout
        control(view, "Discard").click()
        assert timeout.text() == "90"
        assert not control(view, "Discard").isEnabled()


async def test_after_saving_the_keyboard_goes_on_at_a_control_that_can_be_used(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        save = control(view, "Save")
        save.setFocus()
        QTest.keyClick(save, Qt.Key.Key_Space)
        await until(lambda: not view.is_edited)
        assert desk.window.focusWidget() is control(view, "Test")


async def test_saving_writes_the_entry_and_can_be_undone(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        view.json.code.setFocus()
        QTest.keyClick(view.json.code, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: desk.engine.entries["a"].get("label") == "work")
        await until(lambda: not view.is_edited)
        control(desk.window, "Undo").click()
        await until(lambda: desk.engine.entries["a"] == ENTRY)
        await until(lambda: view.form.entry == ENTRY)


async def test_saving_can_be_undone_after_the_pane_was_closed_and_a_failure_of_that_is_shown(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        control(view, "Save").click()
        await until(lambda: desk.engine.entries["a"].get("label") == "work" and not view.is_edited)
        desk.page.open_server("b")
        await until(lambda: desk.page.details and desk.page.details.server.name == "b")
        desk.engine.entries["a"] = {**ENTRY, "label": "of somebody else"}
        control(desk.window, "Undo").click()
        await until(lambda: any("'a' is not restored" in each for each in words(desk.window)))


async def test_discard_shows_the_entry_of_the_file_again_and_can_be_undone(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        control(view, "Discard").click()
        assert (view.form.entry, json.loads(view.json.text), view.is_edited) == (ENTRY, ENTRY, False)
        control(desk.window, "Undo").click()
        assert view.form.entry == {**ENTRY, "label": "work"}


async def test_undo_of_a_discard_is_offered_only_while_the_pane_is_open(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        control(view, "Discard").click()
        assert desk.window.findChildren(Toast)
        desk.page.open_server("b")
        await until(lambda: not isValid(view))
        await until(lambda: not desk.window.findChildren(Toast))


async def test_a_switch_is_painted_as_its_entry_has_it(theme: Theme) -> None:
    async with opened(theme) as (_, view):
        switch = cast(Switch, view.form.field("deferredStartup").control)
        typed(view, {**ENTRY, "deferredStartup": True})
        await until(lambda: (switch.isChecked(), switch.position) == (True, 1.0))
        typed(view, ENTRY)
        await until(lambda: (switch.isChecked(), switch.position) == (False, 0.0))


async def test_secrets_that_were_typed_are_stored_with_it_and_kept_nowhere_here(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        pairs = view.form.field("env").pairs
        assert pairs is not None
        await until(lambda: pairs.rows[0]._stored is False)
        view.ask_secret("a/A_TOKEN")
        QTest.keyClicks(pairs.rows[0]._value, "hunter2")
        assert "hunter2" not in view.json.text
        control(view, "Save").click()
        await until(lambda: desk.engine.secrets == {"a/A_TOKEN": "hunter2"})
        await until(lambda: not view.is_edited)
        assert pairs.secrets == {}
        await desk.asked("restart_server", "a")  # its entry is the same, yet it runs with the value of before


TYPED: dict[str, Any] = {
    "command": "npx",
    "args": ["-y", "x", "--api-key", "k1"],
    "env": {"GITHUB_TOKEN": "ghp_abcdefgh", "OLD_TOKEN": "old"},
    "headers": {"Authorization": "Bearer sk-abcdefgh12"},
    "url": "https://a.example/?token=k2",
}


async def test_a_key_that_is_typed_goes_to_the_keyring_with_the_save(theme: Theme) -> None:
    before = {"command": "npx", "env": {"OLD_TOKEN": "old"}}
    async with opened(theme, before) as (desk, view):
        typed(view, {**TYPED, "type": "stdio"})
        await until(lambda: "Goes to the keyring when you save." in words(view.form.field("env")))
        await until(lambda: "Goes to the keyring when you save." in words(view.form.field("customHeaders")))
        assert "Goes to the keyring when you save: api-key, token" in words(view)
        view._on_save()
        await until(lambda: not view.is_edited)
        assert desk.engine.entries["a"] == {
            "command": "npx",
            "args": ["-y", "x", "--api-key", "${secret:a/api-key}"],
            "env": {"GITHUB_TOKEN": "${secret:a/GITHUB_TOKEN}", "OLD_TOKEN": "old"},
            "headers": {"Authorization": "Bearer ${secret:a/Authorization}"},
            "url": "https://a.example/?token=${secret:a/token}",
            "type": "stdio",
        }
        assert desk.engine.secrets == {
            "a/api-key": "k1",
            "a/GITHUB_TOKEN": "ghp_abcdefgh",
            "a/Authorization": "sk-abcdefgh12",
            "a/token": "k2",
        }
        assert not any(each in view.json.text for each in ("ghp_", "sk-", "k1", "k2"))


async def test_the_form_says_where_secrets_are_stored_also_once_that_is_another_place(theme: Theme) -> None:
    fake_entry = {"command": "npx", "env": {"A_TOKEN": "${secret:a/A_TOKEN}"}}
    async with opened(theme, fake_entry) as (desk, view):
        desk.engine.secrets["a/A_TOKEN"] = "x"
        await until(lambda: "In the keyring." in words(view))
        desk.engine.bus.publish(SecretsChanged("memory"))
        await until(lambda: "In memory." in words(view))
        desk.engine.bus.publish(SecretsChanged("file"))
        await until(lambda: "In the encrypted file." in words(view))
        typed(view, {**fake_entry, "args": ["--api-key", "sk-abcdefgh12"]})
        await until(lambda: "Goes to the encrypted file when you save: api-key" in words(view))


async def test_plain_text_is_for_the_user_to_choose(theme: Theme) -> None:
    async with opened(theme, {"command": "npx"}) as (desk, view):
        entry = {key: TYPED[key] for key in ("command", "args", "env")}
        typed(view, entry)
        for name in ("GITHUB_TOKEN", "OLD_TOKEN", "api-key"):
            await press(view, f"Save {name} in plain text")
        assert "Goes to the keyring when you save: " not in " ".join(words(view))
        view._on_save()
        await until(lambda: not view.is_edited)
        assert (desk.engine.entries["a"], desk.engine.secrets) == (entry, {})


async def test_a_keyring_that_is_locked_saves_nothing_and_what_was_typed_stays(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        desk.engine.failures["set_secret"] = SecretsUnreachable("the keyring is locked")
        pairs = view.form.field("env").pairs
        assert pairs is not None
        await until(lambda: pairs.rows[0]._stored is False)
        QTest.keyClicks(pairs.rows[0]._value, "hunter2")
        control(view, "Save").click()
        await until(lambda: "The keyring is locked" in words(view))
        assert desk.engine.entries["a"] == ENTRY
        assert pairs.secrets == {"a/A_TOKEN": "hunter2"}


async def test_ctrl_enter_saves_connects_and_shows_the_tools(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        view.json.code.setFocus()
        QTest.keyClick(view.json.code, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("restart_server", "a")
        await until(lambda: desk.page.details and desk.page.details.tab == "tools")


async def test_ctrl_enter_connects_also_if_the_pane_is_closed_meanwhile(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        view.json.code.setFocus()
        QTest.keyClick(view.json.code, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        desk.page.open_server("b")
        await until(lambda: not isValid(view))
        await desk.asked("restart_server", "a")
        await until(lambda: not len(desk.tasks))
        assert desk.page.details
        assert (desk.page.details.server.name, desk.page.details.tab) == ("b", "overview")


async def test_an_entry_changed_meanwhile_is_said_and_not_overwritten(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "mine"})
        desk.engine.change_entry("a", {"command": "theirs"})
        await until(lambda: "This entry was changed meanwhile" in words(view))
        control(view, "Save").click()
        await desk.asked("preview_server_update", "a", {**ENTRY, "label": "mine"})
        await until(lambda: not view._is_saving)
        assert desk.engine.entries["a"] == {"command": "theirs"}
        await press(view, "Show theirs")
        await until(lambda: view.form.entry == {"command": "theirs"})
        assert not view.is_edited


@pytest.mark.parametrize(
    ("verb", "error", "said"),
    [
        ("preview_server_update", TooltrayError("The file cannot be read"), "The file cannot be read"),
        ("update_mcp_server", Conflict("it was written meanwhile"), "This entry was changed meanwhile"),
    ],
)
async def test_why_it_was_not_saved_is_shown_and_what_was_typed_stays(theme: Theme, verb: str, error: TooltrayError, said: str) -> None:
    async with opened(theme) as (desk, view):
        desk.engine.failures[verb] = error
        typed(view, {**ENTRY, "label": "mine"})
        control(view, "Save").click()
        assert not view.can_save
        await until(lambda: said in words(view) and view.can_save)
        assert json.loads(view.json.text) == {**ENTRY, "label": "mine"}


async def test_what_is_typed_while_the_entry_is_read_again_stays(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "mine"})
        control(view, "Discard").click()
        typed(view, {**ENTRY, "label": "other"})
        await until(lambda: not len(desk.tasks))
        assert view.form.entry == {**ENTRY, "label": "other"}


async def test_ctrl_enter_restarts_what_is_saved_already(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        view.json.code.setFocus()
        QTest.keyClick(view.json.code, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await desk.asked("restart_server", "a")
        assert desk.page.details
        assert desk.page.details.tab == "tools"


async def test_one_that_nobody_edits_follows_what_others_write(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        desk.engine.change_entry("a", {"command": "theirs"})
        await until(lambda: view.form.entry == {"command": "theirs"})


async def test_a_server_removed_under_the_form_leaves_what_was_typed_and_can_be_added_again(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "mine"})
        await desk.hub.servers.remove_mcp_server("a")
        await until(lambda: "a was removed meanwhile" in words(view))
        desk.engine.failures["add_mcp_server"] = SecretsUnreachable("the keyring is locked")
        await press(view, "Add it again")
        await until(lambda: "The keyring is locked" in words(view))
        desk.engine.failures.clear()
        view.set_gone()
        await press(view, "Add it again")
        await until(lambda: desk.engine.entries.get("a") == {**ENTRY, "label": "mine"})


async def test_what_is_not_saved_can_be_had_again_after_the_pane_is_closed(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        typed(view, {**ENTRY, "label": "mine"})
        desk.page.open_server("b")
        await until(lambda: desk.page.details and desk.page.details.server.name == "b")
        control(desk.window, "Undo").click()
        details = desk.page.details
        again = cast(ServerSettings, details.view("settings")) if details else view
        await until(lambda: again.form.entry == {**ENTRY, "label": "mine"})


async def test_a_file_of_a_project_is_written_only_after_its_diff_was_seen(theme: Theme) -> None:
    async with opened(theme, origin="project", file="/srv/shop/.mcp.json", project="/srv/shop") as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        control(view, "Save").click()
        await until(lambda: desk.window.sheet is not None)
        sheet = desk.window.sheet.panel  # type: ignore[union-attr]
        assert isinstance(sheet, SaveSheet)
        assert "/srv/shop/.mcp.json" in [label.accessibleName() for label in sheet.findChildren(QLabel)]
        assert desk.engine.entries["a"] == ENTRY
        control(sheet, "Save").click()
        await until(lambda: desk.engine.entries["a"] == {**ENTRY, "label": "work"})


async def test_the_sheet_with_the_diff_saves_nothing_once_the_pane_is_closed(theme: Theme) -> None:
    async with opened(theme, origin="project", file="/srv/shop/.mcp.json", project="/srv/shop") as (desk, view):
        typed(view, {**ENTRY, "label": "work"})
        control(view, "Save").click()
        await until(lambda: desk.window.sheet is not None)
        desk.page.open_server("b")
        await until(lambda: not isValid(view))
        control(desk.window.sheet.panel, "Save").click()  # type: ignore[union-attr]
        await until(lambda: desk.window.sheet is None and not len(desk.tasks))
        assert desk.engine.entries["a"] == ENTRY


async def test_a_served_file_says_that_it_is_not_written(theme: Theme) -> None:
    async with opened(theme, origin="served", file="/srv/etc/config.json") as (_, view):
        typed(view, {**ENTRY, "label": "work"})
        assert not view.can_save
        assert any("never writes to it" in label.accessibleName() for label in view.findChildren(QLabel))


async def test_a_test_shows_its_lines_and_its_tools_and_saves_nothing(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        desk.engine.server_tests["a"] = WORKED
        typed(view, {**ENTRY, "label": "work"})
        control(view, "Test").click()
        await until(lambda: "Connected in 1.8 s, 2 tools, 3,546 tokens" in view.test_panel.words)
        assert "write, read" in view.test_panel.words
        assert desk.engine.entries["a"] == ENTRY
        assert view.is_edited


async def test_a_test_that_hangs_shows_what_the_server_writes_and_is_stopped(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        control(view, "Test").click()
        await until(lambda: desk.engine.running_tests)
        [test] = desk.engine.running_tests
        desk.engine.bus.publish(ServerTestOutput(test, ("downloading",)))
        await until(lambda: view.test_panel._code.toPlainText() == "downloading")
        control(view, "Stop the test").click()
        await until(lambda: not desk.engine.running_tests)
        assert not view.test_panel.isVisible()


async def test_a_test_ends_when_nobody_sees_it_any_more(theme: Theme) -> None:
    async with opened(theme) as (desk, view):
        control(view, "Test").click()
        await until(lambda: desk.engine.running_tests)
        desk.open_server("a", "overview")
        await until(lambda: not desk.engine.running_tests)
        assert view.test_panel.isHidden()


async def test_a_test_that_failed_says_why_and_its_remedy_is_put_into_the_form(theme: Theme) -> None:
    step = NextStep("use_absolute_path", "Use /opt/npx", "/opt/npx")
    async with opened(theme) as (desk, view):
        desk.engine.server_tests["a"] = ServerTest("a", False, problem=Problem("command 'npx' not found"), remedies=(step,), output=("x",))
        control(view, "Test").click()
        await until(lambda: "Command 'npx' not found" in view.test_panel.words)
        control(view, "Use /opt/npx").click()
        assert view.form.entry["command"] == "/opt/npx"
        await until(lambda: not view.test_panel.is_running)


async def test_the_sheet_that_adds_tests_with_the_secrets_typed_there(theme: Theme) -> None:
    fake = FakePresenter([server("a")])
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.page.add('{"mcpServers": {"new": {"command": "npx", "args": ["x"], "env": {"A_TOKEN": "hunter2hunter2"}}}}')
        fake.server_tests["new"] = replace(WORKED, server="new")
        panel = desk.window.sheet.panel  # type: ignore[union-attr]
        assert isinstance(panel, AddServerSheet)
        control(panel, "Test").click()
        await until(lambda: any("Connected in 1.8 s" in each for each in words(panel)))
        [(_, _, name, config)] = [call for call in fake.calls if call[0] == "test_server"]
        assert (name, config["env"]) == ("new", {"A_TOKEN": "hunter2hunter2"})
        assert fake.secrets == {}


@pytest.mark.parametrize(
    ("field", "empty"),
    [
        ("env", {"A_TOKEN": "${secret:a/A_TOKEN}", "B_KEY": ""}),
        ("env", {"B_KEY": "  "}),
        ("headers", {"Authorization": "Bearer "}),
        ("headers", {"X-API-Key": ""}),
    ],
)
async def test_a_secret_that_is_left_empty_is_asked_for_and_not_saved(theme: Theme, field: str, empty: dict[str, str]) -> None:
    before = ENTRY if field == "env" else {"type": "http", "url": "https://a.example/mcp"}
    async with opened(theme, before) as (desk, view):
        desk.window.resize(900, 700)  # one way to edit it at a time
        typed(view, {**before, field: empty})
        control(view, "Save").click()
        asked = next(each for row in view.form.rows if row.pairs for each in row.pairs.rows if not each.is_kept)
        await until(lambda: asked._value.hasFocus())
        assert "Enter its value, or remove it." in words(asked)
        control(view, "Test").click()
        assert desk.engine.entries["a"] == before
        assert not {"update_mcp_server", "test_server"} & {call[0] for call in desk.engine.calls}
        QTest.keyClicks(asked._value, "hunter22")
        assert "Enter its value, or remove it." not in words(asked)
        control(view, "Save").click()
        await until(lambda: desk.engine.entries["a"] != before)
        assert set(desk.engine.secrets.values()) == {"hunter22"}


async def test_a_secret_that_was_empty_before_keeps_nobody_from_saving(theme: Theme) -> None:
    before = {**ENTRY, "env": {"B_KEY": ""}}
    async with opened(theme, before) as (desk, view):
        typed(view, {**before, "label": "work"})
        control(view, "Save").click()
        await until(lambda: desk.engine.entries["a"].get("label") == "work")


async def test_a_missing_secret_is_typed_in_at_the_card(theme: Theme) -> None:
    problem = Problem(Phrase("Secret '{name}' not found", name="a/TOKEN"), "env: TOKEN", "Store it: ...", SECRET_MISSING)
    async with Desk(FakePresenter([server("a", ServerState.ERROR, problem=problem)]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        control(desk.card("a"), "Enter the secret, a").click()
        assert isinstance(desk.window.sheet.panel, SecretSheet)  # type: ignore[union-attr]


async def test_a_link_opens_the_settings_of_a_server_over_the_page(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.window.go(OpenServer("a", "settings"))
        assert desk.page.details is not None
        assert desk.page.details.tab == "settings"
        assert desk.page.details.width() == desk.page.width()


async def test_edit_opens_the_form_over_the_page_and_back_leads_to_the_tab_of_before_with_nothing_lost(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        details = desk.open_server("a", "tools")
        control(details, "Edit a").click()
        assert details.tab == "settings"
        view = cast(ServerSettings, details.view("settings"))
        await until(lambda: view.form.isEnabled())
        assert details.width() == desk.page.width()
        typed(view, {"command": "other"})
        control(details, "Back").click()
        assert (details.tab, details.unsaved) == ("tools", view.json.text)
        assert details.width() < desk.page.width()
        assert control(details, "Edit a").hasFocus()
        assert control(details, "Edit a").text() == "Unsaved changes"
        control(details, "Edit a").click()
        assert view.form.entry == {"command": "other"}
        QTest.keyClick(view.json.code, Qt.Key.Key_Escape)
        assert details.tab == "tools"
        control(details, "Use the whole page").click()
        control(details, "Edit a").click()
        control(details, "Back").click()
        assert details.width() == desk.page.width()


async def test_a_copy_opens_its_own_settings(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.duplicate_requested.emit("a")
        panel = desk.window.sheet.panel  # type: ignore[union-attr]
        control(panel, "Duplicate").click()
        panel.findChild(QLineEdit).returnPressed.emit()
        await desk.asked("duplicate_mcp_server", "a", "a-2")
        await until(lambda: desk.page.details and (desk.page.details.server.name, desk.page.details.tab) == ("a-2", "settings"))
        assert desk.window.sheet is None
        assert [call[0] for call in desk.engine.calls].count("duplicate_mcp_server") == 1


async def test_a_renamed_server_stays_open_where_it_was_and_undo_gives_it_its_name_back(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.open_server("a", "log")
        desk.wishes.rename_requested.emit("a")
        panel = desk.window.sheet.panel  # type: ignore[union-attr]
        field, button = panel.findChild(QLineEdit), control(panel, "Rename")
        assert (field.text(), button.isEnabled(), "There is a server" in words(panel)) == ("a", False, False)
        field.setText("b")
        assert (button.isEnabled(), "There is a server of this name." in words(panel)) == (False, True)
        field.setText("notes")
        button.click()
        await desk.asked("rename_mcp_server", "a", "notes")
        await until(lambda: desk.page.details and (desk.page.details.server.name, desk.page.details.tab) == ("notes", "log"))
        assert desk.window.sheet is None
        toast = desk.window.findChild(Toast)
        assert "a is notes now" in words(toast)
        control(toast, "Undo").click()
        await desk.asked("rename_mcp_server", "notes", "a")
        await until(lambda: desk.page.details and (desk.page.details.server.name, desk.page.details.tab) == ("a", "log"))


async def test_a_server_whose_details_are_closed_is_renamed_without_opening_them(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a"), server("b")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        for opened in (None, "b"):
            if opened:
                desk.open_server(opened)
            name, new_name = ("a", "c") if opened is None else ("c", "a")
            desk.wishes.rename_requested.emit(name)
            panel = desk.window.sheet.panel  # type: ignore[union-attr]
            panel.findChild(QLineEdit).setText(new_name)
            panel.findChild(QLineEdit).returnPressed.emit()
            await until(lambda: desk.window.sheet is None)
            assert (desk.page.details.server.name if desk.page.details else None) == opened


async def test_an_entry_too_long_for_a_person_is_left_to_its_file_and_the_hub_has_no_settings(theme: Theme) -> None:
    fake = FakePresenter([server("a")])
    fake.entries["a"] = {"command": "x" * 300_000}
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        view = cast(ServerSettings, desk.open_server("a", "settings").view("settings"))
        await until(lambda: "This entry is too long to be edited here" in words(view))
        assert not view.is_edited
        assert not control(view, "Test").isEnabled()
        fake.tell(server("new", origin="proposal", waiting=True))
        await until(lambda: desk.servers.find("new"))
        for name in ("hub", "new"):
            details = desk.open_server(name)
            assert not details.has_tab("settings")
            assert not [each for each in details.findChildren(QAbstractButton) if each.text() == "Edit" and each.isVisible()]
