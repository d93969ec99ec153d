"""A stdio MCP server with every feature of the protocol, on the SDK; in both eras or in one.

Usage: featured.py ERA [NAME]   NAME: what it calls itself; ERA: both, legacy, or only modern: `modern` refuses the handshake because of
its version, `modern-32601` because it knows no such method
Tools: `about` tells its name and pid; `meta` the `_meta` of the call; `heard` what it was told: log level, subscriptions, cancelled calls;
`ask(n, kind)` asks n questions at once, `again(n)` one after the other; `steps(n)` reports progress; `wait` reports progress once and never
ends; `log` writes a message of each of three levels; `update(uri)` says that a resource has changed.
Resources: note://shared, note://{NAME}; template note://item/{id}. Prompts: greet(who), {NAME}-only.
The method example.org/echo, which nobody else knows, gives its parameters back.
SIGUSR1 adds a tool and a prompt {NAME}-newcomer and a resource note://{NAME}-newcomer, SIGUSR2 takes them away.
"""

import asyncio
import json
import os
import signal
import sys
import warnings

import mcp.types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

ERA, NAME = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "featured"
TOOLS = ["about", "meta", "heard", "ask", "again", "steps", "wait", "log", "update"]
PROMPTS = ["greet", f"{NAME}-only"]
URIS = ["note://shared", f"note://{NAME}"]
NEWCOMERS = ((TOOLS, f"{NAME}-newcomer"), (PROMPTS, f"{NAME}-newcomer"), (URIS, f"note://{NAME}-newcomer"))
CACHEABLE = ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
BUS = InMemorySubscriptionBus()
HEARD = {"level": None, "subscribed": [], "cancelled": 0}
LEGACY_SESSIONS, TASKS = [], []
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def said(words):
    return {"content": [{"type": "text", "text": words if isinstance(words, str) else json.dumps(words)}]}


def is_modern(context):
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


# lists


async def list_tools(context, params):
    return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}


async def list_resources(context, params):
    return {"resources": [{"uri": uri, "name": uri.removeprefix("note://"), "mimeType": "text/plain"} for uri in URIS]}


async def list_templates(context, params):
    return {"resourceTemplates": [{"uriTemplate": "note://item/{id}", "name": "item"}]}


async def list_prompts(context, params):
    return {"prompts": [{"name": name, "arguments": [{"name": "who", "required": True}]} for name in PROMPTS]}


async def read_resource(context, params):
    uri = str(params.uri)
    if uri not in URIS and not uri.startswith("note://item/"):
        raise MCPError(-32602 if is_modern(context) else -32002, "Resource not found", {"uri": uri})
    return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": f"{uri} of {NAME}"}]}


async def get_prompt(context, params):
    words = f"{params.name} of {NAME}: {(params.arguments or {}).get('who')}"
    return {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}


async def complete(context, params):
    values = [value for value in ("Ada", "Alan", "Grace") if value.startswith(params.argument.value)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


async def echo(context, params):
    given = {key: value for key, value in (context.params or {}).items() if key != "_meta"}
    return {"echo": given, **({"resultType": "complete"} if is_modern(context) else {})}


# what it is told


async def set_level(context, params):
    HEARD["level"] = params.level
    return {}


async def subscribe(context, params):
    HEARD["subscribed"].append(str(params.uri))
    return {}


async def unsubscribe(context, params):
    HEARD["subscribed"].remove(str(params.uri))
    return {}


# tools


async def call_tool(context, params):
    arguments = params.arguments or {}
    if params.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"no tool is called {params.name}")
    match params.name:
        case "about":
            return said({"name": NAME, "pid": os.getpid(), "era": "modern" if is_modern(context) else "legacy"})
        case "meta":
            return {**said((context.params or {}).get("_meta")), "_meta": {"example.org/kept": [1, {"two": None}]}}
        case "heard":
            return said(HEARD)
        case "ask" | "again":
            return await ask(context, arguments.get("n", 1), arguments.get("kind", "form"), together=params.name == "ask")
        case "steps":
            for step in range(arguments["n"]):
                await context.session.report_progress(step + 1, arguments["n"], f"step {step + 1}")
        case "wait":
            await wait(context)
        case "log":
            for level in ("debug", "info", "error"):
                await log(context, level, f"{level} of {NAME}")
        case "update":
            await tell_update(context, arguments["uri"])
    return said(f"{params.name} done")


async def wait(context):
    try:
        await context.session.report_progress(1, 2, "waiting")
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        HEARD["cancelled"] += 1
        raise


async def log(context, level, words):
    """Writes a message if the client wants it: by its set level in the legacy era, by its call's `_meta` in the modern one."""
    levels = ("debug", "info", "notice", "warning", "error")
    meta = (context.params or {}).get("_meta") or {}
    wanted = meta.get("io.modelcontextprotocol/logLevel") if is_modern(context) else HEARD["level"] or "debug"
    if wanted and levels.index(level) >= levels.index(wanted):
        await context.session.send_log_message(level=level, data=words, logger=NAME, related_request_id=context.request_id)


