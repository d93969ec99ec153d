"""What the user can do with a server, and when that makes sense: one table for its menu, the tray, the palette and many servers at once. A
new action is a line here, and the signal that carries it out in `server_wishes`."""

from collections.abc import Callable

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.servers import ServerState as S
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
        title: in the server's menu; empty: it is not in the menu.
        of: returns the title in the palette for a server's name; None: it is not there.
        also: more words by which the palette finds it.
        in_tray: it is in the tray's menu, too.
    """

    name: str
    icon: str
    wish: Wish
    fits: Fits
    title: Phrase = NOWHERE
    of: Callable[[str], Phrase] | None = None
    also: str = ""
    in_tray: bool = False


def is_own(server: ServerSnapshot) -> bool:
    """Returns whether a server is the user's: it does not come with Tooltray, and is not merely proposed by a program."""
    return not server.is_builtin and server.origin != "proposal"


def _in(*states: S) -> Fits:
    return lambda server: is_own(server) and server.state in states


def _is_listed(server: ServerSnapshot) -> bool:
    return server.origin != "proposal"


def _is_written(server: ServerSnapshot) -> bool:
    """Returns whether Tooltray writes the server's entry; a file with which the hub was started is left as it is."""
    return is_own(server) and server.origin != "served"


def _open(tab: str) -> Wish:
    return lambda wishes, server: wishes.open_requested.emit(server.name, tab)


def _starts_with_hub(is_default: bool) -> Wish:
    return lambda wishes, server: wishes.default_requested.emit(server.name, is_default)


