"""AI clients with rules of their own: for each, what runs without asking instead of the servers' rules, and its flow guard. Draws frozen
snapshots."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

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
from tooltray.ui.approval.permissions_part import PermissionsPart
from tooltray.ui.approval.rule_sentences import covered
from tooltray.ui.i18n import tr
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import clear, column

if TYPE_CHECKING:
    from tooltray.ui.approval.permissions_page import PermissionsPage

CHOICE_WIDTH, GUARD_WIDTH, GAP = 220, 188, 10
_GUARDS: Mapping[str, bool | None] = {"": None, "on": True, "off": False}


class ClientsTab(ReadingScroll, PermissionsPart):
    """A tab with the AI clients and their rules.

    Attributes:
        asking: the section with the defaults for all clients.
        total: the number of AI clients with rules of their own.
    """

    def __init__(self, page: "PermissionsPage") -> None:
        super().__init__(tr("AI clients"))
        self.page, self.context = page, page.context
        theme, body = page.context.theme, self.body
        self._theme, self.total = theme, 0
        self._shown: Sequence[ClientModeSnapshot] | None = None
        self.asking = AskingSection(page)
        body.addWidget(self.asking)
        body.addSpacing(GAP)
        text = tr("Replaces the servers' rules. A tool set to ask first still asks every client.")
        body.addLayout(heading(theme, tr("For one AI client"), ElidedLabel(theme, text, "caption", "muted")))
        self._box = column()
        body.addLayout(self._box)
        body.addStretch(1)

    async def read(self) -> None:
        """Reads the rules of all AI clients and of each, and shows them."""
        await self._read_clients()
        await self.asking.read()

    async def _read_clients(self) -> None:
        self.show_clients(await self.hub.views.get_client_modes())

    def show_clients(self, modes: Sequence[ClientModeSnapshot]) -> None:
        self.total = sum(map(has_own_rules, modes))
        self.page.draw()
        shown = [mode for mode in modes if mode.client and (mode.is_seen or has_own_rules(mode))]
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._box)
        self._box.addWidget(group(self._theme, *([self._client(mode) for mode in shown] or [self._nothing()])))

    def _nothing(self) -> QWidget:
        label = Label(self._theme, tr("No AI client has connected yet."), "body", "muted", wrap=True)
        label.setContentsMargins(0, 14, 0, 14)
        return label

    def _client(self, mode: ClientModeSnapshot) -> QWidget:
        widget = QWidget()
        lines = column(widget)
        lines.addWidget(setting_row(self._theme, _title(mode), _rules(mode), self._guard(mode), self._choice(mode)))
        if mode.call_rules is not None:
            words = "\n".join(map(covered, mode.call_rules)) or tr("No rule on arguments counts for it.")
            label = Label(self._theme, words, "caption", "secondary", wrap=True)
            label.setContentsMargins(0, 0, 0, 12)
            lines.addWidget(label)
        return widget

    def _guard(self, mode: ClientModeSnapshot) -> Choice:
        choice = Choice(self._theme, guard_choices(), name=tr("Flow guard for {client}", client=_title(mode)))
        before = next(word for word, each in _GUARDS.items() if each is mode.flow_guard)
        choice.choose(before)
        choice.setFixedWidth(GUARD_WIDTH)
        choice.chosen_changed.connect(partial(self._on_guard, mode, choice, before))
        return choice

    def _on_guard(self, mode: ClientModeSnapshot, choice: Choice, before: str, chosen: str) -> None:
        choice.choose(before)  # until it is so
        change, toast = self.hub.settings.change_settings, tr("The flow guard for {client} is changed", client=_title(mode))

        def changed(is_on: bool | None) -> Mapping[str, object]:
            return {"publish": {"clients": {mode.client: {"flowGuard": is_on}}}}

        undo = partial(change, changed(mode.flow_guard))
        self.run(change(changed(_GUARDS[chosen])), then=self._read_clients, toast=toast, undo=undo)

    def _choice(self, mode: ClientModeSnapshot) -> Choice:
        current = client_mode(mode.auto_approve)
        options = [*client_choices(), *([(OWN, mode_name(OWN))] if current == OWN else [])]
        choice = Choice(self._theme, options, name=tr("What runs without asking for {client}", client=_title(mode)))
        choice.choose(current)
        choice.setFixedWidth(CHOICE_WIDTH)
        choice.chosen_changed.connect(partial(self._on_chosen, mode, choice))
        return choice

    def _on_chosen(self, mode: ClientModeSnapshot, choice: Choice, chosen: str) -> None:
        before = client_mode(mode.auto_approve)
        choice.choose(before)  # until it is so
        if chosen != OWN:
            rules = list(BASES[chosen]) if chosen else None
            back = None if mode.auto_approve is None else list(mode.auto_approve)
            change = partial(self.hub.views.set_client_auto_approve, mode.client)
            toast = tr("What runs without asking for {client} is changed", client=_title(mode))
            self.run(change(rules), then=self._read_clients, toast=toast, undo=partial(change, back))


def _title(mode: ClientModeSnapshot) -> str:
    return mode.title or mode.client


def _rules(mode: ClientModeSnapshot) -> str:
    """Returns rules without words of their own in the form in which they are written."""
    return ", ".join(mode.auto_approve) if mode.auto_approve and client_mode(mode.auto_approve) == OWN else ""
