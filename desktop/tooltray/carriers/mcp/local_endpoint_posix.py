"""The endpoint where peers of this computer connect on Linux and macOS: a Unix socket; local_endpoint_windows has the same names."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

from tooltray.carriers.http_server.acceptor import Acceptor

LocalAcceptor = Acceptor
BACKLOG = 1024  # a hundred AI clients may reconnect at the same moment after a restart


def remove_stale(path: Path) -> None:
    """Removes the socket that a killed hub has left. The caller must hold the home's lock. Blocks on the disk."""
    path.unlink(missing_ok=True)


def accept_at(path: Path, make_protocol: Callable[[], asyncio.BaseProtocol], *, too_many: bytes, kept: int) -> Acceptor:
    """Accepts connections of this user only.

    Args:
        too_many: sent to peers for which no descriptor is left.
        kept: see Acceptor.

    Raises:
        OSError: the socket cannot be opened.
    """
    return Acceptor(_bind(path), make_protocol, backlog=BACKLOG, too_many=too_many, kept=kept)


def _bind(path: Path) -> socket.socket:
    place = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # so that other users cannot connect even for a moment
    try:
        place.bind(os.fspath(path))
    except OSError:
        place.close()
        raise
    finally:
        os.umask(before)
    return place
