"""The tabs of an opened server: a table with a line for each; built when it is first shown."""

from collections.abc import Callable

import msgspec
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.activity import SERVER
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.logs.log_view import LogView
from tooltray.ui.server_pane.server_access import ServerAccess
from tooltray.ui.server_pane.server_overview import overview
from tooltray.ui.server_pane.server_settings import ServerSettings
from tooltray.ui.server_pane.server_tools import ServerTools


class ServerTab(msgspec.Struct, frozen=True):
    """A tab of an opened server.

    Attributes:
        name: in links: `("servers", NAME, SERVER)`.
        title: made when the language is known.
        make: makes the widget for the server of a name. One that is a ServerView is notified of changes.
    """

    name: str
    title: Callable[[], str]
    make: Callable[[PageContext, str], QWidget]


LOG_MARGINS = (20, 0, 20, 16)  # as the other tabs have them
OVERVIEW, TOOLS, SETTINGS, LOG = "overview", "tools", "settings", "log"
ACCESS = "access"


def _log(context: PageContext, server: str) -> LogView:
    view = LogView(context, f"{SERVER}{server}")
    view.setContentsMargins(*LOG_MARGINS)
    return view


SERVER_TABS = (
    ServerTab(OVERVIEW, lambda: tr("Overview"), overview),
    ServerTab(TOOLS, lambda: tr("Tools"), ServerTools),
    ServerTab(ACCESS, lambda: tr("Access"), ServerAccess),
    ServerTab(LOG, lambda: tr("Log"), _log),
)
FORM = ServerTab(SETTINGS, lambda: tr("Edit"), ServerSettings)
"""Is shown in place of the tabs while the user edits the server's entry."""
