"""What of an AI client's calls runs without asking, and how much of a result it gets at once; and what counts for every client without
choices of its own."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.snapshots.clients import ClientModeSnapshot
from tooltray.ui.approval.asking_section import AskingSection, what_the_flow_guard_does
from tooltray.ui.approval.permission_words import covered
from tooltray.ui.clients.client_words import (
    GUARDS,
    OWN,
    RULES,
    client_title,
    default_mode_options,
    guard_choices,
    mode_text,
    reason,
    rule_choices,
    rules_choice,
)
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.kit.view import View
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.choice import Choice, OptionList
from tooltray.ui.widgets.keyboard import take_digits
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row

WIDTH = 760
LEAST, MOST = 500, 10_000_000  # tokens of a result, as the settings take them


class SavedField(QWidget):
    """A line to type into, with a button that saves it.

    Attributes:
        line, save: its parts.
    """

    def __init__(self, theme: Theme, name: str, text: str) -> None:
        super().__init__()
        layout, line = column(self, spacing=8), row(spacing=8)
        self.line = QLineEdit()
        self.line.setFixedHeight(theme.size("control"))
        self.line.setAccessibleName(name)
        self.save = Button(theme, tr("Save"))
        self.line.returnPressed.connect(self.save.click)
        line.addWidget(self.line, 1)
        line.addWidget(self.save)
        layout.addLayout(line)
        layout.addWidget(Label(theme, text, "caption", "muted", wrap=True))


class ClientApproval(QWidget):
    """A client's own rules and flow guard. Choices apply at once, typed rules when the user saves them.

    Args:
        view: carries them out, and shows why one failed.
        read: reads what the view shows, so that choices show what is true.
    """

    def __init__(self, view: View, read: Work, kind: ClientModeSnapshot) -> None:
        super().__init__()
        theme, self._view, self._read, self._kind = view.context.theme, view, read, kind
        title, lines = client_title(kind), column(self, spacing=8)
        lines.addWidget(Label(theme, tr("Runs without asking:"), "caption", "secondary"))
        self._choice = Choice(theme, rule_choices(), name=tr("What runs without asking for {client}", client=title))
        self._choice.chosen_changed.connect(self._on_chosen)
        lines.addWidget(self._choice)
        text = tr("read, write, all, names:get_* or a tool's name, with commas between. Empty: every call asks.")
        self._own = SavedField(theme, tr("Rules, with commas between"), text)
        self._own.line.setFont(theme.font("mono"))
        self._own.line.textChanged.connect(self._draw)
        self._own.save.clicked.connect(lambda: self._change(self._written))
        lines.addWidget(self._own)
        self._words = Label(theme, "", "caption", "secondary", wrap=True)
        lines.addWidget(self._words)
        text = tr("Replaces the servers' rules. A tool set to ask first still asks every client.")
        lines.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self._guard = Choice(theme, guard_choices(), name=tr("Flow guard for {client}", client=title))
        self._guard.chosen_changed.connect(self._on_guard)
        lines.addWidget(self._guard)
        lines.addWidget(Label(theme, what_the_flow_guard_does(), "caption", "muted", wrap=True))
        self._show_rules()

    def set_kind(self, kind: ClientModeSnapshot) -> None:
        """Shows the current values; rules that the user is writing stay while they are unchanged."""
        is_other, self._kind = kind.auto_approve != self._kind.auto_approve, kind
        if is_other:
            self._show_rules()
        self._draw()

    def _show_rules(self) -> None:
        self._choice.choose(rules_choice(self._kind.auto_approve))
        self._own.line.setText(", ".join(self._kind.auto_approve or ()))
        self._draw()

    @property
    def _written(self) -> list[str]:
        return [part.strip() for part in self._own.line.text().split(",") if part.strip()]

    def _draw(self) -> None:
        kind = self._kind
        self._own.setVisible(self._choice.chosen == OWN)
        self._own.save.setEnabled(kind.auto_approve is None or self._written != list(kind.auto_approve))
        words = [] if kind.call_rules is None else [*map(covered, kind.call_rules)] or [tr("No rule on arguments counts for it.")]
        self._words.setText("\n".join(words))
        self._words.setVisible(bool(words))
        self._guard.choose(next(word for word, is_on in GUARDS.items() if is_on is kind.flow_guard))

    def _on_chosen(self, chosen: str) -> None:
        if chosen == OWN:
            self._draw()
            self._own.line.setFocus()
            return
        self._choice.choose(rules_choice(self._kind.auto_approve))  # until it is so
        self._draw()
        rules = RULES[chosen]
        if rules != self._kind.auto_approve:
            self._change(None if rules is None else list(rules))

    def _change(self, rules: list[str] | None) -> None:
        change = partial(self._view.hub.views.set_client_auto_approve, self._kind.client)
        before = None if self._kind.auto_approve is None else list(self._kind.auto_approve)
        toast = tr("What runs without asking for {client} is changed", client=client_title(self._kind))
        self._view.run(change(rules), then=self._read, toast=toast, undo=partial(change, before))

    def _on_guard(self, chosen: str) -> None:
        kind, change = self._kind, self._view.hub.settings.change_settings
        self._draw()  # until it is so

        def changed(is_on: bool | None) -> Mapping[str, object]:
            return {"publish": {"clients": {kind.client: {"flowGuard": is_on}}}}

        toast = tr("The flow guard for {client} is changed", client=client_title(kind))
        undo = partial(change, changed(kind.flow_guard))
        self._view.run(change(changed(GUARDS[chosen])), then=self._read, toast=toast, undo=undo)


class ResultLimit(SavedField):
    """A field for the largest result in tokens, see ClientApproval."""

    def __init__(self, view: View, read: Work, kind: ClientModeSnapshot) -> None:
        theme, self._view, self._read, self._kind = view.context.theme, view, read, kind
        text = tr("In tokens, at least 500. The client reads the rest page by page, with read_result.")
        super().__init__(theme, tr("Longest result, in tokens"), text)
        take_digits(self.line, MOST)
        self.line.setPlaceholderText(tr("Default (servers and tools)"))
        self.line.textChanged.connect(self._draw)
        self.save.clicked.connect(self._on_save)
        self._show()

    def set_kind(self, kind: ClientModeSnapshot) -> None:
        """Shows the current limit; what the user is writing stays while it is unchanged."""
        is_other, self._kind = kind.result_limit != self._kind.result_limit, kind
        if is_other:
            self._show()

    @property
    def _written(self) -> int | None:
        return int(self.line.text()) if self.line.text() else None

    def _show(self) -> None:
        limit = self._kind.result_limit
        self.line.setText("" if limit is None else str(limit))
        self._draw()

    def _draw(self) -> None:
        written = self._written
        self.save.setEnabled(written != self._kind.result_limit and (written is None or LEAST <= written <= MOST))

    def _on_save(self) -> None:
        change = self._view.hub.views.set_result_limit(tokens=self._written, client=self._kind.client)
        self._view.run(change, then=self._read)


class DefaultsSheet(SheetView):
    """A sheet with the defaults; a choice applies at once."""

    def __init__(self, view: View) -> None:
        super().__init__(view.context, tr("Defaults for all clients"), WIDTH)
        theme = view.context.theme
        self.body.addWidget(Label(theme, tr("Tool listing"), "heading"))
        self._modes = OptionList(theme, default_mode_options(), name=tr("Tool listing"), may_be_empty=False)
        self._modes.changed.connect(self._on_mode)
        self.body.addWidget(self._modes)
        self._text = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._text)
        self._asking = AskingSection(self)
        self.body.addWidget(self._asking)
        self.set_first_focus(self.add_button(tr("Close"), self.leave))

    async def read(self) -> None:
        """Reads the defaults, and shows them."""
        for kind in await self.hub.views.get_client_modes():
            if not kind.client:
                self._show(kind)
        await self._asking.read()

    def _show(self, kind: ClientModeSnapshot) -> None:
        self._modes.set_chosen([kind.mode])
        self._text.setText(reason(kind) or (mode_text(kind.mode) if kind.mode else ""))

    def _on_mode(self) -> None:
        self.run(self.hub.views.set_client_mode("", self._modes.chosen[0]), then=self.read)
