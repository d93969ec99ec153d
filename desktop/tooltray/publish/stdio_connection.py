"""One AI client on this process's own stdin and stdout (`tooltray serve --stdio`).

Above it: the engine. Below it: a session's dispatcher. Standard input may be a pipe, a terminal or a file; a blocking reader in a thread
takes all of them alike, and leaves the mode of the descriptors alone, which others share.
"""

import asyncio
import os
import threading

from tooltray.publish.connection import GRACE_AFTER_EOF_S
from tooltray.wire.dispatcher import RawDispatcher

CHUNK_BYTES = 1 << 18
HIGH_WATER_BYTES, LOW_WATER_BYTES = 1 << 20, 1 << 18  # of replies that the client has not read yet


async def serve(dispatcher: RawDispatcher, *, stdin: int = 0, stdout: int = 1) -> None:
    """Carries bytes until the client closes its side or stops reading ours."""
    loop = asyncio.get_running_loop()
    writer = _Writer(stdout, dispatcher, loop)
    dispatcher.attach(writer)
    may_read = threading.Event()
    may_read.set()
    writer.may_read = may_read
    reader = threading.Thread(target=_read, args=(stdin, dispatcher, loop, may_read), name="tooltray-stdin", daemon=True)
    reader.start()
    await dispatcher.closed.wait()
    await asyncio.to_thread(writer.finish)


def _read(stdin: int, dispatcher: RawDispatcher, loop: asyncio.AbstractEventLoop, may_read: threading.Event) -> None:
    while True:
        may_read.wait()
        try:
            chunk = os.read(stdin, CHUNK_BYTES)
        except OSError:
            chunk = b""
        taken = threading.Event()
        try:
            loop.call_soon_threadsafe(_deliver, chunk, dispatcher, taken)
        except RuntimeError:  # the loop has ended
            return
        if not chunk:
            return
        taken.wait()


def _deliver(chunk: bytes, dispatcher: RawDispatcher, taken: threading.Event) -> None:
    taken.set()
    if chunk:
        dispatcher.feed(chunk)
    else:
        dispatcher.end_of_input("the AI client is gone", grace_s=GRACE_AFTER_EOF_S)


class _Writer:
    """The dispatcher's channel; writes in a thread, so that a client that does not read blocks nobody else."""

    def __init__(self, stdout: int, dispatcher: RawDispatcher, loop: asyncio.AbstractEventLoop) -> None:
        self._stdout, self._dispatcher, self._loop = stdout, dispatcher, loop
        self._waiting: list[bytes | memoryview] = []
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._is_closing = False
        self.may_read = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tooltray-stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes | memoryview) -> None:
        with self._changed:
            self._waiting.append(data)
            self._waiting_bytes += len(data)
            is_high = self._waiting_bytes > HIGH_WATER_BYTES
            self._changed.notify()
        if is_high and not self._dispatcher.is_congested:
            self.may_read.clear()
            self._dispatcher.pause_writing()

    def close(self) -> None:
        with self._changed:
            self._is_closing = True
            self._changed.notify()

    def finish(self) -> None:
        """Waits until what was written has left, at most as long as a client gets to read it. In a thread."""
        self.close()
        self._thread.join(GRACE_AFTER_EOF_S)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._is_closing:
                    self._changed.wait()
                parts, self._waiting = self._waiting, []
            if not parts:
                return
            if not self._write_all(parts):
                self._tell(self._dispatcher.connection_lost, "the AI client is gone")
                return

    def _write_all(self, parts: list[bytes | memoryview]) -> bool:
        for part in parts:
            view = memoryview(part)
            while view:
                try:
                    view = view[os.write(self._stdout, view[:CHUNK_BYTES]) :]
                except OSError:
                    return False
            with self._changed:
                self._waiting_bytes -= len(part)
                is_low = self._waiting_bytes < LOW_WATER_BYTES
            if is_low and self._dispatcher.is_congested:
                self._tell(self._resume)
        return True

    def _resume(self) -> None:
        self.may_read.set()
        self._dispatcher.resume_writing()

    def _tell(self, callback: "object", *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)  # type: ignore[arg-type]
        except RuntimeError:
            pass  # the loop has ended
