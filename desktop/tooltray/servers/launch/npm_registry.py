"""An npm registry: its address in one spelling, its name for users, and how it answered. No host is named here: npm's own registry is read
from npm's configuration, mirrors are data."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar
from urllib.parse import SplitResult, urlsplit

import msgspec

from tooltray.config.settings.server_config import shown_url
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase

NPM, MIRROR, SETTINGS, CUSTOM = "npm", "mirror", "settings", "custom"
"""How a registry became known: `origin` in RegistryMeasurement."""

MAX_URL_LENGTH = 2000
_CORRECT_IT = Phrase("It looks like this: https://registry.example.com/")


class Registry(HidesFields, frozen=True):
    """One registry.

    Attributes:
        url: as `normalised` gives it; it may have a user name and a password in it.
        origin: see above.
        region: where its servers are, in words.
        pypi: the index for Python packages that the same operator runs; empty if it runs no index.
    """

    hidden: ClassVar = ("url",)

    url: str
    name: str
    origin: str
    region: str = ""
    pypi: str = ""

    @property
    def shown(self) -> str:
        """Returns the address as it may be shown, by which a registry is also recognised."""
        return shown_url(self.url)


class Answer(msgspec.Struct, frozen=True):
    """How a registry answered for the packages that were requested.

    Attributes:
        milliseconds: until its last answer was complete; None: it has not answered for all of them.
        problem: why it cannot be used.
        latest: the newest version of each package that it has, by the package's name.
        has_python: its index for Python packages answers too.
    """

    registry: Registry
    milliseconds: float | None = None
    problem: str = ""
    latest: Mapping[str, str] = msgspec.field(default_factory=dict)
    has_python: bool = False


class _Mirror(msgspec.Struct):
    name: str
    url: str
    region: str = ""
    pypi: str = ""


class _Mirrors(msgspec.Struct):
    registries: list[_Mirror]


def normalised(url: str) -> str:
    """Returns an address in the one spelling by which it is compared, stored and passed on: no space around it, a slash at its end.

    Raises:
        TooltrayError: it is not the address of a registry; gives the reason, and repeats nothing that may be a password.
    """
    text = url.strip()
    parts = _split(text)
    if not text.isprintable() or " " in text or len(text) > MAX_URL_LENGTH or parts is None:
        raise TooltrayError(
            Phrase("this is no address of an npm registry"), Phrase("it has to begin with https:// or http:// and a host"), _CORRECT_IT
        )
    if parts.query or parts.fragment:
        raise TooltrayError(Phrase("this is no address of an npm registry"), Phrase("it has a '?' or '#' in it"), _CORRECT_IT)
    user, at, host = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{user}{at}{host.lower()}{parts.path.rstrip('/')}/"


def has_password(url: str) -> bool:
    return shown_url(url) != url


def host_of(url: str) -> str:
    """Returns host and port."""
    return urlsplit(url).netloc.rpartition("@")[2]


def read_mirrors(path: Path) -> tuple[Registry, ...]:
    """Returns the mirrors that come with Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    mirrors = msgspec.json.decode(path.read_bytes(), type=_Mirrors).registries
    return tuple(Registry(normalised(each.url), each.name, MIRROR, each.region, each.pypi) for each in mirrors)


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number, half of an IPv6 address
        return None
    return parts if is_usable else None
