"""FastMCP's client: prompts, resources, completion, progress, a question, log messages. Runs in FastMCP's own environment.

Prints one JSON object. Usage: fastmcp_features.py SERVER COMMAND [ARG ...]   SERVER: the name of a server of servers/featured.py
"""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from mcp_types import PromptReference


async def main(server, command):
    heard = {"progress": [], "log": [], "asked": []}

    async def note_progress(done, total, message):
        heard["progress"].append([done, total])

    async def note_log(message):
        heard["log"].append(message.level)

    async def answer(message, response_type, params, context):
        heard["asked"].append(message)
        return ElicitResult(action="accept", content={"name": "Ada"})

    async def sample(messages, params, context):
        return messages[0].content.text.upper()

    hooks = {"log_handler": note_log, "elicitation_handler": answer, "sampling_handler": sample, "roots": ["file:///projects/one"]}
    transport = StdioTransport(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(transport, progress_handler=note_progress, **hooks) as client:
        [content] = await client.read_resource(f"note://{server}")
        got = await client.get_prompt("greet", {"who": "Ada"})
        completed = await client.complete(PromptReference(type="ref/prompt", name="greet"), {"name": "who", "value": "A"})
        await client.call_tool("steps", {"n": 2})
        asked = await client.call_tool("ask", {"kind": ["form", "sampling", "roots"]})
        await client.call_tool("log")
        found = {
            "resources": [str(resource.uri) for resource in await client.list_resources()],
            "templates": [template.uri_template for template in await client.list_resource_templates()],
            "prompts": [prompt.name for prompt in await client.list_prompts()],
            "read": content.text,
            "got": got.messages[0].content.text,
            "completed": completed.values,
            "answers": json.loads(asked.content[0].text),
        }
    print(json.dumps({**found, **heard}))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
