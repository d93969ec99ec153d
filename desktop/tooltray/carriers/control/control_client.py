"""A connection to the running hub's control channel: one call at a time, blocking. Cheap to import; no Qt, no asyncio.

It imports no class with verbs, since these import the engine, which takes longer than most commands: `resources/verbs.json` has the verbs
and the types of their results, made from the verbs' own annotations (scripts/verb_table.py).
"""

import contextlib
import importlib
import json
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import msgspec

from tooltray.foundation.confirm_widening import NeedsPassphrase
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import ANOTHER_HOME, Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import resource
from tooltray.foundation.verbs import JsonObject

if sys.platform == "win32":
    from tooltray.carriers.control import local_windows as local
else:
    from tooltray.carriers.control import local_posix as local


CONNECT_TIMEOUT_S = 5.0  # a hub accepts within milliseconds, also while its servers start
CALL_TIMEOUT_S = 30.0  # for verbs that touch memory and settings; calls that wait for a server or the user get more
END_TIMEOUT_S = 30.0  # the hub lets calls finish for at most 10 s and then stops its servers, bounded too
_CHUNK_BYTES = 1 << 18
_KEPT_EVENTS = 1000  # events that arrived during calls and were not read yet
TOOLTRAY_ERROR, METHOD_NOT_FOUND = -32000, -32601
WAITS = "waits_for_person"  # the notification that the user is asked in the window
PASSPHRASE = "passphrase"  # the kind of a refusal that a passphrase would avoid
REPLY_AFTER_WAIT_S = 5.0  # for the hub's answer, after the user's time has passed


class HubLost(TooltrayError):
    """An error: the connection has ended; for `hub/stop` and `hub/hand_over` this counts as an answer."""

    def __init__(self) -> None:
        super().__init__("Tooltray ended before it answered", "", "Try again; if it happens again, see Tooltray's log")


class HubSilent(TooltrayError):
    """An error: no answer came in time. The connection cannot be used any more."""

    def __init__(self, method: str, timeout_s: float) -> None:
        super().__init__("Tooltray does not respond", f"{method} took longer than {timeout_s:g} s", "Try again, or restart Tooltray")


class Hub(Protocol):
    """A server of verbs: a running hub, or the settings without a hub (app.unstarted_api). Commands need not know which."""

    @property
    def is_running(self) -> bool:
        """Reports whether this is a running hub."""

    def call(self, method: str, /, *, timeout_s: float | None = CALL_TIMEOUT_S, **params: Any) -> Any:
        """Calls a verb of McpPresenter, or one of `hub/...`, and returns its result as plain JSON values.

        Raises:
            TooltrayError: it failed; the error has the reason and the remedy.
        """

    def close(self) -> None: ...


