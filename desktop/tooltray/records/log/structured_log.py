"""The structured log: JSON Lines, one object for each event.

Recording never blocks: a thread writes, because the disk may be slow or full; the queue is bounded, and records that do not fit are counted
and reported (`records_dropped`). Requests and replies come thousands a second, and are encoded at once by the caller in a few microseconds:
the thread would compete for Python's global lock with the calls it records, which costs them 25-40 us each. All other records are encoded
in the thread. Of a request's arguments only names, types and sizes are recorded, never values.
"""

import json
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from tooltray.records.log.log_files import LogFiles, StderrCopy
from tooltray.records.log.masking import Mask

MAX_QUEUED = 10_000  # records; a quarter of a second of the busiest hub
MAX_QUEUED_PARAMS_BYTES = 8 * 2**20  # parameters that wait to be described; of further ones only the size is recorded
GATHER_S = 0.05  # one write takes the lines of this time, so a line is this late at most
SLICE = 16  # records encoded in one go, about 0.1 ms; threads that answer calls must not wait longer for Python's lock
PAUSE_S = 0.0001  # between two slices, so that another thread really gets the lock
BACKLOG = 2_500  # records; above it slices are longer, because losing records would be worse than a call that waits 0.4 ms
BACKLOG_SLICE = 64
LINES_A_RECORD = 32  # encoded lines that count as one record of a slice: a line takes 0.2 us, a record 6
DROPS_REPORTED_EVERY_S = 1.0  # while the queue stays full
CLOSE_TIMEOUT_S = 2.0
STDERR_CLOSE_TIMEOUT_S = 0.5  # of that, for a reader of stderr that may never read
MAX_LINE_BYTES = 64 * 1024
MAX_ID_BYTES = 200
MAX_DIGITS = 18  # of an id that is certainly an integer of 64 bits
DESCRIBED_AT_ONCE_BYTES = 2048  # parameters that are described in some microseconds; larger ones are left to the thread
MAX_COMPONENTS = 1000  # whose names are cached as JSON
MAX_MESSAGE_LENGTH = 64 * 1024  # characters of a text in the queue; the line keeps far less
STACK_FRAMES = 8
INTERNAL_ERROR = -32603  # JSON-RPC 2.0, 5.1

Record = tuple[str, str, dict[str, object]]
"""Event, summary, further fields."""
Waiting = tuple[Callable[..., Record], float, str, tuple[Any, ...]]
"""A record that the thread makes and encodes: a function, the time, the component, the function's arguments."""

MAX_DESCRIBED_BYTES = 64 * 1024  # of larger parameters only the size is logged; parsing them would delay calls
MAX_NAMES = 32
MAX_NAME_LENGTH = 64  # characters

_TYPES = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


