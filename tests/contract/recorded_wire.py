"""Whole conversations, byte for byte on both sides of a hub, from a file; and a hub that is held to them.

The hub is all of it but for sockets and processes: what an AI client writes is fed into a session, what the server writes into the
transport of its connection. A file has one message on each line, behind a sign that says whose:

    -> the AI client writes      <- the AI client must be given
    <= the server writes         => the server must be given

`$1`, `$2` and so on stand for the ids that the hub makes up: the first time for any number, from then on for this one. `$VERSION` is
the product's; `$CLIENT` and `$HUB` are what these two write of themselves into each modern request. What stands together is expected by
the client in this order, and by the server in any. All other lines are comments.
"""

import contextlib
import re
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.fakes.fake_channel import FakeChannel
from tests.fakes.hub_parts import entry, hub_parts, settled

from tooltray import __version__
from tooltray.protocol.dispatcher import RawDispatcher

FOLDER = Path(__file__).with_name("wire")
SIGNS = ("->", "<-", "<=", "=>")
SERVER = "notes"
PLACE = re.compile(r"\$(?:\d+|[A-Z]+)")
ENVELOPE = (
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"%s","version":"%s"},'
    '"io.modelcontextprotocol/clientCapabilities":%s'
)
WORDS = {
    "$VERSION": __version__,
    "$CLIENT": ENVELOPE % ("recorded", "1", '{"elicitation":{"form":{}}}'),
    "$HUB": ENVELOPE % ("tooltray", __version__, '{"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}}'),
}


class RecordedServer:
    """The server's end of one connection; satisfies Transport. Says only what it is told to say."""

    def __init__(self) -> None:
        self.pids: tuple[int, ...] = ()
        self.exit_code: int | None = None
        self.has_expired = False
        self.channel = FakeChannel()
        self.dispatcher: RawDispatcher | None = None

    async def open(self, dispatcher: RawDispatcher) -> None:
        self.dispatcher = dispatcher
        dispatcher.attach(self.channel)

    async def close(self) -> None:
        if self.dispatcher:
            self.dispatcher.connection_lost("closed")


class Replay:
    """One AI client, the hub, and its one server."""

    def __init__(self, client: RawDispatcher, given_to_client: FakeChannel, server: RecordedServer) -> None:
        self._client, self._server = client, server
        self._given = {"<-": given_to_client, "=>": server.channel}
        self._seen = {"<-": 0, "=>": 0}
        self._ids = dict(WORDS)

    async def run(self, recording: str) -> None:
        """Plays all of it.

        Raises:
            AssertionError: somebody was given something else.
        """
        lines = [(line[:2], line[3:]) for line in recording.splitlines() if line.startswith(SIGNS)]
        for sign, group in groupby(lines, key=lambda line: line[0]):
            texts = [text for _, text in group]
            if sign in self._given:
                await self._expect(sign, texts)
            else:
                for text in texts:
                    self._say(sign, text)
        await settled()
        for sign, channel in self._given.items():
            assert channel.lines.all[self._seen[sign] :] == [], f"unexpected {sign}"

    def _say(self, sign: str, text: str) -> None:
        to = self._client if sign == "->" else self._server.dispatcher
        assert to is not None
        to.feed(self._filled(text).encode() + b"\n")

    async def _expect(self, sign: str, texts: list[str]) -> None:
        channel, start = self._given[sign], self._seen[sign]
        self._seen[sign] = end = start + len(texts)
        with contextlib.suppress(TimeoutError):  # what has come instead tells more
            await channel.lines.until(lambda: len(channel.lines.all) >= end)
        given = [line.decode() for line in channel.lines.all[start:end]]
        for index, text in enumerate(texts):
            rest = given[index : index + 1] if sign == "<-" else given
            match = next((found for each in rest if (found := self._matched(text, each))), None)
            assert match, f"expected {sign} {text}\ngiven:\n" + "\n".join(rest)
            self._ids |= {f"${name[1:]}": value for name, value in match.groupdict().items()}
            if sign == "=>":
                given.remove(match.string)

    def _matched(self, text: str, given: str) -> re.Match[str] | None:
        pattern = re.sub(r"\\\$(\d+)", r"(?P<n\1>\\d+)", re.escape(self._filled(text)))
        return re.fullmatch(pattern, given)

    def _filled(self, text: str) -> str:
        return PLACE.sub(lambda place: self._ids.get(place[0], place[0]), text)


@contextlib.asynccontextmanager
async def replay(home: Path) -> AsyncIterator[Replay]:
    """A hub that has started its server, and an AI client that has connected."""
    server, channel = RecordedServer(), FakeChannel()

    def start(**launch: Any) -> RecordedServer:
        return server

    async with hub_parts(home, servers={SERVER: entry(SERVER)}, default=(SERVER,), start_process=start) as parts:
        sessions = parts.sessions
        await parts.presenter.initialize()
        await server.channel.lines.until(lambda: bool(server.channel.lines.all))
        session = sessions.open_client(None)
        session.dispatcher.attach(channel)
        try:
            yield Replay(session.dispatcher, channel, server)
        finally:
            session.dispatcher.connection_lost("the AI client disconnected")
            await sessions.close("over", grace_s=0)
