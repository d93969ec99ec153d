"""When calls ask, for all AI clients: the flow guard, and for how long an approval covers the same call."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import column
from tooltray.ui.zoom import px

CHOICE_WIDTH = 220
SECONDS = (0, 10, 30, 60)


class AskingSection(QWidget, View):
    """The section about when calls ask.

    Args:
        view: shows why a change failed.
    """

    def __init__(self, view: View) -> None:
        super().__init__()
        self.context, self._view = view.context, view
        theme = view.context.theme
        self._guard = Switch(theme, tr("Flow guard"))
        self._guard.clicked.connect(self._on_guard)
        self._seconds = Choice(theme, [], name=tr("The same call again"))
        self._seconds.setFixedWidth(px(CHOICE_WIDTH))
        self._seconds.chosen_changed.connect(self._on_seconds)
        self._shown: Mapping[str, object] = {}
        body = column(self, spacing=10)
        text = tr("For all AI clients.")
        body.addLayout(heading(theme, tr("When calls ask"), ElidedLabel(theme, text, "caption", "muted")))
        same = tr("Whether your approval also counts for an identical call right after it.")
        body.addWidget(
            group(
                theme,
                setting_row(theme, tr("Flow guard"), what_the_flow_guard_does(), self._guard),
                setting_row(theme, tr("The same call again"), same, self._seconds),
            )
        )
        self.show_asking({})

    def show_problem(self, problem: Problem | None) -> None:
        self._view.show_problem(problem)

    async def read(self) -> None:
        """Reads the settings, and shows them."""
        shown = (await self.hub.settings.get_settings()).settings.get("approvals")
        self.show_asking(shown if isinstance(shown, Mapping) else {})

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
        self._change({"flowGuard": is_on}, {"flowGuard": not is_on})

    def _on_seconds(self, chosen: str) -> None:
        before = self._now
        self._seconds.choose(str(before))  # until it is so
        if int(chosen) != before:
            self._change({"sameForSeconds": int(chosen)}, {"sameForSeconds": before})

    def _change(self, changes: Mapping[str, object], back: Mapping[str, object]) -> None:
        """Changes `approvals` of the settings; `back` undoes it."""
        change, toast = self.hub.settings.change_settings, tr("When calls ask is changed")
        self.run(change({"approvals": changes}), then=self.read, toast=toast, undo=partial(change, {"approvals": back}))


def _words(seconds: int) -> str:
    return tr("Runs without asking for {count} s", count=seconds) if seconds else tr("Asks each time")


def what_the_flow_guard_does() -> str:
    """Returns the explanation of the flow guard, in a sentence."""
    return tr("Once a session has read the web, mail or issues, calls that send or publish ask first.")
