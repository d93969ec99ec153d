"""`tooltray tools ...`: lists the tools as AI clients see them, calls one, and forgets the names given so far.

Above it: run. Below it: a hub; one is started where none runs.
"""

import argparse
import contextlib
import json
from typing import Any

from tooltray.cli.hub import folder_path, started_hub
from tooltray.cli.terminal import clean, count, print_json, print_table
from tooltray.control.control_client import Hub, HubSilent
from tooltray.errors import TooltrayError
from tooltray.home.home import Home

LIST_TIMEOUT_S = 60.0  # servers that were never listed are waited for


def list_tools(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        tools = hub.call("get_tools", timeout_s=LIST_TIMEOUT_S, server=args.server)
    if args.json:
        print_json(tools)
    elif tools:
        print_table(("NAME", "SERVER", "KIND", "CALLS", "DESCRIPTION"), [_row(tool) for tool in tools])
    else:
        print("There are no tools." if args.server is None else f"{args.server} has no tools.")
    return 0


def _row(tool: dict[str, Any]) -> list[str]:
    calls = "off" if not tool["is_enabled"] else "approved" if tool["is_approved"] else "refused"
    return [tool["name"], tool["server"], tool["category"], calls, tool["description"]]


def call(args: argparse.Namespace, home: Home) -> int:
    """Calls a tool and prints its result.

    Returns:
        1 where the tool says that it failed.
    """
    with contextlib.closing(started_hub(home)) as hub:
        arguments = _arguments(hub, args)
        try:
            project = {} if args.project is None else {"project": folder_path(args.project)}
            result = hub.call("call_tool", timeout_s=args.timeout, name=args.name, arguments=arguments, **project)
        except HubSilent:
            hint = "Give it more time with --timeout SECONDS"
            raise TooltrayError(f"{args.name} gave no result within {args.timeout:g} s", "The call was given up", hint) from None
    if args.json:
        print_json(result)
    else:
        _print_result(result)
    return 1 if result.get("isError") else 0


def _arguments(hub: Hub, args: argparse.Namespace) -> dict[str, Any]:
    """One JSON object, or KEY=VALUE words.

    Raises:
        TooltrayError: they are neither.
    """
    words: list[str] = args.arguments
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        try:
            value = json.loads(words[0])
        except (ValueError, RecursionError) as error:
            raise TooltrayError("The arguments are no JSON object", str(error), "Put the object in single quotes") from None
        return dict(value)
    pairs = [word.partition("=") for word in words]
    if not all(name and mark for name, mark, _ in pairs):
        raise TooltrayError("The arguments cannot be read", " ".join(words), "Give one JSON object, or KEY=VALUE words")
    if not pairs:
        return {}
    kinds = _declared_kinds(hub, args.name)
    return {name: _value(text, kinds.get(name)) for name, _, text in pairs}


def _declared_kinds(hub: Hub, tool: str) -> dict[str, Any]:
    """The JSON type of each argument where the tool declares it: `zip=12345` may be meant as text."""
    definitions = hub.call("get_all_tool_definitions", timeout_s=LIST_TIMEOUT_S, server=None)
    schema = next((each.get("inputSchema") for each in definitions if each.get("name") == tool), None)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return {}
    return {name: each.get("type") for name, each in properties.items() if isinstance(each, dict)}


def _value(text: str, kind: Any) -> Any:
    if kind == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _print_result(result: dict[str, Any]) -> None:
    content = result.get("content") or []
    for block in content:
        print(clean(_text_of(block)))
    if not content and "structuredContent" in result:
        print_json(result["structuredContent"])


def _text_of(block: dict[str, Any]) -> str:
    """A block of content as text; what is no text is named, with its size."""
    kind = block.get("type", "content")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource_link":
        return f"[link: {block.get('uri', '')}]"
    if kind == "resource":
        resource = block.get("resource", {})
        return str(resource["text"]) if "text" in resource else f"[resource: {resource.get('uri', '')}, {_size(resource.get('blob', ''))}]"
    return f"[{kind}: {block.get('mimeType', 'unknown type')}, {_size(block.get('data', ''))}]"


def _size(base64_text: str) -> str:
    return count(len(base64_text) * 3 // 4 - base64_text.count("=", -2), "byte")


def reset_names(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        hub.call("reset_tool_names")
    if args.json:
        print_json({"reset": True})
    else:
        print("The names were given anew. AI clients that allow tools by name may ask again.")
    return 0
