"""The section of the Settings page about Tooltray itself: start at login, version and kind, licences, diagnostics.

Above it: the Settings page. Below it: rows of settings, ProgramCommands and the sheets of texts. A text is shown before it is copied.
"""

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from tooltray.errors import Problem
from tooltray.snapshots.program import ProgramSnapshot
from tooltray.ui.i18n import say, tr
from tooltray.ui.pages.action import Commands, action
from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import clear, column

WIDTH = 760
LINES = 22  # of a text that are seen at once


class ProgramCommands(Commands):
    program_changed = Signal(object)  # ProgramSnapshot
    text_known = Signal(str, str, str)  # the sheet's name, what stands above the text, and the text

    @action()
    async def look(self) -> None:
        await self._look()

    @action()
    async def set_start_at_login(self, is_on: bool) -> None:
        try:
            await self._hub.program.set_start_at_login(is_on)
        finally:
            await self._look()  # the switch then stands where it truly is

    @action()
    async def show_licences(self) -> None:
        text = await self._hub.program.get_licences()
        self.text_known.emit(tr("Licences"), tr("Of Tooltray, and of what comes with it."), text)

    @action()
    async def show_diagnostics(self) -> None:
        text = await self._hub.program.get_diagnostics()
        about = tr("This is what you copy. Secrets are masked; look whether you want to share the rest.")
        self.text_known.emit(tr("Diagnostics"), about, text)

    async def _look(self) -> None:
        self.program_changed.emit(await self._hub.program.get_program())


class TextPanel(SheetFrame):
    """A text to read. `copy_requested`: it is to go to the clipboard."""

    copy_requested = Signal()

    def __init__(self, theme: Theme, name: str, about: str, text: str) -> None:
        super().__init__(theme, name, WIDTH)
        self.text = text
        self.body.addWidget(Label(theme, about, "body", "secondary", wrap=True))
        self.body.addWidget(CodeView(theme, text, name, lines=min(LINES, text.count("\n") + 1)))
        self.buttons.addStretch(1)
        close = Button(theme, tr("Close"))
        close.clicked.connect(self.close_requested)
        self.buttons.addWidget(close)
        copy = Button(theme, tr("Copy"), "primary", "copy")
        copy.clicked.connect(self.copy_requested)
        self.buttons.addWidget(copy)


class ProgramSection(QWidget):
    """Looks again whenever its page does."""

    start_at_login_requested = Signal(bool)
    licences_requested = Signal()
    diagnostics_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._body = column(self, spacing=10)
        text = ElidedLabel(theme, tr("This program on this computer."), "caption", "muted")
        self._body.addLayout(heading(theme, "Tooltray", text))
        self._fault = column()
        self._body.addLayout(self._fault)
        self._login = Switch(theme, tr("Start when you log in"))
        self._login.clicked.connect(self.start_at_login_requested)
        self._version = Label(theme, "", "caption", "secondary")
        self._update = Label(theme, "", "caption", "secondary")
        licences = Button(theme, tr("Show licences"), small=True)
        licences.clicked.connect(self.licences_requested)
        diagnostics = Button(theme, tr("Copy diagnostics…"), small=True)
        diagnostics.clicked.connect(self.diagnostics_requested)
        rows = (
            setting_row(theme, tr("Start when you log in"), tr("In the tray, without a window."), self._login),
            setting_row(theme, tr("Version"), "", self._version),
            setting_row(theme, tr("Updating"), "", self._update),
            setting_row(theme, tr("Licences"), "", licences),
            setting_row(theme, tr("Diagnostics"), tr("For a bug report. You see them first."), diagnostics),
        )
        self._body.addWidget(group(theme, *rows))

    def show_program(self, program: ProgramSnapshot) -> None:
        self._login.set_on(program.starts_at_login)
        self._version.setText(f"{program.version}, {say(program.kind_name)}")
        self._update.setText(say(program.update))

    def show_fault(self, problem: Problem | None) -> None:
        """Shows above the rows what did not work; None takes it away."""
        clear(self._fault)
        if problem is not None:
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))


class ProgramSheets(QObject):
    """Carries out what the section asks for, and opens the sheets of its texts."""

    def __init__(self, context: PageContext, parent: QObject, section: ProgramSection) -> None:
        super().__init__(parent)
        self._context = context
        commands = self.commands = ProgramCommands(hub=context.hub, tasks=context.tasks)
        section.start_at_login_requested.connect(commands.set_start_at_login)
        section.licences_requested.connect(commands.show_licences)
        section.diagnostics_requested.connect(commands.show_diagnostics)
        commands.program_changed.connect(section.show_program)
        commands.failed.connect(section.show_fault)
        commands.text_known.connect(self._open)

    def _open(self, name: str, about: str, text: str) -> None:
        if self._context.sheets.sheet is not None:
            return
        panel = TextPanel(self._context.theme, name, about, text)
        sheet = self._context.sheets.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        panel.copy_requested.connect(partial(self._context.copy, text, tr("Copied")))
