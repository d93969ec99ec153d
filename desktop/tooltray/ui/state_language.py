"""The shape, colour and word of each state, for cards, table, tray and menus. Pure functions of the state."""

import msgspec
from msgspec.structs import replace

from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.i18n import tr

WORKING = frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.RESTARTING, ServerState.STOPPING})
IN_USE = frozenset(ServerState) - {ServerState.STOPPED, ServerState.STOPPING}
"""The states in which a person wants the server; its switch is on."""


class Look(msgspec.Struct, frozen=True):
    """The shape's file, the colour token's family, and the word."""

    icon: str
    tone: str
    word: str
    turns: bool = False

    @property
    def text_color(self) -> str:
        return "text.secondary" if self.tone == "neutral" else f"{self.tone}.text"


def look(state: ServerState) -> Look:
    """Returns the look of a server's state."""
    match state:
        case ServerState.RUNNING:
            return Look("state-connected", "success", tr("Connected"))
        case ServerState.ON_DEMAND:
            return Look("state-lazy", "accent", tr("Sleeping"))
        case ServerState.WAITING:
            return Look("state-waiting", "warning", tr("Waiting for project"))
        case ServerState.STARTING:
            return Look("state-starting", "info", tr("Starting"), turns=True)
        case ServerState.INSTALLING:
            return Look("state-starting", "info", tr("Installing"), turns=True)
        case ServerState.RESTARTING:
            return Look("state-starting", "info", tr("Restarting"), turns=True)
        case ServerState.STOPPING:
            return Look("state-starting", "neutral", tr("Stopping"), turns=True)
        case ServerState.NEEDS_SIGN_IN:
            return Look("state-waiting", "warning", tr("Sign in"))
        case ServerState.ERROR:
            return Look("state-error", "error", tr("Error"))
        case ServerState.STOPPED:
            return Look("state-off", "neutral", tr("Stopped"))


UNKNOWN = "–"
"""What stands in the place of what is not known, with `not_known` as its tooltip. What is none is 0, or nothing at all."""


def not_known(why: str) -> str:
    """Returns why a value is not known, for its tooltip and screen readers. `why`: a sentence, the part behind the colon, or ""."""
    return tr("Not known: {why}", why=why) if why else tr("Not known")


def server_look(server: ServerSnapshot) -> Look:
    """Returns the look of a server, which may wait for an action of the user, or be stopped by the user."""
    if server.state is ServerState.NEEDS_SIGN_IN and server.has_sign_in_page:
        return Look("state-waiting", "warning", tr("Waiting"))
    if server.state is ServerState.STOPPED and not server.is_disabled:
        return replace(look(server.state), word=tr("Stopped by you"))
    return look(server.state)


def paused_look(server: ServerSnapshot) -> Look:
    """Returns the look of a server while everything is paused: nothing has colour, and none looks ready for calls."""
    if server.state in (ServerState.RUNNING, ServerState.ON_DEMAND):
        return Look("state-waiting", "neutral", tr("Paused"))
    return replace(server_look(server), tone="neutral", turns=False)


def needs_person(server: ServerSnapshot) -> bool:
    """Returns whether a server does not run until the user acts."""
    return server.state in (ServerState.ERROR, ServerState.NEEDS_SIGN_IN)