ACTIONS = (
    ServerAction(
        "trust",
        "shield",
        lambda wishes, server: wishes.trust_requested.emit(server.name),
        lambda server: bool(server.waiting),
        Phrase("Look at what waits…"),
    ),
    ServerAction(
        "refuse",
        "trash",
        lambda wishes, server: wishes.refusal_requested.emit(server.name),
        lambda server: bool(server.waiting),
        Phrase("Refuse"),
    ),
    ServerAction("open", "info", _open(""), _is_listed, Phrase("Open")),
    ServerAction(
        "sign in",
        "external",
        lambda wishes, server: wishes.sign_in_requested.emit(server.name),
        _in(S.NEEDS_SIGN_IN),
        Phrase("Sign in"),
        lambda name: Phrase("Sign in to {name}", name=name),
        "log in oauth",
        in_tray=True,
    ),
    ServerAction(
        "start",
        "play",
        lambda wishes, server: wishes.start_requested.emit(server.name),
        _in(S.STOPPED, S.ON_DEMAND, S.ERROR),
        Phrase("Start"),
        lambda name: Phrase("Start {name}", name=name),
        "run switch on",
        in_tray=True,
    ),
    ServerAction(
        "stop",
        "stop",
        lambda wishes, server: wishes.stop_requested.emit(server.name),
        _in(*IN_USE),
        Phrase("Stop"),
        lambda name: Phrase("Stop {name}", name=name),
        "end switch off",
        in_tray=True,
    ),
    ServerAction(
        "restart",
        "refresh",
        lambda wishes, server: wishes.restart_requested.emit(server.name),
        _in(*IN_USE - {S.ON_DEMAND, S.WAITING}),
        Phrase("Restart"),
        lambda name: Phrase("Restart {name}", name=name),
        "again reboot",
        in_tray=True,
    ),
    ServerAction(
        "folder",
        "folder",
        lambda wishes, server: wishes.folder_requested.emit(server.name),
        lambda server: server.is_deferred and is_own(server),
        Phrase("Choose folder…"),
    ),
    ServerAction(
        "anyway",
        "play",
        lambda wishes, server: wishes.start_anyway_requested.emit(server.name),
        _in(S.WAITING),
        Phrase("Start anyway"),
    ),
    ServerAction(
        "address",
        "copy",
        lambda wishes, server: wishes.sign_in_address_requested.emit(server.name),
        lambda server: server.has_sign_in_page and is_own(server),
        Phrase("Copy sign-in address"),
    ),
    ServerAction(
        "log",
        "log",
        lambda wishes, server: wishes.log_requested.emit(server.name),
        _is_listed,
        Phrase("Show log"),
        lambda name: Phrase("Log of {name}", name=name),
        "logs output stderr",
        in_tray=True,
    ),
    ServerAction(
        "why",
        "info",
        lambda wishes, server: wishes.diagnosis_requested.emit(server.name),
        is_own,
        of=lambda name: Phrase("Why is {name} as it is?", name=name),
        also="doctor diagnose reason problem does not run",
    ),
    ServerAction(
        "edit",
        "edit",
        _open("settings"),
        is_own,
        Phrase("Edit…"),
        lambda name: Phrase("Edit {name}", name=name),
        "change settings command environment",
    ),
    ServerAction("duplicate", "layers", lambda wishes, server: wishes.duplicate_requested.emit(server.name), is_own, Phrase("Duplicate…")),
    ServerAction(
        "options",
        "settings",
        lambda wishes, server: wishes.options_requested.emit(server.name),
        is_own,
        Phrase("Options…"),
        lambda name: Phrase("When {name} starts", name=name),
        "options lazy",
    ),
    ServerAction(
        "reset projects",
        "stop",
        lambda wishes, _: wishes.projects_reset_requested.emit(),
        lambda server: server.is_deferred and is_own(server),
        Phrase("Reset projects"),
    ),
    ServerAction(
        "on_demand",
        "clock",
        _starts_with_hub(False),
        lambda server: is_own(server) and server.is_default and not server.is_deferred,
        Phrase("Start when a client needs it"),
    ),
    ServerAction(
        "default",
        "power",
        _starts_with_hub(True),
        lambda server: is_own(server) and not server.is_default and not server.is_deferred,
        Phrase("Start with Tooltray"),
    ),
    ServerAction(
        "file",
        "external",
        lambda wishes, server: wishes.file_requested.emit(server.file),
        lambda server: is_own(server) and is_of_file(server),
        Phrase("Open its file"),
    ),
    ServerAction(
        "copy",
        "copy",
        lambda wishes, server: wishes.copy_requested.emit(server.name),
        lambda server: is_own(server) and not is_of_file(server),
        Phrase("Copy settings entry"),
        lambda name: Phrase("Copy the settings entry of {name}", name=name),
        "json config clipboard",
    ),
    ServerAction(
        "share",
        "link",
        lambda wishes, server: wishes.link_requested.emit(server.name),
        is_own,
        Phrase("Add to an AI client…"),
        lambda name: Phrase("Add {name} to an AI client", name=name),
        "link install deeplink",
    ),
    ServerAction(
        "sign out",
        "key",
        lambda wishes, server: wishes.sign_out_requested.emit(server.name),
        lambda server: is_own(server) and server.is_signed_in,
        Phrase("Sign out"),
        lambda name: Phrase("Sign out of {name}", name=name),
        "log out",
    ),
    ServerAction(
        "remove",
        "trash",
        lambda wishes, server: wishes.removal_requested.emit(server.name),
        _is_written,
        Phrase("Remove"),
        lambda name: Phrase("Remove {name}", name=name),
        "delete uninstall",
    ),
)
BY_NAME = {action.name: action for action in ACTIONS}


def can(name: str, server: ServerSnapshot) -> bool:
    """Returns whether an action makes sense for a server; an action on many servers skips the others."""
    return BY_NAME[name].fits(server)


def in_menu(server: ServerSnapshot) -> list[ServerAction]:
    """Returns the actions of a server's menu; what its card has a switch for is left out, and so is Start where Restart fits."""
    left_out = {"stop", *(["start"] if can("restart", server) else [])}
    return [action for action in ACTIONS if action.title and action.fits(server) and action.name not in left_out]
