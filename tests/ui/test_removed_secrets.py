"""A removed server's secrets go with it once it cannot be brought back any more, and the window says so."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QAbstractButton, QLabel
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server
from tests.ui.seen import words

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.setup import ServerRemoval, SharedSecret
from tooltray.ui.servers.server_verbs import RemovedServer, removed_words
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.toast import Toast, show_toast


def with_secrets() -> FakePresenter:
    fake = FakePresenter([server("git"), server("wiki")])
    fake.secrets = {"git/KEY": "dummy-value", "wiki/KEY": "dummy-value"}
    return fake


async def test_secrets_stay_as_long_as_the_removal_can_be_undone_and_then_go(theme: Theme) -> None:
    fake = with_secrets()
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.removal_requested.emit("git")
        await until(lambda: "git is removed · with its secret git/KEY" in words(desk.window))
        assert sorted(fake.secrets) == ["git/KEY", "wiki/KEY"]
        desk.window.findChild(Toast).dismiss()
        await desk.asked("remove_unused_secrets", ["git/KEY"])
        await until(lambda: sorted(fake.secrets) == ["wiki/KEY"])


async def test_a_removal_that_is_undone_takes_no_secret(theme: Theme) -> None:
    fake = with_secrets()
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.removal_requested.emit("git")
        await until(lambda: "git is removed · with its secret git/KEY" in words(desk.window))
        next(each for each in desk.window.findChildren(QAbstractButton) if each.text() == "Undo").click()
        await until(lambda: desk.servers.find("git"))
        await until(lambda: desk.window.findChild(Toast) is None)
        assert sorted(fake.secrets) == ["git/KEY", "wiki/KEY"]


async def test_another_removal_ends_the_first_ones_undo(theme: Theme) -> None:
    fake = with_secrets()
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.removal_requested.emit("git")
        await until(lambda: "git is removed · with its secret git/KEY" in words(desk.window))
        desk.wishes.removal_requested.emit("wiki")
        await until(lambda: "wiki is removed · with its secret wiki/KEY" in words(desk.window))
        await until(lambda: sorted(fake.secrets) == ["wiki/KEY"])


async def test_secrets_that_could_not_be_removed_are_told(theme: Theme) -> None:
    fake = with_secrets()
    async with Desk(fake, theme) as desk:
        await until(lambda: desk.page.server_list.cards)
        desk.wishes.removal_requested.emit("git")
        await until(lambda: "git is removed · with its secret git/KEY" in words(desk.window))
        fake.failures["remove_unused_secrets"] = TooltrayError("The secrets are locked")
        desk.window.findChild(Toast).dismiss()
        await until(lambda: "The secrets are locked" in words(desk.window))


@pytest.mark.parametrize(
    ("removal", "said"),
    [
        (ServerRemoval("git"), "git is removed"),
        (ServerRemoval("git", ("a", "b"), "oauth/git"), "git is removed · with its secrets a, b · its sign-in ends"),
        (ServerRemoval("git", ("a", "b", "c", "d", "e")), "git is removed · with its secrets a, b, c and 2 more"),
        (ServerRemoval("git", shared=(SharedSecret("team", ("wiki",)),)), "git is removed · team stays, wiki still uses it"),
        (ServerRemoval("git", shared=(SharedSecret("team", ("wiki", "db")),)), "git is removed · team stays, wiki, db still use it"),
    ],
)
def test_what_goes_and_what_stays_is_one_line(removal: ServerRemoval, said: str) -> None:
    assert removed_words(RemovedServer("git", {}, True, removal)) == said


async def test_however_much_goes_with_a_server_the_undo_stays_in_the_window(theme: Theme) -> None:
    name = "a-very-long-name-that-somebody-pasted-from-a-readme"
    secrets = tuple(f"{name}/GITHUB_PERSONAL_ACCESS_TOKEN_{number}" for number in range(5))
    async with Desk(FakePresenter([server("git")]), theme) as desk:
        desk.window.resize(900, 600)
        text = removed_words(RemovedServer(name, {}, True, ServerRemoval(name, secrets, f"oauth/{name}")))
        toast = show_toast(theme, desk.window, text, "Undo")
        undo = toast.findChild(QAbstractButton)
        assert desk.window.rect().contains(undo.rect().translated(undo.mapTo(desk.window, QPoint())))
        label = next(each for each in toast.findChildren(QLabel) if each.accessibleName() == text)
        assert label.heightForWidth(label.width()) <= label.height() > label.fontMetrics().height()
        toast.dismiss()
