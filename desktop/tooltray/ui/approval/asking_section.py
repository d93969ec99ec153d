"""When calls ask, for all AI clients: the flow guard, and for how long an approval covers the same call. Draws the settings."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import column

CHOICE_WIDTH = 220
SECONDS = (0, 10, 30, 60)


class AskingSection(QWidget):
    """The section about when calls ask. `change_requested` carries a change of `approvals` in the settings, and the change that
    undoes it.
    """

    change_requested = Signal(object, object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._guard = Switch(theme, tr("Flow guard"))
        self._guard.clicked.connect(self._on_guard)
        self._seconds = Choice(theme, [], name=tr("The same call again"))
        self._seconds.setFixedWidth(CHOICE_WIDTH)
        self._seconds.chosen_changed.connect(self._on_seconds)
        self._shown: Mapping[str, object] = {}
        body = column(self, spacing=10)
        text = tr("For all AI clients.")
        body.addLayout(heading(theme, tr("When calls ask"), ElidedLabel(theme, text, "caption", "muted")))
        reads = tr("Once a session has read the web, mail or issues, calls that send or publish ask first.")
        same = tr("Whether your approval also counts for an identical call right after it.")
        body.addWidget(
            group(
                theme,
                setting_row(theme, tr("Flow guard"), reads, self._guard),
                setting_row(theme, tr("The same call again"), same, self._seconds),
            )
        )
        self.show_asking({})

    def show_asking(self, shown: Mapping[str, object]) -> None:
        """Shows `approvals` of the settings."""
        self._shown = shown
        self._guard.set_on(shown.get("flowGuard", False) is not False)
        now = self._now
        self._seconds.set_options([(str(each), _words(each)) for each in sorted({*SECONDS, now})])
        self._seconds.choose(str(now))

    @property
    def _now(self) -> int:
        seconds = self._shown.get("sameForSeconds")
        return seconds if isinstance(seconds, int) and seconds >= 0 else 0

    def _on_guard(self, is_on: bool) -> None:
        self.change_requested.emit({"flowGuard": is_on}, {"flowGuard": not is_on})

    def _on_seconds(self, chosen: str) -> None:
        before = self._now
        self._seconds.choose(str(before))  # until it is so
        if int(chosen) != before:
            self.change_requested.emit({"sameForSeconds": int(chosen)}, {"sameForSeconds": before})


def _words(seconds: int) -> str:
    return tr("Runs without asking for {count} s", count=seconds) if seconds else tr("Asks each time")
