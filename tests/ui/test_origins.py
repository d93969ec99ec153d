"""Each server says which file it is from, and what of it is changed there; new ones can be written into a project's own file."""

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import BUILTIN, server, tool
from tests.ui.scenes.shown_files import SETTINGS_FILE, SHOP, SHOP_FILE
from tests.ui.seen import control, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.add.add_server import AddServerSheet
from tooltray.ui.origins import change_there, origin, origin_chip
from tooltray.ui.server_pane.server_menu import ServerMenu
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice

OF_PROJECT = server("db", origin="project", file=SHOP_FILE.path, project=SHOP)
OF_ALL = replace(OF_PROJECT, project="")  # as of `serve --project`
SERVED = server("fetch", origin="served", file="/srv/etc/a-config-with-a-long-name.json")
OWN = server("own")


def names(widget: QWidget) -> set[str]:
    return {each.accessibleName() for each in widget.findChildren(QWidget) if each.isVisibleTo(widget)}


def menu_of(desk: Desk, shown: ServerSnapshot) -> list[str]:
    menu = ServerMenu(desk.theme, shown, desk.wishes, desk.window)
    return [action.text() for action in menu.actions() if action.text()]


@pytest.mark.parametrize(
    ("shown", "said", "chip"),
    [
        (OWN, "In settings.json", ""),
        (OF_PROJECT, "From .mcp.json of shop", "shop"),
        (OF_ALL, "From .mcp.json of shop", "shop"),
        (SERVED, "From a-config-with-a-long-name.json", "a-config-…name.json"),
        (replace(BUILTIN, origin="hub"), "Comes with Tooltray", ""),
    ],
)
def test_where_a_server_is_from_is_said_in_words_and_in_short(shown: ServerSnapshot, said: str, chip: str) -> None:
    assert (origin(shown), origin_chip(shown)) == (said, chip)


def test_what_is_changed_in_the_file_says_in_which() -> None:
    assert "are in .mcp.json of shop" in change_there(OF_PROJECT)
    assert "never writes to it" in change_there(SERVED)


async def test_a_card_has_a_chip_of_its_file_and_opened_the_whole_line(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: found.append(url.toLocalFile()) or True)
    async with Desk(FakePresenter([OF_PROJECT, OWN]), theme) as desk:
        await desk.window.build_pages()
        await until(lambda: desk.page.server_list.cards)
        assert "From .mcp.json of shop" in names(desk.card("db"))
        assert not any("From" in name for name in names(desk.card("own")))
        details = desk.open_server("db")
        control(details, "Details").click()
        assert "From .mcp.json of shop" in words(details)
        assert nameless(desk.window) == []
        control(details, "Open the file of db").click()
        control(details, "Open the folder of the file of db").click()
        assert found == [SHOP_FILE.path, SHOP]


async def test_details_say_it_for_every_server(theme: Theme) -> None:
    async with Desk(FakePresenter([OF_PROJECT, OWN, *(server(f"s{number}") for number in range(30))]), theme) as desk:
        page = desk.page
        await until(lambda: page.server_list.table.rows)
        for name, said in (("db", "From .mcp.json of shop"), ("own", "In settings.json")):
            page.server_list.table.row_chosen.emit(desk.servers.find(name))
            control(page.details, "Details").click()
            assert said in words(page.details)
        desk.engine.tell(replace(OWN, origin="served", file=SERVED.file))
        await until(lambda: "From a-config-with-a-long-name.json" in words(page.details))


async def test_its_menu_opens_the_file_in_the_place_of_copying_an_entry(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: found.append(url.toLocalFile()) or True)
    async with Desk(FakePresenter([OF_PROJECT, SERVED, OWN]), theme) as desk:
        await desk.window.build_pages()
        await until(lambda: desk.page.server_list.cards)
        assert {"Copy settings entry", "Rename…", "Remove"} <= set(menu_of(desk, OWN))
        assert {"Open its file", "Remove from its file"} <= set(menu_of(desk, OF_PROJECT))
        assert not {"Copy settings entry", "Rename…"} & set(menu_of(desk, OF_PROJECT))
        assert not any("Remove" in text for text in menu_of(desk, SERVED))  # its file is not ours to write
        menu = ServerMenu(theme, OF_PROJECT, desk.wishes, desk.window)
        next(action for action in menu.actions() if action.text() == "Open its file").trigger()
        assert found == [SHOP_FILE.path]


