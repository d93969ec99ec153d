"""`tooltray reload`: has the running hub read its files again, or says what that would do.

Above it: run. Below it: the control channel. Never starts anything: a hub that starts reads them anyway.
"""

import argparse
import os
import shlex
from collections.abc import Mapping
from typing import Any

from tooltray.cli.terminal import clean_line, print_json, print_note, print_table
from tooltray.control.control_client import ControlClient
from tooltray.home.home import Home

READ_TIMEOUT_S = 60.0  # a file that is half written gets a second look; one on a slow disk takes its time
KEPT, WAITING = "keep", "wait"
_WORDS: Mapping[str, tuple[str, str]] = {
    "add": ("would be added", "added"),
    "restart": ("would be restarted", "restarted"),
    "change": ("would be changed as it runs", "changed as it runs"),
    "remove": ("would be removed", "removed"),
    "setting": ("would be set", "set"),
    WAITING: ("would wait for a yes", "waits for a yes"),
    KEPT: ("would stay as it is", "stays as it is"),
}


def reload(args: argparse.Namespace, home: Home) -> int:
    """No hub is an answer, not an error; a file that is not understood is one, for scripts."""
    client = ControlClient.connect(home)
    if client is None:
        if args.json:
            print_json({"running": False, "dry_run": args.dry_run, "changes": []})
        else:
            print(f"Tooltray is not running ({home.root}); it reads its files when it starts.")
        return 0
    with client:
        changes = client.call("preview_reload" if args.dry_run else "reload", timeout_s=READ_TIMEOUT_S)
    if args.json:
        print_json({"running": True, "dry_run": args.dry_run, "changes": changes})
    else:
        _print(changes, is_done=not args.dry_run)
    return 1 if any(change["kind"] == KEPT for change in changes) else 0


def _print(changes: list[dict[str, Any]], *, is_done: bool) -> None:
    if not changes:
        print("Nothing has changed.")
        return
    rows = [(change["name"] or "-", _word(change["kind"], is_done), change["detail"], change["file"]) for change in changes]
    print_table(("NAME", "WHAT", "DETAIL", "FILE"), [[clean_line(cell) for cell in row] for row in rows])
    for folder in dict.fromkeys(os.path.dirname(change["file"]) for change in changes if change["kind"] == WAITING):
        print_note(f"Look at what waits, and say yes to it: tooltray trust {shlex.quote(folder)}")


def _word(kind: str, is_done: bool) -> str:
    return _WORDS[kind][is_done] if kind in _WORDS else kind  # of a newer hub
