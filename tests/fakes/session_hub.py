"""A hub with AI clients that connect, and work in folders."""

import json
from pathlib import Path
from typing import Any

from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client, HubParts
from tests.fakes.scripted_server import ScriptedServer

from tooltray.protocol.envelope import Envelope, dump


class SessionHub:
    """
    Attributes:
        program: what its servers run.
        root: real path of the folder in which projects are.
    """

    def __init__(self, parts: HubParts, program: ScriptedServer, root: Path) -> None:
        self.parts, self.program, self.root = parts, program, root
        self._keys = 0

    async def session(self, folder: str = "", *, key: Any = None, is_lasting: bool = True, **options: Any) -> Client:
        """An AI client that has connected, its bridge started in a folder; what that says of its project is known."""
        self._keys += 1
        client = self.parts.client(name=f"client {self._keys}", **options)
        client.is_lasting = is_lasting
        client.state = self.parts.states.connect(key or self._keys, folder=folder, is_lasting=is_lasting)
        client.folder = folder
        await self.parts.projects.settle(client)
        return client

    async def listed(self, client: Client) -> list[str]:
        """The names in a session's `tools/list`."""
        request = Envelope(method="tools/list", params=dump({}))
        reply = await self.parts.router.answer(exchange_of(request, client))
        return [each["name"] for each in json.loads(bytes(reply.result))["tools"]]
