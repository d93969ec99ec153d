"""From nothing to a first call: what the Servers page shows somebody who begins, and when it goes away."""

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.found_clients import EDITS, SCAN
from tests.fakes.found_servers import STARTERS
from tests.fakes.server_snapshots import server, tool
from tests.ui.seen import control, drawn, words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import SessionListChanged, SessionsChanged, ToolCallResult
from tooltray.foundation.snapshots.activity import ActivityChoices, ActivityEntry, ActivityRow
from tooltray.foundation.snapshots.clients import SessionSnapshot
from tooltray.foundation.snapshots.entries import FormField
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.tools import MCPToolResponse
from tooltray.ui.add.offer_sheets import StarterSheet
from tooltray.ui.servers.first_steps import FirstSteps
from tooltray.ui.theme import Theme
from tooltray.ui.tools.try_sheet import TrySheet

CALL = ActivityRow(ActivityEntry(1, "call", 1.0, "ok", client="claude-code"), 1, 1, 1.0)
TIME = replace(STARTERS[0], id="time", fields=())


class Beginner(FakePresenter):
    """Of somebody who has nothing yet."""

    clients: tuple[str, ...] = ()
    has_called = False

    def get_activity_choices(self) -> ActivityChoices:
        return ActivityChoices(self.clients)

    def get_activity(self, **_: object) -> list[ActivityRow]:
        return [CALL] if self.has_called else []


async def test_the_steps_tick_themselves_and_go_for_good_after_the_first_call(theme: Theme) -> None:
    fake = Beginner((), [tool("get_time", "time")])
    fake.starters, fake.client_scan, fake.client_edits = [TIME], SCAN, list(EDITS)
    async with Desk(fake, theme) as desk:
        steps = desk.page.steps
        await until(lambda: "Add your first server" in drawn(desk.page) and not len(desk.tasks))
        assert steps.isVisible()
        QTest.mouseClick(control(desk.page, "Add Time"), Qt.MouseButton.LeftButton)
        await desk.asked("add_starter_server", "time", {}, "")
        fake.tell(server("time", ServerState.STARTING))
        await until(lambda: desk.page.server_list.cards)
        assert (steps.isVisible(), steps.steps) == (True, FirstSteps())
        assert control(steps, "Connect…").isEnabled(), "the server may take its time"
        fake.set_state("time", ServerState.RUNNING)
        await until(lambda: steps.steps.server == "time")
        assert "Ask it: What time is it in Tokyo?" in drawn(steps)
        control(steps, "Connect…").click()
        assert desk.clients.isVisible()
        await desk.asked("preview_connect", ["claude-code", "codex", "gemini-cli"])
        await until(lambda: desk.window.sheet is not None)
        desk.window.sheet.dismiss()
        desk.window.open_page("servers")
        fake.clients = ("claude-code",)
        steps.read()
        await until(lambda: steps.steps.client == "Claude Code" and not len(desk.tasks))
        assert fake.settings == {"window": {"firstSteps": True}}
        fake.has_called = True
        steps.read()
        await until(lambda: not steps.isVisible() and not len(desk.tasks))
        assert fake.settings == {"window": {}}


async def test_the_words_of_the_next_step_act_as_its_button_does_and_those_of_others_do_not(theme: Theme) -> None:
    fake = Beginner([server("time")])
    fake.settings = {"window": {"firstSteps": True}}
    async with Desk(fake, theme) as desk:
        steps = desk.page.steps
        await until(lambda: steps.isVisible() and steps.steps.server)
        titles = {label.text(): label for label in steps.findChildren(QLabel) if label.isVisible()}
        for other in ("Add a server", "Make the first call"):
            QTest.mouseClick(titles[other], Qt.MouseButton.LeftButton)
        assert desk.page.isVisible()
        QTest.mouseClick(titles["Connect an AI client"], Qt.MouseButton.LeftButton)
        assert desk.clients.isVisible()