class StructuredLog:
    """A log that takes records from any thread; recording never blocks or raises."""

    def __init__(
        self,
        folder: Path | None,
        *,
        execution_id: str,
        component: str = "tooltray",
        to_stderr: bool = False,
        mask: Callable[[], Iterable[str]] = tuple,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            folder: where the files are written; None: nowhere.
            execution_id: in every line; identifies this run of the program.
            component: the default component of records.
            to_stderr: whether every line is copied to stderr, too.
            mask: returns the secret values known at the moment, which are replaced by `***`; called in the log's thread.
            clock: returns unix seconds.
        """
        self._execution_id, self._component = execution_id, component
        self._clock = clock
        self._files = LogFiles(folder) if folder else None
        self._is_copied = to_stderr
        self._stderr: StderrCopy | None = None
        self._mask = Mask(mask)
        self._queue: deque[bytes | Waiting | threading.Event] = deque()  # each event is set once all earlier records are written
        self._limit = MAX_QUEUED
        self._put_bytes = self._taken_bytes = 0  # of parameters; the first is changed by callers, the second by the thread
        self._dropped = 0
        self._drop_lock = threading.Lock()
        self._drops_reported_at = 0.0
        self._is_awake = False  # the thread is working, or was woken
        self._is_closing = False
        self._wake, self._hurry = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="tooltray-log", daemon=True)
        self._second = -1, b""  # and its text; one object, because two threads use it
        self._names: dict[str, bytes] = {}  # of components, as JSON
        self._execution_id_json = msgspec.json.encode(execution_id)

    def start(self) -> None:
        """Starts writing, including the records made before."""
        if self._is_copied:
            self._stderr = StderrCopy()
        self._thread.start()

    def close(self) -> None:
        """Writes the queued records and ends; waits CLOSE_TIMEOUT_S at most. Later records are ignored. May be called twice."""
        deadline = time.monotonic() + CLOSE_TIMEOUT_S
        self._limit = 0
        self._is_closing = True
        self._hurry.set()
        self._wake.set()
        if self._thread.ident:
            self._thread.join(CLOSE_TIMEOUT_S)
        if self._stderr:
            self._stderr.close(min(STDERR_CLOSE_TIMEOUT_S, max(0.0, deadline - time.monotonic())))

    def flush(self, timeout_s: float) -> bool:
        """Waits until all records so far are written; returns False after `timeout_s` seconds, or if the log is not running."""
        deadline = time.monotonic() + timeout_s
        written = threading.Event()
        self._queue.append(written)
        self._hurry.set()
        self._wake.set()
        if not self._thread.is_alive() or not written.wait(timeout_s):
            return False
        return not self._stderr or self._stderr.flush(max(0.0, deadline - time.monotonic()))

    def record(self, event: str, summary: str, *, component: str | None = None, **fields: object) -> None:
        """Records an event.

        Args:
            event: its name in the past tense, e.g. `service_started`.
            summary: one line for a person.
            component: the part of the program; None: the log's default.
            fields: further fields for programs. They are encoded later in another thread: do not change them.
        """
        self._put(_as_given, self._clock(), component or self._component, event, summary, fields)

    def error(self, summary: str, error: BaseException | None, *, component: str, level: str = "error") -> None:
        """Records a failure, with a code and a message as an answer to a request would have them.

        Args:
            error: the exception; None: only `summary` is known.
            level: "error" or "critical".
        """
        message = f"{type(error).__name__}: {error}"[:MAX_MESSAGE_LENGTH] if error else summary
        stack = {"stack": short_stack(error)} if error else {}
        self.record("error", summary, component=component, level=level, code=INTERNAL_ERROR, message=message, **stack)

    def request_received(self, component: str, id: bytes, method: str, params: bytes, at: float | None = None) -> None:
        """Records a request: method, id, and the names, types and sizes of its arguments, never their values.

        Args:
            component: the receiver.
            id: as JSON; empty for a notification.
            params: as JSON, in bytes, `Raw` or another buffer that does not change any more; empty if the request has none.
            at: unix seconds; None: now.
        """
        now, size = self._clock() if at is None else at, len(params)
        name = self._name(component)
        is_short = size <= DESCRIBED_AT_ONCE_BYTES and len(id) <= MAX_ID_BYTES
        if is_short and (line := self._request_line(now, name, id, method, params)):
            self._put_line(line)
        elif size > MAX_DESCRIBED_BYTES or self._put_bytes - self._taken_bytes > MAX_QUEUED_PARAMS_BYTES:
            self._put(_request, now, component, id, method, None, size)
        elif self._put(_request, now, component, id, method, params, size):
            self._put_bytes += size

    def response_sent(self, component: str, id: bytes, duration_s: float, size: int, at: float | None = None) -> None:
        """Records a reply with a result.

        Args:
            component: the sender.
            id: of the request, as JSON.
            duration_s: since the request.
            size: of the result in bytes.
            at: unix seconds; None: now.
        """
        now = self._clock() if at is None else at
        if len(id) > MAX_ID_BYTES:
            self._put(_response, now, component, id, duration_s, size)
        else:
            self._put_line(self._response_line(now, self._name(component), id, duration_s, size))

    def request_answered(
        self, component: str, id: bytes, method: str, params: bytes, received_at: float, duration_s: float, size: int, at: float
    ) -> None:
        """Records a request and its result, which costs less than `request_received` and `response_sent` one after the other.

        Args:
            received_at, at: unix seconds of the request and of the reply.
            size: of the result in bytes.
        """
        if len(params) <= DESCRIBED_AT_ONCE_BYTES and len(id) <= MAX_ID_BYTES:
            name = self._name(component)
            if line := self._request_line(received_at, name, id, method, params):
                self._put_line(line + self._response_line(at, name, id, duration_s, size))
                return
        self.request_received(component, id, method, params, received_at)
        self.response_sent(component, id, duration_s, size, at)

    def response_error(self, component: str, id: bytes, code: int, message: str, stack: str = "", at: float | None = None) -> None:
        """Records a reply with an error; `stack` as made by `short_stack`, `at` as of `response_sent`."""
        now = self._clock() if at is None else at
        self._put(_error, now, component, id, code, message[:MAX_MESSAGE_LENGTH], stack[:MAX_MESSAGE_LENGTH])

    def _put(self, make: Callable[..., Record], now: float, component: str, *parts: object) -> bool:
        if len(self._queue) >= self._limit:
            self._drop(1)
            return False
        self._queue.append((make, now, component, parts))
        if not self._is_awake:
            self._is_awake = True
            self._wake.set()
        return True

    def _put_line(self, line: bytes) -> None:
        if len(self._queue) >= self._limit:
            self._drop(1)
            return
        self._queue.append(line)
        if not self._is_awake:
            self._is_awake = True
            self._wake.set()

    def _request_line(self, now: float, name: bytes, id: bytes, method: str, params: bytes) -> bytes:
        """Encodes a request; empty if it has lone surrogates, which only the slower encoder takes."""
        event, summary, fields = _request(id, method, params, len(params))
        if self._mask.is_needed or len(method) > MAX_ID_BYTES:
            summary, fields = self._mask.text(summary), self._mask.fields(fields)
        try:
            rest = msgspec.json.encode({"event": event, "summary": summary, **fields})
        except (ValueError, TypeError):  # halves of surrogate pairs
            return b""
        return self._head(now, name) + rest[1:] + b"\n"

    def _response_line(self, now: float, name: bytes, id: bytes, duration_s: float, size: int) -> bytes:
        duration_ms = duration_s * 1000
        event = b'%b"event":"response_sent","summary":"answered in %.3f ms","id":%b,"durationMs":%.3f,"size":%d}\n'
        id_json = id if id.isdigit() else self._id_json(id)
        return event % (self._head(now, name), duration_ms, id_json, duration_ms, size)

    def _id_json(self, id: bytes) -> bytes:
        return json.dumps(self._mask.value(_id(id))).encode()

    def _name(self, component: str) -> bytes:
        """Returns a component's name as JSON, without secrets."""
        if self._mask.refresh():
            self._names.clear()
        return self._names.get(component) or self._name_json(component)

    def _head(self, now: float, name: bytes) -> bytes:
        """Returns the beginning of a line, up to the event. `name`: of the component."""
        milliseconds = int(now * 1000)
        second, text = self._second
        if second != milliseconds // 1000:
            text = self._text_of_second(milliseconds // 1000)
        return b'{"timestamp":"%b.%03dZ","executionId":%b,"component":%b,' % (text, milliseconds % 1000, self._execution_id_json, name)

    def _name_json(self, component: str) -> bytes:
        if len(self._names) >= MAX_COMPONENTS:
            self._names.clear()
        name = self._names[component] = json.dumps(self._mask.text(component)).encode()
        return name

    def _drop(self, count: int) -> None:
        with self._drop_lock:
            self._dropped += count

    def _run(self) -> None:
        is_last = False
        while not is_last:
            self._wake.wait()
            self._hurry.wait(GATHER_S)
            self._wake.clear()
            self._hurry.clear()
            self._drops_reported_at = self._clock()
            is_last = self._is_closing  # read before the queue is emptied: no record is taken after it is set
            while self._queue:
                self._write_slice()
                if self._queue and not is_last:
                    time.sleep(PAUSE_S)
            self._is_awake = False
            if self._queue:  # recorded before the line above, and did not wake the thread
                self._wake.set()
        if self._files:
            self._files.close()

    def _write_slice(self) -> None:
        self._mask.refresh()
        lines: list[bytes] = []
        flushed: list[threading.Event] = []
        waiting = len(self._queue)
        left = LINES_A_RECORD * (SLICE if waiting < BACKLOG else BACKLOG_SLICE)
        while left > 0 and waiting:
            waiting -= 1
            entry = self._queue.popleft()
            if isinstance(entry, bytes):
                lines.append(entry)
                left -= 1
                continue
            left -= LINES_A_RECORD
            if isinstance(entry, threading.Event):
                flushed.append(entry)
            else:
                lines.append(self._line(*entry))
        reported = self._report_drops(lines)
        lost = self._write(lines)
        if lost:  # the report is the last line, so it is among the lost
            self._drop(lost - 1 + reported if reported else lost)
        for each in flushed:
            each.set()

    def _report_drops(self, lines: list[bytes]) -> int:
        """Adds a line with the number of dropped records, once the queue is empty or after a second; returns that number, or 0."""
        now = self._clock()
        if not self._dropped or (self._queue and 0 <= now - self._drops_reported_at < DROPS_REPORTED_EVERY_S):
            return 0
        with self._drop_lock:
            count, self._dropped = self._dropped, 0
        self._drops_reported_at = now
        summary = f"{count} records are missing here: they arrived faster than they could be written"
        lines.append(self._line(_as_given, now, self._component, ("records_dropped", summary, {"count": count})))
        return count

    def _write(self, lines: list[bytes]) -> int:
        """Writes lines; returns how many of them the disk refused."""
        text = b"".join(lines)
        if not text:
            return 0
        if self._stderr:
            self._stderr.write(text)
        return text[self._files.append(text, self._clock()) :].count(b"\n") if self._files else 0

    def _line(self, make: Callable[..., Record], now: float, component: str, parts: tuple[Any, ...]) -> bytes:
        if make is _request and parts[2] is not None:
            self._taken_bytes += parts[3]
        try:
            return self._filled(now, component, *make(*parts))
        except Exception as error:  # a field raised when it was encoded; the error is recorded in its place, and the thread continues
            return self._filled(now, component, "record_unreadable", f"a record could not be written: {type(error).__name__}", {})

    def _filled(self, now: float, component: str, event: str, summary: str, fields: dict[str, object]) -> bytes:
        line: dict[str, object] = {
            "timestamp": self._timestamp(now),
            "executionId": self._execution_id,
            "component": self._mask.text(component),
            "event": event,
            "summary": self._mask.text(summary),
        }
        whole = self._mask.fields(fields)
        written = _encoded(line | whole if line.keys().isdisjoint(whole) else line | whole | line)  # no field replaces the fixed ones
        return written if len(written) <= MAX_LINE_BYTES else _encoded(line | {"leftOut": f"fields of {len(written)} bytes"})

    def _timestamp(self, now: float) -> str:
        """Formats a time by RFC 3339, in UTC with milliseconds."""
        second, millisecond = divmod(int(now * 1000), 1000)
        return f"{self._text_of_second(second).decode()}.{millisecond:03d}Z"

    def _text_of_second(self, second: int) -> bytes:
        known, text = self._second
        if second != known:
            text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)).encode()
            self._second = second, text
        return text


