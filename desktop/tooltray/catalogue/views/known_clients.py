"""The kinds of AI clients: what is known of them, which were seen, and what the settings say of each.

Above it: Modes and Profiles. Below it: the settings, and `resources/client-profiles.json`, which holds what was measured, documented or
reported, and nothing guessed (what else stands there is for sessions/client_limits). What is seen of a client while it is connected counts
before that. Knows no session.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from tooltray.catalogue.approval import WILDCARD, fits
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings import ClientSettings, Settings

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
        searches: whether it defers tools and searches them itself.
        note: more, in words, and where it is known from.
    """

    names: tuple[str, ...]
    title: str
    obeys_changes: bool | None = None
    reads_all_pages: bool | None = None
    name_limit: int | None = None
    tool_cap: int | None = None
    searches: bool = False
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


MOST_SEEN = 200  # kinds; a client that calls itself another thing each time fills no list
NO_SETTINGS = ClientSettings()


class KnownClients:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, profiles: ClientProfiles) -> None:
        self._config, self._profiles = config, profiles
        self._seen: dict[str, None] = {}
        self._chosen: dict[str, ClientSettings] = {}  # by client: what was found in the settings examined
        self._examined: Settings | None = None

    def saw(self, client: str) -> None:
        """A client that names itself so has connected."""
        if len(self._seen) < MOST_SEEN:
            self._seen[client] = None

    def profile(self, client: str) -> ClientProfile | None:
        """What is known of a kind of client."""
        return self._profiles.find(client)

    def title(self, client: str) -> str:
        """How people know it."""
        profile = self.profile(client)
        return profile.title if profile else client

    def settings(self, client: str) -> ClientSettings:
        """What the person has chosen for a kind of client: under the name that it gives itself, another one of the same kind of client, or
        a pattern in which `*` stands for any characters."""
        if (settings := self._config.settings) is not self._examined or len(self._chosen) > MOST_SEEN:
            self._examined, self._chosen = settings, {}
        if (found := self._chosen.get(client)) is None:  # it is asked for with every call
            found = self._chosen[client] = self._chosen_for(client, settings.publish.clients)
        return found

    def _chosen_for(self, client: str, chosen: Mapping[str, ClientSettings]) -> ClientSettings:
        if not chosen:
            return NO_SETTINGS
        profile = self.profile(client)
        names = (client, *(profile.names if profile else ()))
        if name := next((name for name in names if name in chosen), None):
            return chosen[name]
        return next((settings for name, settings in chosen.items() if WILDCARD in name and fits(client, name)), NO_SETTINGS)

    def is_seen(self, client: str) -> bool:
        """Whether one of this kind was connected since the hub has started."""
        profile = self.profile(client)
        return client in self._seen or (profile is not None and any(self.profile(seen) is profile for seen in self._seen))

    def names(self) -> Iterator[str]:
        """One name for each kind: first those that are known, then what was seen or has settings besides."""
        firsts = {profile.names[0]: profile for profile in self._profiles}
        yield from firsts
        for name in sorted({*self._seen, *self._config.settings.publish.clients} - firsts.keys()):
            if self.profile(name) is None:
                yield name
