"""The verbs for confinement: a server's confinement, the refusals, and the parts that this computer can enforce."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from tooltray.config.settings.confinement import Confinement
from tooltray.config.settings.json_kinds import ValidationError
from tooltray.config.settings.json_model import in_words, printable
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, what_runs
from tooltray.foundation.confirm_widening import check_unchanged, confirm_widening
from tooltray.foundation.errors import Denied, NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, ConfinementSupport, Files, Net, RefusedThing, WatchSnapshot
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonObject
from tooltray.servers.confinement.confinements import Confinements, as_written
from tooltray.servers.confinement.destinations import entry_for, read_destination
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.refusals import Refusals
from tooltray.servers.confinement.watches import Watches

MakeGuarded = Callable[[], GuardedFolders]
LONGEST_SHOWN = 200  # characters of an invalid name
WATCHED_S = 300.0  # long enough to try each tool of a server once


class ConfinementApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        confinements: Confinements,
        guarded: MakeGuarded,
        refusals: Refusals | None = None,
        watches: Watches | None = None,
        moving_line: Callable[[str], str] = lambda server: "",
    ) -> None:
        """
        Args:
            guarded: returns the folders that no server may get.
            refusals, watches: None if no server runs here, so that nothing is refused or watched.
            moving_line: returns the command that makes a server keep its file elsewhere; empty if no such command is known.
        """
        self._config, self._confinements, self._guarded = config, confinements, guarded
        self._refusals, self._watches, self._moving_line = refusals, watches, moving_line

    async def get_confinement(self, server: str) -> ConfinementSnapshot:
        """Returns a server's confinement: the files and hosts that it may reach, the limits that this computer cannot enforce, and
        refusals.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: it is not a process of this computer.
        """
        found = self._confinements.of(server, self._process(server))
        assert found is not None
        return found

    async def set_confinement(
        self,
        server: str,
        files: Files = "open",
        network: Net = "open",
        hosts: Sequence[str] = (),
        read: Sequence[str] = (),
        write: Sequence[str] = (),
    ) -> ConfinementSnapshot:
        """Confines a server, or opens it; a running one is restarted. A wider confinement needs approval, a narrower one does not.

        Args:
            files: "open": whatever its user may do; "own": its package, its caches, its project, and the folders named here; "read": the
                same, but only its own caches may be changed.
            network: "open"; "none"; "hosts": only those in `hosts`.
            hosts: as "api.example.org", "*.example.org" or "example.org:8443"; with another network they are kept, without effect.
            read: further folders and files that it may read; absolute, or beginning with `~/`. With all files open they are kept, too.
            write: further folders and files that it may also change.

        Raises:
            NotFound: the server does not exist.
            Denied: it would be more open, and that was not confirmed.
            Conflict: since the question was asked its program or its confinement has changed.
            TooltrayError: this computer cannot enforce it, a path or a host cannot be used, or the settings cannot be written.
        """
        given = self._process(server).confinement
        chosen = _checked(server, {"files": files, "network": network, "hosts": tuple(hosts), "read": tuple(read), "write": tuple(write)})
        if chosen.network == "hosts" and not self._confinements.here.hosts:
            title = Phrase("'{server}' cannot be limited to some hosts on this computer", server=server)
            raise TooltrayError(title, hint=Phrase('Choose "none" or "open" for its network.'))
        await self._check_may_be_given(server, {*chosen.read, *chosen.write} - {*given.read, *given.write})
        before = self._process(server).confinement  # the present one: it may have become narrower while the folders were examined
        if chosen.widens(before):
            about = self._about(server)
            await confirm_widening(Phrase("Letting a server do more"), server=server, **chosen.beyond(before))
            check_unchanged(about, self._about(server))
        await self._config.change_server(server, confinement=self._written(server, chosen))
        return await self.get_confinement(server)

    async def allow_refused(self, server: str, kind: Literal["host", "path"], name: str) -> ConfinementSnapshot:
        """Allows a server a host or path that was refused to it: a host at once, a path by a restart. The path may be read, and also
        changed if a change was refused.

        Args:
            name: the host with its port, or the path, as `refused` of its confinement has it.

        Raises:
            NotFound: the server does not exist, or nothing of that name was refused to it.
            Denied: it was not confirmed, or no server may have it.
            Conflict: as in `set_confinement`.
            TooltrayError: its confinement has changed meanwhile, or the settings cannot be written.
        """
        about = self._about(server)
        await confirm_widening(Phrase("Allowing what was refused to a server"), server=server, name=name)
        check_unchanged(about, self._about(server))
        if self._refusals is None:
            raise NotFound(Phrase("'{thing}' was not refused to '{name}'", thing=name, name=server))
        thing = self._refusals.get(server, kind, name)
        guarded = self._guarded()
        if kind == "path" and (why := await finish_in_thread(guarded.why_not, name)):
            line = self._moving_line(server)
            hint = Phrase("Keep its file where it may write: {command}", command=line) if line else guarded.instead_of(name)
            raise Denied(Phrase("'{path}' cannot be allowed", path=name), why, hint)
        chosen = _with_allowed(self._process(server).confinement, server, thing)
        await self._config.change_server(server, confinement=self._written(server, chosen))
        self._refusals.allowed(server, thing)
        return await self.get_confinement(server)

    async def get_confinement_support(self) -> ConfinementSupport:
        """Returns the parts of a sandbox that this computer can enforce."""
        return self._confinements.here

    async def watch_server(self, server: str, duration_s: float = WATCHED_S) -> WatchSnapshot:
        """Restarts a server and records for a while which files it opens and where it connects. The server is not confined meanwhile: if it
        is confined otherwise, this needs approval.

        Args:
            duration_s: seconds, at most 3600; then the server is restarted as before.

        Raises:
            NotFound: the server does not exist.
            Denied: it is confined, and running it unconfined was not confirmed.
            Conflict: it is watched already, or two others are; or as in `set_confinement`.
            TooltrayError: it is not a process of this computer, or nothing can be watched here.
        """
        if not self._process(server).confinement.is_open:
            about = self._about(server)
            await confirm_widening(Phrase("Running a server without its sandbox"), server=server)
            check_unchanged(about, self._about(server))
        return await self._running_watches.start(server, duration_s, what_runs(self._process(server)))

    async def stop_watching(self, server: str) -> WatchSnapshot:
        """Ends the watching of a server before its time is over; the server is restarted as before.

        Raises:
            NotFound: it is not watched.
        """
        return await self._running_watches.stop(server)

    async def get_watch(self, server: str) -> WatchSnapshot:
        """Returns a server's actions while it was watched, and the tightest profile for them, with the actions that it would have refused.

        Raises:
            NotFound: the server does not exist.
        """
        self._process(server)
        return await self._running_watches.get(server)

    async def apply_proposal(self, server: str) -> ConfinementSnapshot:
        """Confines a server as proposed by the last `get_watch`; if the server is being watched, that ends. A wider confinement needs
        approval.

        Raises:
            NotFound: nothing is proposed for it.
            Denied: it would be more open, and that was not confirmed.
            TooltrayError: this computer cannot enforce it, or the settings cannot be written.
        """
        self._process(server)
        watches = self._running_watches
        chosen = await watches.shown(server)
        if chosen is None:
            raise NotFound(Phrase("Nothing is proposed for '{name}'", name=server), hint=Phrase("Watch it first."))
        confined = await self.set_confinement(server, chosen.files, chosen.network, chosen.hosts, chosen.read, chosen.write)
        if watches.is_watched(server):
            await watches.stop(server)
        return confined

    @property
    def _running_watches(self) -> Watches:
        if self._watches is None:
            raise TooltrayError(
                Phrase("Tooltray is not running"), Phrase("This needs Tooltray to be running"), Phrase("Start it: tooltray serve")
            )
        return self._watches

    async def _check_may_be_given(self, server: str, paths: set[str]) -> None:
        guarded = self._guarded()
        for path in sorted(paths):
            if why := await finish_in_thread(guarded.why_not, path):
                title = Phrase("'{server}' cannot be given {path}", server=server, path=path)
                raise TooltrayError(title, why, guarded.instead_of(path))

    def _process(self, server: str) -> MCPServerConfig:
        config = self._config.settings.mcp_servers.get(server)
        if config is None:
            raise NotFound(Phrase("Server '{name}' not found", name=server), hint=Phrase("List the servers: tooltray servers list"))
        if config.transport != "stdio":
            title = Phrase("'{name}' cannot be sandboxed", name=server)
            raise TooltrayError(title, Phrase("it does not run as its own process on this computer"))
        return config

    def _about(self, server: str) -> tuple[str, Confinement]:
        """Returns the subject of an approval about a server's confinement: its program, and its present confinement."""
        config = self._process(server)
        return what_runs(config), config.confinement

    def _written(self, server: str, chosen: Confinement) -> JsonObject | None:
        return as_written(chosen, is_of_file=self._config.file_server(server) is not None)


