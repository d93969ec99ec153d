"""The Network tab of the settings: access of AI clients and of programs over HTTP, and the registries of packages and servers. A change
applies at once. A token is shown only while the user wants to see it."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import cast

from PySide6.QtCore import QDate, QLocale, Qt, QUrl
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import HttpAddressChanged
from tooltray.foundation.snapshots.clients import ApiTokenSnapshot, ClientTokenSnapshot, HttpStatus, NewApiToken, Scope
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.kit.sheet_view import SheetView, confirm
from tooltray.ui.settings.registries import RegistrySection, ServerRegistrySection
from tooltray.ui.settings.settings_tab import SettingsTab
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.keyboard import take_digits
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import group, setting_row, text_line
from tooltray.ui.widgets.surface import Surface, add_gap, clear, column, divider, fill
from tooltray.ui.zoom import px

WIDTH, PORT_WIDTH = 560, 92  # px
CHOICE_WIDTH = 220  # the longest choice, in English
HIGHEST_PORT = 65535
HIDDEN = "•" * 24  # says nothing, not even how long a token is
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
        add = Button(theme, tr("New token"), icon="plus", small=True, on_click=lambda: new())
        add.setAccessibleName(f"{tr('New token')}, {title}")
        self._rows = column()
        fill(column(self), setting_row(theme, title, text, add), self._rows)

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
        self._form, self._made = QWidget(), column(spacing=10)
        self._field = text_line(theme, tr("Name"))
        self._field.textChanged.connect(self._draw)
        text = tr("By which you know it, when you want to revoke it. A token that has this name already ends.")
        about = Label(theme, text, "caption", "muted", wrap=True)
        form = fill(column(self._form, spacing=12), Label(theme, tr("Name"), "strong"), self._field, about)
        scopes = [("manage", tr("Change everything")), ("call", tr("Look, and call tools")), ("read", tr("Look"))]
        self._scope = Choice(theme, scopes, name=tr("What it may"))
        self._scope.chosen_changed.connect(self._draw)
        ends = [("", tr("Until you revoke it")), *((days, tr("{days} days", days=days)) for days in DAYS)]
        self._lasts = Choice(theme, ends, name=tr("Ends"))
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
            fill(form, setting_row(theme, tr("What it may"), "", self._scope), setting_row(theme, tr("Ends"), "", self._lasts))
            decides = tr("Otherwise, what it adds or changes waits for your approval.")
            fill(form, setting_row(theme, tr("Let it decide in your place"), decides, self._trusted), self._warning)
        fill(self.body, self._form, self._made)
        self._close = self.add_button(tr("Cancel"), self.leave)
        self._make = self.add_button(tr("Make token"), self._on_make, "primary")
        self._field.returnPressed.connect(self._make.click)
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


class NetworkTab(SettingsTab):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Network"), spacing=30)
        self.http, self.api = HttpSection(context, self._read_http), ApiSection(context, self._read_http)
        self.servers, self.registries = ServerRegistrySection(context), RegistrySection(context)
        fill(self.body, self.http, self.api, self.servers, self.registries, 1)
        self.look_requested.connect(self._look)
        context.hub.on_any((HttpAddressChanged,), self.look_again, self)

    def _look(self) -> None:
        self.registries.run(self.registries.read())
        self.servers.run(self.servers.read())
        self.http.run(self._read_http())
        self.http.run(self.http.read_tokens())
        self.api.run(self.api.read_tokens())

    async def _read_http(self) -> None:
        http = await self.hub.access.get_http_status()
        self.http.show_http(http)
        self.api.show_http(http)


class HttpSection(Section):
    """The section about HTTP access.

    Args:
        read: reads the status for all sections that show it.
    """

    def __init__(self, context: PageContext, read: Work) -> None:
        theme = context.theme
        text = tr("For clients that cannot start the bridge. Only this computer can connect.")
        super().__init__(context, tr("HTTP access"), Label(theme, text, "caption", "muted", wrap=True))
        self.status = HttpStatus()
        self._read = read
        self._switch = Switch(theme, tr("HTTP access"))
        self._switch.clicked.connect(lambda is_on: self.run(self.hub.access.set_http_enabled(is_on, None), then=self._read))
        self._url = Label(theme, "", "mono", "secondary")
        self._copy = IconButton(theme, "copy", tr("Copy address"), small=True)
        self._copy.clicked.connect(lambda: context.copy(self.status.url, tr("The address is copied")))
        self._port = text_line(theme, tr("Port"), style="mono")
        self._port.setFixedWidth(px(PORT_WIDTH))
        take_digits(self._port, HIGHEST_PORT)
        self._port.textChanged.connect(self._draw_port)
        self._move = Button(theme, tr("Move there"), on_click=self._on_port)
        self._port.returnPressed.connect(self._move.click)
        self._port_row = setting_row(theme, tr("Port"), tr("Clients need the new address then."), self._port, self._move)
        self._token_row = setting_row(theme, tr("Token"), "", Label(theme, tr("No token is asked for."), "caption", "secondary"))
        text = tr("Each client needs its own.")
        self.tokens = TokenList(theme, tr("Clients with a token"), text, new=self._on_new, revoke=self._on_revoke)
        tokens = QWidget()  # the two are one row of the box, so that no line is left where the first is not shown
        fill(column(tokens), self._token_row, self.tokens)
        rows = (
            setting_row(theme, tr("Let clients connect over HTTP"), "", self._switch),
            setting_row(theme, tr("Address"), "", self._url, self._copy),
            self._port_row,
            tokens,
        )
        self.body.addWidget(group(theme, *rows))
        self.show_http(self.status)

    def show_http(self, http: HttpStatus) -> None:
        self.status = http
        self._switch.set_on(http.is_enabled)
        self._url.setText(http.url or tr("Switched off"))
        self._url.setFont(self._theme.font("mono" if http.url else "caption"))
        self._copy.setVisible(bool(http.url))
        port = QUrl(http.url).port()
        self._port.setText(str(port) if port != -1 else "")
        self._port_row.setEnabled(http.is_enabled)
        self._draw_port()
        self._token_row.setVisible(not http.requires_token)  # else the list of clients with a token says it
        self.show_problem(None)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure, else why HTTP is on and not open."""
        super().show_problem(problem or self.status.problem)

    async def read_tokens(self) -> None:
        """Reads the clients' tokens, and shows them."""
        self.tokens.set_tokens([client_line(each) for each in await self.hub.access.list_client_tokens()])

    def _draw_port(self) -> None:
        text = self._port.text()
        self._move.setEnabled(bool(text) and int(text) not in (0, QUrl(self.status.url).port()) and int(text) <= HIGHEST_PORT)

    def _on_port(self) -> None:
        self.run(self.hub.access.set_http_enabled(True, int(self._port.text())), then=self._read)

    def _on_new(self) -> None:
        self.context.sheets.show(TokenSheet(self.context, self.read_tokens, is_program=False))

    def _on_revoke(self, name: str) -> None:
        access, said = self.hub.access, tr("The token {name} is revoked", name=name)
        self.run(access.remove_client_token(name), then=self.read_tokens, toast=said, undo=partial(access.restore_client_token, name))


