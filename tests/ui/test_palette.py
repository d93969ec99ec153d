"""The command palette finds what there is and what can be done, as one types, and does it by the ways that pages have."""

import asyncio

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, words

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.kit.destinations import Settings
from tooltray.ui.kit.secrets_help import SecretsHelp
from tooltray.ui.shell.palette import RECENT, Palette, PaletteEntry, indexed, matches
from tooltray.ui.shell.palette_panel import PalettePanel
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.toast import Toast

S = ServerState
SERVERS = [
    server("git"),
    server("github", S.ON_DEMAND),
    server("linear", S.ERROR, problem=Problem("it fell over")),
    server("fetch", S.STOPPED),
]
TOOLS = [tool("read_file", "git"), tool("write_file", "github", category="write", is_approved=False)]


def fake() -> FakePresenter:
    result = FakePresenter(SERVERS, TOOLS)
    result.client_modes = [ClientModeSnapshot("claude-code", "Claude Code", "", "lazy", "so", is_seen=True)]
    return result


def palette(desk: Desk) -> Palette:
    return desk.window.command_palette


def panel(desk: Desk) -> PalettePanel:
    found = palette(desk).panel
    assert found is not None
    return found


async def opened(desk: Desk) -> PalettePanel:
    await until(lambda: desk.servers.servers)
    QTest.keyClick(QApplication.focusWidget() or desk.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: palette(desk)._is_ready)
    return panel(desk)


def titles(shown: PalettePanel) -> list[str]:
    return [row.title if isinstance(row, PaletteEntry) else f"# {row}" for row in shown.list._model.rows]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("quit", ["Quit Tooltray"]),
        ("pause", ["Pause for an hour", "Pause until tomorrow", "Pause until I resume"]),
        ("unlock", ["Unlock your secrets", "Secrets"]),
        ("ask first", ["Let servers ask first"]),
    ],
)
async def test_what_the_tray_and_the_header_can_do_is_found(theme: Theme, query: str, found: list[str]) -> None:
    async with Desk(fake(), theme) as desk:
        desk.window.context.notices.set_secrets_problem(Problem("The secrets are locked"), "file")
        desk.window.context.notices.set_open_servers(["git"])
        shown = await opened(desk)
        QTest.keyClicks(shown.field, query)
        await until(lambda: [title for title in titles(shown) if title in found][: len(found)])
        assert set(found) <= set(titles(shown))
        assert shown.list._model.rows[0] == next(
            row for row in shown.list._model.rows if isinstance(row, PaletteEntry) and row.title in found
        )


async def test_the_palette_quits_and_unlocks(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        quits = []
        desk.window.quit_requested.connect(lambda: quits.append(True))
        await run(desk, "quit")
        assert quits == [True]
        notices = desk.window.context.notices
        notices.set_secrets_problem(Problem("The secrets are locked"), "file")
        await run(desk, "unlock")
        assert notices.findChild(SecretsHelp) is not None


async def run(desk: Desk, text: str) -> None:
    """Types it and presses Enter."""
    shown = await opened(desk)
    QTest.keyClicks(shown.field, text)
    QTest.keyClick(shown.field, Qt.Key.Key_Return)
    await until(lambda: palette(desk).panel is None)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("restart git", "Restart git"),
        ("stop all", "Stop all servers"),
        ("allow write_file for an hour", "Allow write_file for an hour"),
        ("why linear", "Why does linear not run?"),
        ("log github", "Log of github"),
        ("edit github", "Edit github"),
        ("theme dark", "Dark theme"),
        ("git", "git"),
        ("read file", "read_file"),
        ("wrfl", "write_file"),
        ("claude", "Claude Code"),
        ("proxy", "npm registries"),
        ("pause", "Pause for an hour"),
        ("ctrl+1", "Servers"),
        ("try read_file", "Try read_file"),
        ("options of git", "Options of git"),
        ("compact", "Options of git"),
        *((text, "Access of git") for text in ("access", "careful", "trusted", "free", "sandbox", "approval of git", "信任", "沙箱")),
    ],
)
async def test_what_is_meant_comes_first(theme: Theme, text: str, title: str) -> None:
    async with Desk(fake(), theme) as desk:
        shown = await opened(desk)
        shown.field.setText(text)
        assert titles(shown)[0] == title


async def test_sleep_leads_to_what_sleeps_and_to_what_makes_a_server_sleep(theme: Theme) -> None:
    async with Desk(FakePresenter([replace(SERVERS[0], is_default=True), *SERVERS[1:]]), theme) as desk:
        shown = await opened(desk)
        shown.field.setText("sleep")
        assert {"github", "Let git sleep until it is used"} < set(titles(shown))
        assert not [title for title in titles(shown) if title.startswith("Switch")]


