"""The tokens of AI clients and programs as lines with a button, and their words."""

import json
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import msgspec
from PySide6.QtCore import QDate, QLocale, Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.clients import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.setting_rows import setting_row
from tooltray.ui.widgets.surface import clear, column, divider


class TokenLine(msgspec.Struct, frozen=True):
    """A line about one token.

    Attributes:
        text: what it may do, and until when.
    """

    name: str
    text: str


class TokenList(QWidget):
    """A list of tokens. `new_requested`: the user wants a new one; `revoke_requested` carries the name of the token to revoke.

    Args:
        title: the owners of the tokens.
        text: what the tokens are for.
    """

    new_requested = Signal()
    revoke_requested = Signal(str)

    def __init__(self, theme: Theme, title: str, text: str) -> None:
        super().__init__()
        self._theme = theme
        self._lines: tuple[TokenLine, ...] = ()
        layout = column(self)
        new = Button(theme, tr("New token"), icon="plus", small=True)
        new.setAccessibleName(f"{tr('New token')}, {title}")
        new.clicked.connect(self.new_requested)
        layout.addWidget(setting_row(theme, title, text, new))
        self._rows = column()
        layout.addLayout(self._rows)

    def set_tokens(self, tokens: Sequence[TokenLine]) -> None:
        if tuple(tokens) == self._lines:
            return
        self._lines = tuple(tokens)
        clear(self._rows)
        for each in tokens:
            revoke = Button(self._theme, tr("Revoke"), small=True)
            revoke.setAccessibleName(tr("Revoke the token {name}", name=each.name))
            revoke.clicked.connect(partial(self.revoke_requested.emit, each.name))
            self._rows.addWidget(divider())
            self._rows.addWidget(setting_row(self._theme, each.name, each.text, revoke))


def client_line(token: ClientTokenSnapshot) -> TokenLine:
    used = tr("last used {when}", when=moment(token.used_at, datetime.now())) if token.used_at else tr("not used since Tooltray started")
    return TokenLine(token.name, f"{tr('Made on {date}', date=_date(token.created_at))} · {used}")


def program_line(token: ApiTokenSnapshot) -> TokenLine:
    """Returns the scope of a program's token, and until when it lasts."""
    words = {"read": tr("Looks"), "call": tr("Looks, and calls tools"), "manage": tr("Changes everything")}
    parts = [tr("Decides in your place") if token.is_trusted else words.get(token.scope, token.scope)]
    if token.is_ended:
        parts.append(tr("it has ended"))
    elif token.expires_at is not None:
        parts.append(tr("until {date}", date=_date(token.expires_at)))
    return TokenLine(token.name, " · ".join(parts))


def client_entry(http: HttpStatus, token: str) -> str:
    """Returns the entry with its token to paste into an AI client's config; empty while HTTP access has no address."""
    if not http.url:
        return ""
    entry = {"type": "http", "url": http.url, "headers": {"Authorization": f"Bearer {token}"}}
    return json.dumps({"mcpServers": {"tooltray": entry}}, indent=2)


def trust_note(made: NewApiToken) -> str:
    """Returns the note about a trusted token that does not outlive the hub; empty for every other."""
    if not made.is_trusted or made.is_lasting:
        return ""
    return tr("It decides in your place until Tooltray ends: where secrets are kept cannot be reached.")


def _date(seconds: float) -> str:
    day = datetime.fromtimestamp(seconds)
    return QLocale().toString(QDate(day.year, day.month, day.day), QLocale.FormatType.ShortFormat)
