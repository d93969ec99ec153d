"""`tooltray clients ...`: which AI clients may connect over HTTP.

Above it: run. Below it: a hub, or the tokens' file where none runs. A token is printed once, when it is made, and cannot be read again.
"""

import argparse
import contextlib
import time
from typing import Any

from tooltray.cli.hub import hub_or_settings
from tooltray.cli.terminal import clean_line, print_json, print_note, print_table
from tooltray.home.home import Home


def token(args: argparse.Namespace, home: Home) -> int:
    """Makes a token, or another one in its place; alone on standard output, for pipes."""
    with contextlib.closing(hub_or_settings(home)) as hub:
        is_another = args.name in (each["name"] for each in hub.call("list_client_tokens"))
        made = hub.call("create_client_token", name=args.name)
    if args.json:
        print_json({"client": args.name, "token": made, "replaced": is_another})
        return 0
    print(made)
    if is_another:
        print_note(f"The token that {clean_line(args.name)} had before is not valid any more.")
    print_note(f"This is {clean_line(args.name)}'s token; it cannot be shown again. Send it as the header `Authorization: Bearer TOKEN`.")
    return 0


def list_clients(args: argparse.Namespace, home: Home) -> int:
    clients = _call(home, "list_client_tokens")
    if args.json:
        print_json(clients)
    elif clients:
        print_table(("CLIENT", "TOKEN MADE"), [(each["name"], _day(each["created_at"])) for each in clients])
    else:
        print("No AI client has a token yet. Make one with: tooltray clients token NAME")
    return 0


def remove(args: argparse.Namespace, home: Home) -> int:
    _call(home, "remove_client_token", name=args.name)
    if args.json:
        print_json({"client": args.name, "removed": True})
    else:
        print(f"{clean_line(args.name)} cannot connect over HTTP any more.")
    return 0


def _call(home: Home, verb: str, **params: Any) -> Any:
    with contextlib.closing(hub_or_settings(home)) as hub:
        return hub.call(verb, **params)


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
