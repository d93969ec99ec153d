"""Reads the list of releases, and compares it with the version that runs. Pure functions.

The list is untrusted: a release without a plain version is skipped, and texts are cut and cleaned for display. docs/releasing.md has its
format.
"""

import re
from collections.abc import Iterable

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.installs.installation import age_of_version
from tooltray.foundation.phrases import Phrase

MOST_CHANGES = 8  # lines of one release; more would fill a menu
LONGEST_TEXT = 200  # characters of a line or a reason
UNREADABLE = Phrase("The list of releases cannot be read")
_VERSION = re.compile(r"[0-9]{1,5}\.[0-9]{1,5}\.[0-9]{1,5}(?:(?:a|b|rc)[0-9]{1,5})?")


class ReleaseFile(msgspec.Struct, frozen=True):
    name: str


class Release(msgspec.Struct, frozen=True):
    """A release of Tooltray.

    Attributes:
        changes: plain lines.
        withdrawn: why it should not be used; empty or None: it was not withdrawn.
    """

    version: str
    changes: tuple[str, ...] = ()
    withdrawn: str | None = None
    files: tuple[ReleaseFile, ...] = ()

    @property
    def age(self) -> tuple[tuple[int, ...], bool]:
        return age_of_version(self.version)

    def has_file(self, name: str) -> bool:
        """Returns whether the release has a file of this name."""
        return any(file.name == name for file in self.files)


class _List(msgspec.Struct):
    releases: list[msgspec.Raw]


def read_releases(body: bytes) -> tuple[Release, ...]:
    """Parses the list, without releases that cannot be understood.

    Raises:
        TooltrayError: it is not a list of releases, or none of them can be understood.
    """
    try:
        entries = msgspec.json.decode(body, type=_List).releases
    except msgspec.ValidationError:
        raise unreadable(Phrase("its answer is not a list of releases")) from None
    except (ValueError, RecursionError):
        raise unreadable(Phrase("its answer is not JSON, or was cut off")) from None
    releases = tuple(found for entry in entries if (found := _read(entry)))
    if entries and not releases:
        raise unreadable(Phrase("its answer is not a list of releases"))
    return releases


def newer_release(releases: Iterable[Release], version: str) -> Release | None:
    """Returns the newest release after a version, without pre-releases and withdrawn ones; None if that version is the newest."""
    found = tuple(releases)
    withdrawn = {each.version for each in found if each.withdrawn}
    than = age_of_version(version)
    newer = [each for each in found if each.version not in withdrawn and each.age[1] and each.age > than]
    return max(newer, key=lambda each: each.age, default=None)


def reason_withdrawn(releases: Iterable[Release], version: str) -> str:
    """Returns why a version was withdrawn; empty if it was not."""
    return next((each.withdrawn for each in releases if each.version == version and each.withdrawn), "")


def unreadable(why: str) -> TooltrayError:
    """Makes the error for a list that cannot be read."""
    return TooltrayError(UNREADABLE, why)


def _read(entry: msgspec.Raw) -> Release | None:
    try:
        read = msgspec.json.decode(entry, type=Release)
    except (ValueError, RecursionError):
        return None
    if not _VERSION.fullmatch(read.version):
        return None
    changes = tuple(filter(None, map(_one_line, read.changes[:MOST_CHANGES])))
    return Release(read.version, changes, _one_line(read.withdrawn or ""), read.files)


def _one_line(text: str) -> str:
    """Returns a text of bounded length on one line, without control characters and marks that turn the direction of writing."""
    shown = " ".join("".join(sign if sign.isprintable() else " " for sign in text[: LONGEST_TEXT * 2]).split())
    return shown if len(shown) <= LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 1]}…"
