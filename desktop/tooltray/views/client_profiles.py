"""What is known of the AI clients there are: whether they heed that a list has changed, and how many tools they can bear.

Above it: Modes. Below it: `resources/client-profiles.json`, which holds what was measured, documented or reported, and nothing guessed.
What is seen of a client while it is connected counts before this.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from tooltray.catalogue.approval import fits

NAMES_REMEMBERED = 256  # of clients; a person has a few


class ClientProfile(msgspec.Struct, frozen=True, rename="camel"):
    """One kind of AI client.

    Attributes:
        names: as it names itself; `*` stands for any characters.
        title: how people know it.
        obeys_changes: whether it lists again when it is told that a list has changed, and can then use what is new; None: not known.
        reads_all_pages: whether it follows a list beyond its first page; None: not known.
        name_limit: how many characters of a tool's name it bears, its own prefix included; None: not known, or none.
        tool_cap: how many tools it shows its model at most; None: not known, or no limit.
        note: more, in words, and where it is known from.
    """

    names: tuple[str, ...]
    title: str
    obeys_changes: bool | None = None
    reads_all_pages: bool | None = None
    name_limit: int | None = None
    tool_cap: int | None = None
    note: str = ""


class ClientProfiles:
    """All that are known."""

    def __init__(self, profiles: tuple[ClientProfile, ...] = ()) -> None:
        self._profiles = profiles
        self._find = lru_cache(NAMES_REMEMBERED)(self._search)  # it is asked for with every call

    def __iter__(self) -> Iterator[ClientProfile]:
        return iter(self._profiles)

    def find(self, client: str) -> ClientProfile | None:
        """The one of a client that names itself so."""
        return self._find(client)

    def _search(self, client: str) -> ClientProfile | None:
        return next((each for each in self._profiles if any(fits(client, name) for name in each.names)), None)


def read_client_profiles(path: Path) -> ClientProfiles:
    """Those that come with Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    return ClientProfiles(msgspec.json.decode(path.read_bytes(), type=_File).clients)


class _File(msgspec.Struct):
    clients: tuple[ClientProfile, ...]
