"""The section about programs that control Tooltray over HTTP: whether they may, the address, and their tokens. A token is shown only while
the user wants to see it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.token_list import TokenList
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import heading, setting_row
from tooltray.ui.widgets.surface import Surface, clear, column, divider

HIDDEN = "•" * 24  # says nothing, not even how long it is


class ApiSection(QWidget):
    """The section about programs' access. `copy_requested` carries a text and what it is. The section holds the token only while it is
    shown.
    """

    enabled_requested = Signal(bool)
    trust_requested = Signal()
    distrust_requested = Signal()
    copy_requested = Signal(str, str)
    token_requested = Signal()
    token_copy_requested = Signal()
    rotation_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._address, self._is_shown = theme, "", False
        body = column(self, spacing=10)
        below = ElidedLabel(theme, tr("Scripts and other programs on this computer can do what you can do here."), "caption", "muted")
        body.addLayout(heading(theme, tr("Programs"), below))
        self._faults = column()
        body.addLayout(self._faults)
        box = Surface(theme)
        self._lines = column(box, margins=(16, 0, 16, 0))
        self._switch = Switch(theme, tr("Let programs control Tooltray"))
        self._switch.clicked.connect(self.enabled_requested)
        text = tr("Over HTTP, with tokens of their own.")
        self._lines.addWidget(setting_row(theme, tr("Let programs control Tooltray"), text, self._switch))
        self._details = QWidget()
        self._add_details()
        self._lines.addWidget(self._details)
        body.addWidget(box)
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
            self.hide_token()

    def show_token(self, token: str) -> None:
        """Shows the token, since the user has requested it, until the user hides it."""
        self._is_shown = True
        self._whole.set_text(token)
        self._whole.show()
        self._hidden.hide()
        self._show.set_face(tr("Hide"), "")

    def hide_token(self) -> None:
        self._is_shown = False
        self._whole.set_text("")
        self._whole.hide()
        self._hidden.show()
        self._show.set_face(tr("Show"), "")

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure; None removes it."""
        clear(self._faults)
        if problem is not None:
            self._faults.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.hide_token()

    def _add_details(self) -> None:
        theme = self._theme
        lines = column(self._details)
        middle = Qt.TextElideMode.ElideMiddle
        self._url = ElidedLabel(theme, "", "mono", "secondary", mode=middle)
        self._url.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._copy = IconButton(theme, "copy", tr("Copy the programs' address"), small=True)
        self._copy.clicked.connect(self._on_copy)
        self._hidden = Label(theme, HIDDEN, "mono", "secondary")
        self._hidden.setAccessibleName(tr("It is hidden"))
        self._whole = CodeLabel(theme)
        self._whole.setContentsMargins(0, 0, 0, 10)
        self._show = Button(theme, tr("Show"), small=True)
        self._show.clicked.connect(self._on_show)
        copy = IconButton(theme, "copy", tr("Copy the token"), small=True)
        copy.clicked.connect(self.token_copy_requested)
        rotate = Button(theme, tr("Make another…"), small=True)
        rotate.clicked.connect(self.rotation_requested)
        self.tokens = TokenList(theme, tr("Further tokens"), tr("One for each program: what it may, for how long, and revoked one by one."))
        for widget in (
            setting_row(theme, tr("Address"), "", self._url, self._copy),
            setting_row(theme, tr("Default token"), "", self._hidden, copy, self._show, rotate),
            self.tokens,
        ):
            lines.addWidget(divider())
            lines.addWidget(widget)
        lines.insertWidget(lines.indexOf(self.tokens) - 1, self._whole)  # below the token's own line
        yes = Button(theme, tr("New trusted token"), small=True)
        yes.clicked.connect(self.trust_requested)
        no = Button(theme, tr("No"), small=True)
        no.clicked.connect(self.distrust_requested)
        self._asked = Banner(
            theme,
            "warning",
            tr("Shall a program decide in your place?"),
            tr("An older version's setting allows this. It is ignored: any program could have written it. A trusted token is needed now."),
            *(yes, no),
        )
        lines.addWidget(self._asked)
        lines.addSpacing(12)

    def _on_copy(self) -> None:
        self.copy_requested.emit(self._address, tr("The address is copied"))

    def _on_show(self) -> None:
        if self._is_shown:
            self.hide_token()
        else:
            self.token_requested.emit()
