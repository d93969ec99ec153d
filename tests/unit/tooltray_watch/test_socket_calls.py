"""What calls on sockets mean, with the memory and the sockets of this process."""

import json
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.tooltray_watch.own_memory import at, facts, header_at, stop
from tests.unit.tooltray_watch.test_dns_messages import message

from tooltray_watch import machine, socket_calls
from tooltray_watch.report import Report
from tooltray_watch.socket_calls import SocketCalls

ME = os.getpid()


def ipv4(address: str, port: int) -> bytes:
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_aton(address) + bytes(8)


def ipv6(address: str, port: int) -> bytes:
    return struct.pack("=H", socket.AF_INET6) + struct.pack(">HI", port, 0) + socket.inet_pton(socket.AF_INET6, address) + bytes(4)


def unix(path: bytes) -> bytes:
    return struct.pack("=H", socket.AF_UNIX) + path


class Calls:
    def __init__(self, report_file: Path) -> None:
        self.file, self.report = report_file, Report(str(report_file))
        self.calls = SocketCalls(self.report, machine.CALLS[machine.name()]["pidfd_getfd"])

    def __call__(self, name: str, *args: int) -> None:
        self.calls.begun(ME, name, stop(*args))

    def connect(self, fd: int, address: bytes) -> None:
        self("connect", fd, at(address), len(address))

    def entered(self, name: str, *args: int, returned: int = 0) -> None:
        self.calls.entered(ME, name, stop(*args))
        self.calls.left(ME, returned)

    @property
    def told(self) -> list[tuple[str, ...]]:
        return facts(self.file)


@pytest.fixture
def calls(report_file: Path) -> Iterator[Calls]:
    made = Calls(report_file)
    yield made
    made.report.close()


@pytest.fixture
def tcp() -> Iterator[int]:
    with socket.socket() as made:
        yield made.fileno()


@pytest.fixture
def udp() -> Iterator[int]:
    with socket.socket(type=socket.SOCK_DGRAM) as made:
        yield made.fileno()


def test_connections_are_told_with_address_and_port(calls: Calls, tcp: int) -> None:
    for address in (ipv4("192.0.2.1", 443), ipv6("2001:db8::1", 80), ipv6("::ffff:192.0.2.2", 443)):
        calls.connect(tcp, address)
    for address in (unix(b"/var/run/docker.sock\0"), unix(b"\0bus\0"), unix(b"")):
        calls.connect(tcp, address)
    for nothing in (b"", ipv4("192.0.2.1", 1)[:6], struct.pack("=H", socket.AF_UNSPEC) + bytes(14)):
        calls.connect(tcp, nothing)
    assert calls.told == [
        ("connect", "192.0.2.1:443"), ("connect", "[2001:db8::1]:80"), ("connect", "192.0.2.2:443"),
        ("unix", "/run/docker.sock"), ("unix", "@bus\0"),
    ]  # fmt: skip


def test_a_udp_socket_that_is_connected_counts_when_something_is_sent(calls: Calls, udp: int) -> None:
    calls.connect(udp, ipv4("192.0.2.1", 443))
    calls.entered("getsockname", udp)
    calls.entered("write", 99, at(b"x"), 1)
    assert calls.told == []
    calls.entered("write", udp, at(b"x"), 1)
    assert calls.told == [("dgram", "192.0.2.1:443")]
    calls.entered("close", udp)
    assert not calls.calls.followed


def test_a_thread_is_not_followed_for_ever(calls: Calls, udp: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_calls, "FOLLOWED_CALLS", 2)
    calls.entered("getpid")  # not followed yet
    calls.connect(udp, ipv4("192.0.2.1", 443))
    calls.entered("getpid")
    assert calls.calls.followed
    calls.entered("getpid")
    assert not calls.calls.followed


