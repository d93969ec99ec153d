"""The sheets that add found servers: what a server is, which values it needs, what would run, and the name under which it is added. Nothing
is run or stored before the user presses the button."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.discovery import RegistryOption, RegistryServer, StarterServer
from tooltray.foundation.snapshots.entries import FormField, NewServer
from tooltray.ui.add.discover_words import option_title
from tooltray.ui.add.new_server_preview import NewServerPreview
from tooltray.ui.addresses import can_follow
from tooltray.ui.i18n import shipped, tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.form import Form
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import clear, column, row

WIDTH = 680
PREVIEW_AFTER_MS = 250  # without another key; a preview asks the engine
LONGEST_NAME = 64  # what settings allow


class OfferPanel(SheetFrame):
    """The base of the sheets that add a server. `preview_requested` carries a number and the values so far: `show_preview` gets the number
    again, and ignores older ones. `add_requested` carries the values and the name. Its receiver closes the sheet, or calls `show_refusal`.

    Args:
        taken: names of existing servers.
        word: on its button.
        has_name: it is added under a name that the user may change.
    """

    preview_requested = Signal(int, object)
    add_requested = Signal(object, str)

    def __init__(self, theme: Theme, name: str, *, taken: Collection[str], word: str, has_name: bool = True) -> None:
        super().__init__(theme, name, WIDTH)
        self._taken, self._word, self._has_name = taken, word, has_name
        self._number = 0
        self._is_busy = self._is_named = False
        self._form: Form | None = None
        self._shown: NewServer | None = None
        self._is_blocked = False
        self.head = column(spacing=8)
        self.body.addLayout(self.head)
        self._blocks = column(spacing=8)
        self.body.addLayout(self._blocks)
        self._form_place = column()
        self.body.addLayout(self._form_place)
        self._what = Label(theme, tr("What will run"), "strong")
        self.body.addWidget(self._what)
        self._preview = NewServerPreview(theme)
        self.body.addWidget(self._preview)
        self.body.addWidget(self._name_line())
        self._wait = QTimer(self, singleShot=True, interval=PREVIEW_AFTER_MS)
        self._wait.timeout.connect(self._ask)
        self._add_buttons()

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
        self._preview.show_server(server)
        if not self._is_named:
            self._name.setText(server.name)
        self._draw()

    def show_preview_problem(self, number: int, problem: Problem) -> None:
        """Shows why the preview failed."""
        if number == self._number:
            self._shown = None
            self._preview.show_problem(problem)
            self._draw()

    def show_refusal(self, problem: Problem) -> None:
        """Shows why it was not added; the fields keep their content."""
        self._set_busy(False)
        self.show_problem(problem)

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
                button.setProperty("address", address)
                button.clicked.connect(self._on_link)
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

    def _add_buttons(self) -> None:
        self.buttons.addStretch(1)
        self._cancel = Button(self._theme, tr("Cancel"))
        self._cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._cancel)
        self._go = Button(self._theme, self._word, "primary")
        self._go.setToolTip("Ctrl+Enter")
        self._go.clicked.connect(self._on_go)
        self.buttons.addWidget(self._go)
        add_accept_keys(self, self._on_go)

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
            self.preview_requested.emit(self._number, self._form.values)

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
        self.add_requested.emit(values, name)

    def _on_link(self) -> None:
        QDesktopServices.openUrl(QUrl(str(self.sender().property("address"))))


class RegistryPanel(OfferPanel):
    """A server of the registry; `option` is the chosen package or address. `bundle_requested` carries the address of a bundle, which is
    read and shown before it is installed.
    """

    bundle_requested = Signal(str)

    def __init__(self, theme: Theme, server: RegistryServer, taken: Collection[str]) -> None:
        self._option: RegistryOption | None = None
        super().__init__(theme, server.title or server.name, taken=taken, word=tr("Add server"))
        self.server = server
        line = row(spacing=8)
        line.addWidget(CodeLabel(theme, server.name, "secondary"), 1)
        line.addWidget(Chip(theme, server.version))
        if server.is_deprecated:
            line.addWidget(Chip(theme, tr("Not maintained any more"), "warning"))
        self.head.addLayout(line)
        self.head.addWidget(Label(theme, server.description, "body", wrap=True))
        self.add_links((tr("Source code"), server.repository), (tr("Website"), server.website))
        self._options: OptionList | None = None
        self._needs = Label(theme, "", "caption", "muted", wrap=True)
        usable = [option for option in server.options if option.problem is None] or list(server.options)
        self._option = usable[0] if usable else None
        if len(server.options) > 1 and self._option is not None:
            self.head.addWidget(Label(theme, tr("How to have it"), "strong"))
            options = [(option.id, option_title(option)) for option in server.options]
            self._options = OptionList(theme, options, name=tr("How to have it"), chosen=[self._option.id], may_be_empty=False)
            self._options.changed.connect(self._on_option)
            self.head.addWidget(self._options)
        self.head.addWidget(self._needs)
        self._show_option()

    @property
    def option(self) -> RegistryOption | None:
        return self._option

    def _on_option(self) -> None:
        chosen = self._options.chosen if self._options is not None else []
        self._option = next((option for option in self.server.options if option.id in chosen), self._option)
        self._show_option()

    def _show_option(self) -> None:
        option = self._option
        if option is None:
            text = tr("The registry names neither a package nor an address for it.")
            self.block(Problem(tr("There is nothing to add"), text, ""))
            return
        words = tr("It is started by {program}.", program=option.needs) if option.needs else ""
        if len(self.server.options) == 1:
            words = " · ".join(part for part in (option_title(option), words) if part)
        self._needs.setText(words)
        self._needs.setVisible(bool(words))
        self.block(*filter(None, [option.problem]))
        self.set_fields(option.fields if option.problem is None else ())
        if self._is_bundle:
            self._show_preview_parts(False)

    @property
    def _is_bundle(self) -> bool:
        return self._option is not None and self._option.kind == "mcpb" and self._option.problem is None

    def _draw(self) -> None:
        super()._draw()
        if self._is_bundle:
            self._go.setText(tr("Look at the bundle…"))
            self._go.setEnabled(True)

    def _on_go(self) -> None:
        if self._is_bundle and self._option is not None:
            self.bundle_requested.emit(self._option.label)
        else:
            super()._on_go()


class StarterPanel(OfferPanel):
    """A sheet that adds a well-known server."""

    def __init__(self, theme: Theme, server: StarterServer, taken: Collection[str]) -> None:
        super().__init__(theme, server.title, taken=taken, word=tr("Add server"))
        self.server = server
        self.head.addWidget(Label(theme, shipped(server.good_for), "body", wrap=True))
        if server.needs:
            self.head.addWidget(Label(theme, tr("It needs {what}.", what=shipped(server.needs)), "caption", "secondary", wrap=True))
        self.set_fields(server.fields)

    def _ask(self) -> None:
        """Shows the preview without asking the engine: the command is known, only its values are missing."""
        is_remote = self.server.target.startswith(("http://", "https://"))
        secrets = tuple(field.label for field in self.server.fields if field.is_secret)
        words = () if is_remote else tuple(self.server.target.split(" "))
        url, origin = (self.server.target if is_remote else ""), tr("The list of well-known servers that comes with Tooltray")
        self.show_preview(self._number, NewServer(free_name(self.server.id, self._taken), {}, words, url, secrets, origin))


def free_name(name: str, taken: Collection[str]) -> str:
    """Returns a name that is free here."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free
