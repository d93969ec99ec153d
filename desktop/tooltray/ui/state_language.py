"""The shape, colour and word of each state, for cards, table, tray and menus. Pure functions of the state."""

import msgspec
from msgspec.structs import replace

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.i18n import say, tr

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


LOOKS = {
    ServerState.RUNNING: Look("state-connected", "success", Phrase("Connected")),
    ServerState.ON_DEMAND: Look("state-lazy", "accent", Phrase("Sleeping")),
    ServerState.WAITING: Look("state-waiting", "warning", Phrase("Waiting for project")),
    ServerState.STARTING: Look("state-starting", "info", Phrase("Starting"), turns=True),
    ServerState.INSTALLING: Look("state-starting", "info", Phrase("Installing"), turns=True),
    ServerState.RESTARTING: Look("state-starting", "info", Phrase("Restarting"), turns=True),
    ServerState.STOPPING: Look("state-starting", "neutral", Phrase("Stopping"), turns=True),
    ServerState.NEEDS_SIGN_IN: Look("state-waiting", "warning", Phrase("Sign in")),
    ServerState.ERROR: Look("state-error", "error", Phrase("Error")),
    ServerState.STOPPED: Look("state-off", "neutral", Phrase("Stopped")),
}


def look(state: ServerState) -> Look:
    """Returns the look of a server's state."""
    return replace(LOOKS[state], word=say(LOOKS[state].word))


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
