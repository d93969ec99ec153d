"""The tabs of an opened server: a table with a line for each; built when it is first shown.

Above it: ServerDetails. Below it: what each tab shows.
"""

from collections.abc import Callable

import msgspec
from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
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


OVERVIEW, TOOLS = "overview", "tools"

SERVER_TABS = (
    ServerTab(OVERVIEW, lambda: tr("Overview"), overview),
    ServerTab(TOOLS, lambda: tr("Tools"), ServerTools),
)
