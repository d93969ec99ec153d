"""The pages of the window, in the order of its navigation. A new page is a module of its own and a line here. Each is imported when it is
built, so that unused pages do not delay the window."""

from collections.abc import Callable

import msgspec

from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import Activity, Clients, Destination, PageName, Servers, Settings
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext


class PageEntry(msgspec.Struct, frozen=True):
    """A page of the window.

    Args:
        place: the page as a destination.
        icon: in the navigation, as its title, which is made when the language is known.
        make: builds the page.
    """

    place: Destination
    icon: str
    title: Callable[[], str]
    make: Callable[[PageContext], Page]

    @property
    def name(self) -> PageName:
        return self.place.page


def _servers(context: PageContext) -> Page:
    from tooltray.ui.servers.servers_page import ServersPage

    return ServersPage(context)


def _activity(context: PageContext) -> Page:
    from tooltray.ui.activity.activity_page import ActivityPage

    return ActivityPage(context)


def _clients(context: PageContext) -> Page:
    from tooltray.ui.clients.clients_page import ClientsPage

    return ClientsPage(context)


def _settings(context: PageContext) -> Page:
    from tooltray.ui.settings.settings_page import SettingsPage

    return SettingsPage(context)


PAGES = (
    PageEntry(Servers(), "server", lambda: tr("Servers"), _servers),  # the first one shows the notices of the hub
    PageEntry(Activity(), "activity", lambda: tr("Activity"), _activity),
    PageEntry(Clients(), "plug", lambda: tr("Clients"), _clients),
    PageEntry(Settings(), "settings", lambda: tr("Settings"), _settings),
)
