"""The filter of the Servers page: the tabs by state, the words of the search, and beside them what all tools cost. Knows no card and no
table."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost, ToolCosts, ToolSnapshot
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.problem_words import whole
from tooltray.ui.servers.token_advice import TokenAdvice, savings
from tooltray.ui.state_language import needs_person
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import row

METER = 88
ROOM_FOR_METER = 1080  # px of the page; below that the advice stands in its place


class TokenSummary(QWidget):
    """The cost of all tools, and how to lower it. Empty until the cost is known."""

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__()
        self._has_tokens, self._has_room = False, True
        self._listing: ClientModeSnapshot | None = None
        line = row(self, spacing=10)
        self._meter = Meter(theme, tr("Tokens in the client's context"))
        self._meter.setFixedWidth(METER)
        line.addWidget(self._meter)
        self._words = Label(theme, "", "caption", "secondary", tabular=True)
        line.addWidget(self._words)
        self._advice = TokenAdvice(theme, wishes)
        line.addWidget(self._advice)
        self._meter.hide()

    def set_width(self, width: int) -> None:
        """Sets the width of the page: a narrow one shows the advice in place of the meter."""
        self._has_room = width >= ROOM_FOR_METER
        self._draw()

    def set_servers(self, servers: Sequence[ServerSnapshot], costs: Mapping[str, ServerCost]) -> None:
        """Computes what showing their tools on demand would save."""
        self._advice.set_savings(savings(servers, {name: cost.shown_tokens for name, cost in costs.items()}))
        self._draw()

    def _draw(self) -> None:
        is_advised = self._has_tokens and self._advice.is_worth_it
        self._advice.setVisible(is_advised)
        self._meter.setVisible(self._has_tokens and (self._has_room or not is_advised))

    def set_listing(self, listing: ClientModeSnapshot) -> None:
        """Sets how tools are listed to clients by default; shown with the next costs."""
        self._listing = listing

    def show_costs(self, costs: ToolCosts) -> None:
        shown, all_tokens = costs.shown_tokens, costs.tokens
        self._has_tokens = all_tokens > 0
        self._draw()
        self._meter.set_share(shown / all_tokens if all_tokens else 0.0)
        self._words.setText(_head(self._listing, tokens(shown, all_tokens)) if all_tokens else "")
        counted = tr("Tokens of tool definitions in a client's context, counted with {tokenizer}", tokenizer=costs.tokenizer)
        if (listing := self._listing) is not None and listing.summary:
            counted = tr("{summary} Change it in Clients > Kinds of clients.", summary=listing.summary) + "\n" + counted
        self.setToolTip(counted)

    def show_problem(self, problem: Problem) -> None:
        """Shows that the tokens could not be counted."""
        self._has_tokens = False
        self._draw()
        self._words.setText(tr("Tokens could not be counted"))
        self.setToolTip(whole(problem))


def _head(listing: ClientModeSnapshot | None, cost: str) -> str:
    mode = listing.shown_mode if listing is not None else "everything"
    if mode == "search":
        return tr("Tool listing: search · {tokens}", tokens=cost)
    if mode == "lazy":
        return tr("Tool listing: compact · {tokens}", tokens=cost)
    return tr("{tokens} in every client's context", tokens=cost)


ROOM_FOR_TOKENS = 900  # px; below that, what tools cost stands on the cards only
READY = 1  # the tab; servers that would take calls are paused with all others

STATES: tuple[Callable[[ServerSnapshot], bool], ...] = (
    lambda server: True,
    lambda server: server.state in (ServerState.RUNNING, ServerState.ON_DEMAND),
    lambda server: server.state is ServerState.WAITING,
    needs_person,
    lambda server: server.state in (ServerState.STOPPED, ServerState.STOPPING),
)
"""What each filter lets through, in the order of the tabs."""


class ServerFilter(QWidget):
    """The filter of servers. `changed`: the user has chosen another tab, so that other servers pass."""

    changed = Signal()

    def __init__(self, theme: Theme, wishes: ServerWishes) -> None:
        super().__init__()
        self._state = 0
        self._servers: Sequence[ServerSnapshot] = ()
        self._words: list[str] = []
        self._found: dict[str, list[str]] = {}
        line = row(self, margins=(24, 14, 24, 12), spacing=10)
        self._tabs = FilterTabs(theme, [tr("All"), tr("Ready"), tr("Waiting"), tr("Needs you"), tr("Stopped")], name=tr("State"))
        self._tabs.chosen.connect(self._on_chosen)
        line.addWidget(self._tabs)
        line.addStretch(1)
        self.tokens = TokenSummary(theme, wishes)
        line.addWidget(self.tokens)
        self._line = line

    def add_control(self, control: QWidget) -> None:
        """Adds a control at the right end."""
        self._line.addWidget(control)

    @property
    def has_state(self) -> bool:
        """Whether a tab other than the first is chosen, so that a server's state decides."""
        return self._state > 0

    @property
    def found(self) -> Mapping[str, Sequence[str]]:
        """The tools that the search found, by server."""
        return self._found

    def set_servers(self, servers: Sequence[ServerSnapshot]) -> None:
        """Counts the servers of each tab that fit the search."""
        self._servers = servers
        self._count()

    def _count(self) -> None:
        found = [server for server in self._servers if self._is_found(server)]
        self._tabs.set_counts([sum(passes(server) for server in found) for passes in STATES])

    def set_paused(self, is_paused: bool) -> None:
        """Changes the tab of ready servers to "Paused" while everything is paused."""
        self._tabs.set_text(READY, tr("Paused") if is_paused else tr("Ready"))

    def set_width(self, width: int) -> None:
        """Sets the width of the page: a narrow one hides the tokens."""
        self.tokens.setVisible(width >= ROOM_FOR_TOKENS)
        self.tokens.set_width(width)

    def set_words(self, text: str) -> None:
        """Searches servers for other words; the caller searches their tools."""
        self._words = text.casefold().split()
        self._count()

    def search(self, text: str, tools: Sequence[ToolSnapshot]) -> None:
        """Searches servers and these tools for words."""
        self.set_words(text)
        self._found = {}
        for tool in tools:
            if self._words and self._has(tool.name, tool.original_name, tool.description):
                self._found.setdefault(tool.server, []).append(tool.original_name)
        self._count()

    def passes(self, server: ServerSnapshot) -> bool:
        """Returns whether a server fits the chosen state and the search."""
        return STATES[self._state](server) and self._is_found(server)

    def _is_found(self, server: ServerSnapshot) -> bool:
        return not self._words or server.name in self._found or self._has(server.name, server.target, server.description)

    def show_all(self) -> None:
        """Shows servers of every state."""
        self._tabs.choose(0)
        self._on_chosen(0)

    def _has(self, *texts: str) -> bool:
        text = "\n".join(texts).casefold()
        return all(word in text for word in self._words)

    def _on_chosen(self, index: int) -> None:
        self._state = index
        self.changed.emit()
