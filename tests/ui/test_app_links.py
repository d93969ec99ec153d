"""Addresses of things in the window."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from tooltray.ui.shell.app_links import OpenedAddresses, server_of_link


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
