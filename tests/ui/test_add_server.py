"""Adding a server: what is pasted is shown before it runs, secrets go to the keyring, and a failure loses nothing."""

import asyncio
import json
from urllib.parse import quote

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, field, words

from tooltray.foundation.errors import SecretsUnreachable, TooltrayError
from tooltray.foundation.events import KeyringAwaited, SecretsChanged
from tooltray.foundation.snapshots.entries import NewServer
from tooltray.foundation.snapshots.servers import AccessSnapshot
from tooltray.sources.entries.pasted_parts import secret_spans
from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.add.server_review import candidate_of
from tooltray.ui.kit.hub_phase import HubPhase
from tooltray.ui.kit.secrets_help import SecretsHelp
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.code_view import CodeView, CoveredCode
from tooltray.ui.widgets.toast import Toast

BLOCK = json.dumps({"mcpServers": {"gh": {"command": "npx", "args": ["-y", "gh"], "env": {"GH_TOKEN": "abc", "LOG": "info"}}}})


def panel(desk: Desk, text: str = "") -> AddServerSheet:
    desk.page.add(text)
    found = desk.window.findChild(AddServerSheet)
    assert isinstance(found, AddServerSheet)
    return found


def switch(sheet: AddServerSheet, name: str) -> Switch:
    return next(each for each in sheet.findChildren(Switch) if each.accessibleName() == name)


def primary(sheet: AddServerSheet) -> QPushButton:
    return next(each for each in sheet.findChildren(QPushButton) if each.property("variant") == "primary")


def choose(sheet: AddServerSheet, name: str, title: str) -> None:
    control(sheet, name).click()
    menu = control(sheet, name).findChildren(QMenu)[-1]
    next(action for action in menu.actions() if action.text().partition("\t")[0] == title).trigger()
    menu.close()


def paste(sheet: AddServerSheet, text: str) -> None:
    view = sheet.findChild(CodeView)
    assert isinstance(view, CodeView)
    QGuiApplication.clipboard().setText(text)
    view.selectAll()
    view.paste()


async def test_a_pasted_command_shows_what_will_run_and_is_added(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk)
        assert not primary(sheet).isEnabled()
        paste(sheet, "LOG=info npx -y @scope/server-notes '/my files'")
        await until(lambda: "npx -y @scope/server-notes '/my files'" in words(sheet))
        assert "LOG" in words(sheet)
        assert control(sheet, "Access: Trusted").isVisible()
        assert field(sheet, "Name of the server").text() == "notes"
        primary(sheet).click()
        entry = {"command": "npx", "args": ["-y", "@scope/server-notes", "/my files"], "env": {"LOG": "info"}}
        await desk.asked("add_mcp_server", "notes", entry, True, "trusted")
        await until(lambda: desk.window.sheet is None)


async def test_name_and_start_are_the_person_s(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, "uvx mcp-server-fetch")
        field(sheet, "Name of the server").setText("web")
        switch(sheet, "Start fetch with Tooltray").click()
        await until(lambda: "When a client needs it" in words(sheet))
        primary(sheet).click()
        await desk.asked("add_mcp_server", "web", {"command": "uvx", "args": ["mcp-server-fetch"]}, False, "trusted")


@pytest.mark.parametrize(
    ("setting", "text", "preset"),
    [
        (None, "npx x", "trusted"),
        ("careful", "npx x", "careful"),
        ("free", "npx x", "free"),
        ("trusted", "https://a.example/mcp", "trusted"),
        (None, "vscode:mcp/install?%7B%22name%22%3A%22a%22%2C%22command%22%3A%22npx%22%7D", "careful"),
        (None, '{"a": {"command": "x", "autoApprove": ["write"], "callRules": [{"tool": "t"}]}}', "trusted"),
        (None, '{"a": {"command": "x", "confinement": "own"}}', "careful"),
        (None, '{"a": {"command": "x", "confinement": {"network": "none"}}}', None),
        ("free", '{"a": {"command": "x", "autoApprove": []}}', None),
    ],
)
async def test_what_it_may_do_is_as_the_settings_have_it_and_a_text_allows_nothing(
    theme: Theme, setting: str | None, text: str, preset: str | None
) -> None:
    fake = FakePresenter()
    fake.settings = {"newServers": setting}
    async with Desk(fake, theme) as desk:
        sheet = panel(desk, text)
        await until(lambda: not len(desk.tasks))
        assert sheet.new_servers()[0].access == preset
        assert "Careful is not possible" not in words(sheet)


