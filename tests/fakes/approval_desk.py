"""A hub with one scripted server, nothing of which is approved, and a person who answers as the desktop does. Test code."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from tests.fakes.hub_parts import Client, HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.events import ApprovalAsked, ApprovalEnded, ToolListChanged
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot

FORM: dict[str, Any] = {"elicitation": {"form": {}}}


class Desk:
    """
    Attributes:
        parts: of the hub.
        program: of the server `s`.
        client: who calls, unless a test says otherwise; its session is known to the hub.
    """

    def __init__(self, parts: HubParts, program: ScriptedServer) -> None:
        self.parts, self.program = parts, program
        self.client = self.session("Cursor")
        self._seen = 0

    def session(self, name: str, key: str = "", **options: Any) -> Client:
        client = self.parts.client(name=name, **options)
        client.state = self.parts.states.connect(key or name)
        client.state.client = name
        return client

    async def call(self, name: str = "write_it", client: Client | None = None, **params: Any) -> dict[str, Any]:
        """The reply as an object with `result` or `error`."""
        return await self.parts.call(name, client or self.client, **params)

    def calling(self, name: str = "write_it", client: Client | None = None, **params: Any) -> "asyncio.Task[Any]":
        return self.parts.keeper.spawn(self.call(name, client, **params), name=f"call {name}")

    async def refusal(self, name: str = "write_it", client: Client | None = None, **params: Any) -> str:
        return str((await self.call(name, client, **params))["error"]["message"])

    async def asked(self) -> ApprovalSnapshot:
        """The next question."""
        self._seen += 1
        event: ApprovalAsked = await self.parts.heard.event(ApprovalAsked, count=self._seen)
        return event.request

    async def answer(self, answer: str) -> ApprovalSnapshot:
        """Answers the next question."""
        question = await self.asked()
        await self.parts.presenter.answer_approval(question.id, answer)
        return question

    async def allow(self, name: str = "write_it", answer: str = "always", **params: Any) -> None:
        """A call that is asked about and goes through."""
        call = self.calling(name, **params)
        await self.answer(answer)
        assert "result" in await call

    async def redefine(self, *tools: dict[str, Any]) -> None:
        """The server's tools are others from now on."""
        count = len(self.parts.heard.of(ToolListChanged))
        self.program.tools = list(tools)
        self.program.copy.notify("notifications/tools/list_changed")
        await self.parts.heard.event(ToolListChanged, count=count + 1)

    @contextlib.contextmanager
    def unwritable(self) -> Iterator[None]:
        """Grants cannot be written for as long as the block lasts."""
        grants, aside = self.parts.home.grants, self.parts.home.root / "aside"
        if grants.exists():
            grants.rename(aside)
        grants.mkdir()
        yield
        grants.rmdir()
        if aside.exists():
            aside.rename(grants)

    @property
    def calls(self) -> int:
        """That came to the server."""
        return self.program.count("tools/call")

    @property
    def questions(self) -> int:
        return len(self.parts.heard.of(ApprovalAsked))

    @property
    def ended(self) -> list[str]:
        return [event.id for event in self.parts.heard.of(ApprovalEnded)]


WRITE = tool("write_it", description="Writes it")
READ = tool("read_it", description="Reads it")


@contextlib.asynccontextmanager
async def desk(
    root: Path,
    *tools: dict[str, Any],
    has_window: bool = True,
    eras: tuple[str, ...] = ("legacy",),
    is_started: bool = True,
    **options: Any,
) -> AsyncIterator[Desk]:
    """
    Args:
        tools: of the server; one that writes and one that reads, unless given.
        is_started: the server runs and was listed.
        options: more fields of the server's entry, or `settings`, or `waits` of the hub.
    """
    program = ScriptedServer(*(tools or (WRITE, READ)), eras=eras)
    settings, waits = options.pop("settings", None), options.pop("waits", {})
    servers = {"s": entry("program", **{"autoApprove": [], **options})}
    programs = {"program": program}
    async with hub_parts(root, servers=servers, settings=settings, programs=programs, has_window=has_window, waits=waits) as parts:
        if is_started:
            await parts.servers.start("s")
            await parts.listed()
        yield Desk(parts, program)
