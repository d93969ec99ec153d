"""The section about programs that control Tooltray over HTTP: whether they may, the address, and their tokens. A token is shown only while
the user wants to see it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.kit.sheet_view import confirm
from tooltray.ui.settings.tokens import TokenList, TokenSheet, program_line
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import setting_row
from tooltray.ui.widgets.surface import Surface, add_gap, column, divider
from tooltray.ui.zoom import px

HIDDEN = "•" * 24  # says nothing, not even how long it is


class ApiSection(Section):
    """The section about programs' access. It holds the token only while it is shown.

    Args:
        read: reads the status for all sections that show it.
    """

    def __init__(self, context: PageContext, read: Work) -> None:
        theme = context.theme
        text = tr("Scripts and other programs on this computer can do what you can do here.")
        super().__init__(context, tr("Programs"), Label(theme, text, "caption", "muted", wrap=True))
        self._read, self._address = read, ""
        box = Surface(theme)
        self._lines = column(box, margins=(16, 0, 16, 0))
        self._switch = Switch(theme, tr("Let programs control Tooltray"))
        self._switch.clicked.connect(lambda is_on: self.run(self.hub.access.set_api_enabled(is_on, None), then=self._read))
        text = tr("Over HTTP, with tokens of their own.")
        self._lines.addWidget(setting_row(theme, tr("Let programs control Tooltray"), text, self._switch))
        self._details = QWidget()
        self._add_details()
        self._lines.addWidget(self._details)
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
        middle = Qt.TextElideMode.ElideMiddle
        self._url = ElidedLabel(theme, "", "mono", "secondary", mode=middle)
        self._url.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._copy = IconButton(theme, "copy", tr("Copy the programs' address"), small=True)
        self._copy.clicked.connect(lambda: self.context.copy(self._address, tr("The address is copied")))
        self._hidden = Label(theme, HIDDEN, "mono", "secondary")
        self._hidden.setAccessibleName(tr("It is hidden"))
        self._whole = CodeLabel(theme)
        self._whole.setContentsMargins(0, 0, 0, px(10))
        self._show = Button(theme, tr("Show"), small=True)
        self._show.clicked.connect(self._on_show)
        copy = IconButton(theme, "copy", tr("Copy the token"), small=True)
        copy.clicked.connect(lambda: self.run(self._copy_token(), button=copy))
        rotate = Button(theme, tr("Make another…"), small=True)
        rotate.clicked.connect(lambda: self.run(self._rotate()))
        text = tr("One for each program: what it may, for how long, and revoked one by one.")
        self.tokens = TokenList(theme, tr("Further tokens"), text, new=self._open, revoke=self._on_revoke)
        for widget in (
            setting_row(theme, tr("Address"), "", self._url, self._copy),
            setting_row(theme, tr("Default token"), "", self._hidden, copy, self._show, rotate),
            self.tokens,
        ):
            lines.addWidget(divider())
            lines.addWidget(widget)
        lines.insertWidget(lines.indexOf(self.tokens) - 1, self._whole)  # below the token's own line
        yes = Button(theme, tr("New trusted token"), small=True)
        yes.clicked.connect(lambda: self._open(is_trusted=True))
        no = Button(theme, tr("No"), small=True)
        no.clicked.connect(lambda: self.run(self.hub.access.set_api_enabled(True, False), then=self._read))
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
