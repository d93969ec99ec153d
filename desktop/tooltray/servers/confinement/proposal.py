"""Derives the tightest profile from what a server did while it was watched, and what the profile would have refused."""

import ipaddress
import os
from collections.abc import Callable, Iterable, Iterator, Set

import msgspec

from tooltray.foundation.snapshots.confinement import Files, Net
from tooltray.foundation.snapshots.watch import SeenKind, SeenThing, WatchProposal
from tooltray.servers.confinement.fewest_folders import fewest, without_nested
from tooltray.servers.confinement.private_places import PrivatePlaces, is_in
from tooltray.servers.confinement.watched import Watched, is_text, printable

Granted = Callable[[Files, str, bool], bool]
"""Reports whether a profile without anything named lets a server read (False) or change (True) a path."""
WEB_PORTS = (80, 443)
BYTECODE = "/__pycache__/"  # Python writes there what it has compiled, and continues where it cannot
MOST_SHOWN = 200  # things in one list of a snapshot
EVERYBODYS_SOCKETS = ("/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/dev/log", "/run/systemd/journal/socket")
"""What libc and loggers try, and do without."""


class Proposer(msgspec.Struct, frozen=True, kw_only=True):
    """Proposes profiles for one server.

    Attributes:
        granted: what the profiles grant this server without any named path.
        places: what is never proposed.
    """

    granted: Granted
    places: PrivatePlaces

    def propose(self, seen: Watched) -> WatchProposal:
        """Returns the tightest profile. Lists folders; blocks for as long as that takes."""
        self.places.look_again()
        changed = {path for path in seen["write"] | seen["create"] if BYTECODE not in path}
        written, read = self._beyond(changed, writes=True), self._beyond(seen["read"] | seen["exec"], writes=False)
        listed = self._beyond(seen["list"], writes=False)
        files: Files = "read" if not written and all(self.granted("read", path, True) for path in changed) else "own"
        write = self._writable(written, seen["create"])
        read_only = self._readable((path for path in read if not is_in(path, write)), listed)
        read_only = {path for path in read_only if not is_in(path, write)}
        network = _network(seen)
        refused = [*self._refused_files(written, listed, read, write, read_only), *_refused_sockets(seen, network)]
        return WatchProposal(
            files=files,
            network=network.kind,
            hosts=network.hosts,
            read=tuple(sorted(map(self._short, read_only))),
            write=tuple(sorted(map(self._short, write))),
            opens_network=network.why[:MOST_SHOWN],
            refused=tuple(self._thing(kind, name) for kind, name in refused[:MOST_SHOWN]),
            refused_count=len(refused),
        )

    def shown(self, seen: Watched) -> tuple[SeenThing, ...]:
        """Returns the things seen that go beyond what every program does: what no profile grants without named paths, in as few folders as
        possible, and all of the network."""
        kinds: tuple[SeenKind, ...] = ("connect", "name", "dgram", "bind", "socket", "setuid", "ptrace")
        found = [SeenThing(kind, printable(name)) for kind in kinds for name in sorted(seen[kind])]
        found += [SeenThing("unix", printable(name)) for name in _odd_sockets(seen)]
        files: tuple[SeenKind, ...] = ("create", "write", "read", "list", "exec")
        for kind in files:
            beyond = self._beyond(seen[kind], writes=kind in ("create", "write"))
            found += [
                self._thing(kind, path) for path in sorted(fewest(beyond, self.places.may_be_opened), key=self._private_first)[:MOST_SHOWN]
            ]
        return tuple(found[:MOST_SHOWN])

    def _beyond(self, paths: Iterable[str], *, writes: bool) -> list[str]:
        """Returns the paths that the profile "own" does not grant without named paths."""
        return [path for path in paths if not self.granted("own", path, writes)]

    def _readable(self, paths: Iterable[str], folders: Iterable[str]) -> set[str]:
        """Returns what is to be named for what was read, and for folders that were listed."""
        files = (self._place(path) for path in paths if not self._is_never_proposed(path))
        return self._fewest(files, (folder for folder in folders if self.places.may_be_opened(folder)))

    def _writable(self, paths: Iterable[str], created: Set[str]) -> set[str]:
        """Returns what is to be named for what was changed. A name that was created or removed is a change of its folder; a folder that was
        created exists from now on."""
        changed = [path for path in paths if not self._is_never_proposed(path)]
        folders = {self._folder_of(path) or self._place(path) for path in changed if path in created}
        return self._fewest((self._place(path) for path in changed if path not in created), filter(None, folders))

    def _fewest(self, files: Iterable[str], folders: Iterable[str]) -> set[str]:
        found = fewest(filter(None, files), self.places.may_be_opened, folders)
        return without_nested(path for path in found if is_text(path))

    def _folder_of(self, created: str) -> str:
        """Returns the folder that changes when a name is created or removed; empty where it may not be opened."""
        if self.places.is_folder(created):
            return created
        folder = os.path.dirname(created)
        return folder if self.places.is_folder(folder) and self.places.may_be_opened(folder) else ""

    def _place(self, path: str) -> str:
        """Returns the path itself, or its folder if the path is gone or cannot be named; empty where that may not be opened."""
        return path if is_text(path) and os.path.lexists(path) else self._folder_of(path)

    def _is_never_proposed(self, path: str) -> bool:
        return path.startswith(("/proc/", "/sys/", "/dev/")) or self.places.is_private(path) or is_in(self.places.home, {path})

    def _refused_files(
        self, written: list[str], listed: list[str], read: list[str], write: set[str], read_only: set[str]
    ) -> Iterator[tuple[SeenKind, str]]:
        readable = write | read_only
        groups: tuple[tuple[SeenKind, list[str], set[str]], ...] = (
            ("write", written, write),
            ("read", read, readable),
            ("list", listed, readable),
        )
        for kind, paths, granted in groups:
            for path in sorted((path for path in paths if not is_in(path, granted)), key=self._private_first):
                yield kind, path

    def _private_first(self, path: str) -> tuple[bool, str]:
        return not self.places.is_private(path), path

    def _thing(self, kind: SeenKind, path: str) -> SeenThing:
        return SeenThing(kind, printable(self._short(path)), self.places.is_private(path))

    def _short(self, path: str) -> str:
        home = self.places.home
        return "~" + path[len(home) :] if path.startswith(home + "/") else path


