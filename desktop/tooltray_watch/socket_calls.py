"""The meaning of calls on sockets: where a program connects, what it sends over UDP, which names it looks up.

glibc connects a UDP socket only to sort addresses, and Go to ask DNS with plain `write`. So after such a `connect` the thread is followed
for a few calls, each of which stops then: messages sent on that socket count, and the answers.
"""

import contextlib
import ipaddress
import os
import re
import socket
import struct

from tooltray_watch import dns_messages, ptrace
from tooltray_watch.ptrace import SyscallStop, read_memory
from tooltray_watch.report import Report
from tooltray_watch.traced_memory import group_of, number64, parts, result, signed

FOLLOWED_CALLS = 200  # of one thread: from a `connect` to the last answer a resolver needs some dozens
DNS_PORT = 53
LONGEST_ADDRESS_BYTES = 128  # sockaddr_storage
MOST_MESSAGES = 4  # of one sendmmsg; glibc asks for both families of addresses at once
RESOLVED = "/run/systemd/resolve/io.systemd.Resolve"
KNOWN_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)  # 16: netlink, with which libc looks at network cards
FAMILY_NAMES = {17: "packets of the network card", 38: "the kernel's cryptography", 40: "virtual machines", 31: "Bluetooth", 29: "CAN bus"}
SENDS = ("write", "writev", "sendto", "sendmsg", "sendmmsg")
RECEIVES = ("read", "recvfrom", "recvmsg")


class Peer:
    """The other end of a socket: `family` and `kind` (SOCK_STREAM, ...) of the socket, address and port, or the path."""

    def __init__(self, family: int, address: str, port: int, kind: int) -> None:
        self.family, self.address, self.port, self.kind = family, address, port, kind
        self.asked = ""  # the name that was looked up last

    @property
    def is_resolver(self) -> bool:
        return self.address == RESOLVED if self.family == socket.AF_UNIX else self.port == DNS_PORT

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


class Followed:
    """A thread whose every call stops for a while.

    Attributes:
        left: calls until the thread is no longer followed.
        peers: by the number of the socket.
        receiving: the peer, the call's name and the address of the memory for an answer; None: it reads no answer now.
    """

    def __init__(self) -> None:
        self.left = FOLLOWED_CALLS
        self.peers: dict[int, Peer] = {}
        self.receiving: tuple[Peer, str, int] | None = None


