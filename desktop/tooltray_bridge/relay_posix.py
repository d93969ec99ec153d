"""The bridge's two sides on Linux and macOS: the client's pipes and the hub's socket, and the bytes between them. Only built-in modules are
imported.

Neither direction can block the other. Bytes that a side does not take at once are kept, and no more are read for that side until it has
taken them. So the bridge holds at most one chunk each way, and a client that reads nothing while it writes 50 MB stalls only itself.
"""

import _socket
import posix
import select
import sys
from select import POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT

from tooltray_bridge import paths_posix as paths
from tooltray_bridge.tracker import Tracker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK_BYTES = 1 << 16  # what a pipe holds; from 128 KiB on malloc maps pages for each read, whose faults cost a call 20 us
GONE = POLLERR | POLLHUP | POLLNVAL


def working_folder() -> bytes:
    """Returns the folder in which the client has started this bridge.

    Raises:
        OSError: it has been removed.
    """
    return posix.getcwdb()


def random_bytes(count: int) -> bytes:
    """Returns bytes from the system's source for secrets."""
    return posix.urandom(count)


def connect(path: bytes) -> _socket.socket:
    """Connects to the hub that listens at `path`.

    Raises:
        OSError: there is no hub, or it is not this user's.
    """
    if not paths.is_private(path.rpartition(b"/")[0]):
        raise PermissionError(1, "other users can write to the folder of Tooltray's socket")
    hub = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        hub.setblocking(False)
        hub.connect(path)
        if owner_of(hub) not in (None, posix.getuid()):
            raise PermissionError(1, "Tooltray runs as another user")
    except OSError:
        hub.close()
        raise
    return hub


def owner_of(hub: _socket.socket) -> int | None:
    """Returns the user who listens at the other end; None if the system does not report it in this way."""
    option = getattr(_socket, "SO_PEERCRED", None)  # Linux: struct ucred of pid, uid, gid
    if option is None:
        return None
    return int.from_bytes(hub.getsockopt(_socket.SOL_SOCKET, option, 12)[4:8], sys.byteorder)


