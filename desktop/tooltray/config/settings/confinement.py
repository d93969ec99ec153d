"""What one entry of `mcpServers` defines about its confinement: which files and which hosts its process may reach.

A mistake in it never makes a server more open than its writer meant: an unknown word, member or path makes the entry unusable, folders
without `files` mean "own", and hosts without `network` mean only those hosts.
"""

import os
from collections.abc import Mapping
from functools import partial
from typing import Annotated

from tooltray.config.settings.json_kinds import After
from tooltray.config.settings.json_model import JsonModel, without_null
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import Files, Net

_HOST = lazy_pattern(r"(?:\[[0-9A-Fa-f:.]+\]|(?:\*\.)?[^\s/\\:*@?#\[\]]+)(?::[1-9]\d{0,4})?")
MOST_HOSTS = 200  # of one server; each is compared with each of its requests, and a person reads the list
MOST_PATHS = 200  # in one list; each is opened when the server starts, which takes 25 ms in all
LONGEST_PATH = 4096  # characters; PATH_MAX of Linux
LONGEST_HOST = 260  # characters: 253 of a name, as DNS has it, `*.` and a port
_FILES_ORDER: tuple[Files, ...] = ("read", "own", "open")
"""From the narrowest to the widest."""


def _check_path(path: str) -> str:
    if len(path) > LONGEST_PATH or not (path == "~" or path.startswith("~/") or os.path.isabs(path)) or "\0" in path:
        raise ValueError(Phrase("must be the whole path of a folder or a file, or begin with ~/"))
    return path


def _check_host(host: str) -> str:
    if len(host) > LONGEST_HOST or not _HOST.fullmatch(host):
        raise ValueError(Phrase("must be the name of a host, as api.example.org, *.example.org or example.org:8443"))
    return host.lower()


def _check_number(values: tuple[str, ...], most: int) -> tuple[str, ...]:
    if len(values) > most:
        raise ValueError(Phrase("there are more than {most}", most=most))
    return values


NamedPath = Annotated[str, After(_check_path)]
NamedPaths = Annotated[tuple[NamedPath, ...], After(partial(_check_number, most=MOST_PATHS))]
HostName = Annotated[str, After(_check_host)]
HostNames = Annotated[tuple[HostName, ...], After(partial(_check_number, most=MOST_HOSTS))]


class Confinement(JsonModel):
    """`confinement` of an entry; a single word is its `files`. Without it a server is open: it may do whatever its user may do.

    Attributes:
        files: "open": all; "own": its package, its caches, the folders named here, the project; "read": the same, but it may change only
            its own caches.
        network: "open": all; "none"; "hosts": only those in `hosts`, through the hub's proxy.
        hosts: names, as "api.example.org", or "*.example.org" for all below it; ports other than 443 and 80 as "example.org:8443".
        read: folders and files that it may read besides; absolute, or beginning with `~/`.
        write: those that it may change, too.
    """

    keeps_unknown = False

    files: Files = "open"
    network: Net = "open"
    hosts: HostNames = ()
    read: NamedPaths = ()
    write: NamedPaths = ()

    @classmethod
    def _prepared(cls, data: object) -> object:
        if isinstance(data, str):
            return {"files": data}
        if not isinstance(data, Mapping):
            return data
        given = dict(without_null(data))  # type: ignore[call-overload]  # a mapping stays one
        if "files" not in given and (given.get("read") or given.get("write")):
            given["files"] = "own"
        if "network" not in given and "hosts" in given:
            given["network"] = "hosts"
        return given

    @property
    def is_open(self) -> bool:
        """Returns whether the process is not confined at all."""
        return self.files == "open" and self.network == "open"

    def needs_start(self, before: "Confinement") -> bool:
        """Returns whether a running server must be restarted to be confined like this. Its proxy applies changed hosts at any moment."""
        return self != before.model_copy(update={"hosts": self.hosts} if self.network == "hosts" else {})

    def widens(self, before: "Confinement") -> bool:
        """Returns whether it lets a server do more than `before`."""
        return self._reaches_more_files(before) or self._reaches_more_hosts(before)

    def beyond(self, before: "Confinement") -> dict[str, object]:
        """Returns what it allows beyond `before`, by the names of its members, the ones that a person has to review first."""
        had = {"hosts": before.hosts, "read": (*before.read, *before.write), "write": before.write}
        new = {name: [each for each in getattr(self, name) if each not in known] for name, known in had.items()}
        return {"files": self.files, "network": self.network, **new}

    def _reaches_more_files(self, before: "Confinement") -> bool:
        if before.files == "open":
            return False
        is_wider = _FILES_ORDER.index(self.files) > _FILES_ORDER.index(before.files)
        return is_wider or not (set(self.write) <= set(before.write) and set(self.read) <= {*before.read, *before.write})

    def _reaches_more_hosts(self, before: "Confinement") -> bool:
        match before.network:
            case "open":
                return False
            case "none":
                return self.network != "none"
        return self.network == "open" or (self.network == "hosts" and not set(self.hosts) <= set(before.hosts))


OPEN = Confinement()
