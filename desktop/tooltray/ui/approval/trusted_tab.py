"""The tab of what is trusted: folders in which servers may work, and entries of projects' own files that may run. Draws frozen
snapshots."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.approvals import TrustedEntry
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import Surface, column, row
from tooltray.ui.widgets.table import Table

CONTENT_WIDTH = 920


class TrustedTab(PageScroll):
    """A tab with trusted projects and folders. `disallow_requested` carries a folder, `distrust_requested` a project's folder and an
    entry's name in its file.
    """

    allow_requested = Signal()
    disallow_requested = Signal(str)
    distrust_requested = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(tr("Trusted"))
        self._theme = theme
        content = QWidget()
        line = row(content, margins=(24, 20, 24, 32), spacing=0)
        inner = QWidget()
        inner.setMaximumWidth(CONTENT_WIDTH)
        body = column(inner, spacing=30)
        line.addWidget(inner, 1)
        line.addStretch(0)
        add = Button(theme, tr("Allow a folder…"), icon="plus", small=True)
        add.clicked.connect(self.allow_requested)
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
        self.setWidget(content)

    def show_folders(self, folders: Sequence[str]) -> None:
        _fill(self.folders, self._no_folders, folders)

    def show_entries(self, entries: Sequence[TrustedEntry]) -> None:
        _fill(self.entries, self._no_entries, entries)

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

    def _on_disallow(self, folder: str) -> None:
        self.disallow_requested.emit(folder)

    def _on_distrust(self, entry: TrustedEntry) -> None:
        self.distrust_requested.emit(entry.project, entry.entry)


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
