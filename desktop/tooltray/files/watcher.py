"""Notices that files have changed: one watch over the folders of all that are followed.

Above it: what reads settings and other files with servers in them. Below it: watchfiles (the system's own notices) and tasks. Knows no
format; it reads no file, and says nothing of what has changed in it.

Folders are watched and not files: a file may not be there yet, editors put a new one in its place, a link may be set to another target.
What the system says is only the sign to look: what counts is what the files' own dates say. So nothing is lost while the watch is set up
anew, where a folder's own folder was moved, or on disks that give no notices.
"""

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tooltray.tasks import Spawn

logger = logging.getLogger(__name__)
STEP_MS = 200  # how often the thread looks for the system's notices and for its own end; a notice is taken after one or two of them
QUIET_S = 0.08  # without a further change: then a save is over. With the steps, what was saved is told within half a second
LONGEST_S = 0.5  # of saves one after the other, after which they are told all the same: within a second of the first
LOOK_MS = 1000  # between looks at the dates where the system says nothing
POLL_S = 0.5  # the same where the system cannot watch
AGAIN_S = 0.1  # until the watch is set up again after a folder has come or gone; others may be about to
END_WAIT_S = 1.0  # for the thread's end; only one that waits for a disk that hangs takes longer, and it keeps nobody from ending

Seen = tuple[int, ...] | None
"""What tells one state of a file from another; None: there is none."""


class FileWatcher:
    """Belongs to one event loop; a thread of its own does the watching, while there is something to follow.

    Args:
        spawn: starts a task; its end is the end of the thread.
        on_changed: is called in the loop with the path, as it was given, of a file that has changed, appeared or gone. Each path is also
            told once as soon as it is watched: nobody knows what happened to it before.
    """

    def __init__(self, spawn: Spawn, on_changed: Callable[[str], None]) -> None:
        self._spawn = spawn
        self._on_changed = on_changed
        self._paths: frozenset[str] = frozenset()
        self._seen: dict[str, Seen] = {}
        self._watch: _Watch | None = None

    def follow(self, paths: Iterable[str]) -> None:
        """These files are watched from now on, and no others. Those that were watched before are not told again.

        Args:
            paths: absolute. There need be no such file, nor a folder for it.
        """
        wanted = frozenset(paths)
        if wanted == self._paths:
            return
        self.close()
        self._paths = wanted
        before = dict(self._seen)  # the thread that ends may still write into it
        self._seen = {path: seen for path, seen in before.items() if path in wanted}
        if wanted:
            self._watch = _Watch(wanted, self._seen, asyncio.get_running_loop(), self._tell)
            self._spawn(self._watch.run(), name="file watcher")

    def close(self) -> None:
        """Ends the watching; the thread is gone within moments."""
        self._paths = frozenset()
        if self._watch:
            self._watch.stop()
            self._watch = None

    def _tell(self, path: str) -> None:
        if path in self._paths:
            self._on_changed(path)


class _Watch:
    """The watching of a set of files that stays the same.

    Args:
        seen: how each file was when it was last told of; kept up to date.
        tell: called in the loop.
    """

    def __init__(self, paths: frozenset[str], seen: dict[str, Seen], loop: asyncio.AbstractEventLoop, tell: Callable[[str], None]) -> None:
        self._paths = paths
        self._seen = seen
        self._loop = loop
        self._tell = tell
        self._stopping = threading.Event()
        self._ended = asyncio.Event()

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        """Until it is stopped; who is cancelled stops it."""
        threading.Thread(target=self._work, name="file-watcher", daemon=True).start()
        try:
            await self._ended.wait()
        finally:
            self.stop()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_WAIT_S):
                    await self._ended.wait()

    # in the thread

    def _work(self) -> None:
        try:
            while not self._stopping.is_set():
                self._watch_folders()
        except (OSError, RuntimeError) as error:  # the system's limit of watches, or none at all; the latter comes from watchfiles
            logger.warning("files are looked at every %s s: the system cannot watch them (%s)", POLL_S, error)
            self._poll()
        finally:
            self._call(self._ended.set)

    def _watch_folders(self) -> None:
        """Until a folder appears, goes, or becomes another one."""
        from watchfiles import watch  # 50 ms, which the hub's start need not wait for

        folders = _folders(self._paths)
        self._look()
        notices = watch(
            *sorted(folders),
            watch_filter=None,
            debounce=0,
            step=STEP_MS,
            stop_event=self._stopping,
            rust_timeout=LOOK_MS,
            yield_on_timeout=True,
            recursive=False,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        with contextlib.suppress(FileNotFoundError), contextlib.closing(notices):
            for _ in notices:
                self._look()
                if folders != _folders(self._paths):
                    break
        self._look()
        self._stopping.wait(AGAIN_S)

    def _poll(self) -> None:
        while not self._stopping.wait(POLL_S):
            self._look()

    def _look(self) -> None:
        """Tells of what is another one than it was, when it has come to rest."""
        ends_at = time.monotonic() + LONGEST_S
        changed = more = self._changed()
        while more and time.monotonic() < ends_at and not self._stopping.wait(QUIET_S):
            changed |= (more := self._changed())
        for path in sorted(changed):
            self._call(self._tell, path)

    def _changed(self) -> set[str]:
        changed = set()
        for path in self._paths:
            now = _seen(path)
            if path not in self._seen or self._seen[path] != now:
                self._seen[path] = now
                changed.add(path)
        return changed

    def _call(self, what: Callable[..., object], *args: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
            self._loop.call_soon_threadsafe(what, *args)


def _seen(path: str) -> Seen:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _folders(paths: Iterable[str]) -> Mapping[str, tuple[int, int]]:
    """Where something has to happen for one of these files to become another one, and which folder that is now."""
    places = {place for path in paths for place in (path, os.path.realpath(path))}
    return dict(_existing(Path(place).parent) for place in places)


def _existing(folder: Path) -> tuple[str, tuple[int, int]]:
    """The nearest folder above that is there; its own place in the file system tells a new one of the same name from it."""
    try:
        status = folder.stat()
    except OSError:
        return _existing(folder.parent)
    return str(folder), (status.st_dev, status.st_ino)
