"""Connections to the proxy alone: by the real launcher, with a program that tries others."""

import ctypes
import errno
import os
import posix
import signal
import socket
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator

import pytest

from tooltray.foundation.programs import launcher_command
from tooltray_confine import connects, kernel, landlock, launcher
from tooltray_confine.seccomp_program import ALLOW, ASK, NUMBER, Line, answer, assemble, is_equal, load
from tooltray_confine.syscall_numbers import NUMBERS, PROCESSORS

needs_tcp_rules = pytest.mark.skipif(landlock.newest_abi() < launcher.PROXY_ABI, reason="no rules for TCP here")
PORT = 8123


def v4(address: str, port: int = PORT) -> bytes:
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + socket.inet_aton(address) + bytes(8)


def v6(address: str, port: int = PORT) -> bytes:
    return struct.pack("=H", socket.AF_INET6) + struct.pack("!HI", port, 0) + socket.inet_pton(socket.AF_INET6, address) + bytes(4)


def test_only_the_proxy_is_where_a_socket_may_be_connected_to():
    assert connects.wanted(v4("127.0.0.1"), PORT) == ("127.0.0.1", PORT)
    assert connects.wanted(v6("::ffff:127.0.0.1"), PORT) == ("::ffff:127.0.0.1", PORT)
    others = [v4("127.0.0.2"), v4("1.2.3.4"), v4("127.0.0.1", PORT + 1), v6("::1"), v6("::ffff:1.2.3.4"), v6("::ffff:127.0.0.1", 1)]
    others += [v4("127.0.0.1")[:7], v6("::ffff:127.0.0.1")[:23], b"", bytes(16), struct.pack("=H", socket.AF_UNIX) + b"/run/hub.sock\0"]
    assert [connects.wanted(other, PORT) for other in others] == [None] * len(others)


def test_what_is_no_socket_is_not_kept_open():
    before = os.listdir("/proc/self/fd")
    with open(os.devnull) as file:
        for number in (file.fileno(), 1_000_000):
            with pytest.raises(OSError):
                connects._their_socket(os.getpid(), number)
    assert os.listdir("/proc/self/fd") == before