async def test_where_there_is_no_sandbox_careful_becomes_trusted_and_the_sheet_says_so(theme: Theme) -> None:
    fake = FakePresenter()
    fake.settings = {"newServers": "careful"}
    async with Desk(fake, theme) as desk:
        sheet = panel(desk, "docker run x")
        await until(lambda: "Careful is not possible: it cannot be sandboxed on this computer." in words(sheet))
        primary(sheet).click()
        await desk.asked("add_mcp_server", "docker", {"command": "docker", "args": ["run", "x"]}, True, "trusted")


async def test_a_server_with_a_url_says_why_it_is_trusted_where_careful_is_the_default(theme: Theme) -> None:
    fake = FakePresenter()
    fake.settings = {"newServers": "careful"}
    async with Desk(fake, theme) as desk:
        sheet = panel(desk, "https://a.example/mcp")
        text = "Careful is not possible: a server with a URL cannot be sandboxed."
        await until(lambda: text in words(sheet))
        assert sheet.new_servers()[0].access == "trusted"


def test_a_found_server_with_a_url_says_why_it_is_trusted() -> None:
    access = AccessSnapshot("trusted", ("trusted", "free"), "reads")
    far = NewServer("far", {"url": "https://a.example/mcp"}, url="https://a.example/mcp", access=access)
    assert candidate_of(far).is_lacking
    assert not candidate_of(replace(far, access=replace(access, choice="free"))).is_lacking
    assert not candidate_of(replace(far, url="", command=("x",))).is_lacking


async def test_what_it_may_do_can_be_chosen_before_it_is_added(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, '{"a": {"command": "x", "autoApprove": ["write"]}}')
        await until(lambda: not len(desk.tasks))
        assert "Changes ask" in words(sheet)
        choose(sheet, "Access: Trusted", "Careful")
        assert "Sandboxed: cannot reach your other files, keys and passwords" in words(sheet)
        choose(sheet, "Access: Careful", "As in the text: write")
        assert sheet.new_servers()[0].access is None
        choose(sheet, "Access: As in the text: write", "Free")
        primary(sheet).click()
        await until(lambda: desk.engine.entries)
        assert next(call for call in desk.engine.calls if call[0] == "add_mcp_server")[-1] == "free"


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("uvx x", ["Careful\tSandboxed, changes ask", "Trusted\tChanges ask, not sandboxed", "Free\tNever asks, not sandboxed"]),
        ("https://far.example/mcp", ["Trusted\tChanges ask", "Free\tNever asks"]),
    ],
)
async def test_each_entry_of_the_menu_says_what_it_means_also_to_a_screen_reader(theme: Theme, text: str, entries: list[str]) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, text)
        await until(lambda: not len(desk.tasks))
        choice = control(sheet, "Access: Trusted")
        assert QAccessible.queryAccessibleInterface(choice).text(QAccessible.Text.Description) == entries[-2].partition("\t")[2]
        choice.click()
        menu = choice.findChildren(QMenu)[-1]
        assert [action.text() for action in menu.actions()] == entries
        spoken = QAccessible.queryAccessibleInterface(menu)
        assert [spoken.child(place).text(QAccessible.Text.Name) for place in range(spoken.childCount())] == entries
        QTest.keyClick(menu, Qt.Key.Key_Down)
        QTest.keyClick(menu, Qt.Key.Key_Return)
        assert control(sheet, "Access: Free").accessibleDescription() == entries[-1].partition("\t")[2]


