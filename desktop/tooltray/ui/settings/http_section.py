"""The section about HTTP access for AI clients: whether it is on, its address, and a token for each client. Draws frozen snapshots."""

from PySide6.QtCore import QUrl, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.token_list import TokenList
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.digits import take_digits
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import clear, column

PORT_WIDTH = 92  # px
HIGHEST_PORT = 65535


class HttpSection(QWidget):
    """The section about HTTP access. `copy_requested` carries a text and what it is."""

    enabled_requested = Signal(bool)
    port_requested = Signal(int)
    copy_requested = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._status = HttpStatus()
        body = column(self, spacing=10)
        text = ElidedLabel(theme, tr("For clients that cannot start the bridge. Only this computer can connect."), "caption", "muted")
        body.addLayout(heading(theme, tr("HTTP access"), text))
        self._fault = column()
        body.addLayout(self._fault)
        self._switch = Switch(theme, tr("HTTP access"))
        self._switch.clicked.connect(self.enabled_requested)
        self._url = Label(theme, "", "mono", "secondary")
        self._copy = IconButton(theme, "copy", tr("Copy address"), small=True)
        self._copy.clicked.connect(self._on_copy)
        self._port = QLineEdit()
        self._port.setFont(theme.font("mono"))
        self._port.setFixedSize(PORT_WIDTH, theme.size("control"))
        take_digits(self._port, HIGHEST_PORT)
        self._port.setAccessibleName(tr("Port"))
        self._port.textChanged.connect(self._draw_port)
        self._port.returnPressed.connect(self._on_port)
        self._move = Button(theme, tr("Move there"))
        self._move.clicked.connect(self._on_port)
        self._port_row = setting_row(theme, tr("Port"), tr("Clients need the new address then."), self._port, self._move)
        token = Label(theme, tr("No token is asked for."), "caption", "secondary")
        self._token_row = setting_row(theme, tr("Token"), "", token)
        self.tokens = TokenList(theme, tr("Clients with a token"), tr("Each client needs its own."))
        tokens = QWidget()  # the two are one row of the box, so that no line is left where the first is not shown
        lines = column(tokens)
        lines.addWidget(self._token_row)
        lines.addWidget(self.tokens)
        rows = (
            setting_row(theme, tr("Let clients connect over HTTP"), "", self._switch),
            setting_row(theme, tr("Address"), "", self._url, self._copy),
            self._port_row,
            tokens,
        )
        body.addWidget(group(theme, *rows))
        self.show_http(self._status)

    @property
    def status(self) -> HttpStatus:
        """The status that is shown."""
        return self._status

    def show_http(self, http: HttpStatus) -> None:
        self._status = http
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
        clear(self._fault)
        if (problem := problem or self._status.problem) is not None:
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))

    def _draw_port(self) -> None:
        text = self._port.text()
        self._move.setEnabled(bool(text) and int(text) not in (0, QUrl(self._status.url).port()) and int(text) <= HIGHEST_PORT)

    def _on_port(self) -> None:
        if self._move.isEnabled():
            self.port_requested.emit(int(self._port.text()))

    def _on_copy(self) -> None:
        self.copy_requested.emit(self._status.url, tr("The address is copied"))