def short_stack(error: BaseException) -> str:
    """Returns the innermost frames of an error, and of the errors that led to it."""
    return "".join(traceback.format_exception(error, limit=-STACK_FRAMES))[-MAX_MESSAGE_LENGTH:]


def _as_given(event: str, summary: str, fields: dict[str, object]) -> Record:
    return event, summary, fields


def _request(id: bytes, method: str, params: bytes | None, size: int) -> Record:
    described = {} if params is None else describe(method, params)
    summary = f"{method} {described['tool']}" if "tool" in described else method
    return "request_received", summary, {"method": method, "id": _id(id), "size": size, **described}


def _response(id: bytes, duration_s: float, size: int) -> Record:
    duration_ms = round(duration_s * 1000, 3)
    return "response_sent", f"answered in {duration_ms} ms", {"id": _id(id), "durationMs": duration_ms, "size": size}


def _error(id: bytes, code: int, message: str, stack: str) -> Record:
    fields = {"id": _id(id), "code": code, "message": message}
    return "response_error", f"error {code}: {message}", fields | ({"stack": stack} if stack else {})


def _id(id: bytes) -> object:
    """Returns an id as the client wrote it; as text if it is too long or not JSON, None if it is empty."""
    text = bytes(id)
    if text.isdigit() and len(text) <= MAX_DIGITS and text[:1] != b"0":
        return int(text)
    if len(text) <= MAX_ID_BYTES:
        try:
            return msgspec.json.decode(text) if text else None
        except ValueError:
            pass
    return text[:MAX_ID_BYTES].decode("utf-8", "replace")


