"""`tooltray profiles list|set|remove`: named sets of servers and tools.

Above it: run. Below it: a hub; one is started where none runs.
"""

import argparse
import contextlib
from typing import Any

from tooltray.cli.hub import started_hub
from tooltray.cli.known_names import warn_of_missing
from tooltray.cli.overridden import check_effect
from tooltray.cli.terminal import clean_line, count, print_json, print_note, print_table
from tooltray.home.home import Home

EVERY = "*"
"""In the place of a server's name: all servers."""


def list_profiles(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(started_hub(home)) as hub:
        profiles = hub.call("get_profiles")
    if args.json:
        print_json(profiles)
    elif profiles:
        print_table(("PROFILE", "TOOLS", "SERVERS", "DESCRIPTION"), [_row(each) for each in profiles])
    else:
        print("There are no profiles. Make one with: tooltray profiles set NAME --server SERVER")
    return 0


def set_profile(args: argparse.Namespace, home: Home) -> int:
    """Adds a profile, or replaces it as a whole."""
    tools: dict[str, list[str]] = {}
    for server, tool in args.tool:
        tools.setdefault(server, []).append(tool)
    named = list(dict.fromkeys((*args.server, *tools)))  # who names a tool wants its server, and no other one by that
    profile = {"servers": None if EVERY in named else named, "tools": tools, "description": args.description}
    given = {key: value for key, value in profile.items() if value}
    with contextlib.closing(started_hub(home)) as hub:
        hub.call("set_profile", name=args.name, profile=given)
        warn_of_missing(hub, given.get("servers") or tools, tools)
        found = [each for each in hub.call("get_profiles") if each["name"] == args.name]
        check_effect(hub, f"The profile {clean_line(args.name)}", counts=bool(found))
        made = found[0]
    if args.json:
        print_json(made)
        return 0
    servers = "all servers" if made["servers"] is None else ", ".join(map(clean_line, made["servers"])) + " and Tooltray itself"
    print(f"The profile {clean_line(args.name)} has {count(made['tool_count'], 'tool')} now, of {servers}.")
    print_note(f"An AI client gets it with `tooltray-bridge --profile NAME`, or by: tooltray clients mode CLIENT --profile {args.name}")
    return 0


def remove(args: argparse.Namespace, home: Home) -> int:
    """Removes a profile that no kind of client is to have; sessions that asked for it by themselves see nothing from then on."""
    with contextlib.closing(started_hub(home)) as hub:
        hub.call("remove_profile", name=args.name)
        users = [each for each in hub.call("get_sessions") if each["profile"] == args.name and each["is_connected"]]
    if args.json:
        print_json({"profile": args.name, "removed": True, "sessions": [each["id"] for each in users]})
        return 0
    print(f"The profile {clean_line(args.name)} is removed.")
    if users:
        who = ", ".join(f"{each['client'] or '?'} ({each['id']})" for each in users)
        print_note(f"Careful: these sessions asked for it and see no tools now: {who}. They do again once there is a profile of this name.")
    return 0


def _row(profile: dict[str, Any]) -> list[str]:
    servers = "all" if profile["servers"] is None else ", ".join(profile["servers"]) or "none"
    parts = [f"{len(tools)} of {server}" for server, tools in profile["tools"].items()]
    only = f" (only {', '.join(parts)})" if parts else ""
    return [profile["name"], str(profile["tool_count"]), servers + only, profile["description"]]
