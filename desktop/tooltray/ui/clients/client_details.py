"""The details of a kind of client or of one session, beside the tables; and which calls of a client run without asking."""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial

from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.snapshots.clients import ClientModeSnapshot, SessionSnapshot
from tooltray.foundation.snapshots.tools import ToolCosts
from tooltray.ui.clients.client_words import (
    MODES,
    client_name,
    client_title,
    mode_name,
    mode_text,
    project_name,
    project_source,
    reason,
    session_look,
)
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.view import View
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.chip import StateBadge
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.digits import take_digits
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.split_view import DetailsPane
from tooltray.ui.widgets.surface import column, row

BY_SERVERS, BY_RULES = "servers", "rules"
LEAST, MOST = 500, 10_000_000  # tokens of a result, as the settings take them


class UnaskedCalls(QWidget):
    """A choice of what runs without asking.

    Args:
        choose: gets the rules that the user saves, None for the servers' own.
    """

    def __init__(self, theme: Theme, rules: tuple[str, ...] | None, choose: Callable[[list[str] | None], object]) -> None:
        super().__init__()
        self._rules, self._choose = rules, choose
        layout = column(self, spacing=8)
        options = [(BY_SERVERS, tr("Default (each server's rules)")), (BY_RULES, tr("Use these rules instead"))]
        self._whose = OptionList(theme, options, name=tr("Calls that run without asking"), may_be_empty=False)
        self._whose.changed.connect(self._on_whose)
        layout.addWidget(self._whose)
        self._own = QWidget()
        lines = column(self._own, spacing=8)
        line = row(spacing=8)
        self._field = QLineEdit()
        self._field.setFont(theme.font("mono"))
        self._field.setFixedHeight(theme.size("control"))
        self._field.setAccessibleName(tr("Rules, with commas between"))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_save)
        line.addWidget(self._field, 1)
        self._save = Button(theme, tr("Save"))
        self._save.clicked.connect(self._on_save)
        line.addWidget(self._save)
        lines.addLayout(line)
        text = tr("read, write, all, names:get_* or a tool's name, with commas between. Empty: every call asks.")
        lines.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        layout.addWidget(self._own)
        self._show()

    def set_rules(self, rules: tuple[str, ...] | None) -> None:
        """Shows the current rules; what the user is writing stays while they are unchanged."""
        if rules != self._rules:
            self._rules = rules
            self._show()
        elif rules is not None:  # a choice that did not work goes back
            self._whose.set_chosen([BY_RULES])
            self._draw()

    def _show(self) -> None:
        self._whose.set_chosen([BY_SERVERS if self._rules is None else BY_RULES])
        self._field.setText(", ".join(self._rules or ()))
        self._draw()

    @property
    def _written(self) -> list[str]:
        return [part.strip() for part in self._field.text().split(",") if part.strip()]

    def _draw(self) -> None:
        self._own.setVisible(self._whose.chosen == [BY_RULES])
        self._save.setEnabled(self._rules is None or self._written != list(self._rules))

    def _on_whose(self) -> None:
        self._draw()
        if self._whose.chosen == [BY_SERVERS] and self._rules is not None:
            self._choose(None)
        elif self._whose.chosen == [BY_RULES]:
            self._field.setFocus()

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self._choose(self._written)


class ResultLimit(QWidget):
    """A field for the largest result in tokens.

    Args:
        choose: gets the number that the user saves, None for no limit.
    """

    def __init__(self, theme: Theme, limit: int | None, choose: Callable[[int | None], object]) -> None:
        super().__init__()
        self._limit, self._choose = limit, choose
        layout, line = column(self, spacing=8), row(spacing=8)
        self._field = QLineEdit()
        self._field.setFixedHeight(theme.size("control"))
        take_digits(self._field, MOST)
        self._field.setPlaceholderText(tr("Default (servers and tools)"))
        self._field.setAccessibleName(tr("Longest result, in tokens"))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_save)
        line.addWidget(self._field, 1)
        self._save = Button(theme, tr("Save"))
        self._save.clicked.connect(self._on_save)
        line.addWidget(self._save)
        layout.addLayout(line)
        text = tr("In tokens, at least 500. The client reads the rest page by page, with read_result.")
        layout.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self._show()

    def set_limit(self, limit: int | None) -> None:
        """Shows the current limit; what the user is writing stays while it is unchanged."""
        if limit != self._limit:
            self._limit = limit
            self._show()

    @property
    def _written(self) -> int | None:
        return int(self._field.text()) if self._field.text() else None

    def _show(self) -> None:
        self._field.setText("" if self._limit is None else str(self._limit))
        self._draw()

    def _draw(self) -> None:
        written = self._written
        self._save.setEnabled(written != self._limit and (written is None or LEAST <= written <= MOST))

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self._choose(self._written)


