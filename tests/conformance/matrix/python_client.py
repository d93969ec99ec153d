"""The scenarios on the `mcp` SDK's client: one connection for each line of stdin, one line of stdout with all that it observed.

Usage: python_client.py     stdin: {"era": "legacy" or "modern", "command": [...] or "url": ..., "prefix": ..., "server": ...}

`prefix` and `server` are said where all servers stand on one endpoint: what the name of a tool begins with, and whose URIs are meant.
`typescript_client.mjs` does the same on the other SDK; what they print is compared by `comparison.py`.
"""

import asyncio
import contextlib
import json
import os
import sys
import warnings
from pathlib import Path
from urllib.parse import quote

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

SCENARIOS = json.loads(Path(__file__).with_name("scenarios.json").read_bytes())
HEAR_S = 10.0  # for what a scenario says is heard, on a busy machine
STEP_S = 30.0
LEVEL = "io.modelcontextprotocol/logLevel"
LISTS = {ToolsListChanged: "tools", PromptsListChanged: "prompts", ResourcesListChanged: "resources"}
CHANGES = {
    types.ToolListChangedNotification: "tools",
    types.PromptListChangedNotification: "prompts",
    types.ResourceListChangedNotification: "resources",
}
MEMBERS = {"tools": "tools", "prompts": "prompts", "resources": "resources", "templates": "resourceTemplates"}
OF_TYPE = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": []}


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)