class Relay:
    """A carrier of bytes between the client's two pipes and one hub after the other.

    Attributes:
        hub: the connection, None while there is none.
        to_client: bytes that the client has not taken yet.
        is_input_open: whether the client may still write; a client that has closed this side may still read.
        is_client_gone: whether the client has stopped reading.
        stdin, stdout: the client's pipes.
    """

    def __init__(self, tracker: Tracker, *, stdin: int = 0, stdout: int = 1) -> None:
        self.tracker = tracker
        self.hub: _socket.socket | None = None
        self.to_client: bytes | memoryview = b""
        self.is_input_open = True
        self.is_client_gone = False
        self.stdin, self.stdout = stdin, stdout
        self._to_hub: bytes | memoryview = b""
        self._is_hub_taking = False

    @property
    def is_done(self) -> bool:
        """Reports whether the client has left without waiting for anything."""
        return not self.is_input_open and not self.to_client and not self.tracker.is_awaiting

    def attach(self, hub: _socket.socket, first: bytes) -> None:
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
        """Carries until the hub or the client is gone, or the hub may be left."""
        assert self.hub is not None
        hub_fd, stdout = self.hub.fileno(), self.stdout
        watched: tuple[bool, ...] = ()
        poll = select.poll()
        while not self.is_client_gone and not self.tracker.may_leave:
            wants = bool(self.to_client), bool(self._to_hub), self.is_input_open, self._is_hub_taking, self.tracker.reads_client
            if wants != watched:
                watched, poll = wants, self._watch(hub_fd)
            for fd, event in poll.poll():
                if fd == stdout:
                    self.flush(event)
                elif fd != hub_fd:
                    self.read_client()
                else:
                    if event & POLLOUT:
                        self.send_to_hub(self._to_hub)
                    if event & ~POLLOUT and not self.to_client and not self.read_hub():
                        return

    def flush(self, event: int) -> None:
        """Acts on an event of `poll` at the client's reading side."""
        if event & GONE:
            self.is_client_gone = True
        else:
            self._send_to_client(self.to_client)

    def read_client(self) -> None:
        """Reads what the client has written and passes it on."""
        try:
            data = posix.read(self.stdin, CHUNK_BYTES)
        except BlockingIOError:  # the pipe is shared, and another process was faster
            return
        except OSError:  # a terminal that has been closed
            data = b""
        if data:
            data = self.tracker.client_sent(data)
        else:
            self.is_input_open = False
        if self._is_hub_taking:
            self.send_to_hub(data)
        if self.tracker.owed:
            self.tell_client(self.tracker.take_owed())

    def read_hub(self) -> bool:
        """Reads what the hub has written and passes it on; returns whether there can be more."""
        assert self.hub is not None
        try:
            data = self.hub.recv(CHUNK_BYTES)
        except BlockingIOError:  # woken for nothing
            return True
        except OSError:
            return False
        if not data:
            return False
        self._send_to_client(self.tracker.hub_sent(data))
        if self.tracker.owed:
            self.tell_client(self.tracker.take_owed())
        return True

    def tell_client(self, lines: bytes) -> None:
        """Sends the bridge's own lines to the client. The bytes that the client was given before must end with a whole line."""
        self._send_to_client(b"".join((self.to_client, lines)))

    def send_to_hub(self, data: bytes | memoryview) -> None:
        """Sends as much as the hub takes now and keeps the rest. If the client has closed its side, the stream to the hub ends after it."""
        assert self.hub is not None
        try:
            sent = self.hub.send(data) if data else 0
            self._to_hub = memoryview(data)[sent:] if sent < len(data) else b""
            if not self.is_input_open and not self._to_hub:
                self.hub.shutdown(_socket.SHUT_WR)
        except BlockingIOError:
            self._to_hub = data
        except OSError:  # the hub is gone; its last output is still to be read
            self._to_hub, self._is_hub_taking = b"", False

    def _send_to_client(self, data: bytes | memoryview) -> None:
        try:
            written = posix.write(self.stdout, data) if data else 0
            self.to_client = memoryview(data)[written:] if written < len(data) else b""
        except BlockingIOError:
            self.to_client = data
        except OSError:
            self.is_client_gone = True

    def _watch(self, hub_fd: int) -> select.poll:
        poll = select.poll()
        events = (0 if self.to_client else POLLIN) | (POLLOUT if self._to_hub else 0)
        if events:  # a hub that is gone, registered without events, would wake the bridge again and again
            poll.register(hub_fd, events)  # first: the client's bytes after a loss go to the next hub
        poll.register(self.stdout, POLLOUT if self.to_client else 0)  # with 0 it still reports that the client has stopped reading
        if self.is_input_open and self._is_hub_taking and not self._to_hub and self.tracker.reads_client:
            poll.register(self.stdin, POLLIN)
        return poll

    def wait(self, within_s: float, *, may_read: bool) -> bool:
        """Waits, without a hub, until the client has written bytes, has taken bytes or has left; at most `within_s` seconds.

        Returns:
            Whether it has.
        """
        poll = select.poll()
        poll.register(self.stdout, POLLOUT if self.to_client else 0)
        if self.is_input_open and may_read:
            poll.register(self.stdin, POLLIN)
        events = poll.poll(within_s * 1000)
        for fd, event in events:
            if fd == self.stdout:
                self.flush(event)
            else:
                self.read_client()
        return bool(events)


def with_client(carry: "Callable[[], int]") -> int:
    """Runs the bridge between standard input and output; returns its exit code, or 1 if one of the two is closed.

    Standard output must not block. If one of the two were closed, the connection to the hub would get its file descriptor.
    """
    try:
        posix.fstat(0)
        posix.fstat(1)
    except OSError:
        return 1
    if posix.isatty(1) or not posix.get_blocking(1):
        return carry()
    posix.set_blocking(1, False)
    try:
        return carry()
    finally:
        posix.set_blocking(1, True)  # it may be shared with the process that started this one
