"""Each message that the hub makes itself, to AI clients and to servers, is one by the protocol's own JSON Schema of its era.

What only passes through is its author's. A whole hub is asked for everything that it answers itself; its servers keep what it asks of them.
"""

import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.fakes.everything_server import server_with
from tests.fakes.fake_channel import FakeChannel, line
from tests.fakes.hub_parts import MODERN_META, HubParts, entry, hub_parts, settled
from tests.fakes.modern_subscriptions import LISTENED, acknowledging
from tests.fakes.scripted_server import ScriptedServer, text, tool

from tooltray.catalogue.second_looks import LookPatience

SCHEMAS = Path(__file__).parent.parent / "conformance" / "schema"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "prompts/list": "ListPromptsResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "completion/complete": "CompleteResult",
    "logging/setLevel": "EmptyResult",
    "tools/call": "CallToolResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}
ERRORS = {-32602: "InvalidParamsError", -32601: "MethodNotFoundError", -32022: "UnsupportedProtocolVersionError"}
HELLO = {"protocolVersion": LEGACY, "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}
AT_ONCE = {"look_patience": LookPatience(pause_s=0.0)}
ASKS = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}


@cache
def definitions(version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{version}.json").read_bytes())["$defs"]
    return found


@cache
def validator(version: str, name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions(version)})


def faults(version: str, name: str, value: Any) -> list[str]:
    """What is wrong with a value that is to be one of a definition."""
    return [f"{version} {name} at {error.json_path}: {error.message[:300]}" for error in validator(version, name).iter_errors(value)]


@cache
def definition_of(version: str, method: str) -> str:
    """The definition of a request or notification."""
    return next(
        name for name, found in definitions(version).items() if found.get("properties", {}).get("method", {}).get("const") == method
    )


class Talk:
    """An AI client of one era that has all servers, and everything it was sent."""

    def __init__(self, parts: HubParts, version: str) -> None:
        self.version, self.channel = version, FakeChannel()
        self._session = parts.sessions.open_client(None, is_lasting=version == LEGACY)
        self._session.dispatcher.attach(self.channel)
        self._methods: dict[Any, str] = {}
        self._ids = itertools.count(1)

    def send(self, method: str, **params: Any) -> int:
        if self.version == MODERN:
            params = {**params, "_meta": {**MODERN_META, **params.get("_meta", {})}}
        id = next(self._ids)
        self._methods[id] = method
        self._session.dispatcher.feed(line(id=id, method=method, params=params))
        return id

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return await self.channel.reply(self.send(method, **params))

    async def end(self) -> None:
        await self._session.dispatcher.close("over")

    def faults(self) -> Iterator[str]:
        for message in self.channel.messages:
            yield from faults(self.version, "JSONRPCMessage", message)
            if "method" in message:
                yield from faults(self.version, definition_of(self.version, message["method"]), message)
            elif "error" in message and self.version == MODERN and message["error"]["code"] in ERRORS:
                name = ERRORS[message["error"]["code"]]
                yield from faults(self.version, name, message if name.startswith("Unsupported") else message["error"])
            elif "result" in message:
                name = RESULTS[self._methods[message["id"]]]
                is_question = message["result"].get("resultType") == "input_required"
                yield from faults(self.version, "InputRequiredResult" if is_question else name, message["result"])


@contextlib.asynccontextmanager
async def hub(home: Path, programs: Mapping[str, ScriptedServer], **fields: Any) -> AsyncIterator[HubParts]:
    entries = {name: entry(name, **fields) for name in programs}
    async with hub_parts(home, servers=entries, default=tuple(programs), programs=programs, waits=AT_ONCE) as parts:
        await parts.presenter.initialize()
        for name in programs:
            await parts.offers.listed(parts.servers.get(name)).wait()
        try:
            yield parts
        finally:
            await parts.sessions.close("over", grace_s=0)


def conforming(*eras: str) -> ScriptedServer:
    """A server whose own definitions are as the schema wants them."""
    program = server_with(eras=eras)
    program.handlers["prompts/list"] = lambda copy, params: {"prompts": [{"name": "p"}]}
    program.handlers[LISTENED] = acknowledging()
    return program


