"""Which packages bring servers that can run inside Tooltray: their entry points of the group `tooltray.servers`. Imports none of the
packages; blocks on the disk.
"""

import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import InMemoryServer
from tooltray.servers.launch.program_launch import CannotStart

GROUP = "tooltray.servers"
SUMMARY_CHARACTERS = 300  # of a package's own summary that are shown


class Offered(msgspec.Struct, frozen=True):
    """One server that an installed package offers.

    Attributes:
        folder: the folder that has to be on the path of modules before the import; empty: none.
    """

    entry_point: metadata.EntryPoint
    package: str
    version: str
    summary: str
    folder: str = ""


def listed(folder: Path | None = None) -> list[InMemoryServer]:
    """Returns the offered servers, by name.

    Args:
        folder: a further folder with packages, beside this Python's own; None: no such folder.
    """
    found = _by_name(folder)
    return [
        InMemoryServer(name, each.package, each.version, each.summary, _ambiguity(name, offers))
        for name, offers in sorted(found.items())
        for each in offers
    ]


def find(name: str, folder: Path | None = None) -> Offered:
    """Returns the one package that offers a server of this name.

    Raises:
        CannotStart: no package offers it, or more than one does.
    """
    offers = _by_name(folder).get(name, [])
    if not offers:
        title = Phrase("no installed package offers the server '{name}'", name=name)
        where = Phrase("looked for an entry point of this name in the group {group}", group=GROUP)
        raise CannotStart(title, where, Phrase("Install the package; see which there are: tooltray servers inmemory"))
    if problem := _ambiguity(name, offers):
        raise CannotStart(problem.title, problem.message, problem.hint)
    return offers[0]


def _ambiguity(name: str, offers: list[Offered]) -> Problem | None:
    if len(offers) == 1:
        return None
    packages = ", ".join(sorted({each.package for each in offers}))
    title = Phrase("more than one package offers the server '{name}'", name=name)
    return Problem(title, packages, Phrase("Remove all of them but one."))


def _by_name(folder: Path | None) -> Mapping[str, list[Offered]]:
    found: dict[str, list[Offered]] = {}
    for offered in _all(folder):
        found.setdefault(offered.entry_point.name, []).append(offered)
    return found


def _all(folder: Path | None) -> Iterator[Offered]:
    """Yields all offers. A package that is installed twice counts once, as for an import: the place that is searched first."""
    seen: set[str] = set()
    searched = [(metadata.distributions(), "")]
    if folder is not None:
        searched.append((metadata.distributions(path=[str(folder)]), str(folder)))
    for packages, place in searched:
        for package in packages:
            for offered in _of_package(package, place):
                key = f"{offered.package.lower().replace('_', '-')}/{offered.entry_point.name}"
                if key not in seen:
                    seen.add(key)
                    yield offered


def _of_package(package: metadata.Distribution, folder: str) -> Iterator[Offered]:
    try:
        points = [each for each in package.entry_points if each.group == GROUP]
        about = package.metadata.json if points else {}
    except Exception:  # an error in one package's description must not hide the others
        return
    for point in points:
        name, version, summary = (str(about.get(key) or "") for key in ("name", "version", "summary"))
        yield Offered(point, name, version, summary[:SUMMARY_CHARACTERS], folder)


def make_importable(offered: Offered) -> None:
    """Puts a package's folder last on the path of modules, so that it hides none of ours. It stays there, since servers may import late."""
    if offered.folder and offered.folder not in sys.path:
        sys.path.append(offered.folder)
