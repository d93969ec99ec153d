"""Reads prompts, resources and skills from the hub: which exist, their content, possible arguments, changes. Definitions do not name their
server, so each server is asked until all are found."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from PySide6.QtCore import Signal

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.verbs import JsonObject
from tooltray.ui.kit.action import CoalescedRead, Commands, action, as_notice
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.tools.offered import PROMPT, SKILL, Offered, prompt_of, resource_of, skill_of, template_of

List = Callable[[str | None], Awaitable[list[JsonObject]]]
Read = Callable[[str, Mapping[str, object]], Offered]


class OfferedCommands(Commands):
    """The commands about prompts, resources and skills.

    Args:
        kind: PROMPT, SKILL, or anything else for resources and templates.
        server: the only server; empty: all.
    """

    listed = Signal(object)  # list[Offered]
    got = Signal(str, object)  # what was asked for, and its answer: a result object, or a Problem
    completed = Signal(str, str, object)  # an argument, what was written in it, and the values that it could have

    def __init__(self, context: PageContext, kind: str, server: str = "") -> None:
        super().__init__(hub=context.hub, tasks=context.tasks, parent=None)
        self._context, self._kind, self._server = context, kind, server
        self._followed = ""
        self._reading = CoalescedRead(self._look, tasks=context.tasks, name=f"{kind}s of servers", show=self.failed.emit)

    def look(self) -> None:
        """Reads the list; emits `listed`."""
        self._reading.ask()

    async def _look(self) -> None:
        if self._kind == PROMPT:
            found = await self._all(self._hub.prompts.get_all_prompts, prompt_of)
        elif self._kind == SKILL:
            found = [skill_of(each) for each in await self._hub.skills.get_skills(self._server or None)]
        else:
            resources, templates = self._hub.resources.get_all_resources, self._hub.resources.get_all_resource_templates
            found = [*await self._all(resources, resource_of), *await self._all(templates, template_of)]
        self.listed.emit(found)

    async def _all(self, ask: List, read: Read) -> list[Offered]:
        if self._server:
            return [read(self._server, each) for each in await ask(self._server)]
        left = len(await ask(None))
        found: list[Offered] = []
        for server in self._likely() if left else ():
            if len(found) >= left:
                break
            try:
                found += [read(server.name, each) for each in await ask(server.name)]
            except TooltrayError:
                continue  # it was removed just now
        return found

    def _likely(self) -> Sequence[ServerSnapshot]:
        return [server for server in self._context.servers.servers if not server.is_disabled]

    @action(as_notice, clears=False)
    async def get(self, offer: Offered, key: str, arguments: Mapping[str, str]) -> None:
        """Reads a prompt with its arguments filled in, or the content of a resource; emits `got`.

        Args:
            key: the prompt's name, or the address.
        """
        answer: Mapping[str, object] | Problem
        try:
            if offer.kind == PROMPT:
                answer = await self._hub.prompts.get_prompt(key, dict(arguments))
            elif offer.kind == SKILL:
                skill = await self._hub.skills.get_skill(key)
                answer = {"contents": [{"uri": key, "mimeType": "text/plain", "text": skill["text"]}]}
            else:
                answer = await self._hub.resources.read_resource(key)
        except TooltrayError as error:
            answer = error.problem
        self.got.emit(key, answer)

    @action(as_notice, clears=False)
    async def complete(self, offer: Offered, argument: str, value: str, others: Mapping[str, str]) -> None:
        """Reads possible values of an argument; emits `completed`, without values if the server proposes none."""
        ask = self._hub.prompts.complete_prompt if offer.kind == PROMPT else self._hub.resources.complete_resource
        try:
            values = await ask(offer.key, argument, value, dict(others))
        except TooltrayError:
            values = []
        self.completed.emit(argument, value, values)

    @action()
    async def switch_skill(self, offer: Offered, on: bool) -> None:
        """Enables or disables a skill for AI clients."""
        try:
            await self._hub.skills.set_skill_enabled(offer.server, offer.own_key, on)
        finally:
            self.look()  # the switch stands as it is so

    def follow(self, uri: str) -> None:
        """Follows changes of a resource instead of the previous one; empty: of none."""
        before, self._followed = self._followed, uri
        if before != uri:
            self._follow(before, uri)

    @action()
    async def _follow(self, before: str, uri: str) -> None:
        asked: list[Awaitable[None]] = []
        if before:
            asked.append(self._hub.resources.unsubscribe_resource(before))
        if uri:
            asked.append(self._hub.resources.subscribe_resource(uri))
        try:
            await asyncio.gather(*asked)
        except TooltrayError:
            self._followed = ""
            raise
