"""The bridge's two sides on Windows: the client's pipes and the hub's named pipe, and the bytes between them.

A named pipe can be waited for, standard input and output cannot: a thread reads the one and another writes the other, each at most one
chunk ahead, and all decisions are made in the main thread. So neither direction can block the other, as on POSIX. Half of a pipe cannot be
closed: once the client has closed its side and awaits no more answers, the bridge leaves.
"""

import _winapi
import ctypes
import nt
import sys
from _thread import allocate_lock, start_new_thread

from tooltray_bridge.pipe_owner_windows import is_ours
from tooltray_bridge.tracker import Tracker

assert sys.platform == "win32"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK_BYTES = 1 << 16
STDIN, STDOUT = _winapi.STD_INPUT_HANDLE, _winapi.STD_OUTPUT_HANDLE
READ_WRITE = _winapi.GENERIC_READ | _winapi.GENERIC_WRITE
IDENTIFY_ONLY = 0x00110000  # SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION: the listener may not act as this user
BUSY, PENDING = 231, 997  # ERROR_PIPE_BUSY, ERROR_IO_PENDING
WAIT_FOR_END_MS = 1000  # until the hub has accepted earlier connections
IS_PIPE = 3  # FILE_TYPE_PIPE
LOCAL, REMOTE = b"\\\\?\\", b"\\\\?\\UNC\\"  # how Windows begins a final path: `\\?\C:\...`, `\\?\UNC\server\share\...`
NO_FILE = 0  # FILE_TYPE_UNKNOWN

_kernel = ctypes.WinDLL("kernel32")
_kernel.CreateEventW.restype = ctypes.c_void_p


def working_folder() -> bytes:
    """Returns the real path of the folder in which the client has started this bridge, spelled as on the disk: clients write `c:` and `C:`.

    Raises:
        OSError: it has been removed.
    """
    path: bytes = nt._getfinalpathname(nt.getcwdb())  # type: ignore[attr-defined]
    return b"\\\\" + path[len(REMOTE) :] if path.startswith(REMOTE) else path.removeprefix(LOCAL)


def random_bytes(count: int) -> bytes:
    """Returns bytes from the system's source for secrets."""
    return nt.urandom(count)


def connect(path: str) -> "HubPipe":
    """Connects to the hub that listens at `path`.

    Raises:
        OSError: there is no hub, or it is not this user's.
    """
    try:
        hub = _open(path)
    except OSError as error:
        if error.winerror != BUSY:
            raise
        _winapi.WaitNamedPipe(path, WAIT_FOR_END_MS)
        hub = _open(path)
    if not is_ours(hub):
        _winapi.CloseHandle(hub)
        raise PermissionError(1, "Tooltray runs as another user")
    return HubPipe(hub)


def _open(path: str) -> int:
    return _winapi.CreateFile(path, READ_WRITE, 0, 0, _winapi.OPEN_EXISTING, _winapi.FILE_FLAG_OVERLAPPED | IDENTIFY_ONLY, 0)


class Event:
    """A flag of Windows that can be waited for together with others."""

    def __init__(self) -> None:
        self.handle: int = _kernel.CreateEventW(None, True, False, None)
        self._as_argument = ctypes.c_void_p(self.handle)

    def set(self) -> None:
        _kernel.SetEvent(self._as_argument)

    def clear(self) -> None:
        _kernel.ResetEvent(self._as_argument)


