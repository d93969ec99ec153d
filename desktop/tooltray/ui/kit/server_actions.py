"""What the user can do with a server, and when that makes sense: one table for its menus, the tray, the palette and many servers at once. A
new action is a line here, a signal in `server_wishes`, and its connection in `ServerVerbs`, which carries it out."""

from collections.abc import Callable

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.servers import ServerState as S
from tooltray.ui.kit.destinations import Destination, OpenServer, ToolsOf
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.origins import is_of_file
from tooltray.ui.state_language import IN_USE

Wish = Callable[[ServerWishes, ServerSnapshot], None]
Fits = Callable[[ServerSnapshot], bool]
NOWHERE = Phrase("")


class ServerAction(msgspec.Struct, frozen=True):
    """An action on one server.

    Args:
        name: in code, and of what many servers can do.
        wish: emits the signal that carries it out.
        fits: whether it makes sense for a server in its state.
        title: in the server's menus; empty: it is in none.
    """

    name: str
    icon: str
    wish: Wish
    fits: Fits
    title: Phrase = NOWHERE


def is_own(server: ServerSnapshot) -> bool:
    """Returns whether a server is the user's: it does not come with Tooltray, and is not merely proposed by a program."""
    return not server.is_builtin and server.origin != "proposal"


def _in(*states: S) -> Fits:
    return lambda server: is_own(server) and server.state in states


def _is_listed(server: ServerSnapshot) -> bool:
    return server.origin != "proposal"


def _is_of_settings(server: ServerSnapshot) -> bool:
    return is_own(server) and not is_of_file(server)


def _waits(server: ServerSnapshot) -> bool:
    return bool(server.waiting)


def _is_deferred(server: ServerSnapshot) -> bool:
    return server.is_deferred and is_own(server)


def _starts(is_default: bool) -> Fits:
    return lambda server: is_own(server) and server.is_default is is_default and not server.is_deferred


def _ask(what: str, *values: object) -> Wish:
    """Returns what emits the signal `<what>_requested` of `ServerWishes` with the server's name."""
    return lambda wishes, server: getattr(wishes, f"{what}_requested").emit(server.name, *values)


def _go(place: Callable[[ServerSnapshot], Destination]) -> Wish:
    return lambda wishes, server: wishes.place_requested.emit(place(server))