def _with_allowed(before: Confinement, server: str, thing: RefusedThing) -> Confinement:
    """Returns a confinement that also allows a thing that was refused.

    Raises:
        TooltrayError: the thing was not refused by the confinement.
    """
    return _with_host(before, server, thing.name) if thing.kind == "host" else _with_path(before, server, thing)


def _with_host(before: Confinement, server: str, name: str) -> Confinement:
    if before.network != "hosts":
        raise TooltrayError(Phrase("'{server}' is no longer limited to some hosts", server=server))
    return before.model_copy(update={"hosts": tuple(dict.fromkeys((*before.hosts, entry_for(read_destination(name)))))})


def _with_path(before: Confinement, server: str, thing: RefusedThing) -> Confinement:
    path = thing.name
    if before.files == "open":
        reason = Phrase("its files are open: this was refused by the system, or by its own program")
        raise TooltrayError(Phrase("Tooltray does not block '{path}' for '{server}'", server=server, path=path), reason)
    if not thing.is_write:
        return before.model_copy(update={"read": tuple(dict.fromkeys((*before.read, path)))})
    if before.files == "read":
        reason = Phrase("it wanted to change it, and it may only read")
        raise TooltrayError(Phrase("'{path}' cannot be allowed", path=path), reason, Phrase('Choose "own" for its files'))
    read = tuple(each for each in before.read if each != path)
    return before.model_copy(update={"read": read, "write": tuple(dict.fromkeys((*before.write, path)))})


def _checked(server: str, given: dict[str, object]) -> Confinement:
    try:
        return Confinement.model_validate(given)
    except ValidationError as error:
        title = Phrase("'{server}' cannot be sandboxed like this", server=server)
        raise TooltrayError(title, _why(error, given), Phrase("Correct it.")) from None


def _why(error: ValidationError, given: Mapping[str, object]) -> str:
    """Returns the error for the user who typed the value: it names the value and not its position in a list."""
    member, *inside = error.places[0][0]
    values = given.get(str(member))
    if not (isinstance(values, tuple) and len(inside) == 1 and isinstance(inside[0], int)):
        return in_words(error)
    value = printable(str(values[inside[0]]))[:LONGEST_SHOWN]
    if member == "hosts":
        return Phrase("'{host}' is not a host name; examples: api.example.org, *.example.org, example.org:8443", host=value)
    return Phrase("'{path}' is not an absolute path of a folder or file; it must begin with / or ~/", path=value)
