"""`tooltray http api on|off|token|tokens|revoke|rotate`: whether other programs may do over HTTP what a person can do here, and by which
tokens.

Above it: run, and `tooltray http`. Below it: a hub, or the settings where none runs. What makes a token prints it, and nothing else beside
it, for pipes. A trusted one, with which a program says yes in a person's place, needs a terminal, as a yes itself does.
"""

import argparse
import contextlib
from typing import Any

from tooltray.cli.approve import day
from tooltray.cli.confirm import check_terminal
from tooltray.cli.hub import hub_or_settings
from tooltray.cli.terminal import clean_line, print_json, print_note, print_table, problem_line
from tooltray.control.control_client import Hub
from tooltray.home.home import Home

TRUSTED_NAME = "trusted"  # of a trusted token for which nobody chose another name
TRUSTED = "Who has a trusted token can say yes in your place: approve calls, trust servers, allow folders."
SENT_AS = "Programs send it as the header `Authorization: Bearer TOKEN`; keep it as a password."
SHOWN_ONCE = "It is shown this once."
OF_THIS_RUN = "It is trusted until the hub ends: where secrets are kept cannot be reached, or ends with the hub."


def on(args: argparse.Namespace, home: Home) -> int:
    if args.trusted:
        check_terminal("A trusted token")
    with contextlib.closing(hub_or_settings(home)) as hub:
        was_on = hub.call("get_http_status")["is_enabled"]
        status = hub.call("set_api_enabled", enabled=True, trusted=False if args.trusted is False else None)
        made = _made(hub, TRUSTED_NAME, trusted=True) if args.trusted else None
        status = hub.call("get_http_status") if made else status
        lines = [] if was_on else ["HTTP was off and is on now too: AI clients that have a token can connect as well."]
        lines += api_words(status, is_hub_running=hub.is_running)
        if made:
            lines += [f"The trusted token: {made['token']}", *_made_words(made)]
        return _show(args, status | ({"token": made["token"]} if made else {}), lines)


def off(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        status = hub.call("set_api_enabled", enabled=False)
        return _show(args, status, api_words(status, is_hub_running=hub.is_running))


def token(args: argparse.Namespace, home: Home) -> int:
    """The default one, or a new one."""
    if args.trusted:
        check_terminal("A trusted token")
    if not args.name and not args.trusted:
        return _print_token(args, home, "get_api_token", SENT_AS)
    with contextlib.closing(hub_or_settings(home)) as hub:
        made = _made(hub, args.name or TRUSTED_NAME, trusted=args.trusted, scope=args.scope, lasts_s=args.duration)
    if args.json:
        print_json(made)
        return 0
    print(made["token"])
    for line in (SENT_AS, *_made_words(made)):
        print_note(line)
    return 0


def tokens(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        listed = hub.call("list_api_tokens")
    if args.json:
        print_json(listed)
    elif listed:
        print_table(("NAME", "SCOPE", "MADE", "UNTIL"), [_row(each) for each in listed])
    else:
        print("No program has a token. Make one with: tooltray http api token NAME")
    return 0


def revoke(args: argparse.Namespace, home: Home) -> int:
    with contextlib.closing(hub_or_settings(home)) as hub:
        hub.call("revoke_api_token", name=args.name)
    if args.json:
        print_json({"revoked": args.name})
    else:
        print(f"The token '{clean_line(args.name)}' opens nothing any more.")
    return 0


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


def _made(hub: Hub, name: str, *, trusted: bool, scope: str | None = None, lasts_s: float | None = None) -> dict[str, Any]:
    made: dict[str, Any] = hub.call("create_api_token", name=name, scope=scope or "manage", expires_in_s=lasts_s, trusted=trusted)
    return made


def _made_words(made: dict[str, Any]) -> list[str]:
    lines = [SHOWN_ONCE]
    if made["expires_at"] is not None:
        lines.append(f"It ends at {day(made['expires_at'])}.")
    if made["is_trusted"]:
        lines += [TRUSTED] if made["is_lasting"] else [TRUSTED, OF_THIS_RUN]
    return lines


def _row(each: dict[str, Any]) -> list[str]:
    scope = f"{each['scope']}, trusted" if each["is_trusted"] else each["scope"]
    if each["is_default"]:
        return [each["name"], scope, "", "you take it back (tooltray http api token shows it)"]
    until = "you take it back" if each["expires_at"] is None else day(each["expires_at"])
    return [each["name"], scope, day(each["created_at"]), f"{until} (over)" if each["is_ended"] else until]


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
