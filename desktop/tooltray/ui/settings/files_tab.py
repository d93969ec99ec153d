"""The tab of settings about files: which files servers come from, what is wrong in them, what waits for the user's approval, and what has
it. Draws frozen snapshots.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import msgspec
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.foundation.snapshots.setup import FileProblem, ServerFileSnapshot
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.origins import folder_name
from tooltray.ui.settings.file_commands import FileCommands
from tooltray.ui.settings.file_sheets import FileSheets
from tooltray.ui.settings.file_words import (
    file_kind,
    file_look,
    file_title,
    needs_care,
    problem_place,
    problem_text,
    problem_title,
    server_count,
    trusted_how,
    trusted_title,
)
from tooltray.ui.state_language import needs_person
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import card_section, group, setting_row
from tooltray.ui.widgets.surface import clear, column, divider, row
from tooltray.ui.widgets.table import Table

MOST_OF_A_FILE = 3  # the first problems are often the cause of the others; all of them stand in the file's own sheet
MOST_FILES = 10  # that have problems; the list of files says which others have


class FileProblems(QWidget):
    """The problems of files. `open_requested` carries a file's path, `more_requested` a ServerFileSnapshot."""

    open_requested = Signal(str)
    more_requested = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[ServerFileSnapshot, ...] = ()
        self._layout = column(self)

    def set_files(self, files: Sequence[ServerFileSnapshot]) -> None:
        shown = tuple(file for file in files if file.problems)[:MOST_FILES]
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._layout)
        for file in shown:
            for problem in file.problems[:MOST_OF_A_FILE]:
                self._add(self._line(file, problem))
            if (more := len(file.problems) - MOST_OF_A_FILE) > 0:
                self._add(self._rest(file, more))

    def _add(self, line: QWidget) -> None:
        if self._layout.count():
            self._layout.addWidget(divider())
        self._layout.addWidget(line)

    def _line(self, file: ServerFileSnapshot, problem: FileProblem) -> QWidget:
        theme = self._theme
        widget = QWidget()
        line = row(widget, margins=(0, 10, 0, 10), spacing=10)
        line.addWidget(Icon(theme, "alert", 16, "error.text", "surface"), 0, Qt.AlignmentFlag.AlignTop)
        words = column()
        words.addWidget(Label(theme, problem_title(problem), "caption_strong", "error", wrap=True))
        if text := problem_text(problem):
            words.addWidget(Label(theme, text, "caption", "secondary", wrap=True))
        words.addWidget(Label(theme, problem_place(file, problem), "caption", "muted", wrap=True))
        line.addLayout(words, 1)
        button = Button(theme, tr("Open"), icon="external", small=True)
        button.setAccessibleName(tr("Open {file}", file=problem_place(file, problem)))
        button.clicked.connect(partial(self._on_open, file.path))
        line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return widget

    def _rest(self, file: ServerFileSnapshot, count: int) -> QWidget:
        widget = QWidget()
        line = row(widget, margins=(26, 6, 0, 6))
        button = Button(self._theme, tr("1 more problem") if count == 1 else tr("{count} more problems", count=count), "link", small=True)
        button.clicked.connect(partial(self._on_more, file))
        line.addWidget(button)
        line.addStretch(1)
        return widget

    def _on_open(self, path: str) -> None:
        self.open_requested.emit(path)

    def _on_more(self, file: ServerFileSnapshot) -> None:
        self.more_requested.emit(file)


class WaitingProject(msgspec.Struct, frozen=True):
    """A project's servers that wait for approval."""

    path: str
    requests: tuple[TrustRequest, ...]