ACTIONS = (
    ServerAction("trust", "shield", _ask("trust"), _waits, Phrase("Look at what waits…")),
    ServerAction("refuse", "trash", _ask("refusal"), _waits, Phrase("Decline")),
    ServerAction("open", "info", _go(lambda server: OpenServer(server.name)), _is_listed, Phrase("Open")),
    ServerAction("sign in", "external", _ask("sign_in"), _in(S.NEEDS_SIGN_IN), Phrase("Sign in")),
    ServerAction("start", "play", _ask("start"), _in(S.STOPPED, S.ON_DEMAND, S.ERROR), Phrase("Start")),
    ServerAction("restart", "refresh", _ask("restart"), _in(*IN_USE - {S.ON_DEMAND, S.WAITING}), Phrase("Restart")),
    ServerAction("anyway", "play", _ask("start_anyway"), _in(S.WAITING), Phrase("Start anyway")),
    ServerAction("edit", "edit", _go(lambda server: OpenServer(server.name, "settings")), is_own, Phrase("Edit…")),
    ServerAction("log", "log", _ask("log"), _is_listed, Phrase("Log")),
    ServerAction("access", "shield", _go(lambda server: OpenServer(server.name, "access")), lambda server: server.access is not None),
    ServerAction(
        "try",
        "tools",
        _go(lambda server: ToolsOf(server.name)),
        lambda server: is_own(server) and server.tool_count > 0,
        Phrase("Try a tool…"),
    ),
    ServerAction("folder", "folder", _ask("folder"), _is_deferred, Phrase("Choose folder…")),
    ServerAction(
        "address",
        "copy",
        _ask("sign_in_address"),
        lambda server: server.has_sign_in_page and is_own(server),
        Phrase("Copy sign-in address"),
    ),
    ServerAction("why", "info", _ask("diagnosis"), is_own),
    ServerAction("rename", "edit", _ask("rename"), _is_of_settings, Phrase("Rename…")),
    ServerAction("duplicate", "layers", _ask("duplicate"), is_own, Phrase("Duplicate…")),
    ServerAction("options", "settings", _ask("options"), is_own, Phrase("Options…")),
    ServerAction(
        "reset projects", "stop", lambda wishes, _: wishes.projects_reset_requested.emit(), _is_deferred, Phrase("Reset projects")
    ),
    ServerAction("on_demand", "clock", _ask("default", False), _starts(True), Phrase("Sleep (start when used)")),
    ServerAction("default", "power", _ask("default", True), _starts(False), Phrase("Start with Tooltray")),
    ServerAction(
        "file",
        "external",
        lambda wishes, server: wishes.file_requested.emit(server.file),
        lambda server: is_own(server) and is_of_file(server),
        Phrase("Open its file"),
    ),
    ServerAction("copy", "copy", _ask("copy"), _is_of_settings, Phrase("Copy settings entry")),
    ServerAction("share", "link", _ask("link"), is_own, Phrase("Add to an AI client…")),
    ServerAction("sign out", "key", _ask("sign_out"), lambda server: is_own(server) and server.is_signed_in, Phrase("Sign out")),
    ServerAction("stop", "stop", _ask("stop"), _in(*IN_USE), Phrase("Stop")),
    ServerAction(  # not from a file with which the hub was started: Tooltray never writes to that
        "remove", "trash", _ask("removal"), lambda server: is_own(server) and server.origin != "served", Phrase("Remove")
    ),
)
IN_TRAY = frozenset(("sign in", "start", "restart", "log", "stop"))
"""The actions in the tray's menu."""
COMMON = frozenset(("trust", "refuse", "start", "restart", "anyway", "edit", "log", "try", "stop", "remove"))
"""The actions in the short menu of a card or a row; the others are in the menu of the opened server."""
IN_PALETTE = {
    "sign in": (Phrase("Sign in to {name}", name=""), "log in oauth"),
    "start": (Phrase("Start {name}", name=""), "run switch on"),
    "restart": (Phrase("Restart {name}", name=""), "again reboot"),
    "edit": (Phrase("Edit {name}", name=""), "change settings command environment"),
    "log": (Phrase("Log of {name}", name=""), "logs output stderr"),
    "access": (Phrase("Access of {name}", name=""), "careful trusted free sandbox permission approval 謹慎 信任 自由 沙箱"),
    "why": (Phrase("Why is {name} as it is?", name=""), "doctor diagnose reason problem does not run"),
    "options": (Phrase("Options of {name}", name=""), "tool listing compact full lazy wait for a project"),
    "on_demand": (Phrase("Let {name} sleep until it is used", name=""), "sleeping idle lazy on demand when it starts"),
    "default": (Phrase("Start {name} with Tooltray", name=""), "sleep default always on when it starts"),
    "copy": (Phrase("Copy the settings entry of {name}", name=""), "json config clipboard"),
    "share": (Phrase("Add {name} to an AI client", name=""), "link install deeplink"),
    "sign out": (Phrase("Sign out of {name}", name=""), "log out"),
    "stop": (Phrase("Stop {name}", name=""), "end switch off"),
    "remove": (Phrase("Remove {name}", name=""), "delete uninstall"),
}
"""The actions in the palette: the title, with `{name}` for the server's, and more words by which one is found."""
BY_NAME = {action.name: action for action in ACTIONS}


def can(name: str, server: ServerSnapshot) -> bool:
    """Returns whether an action makes sense for a server; an action on many servers skips the others."""
    return BY_NAME[name].fits(server)


def in_menu(server: ServerSnapshot, *, is_short: bool = False) -> list[ServerAction]:
    """Returns the actions of a server's menu; Start is left out where Restart fits.

    Args:
        is_short: only the common ones, for a card or a row.
    """
    fitting = [action for action in ACTIONS if action.title and action.fits(server) and (action.name in COMMON or not is_short)]
    return [action for action in fitting if action.name != "start" or not can("restart", server)]
