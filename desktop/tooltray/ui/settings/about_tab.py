"""The tab of settings about Tooltray itself: version and kind, the places of its files, the information for a bug report, the keys. A text
is shown before it is copied."""

from PySide6.QtCore import QLocale, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.hub import ProgramLoad, ProgramSnapshot
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.settings.release_section import ReleaseSection
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import add_gap, column
from tooltray.ui.zoom import px

WIDTH = 760
LINES = 22  # of a text that are seen at once
SECTION_GAP = 20
MEGABYTE = 1_000_000


class TextSheet(SheetView):
    """A sheet with a text that can be copied.

    Args:
        about: what the text is.
    """

    def __init__(self, context: PageContext, name: str, about: str, text: str) -> None:
        super().__init__(context, name, WIDTH)
        self.body.addWidget(Label(context.theme, about, "body", "secondary", wrap=True))
        self.body.addWidget(CodeView(context.theme, text, name, lines=min(LINES, text.count("\n") + 1)))
        self.add_button(tr("Close"), self.leave)
        self.add_button(tr("Copy"), lambda: context.copy(text, tr("Copied")), "primary", "copy")


def _load_words(load: ProgramLoad) -> str:
    """Returns the memory and processor time that Tooltray itself uses."""
    locale = QLocale()
    megabytes = locale.toString(round(load.memory_bytes / MEGABYTE))
    return tr(
        "{megabytes} MB of memory, {percent} % of a processor", megabytes=megabytes, percent=locale.toString(round(load.cpu_share * 100))
    )


def _servers_load_words(load: ProgramLoad) -> str:
    """Returns the memory and processor time that the servers of this computer use; remote servers are not included."""
    megabytes = QLocale().toString(round(load.server_memory_bytes / MEGABYTE))
    if load.running_servers == 1:
        return tr("{megabytes} MB, 1 server", megabytes=megabytes)
    return tr("{megabytes} MB, {count} servers", megabytes=megabytes, count=load.running_servers)


def _shortcuts() -> tuple[tuple[str, str], ...]:
    """Returns the keys with what each does."""
    return (
        ("Ctrl+K", tr("Search or run a command")),
        ("Ctrl+F", tr("Search on the page")),
        ("Ctrl+N", tr("Add a server")),
        ("Ctrl+V", tr("On the page of servers: add what is on the clipboard")),
        ("Ctrl+1, Ctrl+2 …", tr("Go to a page")),
        ("← →", tr("From tab to tab, from card to card")),
        ("Ctrl+Enter", tr("Do what the sheet is for")),
        ("Esc", tr("Close what lies on top, or empty the search")),
        ("Ctrl++, Ctrl+-", tr("Zoom in, zoom out")),
        ("Ctrl+0", tr("Actual size")),
        ("Ctrl+W", tr("Close the window")),
        ("Ctrl+Q", tr("Quit Tooltray")),
    )


class AboutTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = self._theme = context.theme
        self._area = ReadingScroll(tr("About"))
        self._fault = FaultArea(context.theme)
        column(self).addWidget(NoticesAbove(self._fault, self._area))
        self._program = ProgramSnapshot("", "", "", "", False)
        self._paths: dict[str, ElidedLabel] = {}
        self._add_program()
        self._add_places()
        self._add_diagnostics()
        self._begin(tr("Keyboard"))
        self._area.body.addWidget(group(theme, *(setting_row(theme, what, "", Chip(theme, keys)) for keys, what in _shortcuts())))
        self._area.body.addStretch(1)
        self.enable(False)
        self._look = self.reading(self._read)
        self.look_requested.connect(self._look)

    def enable(self, is_usable: bool) -> None:
        for widget in (self._about, self._releases, self._files, self._reports):
            widget.setEnabled(is_usable)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top; None removes it."""
        self._fault.show_problem(problem)

    async def _read(self) -> None:
        program = self._program = await self.hub.program.get_program()
        self._version.setText(f"{program.version}, {say(program.kind_name)}")
        self._update.set_text(say(program.update))
        for member, path in self._paths.items():
            path.set_text(getattr(program, member))
        load = await self.hub.program.get_load()  # the share of the processor is known from the second measurement on
        self._load.setText(_load_words(load))
        self._servers_load.setText(_servers_load_words(load))

    def _add_program(self) -> None:
        theme = self._theme
        self._version = Label(theme, "", "caption", "secondary")
        self._update = ElidedLabel(theme, "", "caption", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        self._update.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._load = Label(theme, "", "caption", "secondary", tabular=True)
        self._servers_load = Label(theme, "", "caption", "secondary", tabular=True)
        licences = Button(theme, tr("Show licences"), small=True)
        licences.clicked.connect(lambda: self.run(self._show_licences(), button=licences))
        self._area.body.addLayout(heading(theme, "Tooltray"))
        self._about = group(
            theme,
            setting_row(theme, tr("Version"), "", self._version),
            setting_row(theme, tr("Updating"), "", self._update),
            setting_row(theme, tr("Tooltray uses"), "", self._load),
            setting_row(theme, tr("Your servers use"), tr("With what they have started."), self._servers_load),
            setting_row(theme, tr("Licences"), "", licences),
        )
        self._area.body.addWidget(self._about)
        self._releases = ReleaseSection(self.context)
        self._releases.body.setContentsMargins(0, px(SECTION_GAP), 0, 0)
        self._area.body.addWidget(self._releases)

    def _add_places(self) -> None:
        self._begin(tr("Where files are"))
        self._files = group(
            self._theme,
            self._place_row("settings", tr("Settings"), tr("A text that you can edit.")),
            self._place_row("logs", tr("Logs"), tr("Of Tooltray and of each server.")),
            self._place_row("home", tr("All files"), tr("Everything that Tooltray keeps.")),
        )
        self._area.body.addWidget(self._files)

    def _place_row(self, member: str, title: str, text: str) -> QWidget:
        """Makes the row of a file or folder; `member`: its path in ProgramSnapshot."""
        theme = self._theme
        path = self._paths[member] = ElidedLabel(theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        path.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        copy = IconButton(theme, "copy", tr("Copy the path of {what}", what=title), small=True)
        copy.clicked.connect(lambda: self.context.copy(getattr(self._program, member), tr("The path is copied")))
        open_it = Button(theme, tr("Open"), icon="external", small=True)
        open_it.setAccessibleName(tr("Open {what}", what=title))
        open_it.clicked.connect(lambda: self._open_path(getattr(self._program, member)))
        return setting_row(theme, title, text, path, copy, open_it)

    def _add_diagnostics(self) -> None:
        theme = self._theme
        diagnostics = Button(theme, tr("Copy diagnostics…"), small=True)
        diagnostics.clicked.connect(lambda: self.run(self._show_diagnostics(), button=diagnostics))
        self._begin(tr("If something is wrong"))
        text = tr("For a bug report. You see them first.")
        self._reports = group(theme, setting_row(theme, tr("Diagnostics"), text, diagnostics))
        self._area.body.addWidget(self._reports)

    def _begin(self, title: str) -> None:
        add_gap(self._area.body, SECTION_GAP)
        self._area.body.addLayout(heading(self._theme, title))

    def _open_path(self, path: str) -> None:
        """Opens a file or a folder with the system's program for it."""
        is_open = QDesktopServices.openUrl(QUrl.fromLocalFile(path))
        self.show_problem(None if is_open else Problem(tr("Nothing could be opened for this"), path))

    async def _show_licences(self) -> None:
        about = tr("Of Tooltray, and of what comes with it.")
        self.context.sheets.show(TextSheet(self.context, tr("Licences"), about, await self.hub.program.get_licences()))

    async def _show_diagnostics(self) -> None:
        about = tr("This is what you copy. Secrets are masked; look whether you want to share the rest.")
        self.context.sheets.show(TextSheet(self.context, tr("Diagnostics"), about, await self.hub.program.get_diagnostics()))
