"""The recording of whole arguments and results: a line that shows that it is on, and what an entry shows without them."""

import time
from datetime import datetime

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import ActivityDetails
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.recording import FOREVER
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, row

RECORDED_S = 3600.0  # an hour: time to repeat a call and a few others
OF_USER = ("person", "edited")
"""Values of `allowed_by` of calls that the user was asked about."""


class RecordingLine(Surface):
    """A line that shows that calls are being recorded, with a button that ends it; hidden while they are not."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "info.subtle", None, "m")
        line = row(self, margins=(10, 1, 1, 1), spacing=8)
        line.addWidget(Icon(theme, "info", 14, "info", "info.subtle"))
        self._words = ElidedLabel(theme, "", "caption_strong", hugs=True)
        line.addWidget(self._words)
        self.stop = Button(theme, tr("Stop"), small=True)
        self.stop.setAccessibleName(tr("Stop recording"))
        line.addWidget(self.stop)
        self.until = 0.0
        self.hide()

    def show_until(self, until: float) -> None:
        """Shows until when calls are recorded: see `recorded_until`."""
        self.until = until
        words = tr("Recording") if until == FOREVER else tr("Recording until {time}", time=moment(until, datetime.now()))
        self._words.set_text(words, tr("Arguments and results of calls are recorded."))
        self.refresh()

    def refresh(self) -> None:
        """Hides the line once the time is over."""
        self.setVisible(self.until > time.time())


class KeepContents(QWidget, View):
    """The reason why an entry has no arguments and no result, and the button that records these for later calls for a while.

    Args:
        recorded_until: see the function of this name; while calls are recorded, the button is hidden.
    """

    def __init__(self, context: PageContext, details: ActivityDetails, recorded_until: float) -> None:
        super().__init__()
        self.context = context
        layout = column(self, spacing=8)
        self._words = Label(context.theme, _missing(details, is_on=bool(recorded_until)), "body", "secondary", wrap=True)
        layout.addWidget(self._words)
        self._keep = Button(context.theme, tr("Record for 1 hour"), small=True)
        self._keep.setToolTip(tr("Known secrets are left out. Calls that were made before stay as they are."))
        self._keep.clicked.connect(self._on_keep)
        self._keep.setVisible(not recorded_until)
        line = row()
        line.addWidget(self._keep)
        line.addStretch(1)
        layout.addLayout(line)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why contents cannot be recorded; None: they are recorded now."""
        if problem is None:
            self._words.setText(tr("The next hour is being recorded. Repeat the call to see them."))
            self._keep.hide()
            return
        self._words.setText(whole(problem))
        self._keep.setEnabled(True)

    def _on_keep(self) -> None:
        self._keep.setEnabled(False)
        until = time.time() + RECORDED_S
        said = tr("Arguments and results are recorded until {time}", time=f"{datetime.fromtimestamp(until):%H:%M}")
        self.run(self.hub.settings.change_settings({"activity": {"contents": True, "contentsUntil": round(until)}}), toast=said)


def was_shown(details: ActivityDetails) -> bool:
    """Returns whether the user was asked about a call, and saw then what it would change."""
    return details.allowed_by in OF_USER or (details.entry.outcome == "refused" and details.times.person_s is not None)


def _missing(details: ActivityDetails, *, is_on: bool) -> str:
    """Returns why an entry has no arguments and no result."""
    if details.entry.has_contents:
        return tr("They were kept, and were removed after some days.")
    if is_on:
        return tr("Not recorded. This call was made before recording began.")
    if details.diff:
        if was_shown(details):
            return tr("Not recorded, but for the change that you were shown, which is kept until Tooltray ends.")
        return tr("Not recorded, but for the change to the file, which is kept until Tooltray ends.")
    if was_shown(details):
        return tr("Not recorded, nor is the change that you were shown. Tooltray saves only one line for each call.")
    return tr("Not recorded. Tooltray saves only one line for each call.")
