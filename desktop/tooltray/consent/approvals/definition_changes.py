"""Tools and skills that have changed since the user allowed or saw them: listed, marked, and accepted.

A skill is text that a model follows, so a changed one waits for the user even if the server's calls run without asking, since such rules
are only about calls. The skills that were seen are in `skills.json` of the home.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.skill import Skill, skill_text
from tooltray.consent.approvals import diffs, suspicion
from tooltray.consent.approvals.asked_call import named_with_mark
from tooltray.consent.approvals.grant_book import GrantBook, changed_again, not_changed
from tooltray.consent.approvals.grants import LONGEST_DEFINITION
from tooltray.consent.approvals.new_grants import ToolGrants
from tooltray.consent.kept_file import KeptFile
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, GrantsChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ToolChange
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol.envelope import dump

logger = logging.getLogger(__name__)
SKILL = "skill"  # the kind of such a change
MOST_KNOWN = 5000  # of one server, as many as it may list; what it makes up beyond that waits for the user
MOST_WITH_TEXT = 200  # of one server whose texts are stored; of others the user sees only the present text
LARGEST_BYTES = 256 * 2**20  # of the file; 5,000 skills with the longest URIs have 11 MB


class SeenSkill(msgspec.Struct, frozen=True):
    """A skill as it was seen.

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
    unread = "what is known of skills cannot be read"
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
            is_of_file: whether a server that is not in the settings is in another file, also in one that is not in use now.
        """
        self._store, self._bus, self._spawn, self._is_of_file = store, bus, spawn, is_of_file
        self._seen = store.content.skills
        self._now: dict[tuple[str, str], Skill] = {}  # those that have changed since they were seen
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
            self._spawn(self._save(), name=f"keep what the skills of '{server}' are")
        if before != self._held_marks(server):
            self._bus.publish(GrantsChanged())

    def is_held(self, server: str, skill: Skill) -> bool:
        """Returns whether a skill differs from what was seen, and waits for the user."""
        seen = self._seen.get(server, {}).get(skill.uri)
        return seen is None or seen.mark != skill.mark

    def changes(self) -> list[ToolChange]:
        """Returns the changed skills that wait."""
        return [
            ToolChange(server, uri, self._diff(server, skill), _warnings(skill), kind=SKILL, revision=skill.mark)
            for (server, uri), skill in self._now.items()
            if self.is_held(server, skill)
        ]

    def _diff(self, server: str, skill: Skill) -> tuple[str, ...]:
        seen = self._seen[server].get(skill.uri)
        return diffs.of_texts(_pretty(seen.text if seen else ""), _pretty(skill_text(skill)))

    def definitions(self, server: str, uri: str) -> list[str]:
        """Returns a skill as it is now, with the beginning of its mark; empty if it does not wait."""
        skill = self._now.get((server, uri))
        return [named_with_mark(skill.name, skill.mark)] if skill else []

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

    # inside

    def _held_marks(self, server: str) -> dict[str, str]:
        return {uri: skill.mark for (name, uri), skill in self._now.items() if name == server}

    async def _save(self) -> None:
        """Writes the skills that were seen; a failed write is repeated with the next change."""
        try:
            await self._write()
        except TooltrayError as error:
            logger.warning("what skills are cannot be kept: %s", error)

    async def _write(self) -> None:
        """
        Raises:
            TooltrayError: it cannot be written.
        """
        async with self._lock:
            content = KeptSkills(skills={server: dict(skills) for server, skills in self._seen.items()})  # others change it meanwhile
            await finish_in_thread(self._store.write, content)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        """Drops the skills of a removed server: a later one of its name is another server."""
        gone = [server for server in self._seen if server not in event.mcp_servers and not self._is_of_file(server)]
        for server in gone:
            del self._seen[server]
            for key in [key for key in self._now if key[0] == server]:
                del self._now[key]
        if gone:
            self._spawn(self._save(), name="skills of servers that are gone")


def _seen(skill: Skill, *, with_text: bool = True) -> SeenSkill:
    text = skill_text(skill) if with_text else ""
    return SeenSkill(skill.mark, text if len(text) <= LONGEST_DEFINITION else "")


def _pretty(text: str) -> str:
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False) if text else ""


def _warnings(skill: Skill) -> tuple[str, ...]:
    return suspicion.warnings(read_definition(dump({"name": skill.name, "description": skill.description})))


class DefinitionChanges:
    """The changed tools and skills together. Has no state of its own."""

    def __init__(self, *, grants: GrantBook, tool_grants: ToolGrants, skill_book: SkillBook) -> None:
        self._grants, self._tool_grants, self._skills = grants, tool_grants, skill_book

    def all(self) -> list[ToolChange]:
        """Implements ApprovalsApi.get_tool_changes."""
        return [*self._grants.changes(), *self._skills.changes()]

    async def now(self, server: str, name: str, kind: str) -> list[str]:
        """Returns the change that would be accepted: its name and the beginning of its mark; empty without one."""
        if kind == SKILL:
            return self._skills.definitions(server, name)
        return await self._tool_grants.definitions(server, "tool", name)

    async def accept(self, server: str, name: str, kind: str, seen: str) -> None:
        """Implements ApprovalsApi.accept_tool_change."""
        await (self._skills if kind == SKILL else self._grants).accept(server, name, seen)

    def with_held(self, tools: list[ToolSnapshot]) -> list[ToolSnapshot]:
        """Returns the same tools; those that were allowed and have changed since are marked."""
        held = {server: self._grants.held_tools(server) for server in {tool.server for tool in tools}}
        return [replace(each, is_held=True) if each.original_name in held[each.server] else each for each in tools]
