"""When calls ask, for all AI clients: the flow guard, and for how long an approval covers the same call."""

from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.kit.setting_form import Setting, SettingForm
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.setting_rows import group, heading
from tooltray.ui.widgets.surface import column, fill

CHOICE_WIDTH = 220  # px
SECONDS = (0, 10, 30, 60)


class AskingSection(QWidget):
    """The section about when calls ask.

    Args:
        view: shows why a change failed.
    """

    def __init__(self, view: View) -> None:
        super().__init__()
        theme, self._hub = view.context.theme, view.hub
        self._form = SettingForm(view, self.read, done=tr("When calls ask is changed"))
        guard = Setting("approvals.flowGuard", tr("Flow guard"), what_the_flow_guard_does())
        text = tr("Whether your approval also counts for an identical call right after it.")
        same = Setting("approvals.sameForSeconds", tr("The same call again"), text, 0, SECONDS, _words, CHOICE_WIDTH)
        head = heading(theme, tr("When calls ask"), ElidedLabel(theme, tr("For all AI clients."), "caption", "muted"))
        fill(column(self, spacing=10), head, group(theme, self._form.row(guard), self._form.row(same)))

    async def read(self) -> None:
        """Reads the settings, and shows them."""
        self._form.show_settings((await self._hub.settings.get_settings()).settings)


def _words(seconds: int) -> str:
    return tr("Runs without asking for {count} s", count=seconds) if seconds else tr("Asks each time")


def what_the_flow_guard_does() -> str:
    """Returns the explanation of the flow guard, in a sentence."""
    return tr("Once a session has read the web, mail or issues, calls that send or publish ask first.")
