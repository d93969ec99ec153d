"""The sandbox in the tab Access of an opened server: what is chosen is done at once, shown as it came out, and can be taken back."""

from msgspec.structs import replace
from PySide6.QtWidgets import QFileDialog, QLineEdit
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import TRUSTED, server
from tests.ui.seen import button, control, words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ServerChanged
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot
from tooltray.ui.server_pane.sandbox_section import ChoiceSection
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import Option
from tooltray.ui.widgets.toast import Toast

OWN = ConfinementSnapshot("own", "hosts", hosts=("a.org",), read=("/r",), write=("/w",))


def engine(confinement: ConfinementSnapshot | None = OWN) -> FakePresenter:
    return FakePresenter([server("s", confinement=confinement)])


def section(desk: Desk) -> ChoiceSection:
    details = desk.open_server("s", "access")
    control(details, "Show the sandbox").click()
    return details.findChild(ChoiceSection)  # type: ignore[return-value]


def option(section: ChoiceSection, title: str) -> Option:
    return next(each for each in section.findChildren(Option) if each.text() == title)


async def test_a_choice_is_done_at_once_and_can_be_taken_back(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = section(desk)
        option(shown, "No network").click()
        await desk.asked("set_confinement", "s", "own", "none", ["a.org"], ["/r"], ["/w"])
        await until(lambda: desk.window.findChild(Toast))
        button(desk.window.findChild(Toast), "Undo").click()
        await desk.asked("set_confinement", "s", "own", "hosts", ["a.org"], ["/r"], ["/w"])


async def test_folders_and_hosts_are_added_and_taken_away(theme: Theme) -> None:
    async with Desk(engine(), theme) as desk:
        shown = section(desk)
        button(shown, "Let it change a folder").click()
        await until(lambda: desk.window.findChild(QFileDialog))
        desk.window.findChild(QFileDialog).fileSelected.emit("/new")
        await desk.asked("set_confinement", "s", "own", "hosts", ["a.org"], ["/r"], ["/w", "/new"])
        control(shown, "Take /r away").click()
        await desk.asked("set_confinement", "s", "own", "hosts", ["a.org"], [], ["/w"])
        control(shown, "Take a.org away").click()
        await desk.asked("set_confinement", "s", "own", "hosts", [], ["/r"], ["/w"])
        field = shown.findChild(QLineEdit)
        field.setText(" b.org ")
        control(shown, "Allow this host").click()
        await desk.asked("set_confinement", "s", "own", "hosts", ["a.org", "b.org"], ["/r"], ["/w"])


async def test_what_is_refused_is_said_and_the_choice_stands_where_it_is(theme: Theme) -> None:
    fake = engine()
    fake.failures["set_confinement"] = TooltrayError("It cannot be", "for a reason")
    async with Desk(fake, theme) as desk:
        shown = section(desk)
        option(shown, "Open: all files").click()
        await until(lambda: "It cannot be" in words(shown))
        assert option(shown, "Sandboxed").isChecked()


async def test_what_is_missing_stands_above_and_a_newer_snapshot_is_shown(theme: Theme) -> None:
    fake = engine()
    async with Desk(fake, theme) as desk:
        shown = section(desk)
        vain = ConfinementSnapshot("read", missing=("Not sandboxed: this system is not supported.",), is_in_vain=True)
        fake.bus.publish(ServerChanged(server("s", confinement=vain)))
        await until(lambda: "This computer cannot sandbox it" in words(shown))
        assert option(shown, "Read only").isChecked()
        assert "Let it change a folder" not in words(shown)
        assert any("Not sandboxed" in chip.accessibleName() for chip in desk.card("s").findChildren(Chip))


async def test_it_is_folded_where_a_choice_has_no_sandbox_and_unfolds_with_one_that_has(theme: Theme) -> None:
    fake = engine(ConfinementSnapshot())
    async with Desk(fake, theme) as desk:
        details = desk.open_server("s", "access")
        assert details.findChild(ChoiceSection) is None
        control(details, "Show the sandbox").click()
        assert details.findChild(ChoiceSection).isVisible()
        control(details, "Hide the sandbox").click()
        assert not details.findChild(ChoiceSection).isVisible()
        fake.bus.publish(ServerChanged(server("s", confinement=OWN, access=replace(TRUSTED, choice="careful"))))
        await until(details.findChild(ChoiceSection).isVisible)
        assert "Sandboxed · a.org" in words(details)


async def test_a_server_that_is_no_process_has_no_sandbox(theme: Theme) -> None:
    async with Desk(engine(None), theme) as desk:
        assert "Show" not in words(desk.open_server("s", "access"))