class FilesTab(Page):
    reload_requested = Signal()
    follow_requested = Signal(bool)
    trust_requested = Signal(str)  # a project's folder, whose servers a person wants to look at
    distrust_requested = Signal(str, str)  # a project's folder; an entry's name in its file
    file_chosen = Signal(object)  # ServerFileSnapshot
    file_requested = Signal(str)  # a path, to be opened

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        self._theme, self._servers = theme, context.servers
        self._failing: frozenset[str] = frozenset()
        outer = column(self)
        self._fault = FaultArea(theme)
        outer.addWidget(NoticesAbove(self._fault, self._lists()), 1)
        self.enable(False)
        context.servers.servers_changed.connect(self._on_servers_changed)
        self._on_servers_changed()
        self.commands = FileCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self.sheets = FileSheets(context, self, commands=self.commands)
        self._connect(context)

    def _connect(self, context: PageContext) -> None:
        commands, sheets = self.commands, self.sheets
        self.look_requested.connect(commands.look)
        self.reload_requested.connect(commands.preview)
        self.follow_requested.connect(commands.follow)
        self.distrust_requested.connect(commands.distrust)
        self.trust_requested.connect(sheets.open_trust)
        self.file_chosen.connect(sheets.open_file_sheet)
        self.file_requested.connect(sheets.open_file)
        sheets.need_person.connect(self.need_person)
        commands.files_changed.connect(self.show_files)
        commands.requests_changed.connect(self.show_requests)
        commands.trusted_changed.connect(self.show_trusted)
        commands.follows_changed.connect(self.show_follows)
        commands.failed.connect(self.show_problem)
        commands.done.connect(context.say)
        commands.on_hub_changed()

    def enable(self, is_usable: bool) -> None:
        self._area.setEnabled(is_usable)

    def show_files(self, files: Sequence[ServerFileSnapshot]) -> None:
        self._problems.set_files(files)
        self._wrong.setVisible(any(file.problems for file in files))
        self._fill(self._files, files)
        self._used.setVisible(bool(files))

    def _on_servers_changed(self) -> None:
        """Redraws the files, whose status includes their servers' failures."""
        failing = frozenset(server.name for server in self._servers.servers if needs_person(server))
        if failing != self._failing:
            self._failing = failing
            self._files.viewport().update()

    def show_requests(self, requests: Sequence[TrustRequest]) -> None:
        projects = dict.fromkeys(request.project for request in requests)
        waiting = [WaitingProject(path, tuple(each for each in requests if each.project == path)) for path in projects]
        self._fill(self._waiting, waiting)
        self._asked.setVisible(bool(waiting))

    def show_trusted(self, entries: Sequence[TrustedEntry]) -> None:
        self._fill(self._trusted, entries)
        self._known.setVisible(bool(entries))

    def show_follows(self, is_on: bool) -> None:
        self._follow.set_on(is_on)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top; None removes it."""
        self._fault.show_problem(problem)

    def _fill(self, table: Table, rows: Sequence[object]) -> None:
        table.set_rows(rows)
        table.fit_height()
        table.viewport().update()  # a switch that a refused wish has moved stands as before

    def _lists(self) -> QWidget:
        theme = self._theme
        area = self._area = ReadingScroll(tr("Files"), spacing=20)
        body = area.body
        self._waiting = self._table(self._waiting_columns(), tr("Not allowed yet"), lambda each: each.path)
        self._waiting.row_chosen.connect(self._on_waiting_chosen)
        text = tr("Servers of a project run only after you have seen what they start.")
        self._asked = card_section(self._theme, body, tr("Not allowed yet"), text, self._waiting)
        self._problems = FileProblems(theme)
        self._problems.open_requested.connect(self.file_requested)
        self._problems.more_requested.connect(self.file_chosen)
        text = tr("Faulty entries are ignored; the rest is used, and running servers keep running.")
        self._wrong = card_section(self._theme, body, tr("Problems"), text, self._problems)
        self._files = self._table(self._file_columns(), tr("Files with servers"), lambda each: each.path)
        self._files.row_chosen.connect(self.file_chosen)
        text = tr("Your settings, the .mcp.json of projects that clients work on, and files given at the start.")
        self._used = card_section(self._theme, body, tr("Files with servers"), text, self._files)
        self._follow = Switch(theme, tr("Reload automatically"), on=True)
        self._follow.clicked.connect(self.follow_requested)
        again = Button(theme, tr("Read again…"), "ghost", "refresh", small=True)
        again.clicked.connect(self.reload_requested)
        text = tr("Within a second after saving. Restarts only what changed.")
        body.addWidget(group(theme, setting_row(theme, tr("Reload automatically"), text, again, self._follow)))
        self._trusted = self._table(self._trusted_columns(), tr("Trusted"), lambda each: (each.project, each.entry))
        self._trusted.switched.connect(self._on_switched)
        text = tr("Projects' servers that you reviewed. Switch off to revoke.")
        self._known = card_section(self._theme, body, tr("Trusted"), text, self._trusted)
        body.addStretch(1)
        return area

    def _table(self, columns: Sequence[Column], name: str, key: object) -> Table:
        table = Table(self._theme, columns, name, key, in_card=True, has_header=True)  # type: ignore[arg-type]
        table.selectionModel().currentChanged.connect(partial(self._keep_in_sight, table))
        return table

    def _waiting_columns(self) -> list[Column]:
        def care(each: WaitingProject) -> tuple[str, str]:
            if any(needs_care(request) for request in each.requests):
                return tr("Look closely"), "warning"
            return (tr("Changed"), "warning") if all(request.is_change for request in each.requests) else (tr("New"), "info")

        return [
            Column(tr("Project"), lambda each: folder_name(each.path) or tr("Programs"), Kind.TEXT, 200, lambda each: each.path),
            Column(tr("Servers"), lambda each: ", ".join(request.entry for request in each.requests), Kind.QUIET),
            Column(tr("State"), care, Kind.CHIP, 130),
            Column(tr("Next"), lambda _: tr("See what they start"), Kind.QUIET, 170),
        ]

    def _file_columns(self) -> list[Column]:
        return [
            Column(tr("File"), file_title, Kind.TEXT, 0, lambda each: each.path),
            Column(tr("Used"), file_kind, Kind.QUIET, 196),
            Column(tr("Servers"), lambda each: server_count(len(each.entries)), Kind.QUIET, 108),
            Column(tr("State"), lambda each: file_look(each, self._failing), Kind.STATE, 128),
        ]

    def _trusted_columns(self) -> list[Column]:
        return [
            Column(tr("Server"), trusted_title),
            Column(tr("Project"), lambda each: folder_name(each.project), Kind.QUIET, 200, lambda each: each.project),
            Column(tr("How"), trusted_how, Kind.QUIET, 148),
            Column(tr("Since"), lambda each: moment(each.trusted_at, datetime.now()), Kind.QUIET, 96),
            Column(tr("Trusted"), lambda _: True, Kind.SWITCH, 76),
        ]

    def _keep_in_sight(self, table: Table, current: QModelIndex, _before: QModelIndex) -> None:
        """Scrolls the page to a table's current row, since the tables are as high as their rows and do not scroll."""
        content = self._area.widget()
        if content is not None and current.isValid() and table.hasFocus():
            middle = table.viewport().mapTo(content, table.visualRect(current).center())
            self._area.ensureVisible(0, middle.y(), 0, table.verticalHeader().defaultSectionSize())

    def _on_waiting_chosen(self, waiting: WaitingProject) -> None:
        self.trust_requested.emit(waiting.path)

    def _on_switched(self, entry: TrustedEntry, _on: bool) -> None:
        self.distrust_requested.emit(entry.project, entry.entry)
