"""The tab of settings about backups: exporting and importing servers and settings as one file, and the starter servers."""

from PySide6.QtCore import Signal

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.backup_commands import BackupCommands
from tooltray.ui.settings.backup_sheets import BackupSheets
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import clear, column


class BackupTab(Page):
    reset_requested = Signal()
    export_requested = Signal()
    import_requested = Signal()

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._theme = context.theme
        self._area = ReadingScroll(tr("Backup"))
        column(self).addWidget(self._area)
        self._add_rows()
        self.enable(False)
        commands = self.commands = BackupCommands(hub=context.hub, tasks=context.tasks, parent=self, save_file=context.local.save_file)
        sheets = self.sheets = BackupSheets(context, self, commands=commands)
        self.reset_requested.connect(commands.preview_reset)
        self.export_requested.connect(sheets.export)
        self.import_requested.connect(sheets.open_import)
        commands.failed.connect(self.show_problem)
        commands.done.connect(context.say)

    def enable(self, is_usable: bool) -> None:
        self._area.content.setEnabled(is_usable)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure above the rows; None removes it."""
        clear(self._fault)
        if problem is not None:
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))

    def _add_rows(self) -> None:
        theme, body = self._theme, self._area.body
        text = ElidedLabel(theme, tr("Servers and settings as one file, without secrets."), "caption", "muted")
        body.addLayout(heading(theme, tr("Backup"), text))
        self._fault = column()
        body.addLayout(self._fault)
        export, take_in, reset = (
            Button(theme, words, small=True) for words in (tr("Export…"), tr("Import…"), tr("Restore starter servers…"))
        )
        export.clicked.connect(self.export_requested)
        take_in.clicked.connect(self.import_requested)
        reset.clicked.connect(self.reset_requested)
        rows = (
            setting_row(theme, tr("Export"), tr("For another computer, or to keep."), export),
            setting_row(theme, tr("Import"), tr("You see what changes first."), take_in),
            setting_row(theme, tr("Starter servers"), tr("The servers that come with Tooltray become as they came. Your own stay."), reset),
        )
        body.addWidget(group(theme, *rows))
        body.addStretch(1)
