"""How a server is confined: what was chosen, what of it this computer cannot do, and what was refused."""

from typing import Literal

import msgspec

Files = Literal["open", "own", "read"]
Net = Literal["open", "none", "hosts"]


class RefusedThing(msgspec.Struct, frozen=True):
    """Something that a confined server wanted and did not get.

    Attributes:
        kind: "host" (known from the proxy), "path" (known from what the server has said), or "unknown": something was refused, Watch finds
            out what.
        name: the host with its port, or the absolute path; empty of the kind "unknown".
        at: unix seconds of the last time.
        count: how often since the server started.
        is_write: of a path: it was to be changed, as the server's words say, or since it may be read already.
    """

    kind: Literal["host", "path", "unknown"]
    name: str
    at: float
    count: int = 1
    is_write: bool = False


class ConfinementSnapshot(msgspec.Struct, frozen=True):
    """
    Attributes:
        files, network, hosts, read, write: as the entry has them.
        missing: what of it this computer cannot do, each as a sentence for a person, and what it does not get although it is named.
        is_in_vain: nothing of it can be had on this computer, so it is not confined.
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
    """What this computer can put around servers.

    Attributes:
        files: the profiles "own" and "read" keep a server to its files.
        network: "none" can be had.
        hosts: "hosts" can be had.
        missing: what of "own" and "none" it cannot do, each as a sentence for a person.
    """

    files: bool = False
    network: bool = False
    hosts: bool = False
    missing: tuple[str, ...] = ()
