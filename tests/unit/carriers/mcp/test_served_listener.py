"""served_listener.py"""

import asyncio
import socket
from pathlib import Path
from typing import cast

import aiohttp
import pytest
from tests.fakes.heard import PATIENCE_S
from tests.fakes.ports import free_port
from tests.fakes.served_hub import FILE, ServedHub, entry, reading, served_hub

from tooltray.carriers.mcp.served_routes import ServedTokens
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.file_server import Endpoint, FileReading
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ProblemReported
from tooltray.foundation.tasks import TaskKeeper

WITH_TOKEN = entry("fetch", tokens=("t",))


async def settled(hub: ServedHub) -> None:
    """Until what was told last is done: the same again changes nothing, and waits behind it."""
    await hub.listener.follow()


async def test_without_an_endpoint_in_the_files_nothing_is_open(tmp_path: Path) -> None:
    async with served_hub(tmp_path, FileReading(FILE, "tbxark", "1", entries=(entry("a"),))) as hub:
        await hub.listener.start()
        await hub.listener.stop_taking()
        assert (hub.listener.startup_lines, hub.listener.problems, hub.listener.url(FILE)) == ((), (), "")


async def test_a_hub_that_was_started_without_configs_follows_nothing(tmp_path: Path) -> None:
    async with served_hub(tmp_path) as hub:
        await hub.listener.start()
        hub.now(reading(WITH_TOKEN))
        assert hub.port == 0


async def test_where_the_servers_are_is_said_when_it_is_open(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(entry("a b"), WITH_TOKEN, endpoint=Endpoint("localhost", 0, "/x"))) as hub:
        await hub.listener.start()
        base = f"http://localhost:{hub.port}/x"
        assert hub.listener.startup_lines == (f"Serves {FILE} at:", f"  {base}/a%20b/", f"  {base}/fetch/ (asks for a token)")
        assert (hub.listener.url(FILE), hub.listener.url("/another")) == (base, "")
        assert hub.files.endpoints == {FILE: base}


async def test_a_server_without_a_token_is_open_to_this_machine_alone_and_the_person_is_told(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(entry("open"), WITH_TOKEN, endpoint=Endpoint("", 0))) as hub:
        await hub.listener.start()
        (problem,) = hub.listener.problems
        assert problem.message == "it is meant to be open to other computers too (port 0), but these servers have no token: open"
        assert [event.problem for event in hub.heard.of(ProblemReported)] == [problem]
        assert hub.listener.startup_lines[-1] == str(problem)
        assert "http://127.0.0.1:" in hub.listener.startup_lines[1]
        hub.now(reading(WITH_TOKEN, endpoint=Endpoint("", 0)))
        await settled(hub)
        assert hub.listener.problems == ()
        assert "http://localhost:" in hub.listener.startup_lines[1]


class Asking:
    """A keyring that waits for the person. In the place of SecretStore."""

    def __init__(self) -> None:
        self.is_asking, self.is_answered = asyncio.Event(), asyncio.Event()

    async def get(self, name: str) -> str:
        self.is_asking.set()
        await self.is_answered.wait()
        return "dummy-value"


async def test_the_hub_can_end_while_a_keyring_asks_the_person(tmp_path: Path) -> None:
    keyring, keeper = Asking(), TaskKeeper()
    tokens = ServedTokens(cast(SecretStore, keyring), {})
    async with served_hub(tmp_path, reading(entry("a", secret_tokens=("${secret:x}",))), tokens=tokens) as hub:
        starting = keeper.spawn(hub.listener.start(), name="start")
        async with asyncio.timeout(PATIENCE_S):
            await keyring.is_asking.wait()
            await hub.listener.close()
            keyring.is_answered.set()
            await starting
        assert hub.port == 0


async def test_with_tokens_it_is_open_where_the_file_says(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(WITH_TOKEN, endpoint=Endpoint("", 0))) as hub:
        await hub.listener.start()
        assert await hub.client().initialize(path="/fetch/", headers={"Authorization": "t"})


async def test_without_ipv6_it_is_open_to_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: False)
    async with served_hub(tmp_path, reading(WITH_TOKEN, endpoint=Endpoint("", 0))) as hub:
        await hub.listener.start()
        assert await hub.client().initialize(path="/fetch/", headers={"Authorization": "t"})


async def test_a_taken_port_is_an_error_at_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with served_hub(tmp_path, reading(WITH_TOKEN, endpoint=Endpoint("127.0.0.1", port))) as hub:
            with pytest.raises(TooltrayError, match=f"another program uses port {port}") as raised:
                await hub.listener.start()
            assert "addr" in raised.value.problem.hint
            assert FILE in raised.value.problem.title


async def test_a_taken_port_is_a_problem_while_the_hub_runs_and_the_file_can_be_put_right(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(WITH_TOKEN)) as hub:
        await hub.listener.start()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            hub.now(reading(WITH_TOKEN, endpoint=Endpoint("127.0.0.1", taken.getsockname()[1])))
            await settled(hub)
            (problem,) = hub.listener.problems
            assert "another program uses port" in problem.message
            assert await hub.heard.event(ProblemReported, problem=problem)
        port = free_port()
        hub.now(reading(WITH_TOKEN, endpoint=Endpoint("127.0.0.1", port)))
        await settled(hub)
        assert (hub.port, hub.listener.problems) == (port, ())


async def test_another_address_moves_the_endpoint(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(WITH_TOKEN)) as hub:
        await hub.listener.start()
        before = hub.client()
        await before.initialize(path="/fetch/", headers={"Authorization": "t"})
        port = free_port()
        hub.now(reading(WITH_TOKEN, endpoint=Endpoint("127.0.0.1", port, "/x")))
        await hub.clients.dispatchers[0].closed.wait()
        await settled(hub)
        assert hub.port == port
        assert await hub.client().initialize(path="/x/fetch/", headers={"Authorization": "t"})
        with pytest.raises(aiohttp.ClientConnectionError):
            await before.ask("GET", "/fetch/")


async def test_a_file_without_an_endpoint_closes_it_and_one_that_is_not_understood_does_not(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(WITH_TOKEN)) as hub:
        await hub.listener.start()
        port = hub.port
        hub.files.readings = (FileReading(FILE, "tbxark", "2", is_understood=False),)
        await settled(hub)
        assert hub.port == port
        hub.now(FileReading(FILE, "tbxark"))
        await settled(hub)
        assert (hub.port, hub.listener.url(FILE), hub.files.endpoints) == (0, "", {})


async def test_servers_that_are_switched_off_have_no_path(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(entry("off", disable=True), WITH_TOKEN)) as hub:
        await hub.listener.start()
        assert (await hub.client().ask("GET", "/off/")).status == 404
        assert [line for line in hub.listener.startup_lines if "/off/" in line] == []


async def test_an_end_is_an_end_and_a_change_that_comes_behind_it_opens_nothing(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(WITH_TOKEN)) as hub:
        await hub.listener.start()
        await hub.listener.stop_taking()
        await hub.listener.close()
        await hub.listener.close()
        hub.now(reading(WITH_TOKEN, entry("new", tokens=("t",))))
        await settled(hub)
        assert (hub.port, hub.listener.url(FILE)) == (0, "")
