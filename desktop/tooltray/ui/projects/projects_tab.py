"""The tab Projects of Servers: which folders may have servers of their own, which files servers come from, and what is wrong in them; the
sheet of one file; and the sheet that shows what reading the files again would change, and then does it. Draws frozen snapshots."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import PurePath

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, ServerFilesChanged
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.foundation.snapshots.setup import FileProblem, ReloadChange, ServerFileSnapshot
from tooltray.ui.figures import moment
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import TableSection, keep_in_sight
from tooltray.ui.kit.setting_form import Setting, SettingForm
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import sentences
from tooltray.ui.projects import file_words as said
from tooltray.ui.projects.file_words import FolderRow, folder_rows
from tooltray.ui.projects.trust_sheet import FolderSheet, TrustSheet
from tooltray.ui.state_language import UNKNOWN, needs_person
from tooltray.ui.widgets.banner import Banner, FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import add_lines, card_section, group, lines_box
from tooltray.ui.widgets.surface import clear, column, fill, row
from tooltray.ui.widgets.table import Table

MOST_OF_A_FILE = 3  # the first problems are often the cause of the others; all of them stand in the file's own sheet
MOST_FILES = 10  # that have problems; the list of files says which others have
WIDTH, RELOAD_WIDTH = 680, 760
MOST_PROBLEMS = 10  # in full; the first ones are often the cause of the others


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
        add_lines(self._layout, (line for file in shown for line in self._lines(file)))

    def _lines(self, file: ServerFileSnapshot) -> Iterator[QWidget]:
        for problem in file.problems[:MOST_OF_A_FILE]:
            yield self._line(file, problem)
        if (more := len(file.problems) - MOST_OF_A_FILE) > 0:
            yield self._rest(file, more)

    def _line(self, file: ServerFileSnapshot, problem: FileProblem) -> QWidget:
        theme, widget, place = self._theme, QWidget(), said.problem_place(file, problem)
        line = row(widget, margins=(0, 10, 0, 10), spacing=10)
        line.addWidget(Icon(theme, "alert", 16, "error.text", "surface"), 0, Qt.AlignmentFlag.AlignTop)
        words = fill(column(), Label(theme, said.problem_title(problem), "caption_strong", "error", wrap=True))
        if text := sentences(problem.problem):
            words.addWidget(Label(theme, text, "caption", "secondary", wrap=True))
        words.addWidget(Label(theme, place, "caption", "muted", wrap=True))
        line.addLayout(words, 1)
        button = Button(theme, tr("Open"), icon="external", small=True, on_click=lambda: self._tab.open_file(file.path))
        button.setAccessibleName(tr("Open {file}", file=place))
        line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return widget

    def _rest(self, file: ServerFileSnapshot, count: int) -> QWidget:
        widget, text = QWidget(), many(count, "1 more problem", "{count} more problems")
        button = Button(self._theme, text, "link", small=True, on_click=lambda: self._tab.open_sheet(file))
        fill(row(widget, margins=(26, 6, 0, 6)), button, 1)
        return widget


class ProjectsTab(Page):
    """The tab of projects' folders and files. It also follows what waits for the user's approval, which the tray and the notices show, too.
    An entry that the user has seen or put off is not shown there again unless it changes; the tab lists it all the same.
    """

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        self._theme = context.theme
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
        self._files.set_rows(files)
        self._files.fit_height()
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
        self._folder_section.show_rows(folder_rows(self._requests, self._allowed, self._trusted))

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
        panel = TrustSheet(self.context, requests, self._read_all)
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

    def _lists(self) -> QWidget:
        theme = self._theme
        area = self._area = ReadingScroll(tr("Projects"), spacing=20)
        self._folder_section = self._folder_list()
        area.body.addWidget(self._folder_section)
        self._problems = FileProblems(self)
        text = tr("Faulty entries are ignored; the rest is used, and running servers keep running.")
        self._wrong = card_section(theme, area.body, tr("Problems"), text, self._problems)
        columns = [
            Column(tr("File"), said.file_title, Kind.TEXT, 0, lambda each: each.path),
            Column(tr("Used"), said.file_kind, Kind.QUIET, 196),
            Column(tr("Servers"), lambda each: many(len(each.entries), "1 server", "{count} servers"), Kind.QUIET, 108),
            Column(tr("State"), lambda each: said.file_look(each, self._failing), Kind.STATE, 128),
        ]
        self._files = Table(theme, columns, tr("Files with servers"), lambda each: each.path, in_card=True, has_header=True)
        self._files.row_chosen.connect(self.open_sheet)
        text = tr("Your settings, the .mcp.json of projects that clients work on, and files given at the start.")
        self._used = card_section(theme, area.body, tr("Files with servers"), text, self._files)
        again = Button(theme, tr("Read again…"), "ghost", "refresh", small=True, on_click=lambda: self.run(self._preview()))
        text = tr("Within a second after saving. Restarts only what changed.")
        fill(area.body, group(theme, self._form.row(Setting("hotReload", tr("Reload automatically"), text, True), again)), 1)
        keep_in_sight(area, self._folders, self._files)
        return area

    def _folder_list(self) -> TableSection:
        columns = [
            Column(tr("Folder"), lambda each: visible_path(each.path) or tr("Programs"), Kind.TEXT, 0, lambda each: each.path),
            Column(tr("Servers"), said.row_servers, Kind.QUIET),
            Column(tr("State"), said.row_state, Kind.CHIP, 120, said.row_state_tip),
            Column(tr("Since"), lambda each: moment(each.trusted.trusted_at, datetime.now()) if each.trusted else "", Kind.QUIET, 96),
            Column("", lambda each: tr("Review…") if each.requests else tr("Revoke"), Kind.BUTTON, 92),
        ]
        self._folders = table = Table(self._theme, columns, tr("Folders"), lambda each: each.key, in_card=True, has_header=True)
        table.row_chosen.connect(self._on_folder)
        table.pressed.connect(self._on_action)
        add = Button(self._theme, tr("Allow a folder…"), icon="plus", small=True, on_click=self._on_allow)
        text = tr("Servers of a project run only after you have seen what they start.")
        nothing = tr("None yet. When a project brings servers, they wait for your approval.")
        return TableSection(self.context, tr("Folders"), text, table, add, nothing=nothing)

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
        panel = FolderSheet(self.context, path, requests, self._read_all, trusted=trusted, problem=problem)
        self.context.sheets.show(panel)


class FileSheet(SheetView):
    """A sheet with a file's servers and problems; its buttons open the file, or its folder."""

    def __init__(self, context: PageContext, file: ServerFileSnapshot) -> None:
        super().__init__(context, said.file_title(file), WIDTH)
        theme, wishes, self.path = context.theme, context.wishes, file.path
        self._kind = Label(theme, "", "caption", "muted", wrap=True)
        self._problems = column(spacing=8)
        columns = [
            Column(tr("Server"), lambda each: each.name),
            Column(tr("Called here"), said.here, Kind.QUIET, 170),
            Column(tr("State"), said.entry_look, Kind.STATE, 160),
            Column(tr("Line"), lambda each: str(each.line or UNKNOWN), Kind.NUMBER, 60),
        ]
        name = tr("Servers of the file")
        self._table = Table(theme, columns, name, lambda each: (each.name, each.line), in_card=True, has_header=True)
        self._box = lines_box(theme, [self._table], margin=1)
        fill(self.body, CodeLabel(theme, visible_path(file.path), "secondary"), self._kind, self._problems, self._box)
        open_folder = Button(theme, tr("Open folder"), "ghost", "folder", on_click=lambda: wishes.file_place_requested.emit(self.path))
        fill(self.buttons, open_folder, 1)
        self.set_first_focus(self.add_button(tr("Close"), self.leave))
        self._open = self.add_button(tr("Open the file"), lambda: wishes.file_requested.emit(self.path), "primary", "external")
        self.set_file(file)

    def set_file(self, file: ServerFileSnapshot) -> None:
        """Shows a newer snapshot of the file."""
        self._kind.setText(said.file_kind(file) + (f" · {tr('its endpoint: {url}', url=file.url)}" if file.url else ""))
        self._open.setEnabled(file.exists)
        clear(self._problems)
        for problem in file.problems[:MOST_PROBLEMS]:
            text = "\n".join(filter(None, (sentences(problem.problem), said.problem_line(problem))))
            self._problems.addWidget(Banner(self._theme, "error", said.problem_title(problem), text))
        if (more := len(file.problems) - MOST_PROBLEMS) > 0:
            text = many(more, "1 more problem", "{count} more problems")
            self._problems.addWidget(Label(self._theme, text, "caption", "muted"))
        self._table.set_rows(file.entries)
        self._table.fit_height()
        self._box.setVisible(bool(file.entries))


