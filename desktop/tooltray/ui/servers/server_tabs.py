"""The tabs of an opened server: a table with a line for each; built when it is first shown.

Above it: ServerDetails. Below it: what each tab shows.
"""

from collections.abc import Callable

import msgspec
from PySide6.QtWidgets import QWidget

from tooltray.snapshots.logs import SERVER
from tooltray.ui.i18n import tr
from tooltray.ui.logs.log_view import LogView
from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.servers.server_overview import overview
from tooltray.ui.servers.server_tools import ServerTools


class ServerTab(msgspec.Struct, frozen=True):
    """
    Attributes:
        name: in links: `("servers", NAME, SERVER)`.
        title: made when the language is known.
        make: gives the widget for the server of a name. One that is a ServerView is told of what changes.
    """

    name: str
    title: Callable[[], str]
    make: Callable[[PageContext, str], QWidget]


LOG_MARGINS = (20, 0, 20, 16)  # as the other tabs have them
OVERVIEW, TOOLS, LOG = "overview", "tools", "log"


def log(context: PageContext, server: str) -> LogView:
    view = LogView(context, f"{SERVER}{server}")
    view.setContentsMargins(*LOG_MARGINS)
    return view


SERVER_TABS = (
    ServerTab(OVERVIEW, lambda: tr("Overview"), overview),
    ServerTab(TOOLS, lambda: tr("Tools"), ServerTools),
    ServerTab(LOG, lambda: tr("Log"), log),
)
