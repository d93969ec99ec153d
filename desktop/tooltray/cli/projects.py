"""`tooltray projects ...`: which folders may be projects, and the servers that start for them.

Above it: run. Below it: a hub or, for list, allow and disallow where none runs, the settings.
"""

import argparse
import contextlib
from typing import Any

from tooltray.cli.confirm import check_terminal
from tooltray.cli.hub import folder_path, hub_or_settings, started_hub
from tooltray.cli.servers import START_TIMEOUT_S, STOP_TIMEOUT_S, note_start, server_snapshot
from tooltray.cli.terminal import clean_line, count, print_json, print_note, print_table, state_in_words
from tooltray.control.control_client import Hub
from tooltray.home.home import Home

OF_CLIENTS = "For an AI client itself, the folder in which it was started and the folders that it declares (roots) are allowed"


def list_projects(args: argparse.Namespace, home: Home) -> int:
    """The folders that are allowed, and what runs for which project."""
    with contextlib.closing(hub_or_settings(home)) as hub:
        allowed = hub.call("get_allowed_folders")
        servers = [server for server in hub.call("get_snapshot")["servers"] if server.get("is_deferred")]
    if args.json:
        copies = [{"server": server["name"], **copy} for server in servers for copy in server["copies"]]
        print_json({"allowed": allowed, "servers": [server["name"] for server in servers], "copies": copies})
        return 0
    if allowed:
        print("Allowed as projects, with what is in them:")
        print(*(f"  {clean_line(folder)}" for folder in allowed), sep="\n")
    print(f"{OF_CLIENTS}{' too.' if allowed else '.'} Allow more with: tooltray projects allow DIR")
    if servers:
        print_table(("SERVER", "STATE", "PROJECT", "CLIENTS", "FOLDER"), [row for server in servers for row in _rows(server)])
    return 0


def _rows(server: dict[str, Any]) -> list[list[str]]:
    rows = [
        [server["name"], state_in_words(copy["state"]), copy["name"] or "-", str(copy["session_count"]), copy["path"] or "-"]
        for copy in server["copies"]
    ]
    return rows or [[server["name"], state_in_words(server["state"]), "-", "-", server["detail"]]]


def allow(args: argparse.Namespace, home: Home) -> int:
    check_terminal("Allowing a folder")
    folder = _call(home, "allow_folder", path=folder_path(args.dir))
    if args.json:
        print_json({"folder": folder, "allowed": True})
    else:
        print(f"{clean_line(folder)}, and what is in it, may be a project now.")
    return 0


def disallow(args: argparse.Namespace, home: Home) -> int:
    folder = folder_path(args.dir)
    _call(home, "disallow_folder", path=folder)
    if args.json:
        print_json({"folder": folder, "allowed": False})
    else:
        print(f"{clean_line(folder)} is no longer allowed as a project.")
    return 0


def start(args: argparse.Namespace, home: Home) -> int:
    """For a folder, which is allowed thereby, or as the settings say without one."""
    with contextlib.closing(started_hub(home)) as hub:
        note_start(args.name)
        if args.anyway:
            hub.call("start_without_project", timeout_s=START_TIMEOUT_S, server=args.name)
        else:
            hub.call("start_for_project", timeout_s=START_TIMEOUT_S, server=args.name, path=folder_path(args.dir))
        server = server_snapshot(hub, args.name)
    if args.json:
        print_json(server)
        return 0
    project = "without a project" if args.anyway else f"for {clean_line(folder_path(args.dir))}"
    print(f"{clean_line(args.name)} is running {project}. AI clients that name no project use it from now on.")
    return 0


def reset(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        names = _reset(hub) if hub.is_running else []
    if args.json:
        print_json({"waiting": names})
    elif hub.is_running:
        print(f"{count(len(names), 'server')} {'waits' if len(names) == 1 else 'wait'} for a project again.")
    else:
        print_note("No hub is running, so every server waits for a project already.")
    return 0


def _reset(hub: Hub) -> list[str]:
    hub.call("reset_deferred_state", timeout_s=STOP_TIMEOUT_S)
    return [server["name"] for server in hub.call("get_snapshot")["servers"] if server["state"] == "waiting"]


def _call(home: Home, verb: str, **params: Any) -> Any:
    with contextlib.closing(hub_or_settings(home)) as hub:
        return hub.call(verb, timeout_s=STOP_TIMEOUT_S, **params)
