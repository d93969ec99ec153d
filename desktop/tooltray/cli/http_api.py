"""`tooltray http api on|off|token|rotate`: whether other programs may do over HTTP what a person can do here, and what they show for it.

Above it: run, and `tooltray http`. Below it: a hub, or the settings where none runs. Only `token` and `rotate` print the token, and nothing
else beside it, for pipes. To let programs also approve calls and trust projects needs a terminal, as a yes itself does.
"""

import argparse
import contextlib
import sys
from typing import Any

from tooltray.cli.hub import hub_or_settings
from tooltray.cli.secret_input import is_person_there
from tooltray.cli.terminal import clean_line, print_json, print_note, problem_line
from tooltray.config.home import Home
from tooltray.errors import TooltrayError

TRUSTED = "They may also approve calls, trust projects and allow folders: whoever has the token can say yes in your place."


def on(args: argparse.Namespace, home: Home) -> int:
    if args.trusted:
        _check_terminal()
    with contextlib.closing(hub_or_settings(home)) as hub:
        was_on = hub.call("get_http_status")["is_enabled"]
        status = hub.call("set_api_enabled", enabled=True, trusted=args.trusted)
        lines = [] if was_on else ["HTTP was off and is on now too: AI clients that have a token can connect as well."]
        return _show(args, status, [*lines, *api_words(status, is_hub_running=hub.is_running)])


def off(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        status = hub.call("set_api_enabled", enabled=False)
        return _show(args, status, api_words(status, is_hub_running=hub.is_running))


def token(args: argparse.Namespace, home: Home) -> int:
    return _print_token(args, home, "get_api_token", "Programs send it as the header `Authorization: Bearer TOKEN`; keep it as a password.")


def rotate(args: argparse.Namespace, home: Home) -> int:
    return _print_token(args, home, "rotate_api_token", "The token of before opens nothing any more; give this one to your programs.")


def api_words(status: dict[str, Any], *, is_hub_running: bool) -> list[str]:
    """How the REST interface is, for a person."""
    if not status["is_api_enabled"]:
        return ["Other programs cannot use the REST interface. Switch it on with: tooltray http api on"]
    lines = [TRUSTED] if status["is_api_trusted"] else []
    if status["api_url"]:
        return [f"Other programs can use the REST interface: {clean_line(status['api_url'])}", "Its token: tooltray http api token", *lines]
    if not status["is_enabled"]:
        return ["The REST interface is switched on, but HTTP is not. Switch both on with: tooltray http api on", *lines]
    if is_hub_running and status["problem"]:
        return ["The REST interface is switched on, and is not open.", problem_line(status["problem"]), *lines]
    return ["The REST interface is switched on; it opens when a hub runs. Start one with: tooltray serve", *lines]


def _show(args: argparse.Namespace, status: dict[str, Any], lines: list[str]) -> int:
    if args.json:
        print_json(status)
    else:
        print("\n".join(lines))
    return 0


def _print_token(args: argparse.Namespace, home: Home, verb: str, note: str) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        made = hub.call(verb)
    if args.json:
        print_json({"token": made})
        return 0
    print(made)
    print_note(note)
    return 0


def _check_terminal() -> None:
    if not is_person_there() or sys.stdout is None or not sys.stdout.isatty():
        reason = "it lets programs say yes in your place"
        raise TooltrayError("--trusted needs a terminal", reason, "Run this in a terminal of your own.")
