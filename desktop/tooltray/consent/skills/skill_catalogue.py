"""The skills of all servers: what they list, under which URIs AI clients see it, and which server a URI belongs to.

There is no notification for skills: a client that lists them is given what servers list now, where the last list is not new.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.resource_uris import SCHEME, SkillUris, Target
from tooltray.catalogue.second_looks import SecondLooks
from tooltray.catalogue.server_lists import ServerLists
from tooltray.catalogue.skill import SKILLS, Skill
from tooltray.consent.approvals.definition_changes import SkillBook
from tooltray.foundation.events import EventBus, ResourceListChanged
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

FRESH_FOR_S = 30.0  # a list that is older is asked for again when an AI client lists; clients list once in a session
MOST_GOT = 1000  # skills that no server lists and that were asked for by their URI; the oldest are forgotten


class KnownSkill(NamedTuple):
    """A skill with the URI of AI clients.

    Attributes:
        uri: by which AI clients know it.
    """

    server: str
    skill: Skill
    uri: str


class _Index(NamedTuple):
    """The skills by what they are looked up by.

    Attributes:
        listed: in the order of the servers.
        targets: by the URIs of skills and their files that AI clients know.
        files, folders: the skills that a server's own URI of a file, or of a folder with a slash behind it, belongs to.
    """

    listed: tuple[KnownSkill, ...] = ()
    targets: dict[str, Target] = {}
    files: dict[Target, list[Skill]] = {}
    folders: dict[Target, list[Skill]] = {}


class SkillCatalogue:
    """All that servers list. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        lists: ServerLists[Skill],
        looks: SecondLooks,
        uris: SkillUris,
        resources: ResourceManager,
        book: SkillBook,
        bus: EventBus,
    ) -> None:
        """
        Args:
            lists: of skills only.
            looks: at these lists.
        """
        self._servers, self._lists, self._looks, self._uris = servers, lists, looks, uris
        self._resources, self._book, self._bus = resources, book, bus
        self._offered: dict[str, tuple[Skill, ...]] = {}  # as was last published
        self._got: dict[Target, Skill] = {}  # what was asked for by its URI, the oldest first
        self._changes = 0
        self._index, self._index_of = _Index(), (-1, *uris.state)

    async def load(self) -> None:
        """Takes what every server was last known to have from the disk."""
        await self._lists.load(
            on_changed=self._on_changed,
            on_forgotten=self._on_forgotten,
            on_other_copy_changed=lambda server, kinds: None,  # Offers publishes it: the notification is that of the resources
        )

    # what there is

    async def listed(self) -> Sequence[KnownSkill]:
        """Returns all that servers list, also what is switched off or blocked; waits a bounded time for lists."""
        await self._lists.wait_for_first_listings()
        old = [server for server in self._servers if self._is_old(server)]
        await self._looks.look(SKILLS, old, _never)
        return (await self._named()).listed

    def is_declared(self) -> bool:
        """Returns whether any server has skills at all."""
        return any(self._lists.is_declared(server, SKILLS) for server in self._servers)

    def declaring(self) -> list[ManagedServer]:
        """Returns the servers that have skills; those that run come first."""
        able = [server for server in self._servers if self._lists.is_declared(server, SKILLS)]
        return sorted(able, key=lambda server: server.state is not ServerState.RUNNING)

    def offered(self, server: str) -> Sequence[Skill]:
        """Returns those that a server lists, as far as they are known now."""
        return self._offered.get(server, ())

    def published(self, server: str, uri: str) -> str:
        """Returns the URI by which AI clients know a server's skill, or a file or folder of one."""
        return self._uris.published(server, uri) if uri.startswith(SCHEME) else self._resources.published_uri(server, uri)

    async def target(self, uri: str) -> Target | None:
        """Returns the server, and its own URI, that an AI client means; None where that is unknown."""
        index = await self._named() if self._offered or self._got else self._index
        return index.targets.get(uri) or (self._uris.target(uri) if uri.startswith(SCHEME) else None)

    def skills_with(self, server: str, uri: str) -> list[Skill]:
        """Returns the skills that a server's own URI is a file of; else those in whose folders it would be, the innermost ones."""
        index = self._current()
        if found := index.files.get((server, uri)):
            return found
        folder = f"{uri}/"
        while index.folders and folder not in ("/", SCHEME):
            if found := index.folders.get((server, folder)):
                return found
            folder = folder.rstrip("/").rpartition("/")[0] + "/"
        return []

    async def got(self, server: str, skill: Skill) -> None:
        """Records what a server has answered that one of its skills is now: listed or not, that counts until it lists again."""
        self._book.take(server, [skill], is_all=False)
        listed = next((each for each in self.offered(server) if each.uri == skill.uri), None)
        if listed == skill:
            return
        if listed and (managed := self._servers.find(server)):
            await self._looks.look(SKILLS, [managed], _never)
        elif self._got.get((server, skill.uri)) != skill:
            self._got[server, skill.uri] = skill
            for key in list(self._got)[: max(0, len(self._got) - MOST_GOT)]:
                del self._got[key]
            self._changes += 1

    # inside

    def _is_old(self, server: ManagedServer) -> bool:
        is_asked = server.state is ServerState.RUNNING and self._lists.is_declared(server, SKILLS)
        return is_asked and self._lists.age_s(server, SKILLS) > FRESH_FOR_S

    async def _named(self) -> _Index:
        """Returns the index, with URIs for what has none yet."""
        if self._index_of != (self._changes, *self._uris.state):
            await self._uris.give((server, skill.uri) for server, skill in self._all())
        return self._current()

    def _current(self) -> _Index:
        if self._index_of != (state := (self._changes, *self._uris.state)):
            self._index, self._index_of = self._made(), state
        return self._index

    def _all(self) -> Iterator[tuple[str, Skill]]:
        for server in self._servers:
            yield from ((server.name, skill) for skill in self.offered(server.name))
        yield from ((server, skill) for (server, _), skill in self._got.items())

    def _made(self) -> _Index:
        listed = [
            KnownSkill(server.name, skill, self.published(server.name, skill.uri))
            for server in self._servers
            for skill in self.offered(server.name)
        ]
        index = _Index(tuple(listed), {}, {}, {})
        for server, skill in self._all():
            for uri in skill.files or (skill.uri,):
                index.targets[self.published(server, uri)] = server, uri
                index.files.setdefault((server, uri), []).append(skill)
            index.folders.setdefault((server, skill.folder), []).append(skill)
        return index

    # news

    def _on_changed(self, server: ManagedServer) -> None:
        offered = self._lists.offered(server, SKILLS)
        if offered != self._offered.get(server.name, ()):
            self._offered[server.name] = offered
            self._book.take(server.name, offered, is_all=True)
            self._forget_got(server.name)
            self._tell(server.name)

    def _on_forgotten(self, server: str) -> None:
        self._forget_got(server)
        if self._offered.pop(server, ()):
            self._tell(server)

    def _forget_got(self, server: str) -> None:
        self._got = {key: skill for key, skill in self._got.items() if key[0] != server}

    def _tell(self, server: str) -> None:
        """Files of skills are resources, and theirs is the one list whose changes AI clients hear of."""
        self._changes += 1
        self._bus.publish(ResourceListChanged(server))


async def _never() -> bool:
    return False
