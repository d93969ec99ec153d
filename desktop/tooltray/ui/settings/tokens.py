"""The tokens of AI clients and programs: the list with a button for each, the sheet that makes one and shows it once, and their words."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import cast

from PySide6.QtCore import QDate, QLocale, Qt
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import setting_row, text_line
from tooltray.ui.widgets.surface import clear, column, divider, fill
from tooltray.ui.zoom import px

WIDTH = 560
CHOICE_WIDTH = 220  # the longest choice, in English
DAY_S = 86_400.0
DAYS = ("30", "90", "365")


TokenLine = tuple[str, str]
"""A line about one token: its name; what it may do, and until when."""


class TokenList(QWidget):
    """A list of tokens.

    Args:
        title: the owners of the tokens.
        text: what the tokens are for.
        new: called when the user wants a new one.
        revoke: called with the name of the token to revoke.
    """

    def __init__(self, theme: Theme, title: str, text: str, *, new: Callable[[], object], revoke: Callable[[str], object]) -> None:
        super().__init__()
        self._theme, self._revoke = theme, revoke
        self._lines: tuple[TokenLine, ...] = ()
        layout = column(self)
        add = Button(theme, tr("New token"), icon="plus", small=True, on_click=lambda: new())
        add.setAccessibleName(f"{tr('New token')}, {title}")
        layout.addWidget(setting_row(theme, title, text, add))
        self._rows = column()
        layout.addLayout(self._rows)

    def set_tokens(self, tokens: Sequence[TokenLine]) -> None:
        if tuple(tokens) == self._lines:
            return
        self._lines = tuple(tokens)
        clear(self._rows)
        for name, text in tokens:
            revoke = Button(self._theme, tr("Revoke"), small=True, on_click=partial(self._revoke, name))
            revoke.setAccessibleName(tr("Revoke the token {name}", name=name))
            fill(self._rows, divider(), setting_row(self._theme, name, text, revoke))


def client_line(token: ClientTokenSnapshot) -> TokenLine:
    used = tr("last used {when}", when=moment(token.used_at, datetime.now())) if token.used_at else tr("not used since Tooltray started")
    return (token.name, f"{tr('Made on {date}', date=_date(token.created_at))} · {used}")


def program_line(token: ApiTokenSnapshot) -> TokenLine:
    """Returns the scope of a program's token, and until when it lasts."""
    words = {"read": tr("Looks"), "call": tr("Looks, and calls tools"), "manage": tr("Changes everything")}
    parts = [tr("Decides in your place") if token.is_trusted else words.get(token.scope, token.scope)]
    if token.is_ended:
        parts.append(tr("it has ended"))
    elif token.expires_at is not None:
        parts.append(tr("until {date}", date=_date(token.expires_at)))
    return (token.name, " · ".join(parts))


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


class TokenSheet(SheetView):
    """A sheet that makes a token, and shows it.

    Args:
        read: reads what the page shows of tokens.
        is_program: the token is for a program that controls Tooltray, and not for an AI client.
        is_trusted: the choice at first.
    """

    def __init__(self, context: PageContext, read: Work, *, is_program: bool, is_trusted: bool = False) -> None:
        super().__init__(context, tr("New token for a program") if is_program else tr("New token for an AI client"), WIDTH)
        theme, self._read, self._is_program = context.theme, read, is_program
        self._form = QWidget()
        form = column(self._form, spacing=12)
        self._field = text_line(theme, tr("Name"))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_make)
        text = tr("By which you know it, when you want to revoke it. A token that has this name already ends.")
        fill(form, Label(theme, tr("Name"), "strong"), self._field, Label(theme, text, "caption", "muted", wrap=True))
        scopes = [("manage", tr("Change everything")), ("call", tr("Look, and call tools")), ("read", tr("Look"))]
        self._scope = Choice(theme, scopes, name=tr("What it may"))
        self._scope.chosen_changed.connect(self._draw)
        self._lasts = Choice(
            theme, [("", tr("Until you revoke it")), *((days, tr("{days} days", days=days)) for days in DAYS)], name=tr("Ends")
        )
        for choice in (self._scope, self._lasts):
            choice.setMinimumWidth(px(CHOICE_WIDTH))
        self._trusted = Switch(theme, tr("Let it decide in your place"), on=is_trusted)
        self._trusted.clicked.connect(self._draw)
        self._warning = Banner(
            theme,
            "warning",
            tr("The holder of this token can approve in your place"),
            tr("It approves calls, trusts servers and allows folders. An AI client that finds it can approve its own calls."),
        )
        if is_program:
            form.addWidget(setting_row(theme, tr("What it may"), "", self._scope))
            form.addWidget(setting_row(theme, tr("Ends"), "", self._lasts))
            decides = tr("Otherwise, what it adds or changes waits for your approval.")
            form.addWidget(setting_row(theme, tr("Let it decide in your place"), decides, self._trusted))
            form.addWidget(self._warning)
        self.body.addWidget(self._form)
        self._made = column(spacing=10)
        self.body.addLayout(self._made)
        self._close = self.add_button(tr("Cancel"), self.leave)
        self._make = self.add_button(tr("Make token"), self._on_make, "primary")
        self.set_first_focus(self._field)
        self._draw()

    def show_token(self, token: str, entry: str, note: str = "") -> None:
        """Shows the new token.

        Args:
            entry: what to paste into the config of an AI client; empty: nothing.
            note: what else the user has to know; may be empty.
        """
        self.hold()
        self._form.hide()
        self._make.hide()
        self._close.setText(tr("Done"))
        clear(self._made)
        text = tr("This is the only time that it is shown. Keep it as a password.")
        self._made.addWidget(Label(self._theme, text, "body", "secondary", wrap=True))
        self._add(tr("Token"), token, tr("Copy the token"), tr("The token is copied"))
        if entry:
            self._add(tr("Entry for the config of the AI client"), entry, tr("Copy the entry"), tr("The entry is copied"))
        if note:
            self._made.addWidget(Banner(self._theme, "info", note, ""))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why no token was made; the fields keep their content."""
        super().show_problem(problem)
        if problem is not None:
            self._draw()
            self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add(self, title: str, text: str, copy: str, said: str) -> None:
        fill(self._made, Label(self._theme, title, "strong"), CodeLabel(self._theme, text))
        button = Button(self._theme, copy, icon="copy", small=True, on_click=lambda: self.context.copy(text, said))
        self._made.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)

    def _draw(self) -> None:
        may_decide = self._scope.chosen == "manage"
        self._trusted.setEnabled(may_decide)
        self._warning.setVisible(self._is_program and self._is_trusted)
        self._make.setEnabled(bool(self._field.text().strip()))

    @property
    def _is_trusted(self) -> bool:
        return self._trusted.isChecked() and self._scope.chosen == "manage"

    def _on_make(self) -> None:
        if self._make.isEnabled():
            self.show_problem(None)
            self._make.setEnabled(False)
            self.run(self._made_program() if self._is_program else self._made_client())

    async def _made_client(self) -> None:
        token = await self.hub.access.create_client_token(self._field.text().strip())
        self.show_token(token, client_entry(await self.hub.access.get_http_status(), token))
        await self._read()

    async def _made_program(self) -> None:
        lasts_s = float(self._lasts.chosen) * DAY_S if self._lasts.chosen else None
        made = await self.hub.access.create_api_token(
            self._field.text().strip(), cast(Scope, self._scope.chosen), lasts_s, self._is_trusted
        )
        self.show_token(made.token, "", trust_note(made))
        await self._read()
