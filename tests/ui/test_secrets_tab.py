"""The Secrets tab: what is missing is typed in, what is stored is replaced or removed, and nothing waits for a keyring."""

import asyncio

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import button, cells, control, drawn, field, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import KeyringAwaited
from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.settings.secret_sheets import SecretDetailsSheet, SecretEntry
from tooltray.ui.settings.secrets_tab import SecretsTab
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.toast import Toast

LOCKED = Problem("The keyring is locked", "its prompt was closed or not answered", "Try again")


def engine(*missing: str, **stored: str) -> FakePresenter:
    fake = FakePresenter([server("git")])
    fake.entries["git"] = {"command": "npx", "env": {name: f"${{secret:git/{name}}}" for name in (*missing, *stored)}}
    fake.secrets = {f"git/{name}": value for name, value in stored.items()}
    return fake


async def opened(desk: Desk, name: str = "") -> SecretsTab:
    tab = desk.open_secrets(name)
    await until(lambda: tab._reading.isHidden() and not len(desk.tasks))
    return tab


def command(panel: QWidget) -> CodeView:
    return panel.findChild(CodeView)  # type: ignore[return-value]


def toast(desk: Desk) -> Toast:
    return desk.window.findChildren(Toast)[-1]


async def test_a_missing_secret_is_typed_in_where_it_is_missed(theme: Theme) -> None:
    async with Desk(engine("KEY", "TOKEN"), theme) as desk:
        tab = await opened(desk)
        assert "git/KEY" in words(tab)
        assert "For git" in drawn(tab)
        value = field(tab, "Value of git/KEY")
        assert value.echoMode() == QLineEdit.EchoMode.Password
        field(tab, "Value of git/TOKEN").setText("half typed")
        QTest.keyClicks(value, "dummy")
        QTest.keyClick(value, Qt.Key.Key_Return)
        await until(lambda: desk.engine.secrets == {"git/KEY": "dummy"})
        await until(lambda: cells(tab.table)[:2] == ["git/KEY", "git"])
        assert toast(desk).text == "git/KEY is stored"
        assert "git/KEY" not in {each.secret_name for each in tab.findChildren(SecretEntry)}
        assert field(tab, "Value of git/TOKEN").text() == "half typed"
        assert nameless(desk.window) == []


async def test_what_is_kept_elsewhere_says_where_and_what_to_do_and_takes_no_value(theme: Theme) -> None:
    problem = Problem("The keyring is not there", hint="Install it")
    secret = SecretSnapshot("keyring:a/b", None, ("git",), kind="provided", origin="the keyring", problem=problem)
    fake = engine()
    fake.stored_secrets = StoredSecrets("memory", True, None, (secret, replace(secret, name="pass:a", problem=None)))
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        table = tab.elsewhere.table
        assert cells(table) == ["keyring:a/b", "the keyring", "git", "Not available", "Details…"]
        assert cells(table, 1) == ["pass:a", "the keyring", "git", "", "Details…"]
        table.pressed.emit(secret)
        sheet = desk.window.findChildren(SecretDetailsSheet)[-1]
        assert "fetched from the keyring each time a server starts" in drawn(sheet)
        assert "Install it" in drawn(sheet)
        assert sheet.findChildren(QLineEdit) == []


OP = SecretSnapshot("command:op", None, ("git",), kind="provided", origin="your command 'op'", problem=Problem("Command 'op' not found"))


