"""The places in the window that pages, the palette, notifications and addresses lead to, with `PageContext.go`. Each page opens its own."""

from typing import ClassVar, Literal

import msgspec

from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.snapshots.clients import ProfileSnapshot

PageName = Literal["servers", "activity", "clients", "settings"]


class Destination(msgspec.Struct, frozen=True):
    """A place in the window; `page`: the page that opens it."""

    page: ClassVar[PageName]


class InServers(Destination, frozen=True):
    page = "servers"


class Servers(InServers, frozen=True):
    """The Servers page with a tab; empty: the tab that it showed last."""

    tab: Literal["", "installed", "discover", "all_tools", "projects"] = ""


class OpenServer(InServers, frozen=True):
    """The pane of a server with a tab, empty: the first one; as soon as the server exists."""

    name: str
    tab: Literal["", "overview", "tools", "access", "settings"] = ""


class ServerLog(InServers, frozen=True):
    """The log of a server; `at`: the time of the wanted lines, in unix seconds, 0: the newest lines."""

    name: str
    at: float = 0


class TooltrayLog(InServers, frozen=True):
    """Tooltray's own log."""


class AddServer(InServers, frozen=True):
    """The sheet that adds a server, filled with a text."""

    text: str = ""


class InstallLink(InServers, frozen=True):
    """The sheet that adds a server, filled from an address, as soon as a hub runs."""

    link: str


class OpenBundle(InServers, frozen=True):
    """The sheet of a bundle; `source`: its file or address."""

    source: str


class WellKnownServer(InServers, frozen=True):
    """The sheet that adds a well-known server."""

    id: str


class ToolsOf(InServers, frozen=True):
    """The tools of a server in the list of all tools."""

    server: str


class OpenTool(InServers, frozen=True):
    """The pane of a tool; `name`: as AI clients see it."""

    name: str


class TryTool(InServers, frozen=True):
    """The sheet that calls a tool; `name`: as AI clients see it, `arguments`: as JSON."""

    name: str
    arguments: str = ""


class InActivity(Destination, frozen=True):
    page = "activity"


class Activity(InActivity, frozen=True):
    """The Activity page with a tab."""

    tab: Literal["calls", "approvals", "figures"] = "calls"


class CallsWhere(InActivity, frozen=True):
    """The calls that a filter passes."""

    filter: ActivityFilter


class OpenEntry(InActivity, frozen=True):
    """An entry of the journal in full."""

    id: int


class InClients(Destination, frozen=True):
    page = "clients"


class Clients(InClients, frozen=True):
    """The Clients page."""


class OpenClient(InClients, frozen=True):
    """The pane of an AI client."""

    name: str


class ConnectClients(InClients, frozen=True):
    """The sheet that connects the AI clients on this computer; the page if none can be connected."""


class Profiles(InClients, frozen=True):
    """The sheet of profiles."""


class NewProfile(InClients, frozen=True):
    """The sheet of a new profile with the tools of another one, which need not exist."""

    content: ProfileSnapshot


class ImportServers(InClients, frozen=True):
    """The sheet that imports servers from AI clients."""


class InSettings(Destination, frozen=True):
    page = "settings"


class Settings(InSettings, frozen=True):
    """The Settings page with a tab; empty: the tab that it showed last."""

    tab: Literal["", "general", "secrets", "network", "backup", "about"] = ""


class OpenSecret(InSettings, frozen=True):
    """The sheet of a secret, as soon as the secrets are read."""

    name: str