async def test_a_legacy_client_gets_what_its_schema_has(tmp_path: Path) -> None:
    async with hub(tmp_path, {"one": conforming("legacy"), "two": conforming("modern")}, autoApprove=["all"]) as parts:
        talk = Talk(parts, LEGACY)
        await talk.ask("initialize", **HELLO)
        for method in ("ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list"):
            assert "result" in await talk.ask(method)
        await talk.ask("logging/setLevel", level="info")
        for method, params in {
            "tools/list": {"cursor": "x"},
            "tools/call": {"name": "no such tool"},
            "prompts/get": {"name": "no such prompt"},
            "logging/setLevel": {"level": "loud"},
            "later/method": {},
        }.items():
            assert "error" in await talk.ask(method, **params)
        assert list(talk.faults()) == []


async def test_a_modern_client_gets_what_its_schema_has(tmp_path: Path) -> None:
    async with hub(tmp_path, {"one": conforming("legacy"), "two": conforming("modern")}, autoApprove=["all"]) as parts:
        talk = Talk(parts, MODERN)
        news = talk.send("subscriptions/listen", notifications={"toolsListChanged": True, "resourceSubscriptions": ["x://1"]})
        await talk.channel.notification("notifications/subscriptions/acknowledged")
        for method in ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"):
            assert "result" in await talk.ask(method)
        for method, params in {
            "tools/list": {"cursor": "x"},
            "tools/call": {"name": "no such tool"},
            "later/method": {},
            "server/discover": {"_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}},
        }.items():
            assert "error" in await talk.ask(method, **params)
        parts.programs["one"].tools.append(tool("another"))
        parts.programs["one"].copy.notify("notifications/tools/list_changed")
        await talk.channel.notification("notifications/tools/list_changed")
        await talk.end()
        assert (await talk.channel.reply(news))["result"]["resultType"] == "complete"
        assert list(talk.faults()) == []


async def test_what_the_hub_asks_in_a_modern_client_s_result_is_as_its_schema_has_it(tmp_path: Path) -> None:
    async def ask(copy: Any, params: Any) -> Any:
        return text(str(await copy.ask("elicitation/create", {"message": "m", "requestedSchema": {"type": "object", "properties": {}}})))

    program = conforming("legacy")
    program.calls["t"] = ask
    async with hub(tmp_path, {"one": program}) as parts:  # nothing is approved: the hub asks first, and then the server
        talk = Talk(parts, MODERN)
        asked = (await talk.ask("tools/call", name="t", _meta=ASKS))["result"]
        assert asked["resultType"] == "input_required"
        assert list(talk.faults()) == []


@pytest.mark.parametrize(("era", "version"), [("legacy", LEGACY), ("modern", MODERN)])
async def test_a_server_is_asked_as_its_schema_has_it(tmp_path: Path, era: str, version: str) -> None:
    program = conforming(era)
    async with hub(tmp_path, {"one": program}, autoApprove=["all"]) as parts:
        for talk in (Talk(parts, LEGACY), Talk(parts, MODERN)):
            if talk.version == LEGACY:
                await talk.ask("initialize", **HELLO)
                await talk.ask("logging/setLevel", level="debug")
                await talk.ask("resources/subscribe", uri="x://1")
                await talk.ask("resources/unsubscribe", uri="x://1")
            await talk.ask("tools/call", name="t", arguments={"text": "x"}, _meta={"progressToken": 1})
            await talk.ask("prompts/get", name="p")
            await talk.ask("resources/read", uri="x://1")
        program.hold("tools/call")
        talk = Talk(parts, MODERN)
        talk.send("tools/call", name="t")
        await program.call("t", count=3)
        await talk.end()
        await program.cancelled.wait()
        await settled()
        sent = [(each.method, {"id": each.id, "method": each.method, "params": each.params}) for each in program.asked.all]
        others = "server/discover" if version == LEGACY else "initialize"  # how an era is found
        asked = [(method, message) for method, message in sent if method != others]
        told = [(each.method, {"method": each.method, "params": each.params}) for each in program.told.all]
        assert {method for method, _ in asked} >= {"tools/list", "prompts/get", "resources/read", "tools/call"}
        messages = [(method, {"jsonrpc": "2.0", **message}) for method, message in asked + told]
        wrong = [fault for method, message in messages for fault in faults(version, definition_of(version, method), message)]
        assert wrong == []