async def test_a_command_that_an_entry_names_is_set_up_and_its_server_restarted(theme: Theme) -> None:
    fake = engine()
    fake.stored_secrets = StoredSecrets("memory", True, None, (OP,))
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        table = tab.elsewhere.table
        assert cells(table) == ["command:op", "", "git", "Not set up", "Set up…"]
        tab.open_secret(OP)
        panel = desk.window.sheet.panel
        assert nameless(desk.window) == []
        assert "Command 'op' not found" in drawn(panel)
        assert "${secret:command:op}" in drawn(panel)
        assert not control(panel, "Save").isEnabled()
        command(panel).setPlainText("op\nread\nop://Work/a key")
        fake.failures["change_settings"] = TooltrayError("The settings cannot be written")
        control(panel, "Save").click()
        await until(lambda: "The settings cannot be written" in drawn(panel))
        fake.failures.clear()
        control(panel, "Save").click()
        await desk.asked("change_settings", {"secretCommands": {"op": ["op", "read", "op://Work/a key"]}}, "")
        await until(lambda: desk.window.sheet is None and cells(table)[4] == "Change…")
        assert cells(table)[1] == "op read 'op://Work/a key'"
        assert toast(desk).text == "op is saved. It counts when git starts again."
        button(toast(desk), "Restart").click()
        await desk.asked("restart_server", "git")


async def test_a_command_is_added_under_a_free_name_and_removed_with_undo(theme: Theme) -> None:
    fake = engine()
    fake.settings["secretCommands"] = {"bws": ["bws", "get"], "odd": "no list"}
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        table = tab.elsewhere.table
        assert cells(table) == ["command:bws", "bws get", "Nothing", "Unused", "Change…"]
        control(tab, "Add a command…").click()
        panel = desk.window.sheet.panel
        command(panel).setPlainText("op")
        for name, fault in (("bws", "There is a command of this name"), ("a}", "A name has no { or } in it")):
            field(panel, "Name").setText(name)
            await until(lambda fault=fault: fault in drawn(panel))
            assert not control(panel, "Save").isEnabled()
        field(panel, "Name").setText("op")
        QTest.keyClick(field(panel, "Name"), Qt.Key.Key_Return)
        assert panel.focusWidget() is command(panel)
        control(panel, "Save").click()
        await until(lambda: desk.window.sheet is None and table.model().rowCount() == 2)
        table.row_chosen.emit(SecretSnapshot("command:bws", None, kind="provided"))
        control(desk.window.sheet.panel, "Remove").click()
        await until(lambda: table.model().rowCount() == 1)
        assert toast(desk).text == "bws is removed"
        button(toast(desk), "Undo").click()
        await until(lambda: fake.settings["secretCommands"].get("bws") == ["bws", "get"])
        await until(lambda: table.model().rowCount() == 2)


async def test_what_is_stored_is_replaced_and_its_value_never_shown(theme: Theme) -> None:
    async with Desk(engine(KEY="dummy-old"), theme) as desk:
        tab = await opened(desk)
        tab.table.setCurrentIndex(tab.table.model().index(0, 0))
        QTest.keyClick(tab.table, Qt.Key.Key_Return)
        panel = desk.window.sheet.panel
        assert "dummy-old" not in drawn(panel) + field(panel, "Value of git/KEY").text()
        assert nameless(desk.window) == []
        field(panel, "Value of git/KEY").setText("dummy-new")
        control(panel, "Replace").click()
        await until(lambda: desk.engine.secrets == {"git/KEY": "dummy-new"})
        await until(lambda: desk.window.sheet is None)
        assert toast(desk).text == "git/KEY is stored. git still runs with the old value."
        button(toast(desk), "Restart").click()
        await desk.asked("restart_server", "git")


async def test_a_removed_secret_comes_back_with_undo(theme: Theme) -> None:
    async with Desk(engine(KEY="dummy"), theme) as desk:
        tab = await opened(desk, "git/KEY")  # a link from elsewhere opens it at once
        await until(lambda: desk.window.sheet is not None)
        control(desk.window.sheet.panel, "Remove").click()
        await until(lambda: "Missing" in drawn(tab) and desk.window.findChildren(Toast))
        assert desk.engine.secrets == {}
        assert toast(desk).text == "git/KEY is removed"
        button(toast(desk), "Undo").click()
        await until(lambda: desk.engine.secrets == {"git/KEY": "dummy"})
        await until(lambda: "Missing" not in drawn(tab))


