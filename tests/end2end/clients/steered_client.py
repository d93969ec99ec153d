"""The `mcp` SDK's own client, steered line by line. Each line of stdin is a JSON object with what to `do` and its arguments; each line
of stdout is the outcome, `{"result": ...}` or `{"error": {"code", "message", "data"}}`. The first line of stdout is its era and what its
server declares. Ends with its stdin.

Usage: steered_client.py MODE COMMAND [ARG ...]   MODE: legacy or auto

What it hears is kept until it is asked for: `hear` waits for an event that has the members of `event` and gives it; `seen` gives all that
were not asked for. `start` does something meanwhile, under a `key`; `outcome` waits for it, `cancel` gives it up. `watch` hears of changes
of the lists and of some `uris`: by subscriptions in the legacy era, by one listen in the modern one; `unwatch` ends that.
It answers all questions: forms with "<message> <its mode>" in each required field, URLs with accept, sampling with the question in
capitals, and it has one root.
"""

import asyncio
import contextlib
import json
import os
import sys
import warnings

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated, SubscriptionLost, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

HEAR_S = 20.0  # for one event on a busy machine
LISTS = {ToolsListChanged: "tools", PromptsListChanged: "prompts", ResourcesListChanged: "resources"}
CHANGES = {
    types.ToolListChangedNotification: "tools",
    types.PromptListChangedNotification: "prompts",
    types.ResourceListChangedNotification: "resources",
}


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)


class Ear:
    """What was heard and not asked for yet."""

    def __init__(self):
        self.events = []
        self.changed = asyncio.Condition()

    async def note(self, **event):
        async with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def find(self, wanted):
        return next((event for event in self.events if wanted.items() <= event.items()), None)

    async def hear(self, wanted):
        try:
            async with asyncio.timeout(HEAR_S), self.changed:
                event = await self.changed.wait_for(lambda: self.find(wanted))
        except TimeoutError:
            raise LookupError(f"did not hear {wanted}, but {self.events}") from None
        self.events.remove(event)
        return event


class Steered:
    def __init__(self, mode):
        self.mode = mode
        self.ear = Ear()
        self.tasks = {}
        self.listening = contextlib.AsyncExitStack()
        self.client = None

    # what its server asks and tells

    async def elicit(self, context, params):
        form = getattr(params, "requested_schema", None)
        await self.ear.note(event="asked", kind="form" if form else "url", message=params.message, url=getattr(params, "url", None))
        if not form:
            return types.ElicitResult(action="accept")
        return types.ElicitResult(action="accept", content=dict.fromkeys(form.get("required", ()), f"{params.message} {self.mode}"))

    async def sample(self, context, params):
        words = params.messages[0].content.text
        await self.ear.note(event="asked", kind="sampling", message=words)
        answer = types.TextContent(type="text", text=words.upper())
        return types.CreateMessageResult(role="assistant", content=answer, model=self.mode)

    async def roots(self, context):
        await self.ear.note(event="asked", kind="roots")
        return types.ListRootsResult(roots=[types.Root(uri="file:///projects/one", name="project")])

    async def log(self, params):
        await self.ear.note(event="log", level=params.level, data=params.data)

    async def take(self, message):
        if self.mode != "legacy":
            return  # what a listen hears comes here too
        if isinstance(message, types.ResourceUpdatedNotification):
            await self.ear.note(event="updated", uri=str(message.params.uri))
        elif change := CHANGES.get(type(message)):
            await self.ear.note(event="changed", list=change)

    async def progress(self, done, total, message):
        await self.ear.note(event="progress", done=done, total=total, message=message)

    # what it is told to do

    async def do(self, do, key=None, **arguments):
        match do:
            case "hear":
                return await self.ear.hear(arguments["event"])
            case "seen":
                seen, self.ear.events = self.ear.events, []
                return seen
            case "start":
                self.tasks[key] = asyncio.create_task(self.do(**arguments["what"]))
                return None
            case "outcome":
                return await self.tasks.pop(key)
            case "cancel":
                self.tasks[key].cancel()
                await asyncio.wait([self.tasks.pop(key)])
                return None
            case "call":
                return plain(await self.client.call_tool(progress_callback=self.progress, **arguments))
            case "watch":
                return await self.watch(**arguments)
            case "unwatch":
                return await self.unwatch(**arguments)
            case "complete":
                kind = types.PromptReference if arguments["ref"]["type"] == "ref/prompt" else types.ResourceTemplateReference
                return plain(await self.client.complete(kind.model_validate(arguments.pop("ref")), **arguments))
        return plain(await getattr(self.client, do)(**arguments))

    async def watch(self, uris=()):
        if self.mode == "legacy":
            for uri in uris:
                await self.client.subscribe_resource(uri)
            return
        wanted = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True, "resource_subscriptions": uris}
        subscription = await self.listening.enter_async_context(self.client.listen(**wanted))
        task = asyncio.create_task(self.listen(subscription))
        self.listening.callback(task.cancel)

    async def listen(self, subscription):
        try:
            async for event in subscription:
                if isinstance(event, ResourceUpdated):
                    await self.ear.note(event="updated", uri=str(event.uri))
                else:
                    await self.ear.note(event="changed", list=LISTS[type(event)])
            await self.ear.note(event="listen ended")
        except SubscriptionLost as error:
            await self.ear.note(event="listen lost", why=str(error))

    async def unwatch(self, uris=()):
        if self.mode == "legacy":
            for uri in uris:
                await self.client.unsubscribe_resource(uri)
        await self.listening.aclose()

    async def run(self, command):
        server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        hooks = {"elicitation_callback": self.elicit, "sampling_callback": self.sample, "list_roots_callback": self.roots}
        hooks |= {"logging_callback": self.log, "message_handler": self.take}
        async with Client(server, mode=self.mode, cache=None, **hooks) as self.client, self.listening:
            session = self.client.session
            about = session.discover_result or session.initialize_result
            capabilities = about.capabilities.model_dump(by_alias=True, exclude_none=True)
            say({"era": "modern" if session.discover_result else "legacy", "capabilities": capabilities})
            stdin = asyncio.StreamReader()
            await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
            while line := await stdin.readline():
                say(await self.outcome(json.loads(line)))

    async def outcome(self, what):
        try:
            return {"result": await self.do(**what)}
        except MCPError as error:
            return {"error": {"code": error.error.code, "message": error.error.message, "data": error.error.data}}
        except (LookupError, ValueError, RuntimeError) as error:
            return {"error": {"code": 0, "message": f"{type(error).__name__}: {error}"}}


def say(value):
    print(json.dumps(value), flush=True)


warnings.simplefilter("ignore", MCPDeprecationWarning)  # the legacy era's features are what is tested
asyncio.run(Steered(sys.argv[1]).run(sys.argv[2:]))
