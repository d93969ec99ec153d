"""What there is to take for the hostile server: a home, a hub with its sockets, other programs; all of it pretended, in this process.

`tests/end2end/servers/hostile_server.py` gets it as a file of JSON.
"""

import contextlib
import ctypes
import os
import socket
import subprocess
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import tooltray_confine

FILE_BYTES = 1 << 20  # the largest file that it may write
_LIBC = ctypes.CDLL(None, use_errno=True)
_IPC_CREAT, _IPC_RMID = 0o1000, 0


class World(NamedTuple):
    """
    Attributes:
        own: the server's own folder; empty before each run.
        package: what it may read besides.
        facts: for the server; a file in `package`.
        inherited: an open file of this process that the server must not get.
    """

    own: Path
    package: Path
    facts: Path
    inherited: int


@contextlib.contextmanager
def hostile_world(folder: Path, **real: Any) -> Iterator[World]:
    """
    Args:
        folder: short, since sockets are made in it.
        real: facts of a real hub, in the place of the pretended ones: `hub`, `hub_socket`, `settings`, ...
    """
    home, package, own = (folder / name for name in ("home", "package", "own"))
    for each in (home, package, own):
        each.mkdir()
    with contextlib.ExitStack() as held:
        secret = held.enter_context((folder / "secret").open("w+"))
        os.set_inheritable(secret.fileno(), True)
        facts: dict[str, Any] = {
            "own": str(own),
            "home": str(home),
            "file_bytes": FILE_BYTES,
            "inherited": secret.fileno(),
            "launcher": str(Path(tooltray_confine.__file__).with_name("__main__.py")),
            "readable": _file(package / "data"),
            **_files(home),
            **_processes(held),
            **_sockets(held, folder),
            **_shared(held),
            **real,
        }
        described = package / "facts.json"
        described.write_bytes(msgspec.json.encode(facts))
        yield World(own, package, described, secret.fileno())


def _file(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("secret")
    return str(path)


def _files(home: Path) -> dict[str, str]:
    names = {
        "key": ".ssh/id_ed25519",
        "credentials": ".aws/credentials",
        "browser": ".mozilla/firefox/abc.default/logins.json",
        "settings": ".tooltray/settings.json",
        "other_server": ".tooltray/servers/other/data",
        "login_script": ".bashrc",
        "movable": "movable",
        "removable": "removable",
        "truncatable": "truncatable",
        "changeable": "changeable",
    }
    return {fact: _file(home / name) for fact, name in names.items()}


def _processes(held: contextlib.ExitStack) -> dict[str, int]:
    other = held.enter_context(subprocess.Popen(["sleep", "600"], start_new_session=True))
    held.callback(other.kill)
    is_over = threading.Event()
    thread = threading.Thread(target=is_over.wait)
    thread.start()
    held.callback(thread.join)
    held.callback(is_over.set)
    assert thread.native_id
    return {"hub": os.getpid(), "hub_group": os.getpgrp(), "hub_thread": thread.native_id, "hub_address": id(other), "other": other.pid}


def _sockets(held: contextlib.ExitStack, folder: Path) -> dict[str, object]:
    def listening(family: int, address: object, kind: int = socket.SOCK_STREAM) -> Any:
        wire = held.enter_context(socket.socket(family, kind))
        wire.bind(address)
        if kind == socket.SOCK_STREAM:
            wire.listen()
        return wire.getsockname()

    named = {name: listening(socket.AF_UNIX, str(folder / name)) for name in ("hub_socket", "session_bus", "systemd", "docker")}
    abstract = "tooltray-test-" + uuid.uuid4().hex
    listening(socket.AF_UNIX, "\0" + abstract)
    return {
        **named,
        "abstract": abstract,
        "journal": listening(socket.AF_UNIX, str(folder / "journal"), socket.SOCK_DGRAM),
        "tcp": listening(socket.AF_INET, ("127.0.0.1", 0))[1],
        "tcp6": listening(socket.AF_INET6, ("::1", 0))[1],
        "udp": listening(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)[1],
    }


def _shared(held: contextlib.ExitStack) -> dict[str, object]:
    segment = _LIBC.shmget(0, 4096, _IPC_CREAT | 0o600)
    held.callback(_LIBC.shmctl, segment, _IPC_RMID, None)
    memory = Path("/dev/shm", "tooltray-test-" + uuid.uuid4().hex)
    held.callback(memory.unlink)
    master, terminal = os.openpty()
    held.callback(os.close, master)
    held.callback(os.close, terminal)
    return {"segment": segment, "shared_memory": _file(memory), "terminal": os.ttyname(terminal)}
