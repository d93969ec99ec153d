"""The tab Access of an opened server: the three choices, and the same as rules: approval, and secrets."""

import asyncio
import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from shiboken6 import isValid
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import TRUSTED, server
from tests.ui.seen import button, cells, control, drawn, table, words
from tests.ui.test_accessibility import nameless

from tooltray.consent.approvals.access import READS_ASK
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ClientListUpdated, SecretsChanged, ServerChanged
from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityFilter, ActivityRow
from tooltray.foundation.snapshots.approvals import CHOICES, GrantSnapshot, ServerPermissions, ToolPermission
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.approval.permission_words import answer_word
from tooltray.ui.confinement_words import access_words, in_full
from tooltray.ui.kit.destinations import CallsWhere, Destination, OpenSecret, OpenServer
from tooltray.ui.server_pane.server_details import ServerDetails
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import PADDING
from tooltray.ui.widgets.choice import Choice, Option
from tooltray.ui.widgets.keyboard import last_input
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.toast import Toast

READ = ToolPermission("read_it", "read", "default", True, "It only reads")
WRITE = ToolPermission("write_it", "write", "default", False, "It may change things")
ALLOWED = ToolPermission("<b>push</b>", "write", "default", False, "It may change things", ("g",))
FILES = ServerPermissions("files", ("read",), tools=(READ, WRITE), call_rules=("read_it, where path is x",))
GIT = ServerPermissions("git", ("all",), tools=(ALLOWED, replace(READ, tool="log")))
GRANT = GrantSnapshot("g", "tool", "git", "<b>push</b>", client="Cursor", created_at=time.time())
OWN = ConfinementSnapshot("own", read=("/r",))


def files(choice: str | None = "careful", confinement: ConfinementSnapshot | None = OWN, **fields: object) -> ServerSnapshot:
    access = replace(TRUSTED, choice=choice, **fields)
    return server("files", confinement=confinement, auto_approve=("read",), access=access)


def engine(shown: ServerSnapshot | None = None, *permissions: ServerPermissions) -> FakePresenter:
    fake = FakePresenter([shown or files(), server("git")])
    fake.permissions = list(permissions or (FILES, GIT))
    return fake


async def opened(desk: Desk, name: str = "files") -> ServerDetails:
    details = desk.open_server(name, "access")
    await until(lambda: not len(desk.tasks))
    return details


async def undone(desk: Desk) -> str:
    """Presses Undo in the toast that is there; returns what it says."""
    await until(lambda: desk.window.findChildren(Toast))
    toast = desk.window.findChildren(Toast)[-1]
    text = toast.text
    button(toast, "Undo").click()
    await until(lambda: not isValid(toast) and not len(desk.tasks))
    return text


def accessed(
    choice: str | None, rules: list[str] | None = None, files: str | None = None, network: str | None = None
) -> tuple[object, ...]:
    return ("set_access", "files", choice, rules, files, network)


def pick(menu: QMenu, title: str) -> None:
    next(action for action in menu.actions() if action.text() == title).trigger()
    menu.close()


async def choose_trusted(desk: Desk, details: ServerDetails) -> None:
    """Chooses Trusted, and agrees that the server loses its sandbox."""
    control(details, "Trusted").click()
    await until(lambda: desk.window.sheet is not None)
    control(desk.window.sheet, "Run without sandbox").click()


def chosen(details: ServerDetails) -> list[str]:
    return [each.text() for each in offered(details) if each.isChecked()]


def offered(details: ServerDetails) -> list[Option]:
    names = ("Careful", "Trusted", "Free", "Custom")
    return [each for each in details.findChildren(Option) if each.text() in names and each.isVisibleTo(details)]


async def test_a_choice_is_made_at_once_and_undone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await opened(desk)
        assert chosen(details) == ["Careful"]
        assert nameless(desk.window) == []
        trusted = control(details, "Trusted")
        beside = QPoint(trusted.width() + 40, trusted.geometry().center().y())
        QTest.mouseClick(trusted.parentWidget(), Qt.MouseButton.LeftButton, pos=beside)  # no part of the choice
        assert chosen(details) == ["Careful"]
        assert desk.window.sheet is None
        await choose_trusted(desk, details)
        await desk.asked(*accessed("trusted"))
        assert await undone(desk) == "files: Trusted"
        assert desk.engine.calls[-1] == accessed(None, ["read"], "own", "open")  # one change


