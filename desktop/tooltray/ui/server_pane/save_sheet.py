"""The sheet with the changes of saving a server's entry: in which file, line by line; the user sees it before a project's file is
written."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent

from tooltray.foundation.snapshots.entries import ServerUpdatePreview
from tooltray.ui.i18n import tr
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH = 640
DIFF_WIDTH = WIDTH - 48


class SaveSheet(SheetFrame):
    """A sheet with the changes to save. `save_requested`: the user has seen and approved them."""

    save_requested = Signal()

    def __init__(self, theme: Theme, name: str, preview: ServerUpdatePreview) -> None:
        super().__init__(theme, tr("Changes to {name}", name=name), WIDTH)
        self.body.addWidget(Label(theme, tr("Saved in"), "caption", "muted"))
        self.body.addWidget(CodeLabel(theme, visible_path(preview.file), "secondary"))
        if preview.problem is not None:
            self.body.addWidget(Banner(theme, "warning", title(preview.problem), sentences(preview.problem)))
        if preview.diff:
            self.body.addWidget(DiffView(theme, preview.diff, tr("What changes in {file}", file=preview.file), width=DIFF_WIDTH))
            text = tr("Saving restarts the server.") if preview.is_restarted else tr("It keeps running.")
            self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        else:
            self.body.addWidget(Label(theme, tr("Nothing changes in the file."), "body", "secondary"))
        self.buttons.addStretch(1)
        cancel = Button(theme, tr("Close"))
        cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(cancel)
        self._save = Button(theme, tr("Save"), "primary")
        self._save.setEnabled(preview.problem is None and not preview.slips)
        self._save.clicked.connect(self._on_save)
        self.buttons.addWidget(self._save)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._save.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_save(self) -> None:
        self.close_requested.emit()
        self.save_requested.emit()
