"""The transport of a server inside Tooltray: Tooltray's side of the server's thread, from the import of its package to its end. It imports
nothing of the SDK: sdk_server does, in that thread, so that an import of a second delays no call.

A package says by its entry points of the group `tooltray.servers` that it has servers for Tooltray.
"""

import asyncio
import importlib
import logging
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import DID_NOT_START, InMemoryServer
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.unsent import Outbox
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.inmemory.server_thread import End, ServerThread
from tooltray.servers.transports.inmemory.streams import Console, FromServer, ToServer, call_in
from tooltray.servers.transports.server_output import ServerOutput, StderrLines, begin_attempt
from tooltray.servers.transports.transport import ConnectionFailure, Transport, TransportOrder

if TYPE_CHECKING:
    from importlib import metadata

GROUP = "tooltray.servers"
SUMMARY_CHARACTERS = 300  # of a package's own summary that are shown


class Offered(msgspec.Struct, frozen=True):
    """One server that an installed package offers.

    Attributes:
        folder: the folder that has to be on the path of modules before the import; empty: none.
    """

    entry_point: "metadata.EntryPoint"
    package: str
    version: str
    summary: str
    folder: str


def listed(folder: Path | None = None) -> list[InMemoryServer]:
    """Returns the offered servers, by name.

    Args:
        folder: a further folder with packages, beside this Python's own; None: no such folder.
    """
    found = _by_name(folder)
    return [
        InMemoryServer(name, each.package, each.version, each.summary, _ambiguity(name, offers))
        for name, offers in sorted(found.items())
        for each in offers
    ]


def find(name: str, folder: Path | None = None) -> Offered:
    """Returns the one package that offers a server of this name.

    Raises:
        CannotStart: no package offers it, or more than one does.
    """
    offers = _by_name(folder).get(name, [])
    if not offers:
        title = Phrase("no installed package offers the server '{name}'", name=name)
        where = Phrase("looked for an entry point of this name in the group {group}", group=GROUP)
        raise CannotStart(title, where, Phrase("Install the package; see which there are: tooltray servers inmemory"))
    if problem := _ambiguity(name, offers):
        raise CannotStart(problem.title, problem.message, problem.hint)
    return offers[0]


def _ambiguity(name: str, offers: list[Offered]) -> Problem | None:
    if len(offers) == 1:
        return None
    packages = ", ".join(sorted({each.package for each in offers}))
    title = Phrase("more than one package offers the server '{name}'", name=name)
    return Problem(title, packages, Phrase("Remove all of them but one."))


def _by_name(folder: Path | None) -> Mapping[str, list[Offered]]:
    found: dict[str, list[Offered]] = {}
    for offered in _all(folder):
        found.setdefault(offered.entry_point.name, []).append(offered)
    return found


def _all(folder: Path | None) -> Iterator[Offered]:
    """Yields all offers. A package that is installed twice counts once, as for an import: the place that is searched first."""
    from importlib import metadata  # imports the packages of mail and archives, too

    seen: set[str] = set()
    searched = [(metadata.distributions(), "")]
    if folder is not None:
        searched.append((metadata.distributions(path=[str(folder)]), str(folder)))
    for packages, place in searched:
        for package in packages:
            for offered in _of_package(package, place):
                key = f"{offered.package.lower().replace('_', '-')}/{offered.entry_point.name}"
                if key not in seen:
                    seen.add(key)
                    yield offered


def _of_package(package: "metadata.Distribution", folder: str) -> Iterator[Offered]:
    try:
        points = [each for each in package.entry_points if each.group == GROUP]
        about = package.metadata.json if points else {}
    except Exception:  # an error in one package's description must not hide the others
        return
    for point in points:
        name, version, summary = (str(about.get(key) or "") for key in ("name", "version", "summary"))
        yield Offered(point, name, version, summary[:SUMMARY_CHARACTERS], folder)


def make_importable(offered: Offered) -> None:
    """Puts a package's folder last on the path of modules, so that it hides none of ours. It stays there, since servers may import late."""
    if offered.folder and offered.folder not in sys.path:
        sys.path.append(offered.folder)


logger = logging.getLogger(__name__)
GRACE_AFTER_END_S = 2.0  # from the end of its input to the cancellation of its task; a process gets as long
GRACE_AFTER_CANCEL_S = 2.0  # from there until its thread is left behind
GRACE_FOR_THREAD_S = 1.0  # for the thread's work after its last connection: leftover tasks of the server are cancelled
_SDK = "tooltray.servers.transports.inmemory.sdk_server"


async def make_in_memory(order: TransportOrder) -> Transport:
    """Makes the transport of a server that an installed package brings; the package is not imported yet.

    Raises:
        CannotStart: no package brings it, or its settings have fields that only a process can have.
    """
    _check(order)
    offered = await asyncio.to_thread(find, order.resolved.command or "", order.packages)
    return SdkTransport(name=order.name, offered=offered, args=order.resolved.args, log=order.log, mask=order.mask)


def _check(order: TransportOrder) -> None:
    """
    Raises:
        CannotStart: the entry names no server, or has an environment or a folder, which belong to Tooltray as a whole.
    """
    if not order.resolved.command:
        hint = Phrase("Name one in `command`; see which there are: tooltray servers inmemory")
        raise CannotStart(Phrase("'{name}' names no server", name=order.name), "", hint)
    for field, given in (("env", order.resolved.env), ("cwd", order.config.cwd)):
        if given:
            title = Phrase("'{name}' cannot have `{field}`: it runs inside Tooltray", name=order.name, field=field)
            raise CannotStart(title, "", Phrase("Give it what it needs in `args`."))


