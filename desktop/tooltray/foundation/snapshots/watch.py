"""Watch: what a server did while it was watched, and the profile that is proposed for it."""

from typing import Literal

import msgspec

from tooltray.foundation.phrases import Phrase

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


def in_words(thing: SeenThing) -> Phrase:
    """What a server did, as the rest of a sentence that begins with its name."""
    templates: dict[str, Phrase] = {
        "read": Phrase("read {name}", name=thing.name),
        "list": Phrase("listed {name}", name=thing.name),
        "write": Phrase("changed {name}", name=thing.name),
        "create": Phrase("made or removed {name}", name=thing.name),
        "exec": Phrase("ran {name}", name=thing.name),
        "connect": Phrase("connected to {name}", name=thing.name),
        "dgram": Phrase("sent to {name} over UDP", name=thing.name),
        "bind": Phrase("listened on {name}", name=thing.name),
        "name": Phrase("looked up {name}", name=thing.name),
        "unix": Phrase("used the local socket {name}", name=thing.name),
        "socket": Phrase("wanted {name}", name=thing.name),
        "setuid": Phrase("ran {name}, which gets no rights of another user", name=thing.name),
        "ptrace": Phrase("wanted to trace others ({name})", name=thing.name),
    }
    words = templates.get(thing.kind) or Phrase("wanted {name}", name=thing.name)
    return Phrase("{words}: private, so never proposed", words=words) if thing.is_private else words


def proposal_in_words(proposal: WatchProposal) -> tuple[Phrase, ...]:
    """A proposal, a sentence each."""
    files = {
        "own": Phrase("Own files: it reads and changes its own package, caches and project."),
        "read": Phrase("Read only: it changes nothing but its own caches."),
        "open": Phrase("Open: it may do with files whatever you may."),
    }
    network = {
        "none": Phrase("No network."),
        "hosts": Phrase("Network: only {hosts}.", hosts=", ".join(proposal.hosts)),
        "open": Phrase("All of the network."),
    }
    said = [files[proposal.files]]
    said += [Phrase("It may change {paths}.", paths=", ".join(proposal.write))] if proposal.write else []
    said += [Phrase("It may read {paths}.", paths=", ".join(proposal.read))] if proposal.read else []
    said.append(network[proposal.network])
    if proposal.opens_network:
        said.append(Phrase("The network stays open because it {deed}.", deed=in_words(proposal.opens_network[0])))
    return tuple(said)