class HubPipe:
    """A connection to a hub: at most one read and one write are under way."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.reading: _winapi.Overlapped | None = None
        self.writing: _winapi.Overlapped | None = None

    def start_reading(self) -> None:
        """Starts a read.

        Raises:
            OSError: the hub is gone.
        """
        self.reading, _ = _winapi.ReadFile(self._handle, CHUNK_BYTES, overlapped=True)

    def take_read(self) -> bytes:
        """Returns the bytes that have arrived.

        Raises:
            OSError: the hub is gone.
        """
        done, self.reading = self.reading, None
        assert done is not None
        count, _ = done.GetOverlappedResult(True)
        return bytes(done.getbuffer()[:count])  # type: ignore[index]

    def write(self, data: bytes) -> None:
        """Writes all bytes, in the background if the hub does not take them at once.

        Raises:
            OSError: the hub is gone.
        """
        self.writing, pending = _winapi.WriteFile(self._handle, data, overlapped=True)
        if pending != PENDING:
            self.finish_writing()

    def finish_writing(self) -> None:
        """Waits for the end of the write.

        Raises:
            OSError: the hub is gone.
        """
        done, self.writing = self.writing, None
        assert done is not None
        done.GetOverlappedResult(True)

    def close(self) -> None:
        for under_way in (self.reading, self.writing):
            if under_way is not None:
                under_way.cancel()
                try:
                    under_way.GetOverlappedResult(True)  # Windows must be done with the memory
                except OSError:
                    continue
        _winapi.CloseHandle(self._handle)


class _Input:
    """The client's writing side, read by a thread of its own; empty at its end."""

    def __init__(self, handle: int) -> None:
        self.arrived = Event()
        self._handle, self._chunk, self._is_free = handle, b"", allocate_lock()
        start_new_thread(self._read, ())

    def take(self) -> bytes:
        """Returns the chunk that has arrived; the next one may be read from now on."""
        chunk = self._chunk
        if chunk:  # after the end the flag stays
            self.arrived.clear()
            self._is_free.release()
        return chunk

    def _read(self) -> None:
        is_pipe = _winapi.GetFileType(self._handle) == IS_PIPE
        while True:
            try:
                chunk, _ = _winapi.ReadFile(self._handle, CHUNK_BYTES)
            except OSError:
                chunk = b""
            else:
                if not chunk and is_pipe:  # an empty write, which is not the end
                    continue
            self._is_free.acquire()
            self._chunk = chunk
            self.arrived.set()
            if not chunk:
                return


class _Output:
    """The client's reading side, written to by a thread of its own."""

    def __init__(self, handle: int) -> None:
        self.is_done = Event()
        self.is_broken = False
        self._handle, self._data, self._is_wanted = handle, b"", allocate_lock()
        self._is_wanted.acquire()
        start_new_thread(self._write, ())

    def start(self, data: bytes) -> None:
        """Writes all bytes and then sets `is_done`. Call it only after the previous write is done."""
        self._data = data
        self._is_wanted.release()

    def _write(self) -> None:
        while True:
            self._is_wanted.acquire()
            data = memoryview(self._data)
            try:
                while data:
                    data = data[_winapi.WriteFile(self._handle, data[:CHUNK_BYTES])[0] :]
            except OSError:
                self.is_broken = True
            self.is_done.set()


