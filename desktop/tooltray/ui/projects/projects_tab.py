"""The tab Projects of Servers: which folders may have servers of their own, which files servers come from, and what is wrong in them. Draws
frozen snapshots.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import PurePath

from PySide6.QtCore import QModelIndex, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, ServerFilesChanged
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.foundation.snapshots.setup import FileProblem, ServerFileSnapshot
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.setting_form import Setting, SettingForm
from tooltray.ui.projects import file_words as said
from tooltray.ui.projects.file_sheet import FileSheet, ReloadSheet
from tooltray.ui.projects.file_words import FolderRow, folder_rows
from tooltray.ui.projects.folder_sheet import FolderSheet
from tooltray.ui.projects.trust_sheet import TrustSheet
from tooltray.ui.state_language import needs_person
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import card_section, group, heading
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

MOST_OF_A_FILE = 3  # the first problems are often the cause of the others; all of them stand in the file's own sheet
MOST_FILES = 10  # that have problems; the list of files says which others have


class FileProblems(QWidget):
    """The problems of files; the tab opens a file, or the sheet with everything of it."""

    def __init__(self, tab: "ProjectsTab") -> None:
        super().__init__()
        self._theme, self._tab = tab.context.theme, tab
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
        words.addWidget(Label(theme, said.problem_title(problem), "caption_strong", "error", wrap=True))
        if text := said.problem_text(problem):
            words.addWidget(Label(theme, text, "caption", "secondary", wrap=True))
        words.addWidget(Label(theme, said.problem_place(file, problem), "caption", "muted", wrap=True))
        line.addLayout(words, 1)
        button = Button(theme, tr("Open"), icon="external", small=True)
        button.setAccessibleName(tr("Open {file}", file=said.problem_place(file, problem)))
        button.clicked.connect(lambda: self._tab.open_file(file.path))
        line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return widget

    def _rest(self, file: ServerFileSnapshot, count: int) -> QWidget:
        widget = QWidget()
        line = row(widget, margins=(26, 6, 0, 6))
        button = Button(self._theme, many(count, "1 more problem", "{count} more problems"), "link", small=True)
        button.clicked.connect(lambda: self._tab.open_sheet(file))
        line.addWidget(button)
        line.addStretch(1)
        return widget


class ProjectsTab(Page):
    """The tab of projects' folders and files. It also follows what waits for the user's approval, which the tray and the notices show, too.
    An entry that the user has seen or put off is not shown there again unless it changes; the tab lists it all the same.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._theme, self._guard_ms = context.theme, GUARD_MS
        self._failing: frozenset[str] = frozenset()
        self._found: Sequence[ServerFileSnapshot] = ()
        self._requests: list[TrustRequest] = []
        self._allowed: Sequence[str] = ()  # folders for which servers may be started
        self._trusted: Sequence[TrustedEntry] = ()
        self._told: set[TrustRequest] = set()
        self._seen: set[TrustRequest] = set()
        self._is_connected = False
        self._form = SettingForm(self, self._read_follow)
        self._fault = FaultArea(self._theme)
        column(self).addWidget(NoticesAbove(self._fault, self._lists()), 1)
        self.enable(False)
        self._look, self._look_known, self._look_follow = (self.reading(read) for read in (self._read, self._read_known, self._read_follow))
        for look in (self._look, self._look_known, self._look_follow):
            self.look_requested.connect(look)
        self._connect(context)
        self._on_servers_changed()
        self._on_hub_changed()

    def _connect(self, context: PageContext) -> None:
        hub, wishes, notices = context.hub, context.wishes, context.notices
        context.servers.servers_changed.connect(self._on_servers_changed)
        for look in (self._look, self._look_known):
            hub.on_any((ServerFilesChanged,), look, self)
        hub.on_any((ConfigChanged,), self.look_again, self)
        hub.snapshot_changed.connect(self._on_hub_changed)
        wishes.file_requested.connect(self.open_file)
        wishes.file_place_requested.connect(self._open_place)
        wishes.trust_requested.connect(self._on_trust_requested)
        wishes.refusal_requested.connect(self._on_refusal_requested)
        context.links.trust_asked.connect(self.open_trust)
        notices.look_requested.connect(self._on_look_requested)
        notices.put_off_requested.connect(self.put_off)

    def enable(self, is_usable: bool) -> None:
        self._area.setEnabled(is_usable)

    def show_files(self, files: Sequence[ServerFileSnapshot]) -> None:
        self._found = files
        self.context.links.projects_changed.emit([file.project for file in files if file.kind == "mcp.json" and file.project])
        self._problems.set_files(files)
        self._wrong.setVisible(any(file.problems for file in files))
        self._fill(self._files, files)
        self._used.setVisible(bool(files))
        if isinstance(sheet := self.context.sheets.panel, FileSheet):
            for file in files:
                if file.path == sheet.path:
                    sheet.set_file(file)
        self._count()

    def _on_servers_changed(self) -> None:
        """Redraws the files, whose status includes their servers' failures."""
        failing = frozenset(server.name for server in self.context.servers.servers if needs_person(server))
        if failing != self._failing:
            self._failing = failing
            self._files.viewport().update()

    def show_requests(self, requests: list[TrustRequest]) -> None:
        """Shows what waits for approval: here, above the pages, and in the tray."""
        if requests == self._requests:
            return
        self._requests = requests
        new = [request for request in requests if request not in self._told]
        self._told.update(new)
        self._tell_waiting()
        if new:
            self.context.links.entries_asked.emit(new)
        self._count()
        self._draw_folders()
        if isinstance(sheet := self.context.sheets.panel, TrustSheet):
            sheet.set_requests(requests)

    def _draw_folders(self) -> None:
        rows = folder_rows(self._requests, self._allowed, self._trusted)
        self._fill(self._folders, rows)
        self._folders.setVisible(bool(rows))
        self._no_folders.setVisible(not rows)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top; None removes it."""
        self._fault.show_problem(problem)

    @property
    def waiting(self) -> list[TrustRequest]:
        """The requests that wait for approval and that the user has not seen."""
        return [request for request in self._requests if request not in self._seen]

    def put_off(self) -> None:
        """Marks all requests of now as seen, so that the user is not prompted for them."""
        self._mark_seen(self._requests)

    def open_trust(self, project: str) -> None:
        """Opens the sheet with the requests of a project (empty: of programs); does nothing while any sheet is open."""
        requests = [request for request in self._requests if request.project == project]
        if not requests:
            return
        panel = TrustSheet(self.context, requests, self._read_all, guard_ms=self._guard_ms)
        if (sheet := self.context.sheets.show(panel)) is not None:
            sheet.closed.connect(lambda: self._mark_seen(panel.shown))

    async def _read(self) -> None:
        """Reads what other pages show, too."""
        self.show_requests(await self.hub.files.get_trust_requests())
        self.show_files(await self.hub.files.get_server_files())

    async def _read_known(self) -> None:
        """Reads which folders are allowed, and what is trusted in them."""
        self._allowed = await self.hub.projects.get_allowed_folders()
        self._trusted = await self.hub.files.get_trusted_entries()
        self._draw_folders()

    async def _read_follow(self) -> None:
        self._form.show_settings((await self.hub.settings.get_settings()).settings)

    async def _read_all(self) -> None:
        await self._read()
        await self._read_known()

    async def _preview(self) -> None:
        changes = await self.hub.files.preview_reload()
        self.context.sheets.show(ReloadSheet(self.context, changes, self._read))

    def _on_hub_changed(self) -> None:
        """Reads the files once the hub is connected, and drops the requests when it disconnects; the tab may be built later."""
        is_connected = self.hub.snapshot is not None
        if is_connected and not self._is_connected:
            self._look()
        elif self._is_connected and not is_connected:  # the engine is gone, and what it asked with it
            self.show_requests([])
        self._is_connected = is_connected

    def _mark_seen(self, requests: Iterable[TrustRequest]) -> None:
        self._seen.update(requests)
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        waiting = self.waiting
        self.context.notices.set_waiting((said.waiting_title(waiting), said.waiting_text(waiting)) if waiting else None)
        self.context.links.entries_waiting_changed.emit(waiting)

    def _count(self) -> None:
        self.need_person.emit(len(self._requests) + sum(bool(file.problems) for file in self._found))

    def _on_trust_requested(self, _server: str) -> None:
        self.open_trust("")

    def _on_look_requested(self) -> None:
        self.open_trust(next((request.project for request in self.waiting), ""))

    def _on_refusal_requested(self, server: str) -> None:
        """Refuses what programs have proposed of a server; its card may be on another page, so that a failure is a notice."""
        toast = tr("Declined: {names}", names=server)
        self.context.run(self.hub.files.distrust_entries("", server), then=self._read, toast=toast)

    def open_file(self, path: str) -> None:
        """Opens a file with the user's program for it."""
        self._open(path, tr("No program opens this file. Its path is copied."))

    def _open_place(self, path: str) -> None:
        """Opens the folder of a file."""
        self._open(str(PurePath(path).parent), tr("No program opens this folder. Its path is copied."))

    def _open(self, path: str, otherwise: str) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(path)):
            self.context.copy(path, otherwise)

    def open_sheet(self, file: ServerFileSnapshot) -> None:
        """Opens the sheet of a file."""
        self.context.sheets.show(FileSheet(self.context, file))

    def _fill(self, table: Table, rows: Sequence[object]) -> None:
        table.set_rows(rows)
        table.fit_height()
        table.viewport().update()  # a switch that a refused wish has moved stands as before

    def _lists(self) -> QWidget:
        theme = self._theme
        area = self._area = ReadingScroll(tr("Projects"), spacing=20)
        body = area.body
        body.addWidget(self._folder_list())
        self._problems = FileProblems(self)
        text = tr("Faulty entries are ignored; the rest is used, and running servers keep running.")
        self._wrong = card_section(self._theme, body, tr("Problems"), text, self._problems)
        self._files = self._table(self._file_columns(), tr("Files with servers"), lambda each: each.path)
        self._files.row_chosen.connect(self.open_sheet)
        text = tr("Your settings, the .mcp.json of projects that clients work on, and files given at the start.")
        self._used = card_section(self._theme, body, tr("Files with servers"), text, self._files)
        again = Button(theme, tr("Read again…"), "ghost", "refresh", small=True)
        again.clicked.connect(lambda: self.run(self._preview()))
        text = tr("Within a second after saving. Restarts only what changed.")
        body.addWidget(group(theme, self._form.row(Setting("hotReload", tr("Reload automatically"), text, True), again)))
        body.addStretch(1)
        return area

    def _folder_list(self) -> QWidget:
        theme, widget = self._theme, QWidget()
        add = Button(theme, tr("Allow a folder…"), icon="plus", small=True)
        add.clicked.connect(self._on_allow)
        text = tr("Servers of a project run only after you have seen what they start.")
        layout = column(widget, spacing=10)
        layout.addLayout(heading(theme, tr("Folders"), ElidedLabel(theme, text, "caption", "muted"), add))
        box = Surface(theme)
        lines = column(box, margins=(16, 1, 16, 1))
        self._folders = self._table(self._folder_columns(), tr("Folders"), lambda each: each.key)
        self._folders.row_chosen.connect(self._on_folder)
        self._folders.pressed.connect(self._on_action)
        lines.addWidget(self._folders)
        text = tr("None yet. When a project brings servers, they wait for your approval.")
        self._no_folders = Label(theme, text, "body", "muted", wrap=True)
        self._no_folders.setContentsMargins(0, px(14), 0, px(14))
        lines.addWidget(self._no_folders)
        layout.addWidget(box)
        return widget

    def _table(self, columns: Sequence[Column], name: str, key: object) -> Table:
        table = Table(self._theme, columns, name, key, in_card=True, has_header=True)  # type: ignore[arg-type]
        table.selectionModel().currentChanged.connect(partial(self._keep_in_sight, table))
        return table

    def _folder_columns(self) -> list[Column]:
        return [
            Column(tr("Folder"), said.row_folder, Kind.TEXT, 0, lambda each: each.path),
            Column(tr("Servers"), said.row_servers, Kind.QUIET),
            Column(tr("State"), said.row_state, Kind.CHIP, 120, said.row_state_tip),
            Column(tr("Since"), said.row_since, Kind.QUIET, 96),
            Column("", said.row_action, Kind.BUTTON, 92),
        ]

    def _file_columns(self) -> list[Column]:
        return [
            Column(tr("File"), said.file_title, Kind.TEXT, 0, lambda each: each.path),
            Column(tr("Used"), said.file_kind, Kind.QUIET, 196),
            Column(tr("Servers"), lambda each: many(len(each.entries), "1 server", "{count} servers"), Kind.QUIET, 108),
            Column(tr("State"), lambda each: said.file_look(each, self._failing), Kind.STATE, 128),
        ]

    def _keep_in_sight(self, table: Table, current: QModelIndex, _before: QModelIndex) -> None:
        """Scrolls the page to a table's current row, since the tables are as high as their rows and do not scroll."""
        content = self._area.widget()
        if content is not None and current.isValid() and table.hasFocus():
            middle = table.viewport().mapTo(content, table.visualRect(current).center())
            self._area.ensureVisible(0, middle.y(), 0, table.verticalHeader().defaultSectionSize())

    def _on_folder(self, row: FolderRow) -> None:
        """Opens what waits in a folder, or else the file that its servers come from."""
        if row.requests:
            self.open_trust(row.path)
        elif (file := next((each for each in self._found if row.trusted is not None and each.project == row.path), None)) is not None:
            self.open_sheet(file)

    def _on_action(self, row: FolderRow) -> None:
        """Opens what waits in a folder, or revokes what was allowed there."""
        files, projects, trusted = self.hub.files, self.hub.projects, row.trusted
        if row.requests:
            self.open_trust(row.path)
        elif trusted is not None:
            of = (trusted.project, trusted.entry)
            toast = tr("{name} is not allowed any more", name=trusted.entry)
            self.run(files.distrust_entries(*of), then=self._read_all, toast=toast, undo=partial(files.restore_trust, *of))
        else:
            toast = tr("{folder} is not allowed any more", folder=row.path)
            self.run(projects.disallow_folder(row.path), then=self._read_known, toast=toast, undo=partial(projects.allow_folder, row.path))

    def _on_allow(self) -> None:
        self.context.choose_folder(tr("Allow a folder"), lambda path: self.run(self._ask_for_folder(path)))

    async def _ask_for_folder(self, path: str) -> None:
        """Shows what a folder has and what allowing it means; the sheet allows it."""
        requests, problem = [], None
        try:
            requests = await self.hub.files.get_trust_requests(path)
        except TooltrayError as error:  # about its file, which allowing does not need; or it can be no project: allowing says so again
            problem = error.problem
        trusted = [each for each in self._trusted if each.project == (requests[0].project if requests else path)]
        panel = FolderSheet(self.context, path, requests, self._read_all, trusted=trusted, problem=problem, guard_ms=self._guard_ms)
        self.context.sheets.show(panel)
