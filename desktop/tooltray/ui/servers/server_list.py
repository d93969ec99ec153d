"""The list of servers that fit filter and search: a card for each, or a line of a table where there are many.

A changed snapshot changes only its own card; cards are added and removed only when neither the pointer nor the keyboard is among them,
or when the user has requested it. What needs the user is first when the list is shown; nothing is sorted again during that visit."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_words import found_words
from tooltray.ui.servers.server_card import ServerCard
from tooltray.ui.servers.server_filter import ServerFilter, needs_action
from tooltray.ui.servers.server_table import ServerTable, ServerViews
from tooltray.ui.widgets.card_grid import CardGrid
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.surface import tint


class ServerList(QStackedWidget):
    """The list of servers.

    Attributes:
        grid: the cards.
        table: the lines, where there are many servers.
        views: whether cards or lines are shown, and how these are sorted and grouped.
    """

    def __init__(self, context: PageContext, shown: ServerFilter) -> None:
        """Args:
        shown: the filter and search, which decide which servers pass.
        """
        super().__init__()
        self._theme, self._servers, self._wishes, self._filter = context.theme, context.servers, context.wishes, shown
        self._cards: dict[str, ServerCard] = {}
        self._urgent = frozenset[str]()  # the servers that needed the user when the list was shown, and are first
        self._ranks: dict[str, int] = {}  # where each stands; one that is removed and brought back is where it was
        self._opened = ""  # the server whose details are open
        self._returning = ""  # the server whose card takes the keyboard when it is there again
        self._has_to_move = self._is_paused = False
        self.grid = CardGrid(tr("Servers"))
        self.grid.calmed.connect(self._on_calmed)
        self.grid.keyboard_changed.connect(lambda is_there: shown.show_keys(is_shown=is_there and len(self._matching()) > 1))
        self._nothing_found = EmptyState(self._theme, tr("No server matches"), tr("Search for another word, or choose another filter."), [])
        self.table = ServerTable(self._theme, self._wishes)
        for content in (self.grid, self._nothing_found, self.table):
            self.addWidget(content)
        self.views = ServerViews(self._theme, context.local.memory, self.table)

    @property
    def cards(self) -> dict[str, ServerCard]:
        return dict(self._cards)

    @property
    def _is_table(self) -> bool:
        return self.views.is_table(sum(not server.is_builtin for server in self._servers.servers))

    # what servers are shown

    def set_servers(self, servers: Sequence[ServerSnapshot], *, is_new: bool) -> None:
        """Args:
        is_new: something else was shown in place of the list before.
        """
        added = [] if is_new else [server.name for server in servers if server.name not in self._ranks]
        for server in servers:
            self._ranks.setdefault(server.name, len(self._ranks))
        if is_new:
            self._urgent = self._needing()
        if self._is_table:
            self._show_table()
        else:
            self._show_cards(is_new or self.currentWidget() is self.table)
        if added:
            QTimer.singleShot(0, self, partial(self._point_out, added))  # when they have their places

    def _point_out(self, added: Sequence[str]) -> None:
        if self.currentWidget() is self.table:
            self.table.point_out(added)
        for card in (self._cards[name] for name in added if name in self._cards):
            if self.grid.is_calm:
                self.grid.ensureWidgetVisible(card)
            tint(self._theme, card, radius=self._theme.radius("l"))

    def show_matching(self) -> None:
        """Shows the servers that fit after filter, search or view have changed."""
        if self._is_table:
            self._show_table()
            return
        self.table.clearSelection()
        if self._cards.keys() == {server.name for server in self._servers.servers}:
            self._place_cards()
        else:
            self._show_cards(self.currentWidget() is self.table)

    def showEvent(self, event: QShowEvent) -> None:
        """Puts what needs the user first: nothing moves there while the user looks on."""
        super().showEvent(event)
        if self._urgent != self._needing():
            self._urgent = self._needing()
            self.show_matching()

    def set_opened(self, name: str) -> None:
        """Marks the card of the server whose details are open, and brings it into sight; "": none is open."""
        self._opened = name
        for each, card in self._cards.items():
            card.set_opened(each == name)
        if name:
            QTimer.singleShot(0, self, self._show_opened)  # when the list has got its new width

    def _show_opened(self) -> None:
        if (card := self._cards.get(self._opened)) is not None and card.isVisible():
            self.grid.ensureWidgetVisible(card)

    def update_server(self, server: ServerSnapshot) -> None:
        if (card := self._cards.get(server.name)) is not None:
            was_urgent = card.is_urgent
            card.set_server(server)
            if card.is_urgent and not was_urgent:
                self.grid.start_over()
        self.table.update_row(server)

    def set_paused(self, is_paused: bool) -> None:
        """Shows at every server that calls are refused."""
        self._is_paused = is_paused
        self.table.set_paused(is_paused)
        for card in self._cards.values():
            card.set_paused(is_paused)

    def show_problem(self, name: str, problem: Problem | None) -> None:
        """Shows at a server why an action failed; None hides it."""
        if (card := self._cards.get(name)) is not None:
            card.show_problem(problem)
        if (server := self._servers.find(name)) is not None:
            self.table.update_row(server)  # puts its switch back

    def set_found(self, found: Mapping[str, Sequence[str]]) -> None:
        """Shows at each server how many of its tools a search has found, and which."""
        for name, card in self._cards.items():
            card.set_matches(len(found[name]) if name in found else -1)
        self.table.set_found({name: found_words(names) for name, names in found.items()})

    def await_card(self, name: str) -> None:
        """Moves the focus to the card of a server that is being restored, as soon as it exists."""
        self._returning = name

    def take_keyboard(self, name: str) -> None:
        """Moves the focus to a server, or to the table."""
        if self.currentWidget() is self.table:
            self.table.setFocus()
        else:
            self._focus_card(name)

    def _show_table(self) -> None:
        self.table.set_rows(self._matching())
        self.setCurrentWidget(self.table if self.table.rows else self._nothing_found)

    def _show_cards(self, is_new: bool) -> None:
        servers = self._servers.servers
        names = {server.name for server in servers}
        is_changed = self._cards.keys() != names
        had_focus = [name for name, card in self._cards.items() if name not in names and self._holds_focus(card)]
        for name in self._cards.keys() - names:
            self._cards.pop(name).deleteLater()
        for server in servers:
            if server.name not in self._cards:
                card = self._cards[server.name] = ServerCard(self._theme, server, self._wishes)
                card.set_paused(self._is_paused)
                card.set_opened(server.name == self._opened)
                self.grid.watch(card)
        if is_changed or is_new:
            self._place_cards()
        else:
            self._has_to_move = True  # a state may have changed sides
            self._on_calmed()
        if self._returning in self._cards:
            self._focus_card(self._returning)
            self._returning = ""
        elif had_focus:
            self._focus_card(self._nearest(had_focus[0]))

    def _holds_focus(self, card: ServerCard) -> bool:
        focused = self.window().focusWidget()
        return focused is not None and card.isAncestorOf(focused)

    def _nearest(self, name: str) -> str:
        """Returns the card that takes the place of a removed one."""
        ranks, place, cards = self._ranks, self._ranks[name], self._cards
        return min(cards, key=lambda each: (cards[each].server.is_builtin, ranks[each] < place, abs(ranks[each] - place)), default="")

    def _focus_card(self, name: str) -> None:
        if (card := self._cards.get(name)) is not None and card.isVisible():
            card.controls()[0].setFocus(Qt.FocusReason.OtherFocusReason)
            self.grid.ensureWidgetVisible(card)

    def _place_cards(self) -> None:
        self._has_to_move = False
        shown = [self._cards[server.name] for server in self._matching()]
        self.grid.set_cards(shown)
        self.setCurrentWidget(self.grid if shown else self._nothing_found)

    def _on_calmed(self) -> None:
        if self._has_to_move and self.grid.is_calm:
            self._place_cards()

    def _needing(self) -> frozenset[str]:
        return frozenset(server.name for server in self._servers.servers if needs_action(server))

    def _matching(self) -> list[ServerSnapshot]:
        """Returns the servers that fit filter and search: first what needs the user, and last what comes with Tooltray."""
        shown = [server for server in self._servers.servers if self._filter.passes(server)]
        return sorted(shown, key=lambda server: (server.is_builtin, server.name not in self._urgent, self._ranks[server.name]))
