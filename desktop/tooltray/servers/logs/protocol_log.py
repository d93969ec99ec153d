"""Records the protocol messages between the hub and one server, for as long as the user wants to see them.

Only connections of a recorded server have a tap, so calls of other servers cost nothing. Messages are kept only in memory, cut and bounded,
and are parsed and masked when they are read.
"""

import asyncio
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable

import msgspec

from tooltray.foundation.events import EventBus, LogWritten
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.snapshots.activity import MESSAGES, LogFilter, LogLine, LogPage
from tooltray.protocol import envelope
from tooltray.protocol.dispatcher import Tap
from tooltray.servers.logs.log_lines import plain_line
from tooltray.servers.logs.log_reader import is_wanted
from tooltray.servers.upstream.server_manager import ServerManager

MAX_FOR_S = 3600.0  # a forgotten recording keeps at most an hour of messages in memory
KEPT_AFTER_S = 600.0  # after its end, so that the user can continue to read
MAX_MESSAGE_BYTES = 64 * 1024  # of each that is kept
MAX_MESSAGES = 5000
MAX_BYTES = 16 * 2**20  # of one server's messages together
MAX_WAITING_REQUESTS = 1000  # whose replies are matched
TELL_EVERY_S = 0.25
HEAD_BYTES = 4096  # of a message that is cut: the part in which its method and id are searched
_METHOD = lazy_pattern(rb'"method"\s*:\s*"([^"\\]{1,200})"')
_TOOL = lazy_pattern(rb'"name"\s*:\s*"([^"\\]{1,200})"')


class _Message(msgspec.Struct, eq=False):
    """One message as it came. `line`: its parsed form, once it has been read."""

    number: int
    at: float
    steady: float
    is_ours: bool
    data: bytes
    size: int
    line: LogLine | None = None


class Recording:
    """The messages of one server. Belongs to the engine's loop."""

    def __init__(self, tell: Callable[[], None], *, until: float, clock: Callable[[], float], steady: Callable[[], float]) -> None:
        """
        Args:
            tell: called after each change.
            until: the time at which it ends, in unix seconds.
            clock, steady: return unix seconds, and monotonic seconds.
        """
        self.until, self.tell = until, tell
        self._clock, self._steady = clock, steady
        self._messages: deque[_Message] = deque()
        self._numbers = itertools.count(1)
        self.kept_bytes = 0
        self._asked: dict[tuple[bool, bytes], tuple[float, str]] = {}  # of requests without a reply: time and method
        self.newest = 0
        self._reading = threading.Lock()

    def take(self, is_ours: bool, data: bytes | bytearray) -> None:
        """Records a message. `is_ours`: the hub sends it."""
        kept = bytes(data[:MAX_MESSAGE_BYTES])
        self.newest = next(self._numbers)
        self._messages.append(_Message(self.newest, self._clock(), self._steady(), is_ours, kept, len(data)))
        self.kept_bytes += len(kept)
        while len(self._messages) > MAX_MESSAGES or self.kept_bytes > MAX_BYTES:
            self.kept_bytes -= len(self._messages.popleft().data)
        self.tell()

    def lines(self) -> list[LogLine]:
        """Returns all messages, oldest first; may be called in any thread."""
        with self._reading:
            return [each.line or self._read(each) for each in list(self._messages)]

    def _read(self, message: _Message) -> LogLine:
        method, id, is_error = _read_head(message.data)
        text, ms = method, None
        if method and id:
            self._note(message, id, method)
        elif id and (asked := self._asked.pop((not message.is_ours, id), None)):
            ms, text = max(0.0, message.steady - asked[0]) * 1000, asked[1]
        words = [text or ("error" if is_error else "result" if id else "?"), f"#{id.decode(errors='replace')}" if id else ""]
        message.line = LogLine(
            position=str(message.number),
            at=message.at,
            text=plain_line(" ".join(filter(None, words))),
            level="error" if is_error else "",
            kind="message",
            detail=message.data.decode(errors="replace"),
            direction="out" if message.is_ours else "in",
            ms=ms,
            is_cut=message.size > len(message.data),
        )
        return message.line

    def _note(self, message: _Message, id: bytes, method: str) -> None:
        """Stores a request until its reply comes from the other side."""
        if len(self._asked) >= MAX_WAITING_REQUESTS:
            self._asked.pop(next(iter(self._asked)))
        self._asked[message.is_ours, id] = message.steady, method