async def tell_update(context, uri):
    if is_modern(context):
        await BUS.publish(ResourceUpdated(uri))
    elif uri in HEARD["subscribed"]:
        await context.session.send_resource_updated(uri)


def change(change_list):
    for place, newcomer in NEWCOMERS:
        change_list(place, newcomer)
    TASKS.append(asyncio.create_task(tell_lists()))


async def tell_lists():
    for event in (ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()):
        await BUS.publish(event)
    for session in LEGACY_SESSIONS:
        await session.send_tool_list_changed()
        await session.send_prompt_list_changed()
        await session.send_resource_list_changed()


async def note_session(context, call_next):
    if not is_modern(context):
        LEGACY_SESSIONS[:] = [context.session]
    return await call_next(context)


# questions


def question(kind, number):
    match kind:
        case "form":
            return {"method": "elicitation/create", "params": {"mode": "form", "message": f"Question {number}?", "requestedSchema": FORM}}
        case "url":
            address = {"url": f"https://example.org/{number}", "elicitationId": f"e{number}"}
            return {"method": "elicitation/create", "params": {"mode": "url", "message": f"Question {number}?", **address}}
        case "sampling":
            message = {"role": "user", "content": {"type": "text", "text": f"Question {number}?"}}
            return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 9}}
    return {"method": "roots/list", "params": {}}


KINDS = {
    "elicitation/create": (types.ElicitRequest, types.ElicitResult),
    "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
    "roots/list": (types.ListRootsRequest, types.ListRootsResult),
}


async def ask(context, n, kind, *, together):
    """Asks the client and tells what it answered; `kind` is of one question or, as a list, of each."""
    kinds = kind if isinstance(kind, list) else [kind] * n
    asked = {f"q{number}": question(each, number) for number, each in enumerate(kinds, 1)}
    if is_modern(context):
        return ask_in_rounds(context, asked, together=together)
    if together:
        answers = await asyncio.gather(*(ask_now(context, each) for each in asked.values()))
    else:
        answers = [await ask_now(context, each) for each in asked.values()]
    return said(dict(zip(asked, answers, strict=True)))


def ask_in_rounds(context, asked, *, together):
    params = context.params or {}
    known = {**json.loads(params.get("requestState") or "{}"), **(params.get("inputResponses") or {})}
    open_keys = [key for key in asked if key not in known]
    if not open_keys:
        return {"resultType": "complete", **said({key: known[key] for key in asked})}
    now = open_keys if together else open_keys[:1]
    return {"resultType": "input_required", "inputRequests": {key: asked[key] for key in now}, "requestState": json.dumps(known)}


async def ask_now(context, asked):
    request, result = KINDS[asked["method"]]
    about = ServerMessageMetadata(related_request_id=context.request_id)
    try:
        answer = await context.session.send_request(request.model_validate(asked), result, metadata=about)
    except MCPError as error:
        return {"refused": error.error.message}
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)


# serving


def in_its_era(handle):
    async def answer(context, params):
        result = await handle(context, params)
        return {"resultType": "complete", **result} if is_modern(context) else result

    return answer


async def only_modern(context, call_next):
    if is_modern(context):
        return await call_next(context)
    if ERA == "modern-32601":
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found")
    raise MCPError(types.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", {"supported": list(MODERN_PROTOCOL_VERSIONS)})


async def main():
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # the legacy era's features are what is tested
    server = Server(
        NAME,
        version="1",
        cache_hints={method: CacheHint() for method in CACHEABLE},
        on_list_tools=in_its_era(list_tools),
        on_call_tool=in_its_era(call_tool),
        on_list_resources=in_its_era(list_resources),
        on_list_resource_templates=in_its_era(list_templates),
        on_read_resource=in_its_era(read_resource),
        on_list_prompts=in_its_era(list_prompts),
        on_get_prompt=in_its_era(get_prompt),
        on_completion=in_its_era(complete),
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=ListenHandler(BUS),
        on_set_logging_level=set_level,
    )
    if ERA.startswith("modern"):
        server.middleware.append(only_modern)
    server.add_request_handler("example.org/echo", types.RequestParams, echo)
    server.middleware.append(note_session)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, change, list.append)
    loop.add_signal_handler(signal.SIGUSR2, change, list.remove)
    options = server.create_initialization_options(NotificationOptions(True, True, True))
    async with stdio_server() as (reading, writing):
        if ERA == "legacy":  # a server from before the modern era knows nothing of its first requests
            await serve_loop(server, reading, writing, lifespan_state={}, init_options=options)
        else:
            await server.run(reading, writing, options)


asyncio.run(main())
