"""An AI client with a hub in front of it, as the suite's client scenarios want one: the hub is what reaches the scenario's server.

Usage: python tests/conformance/hub_as_client.py URL     started by the suite, which says in the environment what it is about

A hub with that URL as its only server, a bridge, and a client that lists everything, calls every tool, and answers what it is asked with
defaults. Exit code 0 if all of it came to an end; what was right, the suite's server says.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.conformance.targets import NAME, start_hub
from tests.end2end.processes import Program, World, new_world, wait_until

CAPABILITIES: dict[str, Any] = {"sampling": {}, "elicitation": {}, "roots": {}}
CLIENT = {"name": "conformance-client", "version": "1"}
META = "io.modelcontextprotocol/"
OF_TYPE = {"string": "x", "integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}
READS = {"prompts": ("prompts/list", "prompts/get", "name"), "resources": ("resources/list", "resources/read", "uri")}
"""By capability: what lists, what gets one of them, and what that is called by."""


class Client:
    """In the era of a wire, over a bridge."""

    def __init__(self, bridge: Program, wire: str) -> None:
        self._bridge, self._wire = bridge, wire
        self._is_modern = wire >= "2026"
        self._last_id = 0

    def open(self) -> dict[str, Any]:
        """Returns the server's capabilities."""
        if self._is_modern:
            return self._capabilities(self.request("server/discover", {}))
        hello = {"protocolVersion": self._wire, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
        reply = self.request("initialize", hello)
        self._bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self._capabilities(reply)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Sends a request as often as it takes to answer what the server wants to know first; returns its whole reply."""
        reply = self._exchange(method, params)
        result = reply.get("result", {})
        if result.get("resultType") != "input_required":
            return reply
        answers = {key: answer(question) for key, question in result.get("inputRequests", {}).items()}
        state = {"requestState": result["requestState"]} if "requestState" in result else {}
        return self.request(method, {**params, "inputResponses": answers} | state)

    def _exchange(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        self._bridge.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params | self._envelope()})
        while True:
            message: dict[str, Any] = self._bridge.read()
            if "method" not in message and message.get("id") == self._last_id:
                return message
            if "method" in message and "id" in message:
                self._bridge.send({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)})

    def _envelope(self) -> dict[str, Any]:
        members = {"protocolVersion": self._wire, "clientInfo": CLIENT, "clientCapabilities": CAPABILITIES}
        return {"_meta": {f"{META}{name}": value for name, value in members.items()}} if self._is_modern else {}

    @staticmethod
    def _capabilities(reply: dict[str, Any]) -> dict[str, Any]:
        return dict(reply.get("result", {}).get("capabilities", {}))


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The result of a server's request: roots, a model's word, or a form that takes every default."""
    match question["method"]:
        case "roots/list":
            return {"roots": []}
        case "sampling/createMessage":
            return {"role": "assistant", "model": "none", "content": {"type": "text", "text": "x"}}
        case "elicitation/create":
            return {"action": "accept", "content": filled(question["params"].get("requestedSchema", {}), only_required=False)}
    return {}


def filled(schema: dict[str, Any], *, only_required: bool = True) -> dict[str, Any]:
    """An object for a schema: each member's default, or something of its type."""
    members = schema.get("properties", {})
    wanted = schema.get("required", []) if only_required else members
    return {name: members[name].get("default", OF_TYPE.get(members[name].get("type"))) for name in wanted if name in members}


def calls(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What to call: what the suite says, or every tool that is listed, with something in every required argument."""
    listed = {tool["name"]: tool.get("inputSchema", {}) for tool in tools}
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    if "toolCalls" in context:
        return [call for call in context["toolCalls"] if call["name"] in listed]
    chosen = {name: filled(schema) for name, schema in listed.items()}
    if "json_schema_echo" in chosen:  # it wants to see what arrived of another tool's schema
        chosen["json_schema_echo"] = {"schema": listed["json_schema_2020_12_tool"]}
    return [{"name": name, "arguments": arguments} for name, arguments in chosen.items()]


def use(client: Client) -> None:
    capabilities = client.open()
    tools = client.request("tools/list", {}).get("result", {}).get("tools", [])
    for call in calls(tools):
        client.request("tools/call", call)
    for capability, (lists, gets, key) in READS.items():
        if capability in capabilities:
            found = client.request(lists, {}).get("result", {}).get(capability, [])
            if found:
                client.request(gets, {key: found[0][key]})


def run(world: World, url: str) -> None:
    start_hub(world, {"type": "http", "url": url, "isolation": "session"})
    wait_until(
        lambda: world.servers()[NAME]["state"] == "running", "the hub's own session, which has its stream before the client's first call"
    )
    bridge = world.start_bridge("--server", NAME)
    use(Client(bridge, os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]))


if __name__ == "__main__":
    with new_world() as fresh:
        run(fresh, sys.argv[1])
