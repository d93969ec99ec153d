"""How tools are shown to AI clients: `tooltray sessions`, `clients modes|mode`, `servers lazy`, `tools override`.

Above it: run. Below it: a hub; one is started where none runs.
"""

import argparse
import contextlib
from typing import Any

from tooltray.cli.hub import started_hub
from tooltray.cli.terminal import clean_line, print_json, print_note, print_table
from tooltray.config.home import Home
from tooltray.errors import TooltrayError

EVERY = "*"
"""In the place of a client's or a server's name: all of them."""
DEFAULT = "default"
OVERRULED = "It is of no effect while another mode is chosen for all AI clients. To take that back: tooltray clients mode '*' default"
_LAZY = {"on": True, "off": False, DEFAULT: None}


def sessions(args: argparse.Namespace, home: Home) -> int:
    found = _call(home, "get_sessions")
    if args.json:
        print_json(found)
    elif found:
        print_table(("SESSION", "CLIENT", "SHOWN", "PROFILE", "PROJECT", "ACTIVATED", "WHY"), [_session_row(each) for each in found])
    else:
        print("No AI client has a session now.")
    return 0


def modes(args: argparse.Namespace, home: Home) -> int:
    found = _call(home, "get_client_modes")
    if args.json:
        print_json(found)
    else:
        print_table(("CLIENT", "NAMES ITSELF", "MODE", "SHOWN", "PROFILE", "WHY"), [_mode_row(each) for each in found])
    return 0


def mode(args: argparse.Namespace, home: Home) -> int:
    """Chooses how tools are shown to one kind of client, and which profile it gets; what is not given stays."""
    client = "" if args.client == EVERY else args.client
    profile = "" if args.no_profile else args.profile
    if args.mode is None and profile is None:
        raise TooltrayError("There is nothing to choose", hint="Give a MODE, --profile NAME or --no-profile")
    if profile is not None and not client:
        raise TooltrayError("A profile is given to one AI client", hint="Name it as `tooltray clients modes` does")
    with contextlib.closing(started_hub(home)) as hub:
        if profile is not None:
            hub.call("set_client_profile", client=client, profile=profile)
        if args.mode is not None:
            hub.call("set_client_mode", client=client, mode="" if args.mode == DEFAULT else args.mode)
        found = hub.call("get_client_modes")
    now = next((each for each in found if each["client"] == client), None)
    if args.json:
        print_json(now or {"client": args.client, "mode": args.mode})
    elif now:
        print(clean_line(f"{now['title']} sees: {now['shown_mode']} ({now['reason']}), profile: {now['profile'] or 'none'}."))
    else:
        print(f"Chosen for {clean_line(client) or 'all AI clients that have no mode of their own'}.")
    return 0


def lazy(args: argparse.Namespace, home: Home) -> int:
    server = None if args.name == EVERY else args.name
    with contextlib.closing(started_hub(home)) as hub:
        hub.call("set_lazy_load", enabled=_LAZY[args.switch], server=server)
        servers = [each for each in hub.call("get_snapshot")["servers"] if server in (None, each["name"])]
    if args.json:
        print_json({"server": server, "lazy": _LAZY[args.switch]})
        return 0
    default = "shows its tools at once" if server is None else "does as is set for all servers"
    words = {"on": "shows its tools when it is activated", "off": "shows its tools at once", DEFAULT: default}
    print(f"{'Every server that does not say otherwise' if server is None else clean_line(server)} {words[args.switch]}.")
    if args.switch == "on" and servers and not any(each.get("is_lazy", True) for each in servers):
        print_note(OVERRULED)
    return 0


def override(args: argparse.Namespace, home: Home) -> int:
    """Shows a tool under another name or with another description; what is not given stays."""
    if not args.clear and args.name is None and args.description is None:
        raise TooltrayError("There is nothing to change", hint="Give --name, --description or --clear")
    with contextlib.closing(started_hub(home)) as hub:
        entry = hub.call("get_mcp_servers").get(args.server)
        before = {} if args.clear else ((entry or {}).get("toolOverrides") or {}).get(args.tool) or {}
        name = before.get("name") if args.name is None else args.name
        description = before.get("description") if args.description is None else args.description
        hub.call("set_tool_override", server=args.server, tool=args.tool, name=name, description=description)
    if args.json:
        print_json({"server": args.server, "tool": args.tool, "name": name, "description": description})
        return 0
    tool = clean_line(f"{args.tool} of {args.server}")
    if name is None and description is None:
        print(f"{tool} has its own name and description again.")
        return 0
    shown = f"as {name}" if name else "under its own name"
    print(f"{tool} is shown {shown}{', with your description' if description is not None else ''}.")
    return 0


def _call(home: Home, verb: str, **params: Any) -> Any:
    with contextlib.closing(started_hub(home)) as hub:
        return hub.call(verb, **params)


def _session_row(session: dict[str, Any]) -> list[str]:
    client = f"{session['client'] or '?'} {session['version']}".strip() + ("" if session["is_connected"] else " (left)")
    project = session["project"]["path"] if session["project"] else "-"
    only = f" ({session['server']} only)" if session["server"] else ""
    activated = ", ".join(session["activated"]) or "-"
    return [session["id"], client, session["mode"] + only, session["profile"] or "-", project, activated, session["reason"]]


def _mode_row(client: dict[str, Any]) -> list[str]:
    title = client["title"] + ("" if client["is_seen"] else " (not seen)")
    return [title, client["client"] or EVERY, client["mode"] or DEFAULT, client["shown_mode"], client["profile"] or "-", client["reason"]]
