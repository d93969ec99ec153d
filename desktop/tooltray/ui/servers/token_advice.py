"""What a compact tool listing would save, and the button that chooses it."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, popup_below

MOST_ADVISED = 8  # servers in the menu, those that save most; a menu of all would hang out of the window
LEAST_SAVED = 2000  # tokens; less is not worth a word
COST_OF_ACTIVATING = 120  # tokens of the one small tool that stands for a server; what it costs is told once it is there


def savings(servers: Sequence[ServerSnapshot], shown_tokens: Mapping[str, int]) -> list[tuple[str, int]]:
    """Returns what each server would save with a compact tool listing, the most first.

    Args:
        shown_tokens: what each costs in clients' context.
    """
    own = [server for server in servers if not server.is_builtin and not server.is_lazy and server.origin != "proposal"]
    saved = [(server.name, shown_tokens.get(server.name, 0) - COST_OF_ACTIVATING) for server in own]
    return sorted((each for each in saved if each[1] > 0), key=lambda each: -each[1])


class TokenAdvice(Button):
    """A button that says what a compact tool listing would save, and applies it to the servers that the user chooses."""

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__(theme, "", "link", small=True)
        self._wishes = wishes
        self._saved: list[tuple[str, int]] = []
        self.clicked.connect(self._on_clicked)
        self.hide()

    @property
    def is_worth_it(self) -> bool:
        return self._total >= LEAST_SAVED

    @property
    def _total(self) -> int:
        return sum(tokens for _, tokens in self._saved)

    def set_savings(self, saved: list[tuple[str, int]]) -> None:
        self._saved = saved
        self.setText(tr("Save {tokens}…", tokens=f"{self._total:,}"))
        self.setToolTip(tr("Clients see one small tool per server; using it loads the rest."))

    def _on_clicked(self) -> None:
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.setAccessibleName(self.text())
        menu.aboutToHide.connect(menu.deleteLater)
        menu.addAction(tr("Compact tool listing: one small tool per server loads the rest")).setEnabled(False)
        if len(self._saved) > 1:
            everything = [name for name, _ in self._saved]
            text = tr("All {count} servers: saves {tokens} tokens", count=len(everything), tokens=f"{self._total:,}")
            self._add(menu, text).triggered.connect(partial(self._wishes.lazy_many_requested.emit, everything))
            menu.addSeparator()
        for name, tokens in self._saved[:MOST_ADVISED]:
            text = tr("{name}: saves {tokens} tokens", name=_short(name), tokens=f"{tokens:,}")
            self._add(menu, text).triggered.connect(partial(self._wishes.lazy_many_requested.emit, [name]))
        popup_below(menu, self)

    def _add(self, menu: QMenu, text: str) -> QAction:
        return menu.addAction(icons.icon("state-lazy", self._theme.color("text.secondary"), 14), text.replace("&", "&&"))


LONGEST_NAME = 40  # characters; a menu has no tooltip


def _short(name: str) -> str:
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"
