"""What was refused to a confined server is listed in its tab, and one click allows it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import control, words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, RefusedThing
from tooltray.ui.confinement_words import refused_details, refused_in_full, refused_in_short
from tooltray.ui.server_pane.sandbox_section import RefusedSection
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button

HOST = RefusedThing("host", "evil.example:443", 1.0)
PATH = RefusedThing("path", "/home/me/notes", 1.0, 3, is_write=True)
UNKNOWN = RefusedThing("unknown", "", 1.0)
KEPT = ConfinementSnapshot("own", "hosts", refused=(HOST, PATH, UNKNOWN))


@asynccontextmanager
async def opened(theme: Theme, confinement: ConfinementSnapshot) -> AsyncIterator[tuple[Desk, RefusedSection]]:
    async with Desk(FakePresenter((server("a", confinement=confinement),)), theme) as desk:
        await until(lambda: desk.servers.servers)
        control(desk.open_server("a", "access"), "Show the sandbox").click()
        [section] = desk.page.findChildren(RefusedSection)
        yield desk, section


def allowing(section: QWidget) -> list[str]:
    return [button.accessibleName() for button in section.findChildren(Button)]


async def test_each_thing_that_has_a_name_is_allowed_with_one_click(theme: Theme) -> None:
    async with opened(theme, KEPT) as (desk, section):
        assert allowing(section) == ["Allow evil.example:443 for a", "Allow /home/me/notes for a"]
        assert "The paths are from the server's own messages: look before you allow one." in words(section)
        control(section, "Allow /home/me/notes for a").click()
        await desk.asked("allow_refused", "a", "path", "/home/me/notes")


async def test_why_it_was_not_allowed_stands_there(theme: Theme) -> None:
    async with opened(theme, KEPT) as (desk, section):
        desk.engine.failures["allow_refused"] = TooltrayError("It is not what keeps it")
        control(section, "Allow evil.example:443 for a").click()
        await until(lambda: section.findChildren(Banner))


async def test_while_nothing_was_refused_nothing_is_shown(theme: Theme) -> None:
    async with opened(theme, replace(KEPT, refused=())) as (_, section):
        assert section.isHidden()
        section.set_server(server("a", confinement=replace(KEPT, refused=(HOST,))))
        assert (section.isHidden(), allowing(section)) == (False, ["Allow evil.example:443 for a"])
        assert "The paths are from" not in words(section)
        section.set_server(server("a"))
        assert section.isHidden()


def test_a_card_says_how_much_was_refused_and_the_latest_of_it() -> None:
    assert (refused_in_short(KEPT), refused_in_short(None), refused_in_short(ConfinementSnapshot())) == ("3 refused", "", "")
    assert refused_in_full(KEPT) == "Refused: evil.example:443, /home/me/notes, something else"
    assert refused_in_full(replace(KEPT, refused=(HOST,) * 4)).endswith("evil.example:443, …")
    assert refused_in_full(ConfinementSnapshot()) == ""


def test_what_was_wanted_of_it_and_how_often_is_said() -> None:
    now = datetime.fromtimestamp(1.0)
    assert refused_details(PATH, now).startswith("Changing · 3 times · ")
    assert refused_details(replace(PATH, is_write=False, count=1), now).startswith("Reading · ")
    assert refused_details(UNKNOWN, now) == f"{now:%H:%M}"
