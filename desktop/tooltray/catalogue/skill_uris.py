"""The `skill://` URIs by which AI clients see what several servers have under that scheme. No list of skills is needed: a URI of this
scheme belongs to its first part, `acme` in `skill://acme/refunds/SKILL.md`. The first server that has such a part keeps it, for ever, by
the promise of names; a later server gets `skill://SERVER/acme/refunds/SKILL.md`. So the folders of a skill stay together, links in it stay
valid, the skill's name stays the last folder, and no server can replace another one's skill.
"""

from collections.abc import Iterable
from urllib.parse import quote, unquote

from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.naming.tool_settings import as_compared
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.upstream.server_manager import ServerManager

SCHEME = "skill://"

Place = tuple[str, str]
"""A server's name, and the first part of URIs that it has."""


class SkillUris:
    """The published URIs of skills. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, names: PublishedNames) -> None:
        self._servers, self._names = servers, names
        self._given = 0

    @property
    def state(self) -> tuple[int, int]:
        """A value that changes whenever URIs may have changed; read with every call."""
        return self._given, self._servers.changes

    def published(self, server: str, uri: str) -> str:
        """Returns the URI by which AI clients know a server's URI of this scheme."""
        return uri if self._is_own(server, first_part(uri)) else prefixed(server, uri)

    def target(self, uri: str) -> Place | None:
        """Returns the server, and its own URI, that a published one means; None where the first part was given to no server."""
        label, _, rest = uri.removeprefix(SCHEME).partition("/")
        server = self._server(unquote(label, errors="replace"))
        if server and rest and not self._is_own(server, first_part(rest)):
            return server, SCHEME + rest
        holder = self._names.holder(label, kind="skills")
        return (holder[0], uri) if holder and self._servers.find(holder[0]) else None

    async def give(self, uris: Iterable[tuple[str, str]]) -> None:
        """Gives servers their first parts, on disk before this returns. `uris`: a server's name and its own URI each."""
        places = {(server, first_part(uri)) for server, uri in uris if uri.startswith(SCHEME)}
        if any(self._names.known(place, kind="skills") is None for place in places):
            await finish_in_thread(self._names.publish, sorted(places), kind="skills")
            self._given += 1

    async def forget(self) -> None:
        """Drops all first parts; new ones are given at the next list request."""
        await finish_in_thread(self._names.reset, kind="skills")
        self._given += 1

    def _is_own(self, server: str, part: str) -> bool:
        """Reports whether a server's URIs stay unchanged. A first part that is another server's name would be taken for that server's
        prefix.
        """
        if any(as_compared(each.name) == as_compared(part) and each.name != server for each in self._servers):
            return False
        holder = self._names.holder(part, kind="skills")
        if self._names.known((server, part), kind="skills") is None:  # not given by now
            return holder is None
        return holder == (server, part)

    def _server(self, name: str) -> str | None:
        """Returns the server of a name; some clients write the part after `//` in lower case."""
        known = {server.name.lower(): server.name for server in self._servers}
        return name if self._servers.find(name) else known.get(name.lower())


def prefixed(server: str, uri: str) -> str:
    """Returns a URI, or a template, of this scheme with the name of its server as its first part."""
    return f"{SCHEME}{quote(server, safe='', errors='surrogatepass')}/{uri.removeprefix(SCHEME)}"


def first_part(uri: str) -> str:
    """Returns `acme` for `skill://acme/refunds/SKILL.md`."""
    return uri.removeprefix(SCHEME).partition("/")[0]
