"""Watch: what a server did while it was watched, and the profile that is proposed for it."""

from typing import Literal

import msgspec

SeenKind = Literal[
    "read", "list", "write", "create", "exec", "connect", "dgram", "bind", "name", "unix", "socket", "setuid", "ptrace", "failed", "full"
]  # fmt: skip


class SeenThing(msgspec.Struct, frozen=True):
    """Something that a server did.

    Attributes:
        kind: "read", "list" (a folder), "write", "create" (a name made or removed), "exec"; "connect", "dgram" (UDP), "bind" (it listens),
            "name" (looked up), "unix" (a local socket), "socket" (one of another kind); "setuid" and "ptrace": what it can do under no
            profile.
        name: an absolute path, "host:port" or "address:port", or a word.
        is_private: keys, passwords or the person's browser are in it; it is never proposed.
    """

    kind: SeenKind
    name: str
    is_private: bool = False


class WatchProposal(msgspec.Struct, frozen=True):
    """The tightest profile for what was seen.

    Attributes:
        files, network, hosts, read, write: as a server's entry would have them.
        opens_network: why the network is "open": what neither "none" nor "hosts" lets through.
        refused: what it would have refused of what was seen; at most a page of it.
        refused_count: all that it would have refused.
    """

    files: Literal["open", "own", "read"]
    network: Literal["open", "none", "hosts"]
    hosts: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    opens_network: tuple[SeenThing, ...] = ()
    refused: tuple[SeenThing, ...] = ()
    refused_count: int = 0


class WatchSnapshot(msgspec.Struct, frozen=True):
    """
    Attributes:
        state: "off": it was not watched since the hub started; "watching": it runs unconfined now; "done".
        left_s: seconds until it ends by itself.
        facts: how many different things were seen.
        is_full: there was more than could be noted.
        seen: what of it is more than any program does; at most a page of it.
        proposal: None as long as nothing was seen.
        problem: why it did not run, or has ended early; empty: nothing is wrong.
    """

    server: str
    state: Literal["off", "watching", "done"] = "off"
    left_s: float = 0.0
    facts: int = 0
    is_full: bool = False
    seen: tuple[SeenThing, ...] = ()
    proposal: WatchProposal | None = None
    problem: str = ""
