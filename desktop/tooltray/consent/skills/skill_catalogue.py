"""The skills of all servers: the skills that servers list, their URIs for AI clients, the server of each URI, and changed skills.

MCP has no notification for skills: when a client lists them, servers are asked again unless the last list is recent. A skill is text
that a model follows, so a changed one waits for the user even if the server's calls run without asking, since such rules are only about
calls. The skills that the user has seen are in `skills.json` of the home.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.resource_uris import SCHEME, SkillUris, Target
from tooltray.catalogue.second_looks import SecondLooks, never
from tooltray.catalogue.server_lists import ServerLists
from tooltray.catalogue.skill import SKILLS, Skill, skill_text
from tooltray.consent.approvals import diffs, suspicion
from tooltray.consent.approvals.grant_book import changed_again, not_changed
from tooltray.consent.approvals.grants import LONGEST_DEFINITION
from tooltray.consent.kept_file import KeptFile
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, GrantsChanged, ResourceListChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ToolChange
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol.envelope import dump
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

logger = logging.getLogger(__name__)
SKILL = "skill"  # the kind of a changed skill
MOST_KNOWN = 5000  # skills of one server, as many as it may list; further ones wait for the user's review
MOST_WITH_TEXT = 200  # skills of one server whose texts are stored; for others the user sees only the present text
LARGEST_BYTES = 256 * 2**20  # of the file; 5,000 skills with the longest URIs have 11 MB


class SeenSkill(msgspec.Struct, frozen=True):
    """A skill as the user last saw it.

    Attributes:
        text: the text that was seen, so that changes can be shown; empty if it is too long to be stored.
    """

    mark: str
    text: str = ""


Seen = dict[str, dict[str, SeenSkill]]
"""Seen skills by server and the skill's own URI."""


class KeptSkills(msgspec.Struct):
    version: Literal[1] = 1
    skills: Seen = {}


def skill_store(path: Path) -> KeptFile[KeptSkills]:
    """Reads the file of one home; all skills count as new if it cannot be read."""
    unread = "the saved skills cannot be read"
    unsaved = Phrase("what is allowed cannot be saved")
    store = KeptFile(path, KeptSkills, most_bytes=LARGEST_BYTES, unread=unread, remedy="", unsaved=unsaved)
    if store.problem:
        logger.warning("%s: %s", unread, store.problem.message)
    return store


