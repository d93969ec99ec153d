"""How a server is sandboxed, what was refused to it, and the profile that is proposed after it was watched."""

from typing import Literal

import msgspec

from tooltray.foundation.phrases import Phrase

Files = Literal["open", "own", "read"]
Net = Literal["open", "none", "hosts"]

SeenKind = Literal[
    "read", "list", "write", "create", "exec", "connect", "dgram", "bind", "name", "unix", "socket", "setuid", "ptrace", "failed", "full"
]  # fmt: skip


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


class SeenThing(msgspec.Struct, frozen=True):
    """An action of a watched server.

    Attributes:
        kind: "read", "list" (a folder), "write", "create" (a name made or removed), "exec"; "connect", "dgram" (UDP), "bind" (it listens),
            "name" (looked up), "unix" (a local socket), "socket" (one of another kind); "setuid" and "ptrace": actions that no profile
            permits.
        name: an absolute path, "host:port" or "address:port", or a word.
        is_private: it concerns keys, passwords or the user's browser, and is never proposed.
    """

    kind: SeenKind
    name: str
    is_private: bool = False


class WatchProposal(msgspec.Struct, frozen=True):
    """The tightest profile for the observed actions.

    Attributes:
        files, network, hosts, read, write: as in a server's entry.
        opens_network: why the network is "open": actions that neither "none" nor "hosts" permits.
        refused: observed actions that the profile would have refused; at most a page of them.
        refused_count: the number of all such actions.
    """

    files: Files
    network: Net
    hosts: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    opens_network: tuple[SeenThing, ...] = ()
    refused: tuple[SeenThing, ...] = ()
    refused_count: int = 0


class WatchSnapshot(msgspec.Struct, frozen=True):
    """The state and the result of watching one server.

    Attributes:
        state: "off": it was not watched since the hub started; "watching": it runs unsandboxed now; "done".
        left_s: seconds until the watch ends automatically.
        facts: the number of different actions.
        is_full: more was seen than could be recorded.
        seen: actions beyond those that every program takes; at most a page of them.
        proposal: None as long as no action was seen.
        problem: why the watch did not run, or has ended early; empty: all is well.
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
    """Describes an action, as the rest of a sentence that begins with the server's name."""
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
    """Describes a proposal, a sentence for each part."""
    files = {
        "own": Phrase("Sandboxed: can read and change only its own package, caches and project."),
        "read": Phrase("Sandboxed, read-only: can change only its own caches."),
        "open": Phrase("Not sandboxed: can access all files that you can."),
    }
    network = {
        "none": Phrase("No network."),
        "hosts": Phrase("Network: only {hosts}.", hosts=", ".join(proposal.hosts)),
        "open": Phrase("Full network."),
    }
    said = [files[proposal.files]]
    said += [Phrase("It may change {paths}.", paths=", ".join(proposal.write))] if proposal.write else []
    said += [Phrase("It may read {paths}.", paths=", ".join(proposal.read))] if proposal.read else []
    said.append(network[proposal.network])
    if proposal.opens_network:
        said.append(Phrase("The network stays open because it {deed}.", deed=in_words(proposal.opens_network[0])))
    return tuple(said)