async def test_removed_from_its_file_it_is_brought_back_into_that_file_under_its_name_there(theme: Theme) -> None:
    fake = FakePresenter([replace(OF_PROJECT, name="db-shop")])
    fake.entries["db-shop"], fake.names_in_files, fake.chosen = {"command": "npx"}, {"db-shop": "db"}, {"db-shop": {"autoApprove": ["all"]}}
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.removal_requested.emit("db-shop")
        await desk.asked("remove_mcp_server", "db-shop")
        await until(lambda: "db is removed from its file" in words(desk.window))
        next(each for each in desk.window.findChildren(QAbstractButton) if each.text() == "Undo").click()
        await desk.asked("add_mcp_server", "db", {"command": "npx"}, OF_PROJECT.is_default, SHOP)


async def test_what_was_chosen_here_for_a_server_of_a_file_stands_in_its_sheets(theme: Theme) -> None:
    fake = FakePresenter([OF_PROJECT], [tool("look", "db", original_name="query")])
    fake.chosen["db"] = {"lazyLoad": False, "toolOverrides": {"query": {"name": "look"}}}
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.options_requested.emit("db")
        await until(lambda: control(desk.window.sheet.panel, "Full").isChecked())
        desk.window.sheet.dismiss()
        desk.wishes.tool_requested.emit(fake.tools[0])
        panel = desk.window.sheet.panel
        await until(lambda: control(panel, "Back to the server's own").isEnabled())
        assert panel.findChild(QLineEdit).text() == "look"


async def test_one_that_its_file_switches_off_says_where_to_switch_it_on(theme: Theme) -> None:
    off = replace(SERVED, state=ServerState.STOPPED, is_disabled=True)
    async with Desk(FakePresenter([off]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.start_requested.emit("fetch")
        await until(lambda: "'fetch' is disabled in its file" in words(desk.card("fetch")))
        assert ("start_server", "fetch") not in desk.engine.calls


async def test_its_options_say_what_is_changed_in_the_file(theme: Theme) -> None:
    fake = FakePresenter([replace(OF_PROJECT, is_lazy=True), OWN])
    fake.entries["db"] = {"command": "npx", "lazyLoad": True}
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.options_requested.emit("db")
        panel = desk.window.sheet.panel
        assert change_there(OF_PROJECT) in words(panel)
        assert "Wait for a project" not in words(panel)
        await until(lambda: control(panel, "Compact").isChecked())
        desk.window.sheet.dismiss()
        desk.wishes.options_requested.emit("own")
        assert "Wait for a project" in words(desk.window.sheet.panel)


async def test_a_new_server_can_go_into_the_file_of_a_project_that_is_in_use(theme: Theme) -> None:
    fake = FakePresenter([OWN])
    fake.files = [SETTINGS_FILE, SHOP_FILE]
    desk = Desk(fake, theme)
    projects: list[list[str]] = []
    desk.window.context.links.projects_changed.connect(projects.append)
    async with desk:
        await desk.window.build_pages()
        await until(lambda: [SHOP] in projects)
        desk.page.add("npx -y memory-server")
        panel = desk.window.sheet.panel
        assert isinstance(panel, AddServerSheet)
        where = next(each for each in panel.findChildren(Choice) if each.accessibleName().startswith("Where"))
        assert where.accessibleName() == "Where it is written: Your settings, for all clients"
        where.choose(SHOP)
        assert where.accessibleName() == "Where it is written: .mcp.json of shop"
        name = panel.new_servers()[0].name
        control(panel, "Add server").click()
        await until(lambda: any(call[0] == "add_mcp_server" for call in fake.calls))
        call = next(call for call in fake.calls if call[0] == "add_mcp_server")
        assert call[1] == name
        assert SHOP in call


async def test_without_a_project_nobody_is_asked_where(theme: Theme) -> None:
    async with Desk(FakePresenter([OWN]), theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.page.add("npx -y memory-server")
        assert "Where it is written" not in words(desk.window.sheet.panel)
