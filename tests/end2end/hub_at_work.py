"""A real hub at its control channel, with its events, and the real servers that it runs."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tooltray.carriers.control.control_client import ControlClient
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home

SERVERS = Path(__file__).with_name("servers")
FEATURED = {"command": sys.executable, "args": [str(SERVERS / "featured.py"), "legacy", "kit"], "autoApprove": ["all"]}
HABITS = {"command": sys.executable, "args": [str(SERVERS / "habits.py")], "autoApprove": ["all"]}
SIX = {"ServerStarted", "ServerStopped", "ToolCallResult", "ConfigChanged", "ServerStatusChanged", "ClientListUpdated"}
SOON_S = 60.0  # for what starts a real server on a busy machine
NOWHERE = "http://127.0.0.1:9"  # a proxy that is not there: nothing leaves this machine


class Hub:
    """A running hub, by its control channel."""

    def __init__(self, world):
        self.world = world
        self.channel = ControlClient.connect(Home(world.root), with_events=True, is_at_terminal=True)
        assert self.channel
        self.seen = []

    async def __call__(self, verb, /, **params):
        return await asyncio.to_thread(self.channel.call, verb, timeout_s=SOON_S, **params)

    async def refusal(self, verb, /, **params):
        with pytest.raises(TooltrayError) as raised:
            await self(verb, **params)
        return str(raised.value)

    async def server(self, name):
        return next(each for each in (await self("get_snapshot"))["servers"] if each["name"] == name)

    async def until(self, is_it):
        """Reads events up to the one that is waited for."""

        def read():
            for event in self.channel.events():
                self.seen.append(event)
                if is_it(*event):
                    return event
            raise EOFError("the hub has ended")

        return await asyncio.to_thread(read)

    async def six(self, count):
        """The next events of the six kinds, so many."""
        self.seen.clear()
        await self.until(lambda kind, data: sum(kind in SIX for kind, _ in self.seen) == count)
        return [event for event in self.seen if event[0] in SIX]


def write_settings(world, servers, **more):
    world.root.mkdir(exist_ok=True)
    document = {"version": 1, "mcpServers": servers, "defaultServers": [], "autoDetectNpmRegistry": False, **more}
    (world.root / "settings.json").write_text(json.dumps(document))