@pytest.mark.parametrize(("name", "complaint"), [("files", "taken"), ("", "needs a name"), ("a/b", "not usable as a name")])
async def test_a_name_that_cannot_be_used_is_told_while_it_is_typed(theme: Theme, name: str, complaint: str) -> None:
    async with Desk(FakePresenter([server("files")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        sheet = panel(desk, "uvx x")
        field(sheet, "Name of the server").setText(name)
        chips = [each.accessibleName() for each in sheet.reviews[0].findChildren(Chip)]
        assert chips == [complaint]
        assert not primary(sheet).isEnabled()


async def test_a_name_that_is_taken_has_a_free_one_in_its_place(theme: Theme) -> None:
    async with Desk(FakePresenter([server("files"), server("files-2")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        block = '{"mcpServers": {"files": {"command": "x"}, "files-3": {"command": "y"}}}'
        sheet = panel(desk, block)
        assert [review.name for review in sheet.reviews] == ["files-3", "files-3-2"]
        assert primary(sheet).isEnabled()


async def test_a_secret_goes_to_the_keyring_and_the_entry_refers_to_it(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, BLOCK)
        assert "abc" not in words(sheet)
        assert field(sheet, "Value of GH_TOKEN").echoMode() is QLineEdit.EchoMode.Password
        field(sheet, "Value of GH_TOKEN").setText("xyz")
        primary(sheet).click()
        await until(lambda: desk.engine.entries)
        assert desk.engine.secrets == {"gh/GH_TOKEN": "xyz"}
        assert desk.engine.entries["gh"]["env"] == {"GH_TOKEN": "${secret:gh/GH_TOKEN}", "LOG": "info"}


async def test_it_says_where_secrets_are_stored_also_once_that_is_another_place(theme: Theme) -> None:
    async with Desk(FakePresenter(secret_backend="file"), theme) as desk:
        sheet = panel(desk, BLOCK)
        assert "Keep in the encrypted file" in words(sheet)
        assert switch(sheet, "Keep GH_TOKEN in the encrypted file").isChecked()
        desk.engine.bus.publish(SecretsChanged("memory"))
        await until(lambda: "Keep in memory" in words(sheet))


async def test_a_secret_without_a_value_is_asked_for_and_never_stored_empty(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        entry = {"url": "https://a.example/?api_key=<key>&x=1", "headers": {"X-Api-Key": "<key>", "Authorization": "Bearer <token>"}}
        sheet = panel(desk, json.dumps({"gh": entry}))
        primary(sheet).click()
        await until(lambda: "Enter its value, or add the server without it." in words(sheet))
        assert not desk.engine.entries
        field(sheet, "Value of X-Api-Key").setText(" ")
        primary(sheet).click()
        assert not desk.engine.entries
        field(sheet, "Value of X-Api-Key").setText("k")
        await until(lambda: "Enter its value" not in words(sheet))
        control(sheet, "Test").click()
        await until(lambda: "Enter its value, or add the server without it." in words(sheet))
        control(sheet, "Leave out Authorization").click()
        await until(lambda: "Added without it." in words(sheet))
        primary(sheet).click()
        await until(lambda: "Enter its value, or add the server without it." in words(sheet))
        control(sheet, "Leave out api_key").click()
        control(sheet, "Enter a value for Authorization").click()
        await until(lambda: field(sheet, "Value of Authorization").isVisible())
        control(sheet, "Leave out Authorization").click()
        primary(sheet).click()
        await until(lambda: desk.engine.entries)
        added = {"url": "https://a.example/?x=1", "headers": {"X-Api-Key": "${secret:gh/X-Api-Key}"}}
        assert {key: desk.engine.entries["gh"][key] for key in added} == added
        assert desk.engine.secrets == {"gh/X-Api-Key": "k"}


async def test_a_key_among_the_arguments_goes_to_the_keyring_too(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, "npx db --api-key sk-abcdefgh12 postgres://me:hunter2@h/db")
        primary(sheet).click()
        await until(lambda: desk.engine.entries)
        assert desk.engine.entries["db"]["args"] == ["db", "--api-key", "${secret:db/api-key}", "${secret:db/ARGUMENT}"]
        assert desk.engine.secrets == {"db/api-key": "sk-abcdefgh12", "db/ARGUMENT": "postgres://me:hunter2@h/db"}


async def test_a_secret_stays_in_the_settings_if_the_person_wants_that(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, BLOCK)
        switch(sheet, "Keep GH_TOKEN in the keyring").click()
        primary(sheet).click()
        await until(lambda: desk.engine.entries)
        assert desk.engine.secrets == {}
        assert desk.engine.entries["gh"]["env"] == {"GH_TOKEN": "abc", "LOG": "info"}


async def test_what_cannot_be_read_is_explained_and_cannot_be_added(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, '{"mcpServers": {"a": {"command": "x" "args": []}}}')
        assert "line 1, column 38" in words(sheet).lower()
        assert not sheet.reviews
        assert not primary(sheet).isEnabled()
        paste(sheet, "uvx x")
        assert "column 38" not in words(sheet)
        assert primary(sheet).isEnabled()


async def test_a_url_shows_what_is_connected_to_and_is_added(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, "https://mcp.example.org/mcp?workspace=7")
        await until(lambda: "What will be connected" in words(sheet))
        assert {"mcp.example.org", "https://mcp.example.org/mcp"} <= set(words(sheet).splitlines())
        assert "workspace" not in words(sheet)
        assert "sandbox" not in words(sheet).lower(), "nothing of it runs on this computer"
        primary(sheet).click()
        entry = {"url": "https://mcp.example.org/mcp?workspace=7"}
        await desk.asked("add_mcp_server", "example", entry, True, "trusted")


async def test_a_header_with_a_key_is_kept_secret_and_its_scheme_stays_readable(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        headers = {"Authorization": "Bearer <token>", "X-Team": "a", "X-Api-Key": "k"}
        sheet = panel(desk, json.dumps({"far": {"type": "sse", "url": "https://example.org/sse", "headers": headers}}))
        await until(lambda: "X-Team" in words(sheet))
        assert "sse" in [chip.accessibleName() for chip in sheet.findChildren(Chip)]
        field(sheet, "Value of Authorization").setText("abc")
        switch(sheet, "Keep X-Api-Key in the keyring").click()
        primary(sheet).click()
        await until(lambda: desk.engine.entries)
        assert desk.engine.secrets == {"far/Authorization": "abc"}
        kept = {"Authorization": "Bearer ${secret:far/Authorization}", "X-Team": "a", "X-Api-Key": "k"}
        assert desk.engine.entries["far"]["headers"] == kept


@pytest.mark.parametrize(
    ("url", "is_warned"), [("http://a.example/mcp", True), ("http://127.0.0.1:9/mcp", False), ("https://a.example/mcp", False)]
)
async def test_a_connection_that_others_can_read_is_pointed_out(theme: Theme, url: str, is_warned: bool) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, url)
        await until(lambda: "What will be connected" in words(sheet))
        assert ("not encrypted" in words(sheet)) is is_warned


async def test_remote_and_local_servers_of_one_block_are_added_together(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, '{"mcpServers": {"far": {"url": "https://example.org/mcp"}, "near": {"command": "x"}}}')
        primary(sheet).click()
        await until(lambda: list(desk.engine.entries) == ["far", "near"])


async def test_a_secret_among_the_arguments_is_pointed_out(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, "npx x --api-key abcdef")
        await until(lambda: "--api-key looks like a secret" in words(sheet))


async def test_several_servers_are_added_together(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}')
        assert primary(sheet).text() == "Add 2 servers"
        primary(sheet).click()
        await until(lambda: list(desk.engine.entries) == ["a", "b"])


async def test_when_adding_fails_the_sheet_says_why_and_keeps_what_was_typed(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.engine.failures["add_mcp_server"] = TooltrayError("the disk is full", "settings.json", "Free some space")
        sheet = panel(desk, BLOCK)
        field(sheet, "Name of the server").setText("mine")
        primary(sheet).click()
        await until(lambda: "The disk is full" in words(sheet))
        assert desk.window.sheet is not None
        assert field(sheet, "Name of the server").text() == "mine"
        del desk.engine.failures["add_mcp_server"]
        primary(sheet).click()
        await until(lambda: list(desk.engine.entries) == ["mine"])


async def test_when_the_second_of_two_fails_adding_again_goes_on_with_it(theme: Theme) -> None:
    two = json.dumps({"mcpServers": {"a": {"command": "a"}, "gh": {"command": "npx", "env": {"GH_TOKEN": "abc"}}}})
    async with Desk(FakePresenter(), theme) as desk:
        desk.engine.failures["set_secret"] = SecretsUnreachable("no keyring found")
        sheet = panel(desk, two)
        primary(sheet).click()
        await until(lambda: sheet.findChild(SecretsHelp))
        assert [review.name for review in sheet.reviews] == ["gh"]
        assert "a is added" in words(sheet)
        assert primary(sheet).text() == "Add server"
        del desk.engine.failures["set_secret"]
        primary(sheet).click()
        await until(lambda: list(desk.engine.entries) == ["a", "gh"])


@pytest.mark.parametrize("error", [None, SecretsUnreachable("the keyring is locked"), TooltrayError("the disk is full")])
async def test_a_sheet_that_is_closed_while_it_adds_adds_the_rest_or_says_in_the_window_why_not(
    theme: Theme, error: TooltrayError | None
) -> None:
    may_end = asyncio.Event()

    class Slow(FakePresenter):
        async def set_secret(self, name: str, value: str) -> None:
            await may_end.wait()
            if error is not None:
                raise error

    two = {"gh": {"command": "npx", "env": {"GH_TOKEN": "abc"}}, "b": {"command": "b", "env": {"B_TOKEN": "abc"}}}
    async with Desk(Slow(), theme) as desk:
        sheet = panel(desk, json.dumps({"mcpServers": two}))
        primary(sheet).click()
        await until(lambda: primary(sheet).text() == "Adding…" and len(desk.tasks))
        assert desk.window.sheet is not None
        desk.window.sheet.dismiss()
        await until(lambda: not isValid(sheet))
        may_end.set()
        if error is None:
            await until(lambda: "gh, b are added" in words(desk.window))
            assert list(desk.engine.entries) == ["gh", "b"]
        else:
            await until(lambda: error.problem.title.capitalize() in words(desk.page.notices))
            assert desk.engine.entries == {}


async def test_without_a_keyring_the_person_chooses_a_file_and_adding_goes_on(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.engine.failures["set_secret"] = SecretsUnreachable("no keyring found", "", "Choose another place")
        sheet = panel(desk, BLOCK)
        primary(sheet).click()
        await until(lambda: sheet.findChild(SecretsHelp))
        assert desk.engine.entries == {}
        del desk.engine.failures["set_secret"]
        use_file = next(each for each in sheet.findChildren(QPushButton) if each.text() == "Use an encrypted file")
        assert not use_file.isEnabled()
        field(sheet, "Passphrase for the file").setText("open sesame")
        use_file.click()
        await desk.asked("unlock_secrets", "open sesame")
        await until(lambda: "gh" in desk.engine.entries)
        assert ("set_secret_backend", "file") in desk.engine.calls
        await until(lambda: desk.window.sheet is None)


async def test_a_wrong_passphrase_is_told_where_it_was_typed(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.engine.failures["set_secret"] = SecretsUnreachable("no keyring found")
        desk.engine.failures["unlock_secrets"] = TooltrayError("the passphrase is wrong")
        sheet = panel(desk, BLOCK)
        primary(sheet).click()
        await until(lambda: sheet.findChild(SecretsHelp))
        field(sheet, "Passphrase for the file").setText("no")
        QTest.keyClick(field(sheet, "Passphrase for the file"), Qt.Key.Key_Return)
        await until(lambda: "The passphrase is wrong" in words(sheet))


async def test_control_enter_adds_from_the_text_and_plain_enter_does_not(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, "uvx x")
        view = sheet.findChild(CodeView)
        assert isinstance(view, CodeView)
        await until(view.hasFocus)
        QTest.keyClick(view, Qt.Key.Key_Return)
        assert not desk.engine.entries
        QTest.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: "x" in desk.engine.entries)


@pytest.mark.parametrize("name", ["Name of the server", "Value of GH_TOKEN"])
async def test_enter_in_a_line_adds_and_in_the_help_with_secrets_unlocks(theme: Theme, name: str) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.engine.failures["set_secret"] = SecretsUnreachable("no keyring found")
        sheet = panel(desk, BLOCK)
        line = field(sheet, name)
        line.setFocus()
        QTest.keyClick(line, Qt.Key.Key_Return)
        await until(lambda: sheet.findChild(SecretsHelp))
        calls = [call for call in desk.engine.calls if call[0] == "add_mcp_server"]
        field(sheet, "Passphrase for the file").setFocus()
        QTest.keyClick(field(sheet, "Passphrase for the file"), Qt.Key.Key_Return)
        await until(lambda: not len(desk.tasks))
        assert [call for call in desk.engine.calls if call[0] == "add_mcp_server"] == calls
        del desk.engine.failures["set_secret"]
        line.setFocus()
        QTest.keyClick(line, Qt.Key.Key_Return)
        await until(lambda: "gh" in desk.engine.entries)


async def test_paste_on_the_page_opens_the_sheet_with_the_clipboard(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        QGuiApplication.clipboard().setText("uvx mcp-server-fetch")
        desk.card("a").controls()[0].setFocus()
        QTest.keyClick(desk.card("a").controls()[0], Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        assert desk.window.sheet is not None
        sheet = desk.window.findChild(AddServerSheet)
        await until(lambda: "uvx mcp-server-fetch" in words(sheet))


async def test_a_whole_log_pasted_by_mistake_is_cut_and_refused(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk)
        paste(sheet, "x" * 2_000_000)
        assert "too long" in words(sheet)


async def test_a_pasted_secret_is_covered_in_the_field_too_until_a_person_wants_to_see_it(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk)
        view = sheet.findChild(CoveredCode)
        assert isinstance(view, CoveredCode)
        paste(sheet, "😀=1 GH_TOKEN=ghp_0123456789 npx gh")
        assert view.toPlainText() == "😀=1 GH_TOKEN=ghp_0123456789 npx gh"
        assert view.shown_text == "😀=1 GH_TOKEN=•••••••••••••• npx gh"
        control(sheet, "Show secrets").click()
        assert view.shown_text == view.toPlainText()
        control(sheet, "Hide secrets").click()
        assert "ghp_" not in view.shown_text
        paste(sheet, "npx gh")
        assert not any(each.isVisible() for each in sheet.findChildren(QPushButton) if "secrets" in each.text())


async def test_the_cursor_of_who_types_stays_in_sight_when_the_field_gets_narrower(qtbot: QtBot, theme: Theme) -> None:
    view = CodeView(theme, "", "x", lines=3, editable=True)
    qtbot.addWidget(view)
    view.resize(300, 100)
    view.show()
    view.activateWindow()
    view.setFocus()
    await until(view.hasFocus)
    QTest.keyClicks(view, "node " + "/a/long/path" * 6)
    for width in (309, 300):
        view.resize(width, 100)
        assert view.viewport().rect().contains(view.cursorRect())


@pytest.mark.parametrize("is_selected", [False, True])
def test_a_covered_secret_cannot_be_seen_also_while_it_is_selected(theme: Theme, is_selected: bool) -> None:
    def picture(secret: str, *, is_covered: bool = True) -> QImage:
        view = CoveredCode(theme, "x", secret_spans, lines=3)
        view.resize(600, 100)
        view.setPlainText(f"😀=1 npx gh\nGH_TOKEN={secret} npx gh")
        view.set_covered(is_covered)
        if is_selected:
            view.selectAll()
        return view.grab().toImage()

    assert picture("ghp_0123456789") == picture("ghp_9876543210")
    assert picture("ghp_0123456789", is_covered=False) != picture("ghp_9876543210", is_covered=False)


async def test_a_secret_among_the_arguments_is_not_shown_in_what_will_run(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, "npx gh --api-key abcdef --team a")
        await until(lambda: "npx gh --api-key •••••• --team a" in words(sheet))
        assert "abcdef" not in words(sheet)


async def test_while_the_keyring_asks_for_its_password_the_sheet_says_so(theme: Theme) -> None:
    prompt = asyncio.Event()

    class Prompting(FakePresenter):
        async def set_secret(self, name: str, value: str) -> None:
            await prompt.wait()
            raise SecretsUnreachable("The keyring is locked", "its prompt was closed", "Try again")

    async with Desk(Prompting(), theme) as desk:
        sheet = panel(desk, BLOCK)
        primary(sheet).click()
        await until(lambda: primary(sheet).text() == "Adding…")
        assert "Unlock your keyring to continue" not in words(sheet)
        desk.engine.bus.publish(KeyringAwaited(is_awaited=True))
        await until(lambda: "Unlock your keyring to continue" in words(sheet))
        assert "its window may be behind this one" in words(sheet)
        assert primary(sheet).text() == "Adding…"
        prompt.set()
        await until(lambda: "The keyring is locked" in words(sheet))
        assert "Unlock your keyring to continue" not in words(sheet)
        assert control(sheet, "Try again").isVisible()
        assert primary(sheet).text() == "Add server"


async def test_a_keyring_that_is_open_is_not_spoken_of(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, BLOCK)
        desk.engine.bus.publish(KeyringAwaited(is_awaited=True))  # of something else
        await until(lambda: desk.hub.awaits_keyring)
        assert "Unlock your keyring to continue" not in words(sheet)
        desk.engine.bus.publish(KeyringAwaited(is_awaited=False))
        await until(lambda: not desk.hub.awaits_keyring)
        primary(sheet).click()
        await until(lambda: desk.window.sheet is None)
        assert "Unlock your keyring to continue" not in words(sheet)


LINK = "tooltray://install?name=notes&config=" + quote(
    json.dumps({"command": "sh", "args": ["-c", "rm -rf ~"], "env": {"API_KEY": "<key>", "LOG": "x"}, "autoApprove": ["all"]}), safe=""
)


async def test_a_link_shows_command_variables_origin_and_dangers_and_approves_nothing(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.show_install(LINK)
        sheet = desk.window.findChild(AddServerSheet)
        assert isinstance(sheet, AddServerSheet)
        said = words(sheet)
        assert "sh -c 'rm -rf ~'" in said
        assert "LOG" in said
        assert "API_KEY" in said
        assert "a link made for Tooltray, which any web page can have" in said
        assert "it deletes or overwrites files" in said
        assert "through a shell" in said
        await until(lambda: control(sheet, "Access: Careful").isVisible() if sheet.new_servers()[0].access == "careful" else False)
        assert "autoApprove" not in sheet.new_servers()[0].entry
        assert [method for method, *_ in desk.engine.calls if method == "add_mcp_server"] == []


async def test_a_link_that_is_opened_before_there_is_a_hub_waits_for_it(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        desk.page.set_phase(HubPhase.STARTING)
        desk.page.show_install(LINK)
        assert desk.window.findChild(AddServerSheet) is None
        desk.page.set_phase(HubPhase.RUNNING)
        assert desk.window.findChild(AddServerSheet) is not None


async def test_a_link_takes_nothing_away_from_a_person(theme: Theme) -> None:
    async with Desk(FakePresenter(), theme) as desk:
        sheet = panel(desk, "npx -y mine")
        desk.page.show_install(LINK)
        toasts = [(toast.tone, toast.text) for toast in desk.window.findChildren(Toast)]
        assert toasts == [("warning", "Close what is open, then open the link again.")]
        assert "npx -y mine" in words(sheet)
        assert "rm -rf" not in words(sheet)


async def test_a_server_that_is_there_already_is_named(theme: Theme) -> None:
    async with Desk(FakePresenter([server("notes", target="npx -y @scope/notes")]), theme) as desk:
        await until(lambda: desk.servers.servers)
        desk.page.add("npx -y @scope/notes")
        assert "You have this server already: notes." in words(desk.window.sheet.panel)
        desk.window.sheet.panel.findChild(CodeView).setPlainText("npx -y @scope/other")
        await until(lambda: "You have this server already" not in words(desk.window.sheet.panel))