async def test_what_is_chosen_goes_the_way_of_its_button_and_stopping_all_has_undo(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        await run(desk, "restart git")
        await desk.asked("restart_server", "git")
        await run(desk, "stop all")
        await until(lambda: {each.state for each in desk.servers.servers if not each.is_builtin} == {S.STOPPED})
        await until(lambda: any("3 servers are stopped" in each.text for each in desk.window.findChildren(Toast)))
        await run(desk, "settings page")
        assert desk.settings.isVisible()
        await run(desk, "add server")
        assert desk.window.sheet is not None


async def test_a_server_s_places_are_opened_from_any_page(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        for text, tab in (("trusted github", "access"), ("edit github", "settings")):
            desk.window.go(Settings())
            await run(desk, text)
            await until(lambda tab=tab: desk.page.isVisible() and desk.page.details is not None and desk.page.details.tab == tab)
            assert desk.page.details.server.name == "github"


async def test_a_tool_is_allowed_for_an_hour_and_that_is_taken_back(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        await run(desk, "allow write_file")
        await desk.asked("add_grant", "github", "tool", "write_file", "", 3600.0, "", "")
        await until(lambda: any(each.isVisible() for each in desk.window.findChildren(Toast)))
        control(next(each for each in desk.window.findChildren(Toast) if each.isVisible()), "Undo").click()
        await desk.asked("remove_grant", "g")


async def test_keys_go_round_and_escape_gives_the_focus_back(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        before = control(desk.window, "Add server")
        before.setFocus()
        shown = await opened(desk)
        assert QApplication.focusWidget() is shown.field
        shown.field.setText("git")
        first = shown.list.entry
        for key in (Qt.Key.Key_Tab, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Backtab):
            QTest.keyClick(shown.field, key)
            assert (shown.list.entry is first) is (key == Qt.Key.Key_Backtab)
        QTest.keyClick(shown.field, Qt.Key.Key_Up)
        assert shown.list.entry is shown.list._model.rows[-1]
        assert shown.field.accessibleDescription().startswith(shown.list.entry.title)
        QTest.keyClick(shown.field, Qt.Key.Key_Escape)
        await until(lambda: QApplication.focusWidget() is before)
        assert palette(desk).panel is None


async def test_before_anything_is_typed_stands_what_needs_a_person_and_what_was_done_last(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        desk.window.context.local.memory.remember(RECENT, ["log:git", "server:gone", "tool:git/read_file"])
        shown = await opened(desk)
        assert titles(shown)[:6] == ["# Now", "Why does linear not run?", "# Last used", "Log of git", "read_file", "# Pages"]
        shown.field.setText("log")
        assert titles(shown)[0] == "Log of git"


async def test_what_the_clipboard_holds_is_offered_and_opens_the_sheet_with_it(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        QGuiApplication.clipboard().setText("npx -y @example/mcp-weather")
        shown = await opened(desk)
        offer = next(row for row in shown.list._model.rows if isinstance(row, PaletteEntry) and row.key == "do:paste")
        shown.field.setText(offer.title)
        QTest.keyClick(shown.field, Qt.Key.Key_Return)
        await until(lambda: desk.window.sheet is not None and desk.window.sheet.panel is not shown)
        QGuiApplication.clipboard().setText("a word")


async def test_tools_that_cannot_be_read_are_not_said_to_be_none(theme: Theme) -> None:
    engine = fake()
    engine.failures["get_tools"] = TooltrayError("The hub hangs")
    async with Desk(engine, theme) as desk:
        await until(lambda: desk.servers.servers)
        palette(desk).open()
        await until(lambda: "Tools could not be read" in words(panel(desk)))
        panel(desk).field.setText("git")
        assert titles(panel(desk))[0] == "git"


async def test_it_does_not_open_over_a_sheet_and_ctrl_f_is_the_page_s_search(theme: Theme) -> None:
    async with Desk(fake(), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        QTest.keyClick(desk.window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        await asyncio.sleep(0)
        assert QApplication.focusWidget() is desk.page._search
        desk.page.add("")
        palette(desk).open()
        assert palette(desk).panel is None


def test_hostile_names_are_one_line_of_bounded_length(theme: Theme) -> None:
    del theme
    entry = PaletteEntry("k", "x", print, "server", "Server", also="a" * 10_000)
    assert matches("a" * 300, [indexed(entry)], {}) == [entry]
    assert matches("(.*[", [indexed(entry)], {}) == []


async def test_names_with_direction_marks_markup_and_300_characters_turn_nothing_round(theme: Theme) -> None:
    name = "\u202egnp.exe<b>\x1b[31m" + "x" * 300
    async with Desk(FakePresenter([server(name)]), theme) as desk:
        shown = await opened(desk)
        shown.field.setText("gnp")
        assert all("\u202e" not in title and "\x1b" not in title and len(title) <= 100 for title in titles(shown))


def test_what_changes_something_is_found_by_its_words_and_not_by_letters_in_their_order() -> None:
    made = PaletteEntry("change", "Switch read_file off", print, "power", "Action", is_change=True)
    entries = [indexed(made), indexed(replace(made, key="place", is_change=False))]
    assert [each.key for each in matches("swrf", entries, {})] == ["place"]
    assert len(matches("switch read", entries, {})) == 2


def test_what_was_used_last_comes_before_what_fits_alike() -> None:
    entries = [indexed(PaletteEntry(name, f"Restart {name}", print, "refresh", "Action")) for name in ("aa", "bb", "cc")]
    assert [each.key for each in matches("restart", entries, {"cc": 0, "bb": 5})] == ["cc", "bb", "aa"]
