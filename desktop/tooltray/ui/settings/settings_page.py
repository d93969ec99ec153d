"""The Settings page, a tab for each subject. A new tab is a page of its own and a line here."""

from PySide6.QtGui import QHideEvent

from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Destination, OpenSecret, Settings
from tooltray.ui.kit.page import TabbedPage, TabEntry
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.settings.about_tab import AboutTab
from tooltray.ui.settings.backup_tab import BackupTab
from tooltray.ui.settings.general_tab import GeneralTab
from tooltray.ui.settings.network_tab import NetworkTab
from tooltray.ui.settings.secrets_tab import SecretsTab

TABS = (
    TabEntry("general", lambda: tr("General"), GeneralTab),
    TabEntry("secrets", lambda: tr("Secrets"), SecretsTab),
    TabEntry("network", lambda: tr("Network"), NetworkTab),
    TabEntry("backup", lambda: tr("Backup"), BackupTab),
    TabEntry("about", lambda: tr("About"), AboutTab),
)


class SettingsPage(TabbedPage):
    """The page of settings. When the user comes back to it, it shows the tab that they chose last: a link opens its tab for once."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Settings"), TABS)
        self._chosen = self.current

    def _on_chosen(self, index: int) -> None:
        super()._on_chosen(index)
        self._chosen = self.current

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():  # the page was left, and the window not just minimized
            self.show_tab(self._chosen)

    def open_destination(self, destination: Destination) -> None:
        if isinstance(destination, Settings) and destination.tab:
            self.show_tab(destination.tab)
        elif isinstance(destination, OpenSecret):
            self.show_tab("secrets")
            self.tab("secrets").open_destination(destination)
