"""`tooltray status`: whether a hub runs, and what it does.

Above it: run. Below it: the control channel. Never starts anything.
"""

import argparse
import shlex
import time
from collections.abc import Iterator
from typing import Any

from tooltray.cli.terminal import clean_line, count, needs_sign_in, print_json, problem_line, state_in_words
from tooltray.control.control_client import ControlClient
from tooltray.errors import TooltrayError, in_one_line
from tooltray.home.home import Home

_WAITS = ("waits", "changed")
_IN_TROUBLE = ("error", "restarting")


def status(args: argparse.Namespace, home: Home) -> int:
    """Prints it; no hub is an answer, not an error."""
    client = ControlClient.connect(home)
    if client is None:
        if args.json:
            print_json({"running": False, "home": str(home.root)})
        else:
            print(f"Tooltray is not running ({home.root}).")
        return 0
    with client:
        info, snapshot = client.call("hub/info"), client.call("get_snapshot")
        files = _files(client)
    if args.json:
        print_json({"running": True, "home": str(home.root)} | snapshot | info)
    else:
        _print(info, snapshot, home)
        for line in _waiting_lines(files):
            print(clean_line(line))
    return 0


def _files(client: ControlClient) -> list[dict[str, Any]]:
    try:
        files: list[dict[str, Any]] = client.call("get_server_files")
    except TooltrayError:  # of an older hub, which has none but the settings
        return []
    return files


def _waiting_lines(files: list[dict[str, Any]]) -> Iterator[str]:
    """Which servers of projects' own files wait for a person's yes, and how one gives it."""
    for file in files:
        if names := [entry["name"] for entry in file["entries"] if entry["state"] in _WAITS]:
            waiting = count(len(names), "server")
            yield f"{waiting} of {file['path']} can run only after a yes of yours: {', '.join(names)}. " + _look_at(file["project"])


def _look_at(project: str) -> str:
    return f"Look with: tooltray trust {shlex.quote(project)}"


def _print(info: dict[str, Any], snapshot: dict[str, Any], home: Home) -> None:
    servers = snapshot["servers"]
    running = sum(server["state"] == "running" for server in servers)
    tools = sum(server["tool_count"] for server in servers)
    clients = count(snapshot["session_count"], "AI client")
    print(f"Tooltray {info['version']} is running ({info['kind']}, pid {info['pid']}) in {home.root}.")
    print(f"Up for {_time_since(snapshot['started_at'])}; {clients} connected.")
    print(f"{count(len(servers), 'server')}, {running} running; {count(tools, 'tool')}.")
    if snapshot["is_paused"]:
        print("Paused: tools are listed, calls are refused.")
    for server in servers:
        if server.get("waiting"):
            what = "a change of it waits" if server["origin"] != "proposal" else "it waits"
            print(clean_line(f"{server['name']}: {what} for your yes. Look with: tooltray trust"))
        if server.get("origin") == "proposal":
            continue
        if server["state"] in _IN_TROUBLE:
            print(clean_line(f"{server['name']}: {in_one_line(server['state'], problem_line(server['problem']))}"))
        elif server["state"] == "needs_sign_in":
            print(clean_line(f"{server['name']}: {needs_sign_in(server['name'])}"))
        elif server["problem"] and server["state"] == "running":  # not all that it lists is offered
            print(clean_line(f"{server['name']}: {in_one_line('running', problem_line(server['problem']))}"))
        elif server["state"] == "waiting":
            print(clean_line(f"{server['name']}: {in_one_line(state_in_words('waiting'), server['detail'])}"))
    if lazy := [server["name"] for server in servers if server.get("is_lazy")]:
        print(clean_line(f"Tools are loaded on demand: {', '.join(lazy)}"))
    for notice in snapshot["notices"]:
        print(clean_line(problem_line(notice)))


def _time_since(moment: float) -> str:
    seconds = max(int(time.time() - moment), 0)
    for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return count(seconds // size, noun)
    return count(seconds, "second")
