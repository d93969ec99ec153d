"""The filter of the Servers page: the tabs by state, the words of the search, and beside them what all tools cost. Knows no card and no
table."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ToolCosts, ToolSnapshot
from tooltray.ui.figures import default_tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_actions import is_own
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.problem_words import whole
from tooltray.ui.server_text import plain_tip
from tooltray.ui.state_language import needs_person
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, new_menu, popup_below
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import fill, row
from tooltray.ui.zoom import px

MOST_ADVISED = 8  # servers in the menu, those that save most; a menu of all would hang out of the window
LEAST_SAVED = 500  # tokens by all servers together; less is not worth a word


def savings(servers: Sequence[ServerSnapshot], costs: ToolCosts) -> list[tuple[str, int]]:
    """Returns what each server would save if its tool listing alone became compact, the most first."""
    own = {server.name for server in servers if is_own(server) and not server.is_lazy}
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
        self.setToolTip(tr("Clients see one small tool per server; using it loads the rest."))
        self.clicked.connect(self._on_clicked)
        self.hide()

    def set_savings(self, saved: list[tuple[str, int]], search_tokens: int) -> None:
        """Offers savings that are worth a word; together they cost the tools that search once, which each of them counts."""
        self._saved = saved
        self._total = sum(tokens for _, tokens in saved) + search_tokens * max(0, len(saved) - 1)
        self.setText(tr("Save {tokens} tokens…", tokens=f"{self._total:,}"))
        self.setVisible(self._total >= LEAST_SAVED)

    def _on_clicked(self) -> None:
        menu = new_menu(self, self._theme, self.text())
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


class TokenSummary(QWidget):
    """The cost of all tools, and how to lower it. Empty until the cost is known."""

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__()
        self._costs: ToolCosts | None = None
        self._servers: Sequence[ServerSnapshot] = ()
        self._listing: ClientModeSnapshot | None = None
        self._in_full: Sequence[str] = ()
        self._words = Label(theme, "", "caption", "secondary", tabular=True)
        self._advice = TokenAdvice(theme, wishes)
        fill(row(self, spacing=10), self._words, self._advice)

    def set_listings(self, listings: Sequence[ClientModeSnapshot]) -> None:
        """Sets how tools are listed to clients, by default and to those that were connected."""
        self._listing = next((each for each in listings if not each.client), None)
        known = [each for each in listings if each.client and each.is_seen and not each.profile]  # a profile leaves tools out
        self._in_full = sorted({each.title for each in known if each.shown_mode == "everything"})
        self._draw()

    def show_costs(self, costs: ToolCosts, servers: Sequence[ServerSnapshot]) -> None:
        """Shows what the tools of servers cost, and what a compact tool listing would save."""
        self._costs, self._servers = costs, servers
        self._advice.set_savings(savings(servers, costs), costs.search_tokens)
        self._draw()

    def show_problem(self, problem: Problem) -> None:
        """Shows that the tokens could not be counted."""
        self._costs = None
        self._advice.hide()
        self._words.setText(tr("Tokens could not be counted"))
        self.setToolTip(plain_tip(whole(problem)))

    def _draw(self) -> None:
        if (costs := self._costs) is None:
            return
        self._words.setText(_head(self._listing, costs, self._servers, self._in_full) if costs.tokens else "")
        counted = tr("Tokens of tool definitions in a client's context, counted with {tokenizer}", tokenizer=costs.tokenizer)
        if costs.is_estimated:
            counted = tr("Tokens of tool definitions in a client's context, estimated by size: they could not be counted")
        lines = [tr("A client with a profile or its own tool listing gets others: see Clients."), counted]
        if self._in_full:
            lines.insert(0, tr("Listed in full for {clients}.", clients=", ".join(self._in_full)))
        if (listing := self._listing) is not None and listing.summary:
            lines.insert(0, tr("{summary} Change it in Clients > Defaults….", summary=listing.summary))
        self.setToolTip(plain_tip("\n".join(lines)))


def _head(listing: ClientModeSnapshot | None, costs: ToolCosts, servers: Sequence[ServerSnapshot], in_full: Sequence[str]) -> str:
    """Returns the default listing and its cost, and which clients get all tools although it is another one."""
    mode, cost = listing.shown_mode if listing is not None else "everything", default_tokens(costs.shown_tokens, costs.tokens)
    cost = tr("about {tokens}", tokens=cost) if costs.is_estimated else cost
    own = [server for server in servers if is_own(server)]
    compact = sum(server.is_lazy for server in own)
    if mode == "search":
        text = tr("Default listing: search · {tokens}", tokens=default_tokens(0, costs.tokens))
    elif mode == "lazy" and compact < len(own):
        text = tr("Default listing: compact for {count} of {all} servers · {tokens}", count=compact, all=len(own), tokens=cost)
    elif mode == "lazy":
        text = tr("Default listing: compact · {tokens}", tokens=cost)
    else:
        return tr("{tokens} for a client with all tools", tokens=cost)
    if not in_full:
        return text
    if len(in_full) == 1:
        return tr("{listing}, as for {client}", listing=text, client=in_full[0])
    return tr("{listing}, as for {client} and {count} more", listing=text, client=in_full[0], count=len(in_full) - 1)


ROOM_FOR_TOKENS = 900  # px; below that, what tools cost stands on the cards only
ALL, NEEDS_YOU, READY, STARTING, WAITING, STOPPED = range(6)
"""The tabs. Each server is on the first and on one of the others; servers that would take calls are paused with all others."""


def needs_action(server: ServerSnapshot) -> bool:
    """Returns whether the user has to do or to look at something; such servers are first in every list."""
    return needs_person(server) or server.waiting


def tab_of(server: ServerSnapshot) -> int:
    """Returns the tab for the state of a server."""
    if needs_action(server):
        return NEEDS_YOU
    match server.state:
        case ServerState.RUNNING | ServerState.ON_DEMAND:
            return READY
        case ServerState.WAITING:
            return WAITING
        case ServerState.STOPPED | ServerState.STOPPING:
            return STOPPED
        case _:
            return STARTING


class ServerFilter(QWidget):
    """The filter of servers. `changed`: the user has chosen another tab, so that other servers pass."""

    changed = Signal()

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__()
        self._servers: Sequence[ServerSnapshot] = ()
        self._words: list[str] = []
        self.found: dict[str, list[str]] = {}
        line = row(self, margins=(24, 14, 24, 12), spacing=10)
        names = [tr("All"), tr("Needs you"), tr("Ready"), tr("Starting"), tr("Waiting"), tr("Stopped")]
        self._tabs = FilterTabs(theme, names, name=tr("State"), hides_empty=True)
        self._tabs.chosen.connect(self.changed)
        self._keys = ElidedLabel(theme, "", "caption", "muted")
        self.tokens = TokenSummary(theme, wishes)
        fill(line, self._tabs, (self._keys, 1), self.tokens)
        self._line = line

    def add_control(self, control: QWidget) -> None:
        """Adds a control at the right end."""
        self._line.addWidget(control)

    def set_servers(self, servers: Sequence[ServerSnapshot]) -> None:
        """Counts the servers of each tab that fit the search."""
        self._servers = servers
        self._count()

    def _count(self) -> None:
        found = [server for server in self._servers if self._is_found(server)]
        tabs = Counter(tab_of(server) for server in found)
        self._tabs.set_counts([len(found), *(tabs[tab] for tab in range(NEEDS_YOU, STOPPED + 1))])

    def set_paused(self, is_paused: bool) -> None:
        """Changes the tab of ready servers to "Paused" while everything is paused."""
        self._tabs.set_text(READY, tr("Paused") if is_paused else tr("Ready"))

    def show_keys(self, *, is_shown: bool) -> None:
        """Shows how the keyboard goes from card to card."""
        self._keys.set_text(tr("Arrow keys: other servers") if is_shown else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hides the tokens in a narrow page."""
        super().resizeEvent(event)
        self.tokens.setVisible(self.width() >= px(ROOM_FOR_TOKENS))

    def set_words(self, text: str) -> None:
        """Searches servers for other words; the caller searches their tools."""
        self._words = text.casefold().split()
        self._count()

    def search(self, text: str, tools: Sequence[ToolSnapshot]) -> None:
        """Searches servers and these tools for words."""
        self.set_words(text)
        self.found = {}
        for tool in tools:
            if self._words and self._has(tool.name, tool.original_name, tool.description):
                self.found.setdefault(tool.server, []).append(tool.original_name)
        self._count()

    def passes(self, server: ServerSnapshot) -> bool:
        """Returns whether a server fits the chosen state and the search."""
        return self._tabs.current in (ALL, tab_of(server)) and self._is_found(server)

    def _is_found(self, server: ServerSnapshot) -> bool:
        if not self._words:
            return not server.is_builtin or server.problem is not None  # Tooltray's own server is none of the user's; a search finds it
        return server.name in self.found or self._has(server.name, server.target, server.description)

    def show_all(self) -> None:
        """Shows servers of every state."""
        self._tabs.choose(ALL)
        self.changed.emit()

    def _has(self, *texts: str) -> bool:
        text = "\n".join(texts).casefold()
        return all(word in text for word in self._words)
