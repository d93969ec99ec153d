"""The keys of the window as rows, for people who look for them."""

from collections.abc import Iterator

from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.setting_rows import setting_row


def shortcuts() -> tuple[tuple[str, str], ...]:
    """Returns the keys with what each does."""
    return (
        ("Ctrl+K", tr("Search or run a command")),
        ("Ctrl+F", tr("Search on the page")),
        ("Ctrl+N", tr("Add a server")),
        ("Ctrl+V", tr("On the page of servers: add what is on the clipboard")),
        ("Ctrl+1 … Ctrl+6", tr("Go to a page")),
        ("← →", tr("From tab to tab, from card to card")),
        ("Ctrl+Enter", tr("Do what the sheet is for")),
        ("Esc", tr("Close what lies on top, or empty the search")),
        ("Ctrl+W", tr("Close the window")),
        ("Ctrl+Q", tr("Quit Tooltray")),
    )


def shortcut_rows(theme: Theme) -> Iterator[QWidget]:
    for keys, what in shortcuts():
        chip = Chip(theme, keys)
        yield setting_row(theme, what, "", chip)
