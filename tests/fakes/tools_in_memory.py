"""A presenter whose tools have definitions, use and answers, and whose servers offer prompts and resources: for the page of tools."""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from tests.fakes.fake_presenter import FakePresenter

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded, ResourceUpdated, TryProgressed
from tooltray.foundation.snapshots.activity import ActivityFigures, ToolUse
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.foundation.snapshots.tools import MCPToolResponse, SkillSnapshot


class ToolsInMemory(FakePresenter):
    """
    Attributes:
        schemas: what a tool takes, by its name.
        uses: None: the journal cannot be read.
        answer: of a try; None: it runs until it is cancelled, or `finish` is called.
        prompts, resources, templates: definitions by their server.
        contents: what a prompt or a resource gives, by its name or address.
    """

    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.schemas: dict[str, dict[str, Any]] = {}
        self.skills: list[SkillSnapshot] = []
        self.uses: list[ToolUse] | None = []
        self.figures: list[ActivityFigures] = []
        self.answer: MCPToolResponse | None = None
        self.trying: dict[str, asyncio.Future[MCPToolResponse]] = {}
        self.prompts: dict[str, list[dict[str, Any]]] = {}
        self.resources: dict[str, list[dict[str, Any]]] = {}
        self.templates: dict[str, list[dict[str, Any]]] = {}
        self.contents: dict[str, Mapping[str, Any]] = {}
        self.values: list[str] = []
        self.followed: set[str] = set()

    # tools

    def get_all_tool_definitions(self, server: str | None) -> list[dict[str, Any]]:
        shown = [each for each in self.tools if each.is_enabled and server in (None, each.server)]
        return [
            {"name": each.name, "description": each.description, "inputSchema": self.schemas.get(each.name, {"type": "object"})}
            for each in shown
        ]

    def get_tool_use(self, days: float) -> list[ToolUse]:
        if self.uses is None:
            raise TooltrayError("the journal cannot be read")
        return self.uses

    def get_activity_figures(self, by: str, filter: Any) -> list[ActivityFigures]:
        return self.figures

    def set_profile(self, name: str, profile: Mapping[str, Any]) -> None:
        tools = {server: tuple(names) for server, names in profile.get("tools", {}).items()}
        self.profiles = [*self.profiles, ProfileSnapshot(name, tuple(profile.get("servers", ())), tools)]

    def remove_profile(self, name: str) -> None:
        self.profiles = [each for each in self.profiles if each.name != name]

    # tries

    async def try_tool(self, attempt: str, name: str, arguments: Mapping[str, Any], project: str | None) -> MCPToolResponse:
        if self.answer is not None:
            return replace(self.answer, tool_call_id=attempt)
        self.trying[attempt] = asyncio.get_running_loop().create_future()
        return await self.trying[attempt]

    def get_try_diff(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        return self.disk_diffs.get(str(arguments.get("path")), ())

    def cancel_try(self, attempt: str) -> None:
        self.finish(response("cancelled", None))

    def finish(self, answer: MCPToolResponse) -> None:
        """Ends the try that runs."""
        self.trying.popitem()[1].set_result(answer)

    @property
    def attempt(self) -> str:
        """The one that runs."""
        return next(iter(self.trying))

    def progress(self, progress: float, total: float | None = None, message: str = "") -> None:
        self.bus.publish(TryProgressed(self.attempt, progress, total, message))

    def ask(self, question: ElicitationSnapshot) -> None:
        """The server of the try asks something."""
        self.bus.publish(ElicitationAsked(replace(question, attempt=self.attempt)))

    def end_question(self, id: str) -> None:
        self.bus.publish(ElicitationEnded(id))

    # prompts and resources

    def get_all_prompts(self, server: str | None) -> list[dict[str, Any]]:
        return _of(self.prompts, server)

    def get_all_resources(self, server: str | None) -> list[dict[str, Any]]:
        return _of(self.resources, server)

    def get_all_resource_templates(self, server: str | None) -> list[dict[str, Any]]:
        return _of(self.templates, server)

    def get_skills(self, server: str | None) -> list[SkillSnapshot]:
        return [skill for skill in self.skills if server in (None, skill.server)]

    def get_skill(self, skill: str) -> Mapping[str, Any]:
        return self._content(skill)

    def set_skill_enabled(self, server: str, skill: str, enabled: bool) -> None:
        self.skills = [replace(each, is_enabled=enabled) if each.own_uri == skill else each for each in self.skills]

    def get_prompt(self, name: str, arguments: Mapping[str, str] | None) -> Mapping[str, Any]:
        return self._content(name)

    def read_resource(self, uri: str) -> Mapping[str, Any]:
        return self._content(uri)

    def complete_prompt(self, name: str, argument: str, value: str, given: Any) -> list[str]:
        return [each for each in self.values if each.startswith(value)]

    def complete_resource(self, template: str, variable: str, value: str, given: Any) -> list[str]:
        return [each for each in self.values if each.startswith(value)]

    def subscribe_resource(self, uri: str) -> None:
        self.followed.add(uri)

    def unsubscribe_resource(self, uri: str) -> None:
        self.followed.discard(uri)

    def update(self, uri: str) -> None:
        self.bus.publish(ResourceUpdated(uri))

    def _content(self, key: str) -> Mapping[str, Any]:
        if key not in self.contents:
            raise TooltrayError(f"'{key}' could not be read", "the server does not know it")
        return self.contents[key]


def response(outcome: str = "ok", result: Mapping[str, Any] | None = None, **fields: Any) -> MCPToolResponse:
    """How a try ended."""
    known = {"tool": "t", "server": "s", "client": "tooltray", "duration_s": 0.012, "argument_bytes": 2, "result_bytes": 20}
    return MCPToolResponse(outcome=outcome, result=result, **{**known, **fields})  # type: ignore[arg-type]


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


def _of(offers: Mapping[str, list[dict[str, Any]]], server: str | None) -> list[dict[str, Any]]:
    return [each for name, listed in offers.items() if server in (None, name) for each in listed]