class SkillBook:
    """The skills that were seen, and those that have changed. Belongs to the engine's loop."""

    def __init__(self, *, store: KeptFile[KeptSkills], bus: EventBus, spawn: Spawn, is_of_file: Callable[[str], bool]) -> None:
        """
        Args:
            is_of_file: whether a server that is not in the settings is in another file, even a file that is not in use now.
        """
        self._store, self._bus, self._spawn, self._is_of_file = store, bus, spawn, is_of_file
        self._seen = store.content.skills
        self._now: dict[tuple[str, str], Skill] = {}  # skills that have changed since the user saw them
        self._lock = asyncio.Lock()
        bus.subscribe(ConfigChanged, self._on_config_changed)

    def take(self, server: str, skills: Iterable[Skill], *, is_all: bool) -> None:
        """Records the present skills of a server: a new skill is saved, a changed one is blocked until it is reviewed.

        Args:
            is_all: these are all the skills that the server lists, not a single one.
        """
        seen, before, is_new = self._seen.setdefault(server, {}), self._held_marks(server), False
        listed = {skill.uri: skill for skill in skills}
        if is_all:
            for key in [key for key in self._now if key[0] == server and key[1] not in listed]:
                del self._now[key]
        for uri, skill in listed.items():
            self._now.pop((server, uri), None)
            known = seen.get(uri)
            if known and known.mark == skill.mark:
                continue
            if known is None and len(seen) < MOST_KNOWN:
                seen[uri], is_new = _seen(skill, with_text=len(seen) < MOST_WITH_TEXT), True
            else:
                self._now[server, uri] = skill
        if is_new:
            self._spawn(self._save(), name=f"save the skills of '{server}'")
        if before != self._held_marks(server):
            self._bus.publish(GrantsChanged())

    def is_held(self, server: str, skill: Skill) -> bool:
        """Returns whether a skill has changed since the user saw it, so that it is blocked until reviewed."""
        seen = self._seen.get(server, {}).get(skill.uri)
        return seen is None or seen.mark != skill.mark

    def changes(self) -> list[ToolChange]:
        """Returns the changed skills that wait for a review."""
        return [
            ToolChange(server, uri, self._diff(server, skill), _warnings(skill), kind=SKILL, revision=skill.mark)
            for (server, uri), skill in self._now.items()
        ]

    def _diff(self, server: str, skill: Skill) -> tuple[str, ...]:
        seen = self._seen[server].get(skill.uri)
        return diffs.of_texts(_pretty(seen.text if seen else ""), _pretty(skill_text(skill)))

    def definitions(self, server: str, uri: str) -> list[str]:
        """Returns a skill as it is now, with the beginning of its fingerprint; empty if it does not wait for a review."""
        skill = self._now.get((server, uri))
        return [suspicion.named_with_mark(skill.name, skill.mark)] if skill else []

    async def accept(self, server: str, uri: str, seen: str) -> None:
        """Accepts a changed skill that the user has seen.

        Args:
            seen: `revision` of the ToolChange; empty: the present text.

        Raises:
            Conflict: the skill does not wait, or is not the one that was shown.
            TooltrayError: the change cannot be written.
        """
        skill = self._now.get((server, uri))
        if skill is None:
            raise not_changed(uri)
        if seen and seen != skill.mark:
            raise changed_again(uri)
        before = self._seen[server]
        self._seen[server] = {**before, uri: _seen(skill)}
        try:
            await self._write()
        except TooltrayError:
            self._seen[server] = before
            raise
        self._now.pop((server, uri), None)
        self._bus.publish(GrantsChanged())

    def rename(self, before: str, after: str) -> Awaitable[None]:
        """Gives the skills of a server to its new name. The rest, which is returned, saves them, and raises TooltrayError if it cannot."""
        if (seen := self._seen.pop(before, None)) is not None:
            self._seen[after] = seen
        self._now = {(after if server == before else server, uri): skill for (server, uri), skill in self._now.items()}
        return self._write()

    # inside

    def _held_marks(self, server: str) -> dict[str, str]:
        return {uri: skill.mark for (name, uri), skill in self._now.items() if name == server}

    async def _save(self) -> None:
        """Writes the skills that were seen; a failed write is repeated with the next change."""
        try:
            await self._write()
        except TooltrayError as error:
            logger.warning("the skills could not be saved: %s", error)

    async def _write(self) -> None:
        """
        Raises: TooltrayError: the file cannot be written.
        """
        async with self._lock:
            content = KeptSkills(skills={server: dict(skills) for server, skills in self._seen.items()})  # other tasks change it meanwhile
            await finish_in_thread(self._store.write, content)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        """Drops the skills of a removed server: a later server with this name is a different one."""
        gone = [server for server in self._seen if server not in event.mcp_servers and not self._is_of_file(server)]
        for server in gone:
            del self._seen[server]
            for key in [key for key in self._now if key[0] == server]:
                del self._now[key]
        if gone:
            self._spawn(self._save(), name="drop the skills of removed servers")


def _seen(skill: Skill, *, with_text: bool = True) -> SeenSkill:
    text = skill_text(skill) if with_text else ""
    return SeenSkill(skill.mark, text if len(text) <= LONGEST_DEFINITION else "")


