"""The tab of settings about Tooltray itself: version and kind, the places of its files, the information for a bug report, the keys. A text
is shown before it is copied."""

from functools import partial

from PySide6.QtCore import QLocale, QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.hub import ProgramLoad, ProgramSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.settings.shortcuts import shortcut_rows
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import column

WIDTH = 760
LINES = 22  # of a text that are seen at once
SECTION_GAP = 20
MEGABYTE = 1_000_000


class ProgramCommands(Commands):
    program_changed = Signal(object)  # ProgramSnapshot
    load_changed = Signal(object)  # ProgramLoad
    text_known = Signal(str, str, str)  # the sheet's name, what stands above the text, and the text

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._reading = CoalescedRead(self._look, tasks=tasks, name="this program", show=self.failed.emit)

    def look(self) -> None:
        self._reading.ask()

    @action()
    async def show_licences(self) -> None:
        text = await self._hub.program.get_licences()
        self.text_known.emit(tr("Licences"), tr("Of Tooltray, and of what comes with it."), text)

    @action()
    async def show_diagnostics(self) -> None:
        text = await self._hub.program.get_diagnostics()
        about = tr("This is what you copy. Secrets are masked; look whether you want to share the rest.")
        self.text_known.emit(tr("Diagnostics"), about, text)

    @action()
    async def open_place(self, path: str) -> None:
        """Opens a file or a folder with the system's program for it."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(path)):
            raise TooltrayError(tr("Nothing could be opened for this"), path)

    async def _look(self) -> None:
        self.program_changed.emit(await self._hub.program.get_program())
        self.load_changed.emit(await self._hub.program.get_load())


class TextPanel(SheetFrame):
    """A sheet with a text. `copy_requested`: copy it to the clipboard."""

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


class PlaceRow(QObject):
    """A row with the path of a file or folder of Tooltray, which can be copied or opened. `open_requested`, `copy_requested`: carry the
    path.
    """

    open_requested = Signal(str)
    copy_requested = Signal(str)

    def __init__(self, theme: Theme, title: str, text: str, parent: QObject) -> None:
        super().__init__(parent)
        self._path = ElidedLabel(theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        self._path.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        copy = IconButton(theme, "copy", tr("Copy the path of {what}", what=title), small=True)
        copy.clicked.connect(self._on_copy)
        open_it = Button(theme, tr("Open"), icon="external", small=True)
        open_it.setAccessibleName(tr("Open {what}", what=title))
        open_it.clicked.connect(self._on_open)
        self._where = ""
        self.widget = setting_row(theme, title, text, self._path, copy, open_it)

    def set_path(self, path: str) -> None:
        self._where = path
        self._path.set_text(path)

    def _on_copy(self) -> None:
        self.copy_requested.emit(self._where)

    def _on_open(self) -> None:
        self.open_requested.emit(self._where)


def load_words(load: ProgramLoad) -> str:
    """Returns the memory and processor time that Tooltray itself uses."""
    locale = QLocale()
    megabytes = locale.toString(round(load.memory_bytes / MEGABYTE))
    return tr(
        "{megabytes} MB of memory, {percent} % of a processor", megabytes=megabytes, percent=locale.toString(round(load.cpu_share * 100))
    )


def servers_load_words(load: ProgramLoad) -> str:
    """Returns the memory and processor time that the servers of this computer use; remote servers are not included."""
    megabytes = QLocale().toString(round(load.server_memory_bytes / MEGABYTE))
    if load.running_servers == 1:
        return tr("{megabytes} MB, 1 server", megabytes=megabytes)
    return tr("{megabytes} MB, {count} servers", megabytes=megabytes, count=load.running_servers)


class AboutTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._theme = context.theme
        self._area = ReadingScroll(tr("About"))
        self._fault = FaultArea(context.theme)
        column(self).addWidget(NoticesAbove(self._fault, self._area))
        commands = self.commands = ProgramCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self._add_program()
        self._add_places()
        self._add_diagnostics()
        self._begin(tr("Keyboard"))
        self._area.body.addWidget(group(self._theme, *shortcut_rows(self._theme)))
        self._area.body.addStretch(1)
        self.enable(False)
        self.look_requested.connect(commands.look)
        commands.program_changed.connect(self.show_program)
        commands.load_changed.connect(self.show_load)
        commands.failed.connect(self._fault.show_problem)
        commands.text_known.connect(self._open_text)

    def enable(self, is_usable: bool) -> None:
        for widget in (self._program, self._files, self._reports):
            widget.setEnabled(is_usable)

    def show_program(self, program: ProgramSnapshot) -> None:
        self._version.setText(f"{program.version}, {say(program.kind_name)}")
        self._update.set_text(say(program.update))
        for row, path in zip(self._places, (program.settings, program.logs, program.home), strict=True):
            row.set_path(path)

    def show_load(self, load: ProgramLoad) -> None:
        """Shows what Tooltray uses of the computer now; the share of the processor is known from the second measurement on."""
        self._load.setText(load_words(load))
        self._servers_load.setText(servers_load_words(load))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top; None removes it."""
        self._fault.show_problem(problem)

    def _add_program(self) -> None:
        theme = self._theme
        self._version = Label(theme, "", "caption", "secondary")
        self._update = ElidedLabel(theme, "", "caption", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        self._update.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._load = Label(theme, "", "caption", "secondary", tabular=True)
        self._servers_load = Label(theme, "", "caption", "secondary", tabular=True)
        licences = Button(theme, tr("Show licences"), small=True)
        licences.clicked.connect(self.commands.show_licences)
        self._area.body.addLayout(heading(theme, "Tooltray"))
        self._program = group(
            theme,
            setting_row(theme, tr("Version"), "", self._version),
            setting_row(theme, tr("Updating"), "", self._update),
            setting_row(theme, tr("Tooltray uses"), "", self._load),
            setting_row(theme, tr("Your servers use"), tr("With what they have started."), self._servers_load),
            setting_row(theme, tr("Licences"), "", licences),
        )
        self._area.body.addWidget(self._program)

    def _add_places(self) -> None:
        theme = self._theme
        self._places = (
            PlaceRow(theme, tr("Settings"), tr("A text that you can edit."), self),
            PlaceRow(theme, tr("Logs"), tr("Of Tooltray and of each server."), self),
            PlaceRow(theme, tr("All files"), tr("Everything that Tooltray keeps."), self),
        )
        for row in self._places:
            row.open_requested.connect(self.commands.open_place)
            row.copy_requested.connect(self._on_copy)
        self._begin(tr("Where files are"))
        self._files = group(theme, *(row.widget for row in self._places))
        self._area.body.addWidget(self._files)

    def _add_diagnostics(self) -> None:
        theme = self._theme
        diagnostics = Button(theme, tr("Copy diagnostics…"), small=True)
        diagnostics.clicked.connect(self.commands.show_diagnostics)
        self._begin(tr("If something is wrong"))
        text = tr("For a bug report. You see them first.")
        self._reports = group(theme, setting_row(theme, tr("Diagnostics"), text, diagnostics))
        self._area.body.addWidget(self._reports)

    def _begin(self, title: str) -> None:
        self._area.body.addSpacing(SECTION_GAP)
        self._area.body.addLayout(heading(self._theme, title))

    def _on_copy(self, path: str) -> None:
        self.context.copy(path, tr("The path is copied"))

    def _open_text(self, name: str, about: str, text: str) -> None:
        if self.context.sheets.sheet is not None:
            return
        panel = TextPanel(self._theme, name, about, text)
        sheet = self.context.sheets.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        panel.copy_requested.connect(partial(self.context.copy, text, tr("Copied")))