def test_names_are_those_that_dns_is_asked_for_and_answers(calls: Calls, udp: int, tcp: int) -> None:
    asked, answer = message("example.org"), message("example.org", (1, bytes([192, 0, 2, 1])))
    calls.connect(udp, ipv4("127.0.0.53", 53))
    calls.entered("sendmmsg", udp, header_at(asked), 1)
    calls.entered("recvfrom", udp, at(answer), 512, returned=len(answer))
    calls.entered("recvfrom", udp, at(answer), 512, returned=-11)
    calls.entered("recvmsg", udp, header_at(message("other.org", (1, bytes([192, 0, 2, 2])))), 0, returned=500)
    calls.entered("read", udp, at(message("none.org")), 512, returned=30)
    calls.connect(tcp, ipv4("127.0.0.53", 53))
    framed = struct.pack(">H", len(asked)) + message("over.tcp")
    calls.entered("writev", tcp, at(struct.pack("=QQ", at(framed), len(framed))), 1)
    assert calls.told == [
        ("name", "example.org"), ("name", "example.org", "192.0.2.1"), ("name", "other.org", "192.0.2.2"), ("name", "over.tcp"),
    ]  # fmt: skip


def test_names_are_those_that_systemd_is_asked_for(calls: Calls) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        fd = made.fileno()
        calls.connect(fd, unix(socket_calls.RESOLVED.encode() + b"\0"))
        asked = json.dumps({"parameters": {"name": "example.org"}}).encode()
        calls.entered("sendto", fd, at(asked), len(asked))
        answer = json.dumps({"address": [192, 0, 2, 1]}).encode()
        calls.entered("recvfrom", fd, at(answer), 512, returned=len(answer))
    assert calls.told == [("unix", socket_calls.RESOLVED), ("name", "example.org"), ("name", "example.org", "192.0.2.1")]


def test_a_datagram_may_have_an_address_of_its_own(calls: Calls, udp: int) -> None:
    there, resolver = ipv4("192.0.2.1", 9), ipv4("192.0.2.53", 53)
    calls("sendto", udp, at(b"x"), 1, 0, at(there), len(there))
    calls("sendmsg", udp, header_at(b"x", address=ipv4("192.0.2.2", 9)), 0)
    calls("sendmsg", udp, header_at(b"x"), 0)
    calls("sendmsg", udp, header_at(b"x", address=unix(b"/dev/log\0")), 0)
    calls("sendmsg", udp, header_at(b"x", address=bytes(16)), 0)
    calls("sendto", udp, at(message("example.org")), 29, 0, at(resolver), len(resolver))
    calls("sendmsg", udp, header_at(message("again.org"), address=resolver), 0)  # followed by now: its begin has told of it
    assert calls.told == [("dgram", "192.0.2.1:9"), ("dgram", "192.0.2.2:9"), ("unix", "/dev/log"), ("name", "example.org")]


def test_listening_and_odd_sockets_are_told(calls: Calls, udp: int, tcp: int) -> None:
    for fd, address in (
        (tcp, ipv4("127.0.0.1", 0)),
        (udp, ipv4("0.0.0.0", 0)),
        (udp, ipv4("0.0.0.0", 5353)),
        (tcp, unix(b"/s\0")),
        (tcp, b""),
    ):
        calls("bind", fd, at(address), len(address))
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_UNIX) as local:
        port = listening.getsockname()[1]
        for fd in (listening.fileno(), local.fileno(), 9999):
            calls("listen", fd)
    for family, kind in ((socket.AF_INET, 3), (17, 3), (99, 1), (socket.AF_INET, socket.SOCK_STREAM), (16, 3), (socket.AF_UNIX, 1)):
        calls("socket", family, kind)
    assert calls.told == [
        ("bind", "0.0.0.0:5353"), ("unix", "/s"), ("bind", f"127.0.0.1:{port}"),
        ("socket", "raw sockets"), ("socket", "packets of the network card"), ("socket", "sockets of the family 99"),
    ]  # fmt: skip


def test_a_socket_that_cannot_be_asked_counts_as_tcp(calls: Calls) -> None:
    calls.connect(9999, ipv4("192.0.2.1", 443))
    calls.calls.begun(2**22 + 1, "connect", stop(3, at(ipv4("192.0.2.1", 80)), 16))  # a process that is gone: nothing can be read of it
    assert calls.told == [("connect", "192.0.2.1:443")]


def test_what_is_no_socket_is_not_kept_open(calls: Calls) -> None:
    before = os.listdir("/proc/self/fd")
    calls.connect(calls.report._file, ipv4("192.0.2.1", 443))
    calls("listen", calls.report._file)
    assert os.listdir("/proc/self/fd") == before
