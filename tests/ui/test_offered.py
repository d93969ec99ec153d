"""Prompts are filled in and read, resources are read and followed, templates become addresses; of all servers or of one."""

from typing import cast

import pytest
from PySide6.QtCore import QStringListModel, Qt
from PySide6.QtTest import QTest
from tests.fakes.desk import Desk, until
from tests.fakes.server_snapshots import server
from tests.fakes.tools_in_memory import ToolsInMemory
from tests.ui.seen import button, control, field, words
from tests.ui.test_accessibility import nameless

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.tools import SkillSnapshot
from tooltray.ui.kit.destinations import Servers
from tooltray.ui.server_pane.server_tools import ServerTools
from tooltray.ui.theme import Theme
from tooltray.ui.tools import offer_preview as offered
from tooltray.ui.tools.offer_preview import OfferPreview
from tooltray.ui.tools.offered_list import OfferedList
from tooltray.ui.widgets.filter_tabs import FilterTab
from tooltray.ui.widgets.row_model import Heading

NOTE = "file:///note"


def engine() -> ToolsInMemory:
    fake = ToolsInMemory([server("a"), server("b"), server("c", ServerState.STOPPED)])
    arguments = [{"name": "who", "required": True, "description": "a name"}, {"name": "how"}, {"odd": 1}]
    fake.prompts = {"a": [{"name": "greet", "title": "A <b>greeting</b>", "arguments": arguments}], "b": [{"name": "plain"}]}
    fake.resources = {"a": [{"uri": NOTE, "name": "note", "mimeType": "text/plain", "size": 12}], "b": [{"uri": "b://x"}]}
    fake.templates = {"b": [{"uriTemplate": "b://{id}{?lang}", "name": "things"}]}
    fake.contents = {
        "greet": {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]},
        "plain": {"messages": []},
        NOTE: {"contents": [{"uri": NOTE, "text": "first"}]},
        "b://7": {"contents": [{"uri": "b://7", "text": "seven"}]},
    }
    fake.values = ["Ada", "Alan"]
    fake.skills = [SkillSnapshot("skill://b/notes/SKILL.md", "b", "skill://notes/SKILL.md", "notes", "About notes", is_held=True)]
    fake.contents["skill://b/notes/SKILL.md"] = {"text": "# <b>Notes</b>"}
    return fake


async def listed(desk: Desk, tab: int) -> OfferedList:
    desk.window.go(Servers("all_tools"))
    desk.all_tools.show_list(("tools", "prompts", "resources")[tab])
    offers = desk.all_tools.prompts if tab == 1 else desk.all_tools.resources
    await until(lambda: offers.table.rows)
    return offers


async def previewed(offers: OfferedList, title: str) -> OfferPreview:
    offers.table.row_chosen.emit(
        next(row for row in offers.table.rows if getattr(row, "title", "") == title and not isinstance(row, Heading))
    )
    assert offers.preview is not None
    await until(lambda: offers.preview.isVisible())  # type: ignore[union-attr]
    return offers.preview


