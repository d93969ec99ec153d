"""One kind of AI client in full, beside the table: how tools are shown to it and why, its profile, and what that costs."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal

from tooltray.snapshots.clients import ClientModeSnapshot
from tooltray.snapshots.tools import ToolCosts
from tooltray.ui.clients.client_words import MODES, client_title, mode_name, mode_text, reason
from tooltray.ui.clients.unasked_calls import UnaskedCalls
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.token_count import tokens
from tooltray.ui.widgets.details_pane import DetailsPane
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.meter import Meter
from tooltray.ui.widgets.option_list import OptionList


class ClientDetails(DetailsPane):
    """`mode_requested`, `profile_requested` and `auto_approve_requested` carry the client's name and what was chosen for it; choices apply
    at once, rules that are written by hand when a person saves them."""

    mode_requested = Signal(str, str)
    profile_requested = Signal(str, str)
    auto_approve_requested = Signal(str, object)

    def __init__(self, theme: Theme, client: ClientModeSnapshot, profiles: Sequence[str]) -> None:
        super().__init__(theme, client_title(client))
        self._client, self._profiles = client, tuple(profiles)
        if client.client and client.client != client_title(client):
            self.body.addWidget(CodeLabel(theme, client.client, "secondary"))
        self._shown = Label(theme, "", "strong", wrap=True)
        self._reason = Label(theme, "", "body", "secondary", wrap=True)
        self._cost = Label(theme, "", "caption", "muted", wrap=True, tabular=True)
        self._meter = Meter(theme, tr("Tokens that clients read before the first word"), height=4)
        self._meter.hide()
        self.add_section(tr("What it sees"), self._shown, self._reason, self._cost, self._meter)
        self._modes = OptionList(
            theme, [(mode, mode_name(mode)) for mode in MODES], name=tr("How tools are shown"), chosen=[client.mode], may_be_empty=False
        )
        self._modes.changed.connect(self._on_mode)
        self._mode_text = Label(theme, "", "caption", "muted", wrap=True)
        self.add_section(tr("How tools are shown"), self._modes, self._mode_text)
        self._profile: OptionList | None = None
        self._rules: UnaskedCalls | None = None
        if client.client:  # every other client can only be shown tools in another way
            self._profile = self._add_profiles(theme)
            self._rules = UnaskedCalls(theme, client.auto_approve)
            self._rules.chosen.connect(self._on_rules)
            self.add_section(tr("Calls that run without asking"), self._rules)
        self.body.addStretch(1)
        self._draw()

    @property
    def client(self) -> ClientModeSnapshot:
        return self._client

    @property
    def profiles(self) -> tuple[str, ...]:
        """The names that can be chosen."""
        return self._profiles

    def set_client(self, client: ClientModeSnapshot) -> None:
        """Shows a newer snapshot; the options stand where they truly are."""
        self._client = client
        self._draw()

    def show_costs(self, costs: ToolCosts) -> None:
        """Says what definitions cost in this client's context."""
        self._cost.setText(tr("It reads {tokens} before the first word", tokens=tokens(costs.shown_tokens, costs.tokens)))
        self._meter.setVisible(costs.tokens > 0)
        self._meter.set_share(costs.shown_tokens / costs.tokens if costs.tokens else 0.0)

    def _add_profiles(self, theme: Theme) -> OptionList:
        options = [("", tr("None: it gets everything")), *((name, name) for name in self._profiles)]
        profile = OptionList(theme, options, name=tr("Profile"), chosen=[self._client.profile], may_be_empty=False)
        profile.changed.connect(partial(self._on_profile, profile))
        note = Label(theme, tr("A client that asks for another profile gets that one."), "caption", "muted", wrap=True)
        self.add_section(tr("Profile"), profile, note)
        return profile

    def _draw(self) -> None:
        client = self._client
        self._shown.setText(mode_name(client.shown_mode))
        self._reason.setText(reason(client))
        self._reason.setVisible(bool(client.reason))
        self._modes.set_chosen([client.mode])
        self._mode_text.setText(mode_text(client.mode))
        if self._profile is not None:
            self._profile.set_chosen([client.profile])
        if self._rules is not None:
            self._rules.set_rules(client.auto_approve)

    def _on_mode(self) -> None:
        self.mode_requested.emit(self._client.client, self._modes.chosen[0])

    def _on_profile(self, profile: OptionList) -> None:
        self.profile_requested.emit(self._client.client, profile.chosen[0])

    def _on_rules(self, rules: list[str] | None) -> None:
        self.auto_approve_requested.emit(self._client.client, rules)
