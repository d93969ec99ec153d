"""The pages of the window, in the order of its navigation. A new page is a module of its own and a line here."""

from collections.abc import Callable

import msgspec

from tooltray.ui.approvals.grants_page import GrantsPage
from tooltray.ui.clients.clients_page import ClientsPage
from tooltray.ui.clients.profiles_page import ProfilesPage
from tooltray.ui.files.files_page import FilesPage
from tooltray.ui.i18n import tr
from tooltray.ui.pages.page import Page
from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.servers.servers_page import ServersPage
from tooltray.ui.settings.settings_page import SettingsPage


class PageEntry(msgspec.Struct, frozen=True):
    """
    Args:
        name: in code and tests.
        icon: in the navigation, as its title, which is made when the language is known.
        make: builds the page.
    """

    name: str
    icon: str
    title: Callable[[], str]
    make: Callable[[PageContext], Page]


PAGES = (
    PageEntry("servers", "server", lambda: tr("Servers"), ServersPage),  # the first one shows the notices of the hub
    PageEntry("clients", "plug", lambda: tr("AI clients"), ClientsPage),
    PageEntry("profiles", "layers", lambda: tr("Profiles"), ProfilesPage),
    PageEntry("approvals", "shield", lambda: tr("Approvals"), GrantsPage),
    PageEntry("files", "folder", lambda: tr("Files"), FilesPage),
    PageEntry("settings", "settings", lambda: tr("Settings"), SettingsPage),
)