def seccomp_asking() -> int:
    """Has the kernel ask at each `connect` of this process from now on; returns where."""
    kernel.call(kernel.number_of("prctl"), 38, 1, 0, 0, 0)
    column = PROCESSORS[os.uname().machine][1]
    lines: list[Line] = [load(NUMBER), is_equal(NUMBERS["connect"][column], no="other"), answer(ASK), "other", answer(ALLOW)]
    program = kernel.Memory(assemble(lines))
    described = kernel.Memory((len(program.data) // 8).to_bytes(8, "little") + program.address.to_bytes(8, "little"))
    return kernel.call(kernel.number_of("seccomp"), 1, 8, described.address)


@pytest.fixture
def signals() -> Iterator[None]:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def served(child: Callable[[connects.Asking], object], port: int) -> int:
    """What the one outside returns for a child that does this; the child counts how much of it holds."""
    asking = connects.Asking(port)
    if not asking.is_outside:
        code = 99
        try:
            code = int(bool(child(asking)))
        finally:
            if code == 99:
                traceback.print_exc()
            signal.raise_signal(signal.SIGKILL if code else signal.SIGUSR2)
    spare = os.open(os.devnull, os.O_RDONLY)
    try:
        return asking.serve((spare,))
    finally:
        os.close(spare)


def tried(address: tuple[object, ...]) -> int:
    family = socket.AF_INET6 if ":" in str(address[0]) else socket.AF_INET
    with socket.socket(family) as wire:
        return wire.connect_ex(address)


@pytest.mark.usefixtures("signals")
def test_the_one_outside_connects_sockets_and_ends_as_its_child(monkeypatch: pytest.MonkeyPatch):
    ended: list[int] = []
    monkeypatch.setattr(posix, "kill", lambda pid, number: ended.append(number))
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        port = proxy.getsockname()[1]

        def child(asking: connects.Asking) -> bool:
            asking.hand_over(seccomp_asking())
            allowed, refused = tried(("127.0.0.1", port)), tried(("127.0.0.2", port))
            unreadable = ctypes.CDLL(None, use_errno=True).connect(0, None, 16), ctypes.get_errno()
            pair = socket.socketpair()[0]
            other = ctypes.CDLL(None, use_errno=True).connect(pair.fileno(), v4("127.0.0.1", port), 16), ctypes.get_errno()
            return (allowed, refused, unreadable, other) == (0, errno.EACCES, (-1, errno.EIO), (-1, errno.EAFNOSUPPORT))

        assert served(child, port) == -signal.SIGKILL
    assert ended == [signal.SIGKILL]


@pytest.mark.usefixtures("signals")
def test_a_child_that_ends_before_it_is_confined_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    ended: list[int] = []
    monkeypatch.setattr(posix, "kill", lambda pid, number: ended.append(number))
    assert served(lambda asking: False, PORT) == -signal.SIGUSR2
    assert ended == [signal.SIGUSR2]


@pytest.mark.usefixtures("signals")
def test_a_program_that_ends_by_itself_hands_on_its_code():
    asking = connects.Asking(PORT)
    if not asking.is_outside:
        os.execv("/bin/sh", ["sh", "-c", "exit 5"])
    assert asking.serve(()) == 5


def test_who_is_told_by_nobody_does_not_go_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(posix, "fork", lambda: 0)
    monkeypatch.setattr(connects, "call", lambda *arguments: 0)
    asking = connects.Asking(PORT)
    monkeypatch.setattr(posix, "write", lambda *arguments: 0)
    monkeypatch.setattr(posix, "read", lambda *arguments: b"")
    with pytest.raises(OSError):
        asking.hand_over(9)
    monkeypatch.setattr(posix, "read", lambda *arguments: b"!")
    asking.hand_over(9)
    asking.close()


TRIES = """
import errno, socket, sys
port = int(sys.argv[1])
def tried(what, *arguments):
    try:
        what(*arguments)
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
def connect(family, address):
    with socket.socket(family) as wire:
        wire.connect(address)
        wire.getpeername()
print(tried(connect, socket.AF_INET, ("127.0.0.1", port)))
print(tried(connect, socket.AF_INET6, ("::ffff:127.0.0.1", port)))
print(tried(connect, socket.AF_INET, ("127.0.0.2", port)))
print(tried(connect, socket.AF_INET6, ("::1", port)))
print(tried(connect, socket.AF_INET, ("127.0.0.1", 1)))
print(tried(socket.socket().sendto, b"x", 0x20000000, ("127.0.0.2", port)))
print(tried(socket.socket().listen))
print(tried(socket.socket().bind, ("127.0.0.1", 0)))
import ctypes
print(tried(lambda: ctypes.CDLL(None).connect(0, None, 16) and None))
wire = socket.socket()
wire.setblocking(False)
print(wire.connect_ex(("127.0.0.1", port)) in (0, errno.EINPROGRESS))
sys.exit(7)
"""


@needs_tcp_rules
def test_a_program_reaches_the_proxy_and_no_other_host_on_its_port():
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        port = proxy.getsockname()[1]
        with socket.create_server(("127.0.0.2", port)):
            words = ["--abi", str(landlock.newest_abi()), "--network", f"proxy:{port}", "--read", "/", "--keep-group", "--"]
            line = [*launcher_command(), *words, os.path.realpath(sys.executable), "-I", "-S", "-c", TRIES, str(port)]
            done = subprocess.run(line, env={}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["done", "done", "EACCES", "EACCES", "EACCES", "EPERM", "EACCES", "EACCES", "done", "True"]
    assert (done.returncode, done.stderr) == (7, "")