class ProtocolLog:
    """The recordings of all servers. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: Callable[[], ServerManager],
        bus: EventBus,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            servers: returns the servers, whose connections are tapped.
        """
        self._servers, self._bus, self._clock, self._steady = servers, bus, clock, steady
        self._recordings: dict[str, Recording] = {}
        self._ends: dict[str, asyncio.TimerHandle] = {}
        self._told: set[str] = set()

    def tap(self, server: str) -> Tap | None:
        """Returns the function that gets the messages of a server's new connection; None: they are not recorded."""
        recording = self._recordings.get(server)
        return recording.take if recording and recording.until else None

    def record(self, server: str, for_s: float) -> None:
        """Records a server's messages from now on; earlier ones are dropped if their recording had ended."""
        until = self._clock() + for_s
        recording = self._recordings.get(server)
        if recording and recording.until:
            recording.until = until
        else:
            recording = Recording(lambda: self._tell_soon(server), until=until, clock=self._clock, steady=self._steady)
            self._recordings[server] = recording
        self._listen(server, recording.take)
        recording.tell()
        self._after(for_s, server, self._end)

    def forget(self, server: str) -> None:
        """Ends the recording, and drops the recorded messages."""
        if self._recordings.pop(server, None):
            self._ends.pop(server).cancel()
            self._listen(server, None)
            self._bus.publish(LogWritten(f"{MESSAGES}{server}"))

    def page(self, server: str, wanted: LogFilter, before: str, after: str, limit: int) -> LogPage:
        """Returns a page of the recorded messages; may be called in a thread."""
        recording = self._recordings.get(server)
        if recording is None:
            return LogPage()
        all_lines, needle = recording.lines(), wanted.text.casefold()
        first, last = _number(before), _number(after)
        found = [line for line in all_lines if is_wanted(line, wanted, needle) and _is_between(line, first, last)]
        shown = found[:limit] if after else found[-limit:]
        is_whole = len(shown) == len(found)
        end = int(shown[-1].position) if after and not is_whole else recording.newest
        return LogPage(
            lines=tuple(shown),
            before=shown[0].position if shown and not is_whole and not after else "",
            after=str(end + 1),
            searched_bytes=recording.kept_bytes,
            total_bytes=recording.kept_bytes,
            recorded_until=recording.until,
        )

    def _end(self, server: str) -> None:
        self._recordings[server].until = 0.0
        self._listen(server, None)
        self._after(KEPT_AFTER_S, server, self.forget)
        self._bus.publish(LogWritten(f"{MESSAGES}{server}"))

    def _after(self, seconds: float, server: str, act: Callable[[str], None]) -> None:
        if before := self._ends.get(server):
            before.cancel()
        self._ends[server] = asyncio.get_running_loop().call_later(seconds, act, server)

    def _listen(self, server: str, tap: Tap | None) -> None:
        for client in self._servers().running_clients():
            if client.name == server:
                client.dispatcher.tap = tap

    def _tell_soon(self, server: str) -> None:
        if server not in self._told:
            self._told.add(server)
            asyncio.get_running_loop().call_later(TELL_EVERY_S, self._tell, server)

    def _tell(self, server: str) -> None:
        self._told.discard(server)
        self._bus.publish(LogWritten(f"{MESSAGES}{server}"))


def _read_head(data: bytes) -> tuple[str, bytes, bool]:
    """Returns method and id of a message, as far as it has them, and whether it is an error."""
    try:
        message = envelope.decode(data)
        return _named(message.method, bytes(message.params)), bytes(message.id), bool(message.error)
    except envelope.MalformedFrame:  # also a message that is cut
        head = data[:HEAD_BYTES]
    method = _METHOD.search(head)
    return _named(method[1].decode(errors="replace") if method else "", head), bytes(envelope.find_id(head)), False


def _named(method: str, params: bytes) -> str:
    """Returns the method, and for a call the tool."""
    tool = _TOOL.search(params[:HEAD_BYTES]) if method in ("tools/call", "prompts/get") else None
    return f"{method} {tool[1].decode(errors='replace')}" if tool else method


def _number(position: str) -> int:
    return int(position) if position.isascii() and position.isdigit() and len(position) <= 18 else 0


def _is_between(line: LogLine, first: int, last: int) -> bool:
    number = int(line.position)
    return number >= last and (not first or number < first)
