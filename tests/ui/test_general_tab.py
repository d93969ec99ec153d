"""General settings apply at once; what cannot be kept goes back, and the reason is shown."""

from PySide6.QtCore import QTranslator
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, drawn

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged
from tooltray.foundation.preferences import KINDS
from tooltray.ui.settings.general_tab import GeneralTab
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import ReadingScroll


async def opened(desk: Desk) -> GeneralTab:
    page = desk.open_settings("general")
    assert isinstance(page, GeneralTab)
    await until(lambda: not len(desk.tasks))
    return page


def choice(page: GeneralTab, name: str) -> Choice:
    return next(each for each in page.findChildren(Choice) if each.accessibleName().startswith(name))


def choose(page: GeneralTab, name: str, title: str) -> None:
    """Chooses as a person does: from the menu of the control."""
    choice(page, name).click()
    menu = next(each for each in page.findChildren(QMenu) if each.isVisible())
    next(action for action in menu.findChildren(QAction) if action.text() == title).trigger()
    menu.close()


async def test_what_new_servers_may_do_is_chosen(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        assert choice(page, "Access").accessibleName() == "Access: Automatic"
        assert "Careful: sandboxed, changes ask. Trusted: changes ask. Free: never asks." in drawn(page)
        choose(page, "Access", "Careful")
        await desk.asked("change_settings", {"newServers": "careful"}, "")
        choose(page, "Access", "Automatic")
        await desk.asked("change_settings", {"newServers": None}, "")


async def test_each_language_is_offered_by_its_own_name(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        assert choice(page, "Language").accessibleName() == "Language: System"
        choose(page, "Language", "繁體中文")
        await desk.asked("change_settings", {"language": "zh_TW"}, "")
        choose(page, "Language", "System")
        await desk.asked("change_settings", {"language": None}, "")


async def test_a_theme_is_chosen_and_one_that_somebody_else_has_chosen_is_shown(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        choose(page, "Theme", "Dark")
        await desk.asked("change_settings", {"window": {"theme": "dark"}}, "")
        desk.engine.settings = {"window": {"theme": "light", "keepsRunning": False}, "language": "xx"}
        desk.engine.bus.publish(ConfigChanged({}, (), True))
        await until(lambda: choice(page, "Theme").chosen == "light")
        assert not control(page, "Keep running when the window closes").isChecked()
        assert choice(page, "Language").chosen == ""


async def test_what_cannot_be_kept_goes_back_and_says_why(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        desk.engine.failures["change_settings"] = TooltrayError("the disk is full")
        choose(page, "Theme", "Dark")
        control(page, "Start in the tray").click()
        await until(lambda: "The disk is full" in drawn(page) and not len(desk.tasks))
        assert choice(page, "Theme").chosen == ""
        assert not control(page, "Start in the tray").isChecked()
        desk.engine.failures.clear()
        control(page, "Start in the tray").click()
        await until(lambda: "The disk is full" not in drawn(page))
        assert desk.engine.settings == {"window": {"startsHidden": True}}


async def test_starting_at_login_shows_what_the_system_says(theme: Theme) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        control(page, "Start when you log in").click()
        await until(lambda: desk.engine.program.starts_at_login)
        desk.engine.failures["set_start_at_login"] = TooltrayError("the folder is read-only")
        control(page, "Start when you log in").click()
        await until(lambda: "The folder is read-only" in drawn(page) and not len(desk.tasks))
        assert control(page, "Start when you log in").isChecked()


async def test_each_kind_of_notification_has_a_switch_of_its_own(theme: Theme, app: QApplication) -> None:
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        page = await opened(desk)
        switches = {each.accessibleName(): each for each in page.findChildren(Switch)}
        assert all(switches[kind.title].isChecked() for kind in KINDS)
        switches["A server has failed"].click()
        await desk.asked("change_settings", {"notifications": {"failed": False}}, "")
        await until(lambda: not len(desk.tasks))
        assert not switches["A server has failed"].isChecked()
        assert switches["A server asks you something"].isChecked()


class Longer(QTranslator):
    """A language whose texts are 40 % longer."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, _context: str, text: str, _disambiguation: str | None = None, _n: int = -1) -> str:
        return text + " lorem ipsum dolor sit amet consectetur"[: int(len(text) * 0.4)]


async def test_no_text_is_cut_in_a_small_window_and_a_language_with_long_words(theme: Theme, app: QApplication) -> None:
    longer = Longer()
    async with Desk(FakePresenter([server("a")]), theme) as desk:
        desk.window.resize(900, 600)
        app.installTranslator(longer)
        try:
            page = await opened(desk)
        finally:
            app.removeTranslator(longer)
        assert desk.window.width() == 900
        await until(lambda: page.findChild(ReadingScroll).content.width() > 600)
        labels = [each for each in page.findChildren(Label) if each.isVisible()]
        for each in labels:
            assert each.text() == (each.accessibleName() or each.text()), "cut"
            assert each.height() >= each.heightForWidth(each.width()), each.text()
        helped = [each for each in labels if each.property("tone") == "muted"]
        assert len(helped) == len(KINDS) + 12 + 2  # a line for each row, and for two groups