def _pretty(text: str) -> str:
    """Returns the text of a skill on several lines; unchanged if it is not JSON, as in a file that another program has edited."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _warnings(skill: Skill) -> tuple[str, ...]:
    return suspicion.warnings(read_definition(dump({"name": skill.name, "description": skill.description})))


FRESH_FOR_S = 30.0  # an older list is requested again when an AI client lists skills; clients do so once in a session
MOST_GOT = 1000  # skills that no server lists, but that clients requested by URI; the oldest are dropped


class KnownSkill(NamedTuple):
    """A skill with its URI for AI clients.

    Attributes:
        uri: by which AI clients know it.
    """

    server: str
    skill: Skill
    uri: str


class _Index(NamedTuple):
    """The indexes of skills for lookups.

    Attributes:
        listed: in the order of the servers.
        targets: by the URIs of skills and their files that AI clients know.
        files, folders: the skills by a server's own URI of a file, or of a folder with a slash behind it.
    """

    listed: tuple[KnownSkill, ...] = ()
    targets: dict[str, Target] = {}
    files: dict[Target, list[Skill]] = {}
    folders: dict[Target, list[Skill]] = {}


class SkillCatalogue:
    """The skills that servers list. Belongs to the engine's loop."""

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
            looks: requests these lists again.
        """
        self._servers, self._lists, self._looks, self._uris = servers, lists, looks, uris
        self._resources, self._book, self._bus = resources, book, bus
        self._offered: dict[str, tuple[Skill, ...]] = {}  # the skills as last published
        self._got: dict[Target, Skill] = {}  # skills that clients requested by URI, the oldest first
        self._changes = 0
        self._index = _Index()
        self._index_of: tuple[object, ...] = ()

    async def load(self) -> None:
        """Loads the last known skills of every server from the disk."""
        await self._lists.load(
            on_changed=self._on_changed,
            on_forgotten=self._on_forgotten,
            on_other_copy_changed=lambda server, kinds: None,  # Offers publishes this change, which has the resources' notification
        )

    # lookups

    async def listed(self) -> Sequence[KnownSkill]:
        """Returns all skills that servers list, also disabled or blocked ones; waits a bounded time for lists."""
        await self._lists.wait_for_first_listings()
        old = [server for server in self._servers if self._is_old(server)]
        await self._looks.look(SKILLS, old, never)
        return (await self._named()).listed

    def is_declared(self) -> bool:
        """Returns whether any server has skills at all."""
        return any(self._lists.is_declared(server, SKILLS) for server in self._servers)

    def declaring(self) -> list[ManagedServer]:
        """Returns the servers that have skills; those that run come first."""
        able = [server for server in self._servers if self._lists.is_declared(server, SKILLS)]
        return sorted(able, key=lambda server: server.state is not ServerState.RUNNING)

    def offered(self, server: str) -> Sequence[Skill]:
        """Returns the skills that a server lists, as far as they are known now."""
        return self._offered.get(server, ())

    def published(self, server: str, uri: str) -> str:
        """Returns the URI by which AI clients know a server's skill, or a file or folder of one."""
        return self._resources.published_uri(server, uri)

    async def target(self, uri: str) -> Target | None:
        """Returns the server, and its own URI, for a URI of an AI client; None if it is unknown."""
        index = await self._named()
        return index.targets.get(uri) or (self._uris.target(uri) if uri.startswith(SCHEME) else None)

    def skills_with(self, server: str, uri: str) -> list[Skill]:
        """Returns the skills that have the file with a server's own URI; else the skills with the innermost folder around that URI."""
        index = self._current()
        if found := index.files.get((server, uri)):
            return found
        folder = f"{uri}/"
        while folder not in ("/", SCHEME):
            if found := index.folders.get((server, folder)):
                return found
            folder = folder.rstrip("/").rpartition("/")[0] + "/"
        return []

    async def got(self, server: str, skill: Skill) -> None:
        """Records the present entry of a skill from its server's answer; the entry is valid until the server lists its skills again."""
        self._book.take(server, [skill], is_all=False)
        listed = next((each for each in self.offered(server) if each.uri == skill.uri), None)
        if listed == skill:
            return
        if listed and (managed := self._servers.find(server)):
            await self._looks.look(SKILLS, [managed], never)
        elif self._got.get((server, skill.uri)) != skill:
            self._got[server, skill.uri] = skill
            if len(self._got) > MOST_GOT:
                del self._got[next(iter(self._got))]
            self._changes += 1

    # inside

    def _is_old(self, server: ManagedServer) -> bool:
        is_asked = server.state is ServerState.RUNNING and self._lists.is_declared(server, SKILLS)
        return is_asked and self._lists.age_s(server, SKILLS) > FRESH_FOR_S

    async def _named(self) -> _Index:
        """Returns the index, after giving URIs to skills that have none yet."""
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
        """Publishes changed skills as changed resources: their files are resources, and MCP has no notification for skills."""
        self._changes += 1
        self._bus.publish(ResourceListChanged(server))
