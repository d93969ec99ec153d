"""A sentence about what each well-known server offers, and every server's title in a sentence. A server is recognised by its package, its
program or its host, else by the name that the user gave it; an unknown server gets no invented sentence.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.lazy_patterns import lazy_pattern

MAX_OFFERS = 300  # characters of a user's own description: every list of tools contains it

_PACKAGE = lazy_pattern(r"node_modules/((?:@[^/]+/)?[^/]+)")
_VERSION = lazy_pattern(r"(?<=.)(@[^/]*|==.*|\[.*\])$")
_BETWEEN_WORDS = lazy_pattern(r"[\s_-]+")


class _Known(msgspec.Struct, frozen=True):
    """One well-known server.

    Attributes:
        words: any of these identifies the server.
        offers: a sentence.
        needs: environment variables that it does not work without.
        files: environment variables with the path of a file, each with that file's usual name. Without them the server stores the file in
            its package, or in the user's home.
    """

    words: tuple[str, ...]
    title: str
    offers: str
    needs: tuple[str, ...] = ()
    files: Mapping[str, str] = {}


class _File(msgspec.Struct):
    servers: list[_Known]


class KnownServers:
    """The immutable list of well-known servers."""

    def __init__(self, path: Path) -> None:
        """
        Args:
            path: `known-servers.json`.
        """
        known = msgspec.json.decode(path.read_bytes(), type=_File)
        self._by_word = {word: entry for entry in known.servers for word in entry.words}

    def title(self, name: str, config: MCPServerConfig) -> str:
        """Returns a server's title for use in a sentence."""
        known = self._known(name, config)
        if known and self._by_word.get(name.lower()) == known:
            return known.title
        return " ".join(word[:1].upper() + word[1:] for word in _BETWEEN_WORDS.split(name) if word) or name

    def offers(self, name: str, config: MCPServerConfig) -> str:
        """Returns a sentence about what a server offers: the user's own description, else the known one; empty for an unknown server."""
        own = " ".join(config.descriptions.split())[:MAX_OFFERS]
        if own:
            return own if own[-1] in ".!?。！？" else f"{own}."
        known = self._known(name, config)
        return known.offers if known else ""

    def variables(self, name: str, config: MCPServerConfig) -> tuple[str, ...]:
        """Returns the environment variables that a server does not work without, as far as they are known; empty for a remote server."""
        known = self._known(name, config) if config.command else None
        return known.needs if known else ()

    def files(self, name: str, config: MCPServerConfig) -> dict[str, str]:
        """Returns the known variables for paths of a server's files that are missing in its entry, with the files' usual names."""
        known = self._known(name, config)
        return {variable: file for variable, file in known.files.items() if variable not in config.env} if known else {}

    def _known(self, name: str, config: MCPServerConfig) -> _Known | None:
        return next((self._by_word[word] for word in _words(name, config) if word in self._by_word), None)


def _words(name: str, config: MCPServerConfig) -> Iterator[str]:
    """Yields the words that may identify a server, the surest first."""
    for part in (config.command or "", *config.arguments):
        path = part.replace("\\", "/")
        yield from _PACKAGE.findall(path)
        yield _VERSION.sub("", path.removesuffix(".git"))
        yield _VERSION.sub("", path.rpartition("/")[2].removesuffix(".git").removesuffix(".exe"))
    if config.base_url:
        yield _host(config.base_url)
    yield name.lower()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
