"""The providers of secrets that Tooltray does not store: `${secret:PREFIX:PLACE}`, a module and a line in PROVIDERS for each prefix.

A value is fetched when a server starts, and held only in memory.
"""

from collections.abc import Mapping

import msgspec

from tooltray.config.secrets.command_provider import CommandProvider
from tooltray.config.secrets.keyring_provider import KeyringProvider
from tooltray.config.secrets.pass_provider import PassProvider
from tooltray.config.secrets.provider import Provider

COMMAND = "command"
PROVIDERS: Mapping[str, Provider] = {"pass": PassProvider(), "keyring": KeyringProvider(), COMMAND: CommandProvider()}


class Reference(msgspec.Struct, frozen=True):
    """The provider and the place that the name of a secret refers to.

    Attributes:
        prefix: of its provider.
        place: what the provider looks for.
    """

    prefix: str
    place: str

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.prefix]

    @property
    def origin(self) -> str:
        """Returns where the value is from, for the user to read."""
        return self.provider.origin(self.place)


def reference_of(name: str) -> Reference | None:
    """Returns what the name of a secret in a placeholder refers to; None: to a secret that Tooltray stores."""
    prefix, colon, place = name.partition(":")
    return Reference(prefix, place) if colon and prefix in PROVIDERS else None


def places_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns where an entry's secrets come from that Tooltray does not store, for the user to read."""
    found = [reference for name in names if (reference := reference_of(name))]
    return tuple(dict.fromkeys(each.origin for each in found))
