"""The sheets of the page of files, and the files' entries that wait for approval. An entry that the user has seen or put off is not shown
again unless it changes; the page lists it all the same."""

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QShowEvent

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.snapshots.setup import ReloadChange, ServerFileSnapshot
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.origins import visible_path
from tooltray.ui.settings.file_commands import FileCommands
from tooltray.ui.settings.file_words import (
    entry_look,
    file_kind,
    file_title,
    here,
    problem_line,
    problem_text,
    problem_title,
    reload_does_something,
    reload_file,
    reload_look,
    reload_name,
    waiting_text,
    waiting_title,
)
from tooltray.ui.settings.trust_sheet import TrustPanel
from tooltray.ui.state_language import UNKNOWN
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.sheet import GUARD_MS, SheetFrame
from tooltray.ui.widgets.surface import Surface, clear, column
from tooltray.ui.widgets.table import Table

WIDTH = 680
MOST_PROBLEMS = 10  # in full; the first ones are often the cause of the others


class FileSheet(SheetFrame):
    """A sheet with a file's servers and problems. `file_requested` and `place_requested` open the file, or its folder; both carry the
    file's path.
    """

    file_requested = Signal(str)
    place_requested = Signal(str)

    def __init__(self, theme: Theme, file: ServerFileSnapshot) -> None:
        super().__init__(theme, file_title(file), WIDTH)
        self._path = file.path
        self.body.addWidget(CodeLabel(theme, visible_path(file.path), "secondary"))
        self._kind = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._kind)
        self._problems = column(spacing=8)
        self.body.addLayout(self._problems)
        self._table = Table(
            theme, _columns(), tr("Servers of the file"), lambda each: (each.name, each.line), in_card=True, has_header=True
        )
        self._box = Surface(theme, "surface", "border", "m")
        column(self._box, margins=(14, 1, 14, 1)).addWidget(self._table)
        self.body.addWidget(self._box)
        place = Button(theme, tr("Open folder"), "ghost", "folder")
        place.clicked.connect(self._on_place)
        self.buttons.addWidget(place)
        self.buttons.addStretch(1)
        self._close = Button(theme, tr("Close"))
        self._close.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._close)
        self._look = Button(theme, tr("Open the file"), "primary", "external")
        self._look.clicked.connect(self._on_look)
        self.buttons.addWidget(self._look)
        self.set_file(file)

    @property
    def path(self) -> str:
        return self._path

    def set_file(self, file: ServerFileSnapshot) -> None:
        """Shows a newer snapshot of the file."""
        words = [file_kind(file), tr("its endpoint: {url}", url=file.url) if file.url else ""]
        self._kind.setText(" · ".join(word for word in words if word))
        self._look.setEnabled(file.exists)
        clear(self._problems)
        for problem in file.problems[:MOST_PROBLEMS]:
            text = "\n".join(part for part in (problem_text(problem), problem_line(problem)) if part)
            self._problems.addWidget(Banner(self._theme, "error", problem_title(problem), text))
        if (more := len(file.problems) - MOST_PROBLEMS) > 0:
            text = tr("1 more problem") if more == 1 else tr("{count} more problems", count=more)
            self._problems.addWidget(Label(self._theme, text, "caption", "muted"))
        self._table.set_rows(file.entries)
        self._table.fit_height()
        self._box.setVisible(bool(file.entries))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._close.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_look(self) -> None:
        self.file_requested.emit(self._path)

    def _on_place(self) -> None:
        self.place_requested.emit(self._path)


def _columns() -> list[Column]:
    return [
        Column(tr("Server"), lambda each: each.name),
        Column(tr("Called here"), here, Kind.QUIET, 170),
        Column(tr("State"), entry_look, Kind.STATE, 160),
        Column(tr("Line"), lambda each: str(each.line or UNKNOWN), Kind.NUMBER, 60),
    ]


PLAN_WIDTH = 760