async def test_unused_ones_are_said_to_be_and_go_together(theme: Theme) -> None:
    fake = engine(KEY="dummy")
    fake.secrets |= {"old/A": "dummy", "old/B": "dummy"}
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        assert [cells(tab.table, row)[2] for row in range(3)] == ["", "Unused", "Unused"]
        control(tab, "Remove 2 unused").click()
        await until(lambda: list(desk.engine.secrets) == ["git/KEY"])
        await until(lambda: desk.window.findChildren(Toast))
        assert toast(desk).text == "2 secrets are removed"


async def test_while_the_place_is_locked_nothing_is_said_to_be_missing_or_stored(theme: Theme) -> None:
    fake = engine("KEY")
    fake.stored_secrets = StoredSecrets("keyring", problem=LOCKED)
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        assert "Missing" not in drawn(tab)
        assert cells(tab.table)[2] == "Not known"
        assert "Its prompt was closed or not answered" in drawn(tab)
        fake.failures["check_secrets"] = TooltrayError("The keyring is locked", "it was not unlocked")
        control(tab.place, "Try it").click()
        await until(lambda: ("check_secrets",) in fake.calls and not len(desk.tasks))
        del fake.failures["check_secrets"]
        fake.stored_secrets = StoredSecrets("keyring", is_proven=True)
        control(tab.place, "Try it").click()
        await until(lambda: "Missing" in drawn(tab))
        assert "The keyring is locked" not in drawn(tab)


async def test_a_keyring_that_asks_holds_nothing_up_and_what_was_typed_stays_if_it_refuses(theme: Theme) -> None:
    fake = engine("KEY")
    asked = asyncio.get_running_loop().create_future()

    async def hang(name: str, value: str) -> None:
        await asked

    fake.set_secret = hang  # type: ignore[assignment, method-assign]
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        entry = tab.findChild(SecretEntry)
        field(entry, "Value of git/KEY").setText("dummy")
        control(entry, "Store").click()
        assert not control(entry, "Store").isEnabled()
        fake.bus.publish(KeyringAwaited(is_awaited=True))
        await until(lambda: "Unlock your keyring to continue" in drawn(entry))
        desk.window.open_page("servers")
        assert desk.page.isVisible()
        desk.open_secrets()
        fake.stored_secrets = StoredSecrets("keyring", problem=LOCKED)
        asked.set_exception(TooltrayError(LOCKED.title, LOCKED.message, LOCKED.hint))
        await until(lambda: "The keyring is locked" in drawn(tab))
        del fake.set_secret  # type: ignore[method-assign]


async def test_a_keyring_that_refuses_after_the_sheet_was_closed_is_said_above_the_pages(theme: Theme) -> None:
    fake = engine("KEY")
    asked = asyncio.get_running_loop().create_future()

    async def hang(name: str, value: str) -> None:
        await asked

    fake.set_secret = hang  # type: ignore[assignment, method-assign]
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.open_secret(SecretSnapshot("git/KEY", False, ("git",)))
        entry = desk.window.sheet.panel.findChild(SecretEntry)
        field(entry, "Value of git/KEY").setText("dummy")
        control(entry, "Store").click()
        desk.window.sheet.dismiss()
        desk.window.open_page("servers")
        await until(lambda: not isValid(entry))
        fake.stored_secrets = StoredSecrets("keyring", problem=LOCKED)
        asked.set_exception(TooltrayError(LOCKED.title, LOCKED.message, LOCKED.hint))
        await until(lambda: "The keyring is locked" in words(desk.window))
        del fake.set_secret  # type: ignore[method-assign]


