"""What a server's confinement becomes when something that was refused to the server is allowed."""

from collections.abc import Callable
from pathlib import Path

from tooltray.config.settings.confinement import Confinement
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import RefusedThing
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.confinement.destinations import entry_for, read_destination
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.refusals import Refusals


class Allowances:
    """Decides which refused things may be allowed. Belongs to the engine's loop."""

    def __init__(self, *, refusals: Refusals, home: Home, user_folder: Path, moving_line: Callable[[str], str]) -> None:
        """
        Args:
            user_folder: the user's own.
            moving_line: returns the command that has a server keep its file elsewhere; empty if none is known.
        """
        self._refusals, self._moving_line = refusals, moving_line
        self._guarded = GuardedFolders(str(user_folder), str(home.root))

    async def find(self, server: str, kind: str, name: str) -> RefusedThing:
        """Returns what was refused, if it may be allowed.

        Raises:
            NotFound: it was not refused.
            Denied: no server may have it.
        """
        thing = self._refusals.get(server, kind, name)
        if kind == "path" and (why := await finish_in_thread(self._guarded.why_not, name)):
            line = self._moving_line(server)
            hint = Phrase("Keep its file where it may write: {command}", command=line) if line else self._guarded.instead_of(name)
            raise Denied(Phrase("'{path}' cannot be allowed", path=name), why, hint)
        return thing

    def note(self, server: str, thing: RefusedThing) -> None:
        """Records that a thing has been allowed."""
        self._refusals.allowed(server, thing)


def with_allowed(before: Confinement, server: str, thing: RefusedThing) -> Confinement:
    """Returns a confinement that allows a thing besides.

    Raises:
        TooltrayError: the confinement is not what keeps the server from it.
    """
    return _with_host(before, server, thing.name) if thing.kind == "host" else _with_path(before, server, thing)


def _with_host(before: Confinement, server: str, name: str) -> Confinement:
    if before.network != "hosts":
        raise TooltrayError(Phrase("'{server}' is not kept to some hosts any more", server=server))
    return before.model_copy(update={"hosts": tuple(dict.fromkeys((*before.hosts, entry_for(read_destination(name)))))})


def _with_path(before: Confinement, server: str, thing: RefusedThing) -> Confinement:
    path = thing.name
    if before.files == "open":
        reason = Phrase("its files are open: this was refused by the system, or by its own program")
        raise TooltrayError(Phrase("'{server}' is not kept from '{path}' by Tooltray", server=server, path=path), reason)
    if not thing.is_write:
        return before.model_copy(update={"read": tuple(dict.fromkeys((*before.read, path)))})
    if before.files == "read":
        reason = Phrase("it wanted to change it, and it may only read")
        raise TooltrayError(Phrase("'{path}' cannot be allowed", path=path), reason, Phrase('Choose "own" for its files'))
    read = tuple(each for each in before.read if each != path)
    return before.model_copy(update={"read": read, "write": tuple(dict.fromkeys((*before.write, path)))})