class ReloadPlanPanel(SheetFrame):
    """A sheet with the changes that a reload would make. `confirmed` requests the reload; its receiver calls `show_refusal`, or closes the
    sheet.
    """

    confirmed = Signal()

    def __init__(self, theme: Theme, changes: Sequence[ReloadChange]) -> None:
        super().__init__(theme, tr("Read the files again"), PLAN_WIDTH)
        self._what = Label(theme, "", "body", "secondary", wrap=True)
        self.body.addWidget(self._what)
        columns = [
            Column(tr("Name"), reload_name, Kind.TEXT, 148),
            Column(tr("Change"), reload_look, Kind.STATE, 132),
            Column(tr("Details"), lambda each: say(each.detail), Kind.QUIET),
            Column(tr("File"), reload_file, Kind.QUIET, 140, lambda each: each.file),
        ]
        self._table = Table(
            theme, columns, tr("What changes"), lambda each: (each.file, each.kind, each.name, each.detail), in_card=True, has_header=True
        )
        self._box = Surface(theme, "surface", "border", "m")
        column(self._box, margins=(14, 1, 14, 1)).addWidget(self._table)
        self.body.addWidget(self._box)
        self.buttons.addStretch(1)
        self._cancel = Button(theme, tr("Cancel"))
        self._cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._cancel)
        self._go = Button(theme, tr("Reload now"), "primary")
        self._go.clicked.connect(self._on_go)
        self.buttons.addWidget(self._go)
        self.show_plan(changes)

    def show_plan(self, changes: Sequence[ReloadChange]) -> None:
        """Shows what a reload would change now."""
        is_something = reload_does_something(changes)
        text = tr("This is what would change. Calls to other servers continue. Nothing has been done yet.")
        quiet = tr("No changes. These need your review first.") if changes else tr("All servers run as in their files. Nothing to do.")
        self._what.setText(text if is_something else quiet)
        self._table.set_rows(changes)
        self._table.fit_height()
        self._box.setVisible(bool(changes))
        self._can_go = is_something
        self._go.setVisible(is_something)
        self._cancel.setText(tr("Cancel") if is_something else tr("Close"))
        self._set_busy(False)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_refusal(self, problem: Problem) -> None:
        self._set_busy(False)
        self.show_problem(problem)

    def _on_go(self) -> None:
        self._set_busy(True)
        self.show_problem(None)
        self.confirmed.emit()

    def _set_busy(self, is_busy: bool) -> None:
        self._go.setText(tr("Reading…") if is_busy else tr("Reload now"))
        self._go.setEnabled(self._can_go and not is_busy)