class ApiSection(Section):
    """The section about programs' access. It holds the token only while it is shown.

    Args:
        read: reads the status for all sections that show it.
    """

    def __init__(self, context: PageContext, read: Work) -> None:
        theme = context.theme
        text = tr("Scripts and other programs on this computer can do what you can do here.")
        super().__init__(context, tr("Programs"), Label(theme, text, "caption", "muted", wrap=True))
        self._read, self._address, self._details = read, "", QWidget()
        title = tr("Let programs control Tooltray")
        self._switch = Switch(theme, title)
        self._switch.clicked.connect(lambda is_on: self.run(self.hub.access.set_api_enabled(is_on, None), then=self._read))
        self._add_details()
        box, line = Surface(theme), setting_row(theme, title, tr("Over HTTP, with tokens of their own."), self._switch)
        fill(column(box, margins=(16, 0, 16, 0)), line, self._details)
        self.body.addWidget(box)
        self.show_http(HttpStatus())

    def show_http(self, http: HttpStatus) -> None:
        self._switch.set_on(http.is_api_enabled)
        self._details.setVisible(http.is_api_enabled)
        self._asked.setVisible(http.is_trust_asked)
        self._address = http.api_url
        self._url.set_text(http.api_url or tr("Not open: HTTP access is switched off"))
        self._url.setFont(self._theme.font("mono" if http.api_url else "caption"))
        self._copy.setVisible(bool(http.api_url))
        if not http.is_api_enabled:
            self.show_token("")

    def show_token(self, token: str) -> None:
        """Shows the token, since the user has requested it, until the user hides it; empty: hides it."""
        self._whole.set_text(token)
        self._whole.setVisible(bool(token))
        self._hidden.setVisible(not token)
        self._show.set_face(tr("Hide") if token else tr("Show"), "")

    async def read_tokens(self) -> None:
        """Reads the programs' tokens, and shows them."""
        self.tokens.set_tokens([program_line(each) for each in await self.hub.access.list_api_tokens() if not each.is_default])

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.show_token("")

    def _add_details(self) -> None:
        theme = self._theme
        lines = column(self._details)
        self._url = ElidedLabel(theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        self._url.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._copy = IconButton(theme, "copy", tr("Copy the programs' address"), small=True)
        self._copy.clicked.connect(lambda: self.context.copy(self._address, tr("The address is copied")))
        self._hidden = Label(theme, HIDDEN, "mono", "secondary")
        self._hidden.setAccessibleName(tr("It is hidden"))
        self._whole = CodeLabel(theme)
        self._whole.setContentsMargins(0, 0, 0, px(10))
        self._show = Button(theme, tr("Show"), small=True, on_click=self._on_show)
        copy = IconButton(theme, "copy", tr("Copy the token"), small=True)
        copy.clicked.connect(lambda: self.run(self._copy_token(), button=copy))
        rotate = Button(theme, tr("Make another…"), small=True, on_click=lambda: self.run(self._rotate()))
        text = tr("One for each program: what it may, for how long, and revoked one by one.")
        self.tokens = TokenList(theme, tr("Further tokens"), text, new=self._open, revoke=self._on_revoke)
        token = setting_row(theme, tr("Default token"), "", self._hidden, copy, self._show, rotate)
        address = setting_row(theme, tr("Address"), "", self._url, self._copy)
        fill(lines, divider(), address, divider(), token, self._whole, divider(), self.tokens)
        yes = Button(theme, tr("New trusted token"), small=True, on_click=lambda: self._open(is_trusted=True))
        no = Button(theme, tr("No"), small=True, on_click=lambda: self.run(self.hub.access.set_api_enabled(True, False), then=self._read))
        self._asked = Banner(
            theme,
            "warning",
            tr("Shall a program decide in your place?"),
            tr("An older version's setting allows this. It is ignored: any program could have written it. A trusted token is needed now."),
            *(yes, no),
        )
        lines.addWidget(self._asked)
        add_gap(lines, 12)

    def _on_show(self) -> None:
        if self._whole.accessibleName():
            self.show_token("")
        else:
            self.run(self._show_token())

    async def _show_token(self) -> None:
        self.show_token(await self.hub.access.get_api_token())

    async def _copy_token(self) -> None:
        self.context.copy(await self.hub.access.get_api_token(), tr("The token is copied"))

    async def _rotate(self) -> None:
        """Replaces the default token after a question; the old one stops working."""
        text = tr("Programs that use the current token lose access at once, and their connections end. Give them the new one.")
        if await confirm(self.context, tr("Make another token?"), text, yes=tr("Make another"), no=tr("Keep it")):
            self.show_token(await self.hub.access.rotate_api_token())
            self.context.say(tr("The token is another one now"))

    def _open(self, *, is_trusted: bool = False) -> None:
        self.context.sheets.show(TokenSheet(self.context, self._read_all, is_program=True, is_trusted=is_trusted))

    def _on_revoke(self, name: str) -> None:
        said = tr("The token {name} is revoked", name=name)
        self.run(self.hub.access.revoke_api_token(name), then=self._read_all, toast=said)

    async def _read_all(self) -> None:
        await self._read()
        await self.read_tokens()