async def test_the_choice_follows_the_engine_and_a_second_press_asks_for_nothing(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        details = await opened(desk)
        for _ in range(2):
            control(details, "Trusted").click()
        await until(lambda: desk.window.sheet is not None)
        control(desk.window.sheet, "Run without sandbox").click()
        control(details, "Careful").click()
        await until(lambda: not len(desk.tasks))
        assert [call for call in fake.calls if call[0] == "set_access"] == [accessed("trusted")]
        fake.bus.publish(ServerChanged(files("trusted")))
        await until(lambda: chosen(details) == ["Trusted"])
        control(details, "Trusted").click()  # it stays chosen
        assert chosen(details) == ["Trusted"]


async def test_taking_the_sandbox_away_is_confirmed_first(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await opened(desk)
        control(details, "Trusted").click()
        await until(lambda: desk.window.sheet is not None)
        assert "Can read and change all your files" in words(desk.window.sheet)
        control(desk.window.sheet, "Cancel").click()
        await until(lambda: chosen(details) == ["Careful"])
        assert not [call for call in desk.engine.calls if call[0] == "set_access"]
        desk.engine.tell(files("careful", replace(OWN, is_in_vain=True)))  # nothing is taken away
        await until(lambda: (limits := details.server.confinement) is not None and limits.is_in_vain)
        control(details, "Trusted").click()
        await desk.asked(*accessed("trusted"))


async def test_never_asking_is_confirmed_first(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await opened(desk)
        control(details, "Free").click()
        await until(lambda: desk.window.sheet is not None)
        assert "Can read and change all your files" in words(desk.window.sheet)
        control(desk.window.sheet, "Cancel").click()
        await until(lambda: chosen(details) == ["Careful"])
        assert not [call for call in desk.engine.calls if call[0] == "set_access"]
        control(details, "Free").click()
        await until(lambda: desk.window.sheet is not None)
        control(desk.window.sheet, "Never ask").click()
        await desk.asked(*accessed("free"))


async def test_the_page_stays_where_it_is_when_escape_refuses_to_confirm(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Desk(engine(), theme) as desk:
        details = await opened(desk)
        free = control(details, "Free")
        free.setFocus()
        assert QApplication.focusWidget() is free  # no part of the tab was a window for a moment
        free.click()
        await until(lambda: desk.window.sheet is not None)
        bar = next(area.verticalScrollBar() for area in details.findChildren(PageScroll) if area.isAncestorOf(free))
        assert bar.maximum() > 0
        places: list[int] = []
        bar.valueChanged.connect(places.append)
        monkeypatch.setattr(last_input, "is_keyboard", True)
        QTest.keyClick(desk.window.sheet, Qt.Key.Key_Escape)
        await until(lambda: QApplication.focusWidget() is free and not len(desk.tasks))
        for _ in range(3):  # rounds of the loop in which the page would scroll to what had the focus in between
            await asyncio.sleep(0)
        assert not places


async def test_a_choice_that_fails_goes_back_and_says_why(theme: Theme) -> None:
    fake = engine()
    fake.failures["set_access"] = TooltrayError("The settings cannot be written")
    async with Desk(fake, theme) as desk:
        details = await opened(desk)
        await choose_trusted(desk, details)
        await until(lambda: "The settings cannot be written" in words(details))
        assert chosen(details) == ["Careful"]


async def test_settings_that_make_no_choice_are_shown_as_custom_with_the_difference(theme: Theme) -> None:
    shown = files(None, ConfinementSnapshot(), offered=("trusted", "free"), runs="nothing", differs=READS_ASK)
    async with Desk(engine(shown), theme) as desk:
        details = await opened(desk)
        assert chosen(details) == ["Custom"]
        assert f"{READS_ASK} Not sandboxed." in words(details), "the rules differ, and the sandbox counts as well"
        assert not control(details, "Careful").isEnabled()
        assert "It cannot be sandboxed on this computer." in words(details)
        control(details, "Custom").click()
        assert chosen(details) == ["Custom"]


async def test_a_server_elsewhere_has_two_choices_and_tooltrays_own_has_none(theme: Theme) -> None:
    shown = files("free", None, offered=("trusted", "free"), runs="all")
    async with Desk(engine(shown), theme) as desk:
        details = await opened(desk)
        assert [each.text() for each in offered(details)] == ["Trusted", "Free"]
        control(details, "Trusted").click()
        assert await undone(desk) == "files: Trusted"
        assert not [call for call in desk.engine.calls if call[0] == "set_confinement"]
        assert not desk.open_server("hub").has_tab("access")


async def test_links_to_what_a_server_may_do_open_its_tab(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.open_server("git", "overview")
        desk.window.go(OpenServer("files", "access"))
        await until(lambda: desk.page.details.server.name == "files" and desk.page.details.tab == "access")


async def test_tools_show_whether_they_run_without_asking(theme: Theme) -> None:
    fake = engine()
    fake.grants = [GRANT]
    async with Desk(fake, theme) as desk:
        details = await opened(desk)
        assert "1 of 2 tools run without asking." in words(details)
        assert "Runs without asking: read_it, where path is x." in words(details)
        shown = table(details, "Tools")
        assert cells(shown, 1) == ["write_it\nAsks first", "It may change things", "Change…"]
        details = await opened(desk, "git")
        assert cells(table(details, "Tools"), 0)[0].endswith("\nAllowed for Cursor")
        assert "read_it, where path is x" not in words(details)


async def test_names_of_tools_and_secrets_are_not_cut_at_the_window_s_usual_width(theme: Theme) -> None:
    tool, secret = "create_or_update_file_contents", "GITHUB_PERSONAL_ACCESS_TOKEN"
    fake = engine(None, ServerPermissions("files", (), tools=(replace(WRITE, tool=tool),)))
    fake.stored_secrets = StoredSecrets("keyring", secrets=(SecretSnapshot(f"files/{secret}", False, ("files",)),))
    async with Desk(fake, theme) as desk:
        desk.window.resize(1180, 760)
        details = await opened(desk)
        for shown, name in ((table(details, "Tools"), tool), (table(details, "Secrets of files"), secret)):
            await until(lambda shown=shown: shown.rows)
            assert cells(shown)[0].split("\n")[0] == name
            assert theme.metrics("mono").horizontalAdvance(name) < shown.columnWidth(0) - PADDING


async def test_what_runs_without_asking_is_chosen_and_undone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await opened(desk)
        mode = next(each for each in details.findChildren(Choice) if each.accessibleName().startswith("What runs without asking"))
        mode.click()
        pick(mode.findChildren(QMenu)[-1], "Everything")
        await desk.asked("set_server_auto_approve", "files", ["all"])
        await until(lambda: mode.chosen == "all")
        assert await undone(desk) == "What runs without asking of files is changed"
        assert ("set_server_auto_approve", "files", ["read"]) in desk.engine.calls
        desk.engine.failures["set_server_auto_approve"] = TooltrayError("Server 'files' not found")
        before = mode.chosen
        mode.chosen_changed.emit("nothing")
        await until(lambda: "Server 'files' not found" in drawn(details))
        assert mode.chosen == before


async def test_one_tool_is_made_to_ask_by_the_keyboard_and_that_is_undone(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        tools = table(await opened(desk), "Tools")
        tools.setFocus()
        tools.setCurrentIndex(tools.model().index(0, 0))
        QTest.keyClick(tools, Qt.Key.Key_Space)
        control(desk.window.sheet.panel, "Asks first").click()
        await desk.asked("set_tool_approval", "files", "read_it", "ask")
        await until(lambda: cells(tools)[0].endswith("\nAsks first"))
        assert await undone(desk) == "read_it asks first"
        assert ("set_tool_approval", "files", "read_it", "default") in desk.engine.calls


async def test_many_tools_are_shown_by_a_press(theme: Theme) -> None:
    many = ServerPermissions("files", (), tools=tuple(replace(WRITE, tool=f"tool_{number}") for number in range(50)))
    async with Desk(engine(None, many), theme) as desk:
        details = await opened(desk)
        assert len(table(details, "Tools").rows) == 8
        control(details, "Show all 50 tools").click()
        assert len(table(details, "Tools").rows) == 50
        control(details, "Show fewer tools").click()
        assert len(table(details, "Tools").rows) == 8


async def test_tools_that_are_not_known_are_not_said_to_be_none(theme: Theme) -> None:
    async with Desk(engine(None, ServerPermissions("files", (), is_listed=False)), theme) as desk:
        details = await opened(desk)
        assert "Its tools are not known yet." in words(details)
        desk.engine.permissions = [ServerPermissions("files", ())]
        desk.engine.bus.publish(ClientListUpdated())
        await until(lambda: "It has no tools." in words(details))
        desk.engine.permissions = []
        desk.engine.bus.publish(ClientListUpdated())
        await until(lambda: not control(details, "Allow tools…").isEnabled())


async def test_a_hidden_tab_asks_for_nothing(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        details = await opened(desk)
        details.show_tab("overview")
        desk.engine.calls.clear()
        desk.engine.bus.publish(ClientListUpdated())
        await until(lambda: not len(desk.tasks))
        assert not [call for call in desk.engine.calls if call[0] == "get_permissions"]
        details.show_tab("access")
        await desk.asked("get_permissions", "files")


async def test_a_tool_opened_shows_its_last_answers_and_leads_to_its_calls(theme: Theme) -> None:
    fake = engine()
    fake.grants = [GRANT]
    asked: list[Destination] = []
    entry = ActivityEntry(1, "approval", time.time(), "refused", client="Cursor", touched="origin")
    fake.get_activity = lambda **_: [ActivityRow(entry, 1, 1, entry.at)]  # type: ignore[attr-defined]
    async with Desk(fake, theme) as desk:
        details = await opened(desk, "git")
        desk.window.context.go = asked.append
        tools = table(details, "Tools")
        tools.row_chosen.emit(tools.rows[0])
        panel = desk.window.sheet.panel
        await until(lambda: "Declined · Cursor · origin" in drawn(panel))
        assert nameless(desk.window) == []
        control(panel, "Revoke").click()
        await until(lambda: desk.engine.grants == [])
        control(panel, "Asks first").click()
        await desk.asked("set_tool_approval", "git", "<b>push</b>", "ask")
        control(panel, "Show its calls").click()
        assert asked == [CallsWhere(ActivityFilter(servers=("git",), tools=("<b>push</b>",)))]


async def test_answers_that_cannot_be_read_are_said_to_be_not_known(theme: Theme) -> None:
    fake = engine()
    fake.failures["get_activity"] = TooltrayError("The journal cannot be read")
    async with Desk(fake, theme) as desk:
        tools = table(await opened(desk), "Tools")
        tools.row_chosen.emit(tools.rows[0])
        await until(lambda: "Not known: The journal cannot be read" in words(desk.window.sheet.panel))
        sheet = desk.window.sheet
        tools.row_chosen.emit(tools.rows[1])  # an open sheet stays
        assert desk.window.sheet is sheet


async def test_what_could_not_be_chosen_in_the_sheet_of_a_tool_is_said_there(theme: Theme) -> None:
    fake = engine()
    fake.failures["set_tool_approval"] = TooltrayError("The disk is full")
    async with Desk(fake, theme) as desk:
        tools = table(await opened(desk), "Tools")
        tools.row_chosen.emit(tools.rows[0])
        panel = desk.window.sheet.panel
        control(panel, "Asks first").click()
        await until(lambda: "The disk is full" in words(panel))
        assert control(panel, "As its server").isChecked()
        fake.failures.clear()
        control(panel, "Asks first").click()
        assert "The disk is full" not in words(panel)
        await until(lambda: cells(tools)[0].endswith("\nAsks first"))


async def test_secrets_show_their_state_and_lead_to_their_sheets(theme: Theme) -> None:
    fake = engine()
    asked: list[Destination] = []
    async with Desk(fake, theme) as desk:
        details = await opened(desk)
        shown = table(details, "Secrets of files")
        assert not shown.isVisible()
        fake.stored_secrets = StoredSecrets(
            "keyring",
            secrets=(
                SecretSnapshot("a", False, ("files",)),
                SecretSnapshot("b", True, ("files", "git")),
                SecretSnapshot("c", True, ("files",), kind="provided"),
                SecretSnapshot("d", None, ("files",)),
                SecretSnapshot("e", True, ("git",)),
            ),
        )
        fake.bus.publish(SecretsChanged("keyring"))
        await until(shown.isVisible)
        assert [cells(shown, at) for at in range(4)] == [
            ["a\nMissing", "Enter…"],
            ["b\nStored", "Change…"],
            ["c\nKept elsewhere", "Change…"],
            ["d\nNot known", "Change…"],
        ]
        assert nameless(desk.window) == []
        desk.window.context.go = asked.append
        shown.pressed.emit(shown.rows[1])
        assert asked == [OpenSecret("b")]
        shown.row_chosen.emit(shown.rows[0])
        await until(lambda: desk.window.sheet is not None and "A secret for files" in words(desk.window.sheet))


def test_a_line_says_what_a_server_may_do() -> None:
    assert access_words(files()) == "Reads run. Changes ask. Sandboxed."
    assert access_words(files(None, ConfinementSnapshot(), runs="some", has_call_rules=True)) == (
        "Some calls run without asking. Its rules allow some calls. Not sandboxed."
    )
    assert access_words(files("free", None, runs="all", has_call_rules=True)) == "Everything runs without asking."
    assert access_words(files(None, None, runs="nothing")) == "Every call asks first."
    assert access_words(server("hub", is_builtin=True)) == ""
    asking = replace(files(), auto_approve=("read", "ask:read_file"))
    assert access_words(asking) == "Reads run. Changes ask. Some tools ask all the same. Sandboxed."


def test_a_sandbox_that_is_not_there_is_said_once() -> None:
    why = "Not sandboxed: Windows is not supported yet."
    assert in_full(ConfinementSnapshot("own", missing=(why,), is_in_vain=True)) == why


def test_each_answer_to_a_call_has_words() -> None:
    for outcome in (*CHOICES, "rule", "refused", "late", "cancelled"):
        word = answer_word(ActivityEntry(1, "approval", 1.0, outcome))
        assert word[:1].isupper(), outcome
