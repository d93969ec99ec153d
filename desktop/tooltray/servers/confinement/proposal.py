"""Derives the tightest profile from a server's actions while it was watched, and the actions that this profile would have refused."""

import ipaddress
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Set
from typing import get_args

import msgspec

from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.confinement import Files, Net, SeenKind, SeenThing, WatchProposal
from tooltray.servers.confinement.guarded_folders import PrivatePlaces, is_in

KINDS = frozenset(get_args(SeenKind))
MOST_READ_BYTES = 64 << 20  # twice as much as the tracer writes; a program that writes into its own report is ignored from then on
LONGEST_LINE_BYTES = 64 << 10  # a path of 4,096 characters, each escaped
FILES_OF_FOLDER = 3  # this many files of one folder are replaced by the folder; fewer are named one by one
FOLDERS_OF_FOLDER = 4  # this many folders side by side are replaced by their common parent
MOST_FOLDERS = 24  # the user reads the list; in a longer one, two folders side by side are enough
Granted = Callable[[Files, str, bool], bool]
"""Reports whether a profile without named paths lets a server read (False) or change (True) a path."""
WEB_PORTS = (80, 443)
BYTECODE = "/__pycache__/"  # Python writes compiled code there, and continues if it cannot
MOST_SHOWN = 200  # things in one list of a snapshot
EVERYBODYS_SOCKETS = ("/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/dev/log", "/run/systemd/journal/socket")
"""Sockets that libc and loggers try to use, but do not need."""