class SdkTransport:
    """The transport of a server in a thread. Satisfies Transport."""

    pids: tuple[int, ...] = ()
    exit_code: int | None = None
    has_expired = False

    def __init__(
        self,
        *,
        name: str,
        offered: Offered,
        args: Sequence[str],
        log: deque[str],
        mask: Callable[[str], str],
        grace_after_end_s: float = GRACE_AFTER_END_S,
        grace_after_cancel_s: float = GRACE_AFTER_CANCEL_S,
    ) -> None:
        """
        Args:
            log: receives the lines that the server prints and logs.
            mask: masks secrets in these lines before they are stored.
        """
        self._name, self._offered, self._args, self._log, self._mask = name, offered, args, log, mask
        self.output = ServerOutput(log=log, mask=mask)
        self._graces_s = (grace_after_end_s, grace_after_cancel_s)
        self._end: End | None = None  # once it has ended
        self._ended = asyncio.Event()
        self._is_closing = False
        self._connection: _Connection | None = None

    async def open(self, dispatcher: RawDispatcher) -> None:
        begin_attempt(self._log)
        hub = asyncio.get_running_loop()
        self._dispatcher = dispatcher
        self._lines = StderrLines(self.output.wrote, pause=lambda: None, resume=lambda: None)
        self._source, self._sink = ToServer(hub), FromServer(hub, dispatcher.feed)
        self._channel = channel = _Channel(self._source, dispatcher)
        self._source.follow(channel.outbox.pause, channel.outbox.resume)
        self._unfollow = dispatcher.unsent.all.follow(self._sink.pause, self._sink.resume)
        dispatcher.attach(channel)
        console = Console(hub, lambda line: self._lines.feed(line + b"\n"))
        self._connection = connection = _Connection(
            self._offered, self._args, console, self._source, self._sink, lambda end: call_in(hub, lambda: self._on_ended(end))
        )
        connection.thread = ServerThread(self._name)
        connection.thread.start(connection)

    @property
    def failure(self) -> ConnectionFailure | None:
        """The reason why the server ended on its own; None while it runs, and if we ended it."""
        end = self._end
        if end is None:
            return None
        words = self._mask(end.words)
        title = Phrase("'{name}' ended: {words}", name=self._name, words=words or end.how)
        if end.is_start:
            title = DID_NOT_START.filled(name=self._name, words=words or end.how)
        hint = Phrase("Its log has the whole of it: tooltray servers logs {name}", name=self._name)
        return ConnectionFailure(Problem(title, end.how, hint), is_lasting=end.is_start, how=end.how, words=words)

    def _on_ended(self, end: End) -> None:
        """Reports the end. All output from before the end has arrived already, except for a line without an end."""
        self._sink.finish()
        if not self._is_closing:
            self._end = end
            words = self._mask(end.words)
            why = Phrase("{how}: {words}", how=end.how, words=words) if words else end.how
            self._dispatcher.connection_lost(Phrase("server '{name}' has ended: {why}", name=self._name, why=why))
        self._ended.set()

    async def close(self) -> None:
        """Ends the server's input, then cancels its task, then leaves its thread behind."""
        connection = self._connection
        if connection is None:
            return
        self._is_closing = self._end is None
        self._unfollow()
        self._sink.resume()
        self._channel.outbox.discard()
        self._source.close()
        if await self._ends(connection):
            await asyncio.to_thread(connection.wait_for_end, GRACE_FOR_THREAD_S)
        connection.console.finish()
        self._lines.finish()

    async def _ends(self, connection: "_Connection") -> bool:
        """Reports whether the server ended, at the latest when its task was cancelled."""
        for grace_s, next_step in zip(self._graces_s, (connection.cancel, self._leave_behind), strict=True):
            try:
                async with asyncio.timeout(grace_s):
                    await self._ended.wait()
                return True
            except TimeoutError:
                next_step()
        return False

    def _leave_behind(self) -> None:
        assert self._connection, "it was opened"
        self._connection.give_up()
        self._sink.finish()
        self._ended.set()
        self._log.append("--- it does not end: its thread keeps its resources until Tooltray ends ---")
        logger.warning("the server '%s' inside Tooltray does not end; its thread is abandoned", self._name)


class _Channel:
    """The dispatcher's channel: an outbox before the queue."""

    def __init__(self, source: ToServer, dispatcher: RawDispatcher) -> None:
        self.outbox = Outbox(source)
        self.outbox.count_for(dispatcher.unsent)

    def write(self, data: bytes | memoryview) -> None:
        self.outbox.write(data)

    def close(self) -> None:
        self.outbox.close()


class _Connection:
    """The server's side of the connection, called in its thread. Satisfies Connection."""

    def __init__(
        self,
        offered: Offered,
        args: Sequence[str],
        console: Console,
        source: ToServer,
        sink: FromServer,
        on_ended: Callable[[End], None],
    ) -> None:
        self._offered, self._args, self.console, self._source, self._sink, self._on_ended = offered, args, console, source, sink, on_ended
        self.thread: ServerThread | None = None

    def make(self) -> object:
        sdk = importlib.import_module(_SDK)
        make_importable(self._offered)
        return sdk.made(self._offered.entry_point.load(), self._args)

    async def serve(self, server: object) -> None:
        await importlib.import_module(_SDK).serve(server, self._source, self._sink)

    def ended(self, end: End) -> None:
        self._on_ended(end)

    # in Tooltray's loop

    def cancel(self) -> None:
        if self.thread:
            self.thread.cancel(self)

    def give_up(self) -> None:
        if self.thread:
            self.thread.give_up()

    def wait_for_end(self, timeout_s: float) -> None:
        if self.thread:
            self.thread.wait_for_end(timeout_s)
