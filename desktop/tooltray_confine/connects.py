"""Connects a confined process to the hub's proxy, and to no other host.

The kernel asks at each `connect` of the confined process (SECCOMP_RET_USER_NOTIF). Landlock's rules for TCP name a port and no host, so a
server could talk to any host that listens on the proxy's port. So this process splits in two: one stays outside, reads each address
once, and connects the confined process's socket itself; a change in memory meanwhile has no effect. When the outer process has ended, every
`connect` fails.
"""

import _signal  # type: ignore[import-not-found]  # as in launcher
import _socket
import errno
import fcntl
import posix
import select
import struct

from tooltray_confine.kernel import call, number_of

LOCALHOST = "127.0.0.1"
AF_UNSPEC, AF_INET, AF_INET6 = 0, 2, 10
_MAPPED = "::ffff:"  # before an address of IPv4, for a socket of IPv6
_PORT_AND_V4, _PORT_AND_V6 = struct.Struct("!2xH4s"), struct.Struct("!2xH4x16s")
_LONGEST_ADDRESS = 128  # struct sockaddr_storage

PIDFD_GETFD = 438  # the same on all processors
_RECEIVE, _SEND, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102  # _IOWR('!', 0, struct seccomp_notif), ...
_QUESTION, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_SET_PARENT_DEATH_SIGNAL = 1
_NUMBER_BYTES = 4


def wanted(address: bytes, port: int) -> "tuple[str, int] | None":
    """Returns the address to which a socket may be connected.

    Args:
        address: a `struct sockaddr` as a program gave it.
        port: of the proxy.

    Returns:
        The proxy's address in the form of the socket's family; None: the program wants another address.
    """
    family = int.from_bytes(address[:2], "little")
    mapped = _socket.inet_pton(AF_INET6, _MAPPED + LOCALHOST)
    if family == AF_INET and len(address) >= _PORT_AND_V4.size:
        is_proxy = _PORT_AND_V4.unpack_from(address) == (port, _socket.inet_aton(LOCALHOST))
        return (LOCALHOST, port) if is_proxy else None
    if family == AF_INET6 and len(address) >= _PORT_AND_V6.size:
        return (_MAPPED + LOCALHOST, port) if _PORT_AND_V6.unpack_from(address) == (port, mapped) else None
    return None


class Asking:
    """A pair of processes: the outer one, and its child, which continues and is confined. Creating the object starts the child."""

    def __init__(self, port: int) -> None:
        """Starts the child.

        Args:
            port: of the proxy, on 127.0.0.1.

        Raises:
            OSError: no process can be started.
        """
        self._port = port
        self._told, self._tell = posix.pipe()
        self._may_go, self._let_go = posix.pipe()
        self._child = posix.fork()
        self.is_outside = self._child != 0
        others = (self._tell, self._may_go) if self.is_outside else (self._told, self._let_go)
        self._own = (self._told, self._let_go) if self.is_outside else (self._tell, self._may_go)
        for end in others:
            posix.close(end)

    def close(self) -> None:
        """Closes the pipes. A child does not need to: its program does not inherit them."""
        for end in self._own:
            posix.close(end)

    # in the child

    def hand_over(self, listener: int) -> None:
        """Gives the outer process the open file at which the kernel asks, and waits until it has taken the file.

        Raises:
            OSError: it could not take it.
        """
        call(number_of("prctl"), _SET_PARENT_DEATH_SIGNAL, _signal.SIGKILL, 0, 0, 0)
        posix.write(self._tell, listener.to_bytes(_NUMBER_BYTES, "little"))
        if not posix.read(self._may_go, 1):
            raise OSError(errno.EPERM, "the supervisor of its connections has ended")

    # outside

    def serve(self, streams: "tuple[int, ...]" = (0, 1, 2)) -> int:
        """Answers the kernel until the child has ended. If a signal has ended the child, it ends this process, too.

        Args:
            streams: the program's open files, which are closed here: the hub must notice when the program closes them.

        Returns:
            The child's exit code.
        """
        for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):  # the program gets them, too, and decides what they mean
            _signal.signal(number, _signal.SIG_IGN)
        pidfd = posix.pidfd_open(self._child)
        number = posix.read(self._told, _NUMBER_BYTES)
        if number:
            listener = call(PIDFD_GETFD, pidfd, int.from_bytes(number, "little"), 0)
            posix.write(self._let_go, b"!")
            _let_go_of(streams)
            self._answer_all(listener, pidfd)
            posix.close(listener)
        posix.close(pidfd)
        code = posix.waitstatus_to_exitcode(posix.waitpid(self._child, 0)[1])
        self.close()
        if code < 0:
            if -code != _signal.SIGKILL:
                _signal.signal(-code, _signal.SIG_DFL)
            posix.kill(posix.getpid(), -code)
        return code

    def _answer_all(self, listener: int, pidfd: int) -> None:
        waiting = select.poll()
        for file in (listener, pidfd):
            waiting.register(file, select.POLLIN)
        while True:
            ready = [file for file, _ in waiting.poll()]
            if pidfd in ready:
                return
            self._answer(listener)

    def _answer(self, listener: int) -> None:
        question = bytearray(_QUESTION.size)
        try:
            fcntl.ioctl(listener, _RECEIVE, question, True)
            cookie, thread, _, _, _, _, file, address, size, *_ = _QUESTION.unpack(question)
            fault = self._connect(listener, cookie, thread, file, address, size)
            fcntl.ioctl(listener, _SEND, _ANSWER.pack(cookie, 0, -fault, 0))
        except OSError:  # the caller of `connect` has ended, or was interrupted
            return

    def _connect(self, listener: int, cookie: int, thread: int, file: int, address: int, size: int) -> int:
        """Returns the number of the error; 0: it is connected."""
        try:
            given = _memory(thread, address, min(size & 0xFFFFFFFF, _LONGEST_ADDRESS))
            place = wanted(given, self._port)
            if place is None:
                return errno.EACCES
            socket = _their_socket(thread, file & 0xFFFFFFFF)
            try:
                if socket.family != int.from_bytes(given[:2], "little"):
                    return errno.EAFNOSUPPORT
                fcntl.ioctl(listener, _IS_VALID, cookie.to_bytes(8, "little"))  # the caller still waits: memory and socket were its own
                socket.connect(place)
            finally:
                socket.close()
        except OSError as error:
            return error.errno or errno.EACCES
        return 0


def _let_go_of(streams: "tuple[int, ...]") -> None:
    nothing = posix.open("/dev/null", posix.O_RDWR)
    for stream in streams:
        posix.dup2(nothing, stream)
    posix.close(nothing)


def _memory(thread: int, address: int, size: int) -> bytes:
    with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
        return posix.pread(memory.fileno(), size, address)


def _their_socket(thread: int, file: int) -> _socket.socket:
    """Returns a socket of another process, as an open file of this one."""
    with open(f"/proc/{thread}/status", "rb") as status:
        process = next(int(line.split()[1]) for line in status if line.startswith(b"Tgid:"))
    pidfd = posix.pidfd_open(process)
    try:
        own = call(PIDFD_GETFD, pidfd, file, 0)
    finally:
        posix.close(pidfd)
    try:
        return _socket.socket(fileno=own)
    except OSError:
        posix.close(own)
        raise
