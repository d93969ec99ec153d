"""The watched servers: each runs unconfined through the tracer for a while, and is restarted as before when the time is over."""

import asyncio
import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic

from tooltray.config.settings.confinement import Confinement
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import watch_command
from tooltray.foundation.snapshots.confinement import Files, SeenThing, WatchProposal, WatchSnapshot
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.servers.confinement.guarded_folders import PrivatePlaces, is_in
from tooltray.servers.confinement.launch_line import LINUX_OWN_DEVICES, LINUX_READ, Policy, lasting
from tooltray.servers.confinement.profiles import Subject, profile_of
from tooltray.servers.confinement.proposal import Granted, Proposer, Watched

ONE_S_OWN = "/proc/self"  # how reports name the process itself
CHECK_S = 20.0  # a frozen app starts in one; a machine may be busy
AT_ONCE = 2  # a watched server is slower, and slows other programs
BEHIND = 20  # while the server is watched, a proposal is computed again when more than 1 in this many actions is new
SHORTEST_S, LONGEST_S = 5.0, 3600.0
Restart = Callable[[str], Awaitable[None]]
"""Restarts a server.

Raises:
    TooltrayError: it does not start.
"""


def granted_by(policies: Mapping[Files, Policy], program: str) -> Granted:
    """Returns a function that checks a path against the policy of a profile. Blocks: links are resolved once, here."""
    readable, writable = {}, {}
    for files, policy in policies.items():
        read, write = lasting(policy, program)
        readable[files] = _resolved((*LINUX_READ, *read, *write, *LINUX_OWN_DEVICES))
        writable[files] = _resolved((*write, *LINUX_OWN_DEVICES))

    def granted(files: Files, path: str, writes: bool) -> bool:
        return is_in(path, (writable if writes else readable)[files])

    return granted


def _resolved(paths: Iterable[str]) -> frozenset[str]:
    return frozenset((ONE_S_OWN, *map(os.path.realpath, paths)))


