"""Why an entry has no arguments and no result, and the button that records these for later calls for a while."""

import time
from datetime import datetime

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import run_action
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.problem_words import whole
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row

HOUR_S = 3600.0


class KeepContents(QWidget):
    """The reason why contents are missing, and the button that records them.

    Args:
        has_kept: they were recorded, and have been deleted since.
    """

    def __init__(self, context: PageContext, *, has_kept: bool) -> None:
        super().__init__()
        self._context = context
        layout = column(self, spacing=8)
        text = (
            tr("They were kept, and were removed after some days.")
            if has_kept
            else tr("Not recorded. Tooltray saves only one line for each call.")
        )
        self._words = Label(context.theme, text, "body", "secondary", wrap=True)
        layout.addWidget(self._words)
        self._keep = Button(context.theme, tr("Record for 1 hour"), small=True)
        self._keep.setToolTip(tr("Known secrets are left out. Calls that were made before stay as they are."))
        self._keep.clicked.connect(self._on_keep)
        line = row()
        line.addWidget(self._keep)
        line.addStretch(1)
        layout.addLayout(line)

    def _on_keep(self) -> None:
        self._keep.setEnabled(False)
        run_action(self._context.tasks, self._switch_on, self._show, name="keeping arguments and results")

    async def _switch_on(self) -> None:
        until = time.time() + HOUR_S
        await self._context.hub.settings.change_settings({"activity": {"contents": True, "contentsUntil": round(until)}})
        clock = f"{datetime.fromtimestamp(until):%H:%M}"
        self._context.say(tr("Arguments and results are recorded until {time}", time=clock))

    def _show(self, problem: Problem | None) -> None:
        if problem is None:
            self._words.setText(tr("The next hour is being recorded. Repeat the call to see them."))
            self._keep.hide()
            return
        self._words.setText(whole(problem))
        self._keep.setEnabled(True)
