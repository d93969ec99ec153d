"""The Settings page, a tab for each subject. A new tab is a page of its own and a line here."""

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
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Settings"), TABS)

    def open_destination(self, destination: Destination) -> None:
        if isinstance(destination, Settings) and destination.tab:
            self.show_tab(destination.tab)
        elif isinstance(destination, OpenSecret):
            self.show_tab("secrets")
            self.tab("secrets").open_destination(destination)
