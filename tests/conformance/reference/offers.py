"""What the reference offers besides tools: resources, a template, prompts, and completion of their arguments.

Names, URIs and texts are fixed by the conformance suite.
"""

import json
import re
from typing import Any

import mcp.types as types
from mcp.shared.exceptions import MCPError
from questions import answers, field, form, is_modern
from tool_table import PIXEL, PROMPTS, Context, embedded, image, strings, text

NOT_FOUND_LEGACY = -32002
TEMPLATE = re.compile(r"test://template/([^/]+)/data")
SECOND = "test://second-page"
MORE = {"nextCursor": "second"}
"""What the first page of a list of two ends with."""

PEOPLE = ("Ada", "Alan", "Grace")
TEXTS = {
    "test://static-text": "This is the content of the static text resource.",
    "test://watched-resource": "Watched resource content",
    SECOND: "Found on the second page.",
}
PICTURE = "test://static-binary"


def is_second_page(params: types.PaginatedRequestParams | None) -> bool:
    """Whether the second of two pages is asked for.

    Raises:
        MCPError: there is no such page.
    """
    if params is None or params.cursor is None:
        return False
    if params.cursor != MORE["nextCursor"]:
        raise MCPError(types.INVALID_PARAMS, f"no page is called {params.cursor}")
    return True


async def list_resources(context: Context, params: types.PaginatedRequestParams | None) -> dict[str, Any]:
    if is_second_page(params):
        return {"resources": [{"uri": SECOND, "name": name_of(SECOND), "title": "On the second page", "annotations": {"priority": 0.1}}]}
    found = [{"uri": uri, "name": name_of(uri), "mimeType": "text/plain"} for uri in TEXTS if uri != SECOND]
    return {"resources": [*found, {"uri": PICTURE, "name": name_of(PICTURE), "mimeType": "image/png"}], **MORE}


async def list_templates(context: Context, params: types.PaginatedRequestParams | None) -> dict[str, Any]:
    return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}]}


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
    uri = str(params.uri)
    if uri in TEXTS:
        content = {"uri": uri, "mimeType": "text/plain", "text": TEXTS[uri]}
    elif uri == PICTURE:
        content = {"uri": uri, "mimeType": "image/png", "blob": PIXEL}
    elif match := TEMPLATE.fullmatch(uri):
        words = json.dumps({"id": match[1], "templateTest": True, "data": f"Data for ID: {match[1]}"})
        content = {"uri": uri, "mimeType": "application/json", "text": words}
    else:
        raise MCPError(types.INVALID_PARAMS if is_modern(context) else NOT_FOUND_LEGACY, "Resource not found", {"uri": uri})
    return {"contents": [content]}


def name_of(uri: str) -> str:
    return uri.removeprefix("test://")


async def list_prompts(context: Context, params: types.PaginatedRequestParams | None) -> dict[str, Any]:
    return {
        "prompts": [
            {"name": name, "description": name.replace("_", " "), "arguments": [{"name": each, "required": True} for each in arguments]}
            for name, arguments in PROMPTS.items()
        ]
    }


async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> dict[str, Any]:
    given = params.arguments or {}
    if params.name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"no prompt is called {params.name}")
    if missing := [name for name in PROMPTS[params.name] if name not in given]:
        raise MCPError(types.INVALID_PARAMS, f"missing: {', '.join(missing)}")
    match params.name:
        case "test_prompt_with_arguments":
            return prompt(text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))
        case "test_prompt_with_embedded_resource":
            resource = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return prompt(resource, text("Please process the embedded resource above."))
        case "test_prompt_with_image":
            return prompt(image(), text("Please analyze the image above."))
        case "test_input_required_result_prompt":
            found = await answers(context, user_context=form("What is it about?", strings("context")))
            return prompt(text(f"It is about {field(found['user_context'], 'context')}."))
    return prompt(text("This is a simple prompt for testing."))


def prompt(*content: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": part} for part in content]}


async def complete(context: Context, params: types.CompleteRequestParams) -> dict[str, Any]:
    """The same three people for every argument; the suite is content with anything."""
    already = (params.context.arguments if params.context else None) or {}
    values = [each for each in PEOPLE if each.startswith(params.argument.value) and each not in already.values()]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}
