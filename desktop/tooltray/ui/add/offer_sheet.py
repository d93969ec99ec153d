"""The base of the sheets that add a server: its values, what would run, and the name under which it is added. Nothing
is run or stored before the user presses the button."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.entries import FieldValue, FormField, NewServer
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.ui.add.new_server_preview import NewServerPreview
from tooltray.ui.addresses import can_follow
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.form import Form
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import clear, column, row

Values = Mapping[str, FieldValue]

WIDTH = 680
PREVIEW_AFTER_MS = 250  # without another key; a preview asks the engine
LONGEST_NAME = 64  # what settings allow


class OfferSheet(SheetView):
    """The base of the sheets that add a server; a subclass reads the preview, and adds the server.

    Args:
        word: on its button.
        has_name: it is added under a name that the user may change.
    """

    def __init__(self, context: PageContext, name: str, *, word: str, has_name: bool = True) -> None:
        super().__init__(context, name, WIDTH)
        theme = context.theme
        self._taken = frozenset(server.name for server in context.servers.servers)
        self._word, self._has_name = word, has_name
        self._number = 0
        self._is_busy = self._is_named = False
        self._form: Form | None = None
        self._shown: NewServer | None = None
        self.access: AccessChoice | None = None  # as the user chose; None: as the settings have it
        self._is_blocked = False
        self.head = column(spacing=8)
        self.body.addLayout(self.head)
        self._blocks = column(spacing=8)
        self.body.addLayout(self._blocks)
        self._form_place = column()
        self.body.addLayout(self._form_place)
        self._what = Label(theme, tr("What will run"), "strong")
        self.body.addWidget(self._what)
        self._preview = NewServerPreview(theme, self._on_access)
        self.body.addWidget(self._preview)
        self.body.addWidget(self._name_line())
        self._wait = QTimer(self, singleShot=True, interval=PREVIEW_AFTER_MS)
        self._wait.timeout.connect(self._ask)
        self._cancel = self.add_button(tr("Cancel"), self.close_requested.emit)
        self._go = self.add_button(word, self._on_go, "primary")
        self._go.setToolTip("Ctrl+Enter")
        add_accept_keys(self, self._on_go)

    @abstractmethod
    async def preview(self, values: Values) -> NewServer:
        """Returns what adding the server with these values would add."""
        ...

    @abstractmethod
    async def add(self, values: Values, name: str) -> None:
        """Adds the server under a name, closes the sheet, and shows what was done."""
        ...

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._form is None or not self._form.focus():
            self._cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def form(self) -> Form | None:
        return self._form

    @property
    def is_waiting(self) -> bool:
        """Whether a preview is being made."""
        return self._wait.isActive()

    def set_fields(self, fields: Sequence[FormField]) -> None:
        """Replaces the fields."""
        clear(self._form_place)
        self._form = Form(self._theme, fields)
        self._form.changed.connect(self._on_changed)
        self._form_place.addWidget(self._form)
        self._on_changed()

    def block(self, *problems: Problem) -> None:
        """Shows why the server cannot be added here; without problems it can be."""
        self._is_blocked = bool(problems)
        clear(self._blocks)
        for problem in problems:
            self._blocks.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        self._show_preview_parts(not problems)
        self._draw()

    def _show_preview_parts(self, are_shown: bool) -> None:
        for part in (self._what, self._preview):
            part.setVisible(are_shown)
        self._name_box.setVisible(self._has_name and are_shown)

    def show_preview(self, number: int, server: NewServer) -> None:
        """Shows what would be added with the values of this request."""
        if number != self._number:
            return
        self._shown = server
        self._what.setText(tr("What will run") if server.command else tr("What will be connected"))
        if server.access is None or self.access not in server.access.offered:
            self.access = None
        self._preview.show_server(server, self.access)
        if not self._is_named:
            self._name.setText(server.name)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why it was not added; the fields keep their content."""
        super().show_problem(problem)
        if problem is not None:
            self._set_busy(False)

    def add_links(self, *addresses: tuple[str, str]) -> None:
        """Adds buttons that open pages of the web; anything else is shown as text.

        Args:
            addresses: the words and the address of each.
        """
        line = row(spacing=16)
        for words, address in addresses:
            if address and can_follow(QUrl(address)):
                button = Button(self._theme, words, "link", "external", small=True)
                button.setToolTip(address)
                button.clicked.connect(partial(QDesktopServices.openUrl, QUrl(address)))
                line.addWidget(button)
        if line.count():
            line.addStretch(1)
            self.head.addLayout(line)

    def _name_line(self) -> QWidget:
        self._name_box = QWidget()
        line = row(self._name_box, spacing=8)
        line.addWidget(Label(self._theme, tr("Name"), "strong"))
        self._name = QLineEdit()
        self._name.setFont(self._theme.font("mono"))
        self._name.setFixedHeight(self._theme.size("control"))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setAccessibleName(tr("Name of the server"))
        self._name.textEdited.connect(self._on_named)
        self._name.textChanged.connect(self._draw)
        line.addWidget(self._name, 1)
        self._name_chip = Chip(self._theme)
        line.addWidget(self._name_chip)
        self._name_box.setVisible(self._has_name)
        return self._name_box

    def _complaint(self) -> str:
        """Returns what is wrong with the name; empty if nothing is."""
        name = self._name.text().strip()
        if not self._has_name:
            return ""
        if not name:
            return tr("needs a name")
        if "/" in name or not name.isprintable():
            return tr("not usable as a name")
        return tr("taken") if name in self._taken else ""

    def _on_access(self, chosen: AccessChoice | None) -> None:
        self.access = chosen
        self.hold()

    def _on_named(self) -> None:
        self._is_named = True

    def _on_changed(self) -> None:
        self._shown = None
        self._number += 1
        self.show_problem(None)
        if self._form is not None and self._form.is_complete and not self._is_blocked:
            self._preview.show_words(tr("One moment…"))
            self._wait.start()
        else:
            self._wait.stop()
            self._preview.show_words(tr("Fill in what is required to see what would run."))
        self._draw()

    def _ask(self) -> None:
        """Requests a preview with the values so far."""
        if self._form is not None:
            self.run(self._read_preview(self._number, self._form.values))

    async def _read_preview(self, number: int, values: Values) -> None:
        try:
            server = await self.preview(values)
        except TooltrayError as error:
            self._show_preview_problem(number, error.problem)
        else:
            self.show_preview(number, server)

    def _show_preview_problem(self, number: int, problem: Problem) -> None:
        if number == self._number:
            self._shown = None
            self._preview.show_problem(problem)
            self._draw()

    def _draw(self) -> None:
        complaint = self._complaint()
        self._name_chip.setVisible(self._has_name and (self._is_named or self._shown is not None))
        self._name_chip.set_word(complaint or tr("available"), "error" if complaint else "success")
        is_ready = self._shown is not None and not complaint
        is_waiting = self._form is not None and not self._form.is_complete
        self._go.setEnabled(not self._is_blocked and not self._is_busy and (is_ready or is_waiting))
        self._go.setText(tr("Adding…") if self._is_busy else self._word)

    def _set_busy(self, is_busy: bool) -> None:
        self._is_busy = is_busy
        for part in (self._form, self._name):
            if part is not None:
                part.setEnabled(not is_busy)
        self._draw()

    def _on_go(self) -> None:
        if not self._go.isEnabled() or self._form is None or not self._form.check() or self._shown is None:
            return
        self.show_problem(None)
        values, name = self._form.values, self._name.text().strip()
        self._set_busy(True)
        self.run(self.add(values, name))