class Peer:
    """What one connection sees."""

    def __init__(self, target):
        self.target = target
        self.is_modern = target["era"] == "modern"
        self.heard = []
        self.news = asyncio.Condition()
        self.level = None
        self.watching = contextlib.AsyncExitStack()
        self.is_watching = False
        self.client = None

    def name(self, original):
        return self.target.get("prefix", "") + original

    def uri(self, original):
        server = self.target.get("server")
        return f"tooltray://{server}/{quote(original, safe='{}')}" if server else original

    # what its server asks and tells

    async def note(self, **event):
        async with self.news:
            self.heard.append(event)
            self.news.notify_all()

    async def elicit(self, context, params):
        await self.note(asked="elicitation", params=asked(params))
        if params.message in ("decline", "cancel"):
            return types.ElicitResult(action=params.message)
        schema = getattr(params, "requested_schema", None)
        return types.ElicitResult(action="accept", content=filled(schema)) if schema else types.ElicitResult(action="accept")

    async def sample(self, context, params):
        await self.note(asked="sampling", params=asked(params))
        answer = types.TextContent(type="text", text=params.messages[0].content.text.upper())
        return types.CreateMessageResult(role="assistant", content=answer, model="none", stop_reason="endTurn")

    async def roots(self, context):
        await self.note(asked="roots")
        return types.ListRootsResult(roots=[types.Root(uri="file:///projects/one", name="project")])

    async def log(self, params):
        await self.note(log=params.level, logger=params.logger, data=params.data)

    async def progress(self, done, total, message):
        await self.note(progress=done, total=total, message=message)

    async def take(self, message):
        if self.is_modern or not self.is_watching:
            return  # a modern client hears of changes by what it listens to
        if isinstance(message, types.ResourceUpdatedNotification):
            await self.note(updated=str(message.params.uri))
        elif change := CHANGES.get(type(message)):
            await self.note(changed=change)

    async def hear(self, count):
        with contextlib.suppress(TimeoutError):  # what is missing is seen by the comparison
            async with asyncio.timeout(HEAR_S), self.news:
                await self.news.wait_for(lambda: len(self.heard) >= count)

    # steps

    async def do(self, step):
        already = len(self.heard)
        try:
            async with asyncio.timeout(STEP_S):
                outcome = await self.step(step)
            await self.hear(already + step.get("hears", 0))
        except MCPError as error:
            outcome = {"error": {"code": error.error.code, "message": error.error.message, "data": error.error.data}}
        except (ValueError, LookupError, RuntimeError, TimeoutError) as error:
            outcome = {"failed": f"{type(error).__name__}: {error}"}
        return outcome

    async def step(self, step):
        arguments = {key: KEY if value == "$key" else value for key, value in step.get("arguments", {}).items()}
        match step:
            case {"about": _}:
                return self.about()
            case {"list": kind}:
                return await self.list(kind, step.get("cursor"))
            case {"listed": kind, "name": name, "is": wanted}:
                return await self.listed(kind, {name, self.name(name)}, wanted)
            case {"call": name}:
                return plain(await self.call(name, arguments, step.get("meta")))
            case {"cancel": name}:
                return await self.cancel(name)
            case {"get": name}:
                return plain(await self.client.get_prompt(self.name(name), arguments))
            case {"read": uri}:
                return plain(await self.client.read_resource(self.uri(uri)))
            case {"complete": name}:
                return await self.complete(types.PromptReference(type="ref/prompt", name=self.name(name)), step)
            case {"completeTemplate": uri}:
                return await self.complete(types.ResourceTemplateReference(type="ref/resource", uri=self.uri(uri)), step)
            case {"request": method}:
                return plain(await self.client.session.send_request(types.Request(method=method, params=None), types.EmptyResult))
            case {"level": level}:
                return await self.set_level(level)
            case {"watch": uris}:
                return await self.watch([self.uri(uri) for uri in uris])
            case {"unwatch": uris}:
                return await self.unwatch([self.uri(uri) for uri in uris])
            case {"ping": _}:
                return plain(await self.client.send_ping())
        raise ValueError(f"no such step: {step}")

    def about(self):
        found = self.client.session.discover_result or self.client.session.initialize_result
        return plain(found)

    async def list(self, kind, cursor=None):
        method = {"templates": "resource_templates"}.get(kind, kind)
        items = []
        while True:
            result = plain(await getattr(self.client, f"list_{method}")(cursor=cursor))
            items += result.pop(MEMBERS[kind])
            if not (cursor := result.pop("nextCursor", None)):
                return {"items": items, "rest": result}

    async def listed(self, kind, names, wanted):
        """Whether one of the names is listed; looks again after each event until it is as wanted, or nothing is heard any more."""
        while True:
            already = len(self.heard)
            found = any(entry["name"] in names for entry in (await self.list(kind))["items"])
            if found is wanted:
                return found
            await self.hear(already + 1)
            if len(self.heard) == already:
                return found

    async def call(self, name, arguments, meta=None):
        meta = {**(meta or {}), **({LEVEL: self.level} if self.level and self.is_modern else {})}
        return await self.client.call_tool(self.name(name), arguments, progress_callback=self.progress, meta=meta or None)

    async def cancel(self, name):
        already = len(self.heard)
        task = asyncio.create_task(self.call(name, {"key": KEY}))
        await self.hear(already + 1)
        task.cancel()
        await asyncio.wait([task])
        return "cancelled" if task.cancelled() else repr(task.exception() or task.result())

    async def complete(self, ref, step):
        name, value = step["argument"]
        return plain(await self.client.complete(ref, {"name": name, "value": value}, context_arguments=step.get("context")))

    async def set_level(self, level):
        self.level = level
        if not self.is_modern:
            await self.client.set_logging_level(level or "debug")

    async def watch(self, uris):
        self.is_watching = True
        if not self.is_modern:
            for uri in uris:
                await self.client.subscribe_resource(uri)
            return
        kinds = {} if uris else {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}
        self.watching = contextlib.AsyncExitStack()
        subscription = await self.watching.enter_async_context(self.client.listen(resource_subscriptions=uris, **kinds))
        self.watching.callback(asyncio.create_task(self.listen(subscription)).cancel)

    async def listen(self, subscription):
        async for event in subscription:
            if isinstance(event, ResourceUpdated):
                await self.note(updated=str(event.uri))
            else:
                await self.note(changed=LISTS[type(event)])

    async def unwatch(self, uris):
        if not self.is_modern:
            for uri in uris:
                await self.client.unsubscribe_resource(uri)
        await self.watching.aclose()

    # all of it

    async def run(self):
        hooks = {"elicitation_callback": self.elicit, "sampling_callback": self.sample, "list_roots_callback": self.roots}
        hooks |= {"logging_callback": self.log, "message_handler": self.take}
        mode = "auto" if self.is_modern else "legacy"
        observed = {}
        async with Client(self.server(), mode=mode, cache=None, **hooks) as self.client:
            for scenario in SCENARIOS:
                if scenario.get("era", self.target["era"]) == self.target["era"]:
                    observed[scenario["name"]] = await self.observe(scenario)
        return observed

    async def observe(self, scenario):
        self.heard = []
        outcomes = [await self.do(step) for step in scenario["steps"]]
        self.is_watching = False
        return {"outcomes": outcomes, "heard": self.heard}

    def server(self):
        if "url" in self.target:
            return self.target["url"]
        command, *arguments = self.target["command"]
        return StdioServerParameters(command=command, args=arguments, env=dict(os.environ))


KEY = f"python-{os.getpid()}-0"


def asked(params):
    return {key: value for key, value in plain(params).items() if key != "_meta"}


def filled(schema):
    """An accepted form: each field's default, its first choice, or something of its type."""
    return {name: field_value(field) for name, field in schema.get("properties", {}).items()}


def field_value(field):
    if "default" in field:
        return field["default"]
    if choices := field.get("enum") or [each["const"] for each in field.get("oneOf", ())]:
        return choices[0]
    return OF_TYPE[field["type"]]


async def main():
    global KEY
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # the legacy era's features are what is compared
    stdin = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    count = 0
    while line := await stdin.readline():
        count += 1
        KEY = f"python-{os.getpid()}-{count}"
        try:
            found = await Peer(json.loads(line)).run()
        except Exception as error:  # said as what this cell is: a connection that came to nothing
            found = {"failed": repr(error)}
        print(json.dumps(found), flush=True)


asyncio.run(main())