class ClientDetails(DetailsPane):
    """The details of a kind of client. Choices apply at once, what is typed when the user saves it.

    Args:
        view: carries them out, and shows why one failed.
        read: reads what the view shows, so that choices show what is true.
    """

    def __init__(self, view: View, read: Work, client: ClientModeSnapshot, profiles: Sequence[str]) -> None:
        theme = view.context.theme
        super().__init__(theme, client_title(client))
        self._view, self._read, self._views = view, read, view.hub.views
        self._client, self._profiles = client, tuple(profiles)
        if client.client and client.client != client_title(client):
            self.body.addWidget(CodeLabel(theme, client.client, "secondary"))
        self._shown = Label(theme, "", "strong", wrap=True)
        self._reason = Label(theme, "", "body", "secondary", wrap=True)
        self._cost = Label(theme, "", "caption", "muted", wrap=True, tabular=True)
        self._meter = Meter(theme, tr("Tokens in the client's context"), height=4)
        self._meter.hide()
        self.add_section(tr("What it sees"), self._shown, self._reason, self._cost, self._meter)
        self._modes = OptionList(
            theme, [(mode, mode_name(mode)) for mode in MODES], name=tr("Tool listing"), chosen=[client.mode], may_be_empty=False
        )
        self._modes.changed.connect(self._on_mode)
        self._mode_text = Label(theme, "", "caption", "muted", wrap=True)
        self.add_section(tr("Tool listing"), self._modes, self._mode_text)
        self._profile: OptionList | None = None
        self._rules: UnaskedCalls | None = None
        self._limit: ResultLimit | None = None
        if client.client:  # every other client can only be shown tools in another way
            self._profile = self._add_profiles(theme)
            self._rules = UnaskedCalls(theme, client.auto_approve, self._on_rules)
            self.add_section(tr("Calls that run without asking"), self._rules)
            self._limit = ResultLimit(theme, client.result_limit, self._on_limit)
            self.add_section(tr("How much of a result it gets at once"), self._limit)
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
        """Shows a newer snapshot; the options show the real values."""
        self._client = client
        self._draw()

    def show_costs(self, costs: ToolCosts) -> None:
        """Shows what definitions cost in this client's context."""
        self._cost.setText(tr("{tokens} in its context", tokens=tokens(costs.shown_tokens, costs.tokens)))
        self._meter.setVisible(costs.tokens > 0)
        self._meter.set_share(costs.shown_tokens / costs.tokens if costs.tokens else 0.0)

    def _add_profiles(self, theme: Theme) -> OptionList:
        options = [("", tr("None: it gets everything")), *((name, name) for name in self._profiles)]
        profile = OptionList(theme, options, name=tr("Profile"), chosen=[self._client.profile], may_be_empty=False)
        profile.changed.connect(partial(self._on_profile, profile))
        note = Label(theme, tr("A profile in the client's own config wins."), "caption", "muted", wrap=True)
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
        if self._limit is not None:
            self._limit.set_limit(client.result_limit)

    def _change(self, work: Coroutine[object, object, object]) -> None:
        self._view.run(work, then=self._read)

    def _on_mode(self) -> None:
        self._change(self._views.set_client_mode(self._client.client, self._modes.chosen[0]))

    def _on_profile(self, profile: OptionList) -> None:
        self._change(self._views.set_client_profile(self._client.client, profile.chosen[0]))

    def _on_rules(self, rules: list[str] | None) -> None:
        self._change(self._views.set_client_auto_approve(self._client.client, rules))

    def _on_limit(self, limit: int | None) -> None:
        self._change(self._views.set_result_limit(tokens=limit, client=self._client.client))


class SessionDetails(DetailsPane):
    """The details of a session.

    Args:
        choose_folder: prompts for the folder of the session with this id.
        show_kind: shows a kind of client by its name.
    """

    def __init__(
        self, theme: Theme, session: SessionSnapshot, *, choose_folder: Callable[[str], object], show_kind: Callable[[str], object]
    ) -> None:
        super().__init__(theme, client_name(session))
        self._session = session
        self._badge = StateBadge(theme, session_look(session))
        self.body.addWidget(self._badge)
        self._version = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._version)
        self._mode = Label(theme, "", "strong", wrap=True)
        self._reason = Label(theme, "", "body", "secondary", wrap=True)
        self._alone = Label(theme, "", "body", "secondary", wrap=True)
        self._change = Button(theme, tr("Change what it sees"), small=True)
        self._change.clicked.connect(lambda: show_kind(self._session.client))
        self.add_section(tr("What it sees"), self._mode, self._reason, self._alone, self._change)
        self._project = Label(theme, "", "strong", wrap=True)
        self._path = CodeLabel(theme, "", "secondary")
        self._source = Label(theme, "", "body", "secondary", wrap=True)
        self._folder = Button(theme, tr("Choose folder"), icon="folder", small=True)
        self._folder.clicked.connect(lambda: choose_folder(self._session.id))
        self.add_section(tr("Project"), self._project, self._path, self._source, self._folder)
        self._profile = Label(theme, "", wrap=True)
        self.add_section(tr("Profile"), self._profile)
        self._activated = Label(theme, "", wrap=True)
        self.add_section(tr("Loaded servers"), self._activated)
        self.body.addStretch(1)
        self._draw()

    @property
    def session(self) -> SessionSnapshot:
        return self._session

    def set_session(self, session: SessionSnapshot) -> None:
        """Shows a newer snapshot."""
        if session != self._session:
            self._session = session
            self._draw()

    def _draw(self) -> None:
        session, project = self._session, self._session.project
        self._badge.set_look(session_look(session))
        _say(self._version, tr("Version {version}", version=session.version) if session.version else "")
        self._mode.setText(mode_name(session.mode))
        _say(self._reason, reason(session))
        _say(self._alone, tr("It has only the server {name}.", name=session.server) if session.server else "")
        self._project.setText(project_name(project))
        self._path.setVisible(project is not None)
        self._path.set_text(project.path if project is not None else "")
        self._source.setText(
            project_source(project) if project is not None else tr("Servers that need a project do not start for this client.")
        )
        self._profile.setText(session.profile or tr("None: it gets everything"))
        self._activated.setText(", ".join(session.activated) or tr("None"))
        self._folder.setEnabled(session.is_connected)
        self._change.setEnabled(bool(session.client))


def _say(label: Label, text: str) -> None:
    label.setText(text)
    label.setVisible(bool(text))