class Watched:
    """The actions of a watched server.

    Attributes:
        things: names by kind.
        addresses: of each name that was looked up, the addresses in the answers.
        count: how many different things there are.
    """

    def __init__(self, path: str) -> None:
        self._path, self._offset = path, 0
        self.things: dict[str, set[str]] = {}
        self.addresses: dict[str, set[str]] = {}
        self.count = 0

    def __getitem__(self, kind: str) -> Set[str]:
        return self.things.get(kind, frozenset())

    def read(self) -> bool:
        """Reads the lines added to the report since the last call; reports whether it found new actions. Blocks."""
        before = self.count
        for line in self._new_lines():
            self._take(line)
        return self.count > before

    def _new_lines(self) -> Iterator[bytes]:
        try:
            with open(self._path, "rb", opener=open_regular) as file:
                file.seek(self._offset)
                data = file.read(max(0, MOST_READ_BYTES - self._offset))
        except OSError:
            return
        whole, newline, rest = data.rpartition(b"\n")
        if len(rest) > LONGEST_LINE_BYTES:
            self._offset = MOST_READ_BYTES  # not written by the tracer; the rest cannot be separated into lines
        self._offset += len(whole) + len(newline)
        yield from whole.split(b"\n")

    def _take(self, line: bytes) -> None:
        try:
            fact = json.loads(line)  # and not msgspec: a name that is not UTF-8 has lone surrogates
            kind, name = fact["kind"], fact["name"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if kind not in KINDS or not isinstance(name, str):
            return
        names = self.things.setdefault(kind, set())
        if name not in names:
            names.add(name)
            self.count += 1
        if kind == "name":
            found = fact.get("addresses")
            addresses = found if isinstance(found, list) else ()
            self.addresses.setdefault(name, set()).update(each for each in addresses if isinstance(each, str))


def printable(path: str) -> str:
    """Returns a path as it can be shown: bytes that are not UTF-8, and characters that would break a line, become escapes."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in os.fsencode(path).decode(errors="replace")
    )


def is_text(path: str) -> bool:
    """Reports whether a path can be written into the settings: it is UTF-8, without control characters."""
    return path.isprintable()


def fewest(paths: Iterable[str], may_be_opened: Callable[[str], bool], folders: Iterable[str] = ()) -> set[str]:
    """Returns few folders and files that cover all paths.

    Args:
        paths: absolute, of files.
        folders: folders that are needed as a whole.
    """
    found = _folded(set(paths), FILES_OF_FOLDER, may_be_opened) | set(folders)
    found = _folded_upwards(found, FOLDERS_OF_FOLDER, may_be_opened)
    return found if len(found) <= MOST_FOLDERS else _folded_upwards(found, 2, may_be_opened)


def without_nested(paths: Iterable[str]) -> set[str]:
    """Returns the paths that are in none of the others."""
    kept: set[str] = set()
    for path in sorted(paths, key=len):
        if not any(parent in kept for parent in _parents(path)) and path not in kept:
            kept.add(path)
    return kept


def _folded_upwards(paths: set[str], siblings: int, may_be_opened: Callable[[str], bool]) -> set[str]:
    before: set[str] = set()
    while paths != before:
        before, paths = paths, without_nested(_folded(without_nested(paths), siblings, may_be_opened))
    return paths


def _folded(paths: set[str], siblings: int, may_be_opened: Callable[[str], bool]) -> set[str]:
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_folder[os.path.dirname(path)].append(path)
    found: set[str] = set()
    for folder, inside in by_folder.items():
        found.update((folder,) if len(inside) >= siblings and may_be_opened(folder) else inside)
    return found


def _parents(path: str) -> Iterable[str]:
    while len(path := os.path.dirname(path)) > 1:
        yield path


class Proposer(msgspec.Struct, frozen=True, kw_only=True):
    """Proposes profiles for one server.

    Attributes:
        granted: reports which paths the profiles grant this server even if no path is named.
        places: the private places, which are never proposed.
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
        """Returns the actions worth showing: all network actions, and those on paths that a profile grants only by name. Paths are joined
        into as few folders as possible."""
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
        """Returns the paths to name for the files that were read and the folders that were listed."""
        files = (self._place(path) for path in paths if not self._is_never_proposed(path))
        return self._fewest(files, (folder for folder in folders if self.places.may_be_opened(folder)))

    def _writable(self, paths: Iterable[str], created: Set[str]) -> set[str]:
        """Returns the paths to name for changes. To create or remove a name changes its folder; a folder that was created exists from now
        on."""
        changed = [path for path in paths if not self._is_never_proposed(path)]
        folders = {self._folder_of(path) or self._place(path) for path in changed if path in created}
        return self._fewest((self._place(path) for path in changed if path not in created), filter(None, folders))

    def _fewest(self, files: Iterable[str], folders: Iterable[str]) -> set[str]:
        found = fewest(filter(None, files), self.places.may_be_opened, folders)
        return without_nested(path for path in found if is_text(path))

    def _folder_of(self, created: str) -> str:
        """Returns the folder that changes when a name is created or removed; empty if it may not be opened."""
        if self.places.is_folder(created):
            return created
        folder = os.path.dirname(created)
        return folder if self.places.is_folder(folder) and self.places.may_be_opened(folder) else ""

    def _place(self, path: str) -> str:
        """Returns the path itself, or its folder if the path is gone or cannot be named; empty if the result may not be opened."""
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
    """Returns the network: "none", "hosts", or "open" after an action that a proxy for HTTP cannot carry."""
    kinds: tuple[SeenKind, ...] = ("dgram", "bind", "socket")
    why = [SeenThing(kind, name) for kind in kinds for name in sorted(seen[kind])]
    why += [SeenThing("connect", name) for name in sorted(seen["connect"]) if _is_here(name)]
    if why:
        return _Network("open", why=tuple(why))
    hosts = sorted(set(_hosts(seen)))
    return _Network("hosts", tuple(hosts)) if hosts else _Network("none")


def _hosts(seen: Watched) -> Iterator[str]:
    """Yields the hosts of all connections: the name that was looked up for each address, or names whose lookup had no visible answer."""
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
    """Splits "address:port", or "[address]:port"; port 0 if the text is neither."""
    address, _, port = peer.rpartition(":")
    return address.strip("[]"), int(port) if port.isdecimal() else 0