class ReloadSheet(SheetView):
    """A sheet with the changes that a reload would make.

    Args:
        read: reads what the page shows of files.
    """

    def __init__(self, context: PageContext, changes: Sequence[ReloadChange], read: Work) -> None:
        super().__init__(context, tr("Read the files again"), RELOAD_WIDTH)
        theme, self._read, self._can_go = context.theme, read, said.reload_does_something(changes)
        text = tr("This is what would change. Calls to other servers continue. Nothing has been done yet.")
        quiet = tr("No changes. These need your review first.") if changes else tr("All servers run as in their files. Nothing to do.")
        self.body.addWidget(Label(theme, text if self._can_go else quiet, "body", "secondary", wrap=True))
        columns = [
            Column(tr("Name"), said.reload_name, Kind.TEXT, 148),
            Column(tr("Change"), said.reload_look, Kind.STATE, 132),
            Column(tr("Details"), lambda each: say(each.detail), Kind.QUIET),
            Column(tr("File"), said.reload_file, Kind.QUIET, 140, lambda each: each.file),
        ]
        table = Table(theme, columns, tr("What changes"), lambda each: each, in_card=True, has_header=True)
        table.set_rows(changes)
        table.fit_height()
        box = lines_box(theme, [table], margin=1)
        self.body.addWidget(box)
        box.setVisible(bool(changes))
        self.set_first_focus(self.add_button(tr("Cancel") if self._can_go else tr("Close"), self.leave))
        self._go = self.add_button(tr("Reload now"), self._on_go, "primary")
        self._go.setVisible(self._can_go)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top, and lets the user try again; None removes it."""
        super().show_problem(problem)
        if problem is not None:
            self._set_busy(False)

    def _on_go(self) -> None:
        self._set_busy(True)
        self.show_problem(None)
        self.run(self._reload(), then=self._read, toast=tr("The files are read again"))

    async def _reload(self) -> None:
        await self.hub.files.reload()
        self.close_requested.emit()

    def _set_busy(self, is_busy: bool) -> None:
        self._go.setText(tr("Reading…") if is_busy else tr("Reload now"))
        self._go.setEnabled(not is_busy)