class SocketCalls:
    """All calls on sockets of all watched threads."""

    def __init__(self, report: Report, pidfd_getfd: int) -> None:
        self._report, self._pidfd_getfd = report, pidfd_getfd
        self.followed: dict[int, Followed] = {}

    def begun(self, tid: int, name: str, stop: SyscallStop) -> None:
        """Reports a call; its result does not matter, since a call that does not wait has none yet."""
        if name == "socket":
            self._socket(signed(stop.args[0]), stop.args[1])
        elif name == "connect":
            self._connect(tid, signed(stop.args[0]), read_memory(tid, stop.args[1], min(stop.args[2], LONGEST_ADDRESS_BYTES)))
        elif name == "listen":
            self._listen(tid, signed(stop.args[0]))
        elif name == "bind":
            self._bind(tid, signed(stop.args[0]), read_memory(tid, stop.args[1], min(stop.args[2], LONGEST_ADDRESS_BYTES)))
        else:
            self._send_to(tid, name, stop)

    def _socket(self, family: int, kind: int) -> None:
        kind &= 0xF
        if family not in KNOWN_FAMILIES:
            self._report.tell("socket", FAMILY_NAMES.get(family, f"sockets of the family {family}"))
        elif family in (socket.AF_INET, socket.AF_INET6) and kind not in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            self._report.tell("socket", "raw sockets")

    def _connect(self, tid: int, fd: int, data: bytes) -> None:
        peer = _peer(data, self._kind(tid, fd, data))
        if peer is None:
            return
        if peer.family == socket.AF_UNIX:
            self._report.tell("unix", peer.address)
        elif peer.kind == socket.SOCK_STREAM and peer.port != DNS_PORT:
            self._report.tell("connect", str(peer))
            return
        if peer.family != socket.AF_UNIX or peer.is_resolver:
            followed = self.followed.setdefault(tid, Followed())
            followed.left, followed.peers[fd] = FOLLOWED_CALLS, peer

    def _bind(self, tid: int, fd: int, data: bytes) -> None:
        """Reports a socket that receives datagrams, or has a path. A TCP socket counts when it listens: some bind one only to test for
        IPv6."""
        peer = _peer(data, self._kind(tid, fd, data))
        if peer is None:
            return
        if peer.family == socket.AF_UNIX:
            self._report.tell("unix", peer.address)
        elif peer.kind != socket.SOCK_STREAM and peer.port:
            self._report.tell("bind", str(peer))

    def _listen(self, tid: int, fd: int) -> None:
        with contextlib.suppress(OSError), self._copy(tid, fd) as copied:
            if copied.family in (socket.AF_INET, socket.AF_INET6):
                address, port, *_ = copied.getsockname()
                self._report.tell("bind", str(Peer(copied.family, address, port, socket.SOCK_STREAM)))

    def _send_to(self, tid: int, name: str, stop: SyscallStop) -> None:
        """Reports a datagram with an address of its own."""
        fd = signed(stop.args[0])
        if fd in getattr(self.followed.get(tid), "peers", ()):
            return  # reported at the call's begin already
        if name == "sendto":
            address, length = stop.args[4], stop.args[5]
        else:
            address, length = number64(tid, stop.args[1]), number64(tid, stop.args[1] + 8) & 0xFFFFFFFF
        if not address:
            return
        data = read_memory(tid, address, min(length, LONGEST_ADDRESS_BYTES))
        peer = _peer(data, socket.SOCK_DGRAM)
        if peer is None:
            return
        if peer.family == socket.AF_UNIX:
            self._report.tell("unix", peer.address)
            return
        self._sent(peer, _payload(tid, name, stop))
        if peer.is_resolver:
            followed = self.followed.setdefault(tid, Followed())
            followed.left, followed.peers[fd] = FOLLOWED_CALLS, peer

    # followed threads

    def entered(self, tid: int, name: str, stop: SyscallStop) -> None:
        """Handles the begin of any call of a followed thread; other threads have nothing to report."""
        followed = self.followed.get(tid)
        if followed is None:
            return
        followed.left -= 1
        peer = followed.peers.get(fd := signed(stop.args[0]))
        if peer and name in SENDS:
            self._sent(peer, _payload(tid, name, stop))
        elif peer and name in RECEIVES:
            followed.receiving = (peer, name, stop.args[1])
        elif peer and name == "close":
            del followed.peers[fd]
        if followed.left <= 0 or not followed.peers:
            del self.followed[tid]

    def left(self, tid: int, returned: int) -> None:
        """Handles the end of any call of a followed thread."""
        followed = self.followed.get(tid)
        if followed is None or followed.receiving is None:
            return
        (peer, name, address), followed.receiving = followed.receiving, None
        if (count := result(returned)) > 0:
            data = _of_header(tid, address) if name == "recvmsg" else read_memory(tid, address, count)
            self._answered(peer, data[:count])

    def _sent(self, peer: Peer, messages: list[bytes]) -> None:
        if not peer.is_resolver:
            self._report.tell("dgram", str(peer))
            return
        names = [_question(peer, message) for message in messages]
        for peer.asked in filter(None, names):
            self._report.tell("name", peer.asked)

    def _answered(self, peer: Peer, message: bytes) -> None:
        if peer.family == socket.AF_UNIX:
            name, found = peer.asked, dns_messages.addresses_of_resolved(message)
        else:
            message = _without_length(peer, message)
            name, found = dns_messages.question(message), dns_messages.addresses(message)
        if name and found:
            self._report.tell("name", name, found)

    def _kind(self, tid: int, fd: int, data: bytes) -> int:
        """Returns SOCK_STREAM or another kind, read from the socket itself. Not for sockets with a path, where it does not matter."""
        if data[:2] != struct.pack("=H", socket.AF_UNIX):
            with contextlib.suppress(OSError), self._copy(tid, fd) as copied:
                return copied.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
        return socket.SOCK_STREAM

    def _copy(self, tid: int, fd: int) -> socket.socket:
        """Returns a socket of another process as one of this process.

        Raises:
            OSError: it is not a socket, or its process has ended.
        """
        pidfd = os.pidfd_open(group_of(tid))
        try:
            copied = ptrace.copy_of_file(self._pidfd_getfd, pidfd, fd)
        finally:
            os.close(pidfd)
        try:
            return socket.socket(fileno=copied)
        except OSError:
            os.close(copied)
            raise


def _peer(data: bytes, kind: int) -> Peer | None:
    """Parses a `sockaddr`; None: it does not count (no port, an unnamed socket, another family)."""
    family = int.from_bytes(data[:2], "little")
    if family == socket.AF_UNIX:
        path = data[2:]
        name = "@" + os.fsdecode(path[1:]) if path[:1] == b"\0" and len(path) > 1 else os.fsdecode(path.split(b"\0")[0])
        return Peer(family, re.sub("^/var/run/", "/run/", name), 0, kind) if name else None
    if family == socket.AF_INET and len(data) >= 8:
        address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.IPv4Address(data[4:8])
    elif family == socket.AF_INET6 and len(data) >= 24:
        sixth = ipaddress.IPv6Address(data[8:24])
        address = sixth.ipv4_mapped or sixth
    else:
        return None
    return Peer(family, str(address), int.from_bytes(data[2:4], "big"), kind)


def _payload(tid: int, name: str, stop: SyscallStop) -> list[bytes]:
    """Returns the messages that a call sends."""
    if name in ("write", "sendto"):
        return [read_memory(tid, stop.args[1], min(stop.args[2], 4096))]
    if name == "writev":
        return [parts(tid, stop.args[1], stop.args[2])]
    count = min(stop.args[2], MOST_MESSAGES) if name == "sendmmsg" else 1
    return [_of_header(tid, stop.args[1] + 64 * i) for i in range(count)]


def _of_header(tid: int, address: int) -> bytes:
    """Returns the bytes of a `msghdr`."""
    return parts(tid, number64(tid, address + 16), number64(tid, address + 24))


def _without_length(peer: Peer, message: bytes) -> bytes:
    """Removes the length that DNS over TCP puts before each message."""
    return message[2:] if peer.kind == socket.SOCK_STREAM else message


def _question(peer: Peer, message: bytes) -> str:
    if peer.family == socket.AF_UNIX:
        return dns_messages.question_to_resolved(message)
    return dns_messages.question(_without_length(peer, message))