def require_watching() -> None:
    """Tests whether programs can be watched here. Blocks.

    Raises:
        TooltrayError: this computer does not let one program watch another; gives the reason.
    """
    title = Phrase("Servers cannot be watched on this computer")
    if sys.platform != "linux":
        raise TooltrayError(title, Phrase("it needs Linux"), Phrase("Choose the server's profile by hand."))
    try:
        tried = subprocess.run(watch_command(), stdin=subprocess.DEVNULL, capture_output=True, timeout=CHECK_S, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise TooltrayError(title, str(error)) from None
    if tried.returncode:
        raise TooltrayError(title, tried.stderr.decode(errors="replace").strip(), Phrase("Choose the server's profile by hand."))


class Watch:
    """One server, watched.

    Attributes:
        program: the watched program, see `what_runs`; another program under the server's name is not watched.
        report: the tracer's file.
        until: on the clock of `monotonic`; 0: it is over.
        is_over: whether the server runs as before again, so that its actions are not seen any more.
        shown: the proposal that was last shown.
        proposer: None as long as the server has not been started.
        problem: why it did not start, or what went wrong at its end.
    """

    def __init__(self, program: str, report: Path, until: float) -> None:
        self.program, self.report, self.until = program, report, until
        self.seen = Watched(str(report))
        self.is_over = False
        self.shown: WatchProposal | None = None
        self.proposer: Proposer | None = None
        self.problem = ""
        self.timer: asyncio.Task[None] | None = None
        self._looking, self._looked_at = asyncio.Lock(), 0
        self._found: tuple[WatchProposal | None, tuple[SeenThing, ...]] = (None, ())

    def command(self, subject: Subject) -> Sequence[str]:
        """Returns the command line that runs a program through the tracer; from now on a profile can be proposed for the server. Blocks."""
        kinds: tuple[Files, ...] = ("own", "read")
        policies = {files: profile_of(subject, Confinement(files=files)).policy for files in kinds}
        self.proposer = Proposer(granted=granted_by(policies, subject.program), places=PrivatePlaces(subject.guarded))
        return watch_command(str(self.report), subject.program, *subject.args)

    async def look(self) -> tuple[WatchProposal | None, tuple[SeenThing, ...]]:
        """Returns the proposal for the actions seen so far, and the actions to show. Both may lag a little while the server is watched: a
        proposal from a hundred thousand actions takes seconds."""
        async with self._looking:
            await finish_in_thread(self.seen.read)
            news = self.seen.count - self._looked_at
            if self.proposer is not None and news > (self.seen.count // BEHIND if self.until else 0):
                self._looked_at = self.seen.count
                self._found = await finish_in_thread(_work_out, self.proposer, self.seen)
            return self._found


def _work_out(proposer: Proposer, seen: Watched) -> tuple[WatchProposal, tuple[SeenThing, ...]]:
    return proposer.propose(seen), proposer.shown(seen)


class Watches:
    """All watched servers. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        folder: Path,
        spawn: Spawn,
        restart: Restart,
        runs: Callable[[str], bool],
        require: Callable[[], None] = require_watching,
        shortest_s: float = SHORTEST_S,
    ) -> None:
        """
        Args:
            folder: for reports.
            runs: whether a server is up, or on its way.
            require: raises if programs cannot be watched here; blocks.
            shortest_s: the shortest time that makes sense.
        """
        self._folder, self._spawn, self._restart = folder, spawn, restart
        self._runs, self._require, self._shortest_s = runs, require, shortest_s
        self._watches: dict[str, Watch] = {}

    def is_watched(self, server: str) -> bool:
        """Reports whether a server runs unconfined now, through the tracer."""
        watch = self._watches.get(server)
        return watch is not None and watch.until > 0

    def begin(self, server: str, program: str) -> Watch | None:
        """Returns the watch for a server that starts now; None: it is not watched. If its program has changed since, the watching ends: the
        permission to run unconfined was for the earlier program.

        Args:
            program: see Watch.
        """
        watch = self._watches.get(server)
        if watch is None or not watch.until:
            return None
        if watch.program == program:
            return watch
        watch.until, watch.is_over = 0.0, True
        if watch.timer:
            watch.timer.cancel()
        return None

    async def start(self, server: str, duration_s: float, program: str) -> WatchSnapshot:
        """Restarts a server, watched; the results of an earlier watch are dropped.

        Args:
            program: see Watch.

        Raises:
            Conflict: it is watched already, or too many are.
            TooltrayError: it cannot be watched, or does not start.
        """
        if self.is_watched(server):
            raise Conflict(Phrase("'{server}' is being watched already", server=server))
        if sum(map(self.is_watched, self._watches)) >= AT_ONCE:
            hint = Phrase("Stop watching another server, or wait until its time is over.")
            raise Conflict(Phrase("{count} servers are being watched already", count=AT_ONCE), hint=hint)
        if not self._shortest_s <= duration_s <= LONGEST_S:
            raise TooltrayError(Phrase("A server is watched between {least} seconds and one hour", least=int(self._shortest_s)))
        watch = self._watches[server] = Watch(program, self._report_of(server), monotonic() + duration_s)
        try:
            await finish_in_thread(self._require)
            await finish_in_thread(self._empty, watch.report)
            if watch.until:  # else it has become another program meanwhile
                watch.timer = self._spawn(self._end_after(server, watch, duration_s), name=f"watch '{server}'")
        finally:
            if watch.timer is None:  # refused, or the caller was cancelled: nothing would end it
                watch.until = 0.0
                self._watches.pop(server, None)
        if watch.timer:
            await self._start_again(server, watch)
        return await self.get(server)

    async def stop(self, server: str) -> WatchSnapshot:
        """Ends the watching before its time is over; the server is restarted as before.

        Raises:
            NotFound: it is not watched.
        """
        watch = self._watches.get(server)
        if watch is None or not watch.until:
            raise NotFound(Phrase("'{server}' is not being watched", server=server))
        if watch.timer:
            watch.timer.cancel()
        await self._end(server, watch)
        return await self.get(server)

    async def get(self, server: str) -> WatchSnapshot:
        """Returns the actions of a server that were seen so far."""
        watch = self._watches.get(server)
        if watch is None:
            return WatchSnapshot(server)
        is_over = watch.is_over  # read first: a watch is reported as done only after its last actions were read
        watch.shown, seen = await watch.look()
        return WatchSnapshot(
            server=server,
            state="done" if is_over else "watching",
            left_s=max(0.0, watch.until - monotonic()) if watch.until else 0.0,
            facts=watch.seen.count,
            is_full=bool(watch.seen["full"]),
            seen=seen,
            proposal=watch.shown,
            problem=watch.problem,
        )

    async def shown(self, server: str) -> WatchProposal | None:
        """Returns the proposal that was last shown; later actions count only after another `get`. None: nothing was proposed."""
        watch = self._watches.get(server)
        return (watch.shown if watch else None) or (await self.get(server)).proposal

    async def forget(self, server: str) -> None:
        """Drops a server that was removed for good: a later server of the same name was not watched."""
        if watch := self._watches.pop(server, None):
            watch.until = 0.0
            if watch.timer:
                watch.timer.cancel()
            await finish_in_thread(watch.report.unlink, missing_ok=True)

    async def _end_after(self, server: str, watch: Watch, duration_s: float) -> None:
        await asyncio.sleep(duration_s)
        await self._end(server, watch)

    async def _end(self, server: str, watch: Watch) -> None:
        watch.until = 0.0
        try:
            if self._runs(server):
                await self._start_again(server, watch)
        finally:
            watch.is_over = True

    async def _start_again(self, server: str, watch: Watch) -> None:
        watch.problem = ""
        try:
            await self._restart(server)
        except TooltrayError as error:  # its actions until then were seen; the card shows the same error
            watch.problem = str(error)

    def _report_of(self, server: str) -> Path:
        """Returns the path of a server's report; the name is hashed since it may contain anything."""
        return self._folder / f"{hashlib.sha256(server.encode()).hexdigest()[:16]}.jsonl"

    def _empty(self, report: Path) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            report.unlink()
