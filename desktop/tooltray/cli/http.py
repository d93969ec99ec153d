"""`tooltray http on|off|status`: whether AI clients may connect over HTTP, and what to paste into their configs.

Above it: run. Below it: a hub, or the settings where none runs.
"""

import argparse
import contextlib
import json
from typing import Any

from tooltray.cli.http_api import api_words
from tooltray.cli.hub import hub_or_settings
from tooltray.cli.terminal import clean_line, print_json, problem_line
from tooltray.control.control_client import Hub
from tooltray.home.home import Home

TOKEN_HERE = "TOKEN"  # where a person puts what `clients token` showed


def on(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        status = hub.call("set_http_enabled", enabled=True, **({} if args.port is None else {"port": args.port}))
        return _show(args, hub, status)


def off(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        return _show(args, hub, hub.call("set_http_enabled", enabled=False))


def status(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        return _show(args, hub, hub.call("get_http_status"))


def _show(args: argparse.Namespace, hub: Hub, status: dict[str, Any]) -> int:
    url = status["url"]
    entry = http_entry(url, requires_token=status["requires_token"]) if url else None
    if args.json:
        print_json(status | {"entry": entry})
        return 0
    words = _words(status, is_hub_running=hub.is_running)
    print("\n".join(words + (api_words(status, is_hub_running=hub.is_running) if status["is_api_enabled"] else [])))
    if entry:
        print(f"Paste this into the config of an AI client:\n{json.dumps(entry, indent=2)}")
        print(f"One server alone, under its own tool names: {url.removesuffix('/mcp')}/servers/NAME/mcp")
        if status["requires_token"]:
            print(f"Put a token in the place of {TOKEN_HERE}; make one for each AI client with: tooltray clients token NAME")
    return 0


def _words(status: dict[str, Any], *, is_hub_running: bool) -> list[str]:
    if not status["is_enabled"]:
        return ["AI clients cannot connect over HTTP. Switch it on with: tooltray http on"]
    if status["is_open"]:
        return [f"AI clients can connect over HTTP: {clean_line(status['url'])}"]
    if is_hub_running:
        return ["HTTP is switched on, and is not open.", problem_line(status["problem"])]
    return ["HTTP is switched on; it opens when a hub runs. Start one with: tooltray serve"]


def http_entry(url: str, *, requires_token: bool) -> dict[str, Any]:
    """The entry in the form that most AI clients read."""
    entry: dict[str, Any] = {"type": "http", "url": url}
    if requires_token:
        entry["headers"] = {"Authorization": f"Bearer {TOKEN_HERE}"}
    return {"mcpServers": {"tooltray": entry}}
