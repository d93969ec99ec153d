"""The Settings page, a tab for each subject. A new tab is a page of its own and a line here."""

from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Destination, OpenSecret, Settings
from tooltray.ui.kit.page import Page, TabbedPage, TabEntry
from tooltray.ui.kit.page_context import PageContext


def _general(context: PageContext) -> Page:
    from tooltray.ui.settings.general_tab import GeneralTab

    return GeneralTab(context)


def _secrets(context: PageContext) -> Page:
    from tooltray.ui.settings.secrets_tab import SecretsTab

    return SecretsTab(context)


def _network(context: PageContext) -> Page:
    from tooltray.ui.settings.network_tab import NetworkTab

    return NetworkTab(context)


def _backup(context: PageContext) -> Page:
    from tooltray.ui.settings.backup_tab import BackupTab

    return BackupTab(context)


def _about(context: PageContext) -> Page:
    from tooltray.ui.settings.about_tab import AboutTab

    return AboutTab(context)


TABS = (
    TabEntry("general", lambda: tr("General"), _general),
    TabEntry("secrets", lambda: tr("Secrets"), _secrets),
    TabEntry("network", lambda: tr("Network"), _network),
    TabEntry("backup", lambda: tr("Backup"), _backup),
    TabEntry("about", lambda: tr("About"), _about),
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
