"""The secrets that a server gets: their states, and the sheets that change them. Hidden while it gets none."""

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenSecret
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.access_section import AccessSection
from tooltray.ui.settings.secret_words import is_missing, state
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Table


class SecretsSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        text = ElidedLabel(self._theme, tr("It gets them when it starts. Their values are never shown."), "caption", "muted")
        self.body.addLayout(heading(self._theme, tr("Secrets"), text))
        self.body.addLayout(self.notes)
        self._box = Surface(self._theme)
        columns = [
            Column(tr("Name"), lambda each: each.name.removeprefix(f"{name}/"), Kind.MONO, tip=lambda each: each.name),
            Column(tr("State"), _state, Kind.CHIP, 124),
            Column("", lambda each: tr("Enter…") if is_missing(each) else tr("Change…"), Kind.BUTTON, 72),
        ]
        self._table = Table(self._theme, columns, tr("Secrets of {name}", name=name), lambda each: each.name, in_card=True)
        self._table.row_chosen.connect(self._on_chosen)
        self._table.pressed.connect(self._on_chosen)
        column(self._box, margins=(16, 1, 16, 1)).addWidget(self._table)
        self.body.addWidget(self._box)
        self._request = self.reading(self._read)
        self.hide()

    def look(self) -> None:
        self._request()

    def show_problem(self, problem: Problem | None) -> None:
        super().show_problem(problem)
        self.setVisible(problem is not None or bool(self._table.rows))

    def show_secrets(self, secrets: StoredSecrets) -> None:
        self._table.set_rows([each for each in secrets.secrets if self._name in each.used_by])
        self._table.fit_height()
        self._box.setVisible(bool(self._table.rows))
        self.setVisible(bool(self._table.rows))

    async def _read(self) -> None:
        self.show_secrets(await self.hub.secrets.get_secrets())

    def _on_chosen(self, secret: SecretSnapshot) -> None:
        if is_missing(secret):
            self.context.wishes.secret_requested.emit(self._name, secret.name)
        else:
            self.context.go(OpenSecret(secret.name))


def _state(secret: SecretSnapshot) -> tuple[str, str]:
    if is_missing(secret):
        return tr("Missing"), "error"
    if secret.kind == "provided":
        return tr("Kept elsewhere"), ""
    word, tone = state(secret)
    return (word, tone) if word else (tr("Stored"), "")