class FileSheets(QObject):
    """The sheets of the page of files.

    Args:
        guard_ms: how long the sheet for approval takes no approval after each change.
    """

    need_person = Signal(int)  # how much stands on the page that a person should see to

    def __init__(self, context: PageContext, parent: QObject, *, commands: FileCommands, guard_ms: int = GUARD_MS) -> None:
        super().__init__(parent)
        self._context, self._commands, self._guard_ms = context, commands, guard_ms
        self._theme, self._place, self._links = context.theme, context.sheets, context.links
        self._files: Sequence[ServerFileSnapshot] = ()
        self._requests: Sequence[TrustRequest] = ()
        self._told: set[TrustRequest] = set()
        self._seen: set[TrustRequest] = set()
        wishes = context.wishes
        wishes.file_requested.connect(self.open_file)
        wishes.trust_requested.connect(self._on_trust_requested)
        context.links.trust_asked.connect(self.open_trust)
        wishes.refusal_requested.connect(self._on_refusal_requested)
        wishes.file_place_requested.connect(self.open_place)
        context.notices.look_requested.connect(self._on_look_requested)
        context.notices.put_off_requested.connect(self.put_off)
        commands.files_changed.connect(self._on_files)
        commands.requests_changed.connect(self._on_requests)
        commands.previewed.connect(self._open_plan)

    @property
    def waiting(self) -> list[TrustRequest]:
        """The requests that wait for approval and that the user has not seen."""
        return [request for request in self._requests if request not in self._seen]

    def put_off(self) -> None:
        """Marks all requests of now as seen, so that the user is not prompted for them."""
        self._seen.update(self._requests)
        self._tell_waiting()

    def open_trust(self, project: str | None = None) -> None:
        """Opens the sheet with the requests of a project (empty: of programs), or of the first unseen one; does nothing while any sheet is
        open.
        """
        if project is None:
            project = next((request.project for request in self.waiting), "")
        requests = [request for request in self._requests if request.project == project]
        if not requests or self._place.sheet is not None:
            return
        panel, commands = TrustPanel(self._theme, requests, guard_ms=self._guard_ms), self._commands
        panel.trusted.connect(commands.trust)
        panel.file_requested.connect(self.open_file)
        panel.refused.connect(commands.refuse)
        commands.requests_changed.connect(panel.set_requests)
        commands.refused.connect(panel.show_refusal)
        sheet = self._place.open(panel)
        sheet.closed.connect(self._on_looked)
        self._looked_at = panel
        panel.close_requested.connect(sheet.dismiss)
        commands.saved.connect(sheet.dismiss)

    def _on_look_requested(self) -> None:
        self.open_trust()

    def _tell_waiting(self) -> None:
        waiting = self.waiting
        self._context.notices.set_waiting((waiting_title(waiting), waiting_text(waiting)) if waiting else None)
        self._links.entries_waiting_changed.emit(waiting)

    def _on_trust_requested(self, _server: str) -> None:
        self.open_trust("")

    def _on_refusal_requested(self, server: str) -> None:
        self._commands.refuse((server,))

    def open_file(self, path: str) -> None:
        """Opens a file with the user's program for it."""
        self._open(path, tr("No program opens this file. Its path is copied."))

    def open_place(self, path: str) -> None:
        """Opens the folder of a file."""
        self._open(str(PurePath(path).parent), tr("No program opens this folder. Its path is copied."))

    def _open(self, path: str, otherwise: str) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(path)):
            self._context.copy(path, otherwise)

    def _on_looked(self) -> None:
        self._seen.update(self._looked_at.shown)
        self._tell_waiting()

    def _on_files(self, files: Sequence[ServerFileSnapshot]) -> None:
        self._files = files
        self._links.projects_changed.emit([file.project for file in files if file.kind == "mcp.json" and file.project])
        sheet = self._place.sheet
        if sheet is not None and isinstance(sheet.panel, FileSheet):
            for file in files:
                if file.path == sheet.panel.path:
                    sheet.panel.set_file(file)
        self._count()

    def _on_requests(self, requests: Sequence[TrustRequest]) -> None:
        self._requests = requests
        new = [request for request in requests if request not in self._told]
        self._told.update(new)
        self._tell_waiting()
        if new:
            self._links.entries_asked.emit(new)
        self._count()

    def _count(self) -> None:
        self.need_person.emit(len(self._requests) + sum(bool(file.problems) for file in self._files))

    def _open_plan(self, changes: Sequence[ReloadChange]) -> None:
        """Shows what a reload would change; an open sheet of any kind stays."""
        if self._place.sheet is not None:
            return
        panel, commands = ReloadPlanPanel(self._theme, changes), self._commands
        panel.confirmed.connect(commands.reload)
        commands.refused.connect(panel.show_refusal)
        sheet = self._place.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        commands.saved.connect(sheet.dismiss)

    def open_file_sheet(self, file: ServerFileSnapshot) -> None:
        if self._place.sheet is not None:
            return
        panel = FileSheet(self._theme, file)
        panel.file_requested.connect(self.open_file)
        panel.place_requested.connect(self.open_place)
        panel.close_requested.connect(self._place.open(panel).dismiss)
