"""The sheets of the page of files, and what of files waits for a person's consent.

Above it: the page, and the tray, which tells of what waits. Below it: those sheets, and FileCommands. What a person has looked at or put
off is not brought up again before it is another one; the page has it all the same.
"""

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from tooltray.snapshots.files import ReloadChange, ServerFileSnapshot
from tooltray.snapshots.trust import TrustRequest
from tooltray.ui.files.file_commands import FileCommands
from tooltray.ui.files.file_sheet import FileSheet
from tooltray.ui.files.file_words import waiting_text, waiting_title
from tooltray.ui.files.reload_plan import ReloadPlanPanel
from tooltray.ui.files.trust_sheet import TrustPanel
from tooltray.ui.guard import GUARD_MS
from tooltray.ui.i18n import tr
from tooltray.ui.pages.page_context import PageContext


class FileSheets(QObject):
    """
    Args:
        guard_ms: how long the sheet of what waits takes no yes after each change.
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
        wishes.refusal_requested.connect(self._on_refusal_requested)
        wishes.file_place_requested.connect(self.open_place)
        context.notices.look_requested.connect(self._on_look_requested)
        context.notices.put_off_requested.connect(self.put_off)
        commands.files_changed.connect(self._on_files)
        commands.requests_changed.connect(self._on_requests)
        commands.previewed.connect(self._open_plan)

    @property
    def waiting(self) -> list[TrustRequest]:
        """What waits for a yes and nobody has looked at."""
        return [request for request in self._requests if request not in self._seen]

    def put_off(self) -> None:
        """A person does not want to be asked of what waits now."""
        self._seen.update(self._requests)
        self._tell_waiting()

    def open_trust(self, project: str | None = None) -> None:
        """Opens the sheet of what waits of a project (empty: of programs), or of the first one that nobody has looked at; an open sheet of
        any kind stays.
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
        """Opens a file with the program that the person has for it."""
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
        """Shows what reading again would do; an open sheet of any kind stays."""
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
