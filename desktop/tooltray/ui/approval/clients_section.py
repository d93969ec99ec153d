"""AI clients with rules of their own: for each, what runs without asking instead of the servers' rules, and its flow guard. Draws frozen
snapshots."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.asking_section import AskingSection
from tooltray.ui.approval.permission_words import (
    BASES,
    OWN,
    client_choices,
    client_mode,
    guard_choices,
    has_own_rules,
    mode_name,
)
from tooltray.ui.approval.rule_sentences import covered
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.setting_rows import heading, setting_row
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row

CONTENT_WIDTH, CHOICE_WIDTH, GUARD_WIDTH, GAP = 920, 220, 188, 10
_GUARDS: Mapping[str, bool | None] = {"": None, "on": True, "off": False}


class ClientsSection(PageScroll):
    """A list of AI clients with their rules. `rules_requested` carries a client, its title, the new rules (None: the servers' rules) and
    the current ones; `guard_requested` the first two, whether the flow guard is on for it (None: the default), and the current value.

    Attributes:
        asking: the section with the defaults for all clients.
    """

    rules_requested = Signal(str, str, object, object)
    guard_requested = Signal(str, str, object, object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(tr("AI clients"))
        self._theme = theme
        self._shown: Sequence[ClientModeSnapshot] | None = None
        content = QWidget()
        line = row(content, margins=(24, 20, 24, 32), spacing=0)
        inner = QWidget()
        inner.setMaximumWidth(CONTENT_WIDTH)
        body = column(inner, spacing=10)
        line.addWidget(inner, 1)
        line.addStretch(0)
        self.asking = AskingSection(theme)
        body.addWidget(self.asking)
        body.addSpacing(GAP)
        text = tr("Replaces the servers' rules. A tool set to ask first still asks every client.")
        body.addLayout(heading(theme, tr("For one AI client"), ElidedLabel(theme, text, "caption", "muted")))
        box = Surface(theme)
        self._lines = column(box, margins=(16, 0, 16, 0))
        body.addWidget(box)
        body.addStretch(1)
        self.setWidget(content)

    def show_clients(self, modes: Sequence[ClientModeSnapshot]) -> None:
        shown = [mode for mode in modes if mode.client and (mode.is_seen or has_own_rules(mode))]
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._lines)
        for index, mode in enumerate(shown):
            if index:
                self._lines.addWidget(divider())
            self._add_client(mode)
        if not shown:
            label = Label(self._theme, tr("No AI client has connected yet."), "body", "muted", wrap=True)
            label.setContentsMargins(0, 14, 0, 14)
            self._lines.addWidget(label)

    def _add_client(self, mode: ClientModeSnapshot) -> None:
        title = mode.title or mode.client
        self._lines.addWidget(setting_row(self._theme, title, _rules(mode), self._guard(mode), self._choice(mode)))
        if mode.call_rules is not None:
            words = "\n".join(map(covered, mode.call_rules)) or tr("No rule on arguments counts for it.")
            label = Label(self._theme, words, "caption", "secondary", wrap=True)
            label.setContentsMargins(0, 0, 0, 12)
            self._lines.addWidget(label)

    def _guard(self, mode: ClientModeSnapshot) -> Choice:
        title = mode.title or mode.client
        choice = Choice(self._theme, guard_choices(), name=tr("Flow guard for {client}", client=title))
        before = next(word for word, each in _GUARDS.items() if each is mode.flow_guard)
        choice.choose(before)
        choice.setFixedWidth(GUARD_WIDTH)
        choice.chosen_changed.connect(partial(self._on_guard, mode, choice, before))
        return choice

    def _on_guard(self, mode: ClientModeSnapshot, choice: Choice, before: str, chosen: str) -> None:
        choice.choose(before)  # until it is so
        self.guard_requested.emit(mode.client, mode.title or mode.client, _GUARDS[chosen], mode.flow_guard)

    def _choice(self, mode: ClientModeSnapshot) -> Choice:
        current = client_mode(mode.auto_approve)
        options = [*client_choices(), *([(OWN, mode_name(OWN))] if current == OWN else [])]
        title = mode.title or mode.client
        choice = Choice(self._theme, options, name=tr("What runs without asking for {client}", client=title))
        choice.choose(current)
        choice.setFixedWidth(CHOICE_WIDTH)
        choice.chosen_changed.connect(partial(self._on_chosen, mode, choice))
        return choice

    def _on_chosen(self, mode: ClientModeSnapshot, choice: Choice, chosen: str) -> None:
        before = client_mode(mode.auto_approve)
        choice.choose(before)  # until it is so
        if chosen != OWN:
            rules = list(BASES[chosen]) if chosen else None
            self.rules_requested.emit(mode.client, mode.title or mode.client, rules, mode.auto_approve)


def _rules(mode: ClientModeSnapshot) -> str:
    """Returns rules without words of their own in the form in which they are written."""
    return ", ".join(mode.auto_approve) if mode.auto_approve and client_mode(mode.auto_approve) == OWN else ""