def _encoded(line: dict[str, object]) -> bytes:
    try:
        return msgspec.json.encode(line) + b"\n"
    except (ValueError, OverflowError, TypeError):  # halves of surrogate pairs, integers beyond 64 bits, subclasses of str
        return json.dumps(line).encode() + b"\n"


def describe(method: str, params: bytes) -> dict[str, object]:
    """Returns fields for the log.

    Args:
        params: JSON as received; bytes, `Raw` or another buffer.

    Returns:
        `arguments`: `{"path": "string(24)", "recursive": "boolean", "edits": "array(3)"}`, with the number of characters, elements or
        members; only the type if they are not an object; for `tools/call` the arguments of the tool. `argumentsLeftOut`: the number of
        arguments that are not listed. `tool`: the tool's name. Empty if the parameters cannot be parsed.
    """
    try:
        values = msgspec.json.decode(params) if len(params) else {}
    except (ValueError, RecursionError):
        try:
            values = json.loads(bytes(params))  # takes halves of surrogate pairs and 1e400
        except (ValueError, RecursionError):
            return {}
    found: dict[str, object] = {}
    if method == "tools/call" and type(values) is dict:
        if type(name := values.get("name")) is str:
            found["tool"] = name if len(name) <= MAX_NAME_LENGTH else _cut(name)
        values = values.get("arguments", {})
    if type(values) is not dict:
        return {**found, "arguments": _kind(values)}
    kinds = found["arguments"] = dict[str, object]()
    for name, value in islice(values.items(), MAX_NAMES):  # a comprehension, and a call for each short name, would cost each line more
        kinds[name if len(name) <= MAX_NAME_LENGTH else _cut(name)] = _kind(value)
    if len(values) > MAX_NAMES:
        found["argumentsLeftOut"] = len(values) - MAX_NAMES
    return found


def _kind(value: object) -> str:
    name = _TYPES[type(value)]
    return f"{name}({len(value)})" if isinstance(value, str | list | dict) else name


def _cut(name: str) -> str:
    return name[:MAX_NAME_LENGTH] + "…"
