"""Under which `skill://` URIs AI clients see what several servers have under that scheme.

Above it: ResourceUris and the room `skills`. Below it: the published names. Knows no list of skills: a URI of this scheme belongs to its
first part, `acme` in `skill://acme/refunds/SKILL.md`. The first server that has such a part keeps it, for ever, by the promise of names;
whoever comes second has `skill://SERVER/acme/refunds/SKILL.md`. So the folders of a skill stay together, links in it lead where they did,
the skill's name stays the last folder, and no server takes the place of another one's skill.
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
    """Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, names: PublishedNames) -> None:
        self._servers, self._names = servers, names
        self._given = 0

    @property
    def state(self) -> tuple[int, int]:
        """Another one whenever URIs may be others; asked for with every call."""
        return self._given, self._servers.changes

    def published(self, server: str, uri: str) -> str:
        """The URI by which AI clients know what a server has under a URI of this scheme."""
        return uri if self._is_own(server, first_part(uri)) else prefixed(server, uri)

    def target(self, uri: str) -> Place | None:
        """The server, and its own URI, that a published one means; None where nobody was given its first part."""
        label, _, rest = uri.removeprefix(SCHEME).partition("/")
        server = self._server(unquote(label, errors="replace"))
        if server and rest and not self._is_own(server, first_part(rest)):
            return server, SCHEME + rest
        holder = self._names.holder(label, kind="skills")
        return (holder[0], uri) if holder and self._servers.find(holder[0]) else None

    async def give(self, uris: Iterable[tuple[str, str]]) -> None:
        """Gives what servers have its first parts, on disk before this returns. `uris`: a server's name and its own URI each."""
        places = {(server, first_part(uri)) for server, uri in uris if uri.startswith(SCHEME)}
        if any(self._names.known(place, kind="skills") is None for place in places):
            await finish_in_thread(self._names.publish, sorted(places), kind="skills")
            self._given += 1

    async def forget(self) -> None:
        """All are given anew, when somebody lists."""
        await finish_in_thread(self._names.reset, kind="skills")
        self._given += 1

    def _is_own(self, server: str, part: str) -> bool:
        """Whether a server's URIs stay as they are; no other server's name may stand where a server's stands before others' URIs."""
        if any(as_compared(each.name) == as_compared(part) and each.name != server for each in self._servers):
            return False
        holder = self._names.holder(part, kind="skills")
        if self._names.known((server, part), kind="skills") is None:  # not given by now
            return holder is None
        return holder == (server, part)

    def _server(self, name: str) -> str | None:
        """Some clients write the part behind `//` small."""
        known = {server.name.lower(): server.name for server in self._servers}
        return name if self._servers.find(name) else known.get(name.lower())


def prefixed(server: str, uri: str) -> str:
    """A URI, or a template, of this scheme with the name of its server before all else."""
    return f"{SCHEME}{quote(server, safe='', errors='surrogatepass')}/{uri.removeprefix(SCHEME)}"


def first_part(uri: str) -> str:
    """`acme` of `skill://acme/refunds/SKILL.md`."""
    return uri.removeprefix(SCHEME).partition("/")[0]
