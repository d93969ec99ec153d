"""How a server is sandboxed: the chosen profile, the parts of it that this computer cannot enforce, and what was refused."""

from typing import Literal

import msgspec

Files = Literal["open", "own", "read"]
Net = Literal["open", "none", "hosts"]


class RefusedThing(msgspec.Struct, frozen=True):
    """A host or path that a sandboxed server was refused.

    Attributes:
        kind: "host" (known from the proxy), "path" (known from the server's output), or "unknown": something was refused, and Watch can
            find out what.
        name: the host with its port, or the absolute path; empty of the kind "unknown".
        at: unix seconds of the last time.
        count: how often since the server started.
        is_write: of a path: the server wanted to change it, by its output, or because it may read the path already.
    """

    kind: Literal["host", "path", "unknown"]
    name: str
    at: float
    count: int = 1
    is_write: bool = False


class ConfinementSnapshot(msgspec.Struct, frozen=True):
    """The sandbox of one server.

    Attributes:
        files, network, hosts, read, write: as in the entry.
        missing: the parts that this computer cannot enforce, each as a sentence for the user, and named paths that the server does not get.
        is_in_vain: this computer cannot enforce any part, so the server is not sandboxed.
        refused: what was refused since the server started, the latest first.
    """

    files: Files = "open"
    network: Net = "open"
    hosts: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    is_in_vain: bool = False
    refused: tuple[RefusedThing, ...] = ()


class ConfinementSupport(msgspec.Struct, frozen=True):
    """The parts of a sandbox that this computer can enforce.

    Attributes:
        files: the profiles "own" and "read".
        network: "none".
        hosts: "hosts".
        missing: the parts of "own" and "none" that it cannot enforce, each as a sentence for the user.
    """

    files: bool = False
    network: bool = False
    hosts: bool = False
    missing: tuple[str, ...] = ()