async def test_a_prompt_is_filled_in_with_proposals_and_read(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        offers = await listed(desk, 1)
        assert [row.title for row in offers.table.rows] == ["a", "A <b>greeting</b>", "b", "plain"]
        preview = await previewed(offers, "A <b>greeting</b>")
        assert not button(preview, "Preview").isEnabled()
        who = field(preview, "who")
        await until(who.hasFocus)
        QTest.keyClicks(who, "A")
        await desk.asked("complete_prompt", "greet", "who", "A", {})
        model = who.completer().model()
        assert isinstance(model, QStringListModel)
        await until(lambda: model.stringList() == ["Ada", "Alan"])
        QTest.keyClick(who, Qt.Key.Key_Return)
        await desk.asked("get_prompt", "greet", {"who": "A"})
        await until(lambda: [part.text for part in preview.result.parts] == ["Hello"])
        assert nameless(desk.window) == []


async def test_a_resource_is_read_at_once_and_again_when_it_changes(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        offers = await listed(desk, 2)
        preview = await previewed(offers, "note")
        await until(lambda: [part.text for part in preview.result.parts] == ["first"])
        fake = desk.engine
        assert isinstance(fake, ToolsInMemory)
        control(preview, "Follow changes").click()
        await until(lambda: fake.followed == {NOTE})
        fake.contents[NOTE] = {"contents": [{"uri": NOTE, "text": "second"}]}
        fake.update(NOTE)
        await until(lambda: [part.text for part in preview.result.parts] == ["second"])
        QTest.keyClick(offers, Qt.Key.Key_Escape)
        await until(lambda: not fake.followed)
        assert offers.preview is None


async def test_a_server_that_does_not_tell_changes_is_said_to_be_one(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        preview = await previewed(await listed(desk, 2), "note")
        desk.engine.failures["subscribe_resource"] = TooltrayError("'a' does not report changes of this resource")
        switch = control(preview, "Follow changes")
        switch.click()
        await until(lambda: "'a' does not report changes of this resource" in words(preview))
        assert not switch.isChecked()


async def test_a_list_that_cannot_be_read_is_said_beside_a_preview_which_goes_on_following(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        offers = await listed(desk, 2)
        preview = await previewed(offers, "note")
        control(preview, "Follow changes").click()
        await desk.asked("subscribe_resource", NOTE)
        desk.engine.failures["get_all_resources"] = TooltrayError("the list cannot be read")
        offers.refresh()
        await until(lambda: "The list cannot be read" in words(offers))
        assert control(preview, "Follow changes").isChecked()


async def test_a_template_becomes_an_address(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        preview = await previewed(await listed(desk, 2), "things")
        field(preview, "id").setText("7")
        await until(lambda: "b://7" in words(preview))
        button(preview, "Read").click()
        await until(lambda: [part.text for part in preview.result.parts] == ["seven"])
        field(preview, "lang").setText("de")
        button(preview, "Read").click()
        await until(lambda: "'b://7?lang=de' could not be read" in words(preview))


async def test_search_finds_in_all_that_is_known_and_nothing_is_said_to_be_nothing(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        offers = await listed(desk, 2)
        offers.search("b template")
        await until(lambda: "No matches" in words(offers))
        offers.search("NOTE plain")
        assert [row.title for row in offers.table.rows] == ["a", "note"]
        desk.engine.failures["get_all_resources"] = TooltrayError("the list cannot be read")
        offers.refresh()
        await until(lambda: "The list cannot be read" in words(offers))
    async with Desk(ToolsInMemory([server("a")]), theme) as desk:
        desk.window.go(Servers("all_tools"))
        desk.all_tools.show_list("prompts")
        await until(lambda: "No prompts" in words(desk.all_tools))


async def test_the_tools_of_one_server_have_its_prompts_beside_them_and_previews_in_a_sheet(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        view = cast(ServerTools, desk.open_server("b", "tools").view("tools"))
        await until(lambda: [len(each.table.rows) for each in view.lists] == [1, 2, 1])
        assert nameless(view) == []
        assert [each.text() for each in view.findChildren(FilterTab) if each.isVisible()] == ["Tools", "Prompts", "Resources", "Skills"]
        control(view, "Prompts").click()
        offers = view.lists[0]
        assert offers.isVisible()
        offers.table.row_chosen.emit(offers.table.rows[0])
        await until(lambda: isinstance(desk.window.context.sheets.panel, OfferPreview))
        await desk.asked("get_prompt", "plain", {})
        assert nameless(desk.window) == []


async def test_a_server_that_has_nothing_but_tools_has_no_choice_of_lists(theme: Theme) -> None:
    async with Desk(ToolsInMemory([server("c")]), theme) as desk:
        view = cast(ServerTools, desk.open_server("c", "tools").view("tools"))
        await desk.asked("get_skills", "c")
        await until(lambda: not len(desk.tasks))
        assert not any(each.isVisible() for each in view.findChildren(FilterTab))


async def test_skills_of_a_server_are_switched_and_read_as_plain_text(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        desk.window.resize(1800, 900)
        details = desk.open_server("b", "tools")
        details.wide_requested.emit(True)
        view = cast(ServerTools, details.view("tools"))
        skills = view.lists[2]
        await until(lambda: skills.table.rows)
        control(view, "Skills").click()
        [row] = skills.table.rows
        skills.table.switched.emit(row, False)
        await desk.asked("set_skill_enabled", "b", "skill://notes/SKILL.md", False)
        await until(lambda: [each.is_enabled for each in skills.table.rows] == [False])
        skills.table.row_chosen.emit(skills.table.rows[0])
        await desk.asked("get_skill", "skill://b/notes/SKILL.md")
        assert skills.preview is not None
        preview = skills.preview
        await until(lambda: [part.text for part in preview.result.parts] == ["# <b>Notes</b>"])
        button(preview, "See what is different").click()
        assert desk.activity.isVisible()
        assert desk.activity.approvals.isVisible()


@pytest.mark.parametrize(
    ("template", "values", "address"),
    [
        ("x://{a}/{b}", {"a": "1 2", "b": "c/d"}, "x://1%202/c%2Fd"),
        ("x://{+path}{#part}", {"path": "a/b", "part": "c"}, "x://a/b#c"),
        ("x://h{/one,two}{?q,r}{&s}", {"one": "1", "two": "2", "q": "a&b", "s": "3"}, "x://h/1/2?q=a%26b&s=3"),
        ("x://{list*}{;v}{.ext}", {"list": "a", "v": "1", "ext": "md"}, "x://a;v=1.md"),
        ("x://{a:3}", {}, "x://"),
    ],
)
def test_templates_are_expanded_as_the_standard_has_it(template: str, values: dict[str, str], address: str) -> None:
    assert offered.expanded(template, values) == address


def test_what_a_server_writes_is_not_taken_for_granted() -> None:
    assert offered.prompt_of("s", {"name": 5, "arguments": "x"}).title == "5"
    odd = offered.resource_of("s", {"uri": "x://\u202ey", "size": True, "mimeType": 7, "description": 1})
    assert (odd.title, odd.size, odd.mime, odd.description) == ("x://y", None, "7", "")
    assert offered.variables("a{b,c*}{?d:3}") == [("b", True), ("c", True), ("d", False)]
