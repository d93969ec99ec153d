"""The tab of what is trusted: folders in which servers may work, and entries of projects' own files that may run. Draws frozen
snapshots."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.approvals import TrustedEntry
from tooltray.ui.approval.permissions_part import PermissionsPart
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Table

if TYPE_CHECKING:
    from tooltray.ui.approval.permissions_page import PermissionsPage


class TrustedTab(ReadingScroll, PermissionsPart):
    """A tab with trusted projects and folders."""

    def __init__(self, page: "PermissionsPage") -> None:
        super().__init__(tr("Trusted"), spacing=30)
        self.page, self.context = page, page.context
        theme, body = page.context.theme, self.body
        add = Button(theme, tr("Allow a folder…"), icon="plus", small=True)
        add.clicked.connect(self._on_allow)
        self.folders = Table(theme, self._folder_columns(), tr("Allowed folders"), lambda each: each, in_card=True)
        self.folders.pressed.connect(self._on_disallow)
        text = tr("Servers that work on a project may be started for these folders, and for all below them.")
        self._no_folders = Label(theme, tr("None yet. A folder is allowed when you approve it."), "body", "muted", wrap=True)
        body.addWidget(_section(theme, tr("Allowed folders"), text, self.folders, self._no_folders, add))
        self.entries = Table(theme, self._entry_columns(), tr("Trusted servers"), lambda each: (each.project, each.entry), in_card=True)
        self.entries.pressed.connect(self._on_distrust)
        text = tr("Projects' servers that you approved. If an entry changes, it waits for your approval again.")
        self._no_entries = Label(
            theme, tr("None yet. When a project brings servers, they wait for your approval."), "body", "muted", wrap=True
        )
        body.addWidget(_section(theme, tr("Trusted servers of projects"), text, self.entries, self._no_entries))
        body.addStretch(1)

    @property
    def total(self) -> int:
        """The number of trusted folders and servers."""
        return len(self.folders.rows) + len(self.entries.rows)

    async def read(self) -> None:
        """Reads what is trusted, and shows it."""
        await self._read_folders()
        await self._read_entries()

    async def _read_folders(self) -> None:
        _fill(self.folders, self._no_folders, await self.hub.projects.get_allowed_folders())
        self.page.draw()

    async def _read_entries(self) -> None:
        _fill(self.entries, self._no_entries, await self.hub.files.get_trusted_entries())
        self.page.draw()

    def _folder_columns(self) -> list[Column]:
        return [
            Column(tr("Folder"), visible_path, Kind.MONO, tip=visible_path),
            Column("", lambda _: tr("Revoke"), Kind.BUTTON, 110),
        ]

    def _entry_columns(self) -> list[Column]:
        return [
            Column(tr("Server"), lambda each: each.entry, Kind.TEXT, 240, lambda each: each.server),
            Column(tr("Project"), lambda each: folder_name(each.project), Kind.QUIET, tip=lambda each: visible_path(each.project)),
            Column(tr("How"), lambda each: tr("Added here") if each.is_own else tr("You approved"), Kind.QUIET, 120),
            Column(tr("Since"), lambda each: moment(each.trusted_at, datetime.now()), Kind.QUIET, 96),
            Column("", lambda _: tr("Revoke"), Kind.BUTTON, 110),
        ]

    def _on_allow(self) -> None:
        self.context.choose_folder(tr("Allow a folder"), lambda path: self.run(self._allow(path)))

    async def _allow(self, path: str) -> None:
        """Allows servers to work in a folder, and in those below it."""
        projects = self.hub.projects
        allowed = await projects.allow_folder(path)
        toast = tr("{folder} is allowed", folder=allowed)
        self.run(self._read_folders(), toast=toast, undo=partial(self._disallow, allowed))

    async def _disallow(self, folder: str) -> None:
        await self.hub.projects.disallow_folder(folder)
        await self._read_folders()

    def _on_disallow(self, folder: str) -> None:
        projects, toast = self.hub.projects, tr("{folder} is not allowed any more", folder=folder)
        self.run(projects.disallow_folder(folder), then=self._read_folders, toast=toast, undo=partial(projects.allow_folder, folder))

    def _on_distrust(self, entry: TrustedEntry) -> None:
        files, of = self.hub.files, (entry.project, entry.entry)
        toast = tr("{name} is not trusted any more", name=entry.entry)
        self.run(files.distrust_entries(*of), then=self._read_entries, toast=toast, undo=partial(files.restore_trust, *of))


def _fill(table: Table, nothing: QWidget, rows: Sequence[object]) -> None:
    table.set_rows(rows)
    table.fit_height()
    table.setVisible(bool(rows))
    nothing.setVisible(not rows)


def _section(theme: Theme, title: str, text: str, table: Table, nothing: Label, *actions: QWidget) -> QWidget:
    widget = QWidget()
    layout = column(widget, spacing=10)
    layout.addLayout(heading(theme, title, ElidedLabel(theme, text, "caption", "muted"), *actions))
    box = Surface(theme)
    lines = column(box, margins=(16, 1, 16, 1))
    lines.addWidget(table)
    nothing.setContentsMargins(0, 14, 0, 14)
    lines.addWidget(nothing)
    layout.addWidget(box)
    return widget
