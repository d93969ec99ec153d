"""`tooltray tools cost`: what definitions of tools cost in a model's context, all and as they are shown.

Above it: run. Below it: a hub; one is started where none runs.
"""

import argparse
import contextlib
from typing import Any

from tooltray.cli.hub import started_hub
from tooltray.cli.terminal import clean_line, print_json, print_table
from tooltray.errors import TooltrayError
from tooltray.home.home import Home

COUNT_TIMEOUT_S = 120.0  # servers that were never listed are waited for, and then 5,000 tools are counted


def cost(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        of_session = {"session": args.session} if args.session else {}  # of which an older hub knows nothing
        costs = hub.call("get_tool_costs", timeout_s=COUNT_TIMEOUT_S, client=args.client, **of_session)
    if args.server is not None:
        costs = _of_server(costs, args.server)
    if args.json:
        print_json(costs)
        return 0
    shown = "shown now" if args.session else "shown at first"
    if args.server is None:
        print_table(("SERVER", "TOOLS", "TOKENS", shown.upper()), [_server_row(each) for each in costs["servers"]])
    else:
        tools = costs["servers"][0]["tools"]
        print_table(("TOKENS", shown.upper(), "TOOL"), [_tool_row(each) for each in sorted(tools, key=lambda each: -each["tokens"])])
    print(_summary(costs, shown))
    return 0


def _of_server(costs: dict[str, Any], name: str) -> dict[str, Any]:
    """The same of one server alone."""
    server = next((each for each in costs["servers"] if each["server"] == name), None)
    if server is None:
        raise TooltrayError(f"'{name}' offers no tools", hint="See which servers do: tooltray tools cost")
    return costs | {"servers": [server], "tokens": server["tokens"], "shown_tokens": server["shown_tokens"]}


def _summary(costs: dict[str, Any], shown: str) -> str:
    whose = clean_line(costs["client"]) or "an AI client without settings of its own"
    how = (
        "estimated by size"
        if costs["tokenizer"] == "estimate"
        else f"counted with {costs['tokenizer']}; each model's own count differs a little"
    )
    return f"The tools cost {costs['tokens']} tokens; what {whose} is {shown} costs {costs['shown_tokens']} ({how})."


def _server_row(server: dict[str, Any]) -> list[str]:
    return [server["server"], str(len(server["tools"])), str(server["tokens"]), str(server["shown_tokens"])]


def _tool_row(tool: dict[str, Any]) -> list[str]:
    return [str(tool["tokens"]), "yes" if tool["is_shown"] else "-", tool["name"]]
