"""Looks up the user of this computer at the other end of a TCP connection. Linux only; elsewhere the user is unknown.

`sock_diag(7)` finds one socket by its addresses, in some microseconds however many there are; `/proc/net/tcp` would list them all.
"""

import ipaddress
import socket
import struct
import sys
from typing import Any

_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr: length, type, flags, sequence, port
_REQUEST = struct.Struct("=BBBxI")  # the head of struct inet_diag_req_v2: family, protocol, extensions, states
_ADDRESSES = struct.Struct("!HH16s16s12s")  # struct inet_diag_sockid: ports, addresses, interface and cookie
_SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, _NETLINK_SOCK_DIAG = 20, 1, 4
_ANY_STATE = 0xFFFFFFFF
_ANY_COOKIE = b"\0\0\0\0" + b"\xff" * 8
_USER_AT = _HEADER.size + 4 + _ADDRESSES.size + 12  # of idiag_uid in the reply, struct inet_diag_msg
_REPLY_BYTES = 4096


def user_of(peer: Any, own: Any) -> int | None:
    """Returns the uid of a peer's socket; None if it is on another computer, or the system does not report it.

    Args:
        peer, own: the addresses of both ends, as a TCP socket has them.
    """
    if sys.platform != "linux":
        return None
    try:
        family = socket.AF_INET6 if ":" in peer[0] else socket.AF_INET
        ends = [ipaddress.ip_address(each[0].partition("%")[0]).packed.ljust(16, b"\0") for each in (peer, own)]
        body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, _ANY_STATE) + _ADDRESSES.pack(peer[1], own[1], *ends, _ANY_COOKIE)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
            kernel.setblocking(False)  # it answers within `send`
            kernel.send(_HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0) + body)
            reply = kernel.recv(_REPLY_BYTES)
    except (OSError, ValueError, TypeError, IndexError):
        return None
    if _HEADER.unpack_from(reply)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    [user] = struct.unpack_from("=I", reply, _USER_AT)
    return int(user)