class ControlClient:
    """A connection to the hub of one home. Used by one thread.

    Attributes:
        on_wait: called when a call waits for the user at the window; the call may then exceed its time limit.
    """

    is_running = True

    def __init__(self, channel: Any, *, with_events: bool = False, is_at_terminal: bool = False) -> None:
        self._channel = channel
        self._parts: list[bytes] = []  # of the line that is arriving
        self._lines: deque[bytes] = deque()
        self._events: deque[tuple[str, JsonObject]] = deque(maxlen=_KEPT_EVENTS)
        self._last_id = 0
        self.on_wait: Callable[[], None] = lambda: None
        hello = {"tooltray": 1, "role": "control", "events": with_events} | ({"terminal": True} if is_at_terminal else {})
        self._send(hello, CONNECT_TIMEOUT_S)

    @classmethod
    def connect(cls, home: Home, *, with_events: bool = False, is_at_terminal: bool = False) -> "ControlClient | None":
        """Connects to the hub of a home.

        Args:
            with_events: whether the hub also sends its events, for `events`.
            is_at_terminal: a user typed the command at a terminal; otherwise nothing is widened (see confirmation).

        Returns:
            The connection; None if no hub runs, even if a killed hub has left its socket behind.

        Raises:
            TooltrayError: the socket exists, but cannot be used.
        """
        channel = next(filter(None, map(_open, control_endpoints(home))), None)
        if channel is None:
            return None
        try:
            return cls(channel, with_events=with_events, is_at_terminal=is_at_terminal)
        except HubLost:  # the hub ended in this moment
            channel.close()
            return None

    def call(self, method: str, /, *, timeout_s: float | None = CALL_TIMEOUT_S, **params: Any) -> Any:
        """Calls a method and returns its result.

        Args:
            timeout_s: how long to wait for the answer; None waits without a limit.

        Raises:
            HubLost: the hub ended first.
            HubSilent: no answer in time.
            TooltrayError: the hub's own error.
        """
        self._last_id += 1
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}, timeout_s)
            while "method" in (message := self._receive(deadline)) or message.get("id") not in (self._last_id, None):
                deadline = self._later(deadline, message)
                self._note(message)
        except TimeoutError:
            raise HubSilent(method, timeout_s or 0.0) from None
        if "error" in message:
            raise error_of(method, message["error"])
        return message.get("result")

    def events(self) -> Iterator[tuple[str, JsonObject]]:
        """Yields the hub's events as (type, data), from the moment of connecting until the hub ends. Needs `with_events`."""
        while True:
            while self._events:
                yield self._events.popleft()
            try:
                self._note(self._receive(None))
            except HubLost:
                return

    def stop(self) -> int:
        """Ends the hub in an orderly way and waits until its process is gone.

        Returns:
            The pid that it had.

        Raises:
            TooltrayError: it refuses, or still runs after `END_TIMEOUT_S`.
        """
        return self._end_by("hub/stop")

    def hand_over(self) -> int:
        """Asks the hub to finish its calls and to leave, and waits until its process has ended and freed the lock.

        Returns:
            The pid that it had.

        Raises:
            TooltrayError: it refuses, or still runs after `END_TIMEOUT_S`.
        """
        return self._end_by("hub/hand_over")

    def _end_by(self, method: str) -> int:
        deadline = time.monotonic() + END_TIMEOUT_S
        pid = int(self.call("hub/info")["pid"])
        with contextlib.suppress(HubLost):
            self.call(method, timeout_s=END_TIMEOUT_S)
        if not local.wait_for_end(pid, max(deadline - time.monotonic(), 0.0)):
            raise HubSilent(method, END_TIMEOUT_S)
        return pid

    def end(self) -> None:
        """Makes a call or `events` in another thread end as if the hub had ended."""
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> "ControlClient":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _later(self, deadline: float | None, message: JsonObject) -> float | None:
        """Returns the deadline of a call after a message that is not its reply."""
        if message.get("method") != WAITS:
            return deadline
        self.on_wait()
        return None if deadline is None else time.monotonic() + float(message["params"]["seconds"]) + REPLY_AFTER_WAIT_S

    def _note(self, message: JsonObject) -> None:
        if message.get("method") == "event":
            params = message["params"]
            self._events.append((params["type"], params["data"]))

    def _send(self, message: JsonObject, timeout_s: float | None) -> None:
        self._channel.settimeout(timeout_s)
        try:
            self._channel.sendall(json.dumps(message).encode() + b"\n")
        except TimeoutError:
            raise
        except OSError:
            raise HubLost from None

    def _receive(self, deadline: float | None) -> JsonObject:
        while not self._lines:
            remaining_s = None if deadline is None else deadline - time.monotonic()
            if remaining_s is not None and remaining_s <= 0:
                raise TimeoutError
            self._channel.settimeout(remaining_s)
            try:
                chunk = self._channel.recv(_CHUNK_BYTES)
            except TimeoutError:
                raise
            except OSError:
                chunk = b""
            if not chunk:
                raise HubLost
            self._take(chunk)
        line = self._lines.popleft()
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            start = line[:80].decode("utf-8", "replace")
            raise TooltrayError(
                Phrase("Tooltray sent an answer that cannot be read"), start, Phrase("Is another program using Tooltray's socket?")
            )
        return message

    def _take(self, chunk: bytes) -> None:
        first, *others = chunk.split(b"\n")
        self._parts.append(first)
        for start in others:
            self._lines.append(b"".join(self._parts))
            self._parts = [start]


