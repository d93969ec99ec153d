"""Addresses of things in the window."""

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication, QWidget

from tooltray.ui.shell.app_links import LONGEST_INSTALL, OpenedAddresses, install_link, server_of_link


@pytest.mark.parametrize(
    ("link", "server"),
    [
        ("tooltray://servers/files", "files"),
        ("tooltray://servers/my%20files", "my files"),
        ("tooltray://servers/", ""),
        ("tooltray://open", ""),
        ("tooltray:", ""),
        ("tooltray://settings/files", ""),
        ("https://servers/files", ""),
        ("tooltray://[", ""),
        ("", ""),
    ],
)
def test_an_address_names_a_server_or_nothing(link: str, server: str) -> None:
    assert server_of_link(link) == server


def test_what_macos_hands_to_the_program_is_heard_if_it_is_one_of_ours(qapp: QApplication) -> None:
    opened: list[str] = []
    addresses = OpenedAddresses(qapp)
    addresses.opened.connect(opened.append)
    taken = [
        qapp.sendEvent(qapp, QFileOpenEvent(QUrl(url))) for url in ("tooltray://servers/files", "file:///tmp/a", "https://example.org")
    ]
    qapp.removeEventFilter(addresses)
    assert (opened, taken[0]) == (["tooltray://servers/files"], True)


@pytest.mark.parametrize(
    ("link", "is_install"),
    [
        ("tooltray://install?name=x&config=e30", True),
        ("tooltray://install/?config=e30", True),
        ("TOOLTRAY://INSTALL?config=e30", True),
        ("tooltray://install", True),
        ("tooltray://installed?config=e30", False),
        ("tooltray://servers/install", False),
        ("cursor://install?config=e30", False),
        ("", False),
    ],
)
def test_an_address_that_adds_a_server_is_told_from_others(link: str, is_install: bool) -> None:
    assert install_link(link) == (link if is_install else "")


def test_a_longer_address_is_cut_off_where_it_is_refused() -> None:
    assert len(install_link("tooltray://install?config=" + "a" * 10**6)) == LONGEST_INSTALL + 1


def test_what_macos_hands_over_keeps_its_encoding(qapp: QApplication) -> None:
    opened: list[str] = []
    addresses = OpenedAddresses(qapp)
    addresses.opened.connect(opened.append)
    qapp.sendEvent(qapp, QFileOpenEvent(QUrl("tooltray://install?config=%7B%22a%22%3A%20%22%25%26%22%7D")))
    qapp.removeEventFilter(addresses)
    assert opened == ["tooltray://install?config=%7B%22a%22%3A%20%22%25%26%22%7D"]


@pytest.mark.parametrize(
    ("state", "has_window", "is_reopened"),
    [
        (Qt.ApplicationState.ApplicationActive, False, True),
        (Qt.ApplicationState.ApplicationActive, True, False),
        (Qt.ApplicationState.ApplicationInactive, False, False),
    ],
)
def test_an_app_without_a_window_is_opened_again(
    qapp: QApplication, state: Qt.ApplicationState, has_window: bool, is_reopened: bool
) -> None:
    reopened: list[bool] = []
    addresses = OpenedAddresses(qapp)
    addresses.reopened.connect(lambda: reopened.append(True))
    window = QWidget()
    window.setVisible(has_window)
    qapp.applicationStateChanged.emit(state)
    qapp.removeEventFilter(addresses)
    addresses.deleteLater()
    window.close()
    assert bool(reopened) is is_reopened