async def test_a_connected_client_has_its_name_and_its_first_call_counts_before_the_journal_has_it(theme: Theme) -> None:
    fake = Beginner([server("time")])
    fake.settings = {"window": {"firstSteps": True}}
    async with Desk(fake, theme) as desk:
        steps = desk.page.steps
        await until(lambda: steps.isVisible() and steps.steps.server)
        fake.sessions = (SessionSnapshot("1", "cursor-vscode"), SessionSnapshot("0", "codex-mcp-client", is_connected=False))
        fake.bus.publish(SessionListChanged())
        await until(lambda: steps.steps.client == "Cursor")
        for client, outcome in (("tooltray", "ok"), ("cursor-vscode 1.0", "refused")):
            fake.bus.publish(ToolCallResult(MCPToolResponse("time_get", "time", client, outcome, 0.1, 1, 1)))
        fake.bus.publish(SessionsChanged(1))  # arrives after the calls
        await until(lambda: desk.hub.snapshot is not None and desk.hub.snapshot.session_count == 1)
        assert not steps.steps.has_called, "a person's try, and a refusal"
        fake.bus.publish(ToolCallResult(MCPToolResponse("time_get", "time", "cursor-vscode 1.0", "ok", 0.1, 1, 1)))
        await until(lambda: steps.steps == FirstSteps("time", "Cursor", True))
        assert not steps.isVisible()


async def test_a_person_s_own_calls_make_no_client(theme: Theme) -> None:
    fake = Beginner([server("time")])
    fake.settings, fake.clients, fake.has_called = {"window": {"firstSteps": True}}, ("tooltray",), True
    async with Desk(fake, theme) as desk:
        await until(lambda: ("get_activity_choices",) in fake.calls and not len(desk.tasks))
        assert (desk.page.steps.steps.client, desk.page.steps.steps.has_called) == ("", False)


async def test_who_has_servers_already_is_not_told_how_to_begin(theme: Theme) -> None:
    fake = Beginner([server("a")])
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards and not len(desk.tasks))
        assert not desk.page.steps.isVisible()
        assert ("get_activity_choices",) not in fake.calls


async def test_steps_that_were_begun_go_on_after_a_restart_and_can_be_put_away(theme: Theme) -> None:
    fake = Beginner([server("a")])
    fake.settings = {"window": {"firstSteps": True}}
    async with Desk(fake, theme) as desk:
        await until(desk.page.steps.isVisible)
        control(desk.page, "Put the first steps away").click()
        await until(lambda: fake.settings == {"window": {}})
        assert not desk.page.steps.isVisible()


async def test_a_starter_that_asks_for_something_opens_its_form(theme: Theme) -> None:
    fake = Beginner()
    fake.starters = [replace(TIME, id="filesystem", fields=(FormField("folders", "Folders", "folder", is_required=True),))]
    async with Desk(fake, theme) as desk:
        await until(lambda: "Add your first server" in drawn(desk.page))
        control(desk.page, "Add Files").click()
        await until(lambda: desk.window.sheet is not None)
        assert isinstance(desk.window.sheet.panel, StarterSheet)


async def test_a_starter_that_cannot_be_added_says_why(theme: Theme) -> None:
    fake = Beginner()
    fake.starters = [TIME]
    fake.failures["add_starter_server"] = TooltrayError("the disk is full")
    async with Desk(fake, theme) as desk:
        await until(lambda: "Add your first server" in drawn(desk.page))
        control(desk.page, "Add Time").click()
        await until(lambda: "The disk is full" in words(desk.window))


async def test_the_first_way_names_the_clients_whose_servers_can_come_here(theme: Theme) -> None:
    fake = Beginner()
    fake.client_scan = SCAN
    async with Desk(fake, theme) as desk:
        await until(lambda: "Import servers from Claude Code" in drawn(desk.page))
        desk.window.context.scans.scan_changed.emit(replace(SCAN, new_servers=0))
        assert "Import servers" not in drawn(desk.page)


async def test_trying_leads_to_a_tool_that_reads(theme: Theme) -> None:
    fake = Beginner([server("time")], [tool("write_it", "time", category="write"), tool("get_time", "time")])
    fake.settings, fake.clients = {"window": {"firstSteps": True}}, ("claude-code",)
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.steps.isVisible() and desk.page.steps.steps.client)
        control(desk.page.steps, "Try a tool").click()
        await until(lambda: isinstance(desk.window.context.sheets.panel, TrySheet))
        assert "get_time" in words(desk.window.context.sheets.panel)


async def test_no_text_of_the_steps_is_cut(theme: Theme) -> None:
    fake = Beginner([server("files")])
    fake.settings = {"window": {"firstSteps": True}}
    async with Desk(fake, theme) as desk:
        for width in (1180, 900):
            desk.window.resize(width, 760)
            await until(lambda: "Ask it for something that needs a tool" in drawn(desk.page.steps) and not len(desk.tasks))
            QApplication.processEvents()
            texts = [each for each in desk.page.steps.findChildren(QLabel) if each.isVisible()]
            assert all(each.height() >= each.heightForWidth(each.width()) for each in texts)
