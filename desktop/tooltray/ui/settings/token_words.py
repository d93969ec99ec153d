"""What the Settings page says of tokens, and the entry that an AI client's config gets. Pure functions of their snapshots.

Above it: TokenSheets. Below it: snapshots and the language.
"""

import json
from datetime import datetime

from PySide6.QtCore import QDate, QLocale

from tooltray.snapshots.http import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken
from tooltray.ui.i18n import tr
from tooltray.ui.settings.token_list import TokenLine


def client_line(token: ClientTokenSnapshot) -> TokenLine:
    return TokenLine(token.name, tr("Made on {date}", date=_date(token.created_at)))


def program_line(token: ApiTokenSnapshot) -> TokenLine:
    """Returns what a program's token may, and until when."""
    words = {"read": tr("Looks"), "call": tr("Looks, and calls tools"), "manage": tr("Changes everything")}
    parts = [tr("Decides in your place") if token.is_trusted else words.get(token.scope, token.scope)]
    if token.is_ended:
        parts.append(tr("it has ended"))
    elif token.expires_at is not None:
        parts.append(tr("until {date}", date=_date(token.expires_at)))
    return TokenLine(token.name, " · ".join(parts))


def client_entry(http: HttpStatus, token: str) -> str:
    """Returns what to paste into the config of an AI client, the token in it; empty: there is no address yet."""
    if not http.url:
        return ""
    entry = {"type": "http", "url": http.url, "headers": {"Authorization": f"Bearer {token}"}}
    return json.dumps({"mcpServers": {"tooltray": entry}}, indent=2)


def trust_note(made: NewApiToken) -> str:
    """Returns what is to be known of a trusted token that does not outlive the hub; empty of every other."""
    if not made.is_trusted or made.is_lasting:
        return ""
    return tr("It decides in your place until Tooltray ends: where secrets are kept cannot be reached.")


def _date(seconds: float) -> str:
    day = datetime.fromtimestamp(seconds)
    return QLocale().toString(QDate(day.year, day.month, day.day), QLocale.FormatType.ShortFormat)
