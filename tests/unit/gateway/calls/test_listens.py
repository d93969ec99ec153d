"""listens.py: what modern AI clients want to hear of extensions."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, entry, hub_parts, settled, started_parts
from tests.fakes.modern_subscriptions import SUBSCRIPTION_ID, acknowledging, listenable, wanted
from tests.fakes.scripted_server import ScriptedServer, error, never

from tooltray.gateway.calls import listens
from tooltray.protocol.envelope import dump, load

ID = Raw(b'"l"')


def speaking(*extensions: str, honored: Any = lambda wanted: wanted, eras: tuple[str, ...] = ("modern",)) -> ScriptedServer:
    program = listenable(capabilities={"extensions": {name: {} for name in extensions}}, eras=eras)
    program.handlers["subscriptions/listen"] = acknowledging(honored)
    if eras == ("legacy",):
        del program.handlers["server/discover"]
    return program


def served(**programs: ScriptedServer) -> dict[str, Any]:
    return {"servers": {name: entry(name) for name in programs}, "programs": programs}


class Heard:
    """What one listen of a client hears."""

    def __init__(self, parts: HubParts, client: Client | None = None) -> None:
        self.listens, self.client = parts.extension_listens, client or parts.client()
        self.told: list[tuple[str, Any]] = []

    async def open(self, server: str | None = None, **asked: Any) -> dict[str, Any]:
        params = dump({"notifications": asked, "_meta": {**MODERN_META, "progressToken": 1}})
        tell = lambda method, params: self.told.append((method, load(params)))  # noqa: E731
        honored = await self.listens.open(self.client, ID, params, server=server, tell=tell)
        return dict(honored)


async def test_what_a_listen_asks_of_extensions_goes_to_the_servers_that_have_some_and_their_news_come_back(tmp_path: Path) -> None:
    a, b = speaking("x/foo", honored=lambda wanted: {"fooIds": wanted["fooIds"][:1], "more": 1}), speaking("x/bar", honored=lambda _: 5)
    ui, legacy = speaking("io.modelcontextprotocol/ui"), speaking("x/foo", eras=("legacy",))
    async with hub_parts(tmp_path, **served(a=a, b=b, ui=ui, legacy=legacy)) as parts:
        for name in ("a", "b", "ui", "legacy"):
            await parts.servers.start(name)
        heard = Heard(parts)
        asked = {"fooIds": ["1", "2"], "toolsListChanged": True, "taskIds": ["t"]}
        assert await heard.open(**asked) == {"fooIds": ["1"]}
        assert [wanted(program) for program in (a, b, ui, legacy)] == [[{"fooIds": ["1", "2"]}]] * 2 + [[], []]
        [request] = [each for each in a.asked.all if each.method == "subscriptions/listen"]
        assert request.params["_meta"] == MODERN_META
        a.copy.notify("notifications/foo", {"id": "1", "_meta": {SUBSCRIPTION_ID: request.id}})
        a.copy.notify("notifications/foo", {"id": "2", "_meta": {SUBSCRIPTION_ID: 999}})
        a.copy.notify("notifications/subscriptions/acknowledged", {"_meta": {SUBSCRIPTION_ID: request.id}})
        await settled()
        assert heard.told == [("notifications/foo", {"id": "1", "_meta": {SUBSCRIPTION_ID: request.id}})]
        [running, *_] = [client for client in parts.servers.running_clients() if client.name == "a"]
        assert heard.listens.has(running, dump({"_meta": {SUBSCRIPTION_ID: request.id}}))
        assert not heard.listens.has(running, dump({"_meta": {SUBSCRIPTION_ID: 999}}))
        heard.listens.close(heard.client, ID)
        heard.listens.close(heard.client, ID)
        assert (await a.cancelled.wait()).id == request.id


async def test_a_session_of_one_server_asks_that_one_whatever_extensions_it_has(tmp_path: Path) -> None:
    a, b = speaking("io.modelcontextprotocol/ui"), speaking("x/foo")
    async with started_parts(tmp_path, "a", **served(a=a, b=b)) as parts:
        await parts.servers.start("b")
        assert await Heard(parts).open("a", later=[1]) == {"later": [1]}
        assert (wanted(a), wanted(b)) == ([{"later": [1]}], [])


async def test_a_server_that_starts_later_is_asked_then_and_one_that_refuses_or_ends_is_no_failure(tmp_path: Path) -> None:
    a, b, c, ui = speaking("x/foo"), speaking("x/bar"), speaking("x/zap"), speaking("io.modelcontextprotocol/ui")
    b.handlers["subscriptions/listen"] = lambda copy, params: error(-32602, "of what?")
    c.handlers["subscriptions/listen"] = lambda copy, params: {"resultType": "complete"}
    async with started_parts(tmp_path, "b", **served(a=a, b=b, c=c, ui=ui)) as parts:
        await parts.servers.start("c")
        heard = Heard(parts)
        assert await heard.open(fooIds=["1"]) == {}
        await parts.servers.start("ui")
        await parts.servers.start("a")
        first = await a.request("subscriptions/listen")
        await parts.servers.restart("a")
        again = await a.request("subscriptions/listen", count=2)
        await settled()
        again.copy.notify("notifications/foo", {"_meta": {SUBSCRIPTION_ID: again.id}})
        await settled()
        assert [method for method, _ in heard.told] == ["notifications/foo"]
        assert first.copy is not again.copy
        assert wanted(ui) == []


async def test_an_acknowledgement_without_a_word_acknowledges_nothing_and_where_nobody_runs_nobody_is_asked(tmp_path: Path) -> None:
    a, legacy = speaking("x/foo"), speaking("x/foo", eras=("legacy",))

    async def listen(copy: Any, params: Any) -> Any:
        copy.notify("notifications/subscriptions/acknowledged", {"_meta": {SUBSCRIPTION_ID: a.asked.all[-1].id}})
        await never(copy, params)

    a.handlers["subscriptions/listen"] = listen
    async with hub_parts(tmp_path, **served(a=a, legacy=legacy)) as parts:
        heard, other = Heard(parts), Heard(parts)
        assert await heard.open(fooIds=["1"]) == {}
        await parts.servers.start("legacy")
        await parts.servers.start("a")
        await a.request("subscriptions/listen")
        assert await other.open(fooIds=["1"]) == {}
        assert len(wanted(a)) == 2


async def test_a_listen_that_asks_nothing_of_extensions_or_too_much_asks_nobody(tmp_path: Path) -> None:
    a = speaking("x/foo")
    async with started_parts(tmp_path, "a", **served(a=a)) as parts:
        heard = Heard(parts)
        assert await heard.open(toolsListChanged=True) == await heard.open(fooIds=["x" * 70_000]) == {}
        assert wanted(a) == []


async def test_a_server_that_does_not_acknowledge_in_time_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listens, "ACKNOWLEDGED_WITHIN_S", 0.0)
    a = speaking("x/foo")
    a.hold("subscriptions/listen")
    async with started_parts(tmp_path, "a", **served(a=a)) as parts:
        assert await Heard(parts).open(fooIds=["1"]) == {}


async def test_a_client_that_gives_up_before_a_server_has_acknowledged_leaves_nothing_behind(tmp_path: Path) -> None:
    a = speaking("x/foo")
    a.hold("subscriptions/listen")
    async with started_parts(tmp_path, "a", **served(a=a)) as parts:
        heard = Heard(parts)
        opening = parts.keeper.spawn(heard.open(fooIds=["1"]), name="open")
        await a.request("subscriptions/listen")
        opening.cancel()
        await asyncio.wait({opening})
        heard.listens.close(heard.client, ID)
        await a.cancelled.wait()