class _Network(msgspec.Struct, frozen=True):
    kind: Net
    hosts: tuple[str, ...] = ()
    why: tuple[SeenThing, ...] = ()


def _network(seen: Watched) -> _Network:
    """Returns none, some hosts, or, where something was seen that a proxy for HTTP cannot carry, open."""
    kinds: tuple[SeenKind, ...] = ("dgram", "bind", "socket")
    why = [SeenThing(kind, name) for kind in kinds for name in sorted(seen[kind])]
    why += [SeenThing("connect", name) for name in sorted(seen["connect"]) if _is_here(name)]
    if why:
        return _Network("open", why=tuple(why))
    hosts = sorted(set(_hosts(seen)))
    return _Network("hosts", tuple(hosts)) if hosts else _Network("none")


def _hosts(seen: Watched) -> Iterator[str]:
    """Yields the hosts of all connections: the names that were looked up for the addresses, else the names whose answers were not seen."""
    names: dict[str, set[str]] = {}
    for name, addresses in seen.addresses.items():
        for address in addresses:
            names.setdefault(address, set()).add(name)
    unanswered = [name for name, addresses in seen.addresses.items() if not addresses and "." in name]
    for peer in seen["connect"]:
        address, port = split(peer)
        for name in names.get(address) or unanswered or [address]:
            if port and ":" not in name:
                yield name if port in WEB_PORTS else f"{name}:{port}"


def _refused_sockets(seen: Watched, network: _Network) -> Iterator[tuple[SeenKind, str]]:
    yield from (("unix", name) for name in _odd_sockets(seen))
    yield from (("setuid", name) for name in sorted(seen["setuid"]))
    yield from (("ptrace", name) for name in sorted(seen["ptrace"]))
    if network.kind != "open":
        known = {host.partition(":")[0] for host in network.hosts}
        yield from (("name", name) for name in sorted(seen.addresses) if name not in known)


def _odd_sockets(seen: Watched) -> list[str]:
    return sorted(name for name in seen["unix"] if name not in EVERYBODYS_SOCKETS)


def _is_here(peer: str) -> bool:
    """Reports whether a connection goes to this computer itself, where the proxy connects to nothing."""
    try:
        address = ipaddress.ip_address(split(peer)[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def split(peer: str) -> tuple[str, int]:
    """Splits "address:port", or "[address]:port"; port 0 where the text is neither."""
    address, _, port = peer.rpartition(":")
    return address.strip("[]"), int(port) if port.isdecimal() else 0
