"""Signing in to a server elsewhere, with the real hub, bridge and command line; the authorization server is on the loopback."""

import asyncio
import contextlib
import json
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.end2end.processes import Program, World, wait_until
from tests.fakes.authorization_server import AuthorizationServer, authorizing

BROWSER = """
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as page:
    page.read()
"""
PASSPHRASE = {"TOOLTRAY_PASSPHRASE": "dummy passphrase"}
BOUND_S = 30.0
STATUS = ("status", "--json")


class Elsewhere:
    """The authorization server and the server behind it, in a thread of their own.

    Attributes:
        given: every token and code that it gave, to look for where it must not be.
    """

    def __init__(self, server: AuthorizationServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server, self._loop = server, loop
        self.given: set[str] = set()

    def do(self, act: Callable[[AuthorizationServer], Any]) -> Any:
        """In its thread."""

        async def acting() -> Any:
            self.given |= {*self.server.access, *self.server.refresh, *self.server.codes}
            return act(self.server)

        return asyncio.run_coroutine_threadsafe(acting(), self._loop).result(BOUND_S)

    def count(self, grant: str) -> int:
        return int(self.do(lambda server: len(server.forms(grant))))

    def end_access_tokens(self) -> None:
        self.do(AuthorizationServer.end_access_tokens)


@contextlib.contextmanager
def elsewhere(**changes: Any) -> Iterator[Elsewhere]:
    loop, stopped, found = asyncio.new_event_loop(), asyncio.Event(), []
    is_up = threading.Event()

    async def serve() -> None:
        async with authorizing(**changes) as server:
            found.append(server)
            is_up.set()
            await stopped.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="elsewhere")
    thread.start()
    try:
        assert is_up.wait(BOUND_S)
        yield Elsewhere(found[0], loop)
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join(BOUND_S)
        loop.close()


@pytest.fixture
def far() -> Iterator[Elsewhere]:
    with elsewhere(lifetime_s=3600) as there:
        yield there


class Person:
    """Everything that they read, to look through it in the end."""

    def __init__(self, world: World) -> None:
        self.world, self.read = world, list[str]()

    def tooltray(self, *words: str, input: str | None = None, code: int | None = 0) -> str:
        done = self.world.tooltray(*words, input=input)
        self.read.append(done.stdout + done.stderr)
        assert code in (None, done.returncode), self.read[-1]
        return done.stdout if done.returncode == 0 else done.stderr

    def server(self) -> dict[str, Any]:
        return next(each for each in json.loads(self.tooltray(*STATUS))["servers"] if each["name"] == "far")

    def state(self, wanted: str) -> None:
        wait_until(lambda: self.server()["state"] == wanted, f"the server to be {wanted}")

    def sign_in(self) -> None:
        """Opens the printed address, as with a browser of their own."""
        command = self.world.start(sys.executable, "-m", "tooltray", "servers", "sign-in", "far", "--no-browser")
        assert b"Open this address" in command.read_line()
        with urllib.request.urlopen(command.read_line().decode(), timeout=BOUND_S) as page:
            assert b"You can close this page" in page.read()
        assert b"Signed in to far; it is running and has 1 tool." in command.read_line()
        assert command.wait() == 0


def start_hub(world: World, url: str, **fields: Any) -> Person:
    """With its secrets in an encrypted file."""
    world.root.mkdir(mode=0o700, exist_ok=True)
    entry = {"url": url, "type": "http", "autoApprove": ["all"], **fields}
    settings = {"version": 1, "mcpServers": {"far": entry}, "defaultServers": ["far"], "secrets": {"backend": "file"}}
    if not (world.root / "settings.json").exists():
        (world.root / "settings.json").write_text(json.dumps(settings))
    world.start_hub(environ=PASSPHRASE)
    return Person(world)


def bridge(world: World) -> Program:
    client = world.start_bridge()
    client.initialize()
    return client


def whoami(client: Program, id: str = "call") -> dict[str, Any]:
    reply: dict[str, Any] = client.request("tools/call", {"name": "whoami", "arguments": {}}, id=id)
    return reply


def test_a_person_signs_in_with_a_browser_and_after_a_restart_nobody_has_to(world: World, far: Elsewhere) -> None:
    person = start_hub(world, far.server.mcp_url)
    person.state("needs_sign_in")
    client = bridge(world)
    refused = json.dumps(whoami(client, "before"))
    (world.home / "browser.py").write_text(BROWSER)
    world.environ["BROWSER"] = f"{sys.executable} {world.home / 'browser.py'} %s"
    assert "it is running and has 1 tool" in person.tooltray("servers", "sign-in", "far")
    client.request("tools/list", id="list")
    answer = whoami(client, "after")
    assert answer["result"]["content"][0]["text"] == "signed in for: notes:read notes:write"
    assert person.server()["is_signed_in"]
    assert "oauth/far" in person.tooltray("secrets", "list")
    client.end()
    world.stop_hub()

    far.end_access_tokens()  # it has expired meanwhile
    start_hub(world, far.server.mcp_url)
    person.state("running")
    assert (far.count("refresh_token"), far.count("authorization_code")) == (1, 1)
    client = bridge(world)
    client.request("tools/list", id="list")
    said = json.dumps([refused, answer, whoami(client)])
    client.end()
    for words in (("status",), ("servers", "list"), ("doctor",), ("servers", "logs", "far")):
        person.tooltray(*words, code=None)
        person.tooltray(*words, "--json", code=None)
    world.stop_hub()

    far.do(lambda server: None)
    texts = [said, *person.read, *(path.read_bytes().decode(errors="replace") for path in world.root.rglob("*") if path.is_file())]
    assert len(far.given) >= 3
    assert not [text[:300] for text in texts if any(token in text for token in far.given)]
    assert "Ask the user" in refused or "Unknown tool" in refused
