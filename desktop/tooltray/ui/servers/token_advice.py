"""What a compact tool listing would save, and the button that chooses it."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QMenu

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ToolCosts
from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, popup_below

MOST_ADVISED = 8  # servers in the menu, those that save most; a menu of all would hang out of the window
LEAST_SAVED = 500  # tokens by all servers together; less is not worth a word


def savings(servers: Sequence[ServerSnapshot], costs: ToolCosts) -> list[tuple[str, int]]:
    """Returns what each server would save if its tool listing alone became compact, the most first."""
    own = {server.name for server in servers if not server.is_builtin and not server.is_lazy and server.origin != "proposal"}
    known = [(cost.server, cost.shown_tokens - cost.compact_tokens) for cost in costs.servers if cost.compact_tokens is not None]
    saved = [(name, tokens - costs.search_tokens) for name, tokens in known if name in own and tokens > costs.search_tokens]
    return sorted(saved, key=lambda each: -each[1])


class TokenAdvice(Button):
    """A button that says what a compact tool listing would save, and applies it to the servers that the user chooses."""

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__(theme, "", "link", small=True)
        self._wishes = wishes
        self._saved: list[tuple[str, int]] = []
        self._total = 0
        self.clicked.connect(self._on_clicked)
        self.hide()

    @property
    def is_worth_it(self) -> bool:
        return self._total >= LEAST_SAVED

    def set_savings(self, saved: list[tuple[str, int]], search_tokens: int) -> None:
        """Offers savings; together they cost the tools that search once, which each of them counts."""
        self._saved = saved
        self._total = sum(tokens for _, tokens in saved) + search_tokens * max(0, len(saved) - 1)
        self.setText(tr("Save {tokens} tokens…", tokens=f"{self._total:,}"))
        self.setToolTip(tr("Clients see one small tool per server; using it loads the rest."))

    def _on_clicked(self) -> None:
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.setAccessibleName(self.text())
        menu.aboutToHide.connect(menu.deleteLater)
        menu.addAction(tr("Compact tool listing: one small tool per server loads the rest")).setEnabled(False)
        if len(self._saved) > 1:
            everything = [name for name, _ in self._saved]
            text = tr("Compact listing for all {count} servers: saves {tokens} tokens", count=len(everything), tokens=f"{self._total:,}")
            menu.addAction(text).triggered.connect(partial(self._wishes.lazy_many_requested.emit, everything))
            menu.addSeparator()
        for name, tokens in self._saved[:MOST_ADVISED]:
            text = tr("Compact listing for {name}: saves {tokens} tokens", name=_short(name), tokens=f"{tokens:,}")
            menu.addAction(text.replace("&", "&&")).triggered.connect(partial(self._wishes.lazy_many_requested.emit, [name]))
        popup_below(menu, self)


LONGEST_NAME = 40  # characters; a menu has no tooltip


def _short(name: str) -> str:
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"