def _open(path: Path) -> local.Channel | None:
    """Connects to a socket of this user; returns None if no hub listens.

    Raises:
        TooltrayError: it cannot be used.
    """
    try:
        channel = local.connect(path, CONNECT_TIMEOUT_S)
        if channel is None or local.is_ours(channel, path):
            return channel
        channel.close()
    except PermissionError:
        pass  # its folder or the socket belongs to another user
    except OSError as error:
        reason = error.strerror or Phrase("no answer")
        raise TooltrayError(
            Phrase("Tooltray cannot be reached"), f"{path}: {reason}", Phrase("Find out which program has this file open")
        ) from error
    raise TooltrayError(Phrase("Tooltray's socket belongs to another user"), str(path), ANOTHER_HOME)


def error_of(method: str, error: JsonObject) -> TooltrayError:
    """Converts a hub's refusal of a call to an error with the same three parts."""
    data = error.get("data")
    if error.get("code") == TOOLTRAY_ERROR and isinstance(data, dict) and data.get("title"):
        kind = NeedsPassphrase if data.get("kind") == PASSPHRASE else TooltrayError
        return kind(data["title"], data.get("message", ""), data.get("hint", ""))
    if error.get("code") == METHOD_NOT_FOUND:
        hint = Phrase("If it is an older version, stop it: tooltray stop")
        return TooltrayError(Phrase("The running Tooltray does not know this command"), method, hint)
    return TooltrayError(Phrase("Tooltray could not do this"), f"{method}: {error.get('message', 'no reason given')}")


def control_endpoints(home: Home) -> tuple[Path, ...]:
    """Returns the sockets to try, in this order; the first one with a listener is the hub's.

    Versions before the control socket (until November 2026) had one socket for bridges and commands. A hub of such a version may still run
    when a command of this version connects, and vice versa. Both then use the socket of bridges, where the hub serves the role `control`,
    too: a command finds no control socket, or one that a killed hub has left.
    """
    return home.control_socket, home.socket


class VerbEntry(msgspec.Struct, frozen=True):
    """A verb in the table.

    Attributes:
        part: name of the part of the API that has it.
        takes: its parameters, each with its type and default as Python writes them: `int = 30`.
        returns: module and name of the type of its result, with `[]` for a list; empty for plain JSON.
        about: the first paragraph of its docstring.
    """

    part: str
    takes: dict[str, str]
    returns: str
    about: str


@cache
def verb_entries() -> dict[str, VerbEntry]:
    """Returns all verbs by name."""
    return msgspec.json.decode(resource("verbs.json").read_bytes(), type=dict[str, VerbEntry])


@cache
def result_type(verb: str) -> Any:
    """Returns the type that a verb's JSON is converted to; `Any` for plain JSON and for a verb that the table does not have."""
    entry = verb_entries().get(verb)
    module, _, name = (entry.returns if entry else "").partition(":")
    if not module:
        return Any
    kind: Any = getattr(importlib.import_module(module), name.removesuffix("[]"))
    return list[kind] if name.endswith("[]") else kind


def typed_result(verb: str, value: object) -> Any:
    """Converts a verb's JSON to the type that the verb returned.

    Raises:
        TooltrayError: the JSON does not fit the type, as from a hub of a much older version.
    """
    try:
        return msgspec.convert(value, result_type(verb))
    except msgspec.ValidationError as error:
        hint = Phrase("If it is an older version, stop it: tooltray stop")
        raise TooltrayError(Phrase("Tooltray sent an answer that cannot be read"), f"{verb}: {error}", hint) from None
