"""The sheet with the changes of saving a server's entry: in which file, line by line; the user sees it before a project's file is
written."""

from collections.abc import Callable

from tooltray.foundation.snapshots.entries import ServerUpdatePreview
from tooltray.ui.i18n import tr
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet import SheetFrame

WIDTH = 640
DIFF_WIDTH = WIDTH - 48


class SaveSheet(SheetFrame):
    """A sheet with the changes to save.

    Args:
        save: saves them; called after the user has seen and approved them.
    """

    def __init__(self, theme: Theme, name: str, preview: ServerUpdatePreview, save: Callable[[], None]) -> None:
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
        self._save = save
        self.add_button(tr("Close"), self.close_requested.emit)
        button = self.add_button(tr("Save"), self._on_save, "primary")
        button.setEnabled(preview.problem is None and not preview.slips)
        self.set_first_focus(button)

    def _on_save(self) -> None:
        self.close_requested.emit()
        self._save()