class Relay:
    """A carrier of bytes between the client's two pipes and one hub after the other.

    Attributes:
        hub: the connection, None while there is none.
        to_client: bytes that the client has not taken yet.
        is_input_open: whether the client may still write; a client that has closed this side may still read.
        is_client_gone: whether the client has stopped reading.
    """

    def __init__(self, tracker: Tracker, *, stdin: int | None = None, stdout: int | None = None) -> None:
        """
        Args:
            stdin, stdout: handles of the client's pipes; None: this process's own.
        """
        self.tracker = tracker
        self.hub: HubPipe | None = None
        self.to_client = b""
        self.is_input_open = True
        self.is_client_gone = False
        self._input = _Input(_winapi.GetStdHandle(STDIN) if stdin is None else stdin)
        self._output = _Output(_winapi.GetStdHandle(STDOUT) if stdout is None else stdout)
        self._under_way = 0  # how many bytes of `to_client` are being written
        self._to_hub = b""
        self._is_hub_taking = False

    @property
    def is_done(self) -> bool:
        """Reports whether the client has left without waiting for anything."""
        return not self.is_input_open and not self.to_client and not self.tracker.is_awaiting

    def attach(self, hub: HubPipe, first: bytes) -> None:
        """Continues with this hub.

        Args:
            first: the bytes that the hub is sent before all others.
        """
        self.hub, self._is_hub_taking = hub, True
        self.send_to_hub(first)

    def detach(self) -> None:
        """Closes the connection to a hub that is gone."""
        if self.hub is not None:
            self.hub.close()
        self.hub, self._to_hub, self._is_hub_taking = None, b"", False

    def pump(self) -> None:
        """Carries until the hub or the client is gone, the hub may be left, or the client awaits no more answers."""
        hub = self.hub
        assert hub is not None
        try:
            while not (self.is_client_gone or self.tracker.may_leave or (self.is_done and self.tracker.is_settled and not self._to_hub)):
                if hub.reading is None and not self.to_client:
                    hub.start_reading()
                self._step(hub)
        except OSError:  # bytes that the client has not taken yet are kept
            return

    def _step(self, hub: HubPipe) -> None:
        may_read = self._is_hub_taking and hub.writing is None and self.tracker.reads_client
        waits = self._client_waits(may_read=may_read)
        waits = [*([hub.reading.event] if hub.reading else []), *([hub.writing.event] if hub.writing else []), *waits]
        event = waits[_winapi.WaitForMultipleObjects(waits, False, _winapi.INFINITE)]
        if hub.reading and event == hub.reading.event:
            self._read_hub(hub)
        elif hub.writing and event == hub.writing.event:
            self._finish_write(hub)
        else:
            self._act_on(event)

    def wait(self, within_s: float, *, may_read: bool) -> bool:
        """Waits, without a hub, until the client has written bytes, has taken bytes or has left; at most `within_s` seconds.

        Returns:
            Whether it has.
        """
        waits = self._client_waits(may_read=may_read) or [Event().handle]
        which = _winapi.WaitForMultipleObjects(waits, False, int(within_s * 1000))
        if which < len(waits):
            self._act_on(waits[which])
        return which < len(waits)

    def _client_waits(self, *, may_read: bool) -> list[int]:
        waits = [self._output.is_done.handle] if self._under_way else []
        return [*waits, self._input.arrived.handle] if may_read and self.is_input_open else waits

    def _act_on(self, event: int) -> None:
        if event == self._output.is_done.handle:
            self._flushed()
        elif event == self._input.arrived.handle:
            self.read_client()

    def _flushed(self) -> None:
        self._output.is_done.clear()
        self.to_client, self._under_way = self.to_client[self._under_way :], 0
        self.is_client_gone = self._output.is_broken
        self._send_to_client(b"")

    def read_client(self) -> None:
        """Reads what the client has written and passes it on."""
        data = self._input.take()
        if data:
            data = self.tracker.client_sent(data)
        else:
            self.is_input_open = False
        if self._is_hub_taking:
            self.send_to_hub(data)
        if self.tracker.owed:
            self.tell_client(self.tracker.take_owed())

    def _read_hub(self, hub: HubPipe) -> None:
        self._send_to_client(self.tracker.hub_sent(hub.take_read()))
        if self.tracker.owed:
            self.tell_client(self.tracker.take_owed())

    def tell_client(self, lines: bytes) -> None:
        """Sends the bridge's own lines to the client. The bytes that the client was given before must end with a whole line."""
        self._send_to_client(lines)

    def send_to_hub(self, data: bytes) -> None:
        """Sends as much as the hub takes now and keeps the rest."""
        assert self.hub is not None
        self._to_hub = data
        if not data:
            return
        try:
            self.hub.write(data)
            if self.hub.writing is None:
                self._to_hub = b""
        except OSError:  # the hub is gone; its last output is still to be read
            self._to_hub, self._is_hub_taking, self.hub.writing = b"", False, None

    def _finish_write(self, hub: HubPipe) -> None:
        self._to_hub = b""
        try:
            hub.finish_writing()
        except OSError:
            self._is_hub_taking = False

    def _send_to_client(self, data: bytes) -> None:
        self.to_client += data
        if self.to_client and not self._under_way:
            self._under_way = len(self.to_client)
            self._output.start(self.to_client)


def with_client(carry: "Callable[[], int]") -> int:
    """Runs the bridge between standard input and output; returns its exit code, or 1 if one of the two is closed."""
    handles = (_winapi.GetStdHandle(STDIN), _winapi.GetStdHandle(STDOUT))
    if not all(handle and _winapi.GetFileType(handle) != NO_FILE for handle in handles):
        return 1
    return carry()
