"""Watches files for changes, with one watch over the folders of all of them.

Reports that a file has changed, not how. Folders are watched, not files: a file may not exist yet, an editor may rename a new one over it,
and a link may get another target. A notification is only a reason to compare each file's metadata (`stat`) with the last one seen. So no
change is missed while the watch is set up again, after a parent folder was moved, or on disks without notifications.
"""

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tooltray.foundation.tasks import Spawn

logger = logging.getLogger(__name__)
STEP_MS = 200  # how often the thread takes notifications and looks for its end; a notification is taken after one or two steps
QUIET_S = 0.08  # debounce: a save is over after this time without a change. With the steps, a save is reported within half a second
LONGEST_S = 0.5  # longest debounce of continuous saves, so that they are reported within a second of the first
LOOK_MS = 1000  # between comparisons of metadata without a notification
POLL_S = 0.5  # the same on systems that cannot watch
AGAIN_S = 0.1  # until the watch is set up again after a folder has appeared or gone; others may follow
END_WAIT_S = 1.0  # for the thread's end; it takes longer only on a disk that hangs, and a daemon thread does not keep the process

Fingerprint = tuple[int, ...] | None
"""Metadata that changes with the file; None: there is no file."""


class FileWatcher:
    """A watcher of a set of files. Belongs to one event loop; a thread watches as long as the set is not empty.

    Args:
        spawn: starts a task; the thread ends with that task.
        on_changed: called in the loop with the path, as passed to `follow`, of a file that was changed, created or removed. It is also
            called once for each path when its watch begins, since the file may have changed before.
    """

    def __init__(self, spawn: Spawn, on_changed: Callable[[str], None]) -> None:
        self._spawn = spawn
        self._on_changed = on_changed
        self._paths: frozenset[str] = frozenset()
        self._seen: dict[str, Fingerprint] = {}
        self._watch: _Watch | None = None

    def follow(self, paths: Iterable[str]) -> None:
        """Watches these files from now on, and no others. Unchanged files that were watched before are not reported again.

        Args:
            paths: absolute. Neither the file nor its folder needs to exist.
        """
        wanted = frozenset(paths)
        if wanted == self._paths:
            return
        self.close()
        self._paths = wanted
        before = dict(self._seen)  # the thread that ends may still write into it
        self._seen = {path: seen for path, seen in before.items() if path in wanted}
        if wanted:
            self._watch = _Watch(wanted, self._seen, asyncio.get_running_loop(), self._report)
            self._spawn(self._watch.run(), name="file watcher")

    def close(self) -> None:
        """Ends the watch; the thread ends within `STEP_MS` or so."""
        self._paths = frozenset()
        if self._watch:
            self._watch.stop()
            self._watch = None

    def _report(self, path: str) -> None:
        if path in self._paths:
            self._on_changed(path)


class _Watch:
    """A watch over one fixed set of files.

    Args:
        seen: metadata of each file when it was last reported; kept up to date.
        report: called in the loop with the path of a changed file.
    """

    def __init__(
        self, paths: frozenset[str], seen: dict[str, Fingerprint], loop: asyncio.AbstractEventLoop, report: Callable[[str], None]
    ) -> None:
        self._paths = paths
        self._seen = seen
        self._loop = loop
        self._report = report
        self._stopping = threading.Event()
        self._ended = asyncio.Event()

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        """Watches until `stop` is called; cancelling this task stops it, too."""
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
        except (
            OSError,
            RuntimeError,
        ) as error:  # the system's limit of watches is reached, or there are none (a RuntimeError of watchfiles)
            logger.warning("files are polled every %s s: the system cannot watch them (%s)", POLL_S, error)
            self._poll()
        finally:
            self._call(self._ended.set)

    def _watch_folders(self) -> None:
        """Watches until one of the folders is created, removed or replaced."""
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
        """Reports the files that have changed, debounced by `QUIET_S` and by `LONGEST_S` at most."""
        ends_at = time.monotonic() + LONGEST_S
        changed = more = self._changed()
        while more and time.monotonic() < ends_at and not self._stopping.wait(QUIET_S):
            changed |= (more := self._changed())
        for path in sorted(changed):
            self._call(self._report, path)

    def _changed(self) -> set[str]:
        changed = set()
        for path in self._paths:
            now = _fingerprint_of(path)
            if path not in self._seen or self._seen[path] != now:
                self._seen[path] = now
                changed.add(path)
        return changed

    def _call(self, what: Callable[..., object], *args: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: no report is needed any more
            self._loop.call_soon_threadsafe(what, *args)


def _fingerprint_of(path: str) -> Fingerprint:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _folders(paths: Iterable[str]) -> Mapping[str, tuple[int, int]]:
    """Returns the folders to watch, which hold the files and the targets of their links, each with its device and inode."""
    places = {place for path in paths for place in (path, os.path.realpath(path))}
    return dict(_existing(Path(place).parent) for place in places)


def _existing(folder: Path) -> tuple[str, tuple[int, int]]:
    """Returns the nearest ancestor that exists; device and inode distinguish it from a new folder of the same name."""
    try:
        status = folder.stat()
    except OSError:
        return _existing(folder.parent)
    return str(folder), (status.st_dev, status.st_ino)
