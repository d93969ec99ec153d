"""peer_user.py: who has the other end of a connection on this computer."""

import os
import socket
import sys

import pytest

from tooltray.carriers.http_server import peer_user
from tooltray.carriers.http_server.peer_user import user_of

linux = pytest.mark.skipif(sys.platform != "linux", reason="no other system tells")


@linux
@pytest.mark.parametrize(
    ("family", "bound", "reached"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::", "127.0.0.1"),
    ],
)
def test_the_user_of_a_peer_is_known(family: socket.AddressFamily, bound: str, reached: str) -> None:
    with (
        socket.create_server((bound, 0), family=family, dualstack_ipv6=bound == "::") as server,
        socket.create_connection((reached, server.getsockname()[1])),
    ):
        accepted, address = server.accept()
        with accepted:
            assert user_of(address, accepted.getsockname()) == os.getuid()
            assert user_of((address[0], 1, *address[2:]), accepted.getsockname()) is None


@pytest.mark.parametrize("peer", ["", None, (), ("no address", 1)])
def test_what_is_no_tcp_peer_is_of_nobody(peer: object) -> None:
    assert user_of(peer, ("127.0.0.1", 1)) is None


def test_another_system_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_user.sys, "platform", "darwin")
    assert user_of(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
