"""A hub as the command line sees it: a thread that listens on a home's control socket and answers from a script. Test code.

It notes every call. Each verb answers with a value, or with what a function of its parameters returns or raises.
"""

import json
import os
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType, TracebackType, UnionType
from typing import Any, get_args, get_origin

import msgspec

from tooltray.carriers.control.control_client import result_type
from tooltray.foundation.confirm_widening import NeedsPassphrase
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.snapshots.servers import ServerState

Answer = Any | Callable[..., Any]

BOUND_S = 10.0  # for every wait of a test
NOTHING = {str: "", bool: False, int: 0, float: 0.0, ServerState: "running"}
NO_PROCESS = 2**22 + 1  # beyond the largest pid that Linux gives


class HangUp(Exception):
    """Raised by an answer: the hub ends the connection instead of answering."""


class KeepSilent(Exception):
    """Raised by an answer: the hub never answers this call."""


class FakeControlHub:
    """Use as a context manager; it listens inside.

    Attributes:
        calls: (method, params) in the order of arrival.
        hellos: the first line of each connection.
        left: released for each connection that has ended.
        pid: what `hub/info` says; no process has it, unless it is given.
    """

    def __init__(self, home: Home, answers: Mapping[str, Answer] | None = None, *, pid: int | None = None, is_old: bool = False) -> None:
        """
        Args:
            is_old: of a version that has no control socket.
        """
        self.home, self._is_old = home, is_old
        self.pid = pid if pid is not None else NO_PROCESS
        info = {"pid": self.pid, "version": "9.9.9", "kind": "serve", "execution_id": "e1"}
        self.answers: dict[str, Answer] = {
            "hub/info": info,
            "check_secrets": "keyring",
            "hub/stop": self._leave,
            "hub/hand_over": self._leave,
        } | dict(answers or {})
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.hellos: list[dict[str, Any]] = []
        self.left = threading.Semaphore(0)
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def __enter__(self) -> "FakeControlHub":
        self.home.prepare()
        self._listener.bind(os.fspath(self._place))
        self._listener.listen()
        self._start(self._accept)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(BOUND_S)
                assert not thread.is_alive()

    def close(self) -> None:
        """Ends all connections and stops listening."""
        for each in (self._listener, *self._connections):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()
        self._place.unlink(missing_ok=True)

    @property
    def _place(self) -> Path:
        return self.home.socket if self._is_old else self.home.control_socket

    def methods(self) -> list[str]:
        return [method for method, _ in self.calls]

    def params_of(self, method: str) -> dict[str, Any]:
        """Of its last call."""
        return next(params for called, params in reversed(self.calls) if called == method)

    def send_raw(self, data: bytes, *, at: int = -1) -> None:
        """Sends bytes on the last connection, or on the one of this number."""
        self._connections[at].sendall(data)

    def _start(self, work: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            try:
                self.hellos.append(json.loads(lines.readline() or b"{}"))
                for line in lines:
                    self._answer(connection, json.loads(line))
            except (OSError, ValueError, HangUp):
                return
            finally:
                self.left.release()

    def _answer(self, connection: socket.socket, request: dict[str, Any]) -> None:
        self.calls.append((request["method"], request["params"]))
        if "id" not in request:  # a notification
            return
        head = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] not in self.answers:
            reply = {"error": {"code": -32601, "message": "no such method"}}
        else:
            answer = self.answers[request["method"]]
            try:
                reply = {"result": whole(request["method"], answer(**request["params"]) if callable(answer) else answer)}
            except KeepSilent:
                return
            except TooltrayError as error:
                problem = error.problem
                data = {"title": problem.title, "message": problem.message, "hint": problem.hint}
                kind = {"kind": "passphrase"} if isinstance(error, NeedsPassphrase) else {}
                reply = {"error": {"code": -32000, "message": str(error), "data": {**data, **kind}}}
        connection.sendall(json.dumps(head | reply).encode() + b"\n")

    def _leave(self) -> None:
        self.close()
        raise HangUp


def whole(verb: str, answer: Any) -> Any:
    """What a hub sends for a verb, of which a test names what matters to it: members that are missing have their default, or nothing."""
    return json.loads(json.dumps(_whole(result_type(verb), answer)))


def _whole(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
        members = {field.name: _member(field, value) for field in msgspec.structs.fields(kind)}
        return members | {name: given for name, given in value.items() if name not in members}
    if isinstance(value, list):
        return [_whole((get_args(kind) or (Any,))[0], each) for each in value]
    return value


def _member(field: msgspec.structs.FieldInfo, given: Mapping[str, Any]) -> Any:
    kinds = [each for each in (get_args(field.type) if isinstance(field.type, UnionType) else [field.type]) if each is not NoneType]
    if field.name in given:
        return _whole(kinds[0], given[field.name])
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    if field.default is not msgspec.NODEFAULT:
        return as_json(field.default)
    return NOTHING.get(kinds[0], {} if get_origin(kinds[0]) is Mapping else [])


def tools(number: int) -> list[dict[str, Any]]:
    """So many tools of a server."""
    return [{"name": f"tool-{each}", "original_name": f"tool-{each}"} for each in range(number)]


def server_snapshot(name: str, **changes: Any) -> dict[str, Any]:
    """A ServerSnapshot as the control channel carries it."""
    values: dict[str, Any] = {
        "name": name,
        "transport": "stdio",
        "target": f"npx {name}",
        "state": "running",
        "since": 0.0,
        "is_default": True,
        "is_disabled": False,
        "is_builtin": False,
        "icon": "",
        "description": "",
        "tool_count": 2,
        "calls": [],
        "calls_today": 0,
        "p95_ms": 0.0,
        "problem": None,
        "detail": "",
        "pids": [],
        "auto_approve": ["all"],
    }
    return values | changes


def hub_snapshot(*servers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A HubSnapshot as the control channel carries it."""
    values: dict[str, Any] = {
        "pid": 1,
        "version": "9.9.9",
        "is_paused": False,
        "session_count": 1,
        "started_at": 0.0,
        "servers": list(servers),
        "notices": [],
    }
    return values | changes


def problem(title: str, message: str = "", hint: str = "") -> dict[str, str]:
    return {"title": title, "message": message, "hint": hint}