async def test_an_entry_that_cannot_store_offers_another_place_and_stores_there(theme: Theme) -> None:
    fake = engine("KEY")
    fake.failures["set_secret"] = TooltrayError(LOCKED.title, LOCKED.message, LOCKED.hint)
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        fake.stored_secrets = StoredSecrets("keyring", problem=LOCKED)
        tab.open_secret(SecretSnapshot("git/KEY", False, ("git",)))
        entry = desk.window.sheet.panel.findChild(SecretEntry)
        field(entry, "Value of git/KEY").setText("dummy")
        control(entry, "Store").click()
        await until(lambda: "The keyring is locked" in drawn(entry))
        assert field(entry, "Value of git/KEY").text() == "dummy"
        fake.failures["set_secret_backend"] = TooltrayError("The place cannot be changed")
        control(entry, "Only in memory…").click()
        await until(lambda: control(entry, "Only in memory").isVisible())
        control(entry, "Only in memory").click()
        await until(lambda: "The place cannot be changed" in drawn(entry))
        assert field(entry, "Value of git/KEY").text() == "dummy"
        fake.failures.clear()
        control(entry, "Only in memory…").click()
        await until(lambda: control(entry, "Only in memory").isVisible())
        control(entry, "Only in memory").click()
        await until(lambda: fake.secrets == {"git/KEY": "dummy"})
        assert ("set_secret_backend", "memory") in fake.calls


async def test_a_value_that_cannot_be_stored_is_refused_beside_its_field(theme: Theme) -> None:
    fake = engine("KEY")
    fake.failures["set_secret"] = TooltrayError("This cannot be the name of a secret")
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        control(desk.window, "New secret").click()
        panel = desk.window.sheet.panel
        QTest.keyClicks(field(panel, "Name"), "a{b")
        assert "${secret:a{b}" in drawn(panel)
        field(panel, "Value of a{b").setText("dummy")
        control(panel, "Store").click()
        await until(lambda: "This cannot be the name of a secret" in drawn(panel))
        fake.failures.clear()
        control(panel, "Store").click()
        await until(lambda: desk.window.sheet is None)
        assert tab._reading.isHidden()


async def test_another_place_is_chosen_and_a_file_waits_for_its_passphrase(theme: Theme) -> None:
    async with Desk(engine(KEY="dummy"), theme) as desk:
        tab = await opened(desk)
        choice = tab.place.findChild(Choice)
        choice.choose("file")
        choice.chosen_changed.emit("file")
        assert not control(tab.place, "Use the file").isEnabled()
        field(tab.place, "Passphrase for the file").setText("open sesame")
        control(tab.place, "Use the file").click()
        await desk.asked("unlock_secrets", "open sesame")
        await until(lambda: not len(desk.tasks))
        choice.choose("memory")
        choice.chosen_changed.emit("memory")
        await desk.asked("set_secret_backend", "memory")


async def test_a_sign_in_ends_by_signing_out_and_tooltrays_own_secrets_stay(theme: Theme) -> None:
    fake = engine()
    own, token = SecretSnapshot("tooltray-backups", True, kind="own"), SecretSnapshot("oauth/git", True, ("git",), kind="sign-in")
    fake.stored_secrets = replace(fake.stored_secrets, secrets=(token, own))
    async with Desk(fake, theme) as desk:
        tab = await opened(desk)
        tab.open_secret(own)
        assert "Remove" not in {each.text() for each in desk.window.sheet.panel.findChildren(type(button(tab.place, "Try it")))}
        desk.window.sheet.dismiss()
        await until(lambda: desk.window.sheet is None)
        tab.open_secret(token)
        control(desk.window.sheet.panel, "Show the server git").click()
        await until(lambda: desk.page.isVisible())
        desk.open_secrets()
        tab.open_secret(token)
        control(desk.window.sheet.panel, "Sign out").click()
        await desk.asked("sign_out", "git")


async def test_a_hub_that_cannot_answer_is_said_and_not_taken_for_no_secrets(theme: Theme) -> None:
    fake = engine("KEY")
    fake.failures["get_secrets"] = TooltrayError("Tooltray is not running")
    async with Desk(fake, theme) as desk:
        tab = desk.open_secrets()
        await until(lambda: "Tooltray is not running" in drawn(tab))
        assert "None yet" not in drawn(tab)
        fake.failures.clear()
        tab.look_again()
        await until(lambda: tab._reading.isHidden())
        assert "Tooltray is not running" not in drawn(tab)
